/* When a partition last changed. */
#include "table/local/local_int.h"

/* From the beginning of an item's key: table:u32 hash:u32 (keys.c). */
static uint32_t slot_of(struct bytes key) {
    uint64_t word = bytes_word(key, 0);
    return (uint32_t)(((word >> 32) * 0x9e3779b9u + (word & UINT32_MAX)) % TOUCHED_SLOTS);
}

void touch_item(struct local *local, struct bytes key, uint64_t commit) {
    atomic_store_explicit(&local->touched.slots[slot_of(key)], commit, memory_order_release);
}

void touch_tables(struct local *local, uint64_t commit) {
    atomic_store_explicit(&local->touched.tables, commit, memory_order_release);
}

/* A table that is made or goes raises the number of all, so that a slot found before that says so,
 * whosever it is now. */
uint64_t local_touched_at(struct engine *engine, uint32_t where) {
    struct touched *touched = &((struct local *)engine)->touched;
    uint64_t last = atomic_load_explicit(&touched->tables, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&touched->slots[where], memory_order_acquire);
    return at > last ? at : last;
}

uint64_t local_touched(struct engine *engine, struct bytes name, const struct value *partition,
                       uint32_t *where) {
    struct local *local = (struct local *)engine;
    struct buf key = {0};
    *where = TOUCHED_SLOTS;
    pthread_rwlock_rdlock(&local->moment);
    const struct table *table = local_table(local, name);
    if (table != NULL) {
        keys_put_partition(&key, table, partition);
        *where = slot_of(buf_bytes(&key));
    }
    uint64_t last = local_touched_at(engine, *where);
    pthread_rwlock_unlock(&local->moment);
    buf_release(&key);
    return last;
}
