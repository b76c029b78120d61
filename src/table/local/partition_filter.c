#include "table/local/partition_filter.h"

void partition_filter_begin(struct partition_filter *filter, uint64_t expected) {
    bloom_release(&filter->partitions);
    bloom_reserve(&filter->partitions,
                  expected < BLOOM_KEYS_MAX ? (size_t)expected : BLOOM_KEYS_MAX);
    atomic_store_explicit(&filter->complete, true, memory_order_relaxed);
}

void partition_filter_release(struct partition_filter *filter) {
    bloom_release(&filter->partitions);
}

void partition_filter_add(struct partition_filter *filter, uint32_t partition) {
    if (atomic_load_explicit(&filter->complete, memory_order_relaxed) &&
        !bloom_add(&filter->partitions, partition_filter_hash(partition)))
        atomic_store_explicit(&filter->complete, false, memory_order_relaxed);
}
