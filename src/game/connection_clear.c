/* Connections of servers that are gone are taken away. */
#include "base/clock.h"
#include "game/connection_int.h"

enum {
    SERVERS_MAX = 8, /* looked at in one turn, */
    DROPS_MAX = 64,  /* and connections to one room that go in one commit */
};

/* --- finding --- */

static bool found_already(const struct lapsed_list *list, struct bytes server, struct bytes code) {
    for (size_t i = 0; i < list->count; i++)
        if (bytes_equal(list->entries[i].code, code) &&
            bytes_equal(list->entries[i].server, server))
            return true;
    return false;
}

static enum status find_rooms(struct game *game, struct bytes server, size_t limit,
                              struct arena *arena, struct failure *failure,
                              struct lapsed_list *out) {
    struct page_reply page;
    enum status status = connections_held(game, server, (uint32_t)limit, arena, failure, &page);
    for (uint64_t i = 0; status == OK && i < page.count; i++) {
        struct bytes code = item_string(&page.items[i], ROOM_CODE);
        if (code.size != 0 && !found_already(out, server, code))
            out->entries[out->count++] = (struct lapsed){server, code};
    }
    if (status == OK && page.count == 0)
        out->entries[out->count++] = (struct lapsed){.server = server};
    return status;
}

enum status lapsed_find(struct game *game, struct bytes own, size_t limit, struct arena *arena,
                        struct failure *failure, struct lapsed_list *out) {
    struct key_condition keys = {.count = 2};
    struct page_request request = {
        .table = game->table, .index = GAME_GSI2, .keys = &keys, .limit = SERVERS_MAX};
    struct page_reply page;
    struct bytes now = arena_printf(arena, "%013lld", (long long)clock_now_ms());
    *out = (struct lapsed_list){0};
    keys.tests[0] =
        (struct key_test){.name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(SERVERS)};
    keys.tests[1] =
        (struct key_test){.name = BYTES("GSI2SK"), .op = KEY_LT, .low = value_string(now)};
    enum status status = engine_page(game->engine, &request, arena, failure, &page);
    if (status != OK || page.count == 0)
        return status;
    out->entries = ARENA_ARRAY(arena, struct lapsed, limit);
    for (uint64_t i = 0; status == OK && i < page.count && out->count < limit; i++) {
        struct bytes server = item_string(&page.items[i], LEASE_OWNER);
        if (!bytes_equal(server, own))
            status = find_rooms(game, server, limit - out->count, arena, failure, out);
    }
    return status;
}

/* --- clearing --- */

/* The lease is still lapsed; `user` is when. From now on it says so itself, and is not found again
 * once nothing is left. */
struct mark_cleared {
    int64_t now_ms;
    bool last;
};

static enum status mark_cleared(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct mark_cleared *mark = action->user;
    struct value cleared = value_bool(true);
    if (item_int(old, LEASE_UNTIL) >= mark->now_ms)
        return failure_set(&action->failure, arena, CONFLICT, "The server is there again");
    if (old->count == 0)
        return OK;
    if (!item_bool(old, SERVER_CLEARED))
        *new = item_with(arena, old, SERVER_CLEARED, &cleared);
    if (mark->last) {
        *new = item_with(arena, new, BYTES("GSI2PK"), NULL);
        *new = item_with(arena, new, BYTES("GSI2SK"), NULL);
    }
    return OK;
}

static struct action mark_action(struct game *game, const struct lapsed *lapsed,
                                 struct arena *arena) {
    struct mark_cleared *mark = ARENA_NEW(arena, struct mark_cleared);
    *mark = (struct mark_cleared){clock_now_ms(), lapsed->code.size == 0};
    return (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = game_key(arena, server_pk(arena, lapsed->server), ROOM_META),
                           .compute = mark_cleared,
                           .user = mark};
}

/* The server's connections among those, the first DROPS_MAX. */
static size_t dropped(const struct page_reply *page, struct bytes server, struct arena *arena,
                      struct item **out) {
    size_t count = 0;
    *out = ARENA_ARRAY(arena, struct item, DROPS_MAX);
    for (uint64_t i = 0; i < page->count && count < DROPS_MAX; i++)
        if (bytes_equal(item_string(&page->items[i], CONNECTION_SERVER), server))
            (*out)[count++] = page->items[i];
    return count;
}

static struct action drop_action(struct game *game, const struct item *connection,
                                 struct arena *arena) {
    return (struct action){
        .kind = ACTION_DELETE,
        .table = game->table,
        .item = game_key(arena, item_string(connection, GAME_PK), ROOM_META),
    };
}

static size_t connections_of(const struct item *items, uint64_t count, struct bytes player) {
    size_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        found += bytes_equal(item_string(&items[i], SEAT_PLAYER), player);
    return found;
}

static enum status clear_room(struct room *room, const struct lapsed *lapsed,
                              struct failure *failure) {
    struct page_reply page;
    struct item *gone;
    struct action action = mark_action(room->game, lapsed, room->arena);
    room_also(room, &action);
    enum status status = connections_in(room->game, room->code, room->arena, failure, &page);
    if (status != OK)
        return status;
    size_t count = dropped(&page, lapsed->server, room->arena, &gone);
    for (size_t i = 0; i < count && status == OK; i++) {
        struct bytes player = item_string(&gone[i], SEAT_PLAYER);
        action = drop_action(room->game, &gone[i], room->arena);
        room_also(room, &action);
        if (room_seat(room, player) != NULL &&
            connections_of(page.items, page.count, player) == connections_of(gone, count, player))
            status = room_connected(room, player, false, failure);
    }
    if (status == OK && count == 0)
        return failure_set(failure, room->arena, NOT_FOUND, "There are no such connections");
    return status;
}

/* The room itself is gone, or cannot be read; or nothing is left to be cleared. */
static enum status clear_rest(struct game *game, const struct lapsed *lapsed, struct arena *arena,
                              struct failure *failure, struct change *change) {
    struct action *actions = ARENA_ARRAY(arena, struct action, 1 + DROPS_MAX);
    struct page_reply page;
    struct item *gone;
    size_t count = 0;
    *failure = (struct failure){0};
    actions[count++] = mark_action(game, lapsed, arena);
    if (lapsed->code.size != 0) {
        enum status status = connections_in(game, lapsed->code, arena, failure, &page);
        if (status != OK)
            return status;
        size_t drops = dropped(&page, lapsed->server, arena, &gone);
        for (size_t i = 0; i < drops; i++)
            actions[count++] = drop_action(game, &gone[i], arena);
    }
    change->kind = CHANGE_WRITE;
    change->actions = actions;
    change->action_count = count;
    change->all_or_nothing = true;
    return OK;
}

enum status lapsed_prepare(struct game *game, const struct lapsed *lapsed, struct arena *arena,
                           struct failure *failure, struct room *room, struct change *change) {
    if (lapsed->code.size == 0)
        return clear_rest(game, lapsed, arena, failure, change);
    enum status status = room_load(game, lapsed->code, arena, failure, room);
    if (status == NOT_FOUND || status == DAMAGED)
        return clear_rest(game, lapsed, arena, failure, change);
    if (status == OK)
        status = clear_room(room, lapsed, failure);
    if (status == OK)
        room_save_prepare(room, change);
    return status;
}
