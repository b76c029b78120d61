/* Ranks of given members, members ranked among themselves, the rank that points would get, and
 * percentiles. */
#include "base/clock.h"
#include "game/board/entry_int.h"
#include "game/board/entry_rules.h"
#include "game/board/standings_int.h"

#include <stdlib.h>

/* --- members --- */

static enum status read_ranks(const struct standings_query *query, const struct rank_reply *replies,
                              size_t count, struct standings *out) {
    for (size_t i = 0; i < count; i++) {
        struct standing *row = &out->rows[i];
        if (!replies[i].found)
            continue;
        if (entry_read(&replies[i].entry, query->arena, &row->entry) != OK)
            return failure_set(query->failure, query->arena, DAMAGED, "An entry is damaged");
        struct ahead ahead = standings_query_ahead(query, &replies[i]);
        row->found = true;
        out->total = replies[i].before + replies[i].after + 1;
        standings_query_set_rank(query, &ahead, out->total, row);
    }
    return OK;
}

/* The entries themselves, whatever the ranking is. */
static enum status read_unranked(const struct standings_query *query, const struct item *keys,
                                 size_t count, struct standings *out) {
    struct get_request *requests = ARENA_ARRAY(query->arena, struct get_request, count + 1);
    struct get_reply *replies = ARENA_ARRAY(query->arena, struct get_reply, count + 1);
    for (size_t i = 0; i < count; i++)
        requests[i] =
            (struct get_request){.table = query->game->table, .key = keys[i], .consistent = true};
    enum status status = engine_get_many(query->game->engine, requests, count,
                                         (struct scope){query->arena, query->failure}, replies);
    for (size_t i = 0; i < count && status == OK; i++) {
        struct standing *row = &out->rows[i];
        row->found = replies[i].found &&
                     entry_read(&replies[i].item, query->arena, &row->entry) == OK &&
                     !row->entry.hidden;
    }
    return status;
}

enum status standings_members(const struct standings_query *query,
                              const struct standings_lookup *lookup, struct standings *out) {
    struct scope in = {query->arena, query->failure};
    size_t count = lookup->count;
    struct item *keys = ARENA_ARRAY(in.arena, struct item, count + 1);
    struct rank_reply *replies = ARENA_ARRAY(in.arena, struct rank_reply, count + 1);
    enum status status = OK;
    *out = (struct standings){.rows = ARENA_ARRAY(in.arena, struct standing, count + 1),
                              .count = count};
    if (count > STANDINGS_MEMBERS_MAX)
        return failure_set(in.failure, in.arena, INVALID,
                           "At most %d members can be asked for at once", STANDINGS_MEMBERS_MAX);
    for (size_t i = 0; i < count && status == OK; i++) {
        struct bytes key;
        status = entry_key_of(lookup->members[i], in, &key);
        out->rows[i].entry.member = lookup->members[i];
        if (status == OK)
            keys[i] = game_key(in.arena, query->board->pk, key);
    }
    if (status != OK || standings_query_is_empty(query))
        return status;
    struct rank_question question = {.keys = keys, .count = count, .as_board = true};
    if (count != 0)
        status = standings_index_ranks(query, &question, replies);
    if (status == BEING_BUILT && lookup->unranked)
        return read_unranked(query, keys, count, out);
    if (status == OK)
        status = read_ranks(query, replies, count, out);
    if (status == OK && out->total == 0)
        status = standings_query_count(query, &out->total);
    if (status == OK && lookup->detail == DETAIL_FULL)
        status = standings_query_details(query, out->rows, count);
    return status;
}

/* --- friends --- */

static int by_position(const void *a, const void *b) {
    const struct standing *one = a, *two = b;
    return (one->position > two->position) - (one->position < two->position);
}

/* Keeps the rows that were found, sorted by position, each member once. */
static void compact_found(struct standings *rows) {
    size_t found = 0, kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].found)
            rows->rows[found++] = rows->rows[i];
    qsort(rows->rows, found, sizeof(*rows->rows), by_position);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || rows->rows[i].position != rows->rows[kept - 1].position)
            rows->rows[kept++] = rows->rows[i];
    rows->count = kept;
}

enum status standings_friends(const struct standings_query *query,
                              const struct standings_lookup *lookup, struct standings *out,
                              uint64_t **among) {
    enum status status = standings_members(query, lookup, out);
    if (status != OK)
        return status;
    struct ahead ahead = {0};
    compact_found(out);
    *among = ARENA_ARRAY(query->arena, uint64_t, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        struct standing row;
        if (i > 0) {
            ahead.entries++;
            if (points_compare(&out->rows[i].entry.points, &out->rows[i - 1].entry.points) != 0) {
                ahead.better = ahead.entries;
                ahead.groups++;
            }
        }
        standings_query_set_rank(query, &ahead, out->count, &row);
        (*among)[i] = row.rank;
    }
    return OK;
}

/* --- ranks of points and percentiles --- */

enum status standings_rank_for_points(const struct standings_query *query,
                                      const struct points *points, uint64_t *rank,
                                      uint64_t *total) {
    const struct board_rules *rules = &query->board->rules;
    struct rank_reply rank_reply = {0};
    struct standing row;
    struct ranked_entry at = {BYTES("\0"), *points, entry_tie(rules, clock_now_ms(), query->arena)};
    enum status status =
        standings_query_is_empty(query) ? OK : standings_query_rank_of(query, &at, &rank_reply);
    if (status != OK)
        return status;
    *total = rank_reply.before + rank_reply.after + rank_reply.found;
    struct ahead ahead = standings_query_ahead(query, &rank_reply);
    uint64_t behind = rules->order == ORDER_HIGH ? rank_reply.group_before : rank_reply.group_after;
    ahead.entries = *total - behind; /* its equals are ahead of it */
    standings_query_set_rank(query, &ahead, *total + 1, &row);
    *rank = row.rank;
    return OK;
}

struct percentile_read {
    struct standings_query query;
    double percentile;
    struct standings rows;
};

static enum status percentile_once(void *context) {
    struct percentile_read *percentile_read = context;
    const struct standings_query *query = &percentile_read->query;
    uint64_t total = 0;
    enum status status =
        standings_query_is_empty(query) ? OK : standings_query_count(query, &total);
    if (status != OK || total == 0)
        return status;
    double behind = (100 - percentile_read->percentile) / 100 * (double)(total - 1);
    struct standings_request request = {.board = query->board, .limit = 1};
    request.from = 1 + (uint64_t)(behind + 1e-9);
    return standings_query_rows(query, &request, &percentile_read->rows);
}

enum status standings_percentile(const struct standings_query *query, double percentile,
                                 struct standing *out) {
    struct percentile_read percentile_read = {.query = *query, .percentile = percentile};
    if (!(percentile >= 0 && percentile <= 100))
        return failure_set(query->failure, query->arena, INVALID,
                           "A percentile is between 0 and 100");
    enum status status = standings_query_retry(query, percentile_once, &percentile_read);
    if (status == OK && percentile_read.rows.count == 0)
        return failure_set(query->failure, query->arena, NOT_FOUND, "Board %.*s has no entries",
                           BYTES_ARG(query->board->instance));
    if (status == OK)
        status = standings_query_details(&percentile_read.query, percentile_read.rows.rows, 1);
    if (status == OK)
        *out = percentile_read.rows.rows[0];
    return status;
}
