/* The change that is made of a sorted-set transaction, and what follows its commit: boards that
 * were deleted meanwhile, sets that are too large to go with it, calls that wait. */
#include "api/redis/key_txn_int.h"

#include "game/board/board_generation.h"
#include "game/keyspace/key_garbage.h"
#include "table/engine.h"

#include <assert.h>

/* ---- the actions ---- */

enum status zset_txn_write_entry(struct action *action, const struct item *old, struct arena *arena,
                                 struct item *new) {
    struct entry_write *write = action->user;
    enum status status = entry_write_by_flags(action, old, arena, new);
    if (status == OK && write->outcome == ENTRY_OUT_OF_RANGE)
        return failure_set(&action->failure, arena, INVALID, OUT_OF_RANGE_TEXT,
                           BYTES_ARG(write->board->instance));
    return status;
}

static bool is_changed(const struct zset_write *written) {
    return written->had != written->has ||
           (written->has && (written->sets_end || !bytes_equal(written->old, written->place)));
}

static bool removes_any(const struct zset *zset) {
    for (size_t i = 0; i < zset->count; i++)
        if (zset->written[i]->had && !zset->written[i]->has)
            return true;
    return false;
}

static enum status put_action(struct redis_call *call, const struct zset *zset,
                              const struct zset_write *written, struct action *out) {
    if (!written->has)
        return entry_removals_add(&call->txn->removals, zset->board, written->key, out);
    struct entry_write *write = ARENA_NEW(call->arena, struct entry_write);
    write->game = call->frontend->game;
    write->board = zset->board;
    write->flags = ENTRY_EXACT; /* the rules have been applied by zset_update() */
    write->points = written->points;
    write->sets_end = written->sets_end;
    write->end_s = written->end_s;
    write->now_ms = call->txn->now_ms;
    entry_action(write, game_key(call->arena, zset_partition(zset), written->key),
                 zset_txn_write_entry, out);
    return OK;
}

/* The actions made so far, in a list that has room for all. */
struct action_list {
    struct action *list;
    size_t count;
};

/* Appends the actions that give the board its next generation: the one that the call has written
 * entries to, or one without any. */
static void append_switch(struct redis_call *call, const struct zset *zset, bool added,
                          struct action_list *to) {
    struct game *game = call->frontend->game;
    struct board_switch to_be = {
        .game = game,
        .board = zset->board,
        .generation = zset->fresh.size != 0 ? zset->fresh : key_generation_new(call->arena),
        .has_entries = added || zset->listed != NULL,
        .expires_ms = zset->expires ? zset->expires_ms : 0,
        .had_entries = zset->dropped && (zset->board->exists || zset->had_entries)};
    to->count += board_switch_actions(&to_be, call->arena, to->list + to->count);
    call->txn->switches = true;
    if (zset->listed != NULL)
        to->list[to->count++] = key_garbage_unnote(game, zset->fresh, call->arena);
}

/* Appends what becomes of the board's own item: members were `added` to it, or removed. */
static enum status append_board_action(struct redis_call *call, struct zset *zset, bool added,
                                       struct action_list *to) {
    struct game *game = call->frontend->game;
    const struct board *board = zset->board;
    uint64_t size = 1;
    enum status status = OK;
    if (zset->fresh.size != 0) {
        append_switch(call, zset, added, to);
        return OK;
    }
    if (zset->dropped) {
        board_clear_action(game, board, call->arena, &to->list[to->count++]);
        return OK;
    }
    if (board->exists && board->rules.plain && removes_any(zset))
        status = merged_size(call, zset, &size);
    bool stays = board->generation.size != 0 && !zset->cleared; /* with its hidden entries */
    if (size == 0 && !stays && board->generation.size != 0)
        append_switch(call, zset, false, to);
    else if (size == 0 && !stays)
        board_delete_action(game, board, call->arena, &to->list[to->count++]);
    else if (zset->expires && (board->exists || added))
        to->list[to->count++] = board_expire_action(game, board, zset->expires_ms, call->arena);
    else if (added && !board->exists)
        board_create_action(game, board, call->arena, &to->list[to->count++]);
    return status;
}

/* Appends the actions of one set. */
static enum status append_actions(struct redis_call *call, struct zset *zset,
                                  struct action_list *to) {
    bool added = false;
    enum status status = OK;
    for (size_t i = 0; i < zset->count && status == OK; i++) {
        const struct zset_write *written = zset->written[i];
        if (!is_changed(written))
            continue;
        status = put_action(call, zset, written, &to->list[to->count++]);
        added = added || written->has;
    }
    return status == OK ? append_board_action(call, zset, added, to) : status;
}

/* Appends the actions that follow from removed entries: their parts of cross-game boards. */
static void finish_removals(struct redis_call *call, bool good, struct change *change) {
    struct entry_removals *removals = &call->txn->removals;
    size_t count = change->action_count, more = entry_removals_count(removals);
    if (good && more != 0) {
        change->actions = arena_grow(call->arena, change->actions, count * sizeof(*change->actions),
                                     (count + more) * sizeof(*change->actions));
        change->action_count += more;
    }
    entry_removals_finish(removals, good && more != 0 ? change->actions + count : NULL);
}

enum status zset_txn_actions(struct redis_call *call) {
    struct change *change = &call->change;
    struct action_list to = {0};
    size_t room = 0;
    enum status status = OK;
    if (call->txn->refusal.status != OK) {
        change->failure = call->txn->refusal;
        return change->failure.status;
    }
    for (struct zset *zset = call->txn->sets; zset != NULL; zset = zset->next)
        room += zset->count + BOARD_SWITCH_ACTIONS + 1;
    room += key_txn_room(call->txn);
    to.list = arena_alloc(call->arena, room * sizeof(*to.list));
    call->txn->removals = (struct entry_removals){
        .game = call->frontend->game, .arena = call->arena, .failure = &call->failure};
    for (struct zset *zset = call->txn->sets; zset != NULL && status == OK; zset = zset->next)
        status = append_actions(call, zset, &to);
    if (status == OK)
        status = key_txn_actions(call, to.list, &to.count);
    change->actions = to.list;
    change->action_count = to.count;
    finish_removals(call, status == OK, change);
    if (status != OK)
        change->failure = call->failure;
    return status;
}

void zset_txn_announce(struct redis_call *call) {
    if (call->txn == NULL || !call->txn->switches || call->switches)
        return;
    call->switches = true;
    board_switch_begin(call->frontend->game);
}

void zset_txn_announce_end(struct redis_call *call) {
    if (!call->switches)
        return;
    call->switches = false;
    board_switch_end(call->frontend->game);
}

/* Whether the board that was written to has its item; looks the board up again if it has changed.
 * Asked once a call: the board before is kept until the call ends, as its actions borrow from it.
 */
static bool board_has_item(struct redis_call *call, struct zset *zset) {
    struct game *game = call->frontend->game;
    const struct board *now;
    if ((zset->board->exists && board_is_current(game, zset->board)) ||
        board_find(game, zset->key, (struct scope){call->arena, &call->failure}, &now) != OK)
        return true;
    assert(zset->borrowed == NULL);
    zset->borrowed = zset->board;
    zset->board = now;
    return now->exists;
}

static enum status then_wrong_type(struct redis_call *call) {
    return call_error(call, ERROR_WRONG_TYPE);
}

static struct change *change_of(struct redis_call *call, struct action *actions, size_t count) {
    struct change *change = ARENA_NEW(call->arena, struct change);
    change->kind = CHANGE_WRITE;
    change->arena = call->arena;
    change->actions = actions;
    change->action_count = count;
    return change;
}

/* Whether the entry that the action has written is still there. */
static bool is_entry_there(struct redis_call *call, const struct action *action) {
    struct get_request request = {.table = action->table, .key = action->item, .consistent = true};
    struct get_reply reply;
    struct scope in = {call->arena, &call->failure};
    return engine_get(call->frontend->game->engine, &request, in, &reply) == OK && reply.found;
}

/* The board is gone, and there is a key of another type. If that came first, the set was deleted
 * after the `start` had looked: the entries that were written are removed again. If the entries
 * came first, whoever replaced the set has removed them, and there is nothing to do: NULL. */
static struct change *undo_writes(struct redis_call *call, const struct zset *zset) {
    const struct change *done = &call->change;
    struct action *actions = ARENA_ARRAY(call->arena, struct action, done->action_count);
    size_t count = 0;
    for (size_t i = 0; i < done->action_count; i++) {
        const struct action *action = &done->actions[i];
        if (bytes_equal(item_get(&action->item, GAME_PK)->bytes, zset->board->pk) &&
            is_entry_there(call, action))
            actions[count++] = (struct action){
                .kind = ACTION_DELETE, .table = action->table, .item = action->item};
    }
    if (count == 0)
        return NULL;
    call->then = then_wrong_type;
    return change_of(call, actions, count);
}

/* Whether one of the entries that the `start` wrote is there: else there is nothing to mend, since
 * whoever deleted the board after the commit has deleted them, too. */
static bool has_written_entries(struct redis_call *call, const struct zset *zset) {
    struct game *game = call->frontend->game;
    const struct change *done = &call->change;
    bool found = false;
    for (size_t i = 0; i < done->action_count && !found; i++) {
        struct item key = done->actions[i].item;
        struct bytes pk = item_get(&key, GAME_PK)->bytes, sk = item_get(&key, GAME_SK)->bytes;
        if (!bytes_equal(pk, zset->board->pk))
            continue;
        struct get_request request = {
            .table = game->table, .key = game_key(call->arena, pk, sk), .consistent = true};
        struct get_reply reply;
        found = engine_get(game->engine, &request, (struct scope){call->arena, &call->failure},
                           &reply) == OK &&
                reply.found;
    }
    return found;
}

struct change *zset_txn_repair(struct redis_call *call) {
    struct action *actions = NULL;
    size_t count = 0;
    for (struct zset *zset = call->txn != NULL ? call->txn->sets : NULL; zset != NULL;
         zset = zset->next) {
        if (board_has_item(call, zset) || !has_written_entries(call, zset))
            continue;
        if (zset->board->keyed)
            return undo_writes(call, zset);
        if (actions == NULL)
            actions = ARENA_ARRAY(call->arena, struct action, call->txn->count);
        board_create_action(call->frontend->game, zset->board, call->arena, &actions[count++]);
    }
    return count == 0 ? NULL : change_of(call, actions, count);
}

void zset_txn_committed(struct redis_call *call) {
    struct waiting *waiting = &call->frontend->waiting;
    for (struct zset *zset = call->txn != NULL ? call->txn->sets : NULL; zset != NULL;
         zset = zset->next)
        if (zset->dropped && zset->fresh.size == 0)
            lazyfree_add(&call->frontend->lazyfree, zset->key);
    key_txn_committed(call);
    if (call->txn == NULL || atomic_load_explicit(&waiting->count, memory_order_relaxed) == 0)
        return;
    for (struct zset *zset = call->txn->sets; zset != NULL; zset = zset->next)
        wait_wake(waiting, zset->board->instance);
}
