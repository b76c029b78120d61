/* Clearing rooms of the connections of servers whose lease has lapsed. */
#include "base/clock.h"
#include "base/limits.h"
#include "game/room/room_int.h"

enum {
    SERVERS_MAX = LIMIT_CLEARED_SERVERS,   /* servers looked at in one call */
    DROPS_MAX = LIMIT_CLEARED_CONNECTIONS, /* connections to one room deleted in one commit */
};

/* --- finding --- */

static bool found_already(const struct lapsed_lease_list *list, struct bytes server,
                          struct bytes code) {
    for (size_t i = 0; i < list->count; i++)
        if (bytes_equal(list->entries[i].code, code) &&
            bytes_equal(list->entries[i].server, server))
            return true;
    return false;
}

/* Adds the rooms to which the server holds connections, as many as the list takes. */
static enum status find_rooms(struct game *game, struct bytes server, struct scope in,
                              struct lapsed_lease_list *out) {
    struct held_request held = {server, (uint32_t)(out->limit - out->count)};
    struct page_reply page;
    enum status status = room_connections_of_server(game, held, in, &page);
    for (uint64_t i = 0; status == OK && i < page.count; i++) {
        struct bytes code = item_string(&page.items[i], ROOM_CODE);
        if (code.size != 0 && !found_already(out, server, code))
            out->entries[out->count++] = (struct lapsed_lease){server, code};
    }
    if (status == OK && page.count == 0)
        out->entries[out->count++] = (struct lapsed_lease){.server = server};
    return status;
}

enum status lapsed_lease_find(struct game *game, struct scope in, struct lapsed_lease_list *list) {
    struct key_condition keys = {.count = 2};
    struct page_request request = {
        .table = game->table, .index = GAME_GSI2, .keys = &keys, .limit = SERVERS_MAX};
    struct page_reply page;
    struct bytes now = arena_printf(in.arena, "%013lld", (long long)clock_now_ms());
    list->entries = NULL;
    list->count = 0;
    keys.tests[0] =
        (struct key_test){.name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(SERVERS)};
    keys.tests[1] =
        (struct key_test){.name = BYTES("GSI2SK"), .op = KEY_LT, .low = value_string(now)};
    enum status status = engine_page(game->engine, &request, in, &page);
    if (status != OK || page.count == 0)
        return status;
    list->entries = ARENA_ARRAY(in.arena, struct lapsed_lease, list->limit);
    for (uint64_t i = 0; status == OK && i < page.count && list->count < list->limit; i++) {
        struct bytes server = item_string(&page.items[i], LEASE_OWNER);
        if (!bytes_equal(server, list->own))
            status = find_rooms(game, server, in, list);
    }
    return status;
}

/* --- clearing --- */

/* What mark_cleared() is given. It marks the lease as cleared, if it is still lapsed. */
struct mark_cleared {
    int64_t now_ms;
    bool last; /* no connections are left: the lease leaves the index of leases */
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

static struct action mark_action(struct game *game, const struct lapsed_lease *lapsed,
                                 struct arena *arena) {
    struct mark_cleared *mark = ARENA_NEW(arena, struct mark_cleared);
    *mark = (struct mark_cleared){clock_now_ms(), lapsed->code.size == 0};
    struct item key = game_key(arena, server_pk(arena, lapsed->server), ROOM_META);
    return game_compute_action(game, key, mark_cleared, mark);
}

/* Those of the page's connections that the server held, at most DROPS_MAX. Returns how many. */
static size_t connections_of_server(const struct page_reply *page, struct bytes server,
                                    struct arena *arena, struct item **out) {
    size_t count = 0;
    *out = ARENA_ARRAY(arena, struct item, DROPS_MAX);
    for (uint64_t i = 0; i < page->count && count < DROPS_MAX; i++)
        if (bytes_equal(item_string(&page->items[i], CONNECTION_SERVER), server))
            (*out)[count++] = page->items[i];
    return count;
}

static struct action drop_action(struct game *game, const struct item *room_connection,
                                 struct arena *arena) {
    return (struct action){
        .kind = ACTION_DELETE,
        .table = game->table,
        .item = game_key(arena, item_string(room_connection, GAME_PK), ROOM_META),
    };
}

static size_t count_of_player(const struct item *items, uint64_t count, struct bytes player) {
    size_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        found += bytes_equal(item_string(&items[i], SEAT_PLAYER), player);
    return found;
}

static enum status clear_room(struct room *room, const struct lapsed_lease *lapsed,
                              struct failure *failure) {
    struct page_reply page;
    struct item *gone;
    struct action action = mark_action(room->game, lapsed, room->arena);
    room_add_action(room, &action);
    enum status status = room_connections_of_room(room->game, room->code,
                                                  (struct scope){room->arena, failure}, &page);
    if (status != OK)
        return status;
    size_t count = connections_of_server(&page, lapsed->server, room->arena, &gone);
    for (size_t i = 0; i < count && status == OK; i++) {
        struct bytes player = item_string(&gone[i], SEAT_PLAYER);
        action = drop_action(room->game, &gone[i], room->arena);
        room_add_action(room, &action);
        if (room_seat(room, player) != NULL &&
            count_of_player(page.items, page.count, player) == count_of_player(gone, count, player))
            status = room_set_connected(room, player, false, failure);
    }
    if (status == OK && count == 0)
        return failure_set(failure, room->arena, NOT_FOUND, "There are no such connections");
    return status;
}

/* The change for a room that is gone or cannot be read, or for a server without connections. */
static enum status clear_rest(const struct lapsed_lease_clearing *clearing, struct scope in) {
    struct game *game = clearing->game;
    const struct lapsed_lease *lapsed = clearing->lapsed;
    struct change *change = clearing->change;
    struct action *actions = ARENA_ARRAY(in.arena, struct action, 1 + DROPS_MAX);
    struct page_reply page;
    struct item *gone;
    size_t count = 0;
    *in.failure = (struct failure){0};
    actions[count++] = mark_action(game, lapsed, in.arena);
    if (lapsed->code.size != 0) {
        enum status status = room_connections_of_room(game, lapsed->code, in, &page);
        if (status != OK)
            return status;
        size_t drops = connections_of_server(&page, lapsed->server, in.arena, &gone);
        for (size_t i = 0; i < drops; i++)
            actions[count++] = drop_action(game, &gone[i], in.arena);
    }
    change->kind = CHANGE_WRITE;
    change->actions = actions;
    change->action_count = count;
    change->all_or_nothing = true;
    return OK;
}

enum status lapsed_lease_clear_prepare(const struct lapsed_lease_clearing *clearing,
                                       struct scope in) {
    const struct lapsed_lease *lapsed = clearing->lapsed;
    if (lapsed->code.size == 0)
        return clear_rest(clearing, in);
    enum status status = room_load(clearing->game, lapsed->code, in, clearing->room);
    if (status == NOT_FOUND || status == DAMAGED)
        return clear_rest(clearing, in);
    if (status == OK)
        status = clear_room(clearing->room, lapsed, in.failure);
    if (status == OK)
        room_save_prepare(clearing->room, clearing->change);
    return status;
}
