#include "game/keyspace/key_list.h"

#include "game/board/entry.h"
#include "game/record.h"

/* Asks the index GSI1 for the database's keys. */
static struct key_condition keys_of(unsigned db, struct bytes after, struct arena *arena) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){.name = BYTES("GSI1PK"),
                                      .op = KEY_EQ,
                                      .low = value_string(arena_printf(arena, "KEYS#%u", db))};
    if (after.size != 0)
        keys.tests[keys.count++] =
            (struct key_test){.name = BYTES("GSI1SK"), .op = KEY_GT, .low = value_string(after)};
    return keys;
}

enum status key_list(struct game *game, const struct key_list_range *range, struct scope in,
                     struct key_list *out) {
    struct key_condition keys = keys_of(range->db, range->after, in.arena);
    struct page_request request = {
        .table = game->table, .index = GAME_GSI1, .keys = &keys, .limit = (uint32_t)range->limit};
    struct page_reply page;
    enum status status = engine_page(game->engine, &request, in, &page);
    if (status != OK)
        return status;
    *out = (struct key_list){.names = arena_alloc(in.arena, (page.count + 1) * sizeof(*out->names)),
                             .count = (size_t)page.count,
                             .more = page.more};
    for (size_t i = 0; i < out->count; i++) {
        out->last = item_string(&page.items[i], BYTES("GSI1SK"));
        out->names[i] = entry_member_of(out->last, in.arena);
    }
    return OK;
}

enum status key_list_count(struct game *game, unsigned db, struct scope in, uint64_t *out) {
    struct key_condition keys = keys_of(db, (struct bytes){0}, in.arena);
    struct page_request request = {
        .table = game->table, .index = GAME_GSI1, .keys = &keys, .select = SELECT_COUNT};
    struct page_reply page = {0};
    enum status status = engine_page(game->engine, &request, in, &page);
    *out = page.count;
    return status;
}
