/* Pages of a board, in its order, and the rows around a member. */
#include "game/board/standings.h"

#include "game/board/standings_int.h"

/* --- bounds --- */

struct bounds {
    struct rank_edge low, high;
};

/* Narrows the range to the entries beyond the cursor, on one side. */
static enum status bound_by_cursor(const struct standings_query *query, const struct entry *cursor,
                                   bool falling, struct bounds *bounds) {
    struct rank_edge *edge = falling ? &bounds->high : &bounds->low;
    struct bytes key;
    enum status status =
        entry_key_of(cursor->member, (struct scope){query->arena, query->failure}, &key);
    if (status != OK)
        return status;
    if (edge->points.score.size != 0) {
        int order = bytes_compare(cursor->points.score, edge->points.score);
        if (falling ? order > 0 : order < 0)
            return OK; /* the cursor is outside: the bound there is narrower */
    }
    *edge = (struct rank_edge){
        .points = cursor->points, .tie = cursor->tie, .key = key, .after = !falling};
    return OK;
}

static struct bounds bounds_of_scores(const struct standings_request *request) {
    return (struct bounds){.low = {.points = {.score = request->score_low}},
                           .high = {.points = {.score = request->score_high}, .after = true}};
}

static bool is_impossible(const struct standings_request *request) {
    return request->score_low.size != 0 && request->score_high.size != 0 &&
           bytes_compare(request->score_low, request->score_high) > 0;
}

/* --- rows --- */

static void read_rows(const struct standings_query *query, const struct ranked_list *entries,
                      bool backward, struct standings *out) {
    size_t count = out->count;
    out->rows = ARENA_ARRAY(query->arena, struct standing, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct ranked_entry *entry = &entries->list[i];
        struct standing *row = &out->rows[backward ? count - 1 - i : i];
        row->entry.member = entry_member_of(entry->key, query->arena);
        row->entry.points = entry->points;
        row->entry.tie = entry->tie;
        row->found = true;
    }
}

/* Looks up the rank of the first row; the others follow from it. */
static enum status rank_rows(const struct standings_query *query, struct standings *out) {
    struct standing *first = &out->rows[0];
    struct bytes key;
    struct rank_reply rank_reply;
    enum status status =
        entry_key_of(first->entry.member, (struct scope){query->arena, query->failure}, &key);
    if (status != OK)
        return status;
    struct ranked_entry at = {key, first->entry.points, first->entry.tie};
    status = standings_query_rank_of(query, &at, &rank_reply);
    if (status != OK)
        return status;
    struct ahead ahead = standings_query_ahead(query, &rank_reply);
    out->total = rank_reply.before + rank_reply.after + rank_reply.found;
    for (size_t i = 0; i < out->count; i++) {
        if (i > 0) {
            ahead.entries++;
            if (points_compare(&out->rows[i].entry.points, &out->rows[i - 1].entry.points) != 0) {
                ahead.better = ahead.entries;
                ahead.groups++;
            }
        }
        standings_query_set_rank(query, &ahead, out->total, &out->rows[i]);
    }
    return OK;
}

enum status standings_query_rows(const struct standings_query *query,
                                 const struct standings_request *request, struct standings *out) {
    uint32_t limit = request->limit < STANDINGS_MAX ? request->limit : STANDINGS_MAX;
    bool backward = request->cursor != NULL && request->backward;
    bool falling = standings_query_falls(query, backward);
    struct bounds bounds = bounds_of_scores(request);
    struct rank_window window = {.low = &bounds.low,
                                 .high = &bounds.high,
                                 .reverse = falling,
                                 .skip = request->from > 1 ? request->from - 1 : 0,
                                 .limit = limit + 1};
    struct ranked_list entries = {0};
    enum status status = OK;
    *out = (struct standings){0};
    if (standings_query_is_empty(query))
        return OK;
    if (request->cursor != NULL)
        status = bound_by_cursor(query, request->cursor, falling, &bounds);
    if (status == OK && !is_impossible(request))
        status = standings_index_list(query, &window, &entries);
    if (status != OK)
        return status;
    out->count = entries.count < limit ? entries.count : limit;
    read_rows(query, &entries, backward, out);
    status = out->count != 0 ? rank_rows(query, out) : standings_query_count(query, &out->total);
    bool beyond = entries.count > limit;
    bool passed = out->total != 0 && (window.skip != 0 || request->cursor != NULL);
    out->more = backward ? passed : beyond;
    out->before = backward ? beyond : passed;
    return status;
}

/* --- pages --- */

struct paging {
    struct standings_query query;
    const struct standings_request *request;
    struct standings *out;
};

static enum status page_once(void *context) {
    struct paging *paging = context;
    return standings_query_rows(&paging->query, paging->request, paging->out);
}

enum status standings_page(struct game *game, const struct standings_request *request,
                           struct scope in, struct standings *out) {
    struct paging paging = {{game, request->board, in.arena, in.failure}, request, out};
    enum status status = standings_query_retry(&paging.query, page_once, &paging);
    if (status == OK && request->detail == DETAIL_FULL)
        status = standings_query_details(&paging.query, out->rows, out->count);
    return status;
}

/* --- around a member --- */

struct surrounding {
    struct standings_query query;
    struct bytes key;
    uint32_t each;
    struct standings *out;
};

static enum status surround_once(void *context) {
    struct surrounding *around = context;
    const struct standings_query *query = &around->query;
    struct item key = game_key(query->arena, query->board->pk, around->key);
    struct rank_question question = {.keys = &key, .count = 1, .as_board = true};
    struct rank_reply rank_reply = {0};
    enum status status =
        standings_query_is_empty(query) ? OK : standings_index_ranks(query, &question, &rank_reply);
    if (status != OK)
        return status;
    if (!rank_reply.found)
        return failure_set(query->failure, query->arena, NOT_FOUND, "%.*s is not on board %.*s",
                           BYTES_ARG(around->key), BYTES_ARG(query->board->instance));
    uint64_t at = standings_query_ahead(query, &rank_reply).entries + 1;
    struct standings_request request = {.board = query->board,
                                        .from = at > around->each ? at - around->each : 1};
    request.limit = (uint32_t)(at - request.from + around->each + 1);
    return standings_query_rows(query, &request, around->out);
}

enum status standings_around(const struct standings_query *query, struct bytes member,
                             uint32_t each, struct standings *out) {
    struct surrounding around = {.query = *query,
                                 .each = each < STANDINGS_MAX / 2 ? each : STANDINGS_MAX / 2 - 1,
                                 .out = out};
    enum status status =
        entry_key_of(member, (struct scope){query->arena, query->failure}, &around.key);
    if (status == OK)
        status = standings_query_retry(query, surround_once, &around);
    return status == OK ? standings_query_details(query, out->rows, out->count) : status;
}

enum status standings_total(struct game *game, const struct board *board, struct scope in,
                            uint64_t *total) {
    struct standings_query query = {game, board, in.arena, in.failure};
    *total = 0;
    return standings_query_is_empty(&query) ? OK : standings_query_count(&query, total);
}
