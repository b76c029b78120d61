#include "api/rest/call.h"

#include "api/rest/answer.h"
#include "api/rest/route.h"
#include "base/clock.h"
#include "value/number.h"

#include <stdio.h>

enum { KEY_SIZE_MAX = 200 };

/* --- faults --- */

enum status rest_invalid(struct rest_call *call, const char *member, const char *format, ...) {
    va_list args;
    va_start(args, format);
    call->failure = (struct failure){INVALID, arena_vprintf(call->arena, format, args)};
    va_end(args);
    call->member = member == NULL ? (struct bytes){0} : bytes_str(member);
    return INVALID;
}

enum status rest_fail(struct rest_call *call, enum status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    call->failure = (struct failure){status, arena_vprintf(call->arena, format, args)};
    va_end(args);
    return status;
}

/* --- going on later --- */

static void finish(struct rest_call *call, enum status status) {
    if (call->release != NULL)
        call->release(call);
    if (call->board != NULL)
        board_drop(call->board);
    call->board = NULL;
    if (status == OK)
        rest_answer(call);
    else
        rest_answer_failure(call);
}

static void go_on(struct rest_call *call, enum status status);

static void resume(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    struct rest_call *call = exchange->user;
    enum status (*next)(struct rest_call *) = call->then;
    call->then = NULL;
    if (atomic_load_explicit(&call->rest->stopping, memory_order_relaxed))
        finish(call, rest_fail(call, STOPPING, "the server stops"));
    else
        go_on(call, next(call));
}

void rest_wake(struct rest_call *call) {
    call->exchange->task.run = resume;
    loop_post(call->exchange->loop, &call->exchange->task);
}

/* On the engine's thread. */
static void change_done(struct change *change) {
    rest_wake(change->user);
}

/* On a thread of its own. */
static void work_run(void *argument) {
    struct rest_call *call = argument;
    call->work(call);
    rest_wake(call);
}

enum status rest_then(struct rest_call *call, struct change *change,
                      enum status (*next)(struct rest_call *call)) {
    call->change = change;
    call->then = next;
    return OK;
}

enum status rest_after(struct rest_call *call, void (*begin)(struct rest_call *call),
                       enum status (*next)(struct rest_call *call)) {
    call->begin = begin;
    call->then = next;
    return OK;
}

enum status rest_background(struct rest_call *call, void (*work)(struct rest_call *call),
                            enum status (*next)(struct rest_call *call)) {
    call->work = work;
    call->then = next;
    return OK;
}

static void go_on(struct rest_call *call, enum status status) {
    if (status != OK || call->then == NULL) {
        finish(call, status);
        return;
    }
    if (call->exchange->overload) /* reads have been answered; what would wait has to go */
        finish(call, rest_fail(call, BUSY, "too many requests wait for their answer"));
    else if (call->begin != NULL)
        call->begin(call);
    else if (call->work != NULL) {
        if (!background_run(call->rest->settings.background, work_run, call))
            finish(call, rest_fail(call, BUSY, "too much is under way already"));
    } else {
        call->change->done = change_done;
        call->change->user = call;
        engine_submit(call->game->engine, call->change);
    }
}

void rest_start(struct rest_call *call) {
    call->exchange->user = call;
    go_on(call, call->route->run(call));
}

static void digest(struct rest_call *call, uint64_t out[2]) {
    const struct http_exchange *exchange = call->exchange;
    for (unsigned i = 0; i < 2; i++) {
        out[i] = bytes_hash(exchange->method, i + 1);
        out[i] = bytes_hash(exchange->path, out[i]);
        out[i] = bytes_hash(exchange->query, out[i]);
        out[i] = bytes_hash(exchange->body, out[i]);
    }
}

struct change *rest_change(struct rest_call *call) {
    struct change *change = ARENA_NEW(call->arena, struct change);
    change->kind = CHANGE_WRITE;
    change->arena = call->arena;
    struct bytes key, who = call->who.key != NULL ? call->who.key->id : call->who.player;
    rest_idempotency(call, &key); /* was checked when the request came */
    if (key.size == 0)
        return change;
    change->token = arena_printf(call->arena, "v1/%.*s/%.*s", BYTES_ARG(who), BYTES_ARG(key));
    digest(call, change->token_digest);
    return change;
}

enum status rest_changed(struct rest_call *call) {
    struct change *change = call->change;
    if (change->failure.status != OK) {
        call->failure = change->failure;
        return change->failure.status;
    }
    return OK;
}

/* --- what came with the request --- */

struct bytes rest_query(const struct rest_call *call, const char *name) {
    const struct form_field *field = call->route->query;
    for (size_t i = 0; field != NULL && field[i].name != NULL; i++)
        if (strcmp(field[i].name, name) == 0)
            return call->query[i];
    return (struct bytes){0};
}

int64_t rest_query_count(const struct rest_call *call, const char *name, int64_t otherwise) {
    struct bytes text = rest_query(call, name);
    return text.data == NULL ? otherwise : form_int(text);
}

struct bytes rest_query_number(struct rest_call *call, const char *name) {
    struct bytes text = rest_query(call, name), number = {0};
    if (text.data != NULL)
        number_read(call->arena, text, &number);
    return number;
}

enum status rest_idempotency(struct rest_call *call, struct bytes *out) {
    struct bytes key = http_header(call->exchange, "Idempotency-Key");
    *out = (struct bytes){0};
    if (key.size == 0)
        return OK;
    if (key.size > KEY_SIZE_MAX)
        return rest_invalid(call, "Idempotency-Key", "Idempotency-Key has more than %d characters",
                            KEY_SIZE_MAX);
    if ((call->route->flags & ROUTE_IDEMPOTENT) == 0)
        return rest_invalid(call, "Idempotency-Key", "this request takes no Idempotency-Key");
    *out = key;
    return OK;
}

/* --- boards --- */

enum status rest_board(struct rest_call *call) {
    struct bytes name = call->path[0];
    struct bytes scope = rest_query(call, "scope"), period = rest_query(call, "period");
    enum status status =
        scope.size != 0 || period.size != 0
            ? board_find_part(call->game, name, scope, period, call->arena, &call->failure,
                              &call->board)
            : board_find(call->game, name, call->arena, &call->failure, &call->board);
    if (status == INVALID && period.size != 0)
        call->member = BYTES("period");
    if (status != OK) {
        call->board = NULL;
        return status;
    }
    if (!board_is_there(call->game, call->board, call->arena))
        return rest_fail(call, NOT_FOUND, "there is no board %.*s", BYTES_ARG(name));
    return OK;
}

enum status rest_open(struct rest_call *call) {
    enum status status = board_check_open(call->board, clock_now_ms(), call->arena, &call->failure);
    if (status == INVALID) /* it is not the request that is wrong */
        call->status = 409;
    return status;
}

/* What the answer hangs on besides what the engine tells: the question, and the period. */
static uint64_t question_hash(const struct rest_call *call) {
    bool gone = board_is_gone(call->board, clock_now_ms());
    uint64_t hash = bytes_hash(call->board->instance, call->rest->nonce + gone);
    hash = bytes_hash(call->exchange->path, hash);
    hash = bytes_hash(call->exchange->query, hash);
    return bytes_hash(call->who.player, hash);
}

/* Whether the list of tags in the header has the tag. */
static bool has_tag(struct bytes header, struct bytes tag) {
    return bytes_equal(header, BYTES("*")) || bytes_find(header, tag) != SIZE_MAX;
}

bool rest_unchanged(struct rest_call *call) {
    const struct board *board = call->board;
    struct value partition = value_string(board->pk);
    char tag[96];
    uint64_t touched = engine_touched(call->game->engine, call->game->table, &partition);
    int size =
        snprintf(tag, sizeof tag, "W/\"%llx.%llx.%llx.%016llx\"", (unsigned long long)touched,
                 (unsigned long long)board->touched[0], (unsigned long long)board->touched[1],
                 (unsigned long long)question_hash(call));
    buf_printf(&call->lines, "ETag: %s\r\n", tag);
    /* compared weakly: the W/ does not matter */
    if (!has_tag(http_header(call->exchange, "If-None-Match"), bytes_of(tag + 2, (size_t)size - 2)))
        return false;
    call->status = 304;
    return true;
}
