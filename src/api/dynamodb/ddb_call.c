#include "api/dynamodb/ddb_call.h"

#include "api/dynamodb/ddb_answer.h"
#include "api/dynamodb/ddb_headers.h"
#include "api/dynamodb/ddb_usage.h"
#include "api/dynamodb/operation.h"
#include "api/offload.h"
#include "base/limits.h"
#include "table/engine.h"

#include <time.h>

enum status(call_invalid)(struct call *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    call->failure = (struct failure){INVALID, arena_vprintf(call->arena, format, args)};
    va_end(args);
    return INVALID;
}

enum status call_refuse(struct call *call, const char *exception, const char *format, ...) {
    va_list args;
    va_start(args, format);
    call->failure = (struct failure){INVALID, arena_vprintf(call->arena, format, args)};
    va_end(args);
    call->exception = exception;
    return INVALID;
}

enum status call_transfer(struct call *call, struct bytes table, struct transfer **out) {
    enum status status = OK;
    if (call->engine == &call->guard.engine) /* else nothing is denied */
        status = guard_require(&call->guard, ACCESS_ADMIN, table,
                               (struct scope){call->arena, &call->failure});
    *out = status == OK ? call->frontend->settings.transfer : NULL;
    return status;
}

/* --- the newest words --- */

static bool is_counted(struct bytes text) {
    return text.size != 0 && text.data[0] >= '1' && text.data[0] <= '9';
}

void call_count_fault(struct call *call) {
    struct bytes text = call->failure.text;
    if (call->frontend->settings.error_texts == ERROR_TEXTS_NEWEST && call->exception == NULL &&
        !is_counted(text))
        call->failure.text =
            arena_printf(call->arena, "1 validation error detected: %.*s", BYTES_ARG(text));
}

static bool writes_one_item(const struct operation *operation) {
    return operation->run == op_put_item || operation->run == op_update_item ||
           operation->run == op_delete_item;
}

/* --- names and ARNs --- */

struct bytes call_region(const struct call *call) {
    if (call->frontend->settings.region != NULL)
        return bytes_str(call->frontend->settings.region);
    struct bytes region =
        headers_region(http_header(call->exchange, "authorization"), call->exchange->query);
    return region.size != 0 ? region : BYTES("us-east-1");
}

struct bytes call_account(const struct call *call) {
    const char *account = call->frontend->settings.account;
    return account != NULL ? bytes_str(account) : BYTES("000000000000");
}

void call_put_arn(const struct call *call, struct buf *to, struct bytes table) {
    buf_lit(to, "arn:aws:dynamodb:");
    buf_put(to, call_region(call));
    buf_lit(to, ":");
    buf_put(to, call_account(call));
    buf_lit(to, ":table/");
    buf_put(to, table);
}

/* Skips past the next colon. */
static bool skip_part(struct bytes *text) {
    size_t at = bytes_find(*text, BYTES(":"));
    if (at == SIZE_MAX || at == 0)
        return false;
    *text = bytes_skip(*text, at + 1);
    return true;
}

/* ARNs are told back as they came, so they have nothing in them that JSON would escape. */
static bool needs_no_escape(struct bytes arn) {
    for (size_t i = 0; i < arn.size; i++) {
        uint8_t c = arn.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '-' && c <= ':') ||
              c == '_'))
            return false;
    }
    return true;
}

enum status call_table_name(struct call *call, struct bytes text, struct bytes *out) {
    *out = text;
    if (!bytes_starts(text, BYTES("arn:")))
        return OK;
    struct bytes rest = bytes_skip(text, 4); /* partition:service:region:account:table/name */
    if (!needs_no_escape(text))
        goto wrong;
    for (int i = 0; i < 4; i++)
        if (!skip_part(&rest))
            goto wrong;
    if (!bytes_starts(rest, BYTES("table/")))
        goto wrong;
    rest = bytes_skip(rest, 6);
    if (rest.size < LIMIT_TABLE_NAME_MIN || rest.size > LIMIT_TABLE_NAME_MAX ||
        bytes_find(rest, BYTES("/")) != SIZE_MAX)
        goto wrong;
    *out = rest;
    return OK;
wrong:
    return call_invalid(call, "Invalid TableArn: Invalid ResourceArn provided as input %.*s",
                        BYTES_ARG(text));
}

enum status call_item(struct call *call, const struct json *from, struct item *out) {
    return attribute_read_item(from, (struct scope){call->arena, &call->failure}, out);
}

void reply_name(struct buf *to, struct bytes name) {
    if (to->data[to->size - 1] != '{')
        buf_byte(to, ',');
    buf_byte(to, '"');
    buf_put(to, name);
    buf_lit(to, "\":");
}

/* --- the way through --- */

enum status call_then(struct call *call, enum status (*next)(struct call *call)) {
    call->then = next;
    return OK;
}

enum status call_changed(struct call *call) {
    call->failure = call->change.failure;
    return call->failure.status;
}

static void call_go_on(struct call *call, enum status status);

static void spend_written(const struct call *call);

void call_resume(struct call *call) {
    enum status (*next)(struct call *) = call->then;
    call->then = NULL;
    spend_written(call);
    call_go_on(call, next(call));
}

static void run_resume(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    call_resume(exchange->user);
}

void call_wake(struct call *call) {
    call->exchange->task.run = run_resume;
    loop_post(call->exchange->loop, &call->exchange->task);
}

static void call_written(struct change_submit *submit) {
    call_resume((struct call *)((char *)submit - offsetof(struct call, written)));
}

/* A wrong type anywhere wins over anything else that is wrong with the request. */
static void prefer_type_fault(struct call *call) {
    struct failure deeper = {0};
    if (call->exception == NULL && spec_check_deep(call->operation->spec, &call->request,
                                                   (struct scope){call->arena, &deeper}) != OK)
        call->failure = deeper;
}

/* --- on the pool --- */

bool call_must_not_wait(const struct call *call) {
    return call->frontend->settings.pool != NULL && !offload_may_wait();
}

static void run_offloaded(void *argument) {
    struct call *call = argument;
    call_go_on(call, call->operation->run(call));
}

/* Runs the operation from its beginning where it may wait. It has only read so far. */
static void call_offload(struct call *call) {
    call->failure = (struct failure){0};
    buf_clear(call->reply);
    if (background_run(call->frontend->settings.pool, run_offloaded, call))
        return;
    failure_set(&call->failure, call->arena, BUSY, "%s", OFFLOAD_BUSY);
    answer_failure(call);
}

static void call_go_on(struct call *call, enum status status) {
    if (status == WOULD_BLOCK) {
        call_offload(call);
        return;
    }
    if (status != OK) {
        if (status == INVALID || status == PARSE_FAILED)
            prefer_type_fault(call);
        answer_failure(call);
        return;
    }
    if (call->then == NULL) {
        answer_reply(call);
        return;
    }
    if (call->exchange->overload) { /* reads have been answered; what would wait has to go */
        failure_set(&call->failure, call->arena, BUSY,
                    "Too many requests are waiting for their answer. Try again soon.");
        answer_failure(call);
        return;
    }
    call->written.back = call_written;
    if (call->submit != NULL) {
        call->submit(call);
        return;
    }
    call->change.arena = call->arena;
    change_submit(call->engine, &call->change, &call->written);
}

/* --- what tests order --- */

void ddb_spend(const struct call *call, struct bytes table, struct test_units used) {
    struct test_faults *faults = call->frontend->settings.faults;
    struct http_note *note = &call->exchange->note;
    note->read += used.read;
    note->write += used.write;
    if (note->subject.size == 0)
        note->subject = table;
    if (test_faults_active(faults))
        test_faults_charge(faults, table, used);
}

/* What the actions of a change have cost. */
static void spend_written(const struct call *call) {
    for (size_t i = 0; i < call->change.action_count; i++) {
        const struct action *action = &call->change.actions[i];
        ddb_spend(call, action->table, (struct test_units){.write = usage_total(&action->usage)});
    }
}

static bool only_reads(struct bytes operation) {
    static const char *const names[] = {"GetItem", "Query", "Scan", "BatchGetItem",
                                        "TransactGetItems"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (bytes_equal(operation, bytes_str(names[i])))
            return true;
    return false;
}

static bool has_spent(const struct call *call, struct bytes table) {
    struct table_description about;
    struct failure failure = {0};
    if (engine_describe(call->frontend->engine, table, (struct scope){call->arena, &failure},
                        &about) != OK ||
        about.schema.billing != BILLING_PROVISIONED)
        return false;
    const struct throughput *given = &about.schema.capacity.provisioned;
    struct test_units left =
        test_faults_left(call->frontend->settings.faults, table,
                         (struct test_units){(double)given->read, (double)given->write});
    return only_reads(call->operation->name) ? left.read <= 0 : left.write <= 0;
}

/* What is ordered for a request to this table. */
static enum status meet_faults(struct call *call, struct bytes name) {
    struct bytes table;
    enum status status = call_table_name(call, name, &table);
    if (status != OK)
        return status;
    struct test_fault fault =
        test_faults_look(call->frontend->settings.faults, table, call->operation->name);
    if (fault.delay_ms > call->delay_ms)
        call->delay_ms = fault.delay_ms;
    if (fault.page != 0)
        call->page_max = fault.page;
    if (!fault.throttled && !(fault.enforced && has_spent(call, table)))
        return OK;
    return call_refuse(call, "ProvisionedThroughputExceededException",
                       "The level of configured provisioned throughput for the table was exceeded. "
                       "Consider increasing your provisioning level with the UpdateTable API.");
}

/* The table of one of TransactItems: {"Put":{"TableName":...}}. */
static struct bytes table_in(const struct json *element) {
    const struct json *name =
        element->count == 0 ? NULL : json_get(&element->members[0].value, BYTES("TableName"));
    return name == NULL ? (struct bytes){0} : name->text;
}

/* A request meets the orders for each table that it names, one without tables those for "". */
static enum status meet_all_faults(struct call *call) {
    const struct json *batch = call->args.at[ARG_REQUEST_ITEMS];
    const struct json *items = call->args.at[ARG_TRANSACT_ITEMS];
    enum status status = OK;
    if (batch == NULL && items == NULL)
        return meet_faults(call, call->table);
    for (uint32_t i = 0; batch != NULL && status == OK && i < batch->count; i++)
        status = meet_faults(call, batch->members[i].name);
    for (uint32_t i = 0; items != NULL && status == OK && i < items->count; i++)
        status = meet_faults(call, table_in(&items->elements[i]));
    return status;
}

/* --- the beginning --- */

static enum status call_read(struct call *call) {
    const struct spec *spec = call->operation->spec;
    enum status status =
        spec_read(spec, &call->request, (struct scope){call->arena, &call->failure}, &call->args);
    if (status == OK)
        status = spec_check_limits(spec, &call->args, (struct scope){call->arena, &call->failure});
    if (status == OK && args_has(&call->args, ARG_TABLE_NAME))
        status = call_table_name(call, args_text(&call->args, ARG_TABLE_NAME), &call->table);
    call->exchange->note.subject = call->table;
    if (status == OK && test_faults_active(call->frontend->settings.faults))
        status = meet_all_faults(call);
    return status;
}

static void call_run(struct call *call, enum status status) {
    if (status == OK)
        status = call->operation->run(call);
    /* nothing has been asked of the table yet */
    if (status == INVALID && writes_one_item(call->operation))
        call_count_fault(call);
    call_go_on(call, status);
}

/* On a thread of the pool. */
static void run_delayed(void *argument) {
    struct call *call = argument;
    struct timespec time = {call->delay_ms / 1000, call->delay_ms % 1000 * 1000000};
    nanosleep(&time, NULL);
    call_run(call, call->failure.status);
}

void call_start(struct call *call) {
    call->exchange->user = call;
    enum status status = call_read(call);
    if (call->delay_ms == 0 || call->frontend->settings.pool == NULL ||
        !background_run(call->frontend->settings.pool, run_delayed, call))
        call_run(call, status);
}
