#include "api/live/presence.h"

#include "api/act.h"
#include "api/live/live_int.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "game/room_int.h"

struct presence {
    struct live *live;
    struct presence_queue *queue;
    struct presence *next;       /* in the queue */
    bool writing, waiting, over; /* under way; in the queue; the last one is to follow */
    bool written;                /* the connection's item is there */
    char code[ROOM_CODE_SIZE];
    char connection[ULID_SIZE];
    size_t player_size;
    uint8_t player[];
};

/* One of the two writings. */
struct writing {
    struct act act;
    struct presence *presence;
    bool here;
};

static struct item connection_item(const struct presence *presence, struct room *room) {
    struct arena *arena = room->arena;
    struct bytes id = bytes_of(presence->connection, ULID_SIZE);
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
        record_join(room->arena, "CONNECTION#", bytes_of(presence->connection, ULID_SIZE));
    *out = false;
    for (uint64_t i = 0; status == OK && i < page.count; i++)
        *out |= bytes_equal(item_string(&page.items[i], SEAT_PLAYER),
                            bytes_of(presence->player, presence->player_size)) &&
                !bytes_equal(item_string(&page.items[i], GAME_PK), own);
    return status;
}

static enum status apply(struct act *act) {
    const struct writing *writing = act->user;
    const struct presence *presence = writing->presence;
    struct room *room = &act->room;
    struct bytes player = bytes_of(presence->player, presence->player_size);
    struct action action = {.kind = writing->here ? ACTION_PUT : ACTION_DELETE};
    struct item item = connection_item(presence, room);
    bool another = false;
    action.item =
        writing->here ? item : game_key(room->arena, item_string(&item, GAME_PK), ROOM_META);
    room_also(room, &action);
    if (!writing->here) {
        enum status status = has_another(presence, room, &act->failure, &another);
        if (status != OK)
            return status;
    }
    /* Who was taken out of the room leaves only the connection to be cleared away. */
    if (room_seat(room, player) != NULL && !another)
        return room_connected(room, player, writing->here, &act->failure);
    return OK;
}

static void begin(struct presence *presence);

/* Those that wait begin, as many as may. One that begins may be finished at once, and come here. */
static void advance(struct presence_queue *queue) {
    if (queue->advancing)
        return;
    queue->advancing = true;
    while (queue->first != NULL && queue->running < PRESENCE_RUNNING_MAX) {
        struct presence *presence = queue->first;
        queue->first = presence->next;
        presence->waiting = false;
        begin(presence);
    }
    queue->advancing = false;
}

static void wait_for_turn(struct presence *presence) {
    struct presence_queue *queue = presence->queue;
    presence->waiting = true;
    presence->next = NULL;
    if (queue->first == NULL)
        queue->first = presence;
    else
        queue->last->next = presence;
    queue->last = presence;
    atomic_fetch_add(&presence->live->acts, 1);
    advance(queue);
}

static void finished(struct act *act) {
    struct writing *writing = act->user; /* if it failed there is no room to be told of */
    struct presence *presence = writing->presence;
    struct presence_queue *queue = presence->queue;
    struct live *live = presence->live;
    bool last = !writing->here;
    if (act->failure.status == OK)
        hub_hint(live->hub, &topic_room, act->code);
    act_release(act);
    mem_free(writing);
    presence->writing = false;
    presence->written = true;
    queue->running--;
    if (last)
        mem_free(presence);
    else if (presence->over)
        wait_for_turn(presence);
    advance(queue);
    atomic_fetch_sub(&live->acts, 1); /* who waits for the end must not find none in between */
}

static void begin(struct presence *presence) {
    struct live *live = presence->live;
    if (presence->over && !presence->written) { /* gone before its turn came: nobody was there */
        mem_free(presence);
        atomic_fetch_sub(&live->acts, 1);
        return;
    }
    struct writing *writing = mem_zalloc(sizeof(*writing));
    writing->presence = presence;
    writing->here = !presence->written;
    presence->writing = true;
    presence->queue->running++;
    writing->act = (struct act){.game = live->settings.game,
                                .code = bytes_of(presence->code, ROOM_CODE_SIZE),
                                .apply = apply,
                                .finished = finished,
                                .user = writing};
    act_start(&writing->act);
}

struct presence *presence_here(struct live *live, struct bytes code, struct bytes player) {
    struct presence *presence = mem_zalloc(sizeof(*presence) + player.size);
    presence->live = live;
    presence->queue = &live->presences[loop_index(loop_current()) % LIVE_LOOPS_MAX];
    memcpy(presence->code, code.data, ROOM_CODE_SIZE);
    ulid_make(clock_now_ms(), presence->connection);
    memcpy(presence->player, player.data, player.size);
    presence->player_size = player.size;
    wait_for_turn(presence);
    return presence;
}

void presence_gone(struct presence *presence) {
    presence->over = true;
    if (!presence->writing && !presence->waiting)
        wait_for_turn(presence);
}
