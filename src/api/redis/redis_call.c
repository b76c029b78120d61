/* Calls on their way from a request to its reply. What has no comment that says otherwise runs on
 * the client's loop. */
#include "api/redis/redis_call.h"

#include "api/offload.h"
#include "api/redis/slow_calls.h"
#include "api/redis/zset_txn_int.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>

enum {
    FREE_CALLS_MAX = 1024, /* finished calls that a loop keeps for reuse */
    KEEP_SIZE = 64 * 1024, /* and the memory that each of them keeps */
};

/* ---- the loop's free list ---- */

static struct redis_call *take_free_call(struct redis_client *client) {
    struct redis_loop *loop = client->loop;
    struct redis_call *call = loop->pool;
    if (call != NULL) {
        loop->pool = call->next;
        loop->pooled--;
    } else {
        call = mem_zalloc(sizeof(*call));
        arena_init(&call->own_arena);
    }
    call->frontend = client->frontend;
    call->client = client;
    call->arena = &call->own_arena;
    call->next = NULL;
    call->txn = NULL;
    call->waiter = NULL;
    call->error = (struct bytes){0};
    call->failure = (struct failure){0};
    call->done = call->nested = call->waits = call->repaired = call->batched = false;
    call->refused = call->switches = false;
    call->outer = NULL;
    call->db = client->queue.open ? client->queue.db : client->db;
    call->denied = 0;
    call->allowed = false;
    call->then = NULL;
    call->change.prepare = NULL;
    call->again = call->counts = call->failed = false;
    call->usec = 0;
    call->ahead = (struct ahead){0};
    call->budget = &call->own_budget;
    call->published = &call->own_published;
    published_begin(call->published, call->arena);
    slow_set_loop_budget(call);
    return call;
}

void call_free(struct redis_call *call) {
    arena_release(&call->own_arena);
    buf_release(&call->reply);
    mem_free(call);
}

static void give_back(struct redis_call *call) {
    struct redis_loop *loop = call->client->loop;
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call_budget_release(call->frontend, &call->own_budget);
    if (call->own_arena.used > KEEP_SIZE) {
        slow_release_arena(call->frontend, &call->own_arena);
        arena_init(&call->own_arena);
    } else
        arena_recycle(&call->own_arena);
    if (loop->pooled == FREE_CALLS_MAX) {
        call_free(call);
        return;
    }
    buf_clear(&call->reply);
    if (call->reply.room > KEEP_SIZE)
        buf_release(&call->reply);
    call->next = loop->pool;
    loop->pool = call;
    loop->pooled++;
}

/* ---- kinds of commands ---- */

static bool is_write(const struct redis_command *command) {
    return command != NULL && command_writes(command);
}

static bool commits(const struct redis_command *command) {
    return (command->flags & (COMMAND_WRITE | COMMAND_COMMITS | COMMAND_EXCLUSIVE)) != 0;
}

/* ---- replies ---- */

static struct buf *reply_target(struct redis_call *call) {
    struct redis_client *client = call->client;
    if (!call->muted)
        return &client->stream->out;
    buf_clear(&client->discarded);
    return &client->discarded;
}

static const char *code_of(enum status status) {
    bool again = status == BUSY || status == WOULD_BLOCK || status == BEING_BUILT;
    return status == DENIED      ? "NOPERM"
           : again               ? "TRYAGAIN"
           : status == IO_FAILED ? "MISCONF"
                                 : "ERR";
}

/* The engine's failure as an error reply of Redis: a code, then a sentence. */
static void put_failure(struct redis_call *call) {
    const struct failure *failure = &call->failure;
    const char *code = code_of(failure->status);
    struct bytes text = failure->text;
    if (text.size == 0)
        text = bytes_str(status_name(failure->status));
    resp_error(&call->out, arena_printf(call->arena, "%s %.*s", code, BYTES_ARG(text)));
}

/* Replaces what the call has written of a reply since `begin` by its error. */
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

enum status call_run_function(struct redis_call *call, redis_run *function) {
    size_t begin = call->out.to->size;
    assert(call->allowed);
    enum status status = function(call);
    if (status != OK)
        put_error(call, begin, status);
    return status;
}

enum status call_run_nested(struct redis_call *outer, const struct redis_request *request) {
    struct redis_call call = {.frontend = outer->frontend,
                              .client = outer->client,
                              .command = request->command,
                              .args = request->args,
                              .count = request->count,
                              .out = outer->out,
                              .arena = outer->arena,
                              .txn = zset_txn_of(outer),
                              .db = outer->db,
                              .budget = outer->budget,
                              .allowed = outer->allowed,
                              .caller = outer->caller,
                              .published = outer->published,
                              .nested = true};
    struct call_scratch scratch;
    call.denied = call_denied_partitions(&call);
    bool reads = !is_write(request->command); /* what it needs is not needed any more after it */
    if (reads)
        call_scratch_begin(&call, &scratch);
    enum status status = call_run_function(&call, request->command->run);
    if (reads)
        call_scratch_end(&call, &scratch);
    outer->out.version = call.out.version; /* HELLO may have changed it, and SELECT this: */
    outer->db = call.db;
    return status;
}

bool call_start_nested(struct redis_call *outer, const struct redis_request *request,
                       struct redis_call *out) {
    size_t begin = outer->reply.size;
    *out = (struct redis_call){.frontend = outer->frontend,
                               .client = outer->client,
                               .command = request->command,
                               .args = request->args,
                               .count = request->count,
                               .out = {&outer->reply, outer->out.version},
                               .arena = outer->arena,
                               .txn = zset_txn_of(outer),
                               .db = outer->db,
                               .outer = outer,
                               .change = {.kind = CHANGE_WRITE, .arena = outer->arena},
                               .budget = outer->budget,
                               .allowed = outer->allowed,
                               .caller = outer->caller,
                               .published = outer->published,
                               .nested = true};
    assert(out->allowed);
    out->denied = call_denied_partitions(out);
    enum status status = request->command->start(out);
    outer->reply.size = begin;
    if (status != OK && out->failure.status == OK)
        out->failure.status = status;
    return status == OK && (out->then != NULL || out->change.prepare != NULL);
}

void call_then_nested(struct redis_call *outer, struct redis_call *inner) {
    inner->out = outer->out;
    if (inner->then != NULL)
        call_run_function(inner, inner->then);
    else
        put_error(inner, inner->out.to->size, inner->failure.status);
}

/* The code of the error that the call was answered with. */
static const char *reason_of(const struct redis_call *call) {
    static const char *const codes[] = {"ERR",       "NOPERM",    "NOAUTH",   "WRONGPASS",
                                        "WRONGTYPE", "EXECABORT", "TRYAGAIN", "NOPROTO",
                                        "UNBLOCKED", NULL};
    if (call->error.size == 0)
        return code_of(call->failure.status);
    size_t size = bytes_find(call->error, BYTES(" "));
    struct bytes code = bytes_of(call->error.data, size == SIZE_MAX ? call->error.size : size);
    for (size_t i = 0; codes[i] != NULL; i++)
        if (bytes_equal(code, bytes_str(codes[i])))
            return codes[i];
    return "other";
}

static void count_refusal(const struct redis_call *call) {
    const struct redis_frontend *frontend = call->frontend;
    if (frontend->settings.metrics != NULL)
        metrics_refused(frontend->settings.metrics,
                        (unsigned)(call->client->loop - frontend->loops), METRICS_REDIS,
                        reason_of(call));
}

/* What it is about: its first key. Nothing else of its arguments is kept, least of all a secret. */
static struct bytes subject_of(const struct redis_call *call) {
    int first = call->command == NULL ? 0 : call->command->keys.first;
    return first > 0 && (size_t)first < call->count ? call->args[first] : (struct bytes){0};
}

/* For the slow log and for those who look on. */
static void log_request(const struct redis_call *call, int64_t us) {
    struct request_log *log = call->frontend->settings.requests;
    const struct access_key *key = call->client->caller.key;
    struct request_record record = {.at_ms = clock_now_ms(),
                                    .us = us < 0 ? 0 : (uint64_t)us,
                                    .front = METRICS_REDIS,
                                    .bytes_out = call->reply.size};
    struct request_texts texts = {.operation = bytes_str(call->command->name),
                                  .reason =
                                      call->failed ? bytes_str(reason_of(call)) : (struct bytes){0},
                                  .subject = subject_of(call),
                                  .who = key == NULL ? (struct bytes){0} : key->id};
    for (size_t i = 0; i < call->count; i++)
        record.bytes_in += call->args[i].size;
    request_record_set(&record, &texts);
    request_log_add(log, &record);
}

static bool is_logged(const struct redis_call *call, int64_t us) {
    const struct request_log *log = call->frontend->settings.requests;
    return log != NULL && request_log_wants(log, us < 0 ? 0 : (uint64_t)us);
}

/* ---- writes ---- */

void call_reset_run(struct redis_call *call) {
    buf_clear(&call->reply);
    call->error = (struct bytes){0};
    call->failure = (struct failure){0};
    call->waits = call->again = call->failed = false;
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
    enum status status = call_run_function(call, call->command->run);
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

static void prepare_change(struct redis_call *call) {
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
    prepare_change(call);
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
    return call->outer == NULL && atomic_load(&call->client->detour);
}

enum status call_refuse_start(struct redis_call *call, struct action *action, struct arena *arena) {
    struct redis_call *top = call->outer != NULL ? call->outer : call;
    top->refused = true;
    atomic_store(&top->client->detour, true);
    return failure_set(&action->failure, arena, CONFLICT, "The key has changed: try again");
}

/* Has `run` decide, after the client's earlier writes and before its later ones: as a call that was
 * deferred (slow_calls.h). */
static void run_refused(struct redis_call *call) {
    struct redis_client *client = call->client;
    call->refused = false;
    call->then = NULL;
    prepare_change(call);
    call_fall_back(call);
    client->preparing++;
    call->ahead.deferred = true;
    slow_resume_deferred(client);
}

void call_take_result(struct redis_call *call) {
    struct redis_client *client = call->client;
    zset_txn_announce_end(call);
    if (call->refused && call->change.failure.status != OK) {
        run_refused(call);
        return;
    }
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

static void submit_change(struct redis_call *call, struct change *change) {
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

static void queue_call(struct redis_client *client, struct redis_call *call) {
    *client->last_call = call;
    client->last_call = &call->next;
    client->pending++;
    stream_hold(client->stream);
}

void call_keep_args(struct redis_call *call) {
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

/* Runs the command's `start`; without one its `run` will prepare the change. */
static enum status run_start(struct redis_call *call) {
    if (call->command->start != NULL)
        return call_run_function(call, call->command->start);
    return call_fall_back(call);
}

/* After run_start(): submits the change, if there is one. */
static void submit_started(struct redis_client *client, struct redis_call *call,
                           enum status status) {
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

static void run_on_pool_now(struct redis_client *client, struct redis_call *call);

static void start_write(struct redis_client *client, struct redis_call *call) {
    call_keep_args(call);
    call->out.to = &call->reply;
    prepare_change(call);
    call->counts = true;
    call->begun_us = client->loop->turn_us;
    client->alone = (call->command->flags & COMMAND_EXCLUSIVE) != 0;
    queue_call(client, call);
    if (slow_has_many_args(call)) {
        run_on_pool_now(client, call);
        return;
    }
    enum status status = run_start(call);
    client->loop->turn_work += call->own_budget.work;
    if (slow_is_over(call))
        run_on_pool_now(client, call);
    else
        submit_started(client, call, status);
}

/* ---- on a pool of threads: what takes long, and, where the engine may block, all commands; one of
 * a client at a time ---- */

/* Back on the loop: the command has run on the pool. */
static void run_ran_on_pool(struct task *task) {
    struct redis_call *call =
        (struct redis_call *)((char *)task - offsetof(struct redis_call, task));
    struct redis_client *client = call->client;
    if (commits(call->command)) {
        submit_started(client, call, call->failed ? INVALID : OK);
        return;
    }
    command_stats_took(command_stats_called(&client->loop->counts, call->command, 0, call->failed),
                       clock_ticks_us() - call->begun_us, 1);
    if (call->failed)
        count_refusal(call);
    call->done = true;
    client_drain(client);
}

/* A read has its reply: what it was made of is freed here, since that may be much. Of an error the
 * code stays, which is counted on the loop. */
static void release_read(struct redis_call *call) {
    if (call->error.size != 0)
        call->error = bytes_str(reason_of(call));
    call->failure.text = (struct bytes){0};
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = NULL;
    call->args = NULL;
    call->count = 0;
    published_begin(call->published, NULL);
    arena_release(&call->own_arena);
    arena_init(&call->own_arena);
}

/* On a thread of the pool. The client starts nothing else meanwhile (client->alone), so the call
 * may use its state. */
static void run_on_pool(void *argument) {
    struct redis_call *call = argument;
    call_reset_run(call);
    call->own_budget = (struct call_budget){0};
    if (commits(call->command))
        run_start(call);
    else {
        int64_t begin_us = clock_ticks_us();
        if (call_run_function(call, call->command->run) == OK)
            published_send(call->frontend, call->published);
        slowlog_note(call, (uint64_t)(clock_ticks_us() - begin_us));
        release_read(call);
    }
    call_budget_release(call->frontend, &call->own_budget);
    call->task.run = run_ran_on_pool;
    loop_post(call->client->stream->loop, &call->task);
}

/* Runs a call that is in the client's queue already. */
static void run_on_pool_now(struct redis_client *client, struct redis_call *call) {
    const struct redis_frontend *frontend = call->frontend;
    client->alone = true;
    call->then = NULL;
    prepare_change(call);
    if (!stream_is_crowded(client->stream) &&
        background_run(frontend->blocks ? frontend->settings.pool : frontend->slow, run_on_pool,
                       call))
        return;
    call->failure = (struct failure){BUSY, BYTES(OFFLOAD_BUSY)};
    put_error(call, 0, BUSY);
    call->done = true;
    client_drain(client);
}

static void start_on_pool(struct redis_client *client, struct redis_call *call) {
    call_keep_args(call);
    call->out.to = &call->reply;
    call->counts = commits(call->command);
    call->begun_us = client->loop->turn_us;
    queue_call(client, call);
    run_on_pool_now(client, call);
}

/* Commands about the connection alone do not use the engine, and run on the loop. */
static bool goes_to_pool(const struct redis_call *call) {
    bool reads_much = slow_has_many_args(call) && !commits(call->command);
    return (call->frontend->blocks || reads_much) && call->command->group != GROUP_CONNECTION &&
           call->command->group != GROUP_PUBSUB;
}

/* Appends the reply to what is to be sent; one that is large changes places with an empty buffer
 * instead of being copied. */
static void move_reply(struct redis_call *call, struct buf *to) {
    struct buf empty = *to;
    if (to->size != 0 || call->reply.size <= KEEP_SIZE || call->muted) {
        buf_put(to, buf_bytes(&call->reply));
        return;
    }
    *to = call->reply;
    call->reply = empty;
}

/* Takes over the failure of the change, or of the action that made it fail; false: none failed. */
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

/* Counts a write that has its reply; EXEC with the commands that it ran. */
static void count_call(struct redis_call *call) {
    struct command_stats *counts = &call->client->loop->counts;
    const struct multi_queue *queue = &call->client->queue;
    slowlog_note(call, call->usec);
    int64_t us = call->client->loop->drain_us - call->begun_us;
    command_stats_took(command_stats_called(counts, call->command, call->usec, call->failed), us,
                       1);
    if (is_logged(call, us))
        log_request(call, us);
    if (call->failed)
        count_refusal(call);
    for (size_t i = 0; i < queue->count && command_is_exec(call->command); i++)
        if (queue->list[i].ran)
            command_stats_called(counts, queue->list[i].request.command, queue->list[i].usec,
                                 call->failed || queue->list[i].failed);
}

void call_finish(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool gone = client->stream->gone;
    bool written = call->then != NULL || call->change.prepare != NULL;
    client->preparing -= call->change.prepare != NULL;
    if (client->preparing == 0 && atomic_load_explicit(&client->detour, memory_order_relaxed))
        atomic_store(&client->detour, false);
    struct buf *to = reply_target(call);
    if (written && change_failed(call)) {
        call->out.to = to;
        put_error(call, to->size, call->failure.status);
    } else {
        move_reply(call, to);
        call->out.to = to;
        if (call->then != NULL)
            call_run_function(call, call->then);
        if (written)
            zset_txn_committed(call);
        published_send(call->frontend, call->published);
    }
    if (gone)
        buf_clear(&client->stream->out);
    if (call->counts)
        count_call(call);
    if (call->command != NULL && command_is_exec(call->command)) {
        client->db = call->db; /* SELECT may have been queued */
        multi_queue_reset(&client->queue);
    }
    give_back(call);
    stream_release(client->stream);
}

/* ---- requests ---- */

/* Whether the command has to wait until the client's earlier ones are done. */
static bool must_wait(const struct redis_client *client, const struct redis_command *command) {
    if (client->pending == 0)
        return false;
    if (client->frontend->blocks || client->alone || atomic_load(&client->detour) ||
        client->pending >= LIMIT_CALLS_PENDING || client->queue.open)
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
        queue_call(client, call);
    } else
        give_back(call);
}

/* False, without a reply, if it takes too long here. */
static bool run_read(struct redis_client *client, struct redis_call *call) {
    const struct redis_command *command = call->command;
    size_t begin = call->out.to->size;
    bool failed = call->failed = call_run_function(call, command->run) != OK;
    client->loop->turn_work += call->own_budget.work;
    if (slow_is_over(call)) {
        call->out.to->size = begin;
        return false;
    }
    command_stats_called(&client->loop->counts, command, 0, failed);
    published_send(call->frontend, call->published);
    client->loop->timed_reads++;
    if (is_logged(call, 0)) /* somebody looks on */
        log_request(call, clock_ticks_us() - client->loop->turn_us);
    if (failed)
        count_refusal(call);
    return true;
}

/* ---- MONITOR ---- */

static bool is_monitored(const struct redis_client *client) {
    return atomic_load_explicit(&client->frontend->pubsub.monitors, memory_order_relaxed) != 0;
}

/* The argument in quotes, with what does not print as escapes. */
static void put_quoted(struct buf *to, struct bytes arg) {
    static const char letters[] = "\\\"\n\r\t\a\b", escapes[] = "\\\"nrtab";
    buf_byte(to, '"');
    for (size_t i = 0; i < arg.size; i++) {
        uint8_t c = arg.data[i];
        const char *found = c != 0 ? strchr(letters, c) : NULL;
        if (found != NULL)
            buf_printf(to, "\\%c", escapes[found - letters]);
        else if (c >= ' ' && c <= '~')
            buf_byte(to, c);
        else
            buf_printf(to, "\\x%02x", c);
    }
    buf_byte(to, '"');
}

/* Secrets of AUTH and HELLO are not told, nor what administrators do. */
static void tell_monitors(const struct redis_client *client, const struct redis_call *call) {
    unsigned hidden = COMMAND_NO_AUTH | COMMAND_ADMIN;
    struct buf line = {0};
    int64_t now_us = clock_now_ms() * 1000;
    if ((call->command->flags & hidden) != 0)
        return;
    buf_printf(&line, "+%lld.%06lld [%u %s]", (long long)(now_us / 1000000),
               (long long)(now_us % 1000000), call->db, client->address);
    for (size_t i = 0; i < call->count && line.size < LIMIT_MONITOR_LINE; i++) {
        struct bytes arg = call->args[i];
        if (arg.size > LIMIT_MONITOR_LINE)
            arg.size = LIMIT_MONITOR_LINE;
        buf_byte(&line, ' ');
        put_quoted(&line, arg);
    }
    buf_lit(&line, "\r\n");
    pubsub_tell_monitors(client->frontend, buf_bytes(&line));
    buf_release(&line);
}

static void dispatch(struct redis_client *client, struct redis_call *call) {
    struct redis_loop *loop = client->loop;
    const struct redis_command *timed = NULL;
    if (!call_find_subcommand(call))
        client->queue.faulty = client->queue.open;
    else if (call_check(call) != OK) {
        redis_count(&command_stats_of(&loop->counts, call->command)->rejected, 1);
        count_refusal(call);
        reply_refusal(call);
    } else if (client->queue.open && (call->command->flags & COMMAND_NOT_QUEUED) == 0)
        queue_for_exec(call);
    else
        timed = call->command;
    if (is_monitored(client) && call->allowed)
        tell_monitors(client, call);
    if (timed != loop->timed)
        command_stats_time(loop, timed);
    if (timed != NULL && goes_to_pool(call)) {
        start_on_pool(client, call);
        return;
    }
    if (timed != NULL && commits(timed)) {
        start_write(client, call);
        return;
    }
    if (timed != NULL && !run_read(client, call)) {
        start_on_pool(client, call);
        return;
    }
    send_or_queue(client, call);
}

static struct redis_call *call_new(struct redis_client *client, const struct redis_command *command,
                                   const struct bytes *args, size_t count) {
    struct redis_call *call = take_free_call(client);
    call->command = command;
    call->args = args;
    call->count = count;
    call->muted = client->mode != REPLY_ON && takes_mute(client);
    call->out =
        (struct resp){client->pending != 0 ? &call->reply : reply_target(call), client->version};
    client->alone = false;
    client_show(client); /* before the command runs, which may be on another thread */
    return call;
}

static void start_call(struct redis_client *client, const struct redis_command *command,
                       const struct bytes *args, size_t count) {
    redis_count(&client->loop->commands, 1);
    dispatch(client, call_new(client, command, args, count));
}

/* Runs a batch of reads as one call. False, without a reply, if it fails: then each request is run
 * by itself and gets its own error. */
static bool run_batched(struct redis_client *client, const struct read_batch *batch, size_t count) {
    struct redis_loop *loop = client->loop;
    const struct redis_command *command = batch->command;
    struct redis_call *call = call_new(client, command, batch->args, read_batch_args(batch));
    size_t said = call->out.to->size;
    bool good = call_find_subcommand(call) && call_check(call) == OK;
    if (good) {
        if (loop->timed != command)
            command_stats_time(loop, command);
        call->batched = true;
        call->count = batch->shared + batch->differs * count;
        good = command->run(call) == OK;
        loop->turn_work += call->own_budget.work;
    }
    if (good) {
        redis_count(&loop->commands, count);
        redis_count(&command_stats_of(&loop->counts, command)->calls, count);
        loop->timed_reads += count;
    } else
        call->out.to->size = said;
    give_back(call);
    return good;
}

void call_flush_batch(struct redis_client *client) {
    struct read_batch *batch = &client->loop->batch;
    size_t count = batch->count;
    batch->count = 0;
    if (count == 1)
        start_call(client, batch->command, batch->args, read_batch_args(batch));
    else if (count > 1 && !run_batched(client, batch, count))
        for (size_t i = 0; i < count; i++) {
            read_batch_show(batch, i);
            start_call(client, batch->command, batch->args, read_batch_args(batch));
        }
}

bool call_begin(struct redis_client *client) {
    const struct resp_parser *parser = &client->parser;
    struct redis_loop *loop = client->loop;
    if (read_batch_add(&loop->batch, parser))
        return true;
    call_flush_batch(client);
    const struct redis_command *command = redis_command_find(parser->args[0]);
    if (client->pending != 0 && must_wait(client, command))
        return false;
    if ((loop->under_way >= loop->under_way_max && is_write(command)) ||
        pause_holds(client, command)) {
        client_throttle(client);
        return false;
    }
    bool at_once = client->pending == 0 && !client->queue.open && client->mode == REPLY_ON &&
                   !client->frontend->blocks && !is_monitored(client);
    /* A batch is checked as its first request is, which is not enough if each key is another. */
    if (at_once && command != NULL &&
        (command->flags & (COMMAND_BATCHED_KEYS | COMMAND_BATCHED_PAIRS)) != 0)
        at_once = !access_is_partitioned(&client->caller);
    if (!at_once || !read_batch_begin(&loop->batch, command, parser))
        start_call(client, command, parser->args, parser->count);
    return true;
}
