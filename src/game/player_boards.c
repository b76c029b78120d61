/* Where a player stands on all boards. */
#include "base/clock.h"
#include "game/entry.h"
#include "game/play_int.h"
#include "game/player.h"
#include "game/record.h"

struct gathering {
    struct game *game;
    struct bytes id;
    size_t limit;
    struct arena *arena;
    struct failure *failure;
    struct player_boards *out;
};

static enum status read_page(struct gathering *gathering, const struct item *start,
                             struct bytes after, struct page_reply *out) {
    struct arena *arena = gathering->arena;
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){.name = BYTES("GSI1PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(player_pk(arena, gathering->id))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(BYTES("BOARD#"))};
    if (after.size != 0) {
        keys.tests[1].op = KEY_GT;
        keys.tests[1].low = value_string(record_join(arena, "BOARD#", after));
    }
    struct page_request request = {.table = gathering->game->table,
                                   .index = GAME_GSI1,
                                   .keys = &keys,
                                   .limit = (uint32_t)gathering->limit + 1,
                                   .start = start};
    return engine_page(gathering->game->engine, &request, arena, gathering->failure, out);
}

/* Adds the board of an entry, unless it is gone by now. */
static enum status add_board(struct gathering *gathering, const struct item *item) {
    struct player_boards *out = gathering->out;
    struct arena *arena = gathering->arena;
    struct bytes pk = item_string(item, GAME_PK);
    struct standings found;
    const struct board *board;
    if (!bytes_starts(pk, BYTES("BOARD#")))
        return OK;
    struct bytes name = entry_member_of(bytes_skip(pk, BYTES("BOARD#").size), arena);
    enum status status = board_find(gathering->game, name, arena, gathering->failure, &board);
    if (status != OK)
        return status == INVALID || status == NOT_FOUND ? OK : status;
    if (board_is_gone(board, clock_now_ms())) {
        board_drop(board);
        return OK;
    }
    status = standings_members(gathering->game, board, &gathering->id, 1, DETAIL_FULL, arena,
                               gathering->failure, &found);
    if (status != OK) {
        board_drop(board);
        return status;
    }
    struct standing row = found.rows[0];
    /* Hidden, it stands nowhere and is told all the same. */
    if (!row.found && entry_read(item, arena, &row.entry) != OK) {
        board_drop(board);
        return OK;
    }
    out->boards[out->count] = board;
    out->standings[out->count] = row;
    out->totals[out->count++] = found.total;
    return OK;
}

static enum status gather(struct gathering *gathering, struct bytes after) {
    struct player_boards *out = gathering->out;
    struct page_reply page = {0};
    enum status status;
    do {
        struct item start = page.last_key;
        status = read_page(gathering, page.more ? &start : NULL, after, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++) {
            if (out->count == gathering->limit) {
                out->more = true;
                return OK;
            }
            status = add_board(gathering, &page.items[i]);
        }
    } while (status == OK && page.more);
    return status;
}

enum status player_boards(struct game *game, struct bytes id, struct bytes after, size_t limit,
                          struct arena *arena, struct failure *failure, struct player_boards *out) {
    struct gathering gathering = {game, id, limit, arena, failure, out};
    struct bytes key = {0};
    *out = (struct player_boards){.boards = ARENA_ARRAY(arena, const struct board *, limit + 1),
                                  .standings = ARENA_ARRAY(arena, struct standing, limit + 1),
                                  .totals = ARENA_ARRAY(arena, uint64_t, limit + 1)};
    enum status status = player_check_id(id, arena, failure);
    if (status == OK && after.size != 0)
        status = entry_key_of(after, arena, failure, &key);
    if (status == OK)
        status = gather(&gathering, key);
    if (status != OK)
        player_boards_release(out);
    return status;
}

void player_boards_release(struct player_boards *boards) {
    for (size_t i = 0; i < boards->count; i++)
        board_drop(boards->boards[i]);
    boards->count = 0;
}
