#include "api/redis/call_parts.h"

#include "api/redis/call_errors.h"
#include "api/redis/pool_calls.h"
#include "api/redis/slow_calls.h"
#include "api/redis/write_calls.h"
#include "api/redis/zset_txn_int.h"
#include "base/limits.h"
#include "base/mem.h"

#include <assert.h>

enum { PART_SHARED_MAX = 8 }; /* arguments that every part has: the name, the key, options */

struct call_parts {
    struct arena arena;       /* what the call had allocated before the first part: its arguments */
    const struct bytes *args; /* all of them */
    size_t count;
    size_t first, step; /* what is divided begins there; so many arguments belong together */
    size_t at;          /* the first that was in no part yet; 0: no part has begun */
    int64_t total;      /* of the replies so far */
    struct bytes part[PART_SHARED_MAX + LIMIT_PART_ARGS];
};

/* ---- the next part ---- */

/* Gives the call a fresh arena; the first one keeps the arguments. */
static void renew_arena(struct redis_call *call) {
    struct call_parts *parts = call->parts;
    struct arena old = call->own_arena;
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = NULL;
    arena_init(&call->own_arena);
    if (parts->at == 0)
        parts->arena = old;
    else
        slow_release_arena(call->frontend, &old);
}

/* How many of the next arguments are a part. */
static size_t count_part(const struct call_parts *parts) {
    size_t left = parts->count - parts->at, count = 0, bytes = 0;
    assert(left % parts->step == 0); /* `divides` has seen to it */
    while (count < left && count + parts->step <= LIMIT_PART_ARGS) {
        for (size_t i = 0; i < parts->step; i++)
            bytes += parts->args[parts->at + count + i].size;
        if (count != 0 && bytes > LIMIT_GROUP_LARGE)
            break;
        count += parts->step;
    }
    return count;
}

/* Makes the call one of the next arguments. */
static void take_args(struct redis_call *call) {
    struct call_parts *parts = call->parts;
    size_t shared = parts->first;
    if (parts->at == 0)
        parts->at = shared;
    size_t count = count_part(parts);
    memcpy(parts->part, parts->args, shared * sizeof(struct bytes));
    memcpy(parts->part + shared, parts->args + parts->at, count * sizeof(struct bytes));
    parts->at += count;
    call->args = parts->part;
    call->count = shared + count;
}

/* Starts the next part; false if it was over at once. Of a part after the first the client's
 * earlier writes are done, whatever became of them. */
static bool start_part(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool first = call->parts->at == 0;
    renew_arena(call);
    take_args(call);
    call_reset_run(call);
    call->then = NULL;
    call->repaired = call->refused = false;
    call->ahead = (struct ahead){.leads = !first};
    slow_set_loop_budget(call);
    call_prepare_change(call);
    enum status status = call_run_start(call);
    if (slow_is_over(call)) {
        call->failed = false;
        status = call_fall_back(call);
    }
    if (status != OK || (call->then == NULL && call->change.prepare == NULL)) {
        call->then = NULL;
        call->change.prepare = NULL;
        return false;
    }
    if (call->change.prepare == NULL) {
        call_submit(call);
        return true;
    }
    call->then = NULL;
    client->preparing++;
    if (client->first == call)
        slow_run_ahead(call); /* which may be the end of the call */
    else
        call_submit(call); /* one before it may take long, which the writer notices */
    return true;
}

/* ---- what came of a part ---- */

static void add_reply(struct redis_call *call) {
    struct bytes reply = buf_bytes(&call->reply);
    int64_t number;
    if (reply.size > 3 && reply.data[0] == ':' &&
        redis_read_int(bytes_of(reply.data + 1, reply.size - 3), &number))
        call->parts->total += number;
}

/* Does what call_finish() does with a change that was committed. */
static void finish_part(struct redis_call *call) {
    struct redis_client *client = call->client;
    bool written = call->then != NULL || call->change.prepare != NULL;
    client->preparing -= call->change.prepare != NULL;
    if (client->preparing == 0)
        atomic_store(&client->detour, false);
    call->out.to = &call->reply;
    if (call->then != NULL)
        call_run_function(call, call->then);
    if (written)
        zset_txn_committed(call);
    call->told = call->told || call->published->count != 0;
    published_send(call->frontend, call->published);
    call->then = NULL;
    call->change.prepare = NULL;
}

/* The reply of all parts, unless the last one's is an error or a plain OK. */
static void finish_parts(struct redis_call *call) {
    if (call->failed || call->reply.size == 0 || call->reply.data[0] != ':')
        return;
    buf_clear(&call->reply);
    resp_int(&call->out, call->parts->total);
}

bool parts_go_on(struct redis_call *call) {
    struct call_parts *parts = call->parts;
    if (parts == NULL || parts->at == 0)
        return false;
    bool failed = call->change.failure.status != OK; /* then call_finish() says so */
    while (!failed) {
        finish_part(call);
        if (!call->failed)
            add_reply(call);
        if (call->failed || parts->at == parts->count)
            break;
        if (start_part(call))
            return true;
    }
    if (!failed)
        finish_parts(call);
    call->args = parts->args;
    call->count = parts->count;
    return false;
}

/* ---- beginning ---- */

/* The first part; if it is over at once, those after it. */
static void start_first(struct redis_call *call) {
    if (start_part(call) || parts_go_on(call))
        return;
    call->done = true;
    client_drain(call->client);
}

/* Back on the loop: the arguments have been looked at. */
static void run_looked(struct task *task) {
    struct redis_call *call =
        (struct redis_call *)((char *)task - offsetof(struct redis_call, task));
    if (call->parts->first != 0) {
        start_first(call);
        return;
    }
    parts_forget(call);
    call_run_on_pool(call->client, call);
}

/* On a thread of the pool, while the client starts nothing else. */
static void look_at_args(void *argument) {
    struct redis_call *call = argument;
    struct call_scratch scratch;
    call->own_budget = (struct call_budget){0};
    call_scratch_begin(call, &scratch);
    size_t first = call->command->parts->divides(call);
    call->parts->first = first <= PART_SHARED_MAX ? first : 0;
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = NULL;
    call_scratch_end(call, &scratch);
    call_budget_release(call->frontend, &call->own_budget);
    call->task.run = run_looked;
    loop_post(call->client->stream->loop, &call->task);
}

static bool has_many_bytes(const struct redis_call *call) {
    size_t bytes = 0;
    for (size_t i = 1; i < call->count; i++)
        bytes += call->args[i].size;
    return bytes > LIMIT_GROUP_LARGE;
}

bool parts_begin(struct redis_client *client, struct redis_call *call) {
    const struct command_parts *how = call->command->parts;
    if (how == NULL || (!slow_has_many_args(call) && !has_many_bytes(call)) || call->denied != 0 ||
        call->frontend->blocks || stream_is_crowded(client->stream))
        return false;
    struct call_parts *parts = call->parts = mem_zalloc(sizeof(*parts));
    parts->args = call->args;
    parts->count = call->count;
    parts->step = how->step;
    client->alone = true;
    if (background_run(call->frontend->slow, look_at_args, call))
        return true;
    parts_forget(call);
    return false;
}

void parts_forget(struct redis_call *call) {
    if (call->parts == NULL)
        return;
    if (call->parts->at != 0)
        slow_release_arena(call->frontend, &call->parts->arena);
    mem_free(call->parts);
    call->parts = NULL;
}
