/* Definitions: read, made, changed. */
#include "game/board.h"

#include "base/clock.h"
#include "game/board_int.h"
#include "game/record.h"

/* --- reading --- */

enum status board_rules_get(struct game *game, struct bytes id, struct arena *arena,
                            struct failure *failure, struct board_rules *out) {
    struct get_reply reply;
    enum status status = NOT_FOUND;
    if (board_is_id(id)) {
        struct get_request request = {
            .table = game->table,
            .key = game_key(arena, record_join(arena, BOARDDEF, id), BYTES("META")),
            .consistent = true};
        status = engine_get(game->engine, &request, arena, failure, &reply);
        if (status != OK)
            return status;
        status = reply.found ? OK : NOT_FOUND;
    }
    if (status == NOT_FOUND)
        return failure_set(failure, arena, NOT_FOUND, "There is no board %.*s",
                           (int)(id.size < BOARD_ID_MAX ? id.size : BOARD_ID_MAX),
                           (const char *)id.data);
    return board_rules_read(&reply.item, arena, failure, out);
}

enum status board_definition_read(struct game *game, struct bytes id, struct arena *arena,
                                  struct failure *failure, struct board_rules *out) {
    struct listing listing = {.partition_name = GAME_PK,
                              .partition = record_join(arena, BOARDDEF, id),
                              .sort_name = GAME_SK,
                              .begins = BYTES(FEEDS)};
    struct page_reply page;
    enum status status = board_rules_get(game, id, arena, failure, out);
    if (status == OK)
        status = board_page(game, &listing, arena, failure, &page);
    if (status != OK)
        return status;
    struct bytes *feeds = ARENA_ARRAY(arena, struct bytes, page.count + 1);
    for (uint64_t i = 0; i < page.count; i++)
        feeds[out->feed_count++] =
            bytes_skip(item_string(&page.items[i], GAME_SK), sizeof(FEEDS) - 1);
    out->feeds = feeds;
    return OK;
}
