#include "api/live/presence.h"

#include "api/act.h"
#include "api/live/live_int.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "game/room_int.h"

struct presence {
    struct act act;
    struct live *live;
    bool here;
    char code[ROOM_CODE_SIZE];
    char connection[PRESENCE_ID_SIZE];
    size_t player_size;
    uint8_t player[];
};

static struct item connection_item(const struct presence *presence, struct room *room) {
    struct arena *arena = room->arena;
    struct bytes id = bytes_of(presence->connection, PRESENCE_ID_SIZE);
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, record_join(arena, "CONNECTION#", id));
    record_string(&record, GAME_SK, ROOM_META);
    record_string(&record, BYTES("GSI1PK"), room_pk(arena, room->code));
    record_string(&record, BYTES("GSI1SK"), record_join(arena, "CONNECTION#", id));
    record_string(&record, SEAT_PLAYER, bytes_of(presence->player, presence->player_size));
    record_string(&record, ROOM_CODE, room->code);
    record_int(&record, BYTES("connectedAt"), room->now_ms);
    record_int(&record, ROOM_TTL, room_ttl_s(room->now_ms));
    return record_item(&record);
}

/* Whether the player has another connection to the room. */
static enum status has_another(const struct presence *presence, struct room *room,
                               struct failure *failure, bool *out) {
    struct key_condition keys = {.count = 2};
    struct page_reply page;
    keys.tests[0] = (struct key_test){.name = BYTES("GSI1PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(room_pk(room->arena, room->code))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(BYTES("CONNECTION#"))};
    struct page_request request = {.table = room->game->table, .index = GAME_GSI1, .keys = &keys};
    enum status status = engine_page(room->game->engine, &request, room->arena, failure, &page);
    struct bytes own =
        record_join(room->arena, "CONNECTION#", bytes_of(presence->connection, PRESENCE_ID_SIZE));
    *out = false;
    for (uint64_t i = 0; status == OK && i < page.count; i++)
        *out |= bytes_equal(item_string(&page.items[i], SEAT_PLAYER),
                            bytes_of(presence->player, presence->player_size)) &&
                !bytes_equal(item_string(&page.items[i], GAME_PK), own);
    return status;
}

static enum status apply(struct act *act) {
    struct presence *presence = act->user;
    struct room *room = &act->room;
    struct bytes player = bytes_of(presence->player, presence->player_size);
    struct action action = {.kind = presence->here ? ACTION_PUT : ACTION_DELETE};
    struct item item = connection_item(presence, room);
    bool another = false;
    action.item =
        presence->here ? item : game_key(room->arena, item_string(&item, GAME_PK), ROOM_META);
    room_also(room, &action);
    if (!presence->here) {
        enum status status = has_another(presence, room, &act->failure, &another);
        if (status != OK)
            return status;
    }
    /* Who was taken out of the room leaves only the connection to be cleared away. */
    if (room_seat(room, player) != NULL && !another)
        return room_connected(room, player, presence->here, &act->failure);
    return OK;
}

static void finished(struct act *act) {
    struct presence *presence = act->user; /* if it failed there is no room to be told of */
    atomic_fetch_sub(&presence->live->acts, 1);
    act_release(act);
    mem_free(presence);
}

static void begin(struct live *live, struct bytes code, struct bytes player, const char *connection,
                  bool here) {
    struct presence *presence = mem_zalloc(sizeof(*presence) + player.size);
    memcpy(presence->code, code.data, ROOM_CODE_SIZE);
    memcpy(presence->connection, connection, PRESENCE_ID_SIZE);
    memcpy(presence->player, player.data, player.size);
    presence->player_size = player.size;
    presence->here = here;
    presence->live = live;
    atomic_fetch_add(&live->acts, 1);
    presence->act = (struct act){.game = live->settings.game,
                                 .code = bytes_of(presence->code, ROOM_CODE_SIZE),
                                 .apply = apply,
                                 .finished = finished,
                                 .user = presence};
    act_start(&presence->act);
}

void presence_here(struct live *live, struct bytes code, struct bytes player,
                   char connection[PRESENCE_ID_SIZE]) {
    ulid_make(clock_now_ms(), connection);
    begin(live, code, player, connection, true);
}

void presence_gone(struct live *live, struct bytes code, struct bytes player,
                   const char connection[PRESENCE_ID_SIZE]) {
    begin(live, code, player, connection, false);
}
