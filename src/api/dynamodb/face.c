/* From an exchange to a call: the checks before there is one, in the service's order. */
#include "api/dynamodb/face.h"

#include "api/canonical.h"
#include "api/dynamodb/answer.h"
#include "api/dynamodb/gzip.h"
#include "api/dynamodb/headers.h"
#include "api/dynamodb/operation.h"
#include "api/signature.h"
#include "base/limits.h"
#include "base/mem.h"

#include <time.h>

enum { BODY_MAX = 16 * 1024 * 1024 };

struct dynamodb_face *dynamodb_face_new(struct engine *engine,
                                        const struct dynamodb_settings *settings) {
    struct dynamodb_face *face = mem_zalloc(sizeof *face);
    face->engine = engine;
    face->settings = *settings;
    if (face->settings.answer == NULL)
        face->settings.answer = http_answer;
    return face;
}

void dynamodb_face_free(struct dynamodb_face *face) {
    mem_free(face);
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
    enum status status = body.size > BODY_MAX ? LIMIT_EXCEEDED : OK;
    if (status == OK && bytes_equal(headers->content_encoding, BYTES("gzip")))
        status = gzip_unpack(body, BODY_MAX, call->arena, &body);
    if (status == LIMIT_EXCEEDED) {
        answer_plain(call, 413, (struct bytes){0});
        return false;
    }
    size_t at;
    if (status != OK ||
        (body.size != 0 && json_parse(body, call->arena, &call->request, &at) != OK)) {
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
static void refuse(void *context, struct bytes table, struct bytes index, struct arena *arena,
                   struct failure *failure) {
    struct call *call = context;
    const struct access_key *key = call->key;
    struct bytes name = key->name.size != 0 ? key->name : key->id;
    struct bytes account = call_account(call), operation = call->operation->name;
    struct buf arn = {0};
    call_put_arn(call, &arn, table);
    if (index.size != 0) {
        buf_lit(&arn, "/index/");
        buf_put(&arn, index);
    }
    failure_set(failure, arena, DENIED,
                "User: arn:aws:iam::%.*s:user/%.*s is not authorized to perform: dynamodb:%.*s on "
                "resource: %.*s because no identity-based policy allows the dynamodb:%.*s action",
                BYTES_ARG(account), BYTES_ARG(name), BYTES_ARG(operation),
                BYTES_ARG(buf_bytes(&arn)), BYTES_ARG(operation));
    buf_release(&arn);
    call->failure = *failure;
}

/* Who asks. Without keys all that matters is that somebody signed. False after having answered. */
static bool check_credentials(struct call *call) {
    const struct dynamodb_settings *settings = &call->face->settings;
    struct signature signature;
    call->exception = signature_read(call->exchange, call->arena, &call->failure, &signature);
    if (call->exception == NULL && settings->keys != NULL) {
        /* by the true time, whatever the engine's clock is set to */
        struct signature_settings how = {settings->region, "dynamodb", (int64_t)time(NULL)};
        call->exception = signature_verify(call->exchange, &how, keys_now(settings->keys),
                                           call->arena, &call->failure, &signature, &call->key);
    }
    if (call->exception != NULL) {
        answer_failure(call);
        return false;
    }
    if (call->key != NULL && !access_key_is_free(call->key))
        call->engine = guard_init(&call->guard, call->engine, call->key, refuse, call);
    return true;
}

/* A presigned request may name its operation in the query. */
static struct bytes target_of(const struct call *call, const struct headers *headers) {
    struct bytes target = headers->target;
    if (target.size == 0 && call->exchange->query.size != 0)
        query_get(call->exchange->query, BYTES("X-Amz-Target"), call->arena, &target);
    return target;
}

void dynamodb_handle(struct http_exchange *exchange, void *context) {
    const struct dynamodb_face *face = context;
    struct headers headers;
    headers_read(exchange, &headers);

    struct call *call = ARENA_NEW(&exchange->arena, struct call);
    call->exchange = exchange;
    call->face = face;
    call->engine = face->engine;
    call->arena = &exchange->arena;
    call->reply = &exchange->reply;
    call->content_type = answer_type(headers.content_type);
    call->gzip = bytes_find(headers.accept_encoding, BYTES("gzip")) != SIZE_MAX;
    call->cors = headers.origin.size != 0;

    if (exchange->body.size != 0 && !is_json(headers.content_type)) {
        answer_plain(call, 404, BYTES("<UnknownOperationException/>\n"));
        return;
    }
    /* The service reads the body first; nothing of a stranger's is read here. */
    bool asks_who = face->settings.keys != NULL;
    if ((asks_who && !check_credentials(call)) || !read_body(call, &headers))
        return;
    call->operation = find_operation(call, target_of(call, &headers));
    if (call->operation == NULL || (!asks_who && !check_credentials(call)))
        return;
    if (exchange->body.size == 0)
        answer_exception(call, "SerializationException");
    else
        call_start(call);
}
