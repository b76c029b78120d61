/* From the write buffer into the tables.
 *
 * When the newest buffer is full it is frozen: an empty one takes its place, and a thread writes
 * what the frozen one holds into tables of the database, sorted, each key once however often it
 * changed, without the database's own log. Then it notes in the default family, which has nothing
 * else, up to which group of the log the tables are complete. Invariants:
 *   1. That note is written when all tables before it are on the disk. So after a crash the log is
 *      replayed from it, and what is replayed a second time changes nothing: writes are states.
 *   2. Readers see a key in the frozen buffer until the tables have it: views change after the
 * note.
 *   3. Groups before the note are on the disk before it is, whatever the sync setting: else a power
 *      cut could leave a log that ends before it.
 * One buffer is handed over at a time. If the next is twice as full as it should be by then,
 * writers wait; readers never do. */
#include "store/log_value.h"
#include "store/store_int.h"

#include "base/limits.h"
#include "base/thread.h"

#include <time.h>

enum {
    PACE_MAX_MS = 10,
    PACE_FULL = 32 * 1024, /* bytes of a write that waits as long as it can be */
    CROWDED = 3,           /* times the size */
    SPARE_SECONDS = 2,     /* without work, before the memory that buffers left goes */
};

/* --- the order of what is being written --- */

static bool wants_order(const struct write_buffer *buffer) {
    for (int i = 0; i < STORE_FAMILIES; i++)
        if (write_buffer_pending(buffer, (enum store_family)i) >= LIMIT_BUFFER_PENDING)
            return true;
    return false;
}

static void order_all(struct write_buffer *buffer) {
    for (int i = 0; i < STORE_FAMILIES; i++)
        write_buffer_order(buffer, (enum store_family)i);
}

/* In between, so that a handover does not leave it all to the next reader of a range. */
static void order_newest(struct store *store) {
    pthread_mutex_lock(&store->view_lock);
    struct write_buffer *buffer = write_buffer_hold(store->view->buffers[0]);
    pthread_mutex_unlock(&store->view_lock);
    if (wants_order(buffer))
        order_all(buffer);
    write_buffer_drop(buffer);
}

void handover_help(struct store *store) {
    order_newest(store);
    if (buffer_memory_wants(&store->buffer_memory))
        write_buffer_prepare(&store->buffer_memory);
}

/* --- one buffer --- */

static enum status handover_failed(struct store *store, const char *why) {
    store_break(store, why);
    return IO_FAILED;
}

/* What there is to hand over: held, and NULL if nothing. */
static struct write_buffer *frozen_hold(struct store *store, uint64_t *end) {
    pthread_mutex_lock(&store->view_lock);
    struct write_buffer *frozen = store->view == NULL ? NULL : store->view->buffers[1];
    if (frozen != NULL)
        write_buffer_hold(frozen);
    *end = store->frozen_end;
    pthread_mutex_unlock(&store->view_lock);
    return frozen;
}

/* The tables have it: readers no longer look at the buffer. Nothing is frozen meanwhile, since
 * there still is a frozen one. */
static void handover_ended(struct store *store, uint64_t end) {
    view_set(store, store->view->buffers[0], NULL);
    pthread_mutex_lock(&store->view_lock);
    store->table_end = end;
    pthread_cond_broadcast(&store->handover.done);
    pthread_mutex_unlock(&store->view_lock);
    if (store->log != NULL && !store->replaying)
        commit_log_release(store->log, end, store_log_wanted(store));
}

static enum status hand_over(struct store *store, struct write_buffer *frozen, uint64_t end) {
    struct store_faults *faults = store->settings.faults;
    char why[sizeof(store->why)];
    if (faults != NULL && store_fault(store, &faults->handover_in))
        return handover_failed(store, "a fault of the handover was asked for.");
    if (store->log != NULL && store->settings.sync != STORE_SYNC_COMMIT &&
        commit_log_sync(store->log) != OK)
        return handover_failed(store, "the log cannot be synced.");
    pthread_mutex_lock(&store->table_lock);
    char *error = tables_write(store, frozen, end);
    pthread_mutex_unlock(&store->table_lock);
    if (db_error(error, why, sizeof(why)) != OK)
        return handover_failed(store, why);
    handover_ended(store, end);
    return OK;
}

/* --- freezing --- */

static void wake_handover(struct store *store) {
    pthread_mutex_lock(&store->view_lock);
    pthread_cond_signal(&store->handover.wake);
    pthread_mutex_unlock(&store->view_lock);
}

/* Under write_lock. False: the one before it is still there, or there is nothing in it. */
static bool freeze(struct store *store) {
    pthread_mutex_lock(&store->view_lock);
    bool possible = store->view != NULL && store->view->buffers[1] == NULL &&
                    write_buffer_size(store->active) != 0;
    if (possible)
        store->frozen_end = store->group_end;
    pthread_mutex_unlock(&store->view_lock);
    if (!possible)
        return false;
    struct write_buffer *fresh = write_buffer_new(&store->buffer_memory);
    view_set(store, fresh, store->active);
    write_buffer_drop(fresh);
    store->active = fresh;
    wake_handover(store);
    return true;
}

enum { AHEAD = 8 }; /* how many writes ahead are prefetched */

/* Writes that were read of a batch and wait for their memory: a ring. */
struct lookahead {
    struct buffer_write writes[AHEAD];
    uint64_t hashes[AHEAD];
    size_t read, added;
};

/* Reads the next write of the batch, prefetches its slot, and the entry of one that came before. */
static enum status look_ahead(struct store *store, struct bytes *rest, struct lookahead *ahead) {
    size_t at = ahead->read % AHEAD;
    enum status status = batch_next(rest, &ahead->writes[at]);
    if (status != OK)
        return status;
    ahead->hashes[at] = buffer_hash(ahead->writes[at].family, ahead->writes[at].key);
    write_buffer_prefetch(store->active, ahead->hashes[at]);
    if (ahead->read >= AHEAD / 2)
        write_buffer_prefetch_entry(store->active,
                                    ahead->hashes[(ahead->read - AHEAD / 2) % AHEAD]);
    ahead->read++;
    return OK;
}

/* A batch, and where it stands in the log. */
struct logged_batch {
    struct bytes bytes;
    const struct log_group *group;
};

/* Of a value that stays in the log the buffer has a reference, as the tables will. */
static void refer_to_log(struct store *store, const struct logged_batch *batch,
                         struct buffer_write *write, uint8_t reference[LOG_VALUE_SIZE]) {
    struct log_value value = log_value_of(batch->group, batch->bytes, write->value);
    recent_values_add(&store->recent, &value.place, write->value);
    store_log_used(store, batch->group->segment);
    log_value_put(reference, &value);
    write->value = bytes_of(reference, LOG_VALUE_SIZE);
}

static void add_write(struct store *store, const struct logged_batch *batch,
                      const struct buffer_write *read, uint64_t hash) {
    uint8_t reference[LOG_VALUE_SIZE];
    struct buffer_write write = *read;
    if (write.kind == BUFFER_PUT_LOGGED && batch->group->segment != 0)
        refer_to_log(store, batch, &write, reference);
    if (write.kind == BUFFER_PUT_LOGGED)
        write.kind = BUFFER_PUT;
    write_buffer_add_hashed(store->active, &write, hash);
}

static enum status add_writes(struct store *store, const struct logged_batch *batch,
                              uint64_t *sequence) {
    struct lookahead ahead = {.read = 0};
    struct bytes rest = batch->bytes;
    enum status status = OK;
    while (status == OK || ahead.added < ahead.read) {
        while (status == OK && ahead.read < ahead.added + AHEAD)
            status = look_ahead(store, &rest, &ahead);
        if (ahead.added == ahead.read)
            break;
        size_t at = ahead.added++ % AHEAD;
        ahead.writes[at].sequence = ++*sequence;
        add_write(store, batch, &ahead.writes[at], ahead.hashes[at]);
    }
    return status == NOT_FOUND ? OK : status;
}

enum status handover_add(struct store *store, struct bytes batch, const struct log_group *group) {
    pthread_mutex_lock(&store->write_lock);
    uint64_t sequence = atomic_load_explicit(&store->sequence, memory_order_relaxed);
    enum status status = add_writes(store, &(struct logged_batch){batch, group}, &sequence);
    store->group_end = group->number + 1;
    atomic_store_explicit(&store->sequence, sequence, memory_order_release);
    pthread_mutex_unlock(&store->write_lock);
    return status;
}

enum status handover_all(struct store *store) {
    enum status status = OK;
    for (;;) {
        uint64_t end;
        struct write_buffer *frozen = frozen_hold(store, &end);
        if (frozen != NULL)
            status = hand_over(store, frozen, end);
        write_buffer_drop(frozen);
        if (status != OK)
            return status;
        pthread_mutex_lock(&store->write_lock);
        bool more = freeze(store);
        pthread_mutex_unlock(&store->write_lock);
        if (!more)
            return OK;
    }
}

/* --- waiting --- */

/* Until nothing is frozen; false: the store was broken, or is being closed or reopened. */
static bool wait_for_handover(struct store *store) {
    pthread_mutex_lock(&store->view_lock);
    while (!store_is_broken(store) && !store->handover.stop && store->view->buffers[1] != NULL)
        pthread_cond_wait(&store->handover.done, &store->view_lock);
    bool done = store->view->buffers[1] == NULL;
    pthread_mutex_unlock(&store->view_lock);
    return done;
}

enum status handover_wait(struct store *store) {
    for (bool all = false; !all;) {
        pthread_mutex_lock(&store->write_lock);
        freeze(store);
        all = write_buffer_size(store->active) == 0;
        pthread_mutex_unlock(&store->write_lock);
        if (!wait_for_handover(store))
            return IO_FAILED;
    }
    return OK;
}

/* Waits until the handover has ended, but no longer than that. */
static void wait_us(struct store *store, int64_t us) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + us * 1000;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    int late = 0;
    pthread_mutex_lock(&store->view_lock);
    while (late == 0 && !store_is_broken(store) && store->view->buffers[1] != NULL)
        late = pthread_cond_timedwait(&store->handover.done, &store->view_lock, &until);
    pthread_mutex_unlock(&store->view_lock);
}

/* How long a write waits while the newest buffer, of this size, is full: the longer, the fuller
 * that is and the more the write adds, so that who writes little does not pay for who writes much.
 */
static void slow_down(struct store *store, size_t size, size_t adds) {
    size_t most = store->settings.buffer_size;
    int64_t us = PACE_MAX_MS * 1000 / (CROWDED - 1);
    if (size >= CROWDED * most)
        wait_for_handover(store);
    else if (size > most)
        wait_us(store, (int64_t)((size - most) / 1024) * us / (int64_t)(most / 1024 + 1) *
                           (int64_t)(adds < PACE_FULL ? adds : PACE_FULL) / PACE_FULL);
}

bool store_is_behind(struct store *store) {
    pthread_mutex_lock(&store->write_lock);
    bool full =
        store->active != NULL && write_buffer_size(store->active) >= store->settings.buffer_size;
    pthread_mutex_lock(&store->view_lock);
    bool behind = full && !store_is_broken(store) && store->view->buffers[1] != NULL;
    pthread_mutex_unlock(&store->view_lock);
    pthread_mutex_unlock(&store->write_lock);
    return behind;
}

void handover_pace(struct store *store, size_t adds) {
    pthread_mutex_lock(&store->write_lock);
    size_t size = store->active == NULL ? 0 : write_buffer_size(store->active);
    bool full = size != 0 && (size >= store->settings.buffer_size ||
                              write_buffer_ranges(store->active) >= LIMIT_BUFFER_RANGES);
    bool frozen = full && freeze(store);
    bool wants = size != 0 && !full &&
                 (wants_order(store->active) || buffer_memory_wants(&store->buffer_memory));
    pthread_mutex_unlock(&store->write_lock);
    if (wants)
        wake_handover(store);
    if (full && !frozen)
        slow_down(store, size, adds);
}

/* --- the thread --- */

struct handover_work {
    struct write_buffer *order;  /* has keys that are to be put in order; held */
    struct write_buffer *frozen; /* is to be handed over; held */
    bool memory;                 /* some is to be prepared */
    uint64_t end;
    bool stop;
};

/* Under view_lock. */
static bool find_work(struct store *store, struct handover_work *work) {
    *work = (struct handover_work){.stop = store->handover.stop, .end = store->frozen_end};
    work->memory = !work->stop && buffer_memory_wants(&store->buffer_memory);
    if (!work->stop && store->view->buffers[1] != NULL && !store_is_broken(store))
        work->frozen = write_buffer_hold(store->view->buffers[1]);
    if (!work->stop && work->frozen == NULL && wants_order(store->view->buffers[0]))
        work->order = write_buffer_hold(store->view->buffers[0]);
    return work->stop || work->frozen != NULL || work->order != NULL || work->memory ||
           store->dead != NULL;
}

/* Under view_lock. What is kept of the memory of buffers goes when there is no work for a while. */
static void wait_for_work(struct store *store) {
    struct timespec until;
    if (buffer_memory_spare(&store->buffer_memory) == 0) {
        pthread_cond_wait(&store->handover.wake, &store->view_lock);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SPARE_SECONDS;
    if (pthread_cond_timedwait(&store->handover.wake, &store->view_lock, &until) != 0)
        buffer_memory_trim(&store->buffer_memory);
}

static void *handover_run(void *argument) {
    struct store *store = argument;
    struct handover_work work;
    db_meet_thread();
    do {
        pthread_mutex_lock(&store->view_lock);
        while (!find_work(store, &work))
            wait_for_work(store);
        pthread_mutex_unlock(&store->view_lock);
        if (work.memory)
            write_buffer_prepare(&store->buffer_memory);
        if (work.frozen != NULL && hand_over(store, work.frozen, work.end) == OK)
            joiner_count(store);
        if (work.order != NULL)
            order_all(work.order);
        write_buffer_drop(work.frozen);
        write_buffer_drop(work.order);
        view_free_dead(store);
    } while (!work.stop);
    return NULL;
}

void handover_init(struct store *store) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&store->handover.wake, &clock);
    pthread_cond_init(&store->handover.done, &clock);
    pthread_condattr_destroy(&clock);
}

void handover_release(struct store *store) {
    pthread_cond_destroy(&store->handover.wake);
    pthread_cond_destroy(&store->handover.done);
}

void handover_start(struct store *store) {
    struct handover *handover = &store->handover;
    pthread_mutex_lock(&store->view_lock);
    handover->stop = false;
    pthread_mutex_unlock(&store->view_lock);
    handover->running = thread_start(&handover->thread, handover_run, store) == 0;
    if (!handover->running)
        store_break(store, "cannot start the thread that writes tables");
}

void handover_stop(struct store *store) {
    struct handover *handover = &store->handover;
    if (!handover->running)
        return;
    pthread_mutex_lock(&store->view_lock);
    handover->stop = true;
    pthread_cond_signal(&handover->wake);
    pthread_cond_broadcast(&handover->done);
    pthread_mutex_unlock(&store->view_lock);
    pthread_join(handover->thread, NULL);
    handover->running = false;
}

uint64_t handover_memory(struct store *store) {
    pthread_mutex_lock(&store->view_lock);
    uint64_t size = 0;
    for (int i = 0; store->view != NULL && i < 2; i++)
        if (store->view->buffers[i] != NULL)
            size += write_buffer_size(store->view->buffers[i]);
    pthread_mutex_unlock(&store->view_lock);
    return size;
}
