/* Partition versions: the commit that last changed a partition (local_int.h). */
#include "table/local/local_int.h"

#include "base/mem.h"

/* Where a partition's version is kept is told as a number of 32 bits: the slot, and the mark by
 * which the slot tells its partitions apart. Two of one slot with the same mark are taken for one.
 */
enum { SLOT_BITS = 16, COMMIT_BITS = 48, SLOTS_SIZE = PARTITION_VERSION_SLOTS * 64 };
_Static_assert(PARTITION_VERSION_SLOTS == 1 << SLOT_BITS, "a slot's number has these bits");
_Static_assert(sizeof(struct version_slot) == 64, "a slot is a line of the processor's cache");
_Static_assert(SLOTS_SIZE % MEM_LARGE == 0, "memory comes in such pieces");

void partition_versions_init(struct local *local) {
    local->partition_versions.slots = mem_small_pages(SLOTS_SIZE);
}

void partition_versions_release(struct local *local) {
    mem_large(local->partition_versions.slots, SLOTS_SIZE, 0);
}

static uint64_t mark_of(uint32_t where) {
    return where >> SLOT_BITS;
}

static struct version_slot *slot_at(struct local *local, uint32_t where) {
    return &local->partition_versions.slots[where % PARTITION_VERSION_SLOTS];
}

static uint64_t commit_of(uint64_t listed) {
    return listed & ((UINT64_C(1) << COMMIT_BITS) - 1);
}

/* From the beginning of an item's key: table:u32 hash:u32 (store_keys.c). */
static uint32_t where_of(struct bytes key) {
    uint64_t word = bytes_word(key, 0);
    return (uint32_t)((word >> 32) * 0x9e3779b9u + (word & UINT32_MAX));
}

/* The place of the mark in the slot's list: its own, or that of the one that changed longest ago.
 */
static atomic_uint_fast64_t *place_of(struct version_slot *slot, uint64_t mark) {
    atomic_uint_fast64_t *oldest = &slot->listed[0];
    for (unsigned i = 0; i < PARTITIONS_LISTED; i++) {
        uint64_t at = atomic_load_explicit(&slot->listed[i], memory_order_relaxed);
        if (at != 0 && at >> COMMIT_BITS == mark)
            return &slot->listed[i];
        if (commit_of(at) < commit_of(atomic_load_explicit(oldest, memory_order_relaxed)))
            oldest = &slot->listed[i];
    }
    return oldest;
}

/* Who reads meanwhile finds a partition in the list, or, if it had to go, `unlisted` raised; and
 * who finds `last` raised finds both. */
void partition_version_raise(struct local *local, struct bytes key, uint64_t commit) {
    uint32_t where = where_of(key);
    struct version_slot *slot = slot_at(local, where);
    atomic_uint_fast64_t *place = place_of(slot, mark_of(where));
    uint64_t listed = mark_of(where) << COMMIT_BITS | commit;
    uint64_t before = atomic_load_explicit(place, memory_order_relaxed);
    if (before == listed)
        return; /* another item of the partition, in this commit */
    if (before >> COMMIT_BITS != mark_of(where) &&
        commit_of(before) > atomic_load_explicit(&slot->unlisted, memory_order_relaxed))
        atomic_store_explicit(&slot->unlisted, commit_of(before), memory_order_release);
    atomic_store_explicit(place, listed, memory_order_release);
    atomic_store_explicit(&slot->last, commit, memory_order_release);
}

void partition_version_raise_all(struct local *local, uint64_t commit) {
    atomic_store_explicit(&local->partition_versions.tables, commit, memory_order_release);
}

/* A table that is made or goes raises the number of all, so that a slot found before that says so,
 * whosever it is now. */
uint64_t local_partition_version_at(struct engine *engine, uint32_t where) {
    struct local *local = (struct local *)engine;
    uint64_t all = atomic_load_explicit(&local->partition_versions.tables, memory_order_acquire);
    uint64_t at = atomic_load_explicit(&slot_at(local, where)->last, memory_order_acquire);
    return at > all ? at : all;
}

bool local_partition_changed(struct engine *engine, uint32_t where, uint64_t version) {
    struct local *local = (struct local *)engine;
    struct version_slot *slot = slot_at(local, where);
    if (local_partition_version_at(engine, where) == version)
        return false;
    if (atomic_load_explicit(&local->partition_versions.tables, memory_order_acquire) > version)
        return true;
    for (unsigned i = 0; i < PARTITIONS_LISTED; i++) {
        uint64_t at = atomic_load_explicit(&slot->listed[i], memory_order_acquire);
        if (at != 0 && at >> COMMIT_BITS == mark_of(where))
            return commit_of(at) > version;
    }
    return atomic_load_explicit(&slot->unlisted, memory_order_acquire) > version;
}

uint64_t local_partition_version(struct engine *engine, struct bytes name,
                                 const struct value *partition, uint32_t *where) {
    struct local *local = (struct local *)engine;
    struct buf key = {0};
    *where = 0; /* of a table that is not there: when it comes, all rise */
    pthread_rwlock_rdlock(&local->state_lock);
    const struct table *table = local_table(local, name);
    if (table != NULL) {
        keys_put_partition(&key, table, partition);
        *where = where_of(buf_bytes(&key));
    }
    uint64_t last = local_partition_version_at(engine, *where);
    pthread_rwlock_unlock(&local->state_lock);
    buf_release(&key);
    return last;
}
