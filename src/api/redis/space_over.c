/* Sorted sets as the table has them, corrected by what the call has written: the old places of the
 * members it moved are left out, their new ones put in. */
#include "api/redis/space_int.h"

#include <stdlib.h>

enum status over_size(struct redis_call *call, struct zset *zset, uint64_t *out) {
    enum status status = table_count(call, zset, &(struct window){0}, out);
    *out += (uint64_t)zset->more;
    return status;
}

enum status over_before(struct redis_call *call, struct zset *zset, const struct edge *edge,
                        uint64_t *out) {
    struct window window = {.high = edge};
    enum status status = table_count(call, zset, &window, out);
    for (size_t i = 0; i < zset->count; i++) {
        const struct moved *moved = zset->moved[i];
        if (moved->had && edge_is_after(edge, moved->old, call->arena))
            --*out;
        if (moved->has && edge_is_after(edge, moved->place, call->arena))
            ++*out;
    }
    return status;
}

static int compare_moved(const void *a, const void *b) {
    return bytes_compare((*(struct moved *const *)a)->place, (*(struct moved *const *)b)->place);
}

/* Those that are there now, in order. */
static size_t sort_moved(struct redis_call *call, struct zset *zset, struct moved ***out) {
    size_t count = 0;
    *out = arena_alloc(call->arena, zset->count * sizeof(**out));
    for (size_t i = 0; i < zset->count; i++)
        if (zset->moved[i]->has)
            (*out)[count++] = zset->moved[i];
    qsort(*out, count, sizeof(**out), compare_moved);
    return count;
}

static struct ranked ranked_of_moved(const struct moved *moved) {
    return (struct ranked){.key = moved->key, .points = moved->points, .tie = moved->tie};
}

/* The members that were moved away do not count. */
static bool is_left(struct redis_call *call, const struct zset *zset, const struct ranked *entry) {
    struct moved *moved = zset_moved(zset, entry_member_of(entry->key, call->arena));
    return moved == NULL || !moved->had;
}

/* `table` are the entries from rank `from` on; *at becomes the rank of the first one after
 * correction, and *next the first of the moved ones that stand behind it. */
static void first_rank(struct zset *zset, struct bytes place, uint64_t from, struct moved **sorted,
                       size_t sorted_count, uint64_t *at, size_t *next) {
    *at = from;
    *next = 0;
    if (from == 0)
        return;
    for (size_t i = 0; i < zset->count; i++)
        if (zset->moved[i]->had && bytes_compare(zset->moved[i]->old, place) < 0)
            --*at;
    while (*next < sorted_count && bytes_compare(sorted[*next]->place, place) < 0)
        ++*next;
    *at += *next;
}

enum status over_list(struct redis_call *call, struct zset *zset, uint64_t first, uint64_t last,
                      struct ranked **out, size_t *count) {
    uint64_t from = first > zset->count ? first - zset->count : 0, at;
    struct window window = {.skip = from, .limit = last - from + 1 + zset->count};
    struct ranked *table;
    struct moved **sorted;
    size_t left, next, sorted_count = sort_moved(call, zset, &sorted);
    *count = 0;
    enum status status = table_list(call, zset, &window, &table, &left);
    if (status != OK || (left == 0 && from != 0))
        return status;
    struct bytes place = left != 0 ? ranked_place(&table[0], call->arena) : (struct bytes){0};
    first_rank(zset, place, from, sorted, sorted_count, &at, &next);
    *out = arena_alloc(call->arena, (left + sorted_count) * sizeof(**out));
    for (size_t i = 0; at <= last && (i < left || next < sorted_count);) {
        struct ranked entry;
        bool from_table = i < left;
        if (from_table && !is_left(call, zset, &table[i])) {
            i++;
            continue;
        }
        if (from_table && next < sorted_count)
            from_table =
                bytes_compare(ranked_place(&table[i], call->arena), sorted[next]->place) < 0;
        entry = from_table ? table[i++] : ranked_of_moved(sorted[next++]);
        if (at++ >= first)
            (*out)[(*count)++] = entry;
    }
    return OK;
}
