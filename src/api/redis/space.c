/* Sorted sets of a call: opening them, writing to them, making a change of what was written. */
#include "api/redis/space_int.h"

#include "base/clock.h"
#include "base/limits.h"

enum { MANY_SETS = 16 }; /* from so many on they are found by a map */

struct space *space_of(struct redis_call *call) {
    if (call->space == NULL)
        call->space = ARENA_NEW(call->arena, struct space);
    return call->space;
}

static int64_t now_of(struct space *space) {
    if (space->now_ms == 0)
        space->now_ms = clock_now_ms();
    return space->now_ms;
}

void space_release(struct space *space) {
    for (struct zset *zset = space->sets; zset != NULL; zset = zset->next) {
        board_drop(zset->board);
        map_release(&zset->by_member);
    }
    space->sets = NULL;
    space->count = 0;
    map_release(&space->by_key);
    space->by_key = (struct map){0};
}

/* ---- opening ---- */

const struct board *zset_board(const struct zset *zset) {
    return zset->board;
}

static struct zset *find_set(struct space *space, struct bytes key) {
    if (space->count >= MANY_SETS && space->by_key.count == 0)
        for (struct zset *zset = space->sets; zset != NULL; zset = zset->next)
            map_put(&space->by_key, zset->key, zset);
    if (space->by_key.count != 0)
        return map_get(&space->by_key, key);
    for (struct zset *zset = space->sets; zset != NULL; zset = zset->next)
        if (bytes_equal(zset->key, key))
            return zset;
    return NULL;
}

/* A key that lost its last member is no key any more, nor has it an end. */
static enum status forget_end(struct redis_call *call, struct zset *zset) {
    uint64_t size = 1;
    enum status status = OK;
    if (zset->expires ? zset->expires_ms != 0 : zset->board->expires_ms != 0)
        status = zset_size(call, zset, &size);
    if (size == 0) {
        zset->expires = true;
        zset->expires_ms = 0;
    }
    return status;
}

enum status zset_open(struct redis_call *call, struct bytes key, struct zset **out) {
    struct space *space = space_of(call);
    *out = find_set(space, key);
    if (*out != NULL)
        return OK;
    const struct board *board;
    enum status status = board_find(call->face->game, key, call->arena, &call->failure, &board);
    if (status != OK)
        return status;
    struct zset *zset = ARENA_NEW(call->arena, struct zset);
    zset->key = key;
    zset->board = board;
    /* Entries that somebody put there without making the board are members all the same. */
    zset->empty = board->exists && board_is_gone(board, board->expires_ms != 0 ? now_of(space) : 0);
    zset->next = space->sets;
    space->sets = zset;
    space->count++;
    if (space->by_key.count != 0)
        map_put(&space->by_key, zset->key, zset);
    *out = zset;
    return board->expires_ms != 0 && !zset->empty ? forget_end(call, zset) : OK;
}

/* ---- reading members ---- */

struct moved *zset_moved(const struct zset *zset, struct bytes member) {
    return zset->count == 0 ? NULL : map_get(&zset->by_member, member);
}

enum status zset_size(struct redis_call *call, struct zset *zset, uint64_t *out) {
    if (zset_is_moved(zset))
        return over_size(call, zset, out);
    return table_count(call, zset, &(struct window){0}, out);
}

static enum status table_scores(struct redis_call *call, struct zset *zset,
                                struct zset_entry *entries, size_t count) {
    struct bytes *members = arena_alloc(call->arena, count * sizeof(*members));
    struct standing_at *at = arena_alloc(call->arena, count * sizeof(*at));
    for (size_t i = 0; i < count; i++)
        members[i] = entries[i].member;
    enum status status = table_places(call, zset, members, count, false, at);
    for (size_t i = 0; i < count && status == OK; i++) {
        entries[i].found = at[i].found;
        entries[i].score = at[i].found ? ranked_score(&at[i].entry) : 0;
    }
    return status;
}

enum status zset_scores(struct redis_call *call, struct zset *zset, struct zset_entry *entries,
                        size_t count) {
    enum status status = table_scores(call, zset, entries, count);
    for (size_t i = 0; i < count && status == OK && zset_is_moved(zset); i++) {
        const struct moved *moved = zset_moved(zset, entries[i].member);
        if (moved != NULL) {
            entries[i].found = moved->has;
            entries[i].score = moved->score;
        }
    }
    return status;
}

/* With what was written: counts those before the member's place. */
static enum status over_rank(struct redis_call *call, struct zset *zset, const struct ranked *entry,
                             bool reverse, uint64_t *rank) {
    struct edge edge = {.points = entry->points, .tie = entry->tie, .key = entry->key};
    uint64_t size;
    enum status status = over_before(call, zset, &edge, rank);
    if (status == OK && reverse) {
        status = over_size(call, zset, &size);
        *rank = size - 1 - *rank;
    }
    return status;
}

static struct ranked moved_entry(const struct moved *moved) {
    return (struct ranked){.key = moved->key, .points = moved->points, .tie = moved->tie};
}

static enum status rank_of(struct redis_call *call, struct zset *zset, const struct standing_at *at,
                           bool reverse, struct zset_rank *out) {
    const struct moved *moved = zset_moved(zset, out->member);
    struct ranked entry = at->entry;
    out->found = moved != NULL ? moved->has : at->found;
    if (!out->found)
        return OK;
    if (moved != NULL)
        entry = moved_entry(moved);
    out->score = moved != NULL ? moved->score : ranked_score(&entry);
    out->rank = reverse ? at->after : at->before;
    return zset_is_moved(zset) ? over_rank(call, zset, &entry, reverse, &out->rank) : OK;
}

enum status zset_ranks(struct redis_call *call, struct zset *zset, bool reverse,
                       struct zset_rank *ranks, size_t count) {
    struct bytes *members = arena_alloc(call->arena, count * sizeof(*members));
    struct standing_at *at = arena_alloc(call->arena, count * sizeof(*at));
    for (size_t i = 0; i < count; i++)
        members[i] = ranks[i].member;
    enum status status = table_places(call, zset, members, count, true, at);
    for (size_t i = 0; i < count && status == OK; i++)
        status = rank_of(call, zset, &at[i], reverse, &ranks[i]);
    return status;
}

/* ---- writing ---- */

static void set_has(struct zset *zset, struct moved *moved, bool has) {
    zset->more += (int64_t)has - (int64_t)moved->has;
    moved->has = has;
}

static struct moved *add_moved(struct redis_call *call, struct zset *zset, struct bytes member,
                               struct bytes key, const struct standing_at *at) {
    if (zset->count == zset->room) {
        size_t room = zset->room == 0 ? 8 : zset->room * 2;
        zset->moved = arena_grow(call->arena, zset->moved, zset->room * sizeof(*zset->moved),
                                 room * sizeof(*zset->moved));
        zset->room = room;
    }
    struct moved *moved = ARENA_NEW(call->arena, struct moved);
    moved->member = arena_copy(call->arena, member);
    moved->key = arena_copy(call->arena, key);
    if (at->found) {
        moved->had = moved->has = true;
        moved->points = at->entry.points;
        moved->tie = at->entry.tie;
        moved->old = moved->place = ranked_place(&at->entry, call->arena);
        moved->score = ranked_score(&at->entry);
    }
    zset->moved[zset->count++] = moved;
    map_put(&zset->by_member, moved->member, moved);
    return moved;
}

/* Too many to go at once: the board is marked instead, and reads as empty from then on. */
static void drop(struct zset *zset) {
    zset->dropped = zset->empty = true;
    zset->count = 0;
    zset->more = 0;
    map_release(&zset->by_member);
    zset->by_member = (struct map){0};
}

/* All entries that the table has are to go. */
static enum status remove_all(struct redis_call *call, struct zset *zset) {
    struct ranked *list;
    size_t count;
    uint64_t size;
    enum status status = table_count(call, zset, &(struct window){0}, &size);
    if (status == OK && size > LIMIT_CLEARED_AT_ONCE && zset->board->exists) {
        drop(zset);
        return OK;
    }
    if (status == OK)
        status = table_list(call, zset, &(struct window){0}, &list, &count);
    for (size_t i = 0; status == OK && i < count; i++) {
        struct bytes member = entry_member_of(list[i].key, call->arena);
        struct standing_at at = {.found = true, .entry = list[i]};
        if (zset_moved(zset, member) == NULL)
            add_moved(call, zset, member, list[i].key, &at);
    }
    for (size_t i = 0; i < zset->count; i++)
        set_has(zset, zset->moved[i], false);
    return status;
}

enum status zset_check_writable(struct redis_call *call, struct zset *zset) {
    const struct board *board = zset->board;
    if (zset->dropped)
        return call_error(call,
                          "ERR a sorted set of more than %d members cannot be replaced in "
                          "one step: delete it first",
                          LIMIT_CLEARED_AT_ONCE);
    enum status status = board_check_open(board, now_of(call->space), call->arena, &call->failure);
    if (status != BUSY || !zset->empty)
        return status == BUSY ? OK : status;
    uint64_t left = 0;
    zset->empty = false; /* its time is up, and what the table still has goes now */
    if (!board->clearing)
        status = table_count(call, zset, &(struct window){0}, &left);
    if (board->clearing || left > LIMIT_CLEARED_AT_ONCE) {
        zset->empty = true; /* the game itself takes it away: soon it can be written */
        call->space->busy = true;
        return BUSY;
    }
    call->failure = (struct failure){0};
    zset->expires = true;
    zset->expires_ms = 0;
    return remove_all(call, zset);
}

/* The member as it is now, noted as one that changes. */
static enum status move(struct redis_call *call, struct zset *zset, struct bytes member,
                        struct moved **out) {
    struct standing_at at;
    struct bytes key;
    enum status status = zset_check_writable(call, zset);
    if (status != OK)
        return status;
    *out = zset_moved(zset, member);
    if (*out != NULL)
        return OK;
    status = entry_key_of(member, call->arena, &call->failure, &key);
    if (status == OK)
        status = table_places(call, zset, &member, 1, false, &at);
    if (status == OK)
        *out = add_moved(call, zset, member, key, &at);
    return status;
}

/* What the game's own function will write. */
static struct bytes tie_of(const struct redis_call *call, const struct board_rules *rules) {
    int64_t now = call->space->now_ms;
    if (rules->tie == TIE_MEMBER)
        return points_zero();
    return number_from_int(call->arena, rules->order == ORDER_HIGH ? -now : now);
}

enum status zset_put(struct redis_call *call, struct zset *zset, struct bytes member,
                     double score) {
    struct moved *moved;
    enum status status = move(call, zset, member, &moved);
    if (status != OK)
        return status;
    struct points points = points_of_double(call->arena, score);
    moved->score = score;
    if (moved->has && points_compare(&points, &moved->points) == 0)
        return OK;
    set_has(zset, moved, true);
    moved->points = points;
    moved->tie = tie_of(call, &zset->board->rules);
    struct ranked entry = moved_entry(moved);
    moved->place = ranked_place(&entry, call->arena);
    return OK;
}

enum status zset_remove(struct redis_call *call, struct zset *zset, struct bytes member) {
    struct moved *moved;
    enum status status = move(call, zset, member, &moved);
    if (status != OK)
        return status;
    set_has(zset, moved, false);
    return forget_end(call, zset);
}

enum status zset_clear(struct redis_call *call, struct zset *zset) {
    enum status status = zset_check_writable(call, zset);
    if (status == OK)
        status = remove_all(call, zset);
    if (status == OK && !zset->dropped && (zset->expires || zset->board->expires_ms != 0))
        status = zset_expire(call, zset, 0);
    return status;
}

enum status zset_expires(struct redis_call *call, struct zset *zset, int64_t *out_ms) {
    (void)call;
    *out_ms = zset->expires ? zset->expires_ms : zset->empty ? 0 : zset->board->expires_ms;
    return OK;
}

enum status zset_expire(struct redis_call *call, struct zset *zset, int64_t at_ms) {
    enum status status = zset_check_writable(call, zset);
    zset->expires = true;
    zset->expires_ms = at_ms;
    return status;
}

/* ---- the change ---- */

/* A board that has limits says no by failing: nothing of the change happens. */
enum status space_write_entry(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    struct entry_write *write = action->user;
    enum status status = entry_write_plain(action, old, arena, new);
    if (status == OK && write->outcome == ENTRY_OUT_OF_RANGE)
        return failure_set(&action->failure, arena, INVALID,
                           "the score is outside of what board %.*s takes",
                           BYTES_ARG(write->board->instance));
    return status;
}

static bool is_changed(const struct moved *moved) {
    return moved->had != moved->has || (moved->has && !bytes_equal(moved->old, moved->place));
}

static void put_action(struct redis_call *call, const struct zset *zset, const struct moved *moved,
                       struct action *out) {
    struct game *game = call->face->game;
    if (!moved->has) {
        *out = (struct action){.kind = ACTION_DELETE,
                               .table = game->table,
                               .item = game_key(call->arena, zset->board->pk, moved->key)};
        return;
    }
    struct entry_write *write = ARENA_NEW(call->arena, struct entry_write);
    write->board = zset->board;
    write->points = moved->points;
    write->now_ms = call->space->now_ms;
    entry_action(game, zset->board, moved->key, space_write_entry, write, call->arena, out);
}

/* What becomes of the instance's own item. */
static enum status state_action(struct redis_call *call, struct zset *zset, bool added,
                                bool removed, struct action *to, size_t *count) {
    struct game *game = call->face->game;
    const struct board *board = zset->board;
    uint64_t size = 1;
    enum status status = OK;
    if (zset->dropped) {
        board_clear_action(game, board, call->arena, &to[(*count)++]);
        return OK;
    }
    if (removed && board->exists && board->rules.plain)
        status = over_size(call, zset, &size);
    if (size == 0)
        board_unmake_action(game, board, call->arena, &to[(*count)++]);
    else if (zset->expires && (board->exists || added))
        board_expire_action(game, board, zset->expires_ms, call->arena, &to[(*count)++]);
    else if (added && !board->exists)
        board_make_action(game, board, call->arena, &to[(*count)++]);
    return status;
}

/* Appends the actions of one set. */
static enum status set_actions(struct redis_call *call, struct zset *zset, struct action *to,
                               size_t *count) {
    bool added = false, removed = false;
    for (size_t i = 0; i < zset->count; i++) {
        const struct moved *moved = zset->moved[i];
        if (!is_changed(moved))
            continue;
        put_action(call, zset, moved, &to[(*count)++]);
        added = added || moved->has;
        removed = removed || !moved->has;
    }
    return state_action(call, zset, added, removed, to, count);
}

enum status space_actions(struct redis_call *call) {
    struct change *change = &call->change;
    size_t room = 0, count = 0;
    enum status status = OK;
    for (struct zset *zset = call->space->sets; zset != NULL; zset = zset->next)
        room += zset->count + 1;
    struct action *actions = arena_alloc(call->arena, room * sizeof(*actions));
    for (struct zset *zset = call->space->sets; zset != NULL && status == OK; zset = zset->next)
        status = set_actions(call, zset, actions, &count);
    change->actions = actions;
    change->action_count = count;
    if (status != OK)
        change->failure = call->failure;
    return status;
}

/* Whether the board that was written to has an item; the board as it is now takes its place. */
static bool is_made(struct redis_call *call, struct zset *zset) {
    struct game *game = call->face->game;
    const struct board *now;
    if ((zset->board->exists && board_is_current(game, zset->board)) ||
        board_find(game, zset->key, call->arena, &call->failure, &now) != OK)
        return true;
    board_drop(zset->board);
    zset->board = now;
    return now->exists;
}

struct change *space_repair(struct redis_call *call) {
    struct action *actions = NULL;
    size_t count = 0;
    for (struct zset *zset = call->space != NULL ? call->space->sets : NULL; zset != NULL;
         zset = zset->next) {
        if (is_made(call, zset))
            continue;
        if (actions == NULL)
            actions = ARENA_ARRAY(call->arena, struct action, call->space->count);
        board_make_action(call->face->game, zset->board, call->arena, &actions[count++]);
    }
    if (count == 0)
        return NULL;
    struct change *change = ARENA_NEW(call->arena, struct change);
    change->kind = CHANGE_WRITE;
    change->arena = call->arena;
    change->user = call;
    change->actions = actions;
    change->action_count = count;
    return change;
}

void space_written(struct redis_call *call) {
    struct waiting *waiting = &call->face->waiting;
    for (struct zset *zset = call->space != NULL ? call->space->sets : NULL; zset != NULL;
         zset = zset->next)
        if (zset->dropped)
            clearer_add(&call->face->clearer, zset->key);
    if (call->space == NULL || atomic_load_explicit(&waiting->count, memory_order_relaxed) == 0)
        return;
    for (struct zset *zset = call->space->sets; zset != NULL; zset = zset->next)
        wait_wake(waiting, zset->board->pk);
}
