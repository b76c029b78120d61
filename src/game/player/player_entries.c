/* Walking through a player's entries: a query of GSI1, then a get for each board. */
#include "game/player/player_entries.h"

#include "game/board/board_generation.h"
#include "game/player/player_int.h"
#include "game/record.h"

enum { WALK_ENTRIES = 200, WALK_BOARDS = 200 };

static enum status walk_index(struct player_entries_cursor *cursor, struct scope in,
                              struct player_entries_page *out) {
    struct game *game = cursor->game;
    struct page_reply page;
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){.name = BYTES("GSI1PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(player_pk(in.arena, cursor->id))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(BYTES("BOARD#"))};
    struct page_request request = {.table = game->table,
                                   .index = GAME_GSI1,
                                   .keys = &keys,
                                   .limit = WALK_ENTRIES,
                                   .start = cursor->after.count != 0 ? &cursor->after : NULL};
    enum status status = engine_page(game->engine, &request, in, &page);
    if (status != OK)
        return status;
    out->items = page.items;
    out->count = (size_t)page.count;
    cursor->by_board = !page.more;
    cursor->after = page.more ? page.last_key : (struct item){0};
    return OK;
}

/* Puts the entries found on out->boards into the page, without those that are in the index. */
static void keep_others(struct bytes id, const struct get_reply *replies, struct arena *arena,
                        struct player_entries_page *out) {
    struct bytes pk = player_pk(arena, id);
    size_t count = out->boards.count;
    out->items = ARENA_ARRAY(arena, struct item, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &replies[i].item;
        bool indexed = bytes_equal(item_string(item, BYTES("GSI1PK")), pk) &&
                       bytes_starts(item_string(item, BYTES("GSI1SK")), BYTES("BOARD#"));
        if (replies[i].found && !indexed)
            out->items[out->count++] = *item;
    }
}

static enum status walk_boards(struct player_entries_cursor *cursor, struct scope in,
                               struct player_entries_page *out) {
    struct game *game = cursor->game;
    struct bytes key;
    struct list_range range = {.after = cursor->instance, .limit = WALK_BOARDS};
    enum status status = board_instances(game, &range, in, &out->boards);
    if (status == OK)
        status = entry_key_of(cursor->id, in, &key);
    if (status != OK)
        return status;
    size_t count = out->boards.count;
    struct get_request *requests = ARENA_ARRAY(in.arena, struct get_request, count + 1);
    struct get_reply *replies = ARENA_ARRAY(in.arena, struct get_reply, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct bytes partition = board_partition_of_state(&out->boards.states[i], in.arena);
        requests[i] = (struct get_request){
            .table = game->table, .key = game_key(in.arena, partition, key), .consistent = true};
    }
    if (count != 0)
        status = engine_get_many(game->engine, requests, count, in, replies);
    if (status != OK)
        return status;
    keep_others(cursor->id, replies, in.arena, out);
    cursor->ended = !out->boards.more || count == 0;
    if (count != 0)
        cursor->instance = out->boards.names[count - 1];
    return OK;
}

enum status player_entries_next(struct player_entries_cursor *cursor, struct scope in,
                                struct player_entries_page *out) {
    *out = (struct player_entries_page){0};
    return cursor->by_board ? walk_boards(cursor, in, out) : walk_index(cursor, in, out);
}

struct bytes *player_entries_partitions(const struct player_entries_page *page,
                                        struct arena *arena) {
    struct bytes *partitions = ARENA_ARRAY(arena, struct bytes, page->count + 1);
    for (size_t i = 0; i < page->count; i++)
        partitions[i] = item_string(&page->items[i], GAME_PK);
    return partitions;
}
