/* Pages of a board, in its order. */
#include "game/standings.h"

#include "game/standings_int.h"

/* --- bounds --- */

/* Narrows the range to what stands beyond an entry's place, on one side. */
static enum status bound_by_cursor(const struct look *look, const struct entry *cursor,
                                   bool backward, struct page_request *page) {
    bool falling = (look->board->rules.order == ORDER_HIGH) != backward;
    struct bound *bound = falling ? &page->high : &page->low;
    struct bytes key;
    enum status status = entry_key_of(cursor->member, look->arena, look->failure, &key);
    if (status != OK)
        return status;
    const struct value *there = item_get(&bound->at, GAME_SCORE);
    if (there != NULL) {
        int order = bytes_compare(cursor->points.score, there->bytes);
        if (falling ? order > 0 : order < 0)
            return OK; /* it stands outside: the bound there is narrower */
    }
    bound->at = look_key(look, &cursor->points, cursor->tie, key, 5);
    bound->after = !falling;
    return OK;
}

static void bound_by_scores(const struct look *look, const struct standings_request *request,
                            struct page_request *page) {
    struct points low = {.score = request->score_low}, high = {.score = request->score_high};
    if (low.score.size != 0)
        page->low = (struct bound){look_key(look, &low, low.score, low.score, 2), false};
    if (high.score.size != 0)
        page->high = (struct bound){look_key(look, &high, high.score, high.score, 2), true};
}

static bool is_impossible(const struct standings_request *request) {
    return request->score_low.size != 0 && request->score_high.size != 0 &&
           bytes_compare(request->score_low, request->score_high) > 0;
}

/* --- rows --- */

static enum status read_rows(const struct look *look, const struct page_reply *reply, size_t count,
                             bool backward, struct standings *out) {
    out->rows = ARENA_ARRAY(look->arena, struct standing, count + 1);
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        struct standing *row = &out->rows[backward ? count - 1 - i : i];
        if (entry_read(&reply->items[i], look->arena, &row->entry) != OK)
            return failure_set(look->failure, look->arena, DAMAGED, "An entry is damaged");
        row->found = true;
    }
    return OK;
}

/* Where the first row stands; from there on the rows tell it of each other. */
static enum status rank_rows(const struct look *look, struct standings *out) {
    struct standing *first = &out->rows[0];
    struct bytes key;
    struct place place;
    enum status status = entry_key_of(first->entry.member, look->arena, look->failure, &key);
    if (status != OK)
        return status;
    struct item at = look_key(look, &first->entry.points, first->entry.tie, key, 5);
    status = look_places(look, &at, 1, true, &place);
    if (status != OK)
        return status;
    struct ahead ahead = look_ahead(look, &place);
    out->total = place.before + place.after + place.found;
    for (size_t i = 0; i < out->count; i++) {
        if (i > 0) {
            ahead.entries++;
            if (points_compare(&out->rows[i].entry.points, &out->rows[i - 1].entry.points) != 0) {
                ahead.better = ahead.entries;
                ahead.groups++;
            }
        }
        look_rank(look, &ahead, out->total, &out->rows[i]);
    }
    return OK;
}

enum status look_rows(const struct look *look, const struct standings_request *request,
                      struct standings *out) {
    uint32_t limit = request->limit < STANDINGS_MAX ? request->limit : STANDINGS_MAX;
    struct page_request page = {.limit = limit + 1};
    struct page_reply reply = {0};
    enum status status = OK;
    *out = (struct standings){0};
    if (look_is_empty(look))
        return OK;
    bound_by_scores(look, request, &page);
    if (request->cursor != NULL)
        status = bound_by_cursor(look, request->cursor, request->backward, &page);
    page.skip = request->from > 1 ? request->from - 1 : 0;
    bool backward = request->cursor != NULL && request->backward;
    if (status == OK && !is_impossible(request))
        status = look_page(look, &page, backward, &reply);
    if (status != OK)
        return status;
    size_t count = reply.count < limit ? reply.count : limit;
    status = read_rows(look, &reply, count, backward, out);
    if (status == OK)
        status = count != 0 ? rank_rows(look, out) : look_count(look, &out->total);
    bool beyond = reply.count > limit;
    bool passed = out->total != 0 && (page.skip != 0 || request->cursor != NULL);
    out->more = backward ? passed : beyond;
    out->before = backward ? beyond : passed;
    return status;
}

/* --- pages --- */

struct paging {
    struct look look;
    const struct standings_request *request;
    struct standings *out;
};

static enum status page_once(void *context) {
    struct paging *paging = context;
    return look_rows(&paging->look, paging->request, paging->out);
}

enum status standings_page(struct game *game, const struct standings_request *request,
                           struct arena *arena, struct failure *failure, struct standings *out) {
    struct paging paging = {{game, request->board, arena, failure}, request, out};
    enum status status = look_steadily(&paging.look, page_once, &paging);
    if (status == OK && request->detail == DETAIL_FULL)
        status = look_details(&paging.look, out->rows, out->count);
    return status;
}

/* --- around a member --- */

struct surrounding {
    struct look look;
    struct bytes key;
    uint32_t each;
    struct standings *out;
};

static enum status surround_once(void *context) {
    struct surrounding *around = context;
    const struct look *look = &around->look;
    struct item key = game_key(look->arena, look->board->pk, around->key);
    struct place place = {0};
    enum status status = look_is_empty(look) ? OK : look_places(look, &key, 1, false, &place);
    if (status != OK)
        return status;
    if (!place.found)
        return failure_set(look->failure, look->arena, NOT_FOUND, "%.*s is not on board %.*s",
                           BYTES_ARG(around->key), BYTES_ARG(look->board->instance));
    uint64_t at = look_ahead(look, &place).entries + 1;
    struct standings_request request = {.board = look->board,
                                        .from = at > around->each ? at - around->each : 1};
    request.limit = (uint32_t)(at - request.from + around->each + 1);
    return look_rows(look, &request, around->out);
}

enum status standings_around(struct game *game, const struct board *board, struct bytes member,
                             uint32_t each, struct arena *arena, struct failure *failure,
                             struct standings *out) {
    struct surrounding around = {.look = {game, board, arena, failure},
                                 .each = each < STANDINGS_MAX / 2 ? each : STANDINGS_MAX / 2 - 1,
                                 .out = out};
    enum status status = entry_key_of(member, arena, failure, &around.key);
    if (status == OK)
        status = look_steadily(&around.look, surround_once, &around);
    return status == OK ? look_details(&around.look, out->rows, out->count) : status;
}

enum status standings_total(struct game *game, const struct board *board, struct arena *arena,
                            struct failure *failure, uint64_t *total) {
    struct look look = {game, board, arena, failure};
    *total = 0;
    return look_is_empty(&look) ? OK : look_count(&look, total);
}
