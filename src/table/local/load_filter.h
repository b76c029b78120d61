/* Load filters: Bloom filters of the keys of partitions that are being loaded.
 *
 * Nearly every item of a load is new, and to learn that from the store is the dearest thing the
 * writer does for it. So when a large change writes to a partition that is still small, all keys of
 * the partition are added to a filter, and from then on every key that is written: a key that is
 * not in the filter is not in the store, nor in a group on its way there. The filter may have keys
 * that were deleted or never committed, but never too few. It takes 16 bits a key, and is freed
 * when no large change came for a while.
 *
 * A few partitions have one at a time. Used by the writer thread only. */
#ifndef GT_TABLE_LOCAL_LOAD_FILTER_H
#define GT_TABLE_LOCAL_LOAD_FILTER_H

#include "table/local/writer.h"

/* Called before a large change is evaluated: makes a filter for the partition of its last item, in
 * place of the one that was used least recently. */
void load_filter_begin(struct commit_group *group, const struct change *change);
/* Whether no item has that key. False: there may be one. The hash is local_hash() of the key. */
bool load_filter_excludes(struct load_filter *load_filter, struct bytes key, uint64_t hash);
/* Prefetches what load_filter_excludes() will read. */
void load_filter_prefetch(const struct load_filter *load_filter, uint64_t hash);
/* Adds the key of an item that will be written, if its partition has a filter. */
void load_filter_add(struct load_filter *load_filter, struct bytes key, uint64_t hash);
/* How many keys the filter of this key's partition has. For tests, while nothing is written. */
size_t load_filter_count(struct load_filter *load_filter, struct bytes key);
/* A writer_job: frees the filters of partitions that are no longer loaded. */
int64_t load_filter_run(struct local *local);

struct load_filter *load_filter_new(void);
void load_filter_free(struct load_filter *load_filter);

#endif
