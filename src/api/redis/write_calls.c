/* Calls that commit something, from the loop to the engine's writer and back. What has no comment
 * that says otherwise runs on the client's loop. */
#include "api/redis/write_calls.h"

#include "api/offload.h"
#include "api/redis/call_errors.h"
#include "api/redis/call_parts.h"
#include "api/redis/pool_calls.h"
#include "api/redis/presence_events.h"
#include "api/redis/slow_calls.h"
#include "api/redis/write_batch.h"
#include "api/redis/zset_txn_int.h"
#include "base/clock.h"

void call_reset_run(struct redis_call *call) {
    buf_clear(&call->reply);
    call->error = (struct bytes){0};
    call->failure = (struct failure){0};
    call->waits = call->again = call->failed = false;
    call->absent = NULL;
    published_begin(call->published, call->arena);
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = NULL;
}

/* The change's `prepare`, on the engine's thread: the command reads and writes as one atomic step.
 * An error reply is no failure of the change, which then has no actions. */
static enum status prepare_call(struct change *change) {
    struct redis_call *call =
        (struct redis_call *)((char *)change - offsetof(struct redis_call, change));
    change->actions = NULL;
    change->action_count = 0;
    if (slow_defers(call))
        return OK;
    call_reset_run(call);
    slow_set_writer_budget(call);
    int64_t begin_us = clock_ticks_us();
    enum status status = presence_run(call);
    call->usec += (uint64_t)(clock_ticks_us() - begin_us);
    if (slow_leaves(call))
        return OK;
    if (call->txn != NULL && call->txn->busy)
        call_retry(call);
    if (status == OK && call->txn != NULL && !call->waits) {
        status = zset_txn_actions(call);
        if (status == OK)
            zset_txn_announce(call);
        return status;
    }
    return OK;
}

static void submit_change(struct redis_call *call, struct change *change);

void call_prepare_change(struct redis_call *call) {
    call->change = (struct change){.kind = CHANGE_WRITE, .arena = call->arena};
}

/* Runs the command once more after call_again(), with a fresh arena, since that may happen often.
 */
static void run_again(struct redis_call *call) {
    struct arena old = call->own_arena;
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = NULL;
    call->again = false;
    arena_init(&call->own_arena);
    call_keep_args(call);
    slow_release_arena(call->frontend, &old);
    call_prepare_change(call);
    call_fall_back(call);
    if (call->ahead.ran)
        slow_run_ahead(call);
    else
        call_submit(call);
}

/* The change that mends what a `start` wrote to, if one is needed (zset_txn_repair); asked once.
 * It reads from the engine. */
static struct change *repair_of(struct redis_call *call) {
    if (call->then == NULL || call->change.failure.status != OK || call->repaired)
        return NULL;
    call->repaired = true;
    return zset_txn_repair(call);
}

/* ---- a `start` that was refused on the engine's thread ---- */

bool call_is_overtaking(const struct redis_call *call) {
    return call->outer == NULL && client_takes_detour(call->client);
}

enum status call_refuse_start(struct redis_call *call, struct action *action, struct arena *arena) {
    struct redis_call *top = call->outer != NULL ? call->outer : call;
    if (!top->refused)
        atomic_fetch_add(&top->client->refused, 1);
    top->refused = true;
    return failure_set(&action->failure, arena, CONFLICT, "The key has changed: try again");
}

/* Has `run` decide, after the client's earlier writes and before its later ones: as a call that was
 * deferred (slow_calls.h). */
static void defer_refused(struct redis_call *call) {
    call->then = NULL;
    call_prepare_change(call);
    call_fall_back(call);
    call->client->preparing++;
    call->ahead.deferred = true;
}

/* Likewise each request of a batch. */
static void defer_requests(struct redis_call *call) {
    size_t requests = call->writes.count != 0 ? call->writes.count : 1;
    if (call->writes.count != 0)
        write_batch_split(call);
    for (struct redis_call *at = call; requests > 0; at = at->next, requests--)
        defer_refused(at);
}

/* Whether `run` decides, because the `start` was refused: not if an engine that tries again has
 * made the change after all. */
static bool goes_on_refused(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool failed = call->refused && call->change.failure.status != OK;
    if (!call->refused)
        return false;
    call->refused = false;
    if (failed) {
        defer_requests(call);
        atomic_store(&client->detour, true);
    }
    atomic_fetch_sub(&client->refused, 1); /* only now, so that none goes ahead in between */
    if (failed)
        slow_resume_deferred(client);
    return failed;
}

void call_take_result(struct redis_call *call) {
    struct redis_client *client = call->client;
    zset_txn_announce_end(call);
    if (goes_on_refused(call))
        return;
    if (call->change.failure.status == OK && slow_goes_on(call))
        return;
    bool waits = call->change.failure.status == OK && call->waits;
    if (call->waiter != NULL && !wait_ran(call, !waits))
        return;
    if (call->again && call->change.failure.status == OK) {
        zset_txn_committed(call);
        published_send(call->frontend, call->published);
        run_again(call);
        return;
    }
    struct change *repair = repair_of(call);
    if (repair != NULL) {
        submit_change(call, repair);
        return;
    }
    if (call->ahead.held != 0)
        key_hold_end(call);
    if (parts_go_on(call))
        return;
    call->done = true;
    slow_resume_deferred(client);
    client_drain(client);
}

static void change_returned(struct change_submit *submit) {
    struct redis_call *call =
        (struct redis_call *)((char *)submit - offsetof(struct redis_call, submit));
    struct redis_loop *loop = call->client->loop;
    loop->under_way--;
    call_take_result(call);
    client_resume_throttled(loop);
}

static void run_change_returned(struct task *task) {
    struct redis_call *call =
        (struct redis_call *)((char *)task - offsetof(struct redis_call, task));
    change_returned(&call->submit);
}

/* On a thread of the pool; the engine may block. */
static void submit_and_wait(void *argument) {
    struct redis_call *call = argument;
    struct engine *engine = call->frontend->game->engine;
    engine_submit_wait(engine, &call->change);
    struct change *repair = repair_of(call);
    if (repair != NULL)
        engine_submit_wait(engine, repair);
    call->task.run = run_change_returned;
    loop_post(call->client->stream->loop, &call->task);
}

static void submit_on_pool(struct redis_call *call) {
    if (background_run(call->frontend->settings.pool, submit_and_wait, call))
        return;
    failure_set(&call->change.failure, call->arena, BUSY, "%s", OFFLOAD_BUSY);
    call->task.run = run_change_returned;
    loop_post(call->client->stream->loop, &call->task);
}

size_t call_args_size(const struct redis_call *call) {
    size_t size = call->client->queue.size;
    for (size_t i = 1; i < call->count; i++)
        size += call->args[i].size;
    return size;
}

/* A client's changes stay in order. */
static void submit_change(struct redis_call *call, struct change *change) {
    change->sources = &call->client->source;
    change->source_count = 1;
    change->bytes = call_args_size(call);
    call->client->loop->under_way++;
    call->submit.back = change_returned;
    change_submit(call->frontend->game->engine, change, &call->submit);
}

void call_submit(struct redis_call *call) {
    if (!call->frontend->blocks) {
        submit_change(call, &call->change);
        return;
    }
    call->client->loop->under_way++;
    submit_on_pool(call);
}

enum status call_fall_back(struct redis_call *call) {
    call->change.prepare = prepare_call;
    call->change.all_or_nothing = true;
    return OK;
}

enum status call_run_start(struct redis_call *call) {
    if (call->command->start != NULL)
        return call_run_function(call, call->command->start);
    return call_fall_back(call);
}

void call_submit_started(struct redis_client *client, struct redis_call *call, enum status status) {
    if (status == OK && (call->then != NULL || call->change.prepare != NULL)) {
        client->preparing += call->change.prepare != NULL;
        if (call_groups_take(call))
            call_groups_add(call);
        else
            call_submit(call);
        return;
    }
    call->then = NULL;
    call->change.prepare = NULL;
    call->done = true; /* it failed, or there was nothing to write */
    client_drain(client);
}

void call_start_write(struct redis_client *client, struct redis_call *call) {
    call_keep_args(call);
    call->out.to = &call->reply;
    call_prepare_change(call);
    call->counts = true;
    call->begun_us = client->loop->turn_us;
    client->alone = (call->command->flags & COMMAND_EXCLUSIVE) != 0;
    call_queue(client, call);
    if (parts_begin(client, call))
        return;
    if (slow_has_many_args(call)) {
        call_run_on_pool(client, call);
        return;
    }
    enum status status = call_run_start(call);
    client->loop->turn_work += call->own_budget.work;
    if (slow_is_over(call))
        call_run_on_pool(client, call);
    else
        call_submit_started(client, call, status);
}
