/* Coming back after a failed write.
 *
 * A write that failed may be in the log or not; nobody was told that it happened, so either is
 * right, but what is in memory must agree with it. So the store is opened again and everything
 * derived from it is made anew, as at a start. Readers wait meanwhile: the store cannot be reopened
 * under a snapshot. Between the failure and this, and as long as the disk has no room, they read on
 * from the last good snapshot. */
#include "table/local/count_index.h"
#include "table/local/writer.h"

#include "base/clock.h"

#include <unistd.h>

enum { RETRY_US = 250 * 1000, SNAPSHOTS_WAIT_US = 2 * 1000 * 1000, NAP_US = 100 };

/* Waits until readers have dropped their snapshots; the caller holds state_lock, so there are no
 * new ones. If one holds on for too long, the next try may find it gone. */
static bool wait_for_snapshots(struct local *local) {
    int64_t until = clock_ticks_us() + SNAPSHOTS_WAIT_US;
    while (atomic_load(&local->snapshots) > 1 || atomic_load(&local->snapshot->refs) > 1) {
        if (clock_ticks_us() > until)
            return false;
        usleep(NAP_US);
    }
    return true;
}

static enum status rebuild(struct local *local, struct scope in) {
    struct map before = local->tables;
    struct streams streams_before = local->streams;
    local->tables = (struct map){0};
    local->streams = (struct streams){0};
    enum status status = catalogue_load(local, in);
    if (status == OK)
        status = local_build_all(local, in);
    struct map after = local->tables;
    struct streams streams_after = local->streams;
    /* On success the old tables go, else the new ones. */
    local->tables = status == OK ? before : after;
    local->streams = status == OK ? streams_before : streams_after;
    catalogue_clear(local);
    local->tables = status == OK ? after : before;
    local->streams = status == OK ? streams_after : streams_before;
    local_sum_memory(local);
    return status;
}

/* The caller holds state_lock and tables_lock for writing. */
static enum status reopen(struct local *local, struct scope in) {
    if (!wait_for_snapshots(local))
        return BUSY;
    snapshot_suspend(local);
    enum status status = store_reopen(local->store, in);
    snapshot_resume(local);
    partition_version_raise_all(local, local->snapshot->commit);
    cache_clear(local->cache);
    count_index_clear(local);
    /* Even a store that can only be read may now have what the failed write left in the log. */
    enum status rebuilt = rebuild(local, in);
    return status != OK ? status : rebuilt;
}

enum status writer_recover(struct local *local) {
    struct writer *writer = local->writer;
    if (clock_ticks_us() < writer->retry_at_us)
        return IO_FAILED;
    struct arena arena;
    struct failure failure;
    arena_init(&arena);
    enum status status = store_probe(local->store, (struct scope){&arena, &failure});
    if (status == OK) {
        backfill_stop_all(local);
        count_index_pause(local);
        pthread_rwlock_wrlock(&local->state_lock);
        pthread_rwlock_wrlock(&local->tables_lock);
        status = reopen(local, (struct scope){&arena, &failure});
        pthread_rwlock_unlock(&local->tables_lock);
        pthread_rwlock_unlock(&local->state_lock);
        count_index_resume(local);
        writer->stale = status != OK; /* at least, builds were stopped */
    }
    arena_release(&arena);
    writer->retry_at_us = clock_ticks_us() + RETRY_US;
    return status;
}
