/* Ranges of sorted sets.
 *
 * If the call has not written to the set, a range is one page of the index: scores and members are
 * edges, ranks and offsets are entries to skip. If it has, a range by score is turned into one of
 * ranks, which zset_txn_merged.c reads, and one by member is found by walking the set. */
#include "api/redis/zset_txn_int.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A range by member makes sense only if all members have one score; else Redis answers what a walk
 * from the first member finds. So do we, up to this size; a larger set is taken to have one score.
 */
enum { WALKED_MAX = 1000 };

/* ---- reading ranges ---- */

/* Redis is lenient here, and so are we: blanks may come first, an empty text is 0, and a number
 * that is too large is infinite. */
static bool read_score(struct bytes text, struct range_end *out) {
    char copy[256], *end;
    out->exclusive = text.size > 0 && text.data[0] == '(';
    if (out->exclusive)
        text = bytes_skip(text, 1);
    if (redis_read_double(text, &out->score))
        return true;
    if (text.size >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    out->score = strtod(copy, &end);
    return *end == '\0' && !isnan(out->score);
}

enum status range_read_scores(struct redis_call *call, size_t low, size_t high,
                              struct zset_range *range) {
    range->by = RANGE_SCORE;
    if (read_score(call->args[low], &range->low) && read_score(call->args[high], &range->high))
        return OK;
    return call_error(call, "ERR min or max is not a float");
}

static bool read_member(struct bytes text, struct range_end *out) {
    *out = (struct range_end){0};
    if (text.size == 0)
        return false;
    uint8_t c = text.data[0];
    if (c == '-' || c == '+') {
        out->infinite = c == '-' ? -1 : 1;
        return text.size == 1;
    }
    out->exclusive = c == '(';
    out->member = bytes_skip(text, 1);
    return c == '(' || c == '[';
}

enum status range_read_members(struct redis_call *call, size_t low, size_t high,
                               struct zset_range *range) {
    range->by = RANGE_MEMBER;
    if (read_member(call->args[low], &range->low) && read_member(call->args[high], &range->high))
        return OK;
    return call_error(call, "ERR min or max not valid string range item");
}

/* A range that is asked for, and the two edges in the index that it lies between once they are
 * known; an edge without points is the end of the set. */
struct range_query {
    struct redis_call *call;
    struct zset *zset;
    const struct zset_range *range;
    struct rank_edge low, high;
};

/* ---- edges ---- */

/* Where the entries of a score begin, or (`after`) end. Entries of one score may have any subscore,
 * so the edge has none; except for doubles that points.h encodes by a subscore. The smallest of
 * those are the neighbours of 0, and mark the ends of what reads as 0. */
static struct rank_edge score_edge(struct redis_call *call, double score, bool after) {
    if (score == 0)
        return (struct rank_edge){
            .points = points_of_double(call->arena, after ? DBL_TRUE_MIN : -DBL_TRUE_MIN),
            .after = !after};
    struct rank_edge edge = {.points = points_of_double(call->arena, score), .after = after};
    if (bytes_equal(edge.points.subscore, points_zero()))
        edge.points.subscore = (struct bytes){0};
    return edge;
}

static bool is_beyond(const struct range_end *low, const struct range_end *high) {
    return low->score > high->score ||
           (low->score == high->score && (low->exclusive || high->exclusive));
}

/* Sets the edges of a range by score; false if nothing can be between them. */
static bool set_score_edges(struct range_query *query) {
    const struct range_end *low = &query->range->low, *high = &query->range->high;
    if (is_beyond(low, high))
        return false;
    if (!isinf(low->score) || low->exclusive || low->score > 0)
        query->low = score_edge(query->call, low->score, low->exclusive);
    if (!isinf(high->score) || high->exclusive || high->score < 0)
        query->high = score_edge(query->call, high->score, !high->exclusive);
    return true;
}

/* The sort key that a range by member begins or ends with. Members that are no text are escaped in
 * their keys, which changes their order: sets that have such are walked instead (choose_way). */
static struct bytes key_edge(struct redis_call *call, struct bytes member) {
    struct failure failure;
    struct bytes key;
    if ((member.size == 0 || member.data[0] == 0) &&
        entry_key_of(member, (struct scope){call->arena, &failure}, &key) == OK)
        return key;
    return member;
}

/* Sets the edges of a range by member; all entries have the score and the tie of `any`. */
static void set_member_edges(struct range_query *query, const struct ranked_entry *any) {
    const struct zset_range *range = query->range;
    struct rank_edge *low = &query->low, *high = &query->high;
    *low = *high = (struct rank_edge){.points = any->points, .tie = any->tie};
    low->after = range->low.infinite > 0;
    high->after = range->high.infinite >= 0;
    if (range->low.infinite == 0) {
        low->key = key_edge(query->call, range->low.member);
        low->after = range->low.exclusive;
    } else
        low->points = range->low.infinite < 0 ? (struct points){0} : low->points;
    if (range->high.infinite == 0) {
        high->key = key_edge(query->call, range->high.member);
        high->after = !range->high.exclusive;
    } else
        high->points = range->high.infinite > 0 ? (struct points){0} : high->points;
    low->tie = low->key.size != 0 ? low->tie : (struct bytes){0};
    high->tie = high->key.size != 0 ? high->tie : (struct bytes){0};
}

/* ---- windows of ranks ---- */

static struct zset_entry entry_of(struct redis_call *call, const struct ranked_entry *ranked) {
    return (struct zset_entry){.member = entry_member_of(ranked->key, call->arena),
                               .score = ranked_score(ranked),
                               .found = true};
}

static void fill_entries(struct redis_call *call, const struct ranked_list *found, bool turn,
                         struct zset_entries *out) {
    size_t count = found->count;
    out->list = arena_alloc(call->arena, count * sizeof(*out->list));
    out->count = count;
    for (size_t i = 0; i < count; i++)
        out->list[i] = entry_of(call, &found->list[turn ? count - 1 - i : i]);
}

/* The table's entries in the window, in its order or (`turn`) the other way round. */
static enum status list_window(const struct range_query *query, const struct rank_window *window,
                               bool turn, struct zset_entries *out) {
    enum status status = stored_entries(query->call, query->zset, window, out);
    for (size_t i = 0; turn && status == OK && i < out->count / 2; i++) {
        struct zset_entry other = out->list[i];
        out->list[i] = out->list[out->count - 1 - i];
        out->list[out->count - 1 - i] = other;
    }
    return status;
}

/* The entries whose ranks are in the span, in rising order. */
static enum status ranked_in_span(struct redis_call *call, struct zset *zset, struct rank_span span,
                                  struct ranked_list *out) {
    if (zset_has_writes(zset))
        return merged_list(call, zset, span, out);
    struct rank_window window = {.skip = span.first, .limit = span.last - span.first + 1};
    return stored_list(call, zset, &window, out);
}

/* The entries whose ranks are in the span, in the order of the range. */
static enum status list_span(const struct range_query *query, struct rank_span span,
                             struct zset_entries *out) {
    struct ranked_list found;
    enum status status = ranked_in_span(query->call, query->zset, span, &found);
    if (status == OK)
        fill_entries(query->call, &found, query->range->reverse, out);
    return status;
}

/* ---- by rank ---- */

/* Turns the ends into ranks of a set of that size; false if nothing is between them. */
static bool fit_ranks(int64_t size, int64_t *start, int64_t *stop) {
    *start = *start < 0 ? (*start < -size ? 0 : *start + size) : *start;
    *stop = *stop < 0 ? *stop + size : *stop;
    if (*stop >= size)
        *stop = size - 1;
    return *start <= *stop;
}

static enum status list_by_rank(const struct range_query *query, struct zset_entries *out) {
    const struct zset_range *range = query->range;
    int64_t start = range->start, stop = range->stop;
    bool written = zset_has_writes(query->zset);
    /* A window can be counted from either end, so that the size is not asked for: one read of the
     * index, which is cheaper, and consistent. */
    if (!written && start >= 0 && (stop < 0 || start <= stop)) {
        struct rank_window window = {.reverse = range->reverse, .skip = (uint64_t)start};
        if (stop >= 0)
            window.limit = (uint64_t)(stop - start) + 1;
        else
            window.skip_end = (uint64_t) - (stop + 1);
        return list_window(query, &window, false, out);
    }
    if (!written && start < 0 && stop < 0 && start <= stop) {
        struct rank_window window = {.reverse = !range->reverse,
                                     .skip = (uint64_t) - (stop + 1),
                                     .limit = (uint64_t)(stop - start) + 1};
        return list_window(query, &window, true, out);
    }
    uint64_t size;
    enum status status = zset_size(query->call, query->zset, &size);
    if (status != OK || !fit_ranks((int64_t)size, &start, &stop))
        return status;
    struct rank_span span = {(uint64_t)start, (uint64_t)stop};
    if (range->reverse)
        span = (struct rank_span){size - 1 - span.last, size - 1 - span.first};
    return list_span(query, span, out);
}

/* ---- between edges ---- */

/* The ranks between the two edges: from *first up to, but not including, *end. */
static enum status ranks_between(const struct range_query *query, uint64_t *first, uint64_t *end) {
    enum status status = OK;
    *first = 0;
    if (query->low.points.score.size != 0)
        status = merged_before(query->call, query->zset, &query->low, first);
    if (status == OK)
        status = query->high.points.score.size != 0
                     ? merged_before(query->call, query->zset, &query->high, end)
                     : merged_size(query->call, query->zset, end);
    return status;
}

static enum status list_merged_edges(const struct range_query *query, struct zset_entries *out) {
    const struct zset_range *range = query->range;
    uint64_t first, end;
    enum status status = ranks_between(query, &first, &end);
    if (status != OK || first >= end)
        return status;
    uint64_t offset = range->counted ? (uint64_t)range->offset : 0, count = end - first;
    if (offset >= count)
        return OK;
    count -= offset;
    if (range->counted && range->limit >= 0 && (uint64_t)range->limit < count)
        count = (uint64_t)range->limit;
    if (count == 0)
        return OK;
    first = range->reverse ? end - offset - count : first + offset;
    return list_span(query, (struct rank_span){first, first + count - 1}, out);
}

static enum status list_edges(const struct range_query *query, struct zset_entries *out) {
    const struct zset_range *range = query->range;
    if (range->counted && (range->offset < 0 || range->limit == 0))
        return OK;
    if (zset_has_writes(query->zset))
        return list_merged_edges(query, out);
    struct rank_window window = {
        .low = &query->low, .high = &query->high, .reverse = range->reverse};
    if (range->counted) {
        window.skip = (uint64_t)range->offset;
        window.limit = range->limit > 0 ? (uint64_t)range->limit : 0;
    }
    return list_window(query, &window, false, out);
}

static enum status count_edges(const struct range_query *query, uint64_t *out) {
    uint64_t first;
    if (!zset_has_writes(query->zset)) {
        struct rank_window window = {.low = &query->low, .high = &query->high};
        return stored_count(query->call, query->zset, &window, out);
    }
    enum status status = ranks_between(query, &first, out);
    *out = first < *out ? *out - first : 0;
    return status;
}

/* ---- by member ---- */

static bool is_before(struct bytes member, const struct range_end *low) {
    int order = bytes_compare(member, low->member);
    return low->infinite != 0 ? low->infinite > 0 : low->exclusive ? order <= 0 : order < 0;
}

static bool is_behind(struct bytes member, const struct range_end *high) {
    int order = bytes_compare(member, high->member);
    return high->infinite != 0 ? high->infinite < 0 : high->exclusive ? order >= 0 : order > 0;
}

static int compare_members(const void *a, const void *b) {
    return bytes_compare(((const struct zset_entry *)a)->member,
                         ((const struct zset_entry *)b)->member);
}

/* Lists from the first member that is not before the range up to the first one behind it. */
static enum status walk_members(const struct range_query *query, bool sort,
                                struct zset_entries *out) {
    const struct zset_range *range = query->range;
    struct zset_entries all;
    enum status status = zset_all(query->call, query->zset, &all);
    if (status != OK)
        return status;
    if (sort)
        qsort(all.list, all.count, sizeof(*all.list), compare_members);
    size_t first = 0, end;
    while (first < all.count && is_before(all.list[first].member, &range->low))
        first++;
    for (end = first; end < all.count && !is_behind(all.list[end].member, &range->high);)
        end++;
    *out = (struct zset_entries){all.list + first, end - first};
    return OK;
}

/* Applies the range's direction, offset and limit. */
static void apply_limit(struct redis_call *call, const struct zset_range *range,
                        struct zset_entries *entries) {
    struct zset_entry *list = arena_alloc(call->arena, entries->count * sizeof(*list));
    for (size_t i = 0; i < entries->count; i++)
        list[i] = entries->list[range->reverse ? entries->count - 1 - i : i];
    entries->list = list;
    if (!range->counted)
        return;
    size_t offset = range->offset < 0 || (uint64_t)range->offset > entries->count
                        ? entries->count
                        : (size_t)range->offset;
    entries->list += offset;
    entries->count -= offset;
    if (range->limit >= 0 && (uint64_t)range->limit < entries->count)
        entries->count = (size_t)range->limit;
}

/* How a range by member is found: by edges in the index, or by walking over all members. */
struct member_way {
    bool none; /* the set is empty */
    bool walk; /* else the query's edges are set */
    bool sort; /* by name before the walk */
};

static enum status choose_way(struct range_query *query, struct member_way *out) {
    struct redis_call *call = query->call;
    struct zset *zset = query->zset;
    struct ranked_list first, last = {0};
    uint64_t size;
    *out = (struct member_way){.none = true};
    enum status status = zset_size(call, zset, &size);
    if (status != OK || size == 0)
        return status;
    if (zset_has_writes(zset)) {
        out->none = false;
        out->walk = true;
        return OK;
    }
    status = stored_list(call, zset, &(struct rank_window){.limit = 1}, &first);
    if (status == OK && first.count == 1)
        status = stored_list(call, zset, &(struct rank_window){.limit = 1, .reverse = true}, &last);
    if (status != OK || last.count != 1)
        return status;
    bool alike = points_compare(&first.list->points, &last.list->points) == 0 &&
                 bytes_equal(first.list->tie, last.list->tie);
    struct bytes member = entry_member_of(last.list->key, call->arena);
    bool text = bytes_equal(member, last.list->key) || member.size == 0 || member.data[0] == 0;
    out->none = false;
    out->walk = (!alike && size <= WALKED_MAX) || !text;
    out->sort = alike;
    set_member_edges(query, first.list);
    return OK;
}

static enum status list_by_member(struct range_query *query, struct zset_entries *out) {
    struct member_way way;
    enum status status = choose_way(query, &way);
    if (status != OK || way.none)
        return status;
    if (!way.walk)
        return list_edges(query, out);
    status = walk_members(query, way.sort, out);
    if (status == OK)
        apply_limit(query->call, query->range, out);
    return status;
}

static enum status count_by_member(struct range_query *query, uint64_t *out) {
    struct member_way way;
    struct zset_entries entries;
    enum status status = choose_way(query, &way);
    if (status != OK || way.none)
        return status;
    if (!way.walk)
        return count_edges(query, out);
    status = walk_members(query, way.sort, &entries);
    *out = status == OK ? entries.count : 0;
    return status;
}

/* ---- what commands ask for ---- */

enum status zset_list(struct redis_call *call, struct zset *zset, const struct zset_range *range,
                      struct zset_entries *out) {
    struct range_query query = {.call = call, .zset = zset, .range = range};
    *out = (struct zset_entries){0};
    switch (range->by) {
    case RANGE_RANK:
        return list_by_rank(&query, out);
    case RANGE_SCORE:
        return set_score_edges(&query) ? list_edges(&query, out) : OK;
    case RANGE_MEMBER:
        break;
    }
    return list_by_member(&query, out);
}

enum status zset_count(struct redis_call *call, struct zset *zset, const struct zset_range *range,
                       uint64_t *out) {
    struct range_query query = {.call = call, .zset = zset, .range = range};
    struct zset_entries entries = {0};
    enum status status;
    *out = 0;
    switch (range->by) {
    case RANGE_RANK:
        status = list_by_rank(&query, &entries);
        *out = status == OK ? entries.count : 0;
        return status;
    case RANGE_SCORE:
        return set_score_edges(&query) ? count_edges(&query, out) : OK;
    case RANGE_MEMBER:
        break;
    }
    return count_by_member(&query, out);
}

enum status zset_all(struct redis_call *call, struct zset *zset, struct zset_entries *out) {
    struct zset_range range = {.by = RANGE_RANK, .start = 0, .stop = -1};
    return zset_list(call, zset, &range, out);
}

enum status zset_at_rank(struct redis_call *call, struct zset *zset, uint64_t rank,
                         struct zset_entries *to) {
    struct ranked_list found;
    enum status status = ranked_in_span(call, zset, (struct rank_span){rank, rank}, &found);
    if (status == OK && found.count == 1)
        to->list[to->count++] = entry_of(call, found.list);
    return status;
}
