#include "api/redis/slow_calls.h"

#include "api/offload.h"
#include "api/redis/call_errors.h"
#include "api/redis/key_txn_int.h"
#include "api/redis/presence_events.h"
#include "api/redis/set_staging.h"
#include "api/redis/write_calls.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

enum { LARGE_ARENA = 4 << 20 };

/* ---- budgets ---- */

void slow_set_loop_budget(struct redis_call *call) {
    call_budget_release(call->frontend, &call->own_budget);
    call->own_budget =
        (struct call_budget){.work_max = call->frontend->blocks ? 0 : LIMIT_LOOP_WORK};
}

/* A call that may wait keeps its place in the list of waiters, and is never long until it finds
 * something; an engine that blocks runs all calls on the pool. */
void slow_set_writer_budget(struct redis_call *call) {
    bool bounded = !call->frontend->blocks && (call->command->flags & COMMAND_BLOCKING) == 0;
    uint64_t work_max = call->ahead.long_try ? LIMIT_WRITER_LONG : LIMIT_WRITER_WORK;
    call_budget_release(call->frontend, &call->own_budget);
    call->own_budget = (struct call_budget){.work_max = bounded ? work_max : 0};
}

bool slow_has_many_args(const struct redis_call *call) {
    return call->count > LIMIT_ARGS_AT_ONCE;
}

/* ---- on the engine's thread ---- */

bool slow_defers(struct redis_call *call) {
    call->ahead.put_off = !call->ahead.leads && client_takes_detour(call->client);
    return call->ahead.put_off;
}

bool slow_leaves(struct redis_call *call) {
    if (!slow_is_over(call) || call->ahead.long_try)
        return false;
    call->ahead.slow = true;
    atomic_store(&call->client->detour, true);
    return true;
}

bool slow_is_current(struct redis_call *call, bool strict) {
    struct seen_versions seen = {0};
    if (call->txn != NULL)
        zset_txn_seen(call, strict, &seen);
    return seen_is_current(&seen, call->frontend->game->engine);
}

/* Whether the call has written a large set, which takes seconds: the sets that it read had to be of
 * one moment before it began with that, and those that it replaces have to be as they were at the
 * end. */
static bool is_staged(const struct redis_call *call) {
    return call->txn != NULL && call->txn->staged;
}

/* The change's `prepare` of a call that was run ahead. */
static enum status prepare_ahead(struct change *change) {
    struct redis_call *call =
        (struct redis_call *)((char *)change - offsetof(struct redis_call, change));
    struct ahead *ahead = &call->ahead;
    ahead->stale = ahead->outdated || !seen_is_current(ahead->seen, call->frontend->game->engine) ||
                   !staging_is_current(call);
    change->actions = ahead->stale ? NULL : ahead->actions;
    change->action_count = ahead->stale ? 0 : ahead->action_count;
    if (!ahead->stale)
        change->failure = ahead->failure;
    if (!ahead->stale && change->failure.status == OK)
        zset_txn_announce(call);
    return change->failure.status;
}

/* ---- running ahead ---- */

/* Back on the loop. */
static void run_ran_ahead(struct task *task) {
    struct redis_call *call =
        (struct redis_call *)((char *)task - offsetof(struct redis_call, task));
    if (call->waits) { /* a set is being cleared: it is tried again soon, from the start */
        call->change.actions = NULL;
        call->change.action_count = 0;
        call_fall_back(call);
        call_take_result(call);
        return;
    }
    call->change.prepare = prepare_ahead;
    call_submit(call);
}

/* Whether what is large is written by a try that is known to be in vain: somebody writes to the key
 * that is renamed, and the next try will write only what is different. */
static bool stages_ahead(struct redis_call *call) {
    return call->ahead.held == 0 && staging_can_keep(call) && !slow_is_current(call, false);
}

/* Makes the actions, and keeps them until the writer asks. What is large is written here already.
 */
static void make_actions(struct redis_call *call) {
    struct change *change = &call->change;
    bool strict = call->ahead.tries < LIMIT_AHEAD_TRIES, needed = staging_is_needed(call);
    call->ahead.outdated = needed && !slow_is_current(call, strict);
    if ((!call->ahead.outdated || stages_ahead(call)) && staging_write(call) != OK)
        change->failure = call->failure;
    else if (!call->ahead.outdated)
        zset_txn_actions(call);
    call->ahead.actions = change->actions;
    call->ahead.action_count = change->action_count;
    call->ahead.failure = change->failure;
    change->failure = (struct failure){0};
}

/* Notes what the writer has to compare, and lets go of all that it need not look at: a command may
 * name very many keys. If it has been tried often, only what matters has to be as it was; to a
 * script all does. */
static void note_seen(struct redis_call *call) {
    bool strict =
        call->own_budget.strict || (call->ahead.tries < LIMIT_AHEAD_TRIES && !is_staged(call));
    call->ahead.seen = ARENA_NEW(call->arena, struct seen_versions);
    if (call->txn == NULL)
        return;
    zset_txn_seen(call, strict, call->ahead.seen);
    zset_txn_forget_read(call->txn);
}

/* On a thread of the pool. */
static void run_ahead(void *argument) {
    struct redis_call *call = argument;
    int64_t begin_us = clock_ticks_us();
    call_reset_run(call);
    call->own_budget = (struct call_budget){.ahead = true, .elsewhere = staging_kept_size(call)};
    call->ahead.actions = NULL;
    call->ahead.action_count = 0;
    call->ahead.failure = (struct failure){0};
    enum status status = presence_run(call);
    if (call->txn != NULL && call->txn->busy)
        call_retry(call);
    if (status == OK && call->txn != NULL && !call->waits)
        make_actions(call);
    note_seen(call);
    call->ahead.work = call->own_budget.work;
    call_budget_release(call->frontend, &call->own_budget);
    call->usec += (uint64_t)(clock_ticks_us() - begin_us);
    call->task.run = run_ran_ahead;
    loop_post(call->client->stream->loop, &call->task);
}

/* What an earlier try has left behind is freed, unless the call's place among those that wait is
 * there. */
static void renew_arena(struct redis_call *call) {
    struct arena old = call->own_arena;
    if (call->waiter != NULL)
        return;
    bool keeps = staging_keep(call, &old);
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = NULL;
    arena_init(&call->own_arena);
    call_keep_args(call);
    if (!keeps)
        slow_release_arena(call->frontend, &old);
}

void slow_run_ahead(struct redis_call *call) {
    call->ahead.ran = true;
    renew_arena(call);
    if (background_run(call->frontend->slow, run_ahead, call))
        return;
    failure_set(&call->change.failure, call->arena, BUSY, "%s", OFFLOAD_BUSY);
    call_take_result(call);
}

/* Whether a call that writes a large key is tried once more, while those who would write to its
 * keys wait: they have done so during all tries before. */
static bool holds_writers(struct redis_call *call) {
    struct ahead *ahead = &call->ahead;
    bool large = ahead->before != NULL || ahead->outdated || is_staged(call);
    if (!large || ahead->held == LIMIT_STAGED_HELD || (ahead->held == 0 && !key_hold_begin(call)))
        return false;
    ahead->held++;
    return true;
}

bool slow_goes_on(struct redis_call *call) {
    struct ahead *ahead = &call->ahead;
    if (ahead->put_off) {
        ahead->put_off = false;
        ahead->deferred = true;
        slow_resume_deferred(call->client);
    } else if (ahead->slow) {
        ahead->slow = false;
        slow_run_ahead(call);
    } else if (ahead->stale && (ahead->tries++ < LIMIT_AHEAD_TRIES || holds_writers(call))) {
        ahead->stale = false;
        slow_run_ahead(call);
    } else if (ahead->stale && ahead->work > LIMIT_WRITER_LONG) {
        ahead->stale = false;
        call_refuse_long(&call->change.failure);
        return false;
    } else if (ahead->stale) {
        ahead->stale = false;
        ahead->long_try = true;
        call_fall_back(call);
        call_submit(call);
    } else
        return false;
    return true;
}

void slow_resume_deferred(struct redis_client *client) {
    struct redis_call *call = client->first;
    /* A `start` that is under way may still be refused, and then goes first. */
    while (call != NULL && call->done)
        call = call->next;
    if (call == NULL || !call->ahead.deferred)
        return;
    call->ahead.deferred = false;
    call->ahead.leads = true;
    call_submit(call);
}

/* ---- memory ---- */

static void free_arena(void *argument) {
    struct arena *arena = argument;
    arena_release(arena);
    mem_free(arena);
}

void slow_release_arena(struct redis_frontend *frontend, struct arena *arena) {
    struct arena *kept = arena;
    if (arena->used > LARGE_ARENA) {
        kept = mem_alloc(sizeof(*kept));
        *kept = *arena;
        if (background_run(frontend->slow, free_arena, kept))
            return;
        mem_free(kept);
    }
    arena_release(arena);
}
