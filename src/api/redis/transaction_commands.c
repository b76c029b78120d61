/* MULTI, EXEC, DISCARD, WATCH, UNWATCH.
 *
 * EXEC is one change: on the engine's thread the queued commands run one after the other in one
 * transaction (key_txn.h), and their writes are one commit. WATCH is optimistic locking: a watched
 * key is unchanged if the versions of its partition and of its board's two, that of the entries and
 * that of the state, are what they were at WATCH, and it has not expired since.
 */
#include "api/redis/key_txn_int.h"
#include "base/clock.h"
#include "base/limits.h"
#include "table/inprocess.h"

static enum status run_multi(struct redis_call *call) {
    struct multi_queue *queue = &call->client->queue;
    if (queue->open)
        return call_error(call, "ERR MULTI calls can not be nested");
    queue->open = true;
    queue->db = call->client->db;
    queue->faulty = false;
    resp_ok(&call->out);
    return OK;
}

static enum status run_discard(struct redis_call *call) {
    struct multi_queue *queue = &call->client->queue;
    if (!queue->open)
        return call_error(call, "ERR DISCARD without MULTI");
    multi_queue_reset(queue);
    resp_ok(&call->out);
    return OK;
}

/* ---- WATCH ---- */

static bool is_watched(const struct redis_call *call, struct bytes key) {
    const struct multi_queue *queue = &call->client->queue;
    for (size_t i = 0; i < queue->watched_count; i++)
        if (queue->watched[i].db == call->db && bytes_equal(queue->watched[i].key, key))
            return true;
    return false;
}

/* Opens the key and its sorted set, so that its version tells of both. */
static enum status open_watched(struct redis_call *call, unsigned db, struct bytes name,
                                struct redis_key **out) {
    struct zset *zset;
    enum status status = key_open_in(call, db, name, out);
    return status == OK ? key_zset(call, *out, &zset) : status;
}

static enum status watch_key(struct redis_call *call, struct bytes key) {
    struct multi_queue *queue = &call->client->queue;
    struct redis_key *opened;
    enum status status = open_watched(call, call->db, key, &opened);
    if (status != OK || is_watched(call, key))
        return status;
    if (queue->watched_count == LIMIT_WATCHED)
        return call_error(call, "ERR too many keys are watched");
    if (queue->watched_count == queue->watched_room) {
        size_t room = queue->watched_room == 0 ? 4 : queue->watched_room * 2;
        queue->watched = arena_grow(&queue->watch_arena, queue->watched,
                                    queue->watched_room * sizeof(*queue->watched),
                                    room * sizeof(*queue->watched));
        queue->watched_room = room;
    }
    struct watched_key *watched = &queue->watched[queue->watched_count++];
    *watched = (struct watched_key){.key = arena_copy(&queue->watch_arena, key),
                                    .db = call->db,
                                    .partition_version = key_version(call, opened)};
    return key_expires(call, opened, &watched->expires_ms);
}

static enum status run_watch(struct redis_call *call) {
    enum status status = OK;
    if (call->client->queue.open)
        return call_error(call, "ERR WATCH inside MULTI is not allowed");
    for (size_t i = 1; i < call->count && status == OK; i++)
        status = watch_key(call, call->args[i]);
    if (status == OK)
        resp_ok(&call->out);
    return status;
}

static enum status run_unwatch(struct redis_call *call) {
    multi_queue_unwatch(&call->client->queue);
    resp_ok(&call->out);
    return OK;
}

static enum status check_watched(struct redis_call *call, bool *changed) {
    const struct multi_queue *queue = &call->client->queue;
    int64_t now_ms = clock_now_ms();
    *changed = false;
    for (size_t i = 0; i < queue->watched_count && !*changed; i++) {
        const struct watched_key *watched = &queue->watched[i];
        struct redis_key *key;
        enum status status = open_watched(call, watched->db, watched->key, &key);
        if (status != OK)
            return status;
        key_set_watched(key);
        *changed = key_version(call, key) != watched->partition_version ||
                   (watched->expires_ms != 0 && watched->expires_ms <= now_ms);
    }
    return OK;
}

/* ---- EXEC ---- */

/* May run several times before its commit, so the queue is kept until call_finish(). */
static enum status run_exec(struct redis_call *call) {
    const struct multi_queue *queue = &call->client->queue;
    bool changed;
    call->db = call->client->db;
    for (size_t i = 0; i < queue->count; i++)
        queue->list[i].ran = false;
    if (!queue->open)
        return call_error(call, "ERR EXEC without MULTI");
    if (queue->faulty)
        return call_error(call, "EXECABORT Transaction discarded because of previous errors.");
    enum status status = check_watched(call, &changed);
    if (status != OK)
        return status;
    if (changed) {
        resp_null_array(&call->out);
        return OK;
    }
    resp_array(&call->out, queue->count);
    for (size_t i = 0; i < queue->count; i++) {
        struct queued_command *queued = &queue->list[i];
        int64_t begin_us = clock_ticks_us();
        queued->failed = call_run_nested(call, &queued->request) != OK;
        queued->usec = (uint64_t)(clock_ticks_us() - begin_us);
        queued->ran = true;
        if (call->budget != NULL && call->budget->exhausted)
            return call_error(call,
                              "EXECABORT Transaction discarded because it needs more than %d MB of "
                              "memory, or too much is used by others",
                              LIMIT_CALL_MEMORY >> 20);
        if (call->budget != NULL && call->budget->work_max != 0 &&
            call->budget->work > call->budget->work_max)
            return WOULD_BLOCK; /* it is run again, from the start */
    }
    return OK;
}

/* ---- EXEC of commands that have a `start` ---- */

/* If all queued commands have a `start` (ZADD, ZINCRBY, ZREM) and no item is written twice, their
 * actions become one change, which shares a commit with the writes of other clients. */

/* Adds the item's key to the set; false if it is there already. */
static bool add_item(struct map *items, const struct item *item, struct arena *arena) {
    const struct value *pk = item_get(item, GAME_PK), *sk = item_get(item, GAME_SK);
    struct bytes key = arena_printf(arena, "%zu %.*s%.*s", pk->bytes.size, BYTES_ARG(pk->bytes),
                                    BYTES_ARG(sk->bytes));
    return map_put(items, key, (void *)item) == NULL;
}

/* Joins the actions of all commands; false if one item is written twice. */
static bool join_actions(struct redis_call *call, struct redis_call *inner, size_t count) {
    struct change *change = &call->change;
    struct map items = {0};
    size_t total = 0;
    bool apart = true;
    for (size_t i = 0; i < count; i++)
        total += inner[i].change.action_count;
    change->actions = ARENA_ARRAY(call->arena, struct action, total);
    change->action_count = 0;
    for (size_t i = 0; i < count && apart; i++)
        for (size_t j = 0; j < inner[i].change.action_count && apart; j++) {
            struct action *action = &change->actions[change->action_count++];
            *action = inner[i].change.actions[j];
            apart = add_item(&items, &action->item, call->arena);
        }
    map_release(&items);
    return apart;
}

static enum status then_exec(struct redis_call *call) {
    struct redis_call *inner = call->user;
    size_t count = 0;
    while (inner[count].command != NULL)
        count++;
    resp_array(&call->out, count);
    for (size_t i = 0; i < count; i++) {
        struct queued_command *queued = &call->client->queue.list[i];
        call_then_nested(call, &inner[i]);
        queued->failed = inner[i].failed;
        queued->ran = true;
    }
    return OK;
}

static bool is_simple(const struct multi_queue *queue) {
    bool simple = queue->open && !queue->faulty && queue->watched_count == 0 && queue->count != 0;
    for (size_t i = 0; i < queue->count && simple; i++)
        simple = queue->list[i].request.command->start != NULL;
    return simple;
}

static enum status start_exec(struct redis_call *call) {
    const struct multi_queue *queue = &call->client->queue;
    if (!is_simple(queue))
        return call_fall_back(call);
    struct redis_call *inner = ARENA_ARRAY(call->arena, struct redis_call, queue->count + 1);
    for (size_t i = 0; i < queue->count; i++) {
        enum status status = call_spend(call, WORK_SET);
        if (status != OK)
            return status;
        if (!call_start_nested(call, &queue->list[i].request, &inner[i]) ||
            inner[i].change.prepare != NULL)
            return call_fall_back(call);
    }
    if (!join_actions(call, inner, queue->count))
        return call_fall_back(call);
    call->change.all_or_nothing = true;
    call->user = inner;
    call->then = then_exec;
    return OK;
}

enum {
    COMMON = COMMAND_NOSCRIPT | COMMAND_LOADING | COMMAND_STALE | COMMAND_FAST | COMMAND_ALLOW_BUSY
};

const struct redis_command redis_transaction_commands[] = {
    {"multi",
     1,
     COMMON | COMMAND_NOT_QUEUED,
     TOUCHES_CONNECTION,
     {0},
     run_multi,
     NULL,
     GROUP_TRANSACTIONS,
     "1.2.0",
     "What follows is kept until EXEC"},
    {"exec",
     1,
     COMMAND_NOSCRIPT | COMMAND_LOADING | COMMAND_STALE | COMMAND_SKIP_SLOWLOG |
         COMMAND_NOT_QUEUED | COMMAND_EXCLUSIVE,
     TOUCHES_CONNECTION,
     {0},
     run_exec,
     start_exec,
     GROUP_TRANSACTIONS,
     "1.2.0",
     "Does all since MULTI, in one step"},
    {"discard",
     1,
     COMMON | COMMAND_NOT_QUEUED,
     TOUCHES_CONNECTION,
     {0},
     run_discard,
     NULL,
     GROUP_TRANSACTIONS,
     "2.0.0",
     "Forgets all since MULTI"},
    {"watch",
     -2,
     COMMON | COMMAND_NOT_QUEUED,
     TOUCHES_PARTITION,
     {1, -1, 1, 0},
     run_watch,
     NULL,
     GROUP_TRANSACTIONS,
     "2.2.0",
     "EXEC does nothing if one of the keys has changed by then"},
    {"unwatch",
     1,
     COMMON,
     TOUCHES_CONNECTION,
     {0},
     run_unwatch,
     NULL,
     GROUP_TRANSACTIONS,
     "2.2.0",
     "Forgets what is watched"},
    {0},
};
