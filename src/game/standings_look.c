/* Looking at a board's ranking: the index it stands in, read in the board's order. */
#include "base/clock.h"
#include "game/entry_int.h"
#include "game/record.h"
#include "game/standings_int.h"

enum { LOOKS_MAX = 8, GROUP_PARTS = 2 /* score and subscore */ };

bool look_is_empty(const struct look *look) {
    return board_is_gone(look->board, clock_now_ms());
}

uint64_t look_touched(const struct look *look) {
    struct value key = value_string(look->board->pk);
    return engine_touched(look->game->engine, look->game->table, &key);
}

enum status look_steadily(const struct look *look, enum status (*once)(void *), void *context) {
    enum status status = OK;
    for (unsigned i = 0; i < LOOKS_MAX; i++) {
        uint64_t before = look_touched(look);
        status = once(context);
        if (look_touched(look) == before)
            break;
    }
    return status;
}

struct item look_key(const struct look *look, const struct points *points, struct bytes tie,
                     struct bytes key, unsigned parts) {
    struct pair *pairs = ARENA_ARRAY(look->arena, struct pair, 5);
    uint32_t count = 0;
    pairs[count++] = (struct pair){GAME_PK, value_string(look->board->pk)};
    if (parts >= 5)
        pairs[count++] = (struct pair){GAME_SK, value_string(key)};
    pairs[count++] = (struct pair){GAME_SCORE, value_number(points->score)};
    if (parts >= 3)
        pairs[count++] = (struct pair){GAME_SUBSCORE, value_number(points->subscore)};
    if (parts >= 4)
        pairs[count++] = (struct pair){GAME_TIE, value_number(tie)};
    return (struct item){pairs, count};
}

enum status look_page(const struct look *look, struct page_request *page, bool backward,
                      struct page_reply *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(look->board->pk)};
    page->table = look->game->table;
    page->index = GAME_RANKS;
    page->keys = &keys;
    page->backward = (look->board->rules.order == ORDER_HIGH) != backward;
    page->whole = true;
    enum status status = engine_page(look->game->engine, page, look->arena, look->failure, out);
    page->keys = NULL;
    return status;
}

enum status look_count(const struct look *look, uint64_t *out) {
    struct page_request page = {.select = SELECT_COUNT};
    struct page_reply reply;
    enum status status = look_page(look, &page, false, &reply);
    if (status == OK)
        *out = reply.count;
    return status;
}

enum status look_places(const struct look *look, const struct item *keys, size_t count, bool as_if,
                        struct place *places) {
    struct place_request request = {.table = look->game->table,
                                    .index = GAME_RANKS,
                                    .keys = keys,
                                    .count = count,
                                    .as_if = as_if,
                                    .group_parts = GROUP_PARTS,
                                    .groups = look->board->rules.ranking == RANK_DENSE};
    return engine_places(look->game->engine, &request, look->arena, look->failure, places);
}

struct ahead look_ahead(const struct look *look, const struct place *place) {
    if (look->board->rules.order == ORDER_HIGH)
        return (struct ahead){place->after, place->group_after, place->groups_after};
    return (struct ahead){place->before, place->group_before, place->groups_before};
}

void look_rank(const struct look *look, const struct ahead *ahead, uint64_t total,
               struct standing *row) {
    row->position = ahead->entries + 1;
    switch (look->board->rules.ranking) {
    case RANK_ORDINAL:
        row->rank = ahead->entries + 1;
        break;
    case RANK_COMPETITION:
        row->rank = ahead->better + 1;
        break;
    case RANK_DENSE:
        row->rank = ahead->groups + 1;
        break;
    }
    row->percentile =
        total <= 1 ? 100 : 100 * (double)(total - 1 - ahead->better) / (double)(total - 1);
}

/* What an item says besides the points, if it still has the points that were ranked: no row has the
 * points of one play and the words of another. */
static void take_details(const struct item *item, struct arena *arena, struct standing *row) {
    struct entry entry;
    if (entry_read(item, arena, &entry) != OK)
        return;
    row->entry.name = entry.name;
    if (points_compare(&entry.points, &row->entry.points) != 0 ||
        !bytes_equal(entry.tie, row->entry.tie))
        return;
    row->entry.at_ms = entry.at_ms;
    row->entry.meta = entry.meta;
    row->entry.plays = entry.plays;
}

enum status look_details(const struct look *look, struct standing *rows, size_t count) {
    struct get_request *requests = ARENA_ARRAY(look->arena, struct get_request, count + 1);
    struct get_reply *replies = ARENA_ARRAY(look->arena, struct get_reply, count + 1);
    size_t *places = ARENA_ARRAY(look->arena, size_t, count + 1);
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        struct bytes key;
        if (!rows[i].found)
            continue;
        enum status status = entry_key_of(rows[i].entry.member, look->arena, look->failure, &key);
        if (status != OK)
            return status;
        places[asked] = i;
        requests[asked++] = (struct get_request){.table = look->game->table,
                                                 .key = game_key(look->arena, look->board->pk, key),
                                                 .consistent = true};
    }
    if (asked == 0)
        return OK;
    enum status status =
        engine_get_many(look->game->engine, requests, asked, look->arena, look->failure, replies);
    for (size_t i = 0; i < asked && status == OK; i++)
        if (replies[i].found)
            take_details(&replies[i].item, look->arena, &rows[places[i]]);
    return status;
}
