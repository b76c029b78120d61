/* The entries of a player on all boards, with ranks, in pages. */
#include "base/clock.h"
#include "base/limits.h"
#include "game/board/board_generation.h"
#include "game/board/entry.h"
#include "game/player/player.h"
#include "game/player/player_entries.h"
#include "game/player/player_int.h"
#include "game/record.h"

/* A cursor is one of these letters, for the half of the list in which the page ended, and the name
 * of the last board. */
#define BY_INDEX BYTES("i")
#define BY_BOARD BYTES("b")

/* A page that is being made. */
struct collecting {
    struct game *game;
    struct bytes id;
    size_t limit;
    struct arena *arena;
    struct failure *failure;
    struct player_boards *out;
};

static enum status read_entries_page(struct collecting *collecting, const struct item *start,
                                     struct bytes after, struct page_reply *out) {
    struct arena *arena = collecting->arena;
    struct key_condition keys = {.count = 2};
    keys.tests[0] = (struct key_test){.name = BYTES("GSI1PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(player_pk(arena, collecting->id))};
    keys.tests[1] = (struct key_test){
        .name = BYTES("GSI1SK"), .op = KEY_BEGINS, .low = value_string(BYTES("BOARD#"))};
    if (after.size != 0) {
        keys.tests[1].op = KEY_GT;
        keys.tests[1].low = value_string(record_join(arena, "BOARD#", after));
    }
    struct page_request request = {.table = collecting->game->table,
                                   .index = GAME_GSI1,
                                   .keys = &keys,
                                   .limit = (uint32_t)collecting->limit + 1,
                                   .start = start};
    return engine_page(collecting->game->engine, &request,
                       (struct scope){arena, collecting->failure}, out);
}

/* Adds the board of an entry, unless the board is gone. On success out->boards holds a reference.
 */
static enum status add_board(struct collecting *collecting, const struct item *item) {
    struct player_boards *out = collecting->out;
    struct arena *arena = collecting->arena;
    struct bytes pk = item_string(item, GAME_PK);
    struct standings found;
    const struct board *board;
    struct bytes key = board_partition_key(pk);
    if (key.size == 0)
        return OK;
    struct bytes name = entry_member_of(key, arena);
    enum status status =
        board_find(collecting->game, name, (struct scope){arena, collecting->failure}, &board);
    if (status != OK)
        return status == INVALID || status == NOT_FOUND ? OK : status;
    if (board_is_gone(board, clock_now_ms())) {
        board_drop(board);
        return OK;
    }
    struct standings_query query = {collecting->game, board, arena, collecting->failure};
    struct standings_lookup lookup = {&collecting->id, 1, DETAIL_FULL, true};
    status = standings_members(&query, &lookup, &found);
    if (status != OK) {
        board_drop(board);
        return status;
    }
    struct standing row = found.rows[0];
    /* A hidden entry has no rank, but is part of the page. */
    if (!row.found && entry_read(item, arena, &row.entry) != OK) {
        board_drop(board);
        return OK;
    }
    out->boards[out->count] = board;
    out->standings[out->count] = row;
    out->totals[out->count++] = found.total;
    return OK;
}

static void set_next(struct collecting *collecting, struct bytes half, struct bytes name) {
    struct player_boards *out = collecting->out;
    out->more = true;
    out->next = record_join(collecting->arena, arena_str(collecting->arena, half), name);
}

/* Adds entries that are in the index GSI1, on boards whose key is after `after`. */
static enum status collect_by_index(struct collecting *collecting, struct bytes after) {
    struct player_boards *out = collecting->out;
    struct page_reply page = {0};
    enum status status;
    do {
        struct item start = page.last_key;
        status = read_entries_page(collecting, page.more ? &start : NULL, after, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++) {
            if (out->count == collecting->limit) {
                set_next(collecting, BY_INDEX, out->boards[out->count - 1]->instance);
                return OK;
            }
            status = add_board(collecting, &page.items[i]);
        }
    } while (status == OK && page.more);
    return status;
}

static struct bytes board_of_entry(const struct item *item, struct arena *arena) {
    return entry_member_of(board_partition_key(item_string(item, GAME_PK)), arena);
}

/* Adds entries of the page while there is room; *last becomes the board of the last one added. */
static enum status add_walked(struct collecting *collecting, const struct player_entries_page *page,
                              struct bytes *last) {
    enum status status = OK;
    for (size_t i = 0; status == OK && i < page->count; i++) {
        if (collecting->out->count == collecting->limit) {
            set_next(collecting, BY_BOARD, *last);
            return OK;
        }
        status = add_board(collecting, &page->items[i]);
        *last = board_of_entry(&page->items[i], collecting->arena);
    }
    return status;
}

/* Adds entries that are not in the index, on boards whose name is after `after`. */
static enum status collect_by_board(struct collecting *collecting, struct bytes after) {
    struct player_entries_cursor cursor = {
        .game = collecting->game, .id = collecting->id, .by_board = true, .instance = after};
    enum status status = OK;
    for (unsigned i = 0; i < LIMIT_PLAYER_WALKS && status == OK && !cursor.ended; i++) {
        struct player_entries_page page;
        struct bytes last = cursor.instance;
        status = player_entries_next(&cursor,
                                     (struct scope){collecting->arena, collecting->failure}, &page);
        if (status == OK)
            status = add_walked(collecting, &page, &last);
        if (collecting->out->more)
            return status;
    }
    if (status == OK && !cursor.ended)
        set_next(collecting, BY_BOARD, cursor.instance);
    return status;
}

static enum status collect_boards(struct collecting *collecting, struct bytes after) {
    struct bytes key = {0};
    enum status status = OK;
    if (bytes_starts(after, BY_BOARD))
        return collect_by_board(collecting, bytes_skip(after, BY_BOARD.size));
    if (after.size > BY_INDEX.size)
        status = entry_key_of(bytes_skip(after, BY_INDEX.size),
                              (struct scope){collecting->arena, collecting->failure}, &key);
    if (status == OK)
        status = collect_by_index(collecting, key);
    return status == OK && !collecting->out->more ? collect_by_board(collecting, (struct bytes){0})
                                                  : status;
}

enum status player_boards(struct game *game, const struct player_boards_request *request,
                          struct scope in, struct player_boards *out) {
    size_t limit = request->limit;
    struct collecting collecting = {game, request->id, limit, in.arena, in.failure, out};
    *out = (struct player_boards){.boards = ARENA_ARRAY(in.arena, const struct board *, limit + 1),
                                  .standings = ARENA_ARRAY(in.arena, struct standing, limit + 1),
                                  .totals = ARENA_ARRAY(in.arena, uint64_t, limit + 1)};
    enum status status = player_check_member(request->id, in);
    if (status == OK)
        status = collect_boards(&collecting, request->after);
    if (status != OK)
        player_boards_release(out);
    return status;
}

void player_boards_release(struct player_boards *boards) {
    for (size_t i = 0; i < boards->count; i++)
        board_drop(boards->boards[i]);
    boards->count = 0;
}
