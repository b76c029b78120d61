/* Partition filters: Bloom filters of the partitions that a table has items in.
 *
 * To learn from the store that there is no such item is the dearest of all look-ups: both write
 * buffers and the filters of several tables of the database are asked. Who writes a new item asks,
 * and so does who makes sure that a name is free. So the 32 bits of each partition's hash, which
 * the items' keys begin with (store_keys.c), are in a filter: a partition that is not there has no
 * items, whether committed or in a group on its way. A partition counts once, however many items
 * it has: a board of any size costs nothing.
 *
 * The filter is made where all keys are at hand: of a table that is made, and while the indexes of
 * one are built at a start. Other tables have none. Partitions whose items were all deleted stay in
 * it; one with too many partitions is given up, and excludes nothing from then on.
 *
 * The writer adds. Whoever asks holds `state_lock` or is the writer: all that is committed then is
 * there. */
#ifndef GT_TABLE_LOCAL_PARTITION_FILTER_H
#define GT_TABLE_LOCAL_PARTITION_FILTER_H

#include "base/bytes.h"
#include "table/local/bloom.h"

struct partition_filter {
    struct bloom partitions;
    atomic_bool complete; /* it has all partitions; else it excludes none */
};

/* The 32 bits of the hash of an item's partition: its key in the store is table:u32 hash:u32 ... */
static inline uint32_t partition_hash(struct bytes key) {
    return (uint32_t)bytes_word(key, 0);
}
/* What the filter is asked with. */
static inline uint64_t partition_filter_hash(uint32_t partition) {
    return (uint64_t)partition << 32 | partition;
}

/* Empties the filter of a table without items, or of one all of whose partitions will be added
 * before anybody else sees it: about so many. */
void partition_filter_begin(struct partition_filter *filter, uint64_t expected);
void partition_filter_release(struct partition_filter *filter);
/* Adds the partition of an item that will be written. The hash is partition_hash() of its key. */
void partition_filter_add(struct partition_filter *filter, uint32_t partition);
/* Whether it excludes any. */
static inline bool partition_filter_tells(const struct partition_filter *filter) {
    return atomic_load_explicit(&filter->complete, memory_order_relaxed);
}
/* Whether no item has the key, because none is in its partition. */
static inline bool partition_filter_excludes_hash(const struct partition_filter *filter,
                                                  uint64_t hash) {
    return partition_filter_tells(filter) && !bloom_has(&filter->partitions, hash);
}
static inline bool partition_filter_excludes(const struct partition_filter *filter,
                                             struct bytes key) {
    return partition_filter_excludes_hash(filter, partition_filter_hash(partition_hash(key)));
}
/* Prefetches what these will read. Returns the hash for the first of them. */
static inline uint64_t partition_filter_prefetch(const struct partition_filter *filter,
                                                 struct bytes key) {
    uint64_t hash = partition_filter_hash(partition_hash(key));
    bloom_prefetch(&filter->partitions, hash);
    return hash;
}

#endif
