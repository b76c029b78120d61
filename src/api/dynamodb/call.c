#include "api/dynamodb/call.h"

#include "api/dynamodb/answer.h"
#include "api/dynamodb/headers.h"
#include "api/dynamodb/operation.h"
#include "base/limits.h"

enum status call_invalid(struct call *call, const char *format, ...) {
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

enum status call_may(struct call *call, unsigned access, struct bytes table) {
    if (call->engine != &call->guard.engine) /* nobody is asked, or nothing is denied */
        return OK;
    return guard_require(&call->guard, access, table, call->arena, &call->failure);
}

/* --- names and ARNs --- */

struct bytes call_region(const struct call *call) {
    if (call->face->settings.region != NULL)
        return bytes_str(call->face->settings.region);
    struct bytes region =
        headers_region(http_header(call->exchange, "authorization"), call->exchange->query);
    return region.size != 0 ? region : BYTES("us-east-1");
}

struct bytes call_account(const struct call *call) {
    const char *account = call->face->settings.account;
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
static bool is_plain(struct bytes arn) {
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
    if (!is_plain(text))
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
    return attribute_read_item(from, call->arena, &call->failure, out);
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

static void call_resume(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    struct call *call = exchange->user;
    enum status (*next)(struct call *) = call->then;
    call->then = NULL;
    call_go_on(call, next(call));
}

void call_wake(struct call *call) {
    call->exchange->task.run = call_resume;
    loop_post(call->exchange->loop, &call->exchange->task);
}

/* On the engine's thread. */
static void call_change_done(struct change *change) {
    call_wake(change->user);
}

/* A wrong type anywhere wins over anything else that is wrong with the request. */
static void prefer_type_fault(struct call *call) {
    struct failure deeper = {0};
    if (call->exception == NULL &&
        spec_check_deep(call->operation->spec, &call->request, call->arena, &deeper) != OK)
        call->failure = deeper;
}

static void call_go_on(struct call *call, enum status status) {
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
    if (call->submit != NULL) {
        call->submit(call);
        return;
    }
    call->change.arena = call->arena;
    call->change.done = call_change_done;
    call->change.user = call;
    engine_submit(call->engine, &call->change);
}

static enum status call_run(struct call *call) {
    const struct spec *spec = call->operation->spec;
    enum status status = spec_read(spec, &call->request, call->arena, &call->failure, &call->args);
    if (status == OK)
        status = spec_check_limits(spec, &call->args, call->arena, &call->failure);
    if (status == OK && args_has(&call->args, ARG_TABLE_NAME))
        status = call_table_name(call, args_text(&call->args, ARG_TABLE_NAME), &call->table);
    return status == OK ? call->operation->run(call) : status;
}

void call_start(struct call *call) {
    call->exchange->user = call;
    call_go_on(call, call_run(call));
}
