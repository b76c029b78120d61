/* A room's clock: whose turn it is to run it, and which rooms are due. */
#include "game/room_int.h"

enum {
    LEASE_MS = 5000, /* longer than a step takes, shorter than people wait when a server is gone */
    LEASE_LEFT_MS = 1250, /* with less left than that it is renewed */
};

/* `user` is who wants it. */
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
    if (!fresh) /* else it stays as it is: one thing less to write */
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
    room_also(room, &(struct action){
                        .kind = ACTION_COMPUTE,
                        .item = game_key(room->arena, room_pk(room->arena, room->code), ROOM_LEASE),
                        .compute = write_lease,
                        .user = write});
}

enum status room_step(struct room *room, struct bytes owner, struct failure *failure) {
    bool others = room->lease_owner.size != 0 && !bytes_equal(room->lease_owner, owner);
    if (room->due_ms == 0 || room->due_ms > room->now_ms || room->status != ROOM_PLAYING)
        return failure_set(failure, room->arena, NOT_FOUND, "Nothing is due in the room");
    if (others && room->lease_until_ms > room->now_ms)
        return failure_set(failure, room->arena, CONFLICT, "Another server runs the room");
    take_lease(room, owner);
    return room->kind->step(room, failure);
}

bool room_refused(enum status status) {
    return status == INVALID || status == DENIED || status == LIMIT_EXCEEDED;
}

/* --- finding --- */

static enum status query(struct game *game, struct bytes index, const struct key_condition *keys,
                         bool backward, size_t limit, struct arena *arena, struct failure *failure,
                         struct page_reply *out) {
    struct page_request request = {.table = game->table,
                                   .index = index,
                                   .keys = keys,
                                   .backward = backward,
                                   .limit = (uint32_t)limit};
    return engine_page(game->engine, &request, arena, failure, out);
}

static int64_t due_of(struct bytes key) {
    int64_t due = 0;
    for (size_t i = 0; i < key.size && key.data[i] >= '0' && key.data[i] <= '9'; i++)
        due = due * 10 + (key.data[i] - '0');
    return due;
}

/* "<due>#<code>" */
static struct bytes code_of(struct bytes key) {
    return key.size > ROOM_CODE_SIZE ? bytes_skip(key, key.size - ROOM_CODE_SIZE) : key;
}

enum status room_due(struct game *game, int64_t by_ms, size_t limit, struct arena *arena,
                     struct failure *failure, struct due_list *out) {
    struct key_condition keys = {.count = 2};
    struct page_reply page;
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(BYTES("CLOCKS"))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI2SK"),
        .op = KEY_LT,
        .low = value_string(arena_printf(arena, "%013lld", (long long)by_ms + 1))};
    *out = (struct due_list){.codes = ARENA_ARRAY(arena, struct bytes, limit)};
    enum status status = query(game, GAME_GSI2, &keys, false, limit, arena, failure, &page);
    for (uint64_t i = 0; status == OK && i < page.count; i++)
        out->codes[out->count++] = code_of(item_string(&page.items[i], BYTES("GSI2SK")));
    if (status != OK || out->count != 0)
        return status;
    keys.count = 1;
    status = query(game, GAME_GSI2, &keys, false, 1, arena, failure, &page);
    if (status == OK && page.count != 0)
        out->next_ms = due_of(item_string(&page.items[0], BYTES("GSI2SK")));
    return status;
}

enum status room_list(struct game *game, struct bytes kind, enum room_status status,
                      struct bytes cursor, size_t limit, struct arena *arena,
                      struct failure *failure, struct room_list *out) {
    struct bytes prefix = arena_printf(arena, "%s#", room_status_name(status));
    struct key_condition keys = {.count = 2};
    struct page_reply page;
    keys.tests[0] = (struct key_test){.name = BYTES("GSI1PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(record_join(arena, "ROOMS#", kind))};
    keys.tests[1] =
        (struct key_test){.name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(prefix)};
    if (cursor.size != 0) { /* from just before it on, still within the status */
        keys.tests[1].op = KEY_BETWEEN;
        keys.tests[1].high = value_string(cursor);
    }
    *out = (struct room_list){0};
    if (cursor.size != 0 && bytes_compare(cursor, prefix) < 0)
        return failure_set(failure, arena, INVALID, "The cursor is not one of this list");
    enum status result = query(game, GAME_GSI1, &keys, true, limit + 1, arena, failure, &page);
    if (result != OK)
        return result;
    size_t first = cursor.size != 0 && page.count != 0 &&
                   bytes_equal(item_string(&page.items[0], BYTES("GSI1SK")), cursor);
    out->rooms = page.items + first;
    out->count = (size_t)page.count - first;
    if (out->count > limit)
        out->count = limit;
    if (page.more || first + out->count < page.count)
        out->cursor = item_string(&out->rooms[out->count - 1], BYTES("GSI1SK"));
    return OK;
}
