/* Ranges of sorted sets.
 *
 * Without own writes a range is one page of the index: edges for scores and members, entries to
 * skip for ranks and offsets. With own writes every range becomes one of ranks first. */
#include "api/redis/space_int.h"

#include <math.h>
#include <stdlib.h>

/* Members ordered by another score than their names' have no range by name. What clients see then
 * is what a walk from the first would give; sets larger than this are taken to have one score. */
enum { WALKED_MAX = 1000 };

/* ---- reading ranges ---- */

/* As lenient as clients know it here: blanks before it, nothing at all for 0, and no number is too
 * large. */
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

/* ---- edges ---- */

/* A score as an edge. Only what is told by its subscore, or a plain board's zero, is more than a
 * score: elsewhere entries of one score may have any subscore. */
static struct edge score_edge(struct redis_call *call, const struct zset *zset, double score,
                              bool after) {
    struct edge edge = {.points = points_of_double(call->arena, score), .after = after};
    bool zero = bytes_equal(edge.points.subscore, points_zero());
    if (zero && !(score == 0 && zset->board->rules.plain))
        edge.points.subscore = (struct bytes){0};
    return edge;
}

static bool compare_end(const struct range_end *low, const struct range_end *high) {
    return low->score > high->score ||
           (low->score == high->score && (low->exclusive || high->exclusive));
}

/* The two edges of a range by score; false if nothing can be between them. */
static bool score_edges(struct redis_call *call, const struct zset *zset,
                        const struct zset_range *range, struct edge *low, struct edge *high) {
    *low = *high = (struct edge){0};
    if (compare_end(&range->low, &range->high))
        return false;
    if (!isinf(range->low.score) || range->low.exclusive || range->low.score > 0)
        *low = score_edge(call, zset, range->low.score, range->low.exclusive);
    if (!isinf(range->high.score) || range->high.exclusive || range->high.score < 0)
        *high = score_edge(call, zset, range->high.score, !range->high.exclusive);
    return true;
}

/* The sort key before which all members stand that are less. Bytes that are no text need not be
 * escaped for that: only where such members are is their order another. */
static struct bytes key_edge(struct redis_call *call, struct bytes member) {
    struct failure failure;
    struct bytes key;
    if ((member.size == 0 || member.data[0] == 0) &&
        entry_key_of(member, call->arena, &failure, &key) == OK)
        return key;
    return member;
}

static void member_edges(struct redis_call *call, const struct ranked *any,
                         const struct zset_range *range, struct edge *low, struct edge *high) {
    *low = *high = (struct edge){.points = any->points, .tie = any->tie};
    low->after = range->low.infinite > 0;
    high->after = range->high.infinite >= 0;
    if (range->low.infinite == 0) {
        low->key = key_edge(call, range->low.member);
        low->after = range->low.exclusive;
    } else
        low->points = range->low.infinite < 0 ? (struct points){0} : low->points;
    if (range->high.infinite == 0) {
        high->key = key_edge(call, range->high.member);
        high->after = !range->high.exclusive;
    } else
        high->points = range->high.infinite > 0 ? (struct points){0} : high->points;
    low->tie = low->key.size != 0 ? low->tie : (struct bytes){0};
    high->tie = high->key.size != 0 ? high->tie : (struct bytes){0};
}

/* ---- windows of ranks ---- */

static struct zset_entry entry_of(struct redis_call *call, const struct ranked *ranked) {
    return (struct zset_entry){.member = entry_member_of(ranked->key, call->arena),
                               .score = ranked_score(ranked),
                               .found = true};
}

static void fill_entries(struct redis_call *call, const struct ranked *list, size_t count,
                         bool reverse, struct zset_entries *out) {
    out->list = arena_alloc(call->arena, count * sizeof(*out->list));
    out->count = count;
    for (size_t i = 0; i < count; i++)
        out->list[i] = entry_of(call, &list[reverse ? count - 1 - i : i]);
}

/* Entries of the table in the window, as they come. */
static enum status list_window(struct redis_call *call, struct zset *zset,
                               const struct window *window, bool turn, struct zset_entries *out) {
    struct ranked *list = NULL;
    size_t count;
    enum status status = table_list(call, zset, window, &list, &count);
    if (status == OK)
        fill_entries(call, list, count, turn, out);
    return status;
}

/* Entries from one rank to another, in rising order of ranks; turned round if `reverse`. */
static enum status list_ranks(struct redis_call *call, struct zset *zset, uint64_t first,
                              uint64_t last, bool reverse, struct zset_entries *out) {
    struct ranked *list = NULL;
    size_t count;
    enum status status;
    if (zset_is_moved(zset))
        status = over_list(call, zset, first, last, &list, &count);
    else {
        struct window window = {.skip = first, .limit = last - first + 1};
        status = table_list(call, zset, &window, &list, &count);
    }
    if (status == OK)
        fill_entries(call, list, count, reverse, out);
    return status;
}

/* ---- by rank ---- */

/* The ends as ranks of a set of that size; false if nothing is between them. */
static bool fit_ranks(int64_t size, int64_t *start, int64_t *stop) {
    *start = *start < 0 ? (*start < -size ? 0 : *start + size) : *start;
    *stop = *stop < 0 ? *stop + size : *stop;
    if (*stop >= size)
        *stop = size - 1;
    return *start <= *stop;
}

static enum status list_by_rank(struct redis_call *call, struct zset *zset,
                                const struct zset_range *range, struct zset_entries *out) {
    int64_t start = range->start, stop = range->stop;
    /* Counted from the ends, one look is enough: of one moment, and cheaper. */
    if (!zset_is_moved(zset) && start >= 0 && (stop < 0 || start <= stop)) {
        struct window window = {.reverse = range->reverse, .skip = (uint64_t)start};
        if (stop >= 0)
            window.limit = (uint64_t)(stop - start) + 1;
        else
            window.skip_end = (uint64_t) - (stop + 1);
        return list_window(call, zset, &window, false, out);
    }
    if (!zset_is_moved(zset) && start < 0 && stop < 0 && start <= stop) {
        struct window window = {.reverse = !range->reverse,
                                .skip = (uint64_t) - (stop + 1),
                                .limit = (uint64_t)(stop - start) + 1};
        return list_window(call, zset, &window, true, out);
    }
    uint64_t size;
    enum status status = zset_size(call, zset, &size);
    if (status != OK || !fit_ranks((int64_t)size, &start, &stop))
        return status;
    uint64_t first = (uint64_t)start, last = (uint64_t)stop;
    if (range->reverse)
        return list_ranks(call, zset, size - 1 - last, size - 1 - first, true, out);
    return list_ranks(call, zset, first, last, false, out);
}

/* ---- between edges ---- */

/* The ranks between two edges: from *first up to, not with, *end. */
static enum status ranks_between(struct redis_call *call, struct zset *zset, const struct edge *low,
                                 const struct edge *high, uint64_t *first, uint64_t *end) {
    enum status status = OK;
    *first = 0;
    if (low->points.score.size != 0)
        status = over_before(call, zset, low, first);
    if (status == OK)
        status = high->points.score.size != 0 ? over_before(call, zset, high, end)
                                              : over_size(call, zset, end);
    return status;
}

static enum status list_over_edges(struct redis_call *call, struct zset *zset,
                                   const struct zset_range *range, const struct edge *low,
                                   const struct edge *high, struct zset_entries *out) {
    uint64_t first, end;
    enum status status = ranks_between(call, zset, low, high, &first, &end);
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
    if (range->reverse)
        return list_ranks(call, zset, end - offset - count, end - offset - 1, true, out);
    return list_ranks(call, zset, first + offset, first + offset + count - 1, false, out);
}

static enum status list_edges(struct redis_call *call, struct zset *zset,
                              const struct zset_range *range, const struct edge *low,
                              const struct edge *high, struct zset_entries *out) {
    if (range->counted && (range->offset < 0 || range->limit == 0))
        return OK;
    if (zset_is_moved(zset))
        return list_over_edges(call, zset, range, low, high, out);
    struct window window = {.low = low, .high = high, .reverse = range->reverse};
    if (range->counted) {
        window.skip = (uint64_t)range->offset;
        window.limit = range->limit > 0 ? (uint64_t)range->limit : 0;
    }
    return list_window(call, zset, &window, false, out);
}

static enum status count_edges(struct redis_call *call, struct zset *zset, const struct edge *low,
                               const struct edge *high, uint64_t *out) {
    uint64_t first;
    if (!zset_is_moved(zset)) {
        struct window window = {.low = low, .high = high};
        return table_count(call, zset, &window, out);
    }
    enum status status = ranks_between(call, zset, low, high, &first, out);
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

/* From the first member that is not before the range up to the first behind it. */
static enum status walk_members(struct redis_call *call, struct zset *zset, bool sort,
                                const struct zset_range *range, struct zset_entries *out) {
    struct zset_entries all;
    enum status status = zset_all(call, zset, &all);
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

/* The other end first, the offset, the limit. */
static void cut(struct redis_call *call, const struct zset_range *range,
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

/* How a range by member can be found: by edges, or by walking. */
struct member_way {
    bool none, walk, sort;
    struct edge low, high;
};

static enum status find_way(struct redis_call *call, struct zset *zset,
                            const struct zset_range *range, struct member_way *out) {
    struct ranked *first, *last;
    size_t count = 0;
    uint64_t size;
    *out = (struct member_way){.none = true};
    enum status status = zset_size(call, zset, &size);
    if (status != OK || size == 0)
        return status;
    if (zset_is_moved(zset)) {
        out->none = false;
        out->walk = true; /* of what is being written there are few */
        return OK;
    }
    status = table_list(call, zset, &(struct window){.limit = 1}, &first, &count);
    if (status == OK && count == 1)
        status =
            table_list(call, zset, &(struct window){.limit = 1, .reverse = true}, &last, &count);
    if (status != OK || count == 0)
        return status;
    bool alike =
        points_compare(&first->points, &last->points) == 0 && bytes_equal(first->tie, last->tie);
    struct bytes member = entry_member_of(last->key, call->arena);
    bool text = bytes_equal(member, last->key) || member.size == 0 || member.data[0] == 0;
    out->none = false;
    out->walk = (!alike && size <= WALKED_MAX) || !text;
    out->sort = alike;
    member_edges(call, first, range, &out->low, &out->high);
    return OK;
}

static enum status list_by_member(struct redis_call *call, struct zset *zset,
                                  const struct zset_range *range, struct zset_entries *out) {
    struct member_way way;
    enum status status = find_way(call, zset, range, &way);
    if (status != OK || way.none)
        return status;
    if (!way.walk)
        return list_edges(call, zset, range, &way.low, &way.high, out);
    status = walk_members(call, zset, way.sort, range, out);
    if (status == OK)
        cut(call, range, out);
    return status;
}

/* ---- what commands ask for ---- */

enum status zset_list(struct redis_call *call, struct zset *zset, const struct zset_range *range,
                      struct zset_entries *out) {
    struct edge low, high;
    *out = (struct zset_entries){0};
    switch (range->by) {
    case RANGE_RANK:
        return list_by_rank(call, zset, range, out);
    case RANGE_SCORE:
        if (!score_edges(call, zset, range, &low, &high))
            return OK;
        return list_edges(call, zset, range, &low, &high, out);
    case RANGE_MEMBER:
        break;
    }
    return list_by_member(call, zset, range, out);
}

enum status zset_count(struct redis_call *call, struct zset *zset, const struct zset_range *range,
                       uint64_t *out) {
    struct edge low, high;
    struct member_way way;
    struct zset_entries entries;
    enum status status;
    *out = 0;
    switch (range->by) {
    case RANGE_RANK:
        status = zset_list(call, zset, range, &entries);
        *out = status == OK ? entries.count : 0;
        return status;
    case RANGE_SCORE:
        if (!score_edges(call, zset, range, &low, &high))
            return OK;
        return count_edges(call, zset, &low, &high, out);
    case RANGE_MEMBER:
        break;
    }
    status = find_way(call, zset, range, &way);
    if (status != OK || way.none)
        return status;
    if (!way.walk)
        return count_edges(call, zset, &way.low, &way.high, out);
    status = walk_members(call, zset, way.sort, range, &entries);
    *out = status == OK ? entries.count : 0;
    return status;
}

enum status zset_all(struct redis_call *call, struct zset *zset, struct zset_entries *out) {
    struct zset_range range = {.by = RANGE_RANK, .start = 0, .stop = -1};
    return zset_list(call, zset, &range, out);
}

enum status zset_at_ranks(struct redis_call *call, struct zset *zset, const uint64_t *ranks,
                          size_t count, struct zset_entries *out) {
    out->list = arena_alloc(call->arena, count * sizeof(*out->list));
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct zset_entries one = {0};
        enum status status = list_ranks(call, zset, ranks[i], ranks[i], false, &one);
        if (status != OK)
            return status;
        if (one.count == 1)
            out->list[out->count++] = one.list[0];
    }
    return OK;
}
