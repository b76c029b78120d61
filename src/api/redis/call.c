#include "api/redis/call.h"

#include "api/redis/space_int.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>

enum {
    POOL_MAX = 256,        /* calls that a loop keeps, */
    KEEP_SIZE = 64 * 1024, /* with this much memory each */
};

/* ---- the pool ---- */

static struct redis_call *take(struct redis_client *client) {
    struct redis_loop *loop = client->loop;
    struct redis_call *call = loop->pool;
    if (call != NULL) {
        loop->pool = call->next;
        loop->pooled--;
    } else {
        call = mem_zalloc(sizeof(*call));
        arena_init(&call->own_arena);
    }
    call->face = client->face;
    call->client = client;
    call->arena = &call->own_arena;
    call->next = NULL;
    call->space = NULL;
    call->waiter = NULL;
    call->error = (struct bytes){0};
    call->failure = (struct failure){0};
    call->done = call->nested = call->waits = call->repaired = call->together = false;
    call->then = NULL;
    call->change.decide = NULL;
    call->again = call->counts = call->failed = false;
    call->usec = 0;
    return call;
}

void call_free(struct redis_call *call) {
    arena_release(&call->own_arena);
    buf_release(&call->reply);
    mem_free(call);
}

static void give(struct redis_call *call) {
    struct redis_loop *loop = call->client->loop;
    if (call->space != NULL)
        space_release(call->space);
    if (loop->pooled == POOL_MAX) {
        call_free(call);
        return;
    }
    if (call->own_arena.used > KEEP_SIZE)
        arena_release(&call->own_arena);
    else
        arena_recycle(&call->own_arena);
    buf_clear(&call->reply);
    if (call->reply.room > KEEP_SIZE)
        buf_release(&call->reply);
    call->next = loop->pool;
    loop->pool = call;
    loop->pooled++;
}

/* ---- replies ---- */

static struct buf *heard(struct redis_call *call) {
    struct redis_client *client = call->client;
    if (!call->muted)
        return &client->stream->out;
    buf_clear(&client->unheard);
    return &client->unheard;
}

/* What the engine says of itself, in the protocol's manner: a code, then a sentence. */
static void put_failure(struct redis_call *call) {
    const struct failure *failure = &call->failure;
    const char *code = failure->status == DENIED      ? "NOPERM"
                       : failure->status == BUSY      ? "TRYAGAIN"
                       : failure->status == IO_FAILED ? "MISCONF"
                                                      : "ERR";
    struct bytes text = failure->text;
    if (text.size == 0)
        text = bytes_str(status_name(failure->status));
    resp_error(&call->out, arena_printf(call->arena, "%s %.*s", code, BYTES_ARG(text)));
}

/* The error of a call that failed, instead of what it may have begun to say since `begin`. */
static void put_error(struct redis_call *call, size_t begin, enum status status) {
    call->out.to->size = begin;
    call->failed = true;
    if (call->failure.status == OK)
        call->failure.status = status;
    if (call->error.size != 0)
        resp_error(&call->out, call->error);
    else
        put_failure(call);
}

static enum status run(struct redis_call *call, redis_run *function) {
    size_t begin = call->out.to->size;
    enum status status = function(call);
    if (status != OK)
        put_error(call, begin, status);
    return status;
}

enum status call_run_nested(struct redis_call *outer, const struct redis_command *command,
                            const struct bytes *args, size_t count) {
    struct redis_call call = {.face = outer->face,
                              .client = outer->client,
                              .command = command,
                              .args = args,
                              .count = count,
                              .out = outer->out,
                              .arena = outer->arena,
                              .space = space_of(outer),
                              .nested = true};
    enum status status = run(&call, command->run);
    outer->out.version = call.out.version; /* HELLO may have changed it */
    return status;
}

bool call_start_nested(struct redis_call *outer, const struct redis_command *command,
                       const struct bytes *args, size_t count, struct redis_call *out) {
    size_t begin = outer->reply.size;
    *out = (struct redis_call){.face = outer->face,
                               .client = outer->client,
                               .command = command,
                               .args = args,
                               .count = count,
                               .out = {&outer->reply, outer->out.version},
                               .arena = outer->arena,
                               .space = space_of(outer),
                               .change = {.kind = CHANGE_WRITE, .arena = outer->arena},
                               .nested = true};
    enum status status = command->start(out);
    outer->reply.size = begin;
    if (status != OK && out->failure.status == OK)
        out->failure.status = status;
    return status == OK && (out->then != NULL || out->change.decide != NULL);
}

void call_then_nested(struct redis_call *outer, struct redis_call *inner) {
    inner->out = outer->out;
    if (inner->then != NULL)
        run(inner, inner->then);
    else
        put_error(inner, inner->out.to->size, inner->failure.status);
}

/* ---- writes ---- */

/* On the engine's thread: the command reads and writes as one step. What it says no to is no
 * failure of the change: there is just nothing to write. */
static enum status decide(struct change *change) {
    struct redis_call *call = change->user;
    change->actions = NULL;
    change->action_count = 0;
    buf_clear(&call->reply);
    call->error = (struct bytes){0};
    call->failure = (struct failure){0};
    call->waits = call->again = call->failed = false;
    if (call->space != NULL)
        space_release(call->space);
    call->space = NULL;
    int64_t begin_us = clock_ticks_us();
    enum status status = run(call, call->command->run);
    call->usec += (uint64_t)(clock_ticks_us() - begin_us);
    if (call->space != NULL && call->space->busy)
        call_retry(call);
    if (status == OK && call->space != NULL && !call->waits)
        return space_actions(call);
    return OK;
}

static void on_done(struct change *change);
static void keep_args(struct redis_call *call);

static void prepare_change(struct redis_call *call) {
    call->change =
        (struct change){.kind = CHANGE_WRITE, .arena = call->arena, .done = on_done, .user = call};
}

/* In fresh memory: there may be many times to come. */
static void run_again(struct redis_call *call) {
    struct arena old = call->own_arena;
    if (call->space != NULL)
        space_release(call->space);
    call->space = NULL;
    call->again = false;
    arena_init(&call->own_arena);
    keep_args(call);
    arena_release(&old);
    prepare_change(call);
    call_fall_back(call);
    call_submit(call);
}

/* The change is done, one way or the other. */
static void take_result(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool waits = call->change.failure.status == OK && call->waits;
    if (call->waiter != NULL && !wait_tried(call, !waits))
        return;
    if (call->again && call->change.failure.status == OK) {
        space_written(call);
        run_again(call);
        return;
    }
    if (call->then != NULL && call->change.failure.status == OK && !call->repaired) {
        struct change *repair = space_repair(call);
        call->repaired = true;
        if (repair != NULL) {
            repair->done = on_done;
            client->loop->under_way++;
            engine_submit(call->face->game->engine, repair);
            return;
        }
    }
    call->done = true;
    client_drain(client);
}

static void run_done(struct task *task) {
    struct redis_call *call =
        (struct redis_call *)((char *)task - offsetof(struct redis_call, task));
    struct redis_loop *loop = call->client->loop;
    loop->under_way--;
    take_result(call);
    client_feed(loop);
}

/* On the engine's thread, mostly. */
static void on_done(struct change *change) {
    struct redis_call *call = change->user;
    call->task.run = run_done;
    loop_post(call->client->stream->loop, &call->task);
}

void call_submit(struct redis_call *call) {
    call->client->loop->under_way++;
    engine_submit(call->face->game->engine, &call->change);
}

enum status call_fall_back(struct redis_call *call) {
    call->change.decide = decide;
    call->change.all_or_nothing = true;
    return OK;
}

static void append(struct redis_client *client, struct redis_call *call) {
    *client->last_call = call;
    client->last_call = &call->next;
    client->pending++;
    stream_hold(client->stream);
}

/* The arguments outlive the request's bytes. */
static void keep_args(struct redis_call *call) {
    struct bytes *args = arena_alloc(call->arena, call->count * sizeof(*args));
    size_t size = 0;
    for (size_t i = 0; i < call->count; i++)
        size += call->args[i].size;
    uint8_t *to = arena_alloc(call->arena, size + 1);
    for (size_t i = 0; i < call->count; i++) {
        args[i] = bytes_of(to, call->args[i].size);
        memcpy(to, call->args[i].data, args[i].size);
        to += args[i].size;
    }
    call->args = args;
}

static void start_write(struct redis_client *client, struct redis_call *call) {
    const struct redis_command *command = call->command;
    enum status status = OK;
    keep_args(call);
    call->out.to = &call->reply;
    prepare_change(call);
    call->counts = true;
    client->alone = (command->flags & COMMAND_ALONE) != 0;
    append(client, call);
    if (command->start != NULL)
        status = run(call, command->start);
    else
        call_fall_back(call);
    if (status == OK && (call->then != NULL || call->change.decide != NULL)) {
        client->deciding += call->change.decide != NULL;
        call_submit(call);
        return;
    }
    call->then = NULL;
    call->change.decide = NULL;
    call->done = true; /* it was wrong, or there was nothing to write */
    client_drain(client);
}

/* The fault of a change, or of the action that had one. */
static bool change_failed(struct redis_call *call) {
    struct change *change = &call->change;
    if (change->failure.status == OK)
        return false;
    call->failure = change->failure;
    if (change->failure.status == CANCELLED)
        for (size_t i = 0; i < change->action_count; i++)
            if (change->actions[i].failure.status != OK)
                call->failure = change->actions[i].failure;
    call->error = (struct bytes){0};
    return true;
}

static bool is_exec(const struct redis_command *command) {
    unsigned both = COMMAND_ALONE | COMMAND_AT_ONCE;
    return (command->flags & both) == both;
}

/* A write has its reply: it is counted, and with EXEC what that ran. */
static void count_call(struct redis_call *call) {
    struct command_counts *counts = &call->client->loop->counts;
    const struct queue *queue = &call->client->queue;
    counts_called(counts, call->command, call->usec, call->failed);
    for (size_t i = 0; i < queue->count && is_exec(call->command); i++)
        if (queue->list[i].ran)
            counts_called(counts, queue->list[i].command, queue->list[i].usec,
                          call->failed || queue->list[i].failed);
}

void call_finish(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool gone = client->stream->gone;
    bool written = call->then != NULL || call->change.decide != NULL;
    client->deciding -= call->change.decide != NULL;
    struct buf *to = heard(call);
    if (written && change_failed(call)) {
        call->out.to = to;
        put_error(call, to->size, call->failure.status);
    } else {
        buf_put(to, buf_bytes(&call->reply));
        call->out.to = to;
        if (call->then != NULL)
            run(call, call->then);
        if (written)
            space_written(call);
    }
    if (gone)
        buf_clear(&client->stream->out);
    if (call->counts)
        count_call(call);
    if (call->command != NULL && is_exec(call->command))
        queue_reset(&client->queue);
    give(call);
    stream_release(client->stream);
}

/* ---- from the request on ---- */

/* Whether the command has to wait for those of the client that are under way. */
static bool must_wait(const struct redis_client *client, const struct redis_command *command) {
    if (client->pending == 0)
        return false;
    if (client->alone || client->pending >= LIMIT_CALLS_PENDING || client->queue.open)
        return true;
    /* A `start` looks at its board now: what the client did to it before must be seen. */
    if (client->deciding != 0 && command != NULL && command->start != NULL)
        return true;
    return command == NULL || (command->flags & COMMAND_WRITE) == 0 ||
           (command->flags & (COMMAND_ALONE | COMMAND_AT_ONCE)) != 0;
}

static bool writes(const struct redis_command *command) {
    return command != NULL && (command->flags & COMMAND_WRITE) != 0;
}

static bool is_muted(struct redis_client *client) {
    if (client->mode == REPLY_SKIP_NEXT)
        client->mode = REPLY_SKIP;
    else if (client->mode == REPLY_SKIP)
        client->mode = REPLY_ON;
    return client->mode != REPLY_ON;
}

static void enqueue(struct redis_call *call) {
    if (queue_add(&call->client->queue, call) == OK)
        resp_simple(&call->out, BYTES("QUEUED"));
    else {
        call->client->queue.faulty = true;
        resp_error(&call->out, BYTES("ERR too many commands between MULTI and EXEC"));
    }
}

/* A refusal spoils the transaction it would have been part of. */
static void refused(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool exec = call->command != NULL && is_exec(call->command);
    client->queue.faulty = client->queue.open;
    if (exec) {
        struct bytes why = call->error;
        if (bytes_starts(why, BYTES("ERR ")))
            why = bytes_skip(why, 4);
        queue_reset(&client->queue);
        call_error(call, "EXECABORT Transaction discarded because of: %.*s", BYTES_ARG(why));
    }
    resp_error(&call->out, call->error);
}

/* It has its reply: that leaves at once, or after those of the writes before it. */
static void answered(struct redis_client *client, struct redis_call *call) {
    if (call->out.to == &call->reply) {
        call->done = true;
        append(client, call);
    } else
        give(call);
}

static void run_read(struct redis_client *client, struct redis_call *call) {
    const struct redis_command *command = call->command;
    bool failed = run(call, command->run) != OK;
    counts_called(&client->loop->counts, command, 0, failed);
}

static void take_up(struct redis_client *client, struct redis_call *call) {
    struct redis_loop *loop = client->loop;
    const struct redis_command *timed = NULL;
    if (!call_meant(call))
        client->queue.faulty = client->queue.open;
    else if (call_check(call) != OK) {
        redis_count(&counts_of(&loop->counts, call->command)->rejected, 1);
        refused(call);
    } else if (client->queue.open && (call->command->flags & COMMAND_AT_ONCE) == 0)
        enqueue(call);
    else
        timed = call->command;
    if (timed != loop->timed)
        counts_time(loop, timed);
    if (timed != NULL && (timed->flags & (COMMAND_WRITE | COMMAND_ALONE)) != 0) {
        start_write(client, call);
        return;
    }
    if (timed != NULL)
        run_read(client, call);
    answered(client, call);
}

static struct redis_call *begin(struct redis_client *client, const struct redis_command *command,
                                const struct bytes *args, size_t count) {
    struct redis_call *call = take(client);
    call->command = command;
    call->args = args;
    call->count = count;
    call->muted = client->mode != REPLY_ON && is_muted(client);
    call->out = (struct resp){client->pending != 0 ? &call->reply : heard(call), client->version};
    client->alone = false;
    client_show(client); /* as it is before the command: while that runs it may be elsewhere */
    return call;
}

static void answer(struct redis_client *client, const struct redis_command *command,
                   const struct bytes *args, size_t count) {
    redis_count(&client->loop->commands, 1);
    take_up(client, begin(client, command, args, count));
}

/* Runs what was gathered as one call. False, with nothing said, if it cannot be: then each has to
 * hear what is wrong with it. */
static bool run_together(struct redis_client *client, const struct gather *gather, size_t count) {
    struct redis_loop *loop = client->loop;
    const struct redis_command *command = gather->command;
    struct redis_call *call = begin(client, command, gather->args, GATHER_MEMBER + 1);
    size_t said = call->out.to->size;
    bool good = call_meant(call) && call_check(call) == OK;
    if (good) {
        if (loop->timed != command)
            counts_time(loop, command);
        call->together = true;
        call->count = GATHER_MEMBER + count;
        good = command->run(call) == OK;
    }
    if (good) {
        redis_count(&loop->commands, count);
        redis_count(&counts_of(&loop->counts, command)->calls, count);
    } else
        call->out.to->size = said;
    give(call);
    return good;
}

void call_gathered(struct redis_client *client) {
    struct gather *gather = &client->loop->gather;
    size_t count = gather->count;
    gather->count = 0;
    if (count == 1)
        answer(client, gather->command, gather->args, GATHER_MEMBER + 1);
    else if (count > 1 && !run_together(client, gather, count))
        for (size_t i = 0; i < count; i++) {
            gather->args[GATHER_MEMBER] = gather->args[GATHER_MEMBER + i];
            answer(client, gather->command, gather->args, GATHER_MEMBER + 1);
        }
}

bool call_take_up(struct redis_client *client) {
    const struct resp_parser *parser = &client->parser;
    struct redis_loop *loop = client->loop;
    if (gather_add(&loop->gather, parser))
        return true;
    call_gathered(client);
    const struct redis_command *command = redis_command_find(parser->args[0]);
    if (client->pending != 0 && must_wait(client, command))
        return false;
    if (loop->under_way >= loop->under_way_max && writes(command)) {
        client_starve(client);
        return false;
    }
    bool at_once = client->pending == 0 && !client->queue.open && client->mode == REPLY_ON;
    if (!at_once || !gather_begin(&loop->gather, command, parser))
        answer(client, command, parser->args, parser->count);
    return true;
}
