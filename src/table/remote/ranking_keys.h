/* Keys of the game table's index `ranks`: PK; score, subscore, tie; then the member, which is SK.
 *
 * In a partition, an entry's index key is the encoding (value/key.h) of score, subscore, tie and
 * SK, one after the other. Pure functions; results are in the arena. */
#ifndef GT_TABLE_REMOTE_RANKING_KEYS_H
#define GT_TABLE_REMOTE_RANKING_KEYS_H

#include "table/items.h"

extern const struct index_schema ranking_index;
/* Of the table: PK and SK, which the rules look at. */
extern const struct table_schema ranking_table;

/* PK and SK of a key or an item; empty if it has none. */
struct bytes ranking_partition_of(const struct item *item);
struct bytes ranking_member_of(const struct item *item);

/* The index key of an item; empty if it is not in the index. */
struct bytes ranking_key_of(const struct item *item, struct arena *arena);
/* What the index shows of the entry of that key: its five attributes. DAMAGED. */
enum status ranking_entry_of(struct bytes partition, struct bytes key, struct arena *arena,
                             struct item *out);

/* What a query asks for, as a range of index keys: from `low` to before `high`; empty: no bound. */
struct ranking_range {
    struct bytes partition, low, high;
    bool empty; /* nothing can be in it */
};
/* INVALID with the sentence of the rules. */
enum status ranking_range_of(const struct page_request *request, struct scope in,
                             struct ranking_range *out);
/* Narrows the range to what follows on (or, backward, is before) the entry of that key. */
void ranking_range_after(struct ranking_range *range, struct bytes key, bool backward,
                         struct arena *arena);

#endif
