#include "game/player_walk.h"

#include "game/play_int.h"
#include "game/record.h"

enum { WALK_ENTRIES = 200, WALK_BOARDS = 200 };

static enum status walk_index(struct game *game, struct bytes id, struct player_place *place,
                              struct arena *arena, struct failure *failure,
                              struct player_page *out) {
    struct page_reply page;
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI1PK"), .op = KEY_EQ, .low = value_string(player_pk(arena, id))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(BYTES("BOARD#"))};
    struct page_request request = {.table = game->table,
                                   .index = GAME_GSI1,
                                   .keys = &keys,
                                   .limit = WALK_ENTRIES,
                                   .start = place->after.count != 0 ? &place->after : NULL};
    enum status status = engine_page(game->engine, &request, arena, failure, &page);
    if (status != OK)
        return status;
    out->items = page.items;
    out->count = (size_t)page.count;
    *place = (struct player_place){.by_board = !page.more};
    if (page.more)
        place->after = page.last_key;
    return OK;
}

/* Keeps of the items found those that the first half did not have. */
static void keep_others(struct bytes id, const struct get_reply *replies, size_t count,
                        struct arena *arena, struct player_page *out) {
    struct bytes pk = player_pk(arena, id);
    out->items = ARENA_ARRAY(arena, struct item, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &replies[i].item;
        bool told = bytes_equal(item_string(item, BYTES("GSI1PK")), pk) &&
                    bytes_starts(item_string(item, BYTES("GSI1SK")), BYTES("BOARD#"));
        if (replies[i].found && !told)
            out->items[out->count++] = *item;
    }
}

static enum status walk_boards(struct game *game, struct bytes id, struct player_place *place,
                               struct arena *arena, struct failure *failure,
                               struct player_page *out) {
    struct bytes key;
    enum status status = board_instances(game, (struct bytes){0}, place->instance, WALK_BOARDS,
                                         arena, failure, &out->boards);
    if (status == OK)
        status = entry_key_of(id, arena, failure, &key);
    if (status != OK)
        return status;
    size_t count = out->boards.count;
    struct get_request *requests = ARENA_ARRAY(arena, struct get_request, count + 1);
    struct get_reply *replies = ARENA_ARRAY(arena, struct get_reply, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct bytes board = item_string(&out->boards.states[i], BYTES("GSI1SK"));
        requests[i] =
            (struct get_request){.table = game->table,
                                 .key = game_key(arena, record_join(arena, "BOARD#", board), key),
                                 .consistent = true};
    }
    if (count != 0)
        status = engine_get_many(game->engine, requests, count, arena, failure, replies);
    if (status != OK)
        return status;
    keep_others(id, replies, count, arena, out);
    place->ended = !out->boards.more || count == 0;
    if (count != 0)
        place->instance = out->boards.names[count - 1];
    return OK;
}

enum status player_walk(struct game *game, struct bytes id, struct player_place *place,
                        struct arena *arena, struct failure *failure, struct player_page *out) {
    *out = (struct player_page){0};
    if (!place->by_board)
        return walk_index(game, id, place, arena, failure, out);
    return walk_boards(game, id, place, arena, failure, out);
}
