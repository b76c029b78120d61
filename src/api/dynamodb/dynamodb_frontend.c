/* From an exchange to a call: the checks before there is one, in DynamoDB's order. */
#include "api/dynamodb/dynamodb_frontend.h"

#include "api/dynamodb/content_coding.h"
#include "api/dynamodb/ddb_answer.h"
#include "api/dynamodb/ddb_forward.h"
#include "api/dynamodb/ddb_headers.h"
#include "api/dynamodb/operation.h"
#include "api/metrics/metrics.h"
#include "api/offload.h"
#include "api/signature.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/canonical.h"

#include <time.h>

struct dynamodb_frontend *dynamodb_frontend_new(struct engine *engine,
                                                const struct dynamodb_settings *settings) {
    struct dynamodb_frontend *frontend = mem_zalloc(sizeof *frontend);
    frontend->engine = engine;
    frontend->settings = *settings;
    if (frontend->settings.answer == NULL)
        frontend->settings.answer = http_answer;
    return frontend;
}

void dynamodb_frontend_free(struct dynamodb_frontend *frontend) {
    mem_free(frontend);
}

static bool is_json(struct bytes type) {
    size_t end = bytes_find(type, BYTES(";"));
    if (end != SIZE_MAX)
        type.size = end;
    while (type.size != 0 && type.data[type.size - 1] == ' ')
        type.size--;
    return bytes_equal(type, BYTES("application/x-amz-json-1.0")) ||
           bytes_equal(type, BYTES("application/x-amz-json-1.1")) ||
           bytes_equal(type, BYTES("application/json"));
}

/* Answers come in the type the request came in. */
static struct bytes answer_type(struct bytes type) {
    if (bytes_starts(type, BYTES("application/x-amz-json-1.0")))
        return BYTES("application/x-amz-json-1.0");
    if (bytes_starts(type, BYTES("application/x-amz-json-1.1")))
        return BYTES("application/x-amz-json-1.1");
    return BYTES("application/json");
}

/* Unpacks and parses the body. False after having answered that it cannot be. */
static bool read_body(struct call *call, const struct headers *headers) {
    struct bytes body = call->exchange->body;
    enum status status = body.size > LIMIT_TABLE_BODY ? LIMIT_EXCEEDED : OK;
    enum coding coding = coding_named(headers->content_encoding);
    if (status == OK && coding == CODING_UNKNOWN)
        status = PARSE_FAILED;
    else if (status == OK && coding != CODING_NONE)
        status = coding_unpack(&(struct coding_packed){coding, body, LIMIT_TABLE_BODY}, call->arena,
                               &body);
    if (status == LIMIT_EXCEEDED) {
        answer_plain(call, 413, (struct bytes){0});
        return false;
    }
    if (status != OK) {
        answer_exception(call, "InternalFailure");
        return false;
    }
    size_t at;
    if (body.size != 0 && json_parse(body, call->arena, &call->request, &at) != OK) {
        answer_exception(call, "SerializationException");
        return false;
    }
    return true;
}

/* The operation named after the service and its version; NULL after having answered that there is
 * none. */
static const struct operation *find_operation(struct call *call, struct bytes target) {
    struct bytes version = BYTES("DynamoDB_20120810.");
    struct bytes streams = BYTES("DynamoDBStreams_20120810.");
    const struct operation *operation = NULL;
    if (bytes_starts(target, version))
        operation = operation_find(bytes_skip(target, version.size));
    else if (bytes_starts(target, streams))
        operation = operation_find_streams(bytes_skip(target, streams.size));
    if (operation == NULL) {
        answer_exception(call, "UnknownOperationException");
    } else if (operation->run == NULL) {
        call_refuse(call, "UnknownOperationException", "%.*s is not supported by this server",
                    BYTES_ARG(operation->name));
        answer_failure(call);
        operation = NULL;
    }
    return operation;
}

/* "User: ... is not authorized to perform: ..."; also where the engine's call tells only a status.
 */
static void deny_access(void *context, struct bytes table, struct bytes index, struct scope in) {
    struct call *call = context;
    const struct access_key *key = call->caller.key;
    struct bytes name = key->name.size != 0 ? key->name : key->id;
    struct bytes account = call_account(call), operation = call->operation->name;
    struct buf arn = {0};
    call_put_arn(call, &arn, table);
    if (index.size != 0) {
        buf_lit(&arn, "/index/");
        buf_put(&arn, index);
    }
    failure_set(in.failure, in.arena, DENIED,
                "User: arn:aws:iam::%.*s:user/%.*s is not authorized to perform: dynamodb:%.*s on "
                "resource: %.*s because no identity-based policy allows the dynamodb:%.*s action",
                BYTES_ARG(account), BYTES_ARG(name), BYTES_ARG(operation),
                BYTES_ARG(buf_bytes(&arn)), BYTES_ARG(operation));
    buf_release(&arn);
    call->failure = *in.failure;
}

/* What the caller may reach of the engine: through a guard, unless nothing is denied anyway. */
static struct engine *engine_for(struct call *call) {
    struct touch all = {.what = TOUCHES_TABLE, .access = ACCESS_ALL, .table = BYTES("*")};
    struct engine *engine = call->frontend->engine;
    if (access_decide(&call->caller, &all) == DENIAL_NONE)
        return engine;
    struct guard_settings settings = {
        .caller = &call->caller, .deny = deny_access, .context = call};
    return guard_init(&call->guard, engine, &settings);
}

/* By the true time, whatever the engine's clock is set to. */
static struct signature_settings signature_rules(const struct dynamodb_settings *settings) {
    return (struct signature_settings){settings->region, "dynamodb", (int64_t)time(NULL)};
}

enum http_admission dynamodb_admit(struct http_exchange *exchange, void *context) {
    const struct dynamodb_frontend *frontend = context;
    struct failure failure = {0};
    struct caller_lookup lookup = {.keys = frontend->settings.keys,
                                   .arena = &exchange->arena,
                                   .failure = &failure,
                                   .sessions = frontend->settings.sessions};
    struct signature_settings how = signature_rules(&frontend->settings);
    struct caller caller;
    if (caller_find_console(&lookup, exchange, &caller))
        return HTTP_TAKE_BODY;
    return caller_admit_signed(&lookup, &how, exchange);
}

/* Who asks. Without keys all that matters is that somebody signed. False after having answered. */
static bool check_credentials(struct call *call) {
    const struct dynamodb_settings *settings = &call->frontend->settings;
    struct caller_lookup lookup = {.keys = settings->keys,
                                   .arena = call->arena,
                                   .failure = &call->failure,
                                   .sessions = settings->sessions};
    struct signature_settings how = signature_rules(settings);
    if (!caller_find_console(&lookup, call->exchange, &call->caller))
        call->exception = caller_find_signed(&lookup, &how, call->exchange, &call->caller);
    if (call->exception != NULL) {
        answer_failure(call);
        return false;
    }
    if (call->caller.key != NULL)
        call->exchange->note.who = call->caller.key->id;
    call->engine = engine_for(call);
    return true;
}

/* Whether the caller may come as far as the operation. What it then asks of call->engine is asked
 * about again, item by item. False after having answered. */
static bool check_operation(struct call *call) {
    struct touch touch = {.what = call->operation->touches};
    if (access_decide(&call->caller, &touch) == DENIAL_NONE)
        return true;
    failure_set(&call->failure, call->arena, DENIED, "%.*s is for nobody",
                BYTES_ARG(call->operation->name));
    answer_failure(call);
    return false;
}

/* What operators do: changes of tables and copies, and all changes by the console. */
static bool is_audited(const struct call *call) {
    static const char *const reads[] = {"Describe", "List", "Get",  "BatchGet", "TransactGet",
                                        "Query",    "Scan", "Exec", "BatchExec"};
    static const char *const items[] = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem",
                                        "TransactWriteItems"};
    struct bytes name = call->operation->name;
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        if (bytes_starts(name, bytes_str(reads[i])))
            return call->caller.console && bytes_find(name, BYTES("Exec")) != SIZE_MAX;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        if (bytes_equal(name, bytes_str(items[i])))
            return call->caller.console;
    return true;
}

/* A presigned request may name its operation in the query. */
static struct bytes target_of(const struct call *call, const struct headers *headers) {
    struct bytes target = headers->target;
    if (target.size == 0 && call->exchange->query.size != 0)
        query_get(call->exchange->query, BYTES("X-Amz-Target"), call->arena, &target);
    return target;
}

/* The whole request again, on a thread that may wait. */
static void handle_offloaded(void *argument) {
    struct http_exchange *exchange = argument;
    dynamodb_handle(exchange, exchange->user);
}

static void answer_busy(struct call *call) {
    failure_set(&call->failure, call->arena, BUSY, "%s", OFFLOAD_BUSY);
    answer_failure(call);
}

void dynamodb_handle(struct http_exchange *exchange, void *context) {
    const struct dynamodb_frontend *frontend = context;
    struct headers headers;
    headers_read(exchange, &headers);

    struct call *call = arena_alloc(&exchange->arena, sizeof(*call));
    memset(call, 0, offsetof(struct call, args));
    call->exchange = exchange;
    call->frontend = frontend;
    call->arena = &exchange->arena;
    call->reply = &exchange->reply;
    call->content_type = answer_type(headers.content_type);
    call->coding = coding_accepted(headers.accept_encoding);
    call->cors = headers.origin.size != 0;
    exchange->note.front = METRICS_DYNAMODB;

    if (offload_wanted(frontend->engine, exchange) && frontend->settings.pool != NULL) {
        exchange->user = (void *)(uintptr_t)frontend;
        if (!background_run(frontend->settings.pool, handle_offloaded, exchange))
            answer_busy(call);
        return;
    }
    if (exchange->body.size != 0 && !is_json(headers.content_type)) {
        answer_plain(call, 404, BYTES("<UnknownOperationException/>\n"));
        return;
    }
    /* DynamoDB reads the body before the signature; here nothing of a stranger's is parsed. */
    bool asks_who = frontend->settings.keys != NULL;
    if ((asks_who && !check_credentials(call)) || !read_body(call, &headers))
        return;
    call->operation = find_operation(call, target_of(call, &headers));
    if (call->operation == NULL)
        return;
    exchange->note.operation = operation_number(call->operation);
    if ((!asks_who && !check_credentials(call)) || !check_operation(call))
        return;
    exchange->note.audited = is_audited(call);
    if (exchange->body.size == 0)
        answer_exception(call, "SerializationException");
    else if (forward_wanted(call))
        forward_call(call);
    else
        call_start(call);
}
