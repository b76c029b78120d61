/* Connections that come and go, and the leases of those who hold them. */
#include "base/clock.h"
#include "game/connection_int.h"

struct bytes server_pk(struct arena *arena, struct bytes server) {
    return record_join(arena, "SERVER#", server);
}

static struct bytes held_pk(struct arena *arena, struct bytes server) {
    return record_join(arena, "HELD#", server);
}

/* --- leases --- */

/* `user` of both kinds of renewing. */
struct renewal {
    struct bytes server;
    int64_t now_ms;
    bool cleared; /* it had been; set by whoever may tell */
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

static enum status renew(struct action *action, const struct item *old, struct arena *arena,
                         struct item *new) {
    struct renewal *renewal = action->user;
    renewal->cleared = item_bool(old, SERVER_CLEARED);
    *new = lease_item(renewal, arena);
    return OK;
}

/* With a connection: a lease that was cleared is left to who has all of them written again. */
static enum status take(struct action *action, const struct item *old, struct arena *arena,
                        struct item *new) {
    const struct renewal *renewal = action->user;
    if (!item_bool(old, SERVER_CLEARED) &&
        item_int(old, LEASE_UNTIL) < renewal->now_ms + SERVER_LEASE_MS / 2)
        *new = lease_item(renewal, arena);
    return OK;
}

static struct action lease_action(struct game *game, struct renewal *renewal,
                                  action_compute *compute, struct arena *arena) {
    return (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = game_key(arena, server_pk(arena, renewal->server), ROOM_META),
                           .compute = compute,
                           .user = renewal};
}

enum status server_renew(struct game *game, struct bytes server, struct arena *arena,
                         struct failure *failure, bool *cleared) {
    struct renewal renewal = {.server = server, .now_ms = clock_now_ms()};
    struct action action = lease_action(game, &renewal, renew, arena);
    struct change change = {
        .kind = CHANGE_WRITE, .arena = arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(game, &change);
    *failure = change.failure;
    *cleared = status == OK && renewal.cleared;
    return status;
}

enum status server_leave(struct game *game, struct bytes server, struct arena *arena,
                         struct failure *failure) {
    struct page_reply page;
    enum status status = connections_held(game, server, 1, arena, failure, &page);
    if (status != OK || page.count != 0)
        return status;
    struct action action = {.kind = ACTION_DELETE,
                            .table = game->table,
                            .item = game_key(arena, server_pk(arena, server), ROOM_META)};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = arena, .actions = &action, .action_count = 1};
    status = game_wait(game, &change);
    *failure = change.failure;
    return status;
}

/* --- connections --- */

static struct item connection_item(struct room *room, const struct connection *connection) {
    struct arena *arena = room->arena;
    struct bytes name = record_join(arena, "CONNECTION#", connection->id);
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, name);
    record_string(&record, GAME_SK, ROOM_META);
    record_string(&record, BYTES("GSI1PK"), room_pk(arena, room->code));
    record_string(&record, BYTES("GSI1SK"), name);
    if (connection->server.size != 0) {
        record_string(&record, BYTES("GSI2PK"), held_pk(arena, connection->server));
        record_string(&record, BYTES("GSI2SK"), name);
        record_string(&record, CONNECTION_SERVER, connection->server);
    }
    record_string(&record, SEAT_PLAYER, connection->player);
    record_string(&record, ROOM_CODE, room->code);
    record_int(&record, BYTES("connectedAt"), room->now_ms);
    record_int(&record, ROOM_TTL, room_ttl_s(room->now_ms));
    return record_item(&record);
}

static enum status query(struct game *game, struct bytes index, const struct key_test *tests,
                         uint32_t limit, struct arena *arena, struct failure *failure,
                         struct page_reply *out) {
    struct key_condition keys = {.count = 2};
    keys.tests[0] = tests[0];
    keys.tests[1] = tests[1];
    struct page_request request = {
        .table = game->table, .index = index, .keys = &keys, .limit = limit};
    return engine_page(game->engine, &request, arena, failure, out);
}

static const struct bytes prefix = {(const uint8_t *)"CONNECTION#", 11};

enum status connections_in(struct game *game, struct bytes code, struct arena *arena,
                           struct failure *failure, struct page_reply *out) {
    struct key_test tests[2] = {
        {.name = BYTES("GSI1PK"), .op = KEY_EQ, .low = value_string(room_pk(arena, code))},
        {.name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(prefix)}};
    return query(game, GAME_GSI1, tests, 0, arena, failure, out);
}

enum status connections_held(struct game *game, struct bytes server, uint32_t limit,
                             struct arena *arena, struct failure *failure, struct page_reply *out) {
    struct key_test tests[2] = {
        {.name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(held_pk(arena, server))},
        {.name = BYTES("GSI2SK"), .op = KEY_BEGINS, .low = value_string(prefix)}};
    return query(game, GAME_GSI2, tests, limit, arena, failure, out);
}

enum status connection_open(struct room *room, const struct connection *connection,
                            struct failure *failure) {
    struct item item = connection_item(room, connection);
    room_also(room, &(struct action){.kind = ACTION_PUT, .item = item});
    if (connection->server.size != 0) {
        struct renewal *renewal = ARENA_NEW(room->arena, struct renewal);
        *renewal = (struct renewal){.server = connection->server, .now_ms = room->now_ms};
        struct action action = lease_action(room->game, renewal, take, room->arena);
        room_also(room, &action);
    }
    /* Who was taken out of the room leaves only the connection, to be cleared away. */
    if (room_seat(room, connection->player) == NULL)
        return OK;
    return room_connected(room, connection->player, true, failure);
}

enum status connection_close(struct room *room, const struct connection *connection,
                             struct failure *failure) {
    struct bytes own = record_join(room->arena, "CONNECTION#", connection->id);
    struct page_reply page;
    bool another = false;
    room_also(room, &(struct action){.kind = ACTION_DELETE,
                                     .item = game_key(room->arena, own, ROOM_META)});
    enum status status = connections_in(room->game, room->code, room->arena, failure, &page);
    if (status != OK)
        return status;
    for (uint64_t i = 0; i < page.count; i++)
        another |= bytes_equal(item_string(&page.items[i], SEAT_PLAYER), connection->player) &&
                   !bytes_equal(item_string(&page.items[i], GAME_PK), own);
    if (another || room_seat(room, connection->player) == NULL)
        return OK;
    return room_connected(room, connection->player, false, failure);
}
