/* Finding the seats of a player, and leaving all of them. */
#include "game/room/room_seats.h"

#include "base/limits.h"
#include "game/board/entry.h"
#include "game/room/room_int.h"

/* How often leaving a room is tried again after a conflict. */
enum { LEAVE_TRIES = LIMIT_LEAVE_TRIES };

/* --- finding --- */

/* "PLAYER#<key>": the key is entry_key_of() the name, which for whoever can have a seat is the id.
 */
static struct bytes player_partition(struct bytes player, struct arena *arena) {
    struct bytes key = player;
    struct failure ignored;
    entry_key_of(player, (struct scope){arena, &ignored}, &key);
    return record_join(arena, "PLAYER#", key);
}

void room_seats_put_index_keys(struct record *record, const struct room *room,
                               const struct seat *seat) {
    record_string(record, BYTES("GSI1PK"), player_partition(seat->player, room->arena));
    record_string(record, BYTES("GSI1SK"),
                  arena_printf(room->arena, "ROOM#%013lld#%.*s", (long long)seat->joined_ms,
                               BYTES_ARG(room->code)));
}

enum status room_seats_page(const struct room_seats_query *query, struct scope in,
                            struct page_reply *out) {
    struct key_condition keys = {.count = 2};
    keys.tests[0] =
        (struct key_test){.name = BYTES("GSI1PK"),
                          .op = KEY_EQ,
                          .low = value_string(player_partition(query->player, in.arena))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(ROOM_SEATS_PREFIX)};
    struct page_request request = {.table = query->game->table,
                                   .index = GAME_GSI1,
                                   .keys = &keys,
                                   .backward = true,
                                   .limit = (uint32_t)query->limit,
                                   .start = query->after};
    return engine_page(query->game->engine, &request, in, out);
}

enum status room_seats_list(const struct room_seats_query *query, struct scope in,
                            struct room_seats *out) {
    enum status status = room_seats_page(query, in, &out->seats);
    size_t count = status == OK ? (size_t)out->seats.count : 0;
    struct get_request *requests = ARENA_ARRAY(in.arena, struct get_request, count + 1);
    struct get_reply *replies = ARENA_ARRAY(in.arena, struct get_reply, count + 1);
    out->rooms = ARENA_ARRAY(in.arena, struct item, count + 1);
    for (size_t i = 0; i < count; i++)
        requests[i] = (struct get_request){
            .table = query->game->table,
            .key = game_key(in.arena, item_string(&out->seats.items[i], GAME_PK), ROOM_META),
            .consistent = true};
    if (count != 0)
        status = engine_get_many(query->game->engine, requests, count, in, replies);
    for (size_t i = 0; status == OK && i < count; i++)
        out->rooms[i] = replies[i].item;
    return status;
}

/* --- leaving --- */

struct leaving {
    struct game *game;
    struct bytes code, player;
    struct arena *arena; /* emptied before each try */
    struct failure failure;
    bool unscored; /* boards refuse the scores of the match that leaving ends */
};

/* One try; CONFLICT if somebody else has changed the room meanwhile. */
static enum status try_to_leave(struct leaving *leaving) {
    struct room *room = ARENA_NEW(leaving->arena, struct room);
    struct change change = {.arena = leaving->arena};
    enum status status = room_load(leaving->game, leaving->code,
                                   (struct scope){leaving->arena, &leaving->failure}, room);
    if (status != OK)
        return status;
    room->unscored = leaving->unscored;
    status = room_leave(room, leaving->player, &leaving->failure);
    if (status == OK) {
        room_save_prepare(room, &change);
        game_wait(leaving->game, &change);
        status = room_save_result(&change, &leaving->failure);
    }
    room_release(room);
    return status;
}

static enum status leave_room(struct leaving *leaving) {
    enum status status = CONFLICT;
    for (unsigned i = 0; i < LEAVE_TRIES && status != OK; i++) {
        arena_reset(leaving->arena);
        status = try_to_leave(leaving);
        if (room_scores_refused(status) && !leaving->unscored)
            leaving->unscored = true;
        else if (status != CONFLICT)
            break;
    }
    return status;
}

/* Deletes a seat whose room is gone, or does not list it. */
static enum status delete_seat(struct game *game, const struct item *seat, struct scope in) {
    struct action action = {
        .kind = ACTION_DELETE,
        .table = game->table,
        .item = game_key(in.arena, item_string(seat, GAME_PK), item_string(seat, GAME_SK))};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = in.arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

static enum status leave_seat(const struct room_seats_query *query, const struct item *seat,
                              struct scope in) {
    struct arena work;
    struct bytes room = item_string(seat, GAME_PK);
    struct leaving leaving = {.game = query->game,
                              .player = query->player,
                              .code = bytes_skip(room, ROOM_SEATS_PREFIX.size),
                              .arena = &work};
    arena_init(&work);
    enum status status = leave_room(&leaving);
    if (status != OK && status != NOT_FOUND)
        failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(leaving.failure.text));
    arena_release(&work);
    return status == NOT_FOUND ? delete_seat(query->game, seat, in) : status;
}

enum status room_seat_is_taken(const struct room_seat_name *name, struct scope in, bool *out) {
    struct get_request request = {.table = name->game->table,
                                  .key = game_key(in.arena, room_pk(in.arena, name->code),
                                                  room_seat_sk(in.arena, name->player)),
                                  .consistent = true};
    struct get_reply reply = {0};
    enum status status = engine_get(name->game->engine, &request, in, &reply);
    *out = status == OK && reply.found && !item_bool(&reply.item, SEAT_SPECTATOR);
    return status;
}

/* A client may have put other items into that partition of the index. */
static bool is_seat(const struct item *item) {
    return bytes_starts(item_string(item, GAME_PK), ROOM_SEATS_PREFIX) &&
           bytes_starts(item_string(item, GAME_SK), BYTES("PLAYER#"));
}

enum status room_seats_leave(const struct room_seats_query *query, struct scope in,
                             uint64_t *count) {
    struct room_seats_query next = *query;
    struct page_reply page;
    struct item after;
    enum status status;
    *count = 0;
    do {
        status = room_seats_page(&next, in, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++)
            if (is_seat(&page.items[i])) {
                status = leave_seat(query, &page.items[i], in);
                *count += status == OK;
            }
        after = page.last_key;
        next.after = &after;
    } while (status == OK && page.more);
    return status;
}
