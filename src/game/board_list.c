/* Definitions and instances as lists, by the table's own indexes. */
#include "game/board_int.h"
#include "game/entry.h"
#include "game/record.h"

enum status board_page(struct game *game, const struct listing *listing, struct arena *arena,
                       struct failure *failure, struct page_reply *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){
        .name = listing->partition_name, .op = KEY_EQ, .low = value_string(listing->partition)};
    if (listing->after.size != 0 || listing->begins.size != 0) {
        bool begins = listing->begins.size != 0;
        keys.tests[keys.count++] =
            (struct key_test){.name = listing->sort_name,
                              .op = begins ? KEY_BEGINS : KEY_GT,
                              .low = value_string(begins ? listing->begins : listing->after)};
    }
    struct page_request request = {.table = game->table,
                                   .index = listing->index,
                                   .keys = &keys,
                                   .consistent = listing->index.size == 0,
                                   .limit = (uint32_t)listing->limit,
                                   .projection = listing->projection,
                                   .select = listing->projection != NULL ? SELECT_SPECIFIC
                                                                         : SELECT_DEFAULT};
    return engine_page(game->engine, &request, arena, failure, out);
}

enum status board_list(struct game *game, struct bytes game_id, struct bytes after, size_t limit,
                       struct arena *arena, struct failure *failure, struct board_list *out) {
    struct listing listing = {.index = GAME_GSI1,
                              .partition_name = BYTES("GSI1PK"),
                              .partition = BYTES("BOARDS"),
                              .sort_name = BYTES("GSI1SK"),
                              .after = after,
                              .limit = limit};
    struct page_reply page;
    if (game_id.size != 0) {
        listing.index = GAME_GSI2;
        listing.partition_name = BYTES("GSI2PK");
        listing.partition = record_join(arena, "GAME#", game_id);
        listing.sort_name = BYTES("GSI2SK");
        listing.begins = after.size == 0 ? BYTES("BOARD#") : (struct bytes){0};
        listing.after = after.size == 0 ? after : record_join(arena, "BOARD#", after);
    }
    enum status status = board_page(game, &listing, arena, failure, &page);
    if (status != OK)
        return status;
    struct board_list list = {.boards = ARENA_ARRAY(arena, struct board_rules, page.count),
                              .more = page.more};
    for (uint64_t i = 0; i < page.count && status == OK; i++)
        status = board_rules_read(&page.items[i], arena, failure, &list.boards[list.count++]);
    *out = list;
    return status;
}

/* Where a name stands among the instances of its board. */
static struct bytes place_of(struct bytes name, struct arena *arena) {
    struct board_name parts = board_name_of(name);
    return arena_printf(arena, "%.*s@%.*s", BYTES_ARG(parts.scope), BYTES_ARG(parts.period));
}

enum status board_instances(struct game *game, struct bytes id, struct bytes after, size_t limit,
                            struct arena *arena, struct failure *failure,
                            struct instance_list *out) {
    struct listing listing = {.index = GAME_GSI1,
                              .partition_name = BYTES("GSI1PK"),
                              .partition = BYTES("INSTANCES"),
                              .sort_name = BYTES("GSI1SK"),
                              .limit = limit};
    struct page_reply page;
    enum status status = OK;
    if (id.size != 0) {
        listing.index = GAME_GSI2;
        listing.partition_name = BYTES("GSI2PK");
        listing.partition = record_join(arena, BOARD, id);
        listing.sort_name = BYTES("GSI2SK");
        listing.after = after.size == 0 ? after : place_of(after, arena);
    } else if (after.size != 0) {
        status = entry_key_of(after, arena, failure, &listing.after);
    }
    if (status == OK)
        status = board_page(game, &listing, arena, failure, &page);
    if (status != OK)
        return status;
    struct instance_list list = {.names = ARENA_ARRAY(arena, struct bytes, page.count),
                                 .states = page.items,
                                 .count = page.count,
                                 .more = page.more};
    for (size_t i = 0; i < list.count; i++)
        list.names[i] = entry_member_of(item_string(&page.items[i], BYTES("GSI1SK")), arena);
    *out = list;
    return OK;
}
