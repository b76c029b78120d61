/* Loading and saving rooms. */
#include "game/room/room.h"

#include "base/clock.h"
#include "game/room/room_int.h"
#include "game/room/room_seats.h"
#include "value/number.h"

#include <assert.h>

/* --- keys --- */

struct bytes room_pk(struct arena *arena, struct bytes code) {
    return record_join(arena, "ROOM#", code);
}

struct bytes room_seat_sk(struct arena *arena, struct bytes player) {
    return record_join(arena, "PLAYER#", player);
}

struct bytes room_round_sk(struct arena *arena, unsigned round) {
    return arena_printf(arena, "ROUND#%04u", round);
}

struct bytes room_click_sk(struct arena *arena, unsigned round, struct bytes player) {
    return arena_printf(arena, "CLICK#%04u#%.*s", round, BYTES_ARG(player));
}

int64_t room_ttl_s(int64_t now_ms) {
    return now_ms / 1000 + ROOM_LIFE_S;
}

static const char *const status_names[] = {[ROOM_LOBBY] = "lobby",
                                           [ROOM_PLAYING] = "playing",
                                           [ROOM_OVER] = "over",
                                           [ROOM_CLOSED] = "closed"};

const char *room_status_name(enum room_status status) {
    return status_names[status];
}

static enum room_status status_named(struct bytes name) {
    for (unsigned i = 0; i < sizeof(status_names) / sizeof(*status_names); i++)
        if (bytes_equal(name, bytes_str(status_names[i])))
            return (enum room_status)i;
    return ROOM_CLOSED;
}

/* --- reading --- */

static struct item map_attribute(const struct item *item, struct bytes name) {
    const struct value *map = item_map(item, name);
    return map != NULL ? (struct item){map->pairs, map->count} : (struct item){0};
}

static void read_banned(struct room *room, const struct value *list) {
    for (uint32_t i = 0; list != NULL && list->type == VALUE_L && i < list->count; i++)
        if (room->banned_count < ROOM_BANNED_MAX && list->elements[i].type == VALUE_S)
            room->banned[room->banned_count++] = list->elements[i].bytes;
}

static enum status read_meta(struct room *room, const struct item *item, struct failure *failure) {
    room->kind = match_kind_named(item_string(item, ROOM_KIND));
    if (room->kind == NULL)
        return failure_set(failure, room->arena, DAMAGED, "The room plays a game that is unknown");
    room->status = status_named(item_string(item, ROOM_STATUS));
    room->host = item_string(item, ROOM_HOST);
    room->title = item_string(item, ROOM_TITLE);
    room->listed = item_bool(item, ROOM_LISTED);
    room->capacity = (unsigned)item_int(item, ROOM_CAPACITY);
    room->version = (uint64_t)item_int(item, ROOM_VERSION);
    room->match = (unsigned)item_int(item, ROOM_MATCH);
    room->round = (unsigned)item_int(item, ROOM_ROUND);
    room->due_ms = item_int(item, ROOM_DUE);
    room->created_ms = item_int(item, ROOM_CREATED);
    room->invitation = (unsigned)item_int(item, ROOM_INVITE);
    read_banned(room, item_get(item, ROOM_BANNED));
    room->options = map_attribute(item, ROOM_OPTIONS);
    room->state = map_attribute(item, ROOM_STATE);
    return OK;
}

/* The number at that place of a list; false if there is none. */
static bool number_at(const struct value *list, uint32_t place, int64_t *out) {
    return list != NULL && list->type == VALUE_L && place < list->count &&
           list->elements[place].type == VALUE_N && number_to_int(list->elements[place].bytes, out);
}

/* Points are in the room's item, so that judging a round does not write every seat. */
static void read_scores(struct seat *seat, const struct item *meta, uint32_t place) {
    number_at(item_get(meta, ROOM_POINTS), place, &seat->score);
    number_at(item_get(meta, ROOM_STREAKS), place, &seat->streak);
}

static void read_seat(struct room *room, const struct item *item) {
    room->seats[room->seat_count++] = (struct seat){
        .player = item_string(item, SEAT_PLAYER),
        .name = item_string(item, SEAT_NAME),
        .colour = item_string(item, SEAT_COLOUR),
        .number = (unsigned)item_int(item, SEAT_NUMBER),
        .spectator = item_bool(item, SEAT_SPECTATOR),
        .waiting = item_bool(item, SEAT_WAITING),
        .ready = item_bool(item, SEAT_READY),
        .connected = item_bool(item, SEAT_CONNECTED),
        .bot = item_bool(item, SEAT_BOT),
        .since_ms = item_int(item, SEAT_SINCE),
        .heard_ms = item_int(item, SEAT_HEARD),
        .score = item_int(item, SEAT_SCORE), /* in rooms of older versions */
        .streak = item_int(item, SEAT_STREAK),
        .joined_ms = item_int(item, SEAT_JOINED),
        .state = map_attribute(item, SEAT_STATE),
    };
}

static struct get_request item_request(const struct room *room, struct bytes sk) {
    return (struct get_request){.table = room->game->table,
                                .key = game_key(room->arena, room_pk(room->arena, room->code), sk),
                                .consistent = true};
}

/* Reads lease, round and seats by their keys: those gets are answered from the engine's cache,
 * where a query would read the store. */
static enum status load_rest(struct room *room, const struct item *meta, struct failure *failure) {
    const struct value *seated = item_get(meta, ROOM_SEATED);
    struct get_request requests[2 + ROOM_SEATS_MAX];
    struct get_reply replies[2 + ROOM_SEATS_MAX];
    size_t count = 0;
    requests[count++] = item_request(room, ROOM_LEASE);
    requests[count++] = item_request(room, room_round_sk(room->arena, room->round));
    for (uint32_t i = 0; seated != NULL && i < seated->count && i < ROOM_SEATS_MAX; i++)
        requests[count++] =
            item_request(room, room_seat_sk(room->arena, seated->elements[i].bytes));
    enum status status = engine_get_many(room->game->engine, requests, count,
                                         (struct scope){room->arena, failure}, replies);
    if (status != OK)
        return status;
    room->lease_owner = item_string(&replies[0].item, LEASE_OWNER);
    room->lease_until_ms = item_int(&replies[0].item, LEASE_UNTIL);
    if (room->round != 0 && replies[1].found)
        room->round_item = replies[1].item;
    for (size_t i = 2; i < count; i++) {
        if (!replies[i].found)
            continue;
        read_seat(room, &replies[i].item);
        read_scores(&room->seats[room->seat_count - 1], meta, (uint32_t)i - 2);
    }
    return OK;
}

enum status room_load(struct game *game, struct bytes code, struct scope in, struct room *out) {
    *out = (struct room){.game = game, .arena = in.arena, .code = code, .now_ms = clock_now_ms()};
    struct get_reply reply = {0};
    enum status status = OK;
    if (room_code_valid(code)) {
        struct get_request request = item_request(out, ROOM_META);
        status = engine_get(game->engine, &request, in, &reply);
    }
    if (status == OK && !reply.found)
        return failure_set(in.failure, in.arena, NOT_FOUND, "There is no room %.*s",
                           BYTES_ARG(code));
    if (status == OK)
        status = read_meta(out, &reply.item, in.failure);
    return status == OK ? load_rest(out, &reply.item, in.failure) : status;
}

enum status room_read_version(struct game *game, struct bytes code, struct scope in,
                              struct room_version *out) {
    struct get_request request = {.table = game->table,
                                  .key = game_key(in.arena, room_pk(in.arena, code), ROOM_META),
                                  .consistent = true};
    struct get_reply reply;
    enum status status = engine_get(game->engine, &request, in, &reply);
    *out = (struct room_version){0};
    if (status == OK && reply.found)
        *out = (struct room_version){.version = (uint64_t)item_int(&reply.item, ROOM_VERSION),
                                     .due_ms = item_int(&reply.item, ROOM_DUE)};
    return status;
}

struct seat *room_seat(struct room *room, struct bytes player) {
    for (size_t i = 0; i < room->seat_count; i++)
        if (room->seats[i].mark != MARK_REMOVED && bytes_equal(room->seats[i].player, player))
            return &room->seats[i];
    return NULL;
}

unsigned room_players(const struct room *room) {
    unsigned count = 0;
    for (size_t i = 0; i < room->seat_count; i++)
        count += room->seats[i].mark != MARK_REMOVED && !room->seats[i].spectator;
    return count;
}

bool seat_is_away(const struct seat *seat) {
    return !seat->connected && seat->since_ms != 0;
}

void seat_mark_changed(struct seat *seat) {
    if (seat->mark == MARK_SAME)
        seat->mark = MARK_CHANGED;
}

/* --- writing --- */

static void put_bool(struct record *record, struct bytes name, bool truth) {
    record_put(record, name, value_bool(truth));
}

static void put_map(struct record *record, struct bytes name, const struct item *map) {
    record_put(record, name,
               (struct value){.type = VALUE_M, .count = map->count, .pairs = map->pairs});
}

static void put_index_keys(const struct room *room, struct record *record) {
    struct arena *arena = room->arena;
    if (room->listed && room->status != ROOM_CLOSED) {
        record_string(record, BYTES("GSI1PK"),
                      record_join(arena, "ROOMS#", bytes_str(room->kind->name)));
        record_string(record, BYTES("GSI1SK"),
                      arena_printf(arena, "%s#%013lld#%.*s", room_status_name(room->status),
                                   (long long)room->created_ms, BYTES_ARG(room->code)));
    }
    if (room->due_ms != 0) {
        record_string(record, BYTES("GSI2PK"), BYTES("CLOCKS"));
        record_string(
            record, BYTES("GSI2SK"),
            arena_printf(arena, "%013lld#%.*s", (long long)room->due_ms, BYTES_ARG(room->code)));
    }
}

/* The lists of players, points and streaks. */
static void put_seats(const struct room *room, struct record *record) {
    struct value *players = ARENA_ARRAY(room->arena, struct value, 3 * ROOM_SEATS_MAX);
    struct value *points = players + ROOM_SEATS_MAX, *streaks = points + ROOM_SEATS_MAX;
    uint32_t count = 0;
    for (size_t i = 0; i < room->seat_count; i++) {
        const struct seat *seat = &room->seats[i];
        if (seat->mark == MARK_REMOVED)
            continue;
        players[count] = value_string(seat->player);
        points[count] = value_int(room->arena, seat->score);
        streaks[count++] = value_int(room->arena, seat->streak);
    }
    record_put(record, ROOM_SEATED, value_list(players, count));
    record_put(record, ROOM_POINTS, value_list(points, count));
    record_put(record, ROOM_STREAKS, value_list(streaks, count));
}

static unsigned people_here(const struct room *room) {
    unsigned count = 0;
    for (size_t i = 0; i < room->seat_count; i++) {
        const struct seat *seat = &room->seats[i];
        count += seat->mark != MARK_REMOVED && seat->connected && !seat->bot;
    }
    return count;
}

static void put_banned(const struct room *room, struct record *record) {
    struct value *list = ARENA_ARRAY(room->arena, struct value, room->banned_count + 1);
    for (size_t i = 0; i < room->banned_count; i++)
        list[i] = value_string(room->banned[i]);
    if (room->banned_count != 0)
        record_put(record, ROOM_BANNED, value_list(list, (uint32_t)room->banned_count));
    if (room->invitation != 0)
        record_int(record, ROOM_INVITE, room->invitation);
}

static struct item meta_item(const struct room *room) {
    struct record record = record_of(room->arena);
    record_string(&record, GAME_PK, room_pk(room->arena, room->code));
    record_string(&record, GAME_SK, ROOM_META);
    put_index_keys(room, &record);
    record_string(&record, ROOM_CODE, room->code);
    record_string(&record, ROOM_KIND, bytes_str(room->kind->name));
    record_string(&record, ROOM_STATUS, bytes_str(room_status_name(room->status)));
    record_string(&record, ROOM_HOST, room->host);
    record_string(&record, ROOM_TITLE, room->title);
    put_bool(&record, ROOM_LISTED, room->listed);
    record_int(&record, ROOM_CAPACITY, room->capacity);
    record_int(&record, ROOM_PLAYERS, room_players(room));
    record_int(&record, ROOM_VERSION, (int64_t)room->version + 1);
    record_int(&record, ROOM_MATCH, room->match);
    record_int(&record, ROOM_ROUND, room->round);
    record_int(&record, ROOM_DUE, room->due_ms);
    record_int(&record, ROOM_CREATED, room->created_ms);
    record_int(&record, ROOM_HERE, people_here(room));
    put_banned(room, &record);
    put_seats(room, &record);
    put_map(&record, ROOM_OPTIONS, &room->options);
    put_map(&record, ROOM_STATE, &room->state);
    record_int(&record, ROOM_TTL, room_ttl_s(room->now_ms));
    return record_item(&record);
}

static struct item seat_item(const struct room *room, const struct seat *seat) {
    struct record record = record_of(room->arena);
    record_string(&record, GAME_PK, room_pk(room->arena, room->code));
    record_string(&record, GAME_SK, room_seat_sk(room->arena, seat->player));
    room_seats_put_index_keys(&record, room, seat);
    record_string(&record, SEAT_PLAYER, seat->player);
    record_string(&record, SEAT_NAME, seat->name);
    record_string(&record, SEAT_COLOUR, seat->colour);
    record_int(&record, SEAT_NUMBER, seat->number);
    put_bool(&record, SEAT_SPECTATOR, seat->spectator);
    put_bool(&record, SEAT_WAITING, seat->waiting);
    put_bool(&record, SEAT_READY, seat->ready);
    put_bool(&record, SEAT_CONNECTED, seat->connected);
    if (seat->bot)
        put_bool(&record, SEAT_BOT, true);
    if (seat->since_ms != 0)
        record_int(&record, SEAT_SINCE, seat->since_ms);
    if (seat->heard_ms != 0)
        record_int(&record, SEAT_HEARD, seat->heard_ms);
    record_int(&record, SEAT_JOINED, seat->joined_ms);
    put_map(&record, SEAT_STATE, &seat->state);
    record_int(&record, ROOM_TTL, room_ttl_s(room->now_ms));
    return record_item(&record);
}

struct record room_round_record(const struct room *room) {
    struct record record = record_of(room->arena);
    record_string(&record, GAME_PK, room_pk(room->arena, room->code));
    record_string(&record, GAME_SK, room_round_sk(room->arena, room->round));
    record_int(&record, BYTES("n"), room->round);
    record_int(&record, ROOM_MATCH, room->match);
    record_int(&record, ROOM_TTL, room_ttl_s(room->now_ms));
    return record;
}

void room_put_round(struct room *room, struct record *record) {
    room->round_item = record_item(record);
    room_add_action(room, &(struct action){.kind = ACTION_PUT, .item = room->round_item});
}

void room_add_action(struct room *room, const struct action *action) {
    if (room->extra_action_count == room->extra_action_capacity) {
        size_t more = room->extra_action_capacity == 0 ? 8 : room->extra_action_capacity * 2;
        room->extra_actions =
            arena_grow(room->arena, room->extra_actions,
                       room->extra_action_capacity * sizeof(*action), more * sizeof(*action));
        room->extra_action_capacity = more;
    }
    room->extra_actions[room->extra_action_count] = *action;
    room->extra_actions[room->extra_action_count++].table = room->game->table;
}

/* What write_meta() is given: the version that the room must have, and its new item. */
struct meta_write {
    uint64_t version;
    struct item item;
};

static enum status write_meta(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const struct meta_write *write = action->user;
    if ((uint64_t)item_int(old, ROOM_VERSION) != write->version)
        return failure_set(&action->failure, arena, CONFLICT,
                           "Somebody else was faster: the room has changed");
    *new = write->item;
    return OK;
}

static struct action seat_action(const struct room *room, const struct seat *seat) {
    struct action action = {.kind = ACTION_PUT, .table = room->game->table};
    if (seat->mark == MARK_REMOVED) {
        action.kind = ACTION_DELETE;
        action.item = game_key(room->arena, room_pk(room->arena, room->code),
                               room_seat_sk(room->arena, seat->player));
    } else
        action.item = seat_item(room, seat);
    return action;
}

void room_save_prepare(struct room *room, struct change *change) {
    struct action *actions =
        ARENA_ARRAY(room->arena, struct action, 1 + room->seat_count + room->extra_action_count);
    struct meta_write *write = ARENA_NEW(room->arena, struct meta_write);
    *write = (struct meta_write){room->version, meta_item(room)};
    size_t count = 0;
    struct item key = game_key(room->arena, room_pk(room->arena, room->code), ROOM_META);
    actions[count++] = game_compute_action(room->game, key, write_meta, write);
    for (size_t i = 0; i < room->seat_count; i++)
        if (room->seats[i].mark != MARK_SAME)
            actions[count++] = seat_action(room, &room->seats[i]);
    for (size_t i = 0; i < room->extra_action_count; i++)
        actions[count++] = room->extra_actions[i];
    change->kind = CHANGE_WRITE;
    change->actions = actions;
    change->action_count = count;
    change->all_or_nothing = true;
}

enum status room_save_result(const struct change *change, struct failure *failure) {
    *failure = change->failure;
    for (size_t i = 0; failure->status == CANCELLED && i < change->action_count; i++)
        if (change->actions[i].failure.status != OK)
            *failure = change->actions[i].failure;
    return failure->status;
}

void room_after_save(struct room *room) {
    size_t count = 0;
    for (size_t i = 0; i < room->seat_count; i++) {
        if (room->seats[i].mark == MARK_REMOVED)
            continue;
        room->seats[count] = room->seats[i];
        room->seats[count].mark = MARK_SAME;
        room->seats[count++].reacted_ms = 0;
    }
    room->seat_count = count;
    room->extra_action_count = 0;
    room->version++;
}
