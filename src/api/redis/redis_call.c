/* Calls on their way from a request to where they run: the loop, the writer or a pool. All on the
 * client's loop. */
#include "api/redis/redis_call.h"

#include "api/redis/call_errors.h"
#include "api/redis/call_records.h"
#include "api/redis/free_calls.h"
#include "api/redis/monitor_lines.h"
#include "api/redis/pool_calls.h"
#include "api/redis/presence_events.h"
#include "api/redis/slow_calls.h"
#include "api/redis/write_batch.h"
#include "api/redis/write_calls.h"
#include "base/clock.h"
#include "base/limits.h"

/* How many writes of a client are begun by themselves after those of a batch had to be: what was in
 * the way, such as a board that is not there, is mostly there for longer. */
enum { UNBATCHED = 32 };

/* Whether the command has to wait until the client's earlier ones are done. */
static bool must_wait(struct redis_client *client, const struct redis_command *command) {
    if (client->pending == 0)
        return false;
    if (client->frontend->blocks || client->alone || client_takes_detour(client) ||
        client_has_enough(client, false) || client->queue.open)
        return true;
    if (call_groups_hold(client, command))
        return true;
    /* A `start` reads its board now, and must see what the client's earlier commands do to it. */
    if (client->preparing != 0 && command != NULL && command->start != NULL)
        return true;
    return command == NULL || !command_writes(command) ||
           (command->flags & (COMMAND_EXCLUSIVE | COMMAND_NOT_QUEUED)) != 0;
}

/* Whether CLIENT REPLY suppresses the next reply; SKIP is over after one. */
static bool takes_mute(struct redis_client *client) {
    if (client->mode == REPLY_SKIP_NEXT)
        client->mode = REPLY_SKIP;
    else if (client->mode == REPLY_SKIP)
        client->mode = REPLY_ON;
    return client->mode != REPLY_ON;
}

static void queue_for_exec(struct redis_call *call) {
    if (multi_queue_add(&call->client->queue, call) == OK)
        resp_simple(&call->out, BYTES("QUEUED"));
    else {
        call->client->queue.faulty = true;
        resp_error(&call->out, BYTES("ERR too many commands between MULTI and EXEC"));
    }
}

/* Replies why the call was refused. A transaction that it would have been part of fails at EXEC. */
static void reply_refusal(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool exec = call->command != NULL && command_is_exec(call->command);
    client->queue.faulty = client->queue.open;
    if (exec) {
        struct bytes why = call->error;
        if (bytes_starts(why, BYTES("ERR ")))
            why = bytes_skip(why, 4);
        multi_queue_reset(&client->queue);
        call_error(call, "EXECABORT Transaction discarded because of: %.*s", BYTES_ARG(why));
    }
    resp_error(&call->out, call->error);
}

/* The call has its reply, which is sent at once, or after those of the client's earlier writes. */
static void send_or_queue(struct redis_client *client, struct redis_call *call) {
    if (call->out.to == &call->reply) {
        call->done = true;
        call_queue(client, call);
    } else
        call_give_back(call);
}

/* False, without a reply, if it takes too long here. */
static bool run_read(struct redis_client *client, struct redis_call *call) {
    const struct redis_command *command = call->command;
    size_t begin = call->out.to->size;
    bool failed = call->failed = presence_run(call) != OK;
    client->loop->turn_work += call->own_budget.work;
    if (slow_is_over(call)) {
        call->out.to->size = begin;
        return false;
    }
    command_stats_called(&client->loop->counts, command, 0, failed);
    published_send(call->frontend, call->published);
    client->loop->timed_reads++;
    if (call_is_logged(call, 0)) /* somebody looks on */
        call_log(call, clock_ticks_us() - client->loop->turn_us);
    if (failed)
        call_count_refusal(call);
    return true;
}

static void dispatch(struct redis_client *client, struct redis_call *call) {
    struct redis_loop *loop = client->loop;
    const struct redis_command *timed = NULL;
    if (!call_find_subcommand(call))
        client->queue.faulty = client->queue.open;
    else if (call_check(call) != OK) {
        redis_count(&command_stats_of(&loop->counts, call->command)->rejected, 1);
        call_count_refusal(call);
        reply_refusal(call);
    } else if (client->queue.open && (call->command->flags & COMMAND_NOT_QUEUED) == 0)
        queue_for_exec(call);
    else
        timed = call->command;
    if (monitors_look_on(client) && call->allowed)
        monitors_tell(client, call);
    if (timed != loop->timed)
        command_stats_time(loop, timed);
    if (timed != NULL && call_goes_to_pool(call)) {
        call_start_on_pool(client, call);
        return;
    }
    if (timed != NULL && command_commits(timed)) {
        call_start_write(client, call);
        return;
    }
    if (timed != NULL && !run_read(client, call)) {
        call_start_on_pool(client, call);
        return;
    }
    send_or_queue(client, call);
}

static struct redis_call *call_new(struct redis_client *client, const struct redis_command *command,
                                   const struct bytes *args, size_t count) {
    struct redis_call *call = call_take_free(client);
    call->command = command;
    call->args = args;
    call->count = count;
    call->muted = client->mode != REPLY_ON && takes_mute(client);
    call->out = (struct resp){client->pending != 0 ? &call->reply : call_reply_target(call),
                              client->version};
    client->alone = false;
    client_show(client); /* before the command runs, which may be on another thread */
    return call;
}

static void start_call(struct redis_client *client, const struct redis_command *command,
                       const struct bytes *args, size_t count) {
    redis_count(&client->loop->commands, 1);
    dispatch(client, call_new(client, command, args, count));
}

/* A call of the batch, checked as its first request; *allowed: it may run. */
static struct redis_call *call_of_batch(struct redis_client *client,
                                        const struct request_batch *batch, bool *allowed) {
    struct redis_loop *loop = client->loop;
    const struct redis_command *command = batch->command;
    struct redis_call *call = call_new(client, command, batch->args, request_batch_args(batch));
    *allowed = call_find_subcommand(call) && call_check(call) == OK;
    if (*allowed && loop->timed != command)
        command_stats_time(loop, command);
    return call;
}

/* Runs a batch of reads as one call. False, without a reply, if it fails: then each request is run
 * by itself and gets its own error. */
static bool run_batched(struct redis_client *client, const struct request_batch *batch,
                        size_t count) {
    struct redis_loop *loop = client->loop;
    bool good;
    struct redis_call *call = call_of_batch(client, batch, &good);
    size_t said = call->out.to->size;
    if (good) {
        call->batched = true;
        call->count = batch->shared + batch->differs * count;
        good = batch->command->run(call) == OK;
        loop->turn_work += call->own_budget.work;
    }
    if (good) {
        redis_count(&loop->commands, count);
        redis_count(&command_stats_of(&loop->counts, batch->command)->calls, count);
        loop->timed_reads += count;
    } else
        call->out.to->size = said;
    call_give_back(call);
    return good;
}

/* Likewise a batch of writes; false if each is to be begun by itself. */
static bool start_batched(struct redis_client *client, const struct request_batch *batch,
                          size_t count) {
    bool good;
    struct redis_call *call = call_of_batch(client, batch, &good);
    good = good && write_batch_start(call, batch, count);
    if (good)
        redis_count(&client->loop->commands, count);
    else {
        client->unbatched = (unsigned)count + UNBATCHED;
        call_give_back(call);
    }
    return good;
}

bool call_flush_batch(struct redis_client *client) {
    struct request_batch *batch = &client->loop->batch;
    size_t count = batch->count;
    batch->count = 0;
    if (count == 1)
        start_call(client, batch->command, batch->args, request_batch_args(batch));
    else if (count > 1 && command_writes(batch->command))
        return start_batched(client, batch, count);
    else if (count > 1 && !run_batched(client, batch, count))
        for (size_t i = 0; i < count; i++) {
            request_batch_show(batch, i);
            start_call(client, batch->command, batch->args, request_batch_args(batch));
        }
    return true;
}

/* Whether the request may begin a batch. */
static bool may_be_batched(struct redis_client *client, const struct redis_command *command) {
    if (command == NULL)
        return false;
    if (command_writes(command))
        return write_batch_may_begin(client, command);
    bool told =
        (atomic_load_explicit(&client->frontend->notify, memory_order_relaxed) & NOTIFY_MISS) != 0;
    if (told || client->pending != 0 || client->queue.open || client->mode != REPLY_ON ||
        client->frontend->blocks || monitors_look_on(client))
        return false;
    /* A batch is checked as its first request is, which is not enough if each key is another. */
    bool many_keys = (command->flags & COMMAND_BATCHED) == 0 &&
                     (command->flags & (COMMAND_BATCHED_KEYS | COMMAND_BATCHED_PAIRS)) != 0;
    return !many_keys || !access_is_partitioned(&client->caller);
}

enum call_begun call_begin(struct redis_client *client) {
    const struct resp_parser *parser = &client->parser;
    struct redis_loop *loop = client->loop;
    if (request_batch_add(&loop->batch, parser))
        return CALL_BEGUN;
    if (!call_flush_batch(client))
        return CALL_BATCH_AGAIN;
    const struct redis_command *command = redis_command_find(parser->args[0]);
    if (client->pending != 0 && must_wait(client, command))
        return CALL_WAITS;
    if ((loop->under_way >= loop->under_way_max && command != NULL && command_writes(command)) ||
        pause_holds(client, command) || key_holds_stop(client, command)) {
        client_throttle(client);
        return CALL_WAITS;
    }
    if (!may_be_batched(client, command) || !request_batch_begin(&loop->batch, command, parser))
        start_call(client, command, parser->args, parser->count);
    return CALL_BEGUN;
}
