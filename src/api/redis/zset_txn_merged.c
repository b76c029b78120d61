/* Sorted sets as the table has them, corrected by the call's writes: the old places of members that
 * it wrote to are left out, their new ones put in. */
#include "api/redis/zset_txn_int.h"

#include <stdlib.h>

enum status merged_size(struct redis_call *call, struct zset *zset, uint64_t *out) {
    enum status status = stored_count(call, zset, &(struct rank_window){0}, out);
    *out += (uint64_t)zset->size_delta;
    return status;
}

enum status merged_before(struct redis_call *call, struct zset *zset, const struct rank_edge *edge,
                          uint64_t *out) {
    struct rank_window window = {.high = edge};
    enum status status = call_spend(call, zset->count);
    if (status == OK)
        status = stored_count(call, zset, &window, out);
    if (status != OK)
        return status;
    for (size_t i = 0; i < zset->count; i++) {
        const struct zset_write *written = zset->written[i];
        if (written->had && edge_is_after(edge, written->old, call->arena))
            --*out;
        if (written->has && edge_is_after(edge, written->place, call->arena))
            ++*out;
    }
    return status;
}

static int compare_writes(const void *a, const void *b) {
    return bytes_compare((*(struct zset_write *const *)a)->place,
                         (*(struct zset_write *const *)b)->place);
}

/* A walk over the table's entries and the call's writes together, in the order of their places. */
struct merge {
    const struct zset *zset;
    struct ranked_list table;   /* the table's entries from a rank on */
    size_t table_at;            /* the next of them */
    struct zset_write **sorted; /* the writes whose member is there now, in order of their places */
    size_t sorted_count;
    size_t sorted_at; /* the next of them */
    uint64_t rank;    /* of the entry that comes next */
};

static void sort_writes(struct redis_call *call, struct merge *merge) {
    const struct zset *zset = merge->zset;
    merge->sorted = arena_alloc(call->arena, zset->count * sizeof(*merge->sorted));
    for (size_t i = 0; i < zset->count; i++)
        if (zset->written[i]->has)
            merge->sorted[merge->sorted_count++] = zset->written[i];
    qsort(merge->sorted, merge->sorted_count, sizeof(*merge->sorted), compare_writes);
}

/* Whether the table's entry still stands where the table has it: the call has not written to it. */
static bool is_left(struct redis_call *call, const struct zset *zset,
                    const struct ranked_entry *entry) {
    struct zset_write *written = zset_find_write(zset, entry_member_of(entry->key, call->arena));
    return written == NULL || !written->had;
}

/* The walk begins with the table's entry of rank `from`, which has this place: passes over the
 * writes that stand before it and corrects the rank by them. */
static void begin_merge(struct merge *merge, uint64_t from, struct bytes place) {
    const struct zset *zset = merge->zset;
    merge->rank = from;
    if (from == 0)
        return;
    for (size_t i = 0; i < zset->count; i++)
        if (zset->written[i]->had && bytes_compare(zset->written[i]->old, place) < 0)
            merge->rank--;
    while (merge->sorted_at < merge->sorted_count &&
           bytes_compare(merge->sorted[merge->sorted_at]->place, place) < 0)
        merge->sorted_at++;
    merge->rank += merge->sorted_at;
}

/* The entry that comes next; false at the end. */
static bool next_merged(struct redis_call *call, struct merge *merge, struct ranked_entry *out) {
    const struct ranked_list *table = &merge->table;
    while (merge->table_at < table->count &&
           !is_left(call, merge->zset, &table->list[merge->table_at]))
        merge->table_at++;
    bool stored = merge->table_at < table->count, written = merge->sorted_at < merge->sorted_count;
    if (!stored && !written)
        return false;
    if (stored && written)
        stored = bytes_compare(ranked_place(&table->list[merge->table_at], call->arena),
                               merge->sorted[merge->sorted_at]->place) < 0;
    *out = stored ? table->list[merge->table_at++]
                  : ranked_of_write(merge->sorted[merge->sorted_at++]);
    return true;
}

enum status merged_list(struct redis_call *call, struct zset *zset, struct rank_span span,
                        struct ranked_list *out) {
    uint64_t from = span.first > zset->count ? span.first - zset->count : 0;
    struct rank_window window = {.skip = from, .limit = span.last - from + 1 + zset->count};
    struct merge merge = {.zset = zset};
    struct ranked_entry entry;
    *out = (struct ranked_list){0};
    enum status status = stored_list(call, zset, &window, &merge.table);
    if (status != OK || (merge.table.count == 0 && from != 0))
        return status;
    sort_writes(call, &merge);
    begin_merge(&merge, from,
                from != 0 ? ranked_place(&merge.table.list[0], call->arena) : (struct bytes){0});
    out->list =
        arena_alloc(call->arena, (merge.table.count + merge.sorted_count) * sizeof(*out->list));
    while (merge.rank <= span.last && next_merged(call, &merge, &entry))
        if (merge.rank++ >= span.first)
            out->list[out->count++] = entry;
    return OK;
}
