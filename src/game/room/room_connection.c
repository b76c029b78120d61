/* Opening and closing connections, and the leases of the servers that hold them. */
#include "base/clock.h"
#include "game/room/room_int.h"

struct bytes server_pk(struct arena *arena, struct bytes server) {
    return record_join(arena, "SERVER#", server);
}

static struct bytes held_pk(struct arena *arena, struct bytes server) {
    return record_join(arena, "HELD#", server);
}

/* --- leases --- */

/* What renew_lease() and ensure_lease() are given. */
struct renewal {
    struct bytes server;
    int64_t now_ms;
    bool cleared; /* set by renew_lease(): the lease was marked as cleared */
};

static struct item lease_item(const struct renewal *renewal, struct arena *arena) {
    struct record record = record_of(arena);
    int64_t until_ms = renewal->now_ms + SERVER_LEASE_MS;
    record_string(&record, GAME_PK, server_pk(arena, renewal->server));
    record_string(&record, GAME_SK, ROOM_META);
    record_string(&record, BYTES("GSI2PK"), SERVERS);
    record_string(
        &record, BYTES("GSI2SK"),
        arena_printf(arena, "%013lld#%.*s", (long long)until_ms, BYTES_ARG(renewal->server)));
    record_string(&record, LEASE_OWNER, renewal->server);
    record_int(&record, LEASE_UNTIL, until_ms);
    record_int(&record, ROOM_TTL, room_ttl_s(renewal->now_ms));
    return record_item(&record);
}

static enum status renew_lease(struct action *action, const struct item *old, struct arena *arena,
                               struct item *new) {
    struct renewal *renewal = action->user;
    renewal->cleared = item_bool(old, SERVER_CLEARED);
    *new = lease_item(renewal, arena);
    return OK;
}

/* Together with a new connection: makes or renews the lease, except one that is marked as cleared,
 * which server_lease_renew() has to see. */
static enum status ensure_lease(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct renewal *renewal = action->user;
    if (!item_bool(old, SERVER_CLEARED) &&
        item_int(old, LEASE_UNTIL) < renewal->now_ms + SERVER_LEASE_MS / 2)
        *new = lease_item(renewal, arena);
    return OK;
}

static struct action lease_action(struct game *game, struct renewal *renewal,
                                  action_compute *compute, struct arena *arena) {
    struct item key = game_key(arena, server_pk(arena, renewal->server), ROOM_META);
    return game_compute_action(game, key, compute, renewal);
}

enum status server_lease_renew(struct game *game, struct bytes server, struct scope in,
                               bool *cleared) {
    struct renewal renewal = {.server = server, .now_ms = clock_now_ms()};
    struct action action = lease_action(game, &renewal, renew_lease, in.arena);
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(game, &change);
    *in.failure = change.failure;
    *cleared = status == OK && renewal.cleared;
    return status;
}

enum status server_lease_release(struct game *game, struct bytes server, struct scope in) {
    struct page_reply page;
    enum status status =
        room_connections_of_server(game, (struct held_request){server, 1}, in, &page);
    if (status != OK || page.count != 0)
        return status;
    struct action action = {.kind = ACTION_DELETE,
                            .table = game->table,
                            .item = game_key(in.arena, server_pk(in.arena, server), ROOM_META)};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = &action, .action_count = 1};
    status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

/* --- connections --- */

static struct item connection_item(struct room *room,
                                   const struct room_connection *room_connection) {
    struct arena *arena = room->arena;
    struct bytes name = record_join(arena, "CONNECTION#", room_connection->id);
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, name);
    record_string(&record, GAME_SK, ROOM_META);
    record_string(&record, BYTES("GSI1PK"), room_pk(arena, room->code));
    record_string(&record, BYTES("GSI1SK"), name);
    if (room_connection->server.size != 0) {
        record_string(&record, BYTES("GSI2PK"), held_pk(arena, room_connection->server));
        record_string(&record, BYTES("GSI2SK"), name);
        record_string(&record, CONNECTION_SERVER, room_connection->server);
    }
    record_string(&record, SEAT_PLAYER, room_connection->player);
    record_string(&record, ROOM_CODE, room->code);
    record_int(&record, BYTES("connectedAt"), room->now_ms);
    record_int(&record, ROOM_TTL, room_ttl_s(room->now_ms));
    return record_item(&record);
}

enum status room_connections_of_room(struct game *game, struct bytes code, struct scope in,
                                     struct page_reply *out) {
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI1PK"), .op = KEY_EQ, .low = value_string(room_pk(in.arena, code))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(BYTES("CONNECTION#"))};
    struct page_request query = {.table = game->table, .index = GAME_GSI1, .keys = &keys};
    return engine_page(game->engine, &query, in, out);
}

enum status room_connections_of_server(struct game *game, struct held_request request,
                                       struct scope in, struct page_reply *out) {
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){.name = BYTES("GSI2PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(held_pk(in.arena, request.server))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI2SK"), .op = KEY_BEGINS, .low = value_string(BYTES("CONNECTION#"))};
    struct page_request query = {
        .table = game->table, .index = GAME_GSI2, .keys = &keys, .limit = request.limit};
    return engine_page(game->engine, &query, in, out);
}

enum status room_connection_open(struct room *room, const struct room_connection *room_connection,
                                 struct failure *failure) {
    struct item item = connection_item(room, room_connection);
    room_add_action(room, &(struct action){.kind = ACTION_PUT, .item = item});
    if (room_connection->server.size != 0) {
        struct renewal *renewal = ARENA_NEW(room->arena, struct renewal);
        *renewal = (struct renewal){.server = room_connection->server, .now_ms = room->now_ms};
        struct action action = lease_action(room->game, renewal, ensure_lease, room->arena);
        room_add_action(room, &action);
    }
    /* Without a seat (the host has removed the player) there is only the connection's item. */
    struct seat *seat = room_seat(room, room_connection->player);
    if (seat == NULL)
        return OK;
    seat->since_ms = room->now_ms; /* also of one whose older connection has not been missed yet */
    seat_mark_changed(seat);
    return room_set_connected(room, room_connection->player, true, failure);
}

enum status room_connection_close(struct room *room, const struct room_connection *room_connection,
                                  struct failure *failure) {
    struct bytes own = record_join(room->arena, "CONNECTION#", room_connection->id);
    struct page_reply page;
    bool another = false;
    room_add_action(room, &(struct action){.kind = ACTION_DELETE,
                                           .item = game_key(room->arena, own, ROOM_META)});
    enum status status = room_connections_of_room(room->game, room->code,
                                                  (struct scope){room->arena, failure}, &page);
    if (status != OK)
        return status;
    for (uint64_t i = 0; i < page.count; i++)
        another |= bytes_equal(item_string(&page.items[i], SEAT_PLAYER), room_connection->player) &&
                   !bytes_equal(item_string(&page.items[i], GAME_PK), own);
    struct seat *seat = room_seat(room, room_connection->player);
    if (seat == NULL)
        return OK;
    seat->heard_ms = room_connection->heard_ms != 0 ? room_connection->heard_ms : room->now_ms;
    seat_mark_changed(seat);
    if (another)
        return OK;
    return room_set_connected(room, room_connection->player, false, failure);
}
