/* Versions of partitions: numbers in memory, raised by whoever hears of a change. */
#include "base/hash.h"
#include "table/remote/remote_int.h"

uint32_t remote_version_slot(struct bytes partition) {
    return (uint32_t)(hash_keyed(partition, 0) % REMOTE_VERSION_SLOTS);
}

void remote_version_raise(struct remote *remote, uint32_t slot) {
    atomic_fetch_add_explicit(&remote->versions[slot % REMOTE_VERSION_SLOTS], 1,
                              memory_order_acq_rel);
}

void remote_version_raise_all(struct remote *remote) {
    for (uint32_t i = 0; i < REMOTE_VERSION_SLOTS; i++)
        remote_version_raise(remote, i);
}

static uint64_t version_at(struct engine *engine, uint32_t slot) {
    return atomic_load_explicit(&remote_of(engine)->versions[slot % REMOTE_VERSION_SLOTS],
                                memory_order_acquire);
}

static uint64_t version_of(struct engine *engine, struct bytes table, const struct value *partition,
                           uint32_t *slot) {
    (void)table; /* only the game's are asked for */
    *slot = remote_version_slot(partition->bytes);
    return version_at(engine, *slot);
}

/* No change waits in a batch: each is carried out by who submits it. */
static void flush_nothing(struct engine *engine, struct change_batch *batch) {
    (void)engine;
    (void)batch;
}

const struct inprocess_ops remote_inprocess_ops = {.partition_version = version_of,
                                                   .partition_version_at = version_at,
                                                   .batch_flush = flush_nothing};
