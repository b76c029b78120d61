/* Steps of reading a board's ranking: versions and retries, ranks in the board's order, details. */
#include "base/clock.h"
#include "base/limits.h"
#include "game/board/entry_int.h"
#include "game/board/standings_int.h"
#include "game/record.h"
#include "table/inprocess.h"

enum { QUERY_RETRIES_MAX = LIMIT_QUERY_TRIES };

bool standings_query_is_empty(const struct standings_query *query) {
    return board_is_gone(query->board, clock_now_ms());
}

uint64_t standings_query_version(const struct standings_query *query) {
    struct value key = value_string(query->board->pk);
    return engine_partition_version(query->game->engine, query->game->table, &key);
}

enum status standings_query_retry(const struct standings_query *query, enum status (*once)(void *),
                                  void *context) {
    enum status status = OK;
    for (unsigned i = 0; i < QUERY_RETRIES_MAX; i++) {
        uint64_t before = standings_query_version(query);
        status = once(context);
        if (standings_query_version(query) == before)
            break;
    }
    return status;
}

enum status standings_query_count(const struct standings_query *query, uint64_t *out) {
    return standings_index_count(query, &(struct rank_window){0}, out);
}

enum status standings_query_rank_of(const struct standings_query *query,
                                    const struct ranked_entry *entry, struct rank_reply *reply) {
    struct item key = standings_index_key(query, entry);
    struct rank_question question = {.keys = &key, .count = 1, .as_if = true, .as_board = true};
    return standings_index_ranks(query, &question, reply);
}

struct ahead standings_query_ahead(const struct standings_query *query,
                                   const struct rank_reply *rank_reply) {
    if (query->board->rules.order == ORDER_HIGH)
        return (struct ahead){rank_reply->after, rank_reply->group_after, rank_reply->groups_after};
    return (struct ahead){rank_reply->before, rank_reply->group_before, rank_reply->groups_before};
}

void standings_query_set_rank(const struct standings_query *query, const struct ahead *ahead,
                              uint64_t total, struct standing *row) {
    row->position = ahead->entries + 1;
    switch (query->board->rules.ranking) {
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

/* Copies what an item has besides the points, if it still has the points that were ranked: a row
 * never has the points of one play and the details of another. */
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
    row->entry.ends_ms = entry.ends_ms;
}

enum status standings_query_details(const struct standings_query *query, struct standing *rows,
                                    size_t count) {
    struct get_request *requests = ARENA_ARRAY(query->arena, struct get_request, count + 1);
    struct get_reply *replies = ARENA_ARRAY(query->arena, struct get_reply, count + 1);
    size_t *places = ARENA_ARRAY(query->arena, size_t, count + 1);
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        struct bytes key;
        if (!rows[i].found)
            continue;
        enum status status =
            entry_key_of(rows[i].entry.member, (struct scope){query->arena, query->failure}, &key);
        if (status != OK)
            return status;
        places[asked] = i;
        requests[asked++] =
            (struct get_request){.table = query->game->table,
                                 .key = game_key(query->arena, query->board->pk, key),
                                 .consistent = true};
    }
    if (asked == 0)
        return OK;
    enum status status = engine_get_many(query->game->engine, requests, asked,
                                         (struct scope){query->arena, query->failure}, replies);
    for (size_t i = 0; i < asked && status == OK; i++)
        if (replies[i].found)
            take_details(&replies[i].item, query->arena, &rows[places[i]]);
    return status;
}
