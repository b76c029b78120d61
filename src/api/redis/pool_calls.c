/* Calls on a pool of threads: what takes long, and, where the engine may block, all commands; one
 * of a client at a time. What has no comment that says otherwise runs on the client's loop. */
#include "api/redis/pool_calls.h"

#include "api/offload.h"
#include "api/redis/call_errors.h"
#include "api/redis/call_records.h"
#include "api/redis/presence_events.h"
#include "api/redis/slow_calls.h"
#include "api/redis/write_calls.h"
#include "api/redis/zset_txn_int.h"
#include "base/clock.h"

/* Back on the loop: the command has run on the pool. */
static void run_ran_on_pool(struct task *task) {
    struct redis_call *call =
        (struct redis_call *)((char *)task - offsetof(struct redis_call, task));
    struct redis_client *client = call->client;
    if (command_commits(call->command)) {
        call_submit_started(client, call, call->failed ? INVALID : OK);
        return;
    }
    command_stats_took(command_stats_called(&client->loop->counts, call->command, 0, call->failed),
                       clock_ticks_us() - call->begun_us, 1);
    if (call->failed)
        call_count_refusal(call);
    call->done = true;
    client_drain(client);
}

/* A read has its reply: what it was made of is freed here, since that may be much. Of an error the
 * code stays, which is counted on the loop. */
static void release_read(struct redis_call *call) {
    if (call->error.size != 0)
        call->error = bytes_str(call_reason(call));
    call->failure.text = (struct bytes){0};
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = NULL;
    call->args = NULL;
    call->count = 0;
    published_begin(call->published, NULL);
    call_drop_taken(call);
    arena_release(&call->own_arena);
    arena_init(&call->own_arena);
}

/* On a thread of the pool. The client starts nothing else meanwhile (client->alone), so the call
 * may use its state. */
static void run_on_pool(void *argument) {
    struct redis_call *call = argument;
    call_reset_run(call);
    call->own_budget = (struct call_budget){0};
    if (command_commits(call->command))
        call_run_start(call);
    else {
        int64_t begin_us = clock_ticks_us();
        presence_run(call);
        published_send(call->frontend, call->published);
        slowlog_note(call, (uint64_t)(clock_ticks_us() - begin_us));
        release_read(call);
    }
    call_budget_release(call->frontend, &call->own_budget);
    call->task.run = run_ran_on_pool;
    loop_post(call->client->stream->loop, &call->task);
}

void call_run_on_pool(struct redis_client *client, struct redis_call *call) {
    const struct redis_frontend *frontend = call->frontend;
    client->alone = true;
    call->then = NULL;
    call_prepare_change(call);
    if (!stream_is_crowded(client->stream) &&
        background_run(frontend->blocks ? frontend->settings.pool : frontend->slow, run_on_pool,
                       call))
        return;
    call->failure = (struct failure){BUSY, BYTES(OFFLOAD_BUSY)};
    call_put_error(call, 0, BUSY);
    call->done = true;
    client_drain(client);
}

void call_start_on_pool(struct redis_client *client, struct redis_call *call) {
    call_keep_args(call);
    call->out.to = &call->reply;
    call->counts = command_commits(call->command);
    call->begun_us = client->loop->turn_us;
    call_queue(client, call);
    call_run_on_pool(client, call);
}

bool call_goes_to_pool(const struct redis_call *call) {
    bool reads_much = slow_has_many_args(call) && !command_commits(call->command);
    return (call->frontend->blocks || reads_much) && call->command->group != GROUP_CONNECTION &&
           call->command->group != GROUP_PUBSUB;
}
