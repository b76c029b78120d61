/* When a partition last changed. */
#include "table/local/local_int.h"

/* From the beginning of an item's key: table:u32 hash:u32 (keys.c). */
static size_t slot_of(struct bytes key) {
    uint64_t words[2] = {0, 0};
    for (unsigned i = 0; i < 8; i++)
        words[i / 4] = words[i / 4] << 8 | key.data[i];
    return (words[0] * 0x9e3779b9u + words[1]) % TOUCHED_SLOTS;
}

void touch_item(struct local *local, struct bytes key, uint64_t commit) {
    atomic_store_explicit(&local->touched.slots[slot_of(key)], commit, memory_order_relaxed);
}

void touch_tables(struct local *local, uint64_t commit) {
    atomic_store_explicit(&local->touched.tables, commit, memory_order_relaxed);
}

uint64_t local_touched(struct engine *engine, struct bytes name, const struct value *partition) {
    struct local *local = (struct local *)engine;
    struct buf key = {0};
    pthread_rwlock_rdlock(&local->moment);
    const struct table *table = local_table(local, name);
    uint64_t last = atomic_load_explicit(&local->touched.tables, memory_order_relaxed);
    if (table != NULL) {
        keys_put_partition(&key, table, partition);
        uint64_t at = atomic_load_explicit(&local->touched.slots[slot_of(buf_bytes(&key))],
                                           memory_order_relaxed);
        if (at > last)
            last = at;
    }
    pthread_rwlock_unlock(&local->moment);
    buf_release(&key);
    return last;
}
