/* Definitions and instances as lists, read from the indexes GSI1 and GSI2. */
#include "game/board/board_int.h"
#include "game/board/entry.h"
#include "game/record.h"

static struct key_test sort_key_test(const struct listing *listing) {
    struct key_test test = {.name = listing->sort_name, .op = KEY_GT};
    struct bytes bound = listing->after;
    if (listing->begins.size != 0) {
        test.op = KEY_BEGINS;
        bound = listing->begins;
    } else if (listing->before.size != 0) {
        test.op = KEY_LT;
        bound = listing->before;
    }
    test.low = value_string(bound);
    return test;
}

enum status board_page(struct game *game, const struct listing *listing, struct scope in,
                       struct page_reply *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){
        .name = listing->partition_name, .op = KEY_EQ, .low = value_string(listing->partition)};
    keys.tests[1] = sort_key_test(listing);
    if (keys.tests[1].low.bytes.size != 0)
        keys.count = 2;
    struct page_request request = {.table = game->table,
                                   .index = listing->index,
                                   .keys = &keys,
                                   .consistent = listing->index.size == 0,
                                   .limit = (uint32_t)listing->limit,
                                   .projection = listing->projection,
                                   .select = listing->projection != NULL ? SELECT_SPECIFIC
                                                                         : SELECT_DEFAULT};
    return engine_page(game->engine, &request, in, out);
}

bool board_walk_skips(struct game *game, struct bytes name, enum status status,
                      const struct failure *failure) {
    if (status == INVALID)
        game_report(game, board_name_of(name).id, failure);
    return status == INVALID || status == NOT_FOUND; /* removed meanwhile */
}

static struct listing list_definitions(struct bytes game_id, struct bytes after,
                                       struct arena *arena) {
    if (game_id.size == 0)
        return (struct listing){.index = GAME_GSI1,
                                .partition_name = BYTES("GSI1PK"),
                                .partition = BYTES("BOARDS"),
                                .sort_name = BYTES("GSI1SK"),
                                .after = after};
    return (struct listing){.index = GAME_GSI2,
                            .partition_name = BYTES("GSI2PK"),
                            .partition = record_join(arena, "GAME#", game_id),
                            .sort_name = BYTES("GSI2SK"),
                            .begins = after.size == 0 ? BYTES(BOARD) : (struct bytes){0},
                            .after = after.size == 0 ? after : record_join(arena, BOARD, after)};
}

/* Adds the definitions of the page that can be used. */
static void take_definitions(struct game *game, const struct page_reply *page, struct arena *arena,
                             struct board_list *list) {
    size_t size = sizeof(list->boards[0]);
    list->boards =
        arena_grow(arena, list->boards, list->count * size, (list->count + page->count) * size);
    for (uint64_t i = 0; i < page->count; i++) {
        const struct item *item = &page->items[i];
        struct board_rules *rules = &list->boards[list->count];
        struct bytes pk = item_string(item, GAME_PK);
        struct bytes id = bytes_starts(pk, BYTES(BOARDDEF)) ? bytes_skip(pk, sizeof(BOARDDEF) - 1)
                                                            : (struct bytes){0};
        struct failure failure = {INVALID, BYTES("its item cannot be used")};
        if (board_rules_read(item, (struct scope){arena, &failure}, rules) == OK &&
            board_definition_usable(game, id, rules, arena))
            list->count++;
        else
            game_report(game, id, &failure);
    }
}

/* A page may end by its size, and unusable definitions are left out, so it may take several. */
enum status board_list(struct game *game, const struct list_range *range, struct scope in,
                       struct board_list *out) {
    struct board_list list = {.more = true};
    struct bytes after = range->after;
    while (list.more && list.count < range->limit) {
        struct listing listing = list_definitions(range->of, after, in.arena);
        struct page_reply page;
        listing.limit = range->limit - list.count;
        enum status status = board_page(game, &listing, in, &page);
        if (status != OK)
            return status;
        take_definitions(game, &page, in.arena, &list);
        list.more = page.more && page.count != 0;
        if (page.count == 0)
            break;
        after = item_string(&page.items[page.count - 1], listing.sort_name);
        if (range->of.size != 0)
            after = bytes_skip(after, sizeof(BOARD) - 1);
    }
    *out = list;
    return OK;
}

/* The GSI2SK of the instance of that name. */
static struct bytes instance_sort_key(struct bytes name, struct arena *arena) {
    struct board_name parts = board_name_of(name);
    return arena_printf(arena, "%.*s@%.*s", BYTES_ARG(parts.scope), BYTES_ARG(parts.period));
}

enum status board_instances(struct game *game, const struct list_range *range, struct scope in,
                            struct instance_list *out) {
    struct listing listing = {.index = GAME_GSI1,
                              .partition_name = BYTES("GSI1PK"),
                              .partition = BYTES("INSTANCES"),
                              .sort_name = BYTES("GSI1SK"),
                              .limit = range->limit};
    struct page_reply page;
    enum status status = OK;
    if (range->of.size != 0) {
        listing.index = GAME_GSI2;
        listing.partition_name = BYTES("GSI2PK");
        listing.partition = record_join(in.arena, BOARD, range->of);
        listing.sort_name = BYTES("GSI2SK");
        if (range->after.size != 0)
            listing.after = instance_sort_key(range->after, in.arena);
    } else if (range->after.size != 0) {
        status = entry_key_of(range->after, in, &listing.after);
    }
    if (status == OK)
        status = board_page(game, &listing, in, &page);
    if (status != OK)
        return status;
    struct instance_list list = {.names = ARENA_ARRAY(in.arena, struct bytes, page.count),
                                 .states = page.items,
                                 .count = page.count,
                                 .more = page.more};
    for (size_t i = 0; i < list.count; i++)
        list.names[i] = entry_member_of(item_string(&page.items[i], BYTES("GSI1SK")), in.arena);
    *out = list;
    return OK;
}

enum status board_instance_count(struct game *game, struct scope in, uint64_t *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI1PK"), .op = KEY_EQ, .low = value_string(BYTES("INSTANCES"))};
    struct page_request request = {
        .table = game->table, .index = GAME_GSI1, .keys = &keys, .select = SELECT_COUNT};
    struct page_reply reply;
    enum status status = engine_page(game->engine, &request, in, &reply);
    *out = status == OK ? reply.count : 0;
    return status;
}
