#include "api/rest/rest_call.h"

#include "api/offload.h"
#include "api/rest/rest_route.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "table/inprocess.h"
#include "value/number.h"

#include <stdio.h>

enum { KEY_SIZE_MAX = LIMIT_IDEMPOTENCY_KEY };

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

static void give_back(struct rest_call *call) {
    if (call->release != NULL)
        call->release(call);
    if (call->board != NULL)
        board_drop(call->board);
    call->board = NULL;
}

static void finish_call(struct rest_call *call, enum status status) {
    give_back(call);
    if (status == OK)
        rest_answer(call);
    else
        rest_answer_failure(call);
}

static void run_step(struct rest_call *call, enum status (*step)(struct rest_call *call));

void rest_resume(struct rest_call *call) {
    enum status (*next)(struct rest_call *) = call->then;
    if (atomic_load_explicit(&call->rest->stopping, memory_order_relaxed))
        finish_call(call, rest_fail(call, STOPPING, "the server stops"));
    else
        run_step(call, next);
}

static void resume_written(struct change_submit *submit) {
    rest_resume((struct rest_call *)((char *)submit - offsetof(struct rest_call, written)));
}

static void run_resume(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    rest_resume(exchange->user);
}

/* On a thread of its own. */
static void work_run(void *argument) {
    struct rest_call *call = argument;
    call->work(call);
    call->exchange->task.run = run_resume;
    loop_post(call->exchange->loop, &call->exchange->task);
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

static void resume_call(struct rest_call *call, enum status status);

/* --- on the pool --- */

static void run_offloaded(void *argument) {
    struct rest_call *call = argument;
    run_step(call, call->step);
}

/* The step has only read so far, and would have to wait for more: it is run again where it may.
 * What the route's first step has taken is given back before. */
static void offload_step(struct rest_call *call) {
    if (call->step == call->route->run) {
        give_back(call);
        call->release = NULL;
        buf_clear(&call->headers);
    }
    call->failure = (struct failure){0};
    call->reply->size = call->said;
    if (call->rest->settings.pool == NULL ||
        !background_run(call->rest->settings.pool, run_offloaded, call))
        finish_call(call, rest_fail(call, BUSY, OFFLOAD_BUSY));
}

static void run_step(struct rest_call *call, enum status (*step)(struct rest_call *call)) {
    call->step = step;
    call->said = call->reply->size;
    call->then = NULL;
    enum status status = step(call);
    if (status == WOULD_BLOCK && !offload_may_wait())
        offload_step(call);
    else
        resume_call(call, status);
}

static void resume_call(struct rest_call *call, enum status status) {
    if (status != OK || call->then == NULL) {
        finish_call(call, status);
        return;
    }
    if (call->exchange->overload) /* reads have been answered; what would wait has to go */
        finish_call(call, rest_fail(call, BUSY, "too many requests wait for their answer"));
    else if (call->begin != NULL)
        call->begin(call);
    else if (call->work != NULL && offload_may_wait()) {
        call->work(call);
        rest_resume(call);
    } else if (call->work != NULL) {
        if (!background_run(call->rest->settings.background, work_run, call))
            finish_call(call, rest_fail(call, BUSY, "too much is under way already"));
    } else
        change_submit(call->game->engine, call->change, &call->written);
}

void rest_start(struct rest_call *call) {
    call->exchange->user = call;
    call->written.back = resume_written;
    run_step(call, call->route->run);
}

static void request_digest(struct rest_call *call, uint64_t out[2]) {
    const struct http_exchange *exchange = call->exchange;
    for (unsigned i = 0; i < 2; i++) {
        out[i] = hash_stable(exchange->method, i + 1);
        out[i] = hash_stable(exchange->path, out[i]);
        out[i] = hash_stable(exchange->query, out[i]);
        out[i] = hash_stable(exchange->body, out[i]);
    }
}

struct change *rest_change(struct rest_call *call) {
    struct change *change = ARENA_NEW(call->arena, struct change);
    change->kind = CHANGE_WRITE;
    change->arena = call->arena;
    struct bytes key,
        identity = call->caller.key != NULL ? call->caller.key->id : call->caller.player;
    rest_idempotency(call, &key); /* was checked when the request came */
    if (key.size == 0)
        return change;
    change->token = arena_printf(call->arena, "v1/%.*s/%.*s", BYTES_ARG(identity), BYTES_ARG(key));
    request_digest(call, change->token_digest);
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
    struct scope in = {call->arena, &call->failure};
    struct board_name name = {.id = call->path[0],
                              .scope = rest_query(call, "scope"),
                              .period = rest_query(call, "period")};
    enum status status = name.scope.size != 0 || name.period.size != 0
                             ? board_find_parts(call->game, &name, in, &call->board)
                             : board_find(call->game, name.id, in, &call->board);
    if (status == INVALID && name.period.size != 0)
        call->member = BYTES("period");
    if (status != OK) {
        call->board = NULL;
        return status;
    }
    if (!board_exists(call->game, call->board, call->arena))
        return rest_fail(call, NOT_FOUND, "there is no board %.*s", BYTES_ARG(name.id));
    return OK;
}

bool rest_makes_boards(const struct rest_call *call) {
    struct touch touch = {
        .what = TOUCHES_TABLE, .access = ACCESS_WRITE, .table = call->game->table};
    return access_decide(&call->caller, &touch) == DENIAL_NONE;
}

enum status rest_board_to_write(struct rest_call *call) {
    enum status status = rest_board(call);
    bool plain = call->board != NULL && call->board->rules.plain;
    if (status != NOT_FOUND || !plain || !rest_makes_boards(call))
        return status;
    call->failure = (struct failure){0};
    return OK;
}

enum status rest_open(struct rest_call *call) {
    enum status status =
        board_check_open(call->board, clock_now_ms(), (struct scope){call->arena, &call->failure});
    if (status == INVALID) /* it is not the request that is wrong */
        call->status = 409;
    return status;
}

/* What the answer hangs on besides what the engine tells: the question, and the period. */
static uint64_t question_hash(const struct rest_call *call) {
    bool gone = board_is_gone(call->board, clock_now_ms());
    bool sealed = board_is_sealed(call->board, clock_now_ms());
    uint64_t hash = hash_keyed(call->board->instance, call->rest->nonce + gone + 2 * sealed);
    hash = hash_keyed(call->exchange->path, hash);
    hash = hash_keyed(call->exchange->query, hash);
    return hash_keyed(call->caller.player, hash);
}

/* Whether the list of tags in the header has the tag. */
static bool has_tag(struct bytes header, struct bytes tag) {
    return bytes_equal(header, BYTES("*")) || bytes_find(header, tag) != SIZE_MAX;
}

bool rest_unchanged(struct rest_call *call) {
    const struct board *board = call->board;
    struct value partition = value_string(board->pk);
    char tag[96];
    uint64_t partition_version =
        engine_partition_version(call->game->engine, call->game->table, &partition);
    int size = snprintf(
        tag, sizeof tag, "W/\"%llx.%llx.%llx.%016llx\"", (unsigned long long)partition_version,
        (unsigned long long)board->partition_version[0],
        (unsigned long long)board->partition_version[1], (unsigned long long)question_hash(call));
    buf_printf(&call->headers, "ETag: %s\r\n", tag);
    /* compared weakly: the W/ does not matter */
    if (!has_tag(http_header(call->exchange, "If-None-Match"), bytes_of(tag + 2, (size_t)size - 2)))
        return false;
    call->status = 304;
    return true;
}
