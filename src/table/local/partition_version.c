/* Partition versions: the commit that last changed a partition (local_int.h). */
#include "table/local/local_int.h"

/* From the beginning of an item's key: table:u32 hash:u32 (store_keys.c). */
static uint32_t slot_of(struct bytes key) {
    uint64_t word = bytes_word(key, 0);
    return (uint32_t)(((word >> 32) * 0x9e3779b9u + (word & UINT32_MAX)) % PARTITION_VERSION_SLOTS);
}

void partition_version_raise(struct local *local, struct bytes key, uint64_t commit) {
    atomic_store_explicit(&local->partition_versions.slots[slot_of(key)], commit,
                          memory_order_release);
}

void partition_version_raise_all(struct local *local, uint64_t commit) {
    atomic_store_explicit(&local->partition_versions.tables, commit, memory_order_release);
}

/* A table that is made or goes raises the number of all, so that a slot found before that says so,
 * whosever it is now. */
uint64_t local_partition_version_at(struct engine *engine, uint32_t slot) {
    struct partition_versions *partition_versions = &((struct local *)engine)->partition_versions;
    uint64_t last = atomic_load_explicit(&partition_versions->tables, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&partition_versions->slots[slot], memory_order_acquire);
    return at > last ? at : last;
}

uint64_t local_partition_version(struct engine *engine, struct bytes name,
                                 const struct value *partition, uint32_t *slot) {
    struct local *local = (struct local *)engine;
    struct buf key = {0};
    *slot = PARTITION_VERSION_SLOTS;
    pthread_rwlock_rdlock(&local->state_lock);
    const struct table *table = local_table(local, name);
    if (table != NULL) {
        keys_put_partition(&key, table, partition);
        *slot = slot_of(buf_bytes(&key));
    }
    uint64_t last = local_partition_version_at(engine, *slot);
    pthread_rwlock_unlock(&local->state_lock);
    buf_release(&key);
    return last;
}
