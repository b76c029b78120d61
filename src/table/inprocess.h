/* What only an engine of one process can do, because its writer and its readers share memory.
 *
 *   ENGINE_PREPARE   a change's `prepare` (change.h) runs on the writer's thread
 *   ENGINE_VERSIONS  the versions of partitions below
 *   ENGINE_LOADING   tables that are `loading` (change.h): there by name only until they are whole
 *
 * An engine says which of these it can (engine.h); who needs one asks first. None of these calls
 * ever blocks.
 */
#ifndef GT_TABLE_INPROCESS_H
#define GT_TABLE_INPROCESS_H

#include "table/change.h"

/* A number that rises whenever something in the partition changes, and may rise without reason: who
 * finds it as it was knows that the partition is as it was. For caches and optimistic work: ask for
 * the number, then read; while the number is the same, what was read is what is there. It has risen
 * before the change's `done` is called. Good while the engine is open. 0 if nothing changed since
 * then. */
uint64_t engine_partition_version(struct engine *engine, struct bytes table,
                                  const struct value *partition);
/* The same for who asks again and again: *slot is filled in with where that number is kept, and
 * asking there costs a few nanoseconds and no lock. If the table has become another since, what is
 * told there is greater than before, too: one that is as it was says that all is. */
uint64_t engine_partition_version_slot(struct engine *engine, struct bytes table,
                                       const struct value *partition, uint32_t *slot);
uint64_t engine_partition_version_at(struct engine *engine, uint32_t slot);
/* Whether the partition whose number is kept there may have changed since the number was `version`.
 * Partitions share slots; this tells most of them apart, where comparing the numbers does not. */
bool engine_partition_changed(struct engine *engine, uint32_t slot, uint64_t version);
/* The version that a partition had, and where it is kept. */
struct partition_seen {
    uint32_t slot;
    uint64_t version;
};

/* Whether it is known that no item is in any of these partitions, without looking for one: a filter
 * in memory says so of most partitions that have none. What is being written may be there already
 * or not; but asked by the function of an action, what came before that action is. False: there may
 * be some, or the engine cannot tell. Asked about no partitions it is true if the engine can tell
 * of this table's at all. */
bool engine_partitions_absent(struct engine *engine, struct bytes table,
                              const struct value *partitions, size_t count);

/* Changes that one thread holds back, so that they come to the writer together and it is woken once
 * for them. Whoever does many things in turn and then waits, such as a loop, owns one (zero is
 * empty), names it in `batch` of each change it submits, and flushes it before it waits for
 * anything. An engine sends a batch that has grown by itself; one that has no use for batches
 * ignores it. A batch that is given changes of several engines in turn is sent whenever the engine
 * changes: have one for each engine where that matters. */
struct change_batch {
    struct engine *engine; /* whose changes these are; NULL: none yet */
    struct change *first, **last;
    unsigned count;
};
/* Sends what is held back. On the thread that owns the batch. */
void engine_batch_flush(struct change_batch *batch);

struct inprocess_ops {
    uint64_t (*partition_version)(struct engine *, struct bytes, const struct value *, uint32_t *);
    uint64_t (*partition_version_at)(struct engine *, uint32_t);
    bool (*partition_changed)(struct engine *, uint32_t, uint64_t); /* NULL: the numbers say */
    /* NULL: it cannot tell */
    bool (*partitions_absent)(struct engine *, struct bytes, const struct value *, size_t);
    void (*batch_flush)(struct engine *, struct change_batch *);
};

#endif
