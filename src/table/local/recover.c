/* Coming back after a failed write.
 *
 * A write that failed may be in the log or not; nobody was told that it happened, so either is
 * right, but what is in memory must agree with it. So the store is opened again and everything
 * derived from it is made anew, as at a start. Readers wait meanwhile: the store cannot be reopened
 * under a snapshot. Between the failure and this, and as long as the disk has no room, they read on
 * from the last good view. */
#include "table/local/counted.h"
#include "table/local/writer.h"

#include "base/clock.h"

#include <unistd.h>

enum { RETRY_US = 250 * 1000, VIEWS_WAIT_US = 2 * 1000 * 1000, NAP_US = 100 };

/* Waits until readers have dropped their views; the caller holds moment, so there are no new ones.
 * If one holds on for too long, the next try may find it gone. */
static bool wait_for_views(struct local *local) {
    int64_t until = clock_ticks_us() + VIEWS_WAIT_US;
    while (atomic_load(&local->views) > 1 || atomic_load(&local->view->refs) > 1) {
        if (clock_ticks_us() > until)
            return false;
        usleep(NAP_US);
    }
    return true;
}

static enum status rebuild(struct local *local, struct arena *arena, struct failure *failure) {
    struct map before = local->tables;
    struct streams streams_before = local->streams;
    local->tables = (struct map){0};
    local->streams = (struct streams){0};
    enum status status = catalogue_load(local, arena, failure);
    if (status == OK)
        status = local_build_all(local, arena, failure);
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

/* The caller holds moment for writing. */
static enum status reopen(struct local *local, struct arena *arena, struct failure *failure) {
    if (!wait_for_views(local))
        return BUSY;
    view_suspend(local);
    enum status status = store_reopen(local->store, arena, failure);
    view_resume(local);
    touch_tables(local, local->view->commit);
    cache_clear(local->cache);
    counted_clear(local);
    /* Even a store that can only be read may now have what the failed write left in the log. */
    enum status rebuilt = rebuild(local, arena, failure);
    return status != OK ? status : rebuilt;
}

enum status writer_recover(struct local *local) {
    struct writer *writer = local->writer;
    if (clock_ticks_us() < writer->retry_at_us)
        return IO_FAILED;
    struct arena arena;
    struct failure failure;
    arena_init(&arena);
    enum status status = store_probe(local->store, &arena, &failure);
    if (status == OK) {
        backfill_stop_all(local);
        counted_pause(local);
        pthread_rwlock_wrlock(&local->moment);
        status = reopen(local, &arena, &failure);
        pthread_rwlock_unlock(&local->moment);
        counted_resume(local);
        writer->stale = status != OK; /* at least, builds were stopped */
    }
    arena_release(&arena);
    writer->retry_at_us = clock_ticks_us() + RETRY_US;
    return status;
}
