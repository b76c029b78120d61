/* Timers of rooms: the lease that says which server runs one, what is due, and lists of rooms. */
#include "base/clock.h"
#include "game/room/room_int.h"

enum {
    LEASE_MS = 5000, /* longer than a step takes, shorter than people wait when a server is gone */
    LEASE_LEFT_MS = 1250, /* a lease that ends sooner is renewed */
    FRESH_MS = 60 * 1000, /* a new room is listed so long without anybody connected */
    LIST_PAGES = 20,      /* of rooms looked at for one list of open ones */
};

/* What write_lease() is given: the server that wants the lease, and the lease's item. */
struct lease_write {
    struct bytes owner;
    int64_t now_ms;
    struct item item;
};

static enum status write_lease(struct action *action, const struct item *old, struct arena *arena,
                               struct item *new) {
    const struct lease_write *write = action->user;
    bool others = old->count != 0 && !bytes_equal(item_string(old, LEASE_OWNER), write->owner);
    if (others && item_int(old, LEASE_UNTIL) > write->now_ms)
        return failure_set(&action->failure, arena, CONFLICT, "Another server runs the room");
    bool fresh =
        old->count != 0 && !others && item_int(old, LEASE_UNTIL) > write->now_ms + LEASE_LEFT_MS;
    if (!fresh) /* else one item less is written */
        *new = write->item;
    return OK;
}

static void take_lease(struct room *room, struct bytes owner) {
    struct record record = record_of(room->arena);
    struct lease_write *write = ARENA_NEW(room->arena, struct lease_write);
    record_string(&record, GAME_PK, room_pk(room->arena, room->code));
    record_string(&record, GAME_SK, ROOM_LEASE);
    record_string(&record, LEASE_OWNER, owner);
    record_int(&record, LEASE_UNTIL, room->now_ms + LEASE_MS);
    record_int(&record, ROOM_TTL, room_ttl_s(room->now_ms));
    *write = (struct lease_write){owner, room->now_ms, record_item(&record)};
    room_add_action(room,
                    &(struct action){
                        .kind = ACTION_COMPUTE,
                        .item = game_key(room->arena, room_pk(room->arena, room->code), ROOM_LEASE),
                        .compute = write_lease,
                        .user = write});
}

enum status room_step(struct room *room, struct bytes owner, struct failure *failure) {
    bool others = room->lease_owner.size != 0 && !bytes_equal(room->lease_owner, owner);
    if (room->due_ms == 0 || room->due_ms > room->now_ms || room->status == ROOM_CLOSED)
        return failure_set(failure, room->arena, NOT_FOUND, "Nothing is due in the room");
    if (others && room->lease_until_ms > room->now_ms)
        return failure_set(failure, room->arena, CONFLICT, "Another server runs the room");
    take_lease(room, owner);
    room_watch_host(room);
    return room->status == ROOM_PLAYING ? room->kind->step(room, failure) : OK;
}

int64_t room_counts_until(const struct room *room, int64_t by_ms) {
    if (room->status != ROOM_PLAYING || room->due_ms == 0 || room->due_ms > by_ms)
        return 0;
    return room->kind->counts_until == NULL ? room->due_ms : room->kind->counts_until(room);
}

bool room_scores_refused(enum status status) {
    return status == INVALID || status == DENIED || status == LIMIT_EXCEEDED;
}

/* --- finding --- */

static int64_t due_of(struct bytes key) {
    int64_t due = 0;
    for (size_t i = 0; i < key.size && key.data[i] >= '0' && key.data[i] <= '9'; i++)
        due = due * 10 + (key.data[i] - '0');
    return due;
}

/* The code in a key "<due>#<code>". */
static struct bytes code_of(struct bytes key) {
    return key.size > ROOM_CODE_SIZE ? bytes_skip(key, key.size - ROOM_CODE_SIZE) : key;
}

enum status room_due(struct game *game, struct due_request request, struct scope in,
                     struct due_list *out) {
    struct key_condition keys = {.count = 2};
    struct page_request query = {
        .table = game->table, .index = GAME_GSI2, .keys = &keys, .limit = (uint32_t)request.limit};
    struct page_reply page;
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(BYTES("CLOCKS"))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI2SK"),
        .op = KEY_LT,
        .low = value_string(arena_printf(in.arena, "%013lld", (long long)request.by_ms + 1))};
    *out = (struct due_list){.codes = ARENA_ARRAY(in.arena, struct bytes, request.limit)};
    enum status status = engine_page(game->engine, &query, in, &page);
    for (uint64_t i = 0; status == OK && i < page.count; i++)
        out->codes[out->count++] = code_of(item_string(&page.items[i], BYTES("GSI2SK")));
    if (status != OK || out->count != 0)
        return status;
    keys.count = 1;
    query.limit = 1;
    status = engine_page(game->engine, &query, in, &page);
    if (status == OK && page.count != 0)
        out->next_ms = due_of(item_string(&page.items[0], BYTES("GSI2SK")));
    return status;
}

/* Whether one can join it now. A room that was just made may wait for its host's connection. */
static bool is_open(const struct item *meta, int64_t now_ms) {
    bool fresh = now_ms - item_int(meta, ROOM_CREATED) < FRESH_MS;
    bool here = item_get(meta, ROOM_HERE) == NULL || item_int(meta, ROOM_HERE) > 0 || fresh;
    return here && item_int(meta, ROOM_PLAYERS) < item_int(meta, ROOM_CAPACITY);
}

/* Adds the page's rooms to the list, as many as it takes; *last is the key of the last one that was
 * looked at. */
static void add_rooms(const struct room_list_request *request, const struct page_reply *page,
                      struct room_list *out, struct bytes *last) {
    int64_t now_ms = clock_now_ms();
    for (uint64_t i = 0; i < page->count && out->count < request->limit; i++) {
        struct bytes key = item_string(&page->items[i], BYTES("GSI1SK"));
        bool again =
            bytes_equal(key, *last); /* a page begins with the last one of the page before */
        *last = key;
        if (!again && (!request->open || is_open(&page->items[i], now_ms)))
            out->rooms[out->count++] = page->items[i];
    }
}

static bool is_last(const struct page_reply *page, struct bytes last) {
    return page->count == 0 ||
           bytes_equal(item_string(&page->items[page->count - 1], BYTES("GSI1SK")), last);
}

enum status room_list(struct game *game, const struct room_list_request *request, struct scope in,
                      struct room_list *out) {
    struct bytes prefix = arena_printf(in.arena, "%s#", room_status_name(request->status));
    struct bytes last = request->cursor;
    struct key_condition keys = {.count = 2};
    struct page_request query = {.table = game->table,
                                 .index = GAME_GSI1,
                                 .keys = &keys,
                                 .backward = true,
                                 .limit = (uint32_t)request->limit + 1};
    struct page_reply page = {.more = true};
    enum status status = OK;
    *out = (struct room_list){.rooms = ARENA_ARRAY(in.arena, struct item, request->limit + 1)};
    if (last.size != 0 && bytes_compare(last, prefix) < 0)
        return failure_set(in.failure, in.arena, INVALID, "The cursor is not one of this list");
    keys.tests[0] =
        (struct key_test){.name = BYTES("GSI1PK"),
                          .op = KEY_EQ,
                          .low = value_string(record_join(in.arena, "ROOMS#", request->kind))};
    for (unsigned pages = 0; page.more && out->count < request->limit && pages < LIST_PAGES;
         pages++) {
        keys.tests[1] = (struct key_test){
            .name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(prefix)};
        if (last.size != 0) { /* from there back to the first one with this status */
            keys.tests[1].op = KEY_BETWEEN;
            keys.tests[1].high = value_string(last);
        }
        status = engine_page(game->engine, &query, in, &page);
        if (status != OK)
            return status;
        add_rooms(request, &page, out, &last);
    }
    if (page.more || !is_last(&page, last))
        out->cursor = last;
    return OK;
}
