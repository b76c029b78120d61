/* MULTI, EXEC, DISCARD, WATCH, UNWATCH.
 *
 * EXEC is one change: on the engine's thread the queued commands run one after the other over one
 * space, and what they wrote is one commit. A watched key is as it was if nobody wrote to its
 * board's partition, or to that of its state, since WATCH.
 */
#include "api/redis/space_int.h"
#include "base/clock.h"
#include "base/limits.h"

static enum status run_multi(struct redis_call *call) {
    struct queue *queue = &call->client->queue;
    if (queue->open)
        return call_error(call, "ERR MULTI calls can not be nested");
    queue->open = true;
    queue->faulty = false;
    resp_ok(&call->out);
    return OK;
}

static enum status run_discard(struct redis_call *call) {
    struct queue *queue = &call->client->queue;
    if (!queue->open)
        return call_error(call, "ERR DISCARD without MULTI");
    queue_reset(queue);
    resp_ok(&call->out);
    return OK;
}

/* ---- WATCH ---- */

static uint64_t touched(struct redis_call *call, const struct zset *zset) {
    struct game *game = call->face->game;
    const struct board *board = zset->board;
    struct bytes state = bytes_skip(board->pk, sizeof("BOARD#") - 1);
    struct value partitions[] = {
        value_string(board->pk),
        value_string(arena_printf(call->arena, "INSTANCE#%.*s", BYTES_ARG(state))),
    };
    /* Both only rise, so their sum tells a change of either. */
    return engine_touched(game->engine, game->table, &partitions[0]) +
           engine_touched(game->engine, game->table, &partitions[1]);
}

static bool is_watched(const struct queue *queue, struct bytes key) {
    for (size_t i = 0; i < queue->watched_count; i++)
        if (bytes_equal(queue->watched[i].key, key))
            return true;
    return false;
}

static enum status watch(struct redis_call *call, struct bytes key) {
    struct queue *queue = &call->client->queue;
    struct zset *zset;
    enum status status = zset_open(call, key, &zset);
    if (status != OK || is_watched(queue, key))
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
    struct watched *watched = &queue->watched[queue->watched_count++];
    *watched = (struct watched){.key = arena_copy(&queue->watch_arena, key),
                                .touched = touched(call, zset)};
    return zset_expires(call, zset, &watched->expires_ms);
}

static enum status run_watch(struct redis_call *call) {
    enum status status = OK;
    if (call->client->queue.open)
        return call_error(call, "ERR WATCH inside MULTI is not allowed");
    for (size_t i = 1; i < call->count && status == OK; i++)
        status = watch(call, call->args[i]);
    if (status == OK)
        resp_ok(&call->out);
    return status;
}

static enum status run_unwatch(struct redis_call *call) {
    queue_unwatch(&call->client->queue);
    resp_ok(&call->out);
    return OK;
}

static enum status check_watched(struct redis_call *call, bool *changed) {
    const struct queue *queue = &call->client->queue;
    int64_t now_ms = clock_now_ms();
    *changed = false;
    for (size_t i = 0; i < queue->watched_count && !*changed; i++) {
        const struct watched *watched = &queue->watched[i];
        struct zset *zset;
        enum status status = zset_open(call, watched->key, &zset);
        if (status != OK)
            return status;
        *changed = touched(call, zset) != watched->touched ||
                   (watched->expires_ms != 0 && watched->expires_ms <= now_ms);
    }
    return OK;
}

/* ---- EXEC ---- */

/* The queue is let go of when the change is done: this may run again. */
static enum status run_exec(struct redis_call *call) {
    const struct queue *queue = &call->client->queue;
    bool changed;
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
        struct queued *queued = &queue->list[i];
        int64_t begin_us = clock_ticks_us();
        queued->failed = call_run_nested(call, queued->command, queued->args, queued->count) != OK;
        queued->usec = (uint64_t)(clock_ticks_us() - begin_us);
        queued->ran = true;
    }
    return OK;
}

/* ---- EXEC of members' own writes ---- */

/* Scores of members that each are written once need no look at anything else: they share a commit
 * with the writes of others, as they would without a transaction. */

static bool add_item(struct map *items, const struct item *item, struct arena *arena) {
    const struct value *pk = item_get(item, GAME_PK), *sk = item_get(item, GAME_SK);
    struct bytes key = arena_printf(arena, "%zu %.*s%.*s", pk->bytes.size, BYTES_ARG(pk->bytes),
                                    BYTES_ARG(sk->bytes));
    return map_put(items, key, (void *)item) == NULL;
}

/* All actions in one list; false if one item is written to twice. */
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
        struct queued *queued = &call->client->queue.list[i];
        call_then_nested(call, &inner[i]);
        queued->failed = inner[i].failed;
        queued->ran = true;
    }
    return OK;
}

static bool is_simple(const struct queue *queue) {
    bool simple = queue->open && !queue->faulty && queue->watched_count == 0 && queue->count != 0;
    for (size_t i = 0; i < queue->count && simple; i++)
        simple = queue->list[i].command->start != NULL;
    return simple;
}

static enum status start_exec(struct redis_call *call) {
    const struct queue *queue = &call->client->queue;
    if (!is_simple(queue))
        return call_fall_back(call);
    struct redis_call *inner = ARENA_ARRAY(call->arena, struct redis_call, queue->count + 1);
    for (size_t i = 0; i < queue->count; i++) {
        const struct queued *queued = &queue->list[i];
        if (!call_start_nested(call, queued->command, queued->args, queued->count, &inner[i]) ||
            inner[i].change.decide != NULL)
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
     COMMON | COMMAND_AT_ONCE,
     {0},
     run_multi,
     NULL,
     GROUP_TRANSACTIONS,
     "1.2.0",
     "What follows is kept until EXEC"},
    {"exec",
     1,
     COMMAND_NOSCRIPT | COMMAND_LOADING | COMMAND_STALE | COMMAND_SKIP_SLOWLOG | COMMAND_AT_ONCE |
         COMMAND_ALONE,
     {0},
     run_exec,
     start_exec,
     GROUP_TRANSACTIONS,
     "1.2.0",
     "Does all since MULTI, in one step"},
    {"discard",
     1,
     COMMON | COMMAND_AT_ONCE,
     {0},
     run_discard,
     NULL,
     GROUP_TRANSACTIONS,
     "2.0.0",
     "Forgets all since MULTI"},
    {"watch",
     -2,
     COMMON | COMMAND_AT_ONCE,
     {1, -1, 1, 0},
     run_watch,
     NULL,
     GROUP_TRANSACTIONS,
     "2.2.0",
     "EXEC does nothing if one of the keys has changed by then"},
    {"unwatch",
     1,
     COMMON,
     {0},
     run_unwatch,
     NULL,
     GROUP_TRANSACTIONS,
     "2.2.0",
     "Forgets what is watched"},
    {0},
};
