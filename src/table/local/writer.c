/* The writer thread and its queue.
 *
 * Whoever submits prepares the change on its own thread and appends it under a short lock. The
 * writer takes all that waits, makes one group of it and commits it with one write: while the disk
 * is busy with one group the next one gathers, so a group is as large as the load asks for and a
 * lone writer waits for nobody. The writer is only signalled when it sleeps. */
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/mem.h"

#include <unistd.h>

enum { GATHER_FROM_US = 200, GATHER_MAX_US = 500, GATHER_NAP_US = 20 };

/* Actions of a change as the queue counts them; those it has yet to decide on wait for nobody. */
static size_t actions_of(const struct change *change) {
    return change->kind == CHANGE_WRITE && change->decide == NULL ? change->action_count : 0;
}

static void leave(struct writer *writer, const struct change *change) {
    atomic_fetch_sub_explicit(&writer->waiting, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&writer->waiting_actions, actions_of(change), memory_order_relaxed);
}

/* Counts the change in, whether or not there is room for it. */
static bool enter(struct writer *writer, const struct change *change) {
    size_t actions = actions_of(change);
    unsigned changes = atomic_fetch_add_explicit(&writer->waiting, 1, memory_order_relaxed);
    actions += atomic_fetch_add_explicit(&writer->waiting_actions, actions, memory_order_relaxed);
    return changes < LIMIT_WRITES_WAITING && actions <= LIMIT_ACTIONS_WAITING;
}

static void finish(struct writer *writer, struct change *change) {
    leave(writer, change);
    change_release(change);
    change->done(change);
}

/* --- any thread --- */

static enum status post(struct writer *writer, struct change *change) {
    enum status status = OK;
    change->next = NULL;
    pthread_mutex_lock(&writer->lock);
    bool wake = writer->sleeping;
    if (writer->stopping)
        status = STOPPING;
    else {
        *writer->last = change;
        writer->last = &change->next;
        writer->sleeping = false;
    }
    pthread_mutex_unlock(&writer->lock);
    if (wake && status == OK)
        pthread_cond_signal(&writer->wake);
    return status;
}

void writer_post_finished(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    writer->finished = true;
    writer->sleeping = false;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
}

static enum status prepare(struct local *local, struct change *change) {
    if (change->kind == CHANGE_WRITE && change->decide == NULL)
        return change_prepare(local, change);
    if (change->kind == CHANGE_CREATE_TABLE)
        return rules_check_table(&(struct rules_context){
            .schema = change->schema, .arena = change->arena, .failure = &change->failure});
    return OK;
}

/* Answers a change that never got in line. */
static void turn_away(struct change *change, enum status status, const char *text) {
    if (text != NULL)
        failure_set(&change->failure, change->arena, status, "%s", text);
    change->done(change);
}

void local_submit(struct engine *engine, struct change *change) {
    struct local *local = (struct local *)engine;
    struct writer *writer = local->writer;
    change->failure = (struct failure){0};
    change->repeated = false;
    if (change->decide != NULL)
        change->action_count = 0;
    if (change->kind == CHANGE_WRITE && change_check_count(change) != OK) {
        turn_away(change, INVALID, NULL);
        return;
    }
    if (!enter(writer, change)) {
        leave(writer, change);
        turn_away(change, BUSY, "Too many writes are waiting. Try again soon.");
        return;
    }
    enum status status = prepare(local, change);
    if (status == OK) {
        status = post(writer, change);
        if (status == OK)
            return; /* it may be done already: hands off */
        failure_set(&change->failure, change->arena, status, "The server is shutting down.");
    }
    finish(writer, change);
}

/* --- the thread --- */

/* Sleeps until it is woken or a job is due; false when one is. */
static bool sleep_on(struct writer *writer) {
    struct timespec until = {.tv_sec = writer->tick_at_us / 1000000,
                             .tv_nsec = writer->tick_at_us % 1000000 * 1000};
    writer->sleeping = true;
    return pthread_cond_timedwait(&writer->wake, &writer->lock, &until) == 0;
}

/* Moves all that waits to `taken`. When there is nothing to do it sleeps until a job is due, or,
 * if stopping, returns false. */
static bool take(struct writer *writer, bool *finished) {
    pthread_mutex_lock(&writer->lock);
    bool awake = true;
    while (awake && writer->taken == NULL && writer->first == NULL && !writer->finished &&
           !writer->stopping)
        awake = sleep_on(writer);
    writer->sleeping = false;
    if (writer->first != NULL) {
        *writer->taken_end = writer->first;
        writer->taken_end = writer->last;
        writer->first = NULL;
        writer->last = &writer->first;
    }
    *finished = writer->finished;
    writer->finished = false;
    bool more = writer->taken != NULL || *finished || !writer->stopping;
    pthread_mutex_unlock(&writer->lock);
    return more;
}

static struct change *pop(struct writer *writer) {
    struct change *change = writer->taken;
    writer->taken = change->next;
    if (writer->taken == NULL)
        writer->taken_end = &writer->taken;
    change->next = NULL;
    return change;
}

static void fail_taken(struct writer *writer, enum status status) {
    unsigned count = 0;
    while (writer->taken != NULL && count++ < LIMIT_GROUP_WRITES) {
        struct change *change = pop(writer);
        failure_set(&change->failure, change->arena, status,
                    "The disk refuses writes at present. Try again soon.");
        finish(writer, change);
    }
}

/* Those whose replies have just left are about to come again: while the disk is slow, a moment's
 * wait for as many as were in the last group makes one commit of what would be two. */
static void gather(struct writer *writer) {
    if (!writer->syncs || writer->last_count < 2 || writer->commit_us < GATHER_FROM_US)
        return;
    int64_t most = writer->commit_us / 4 < GATHER_MAX_US ? writer->commit_us / 4 : GATHER_MAX_US;
    int64_t until = clock_ticks_us() + most;
    while (atomic_load_explicit(&writer->waiting, memory_order_relaxed) < writer->last_count &&
           clock_ticks_us() < until)
        usleep(GATHER_NAP_US);
    bool finished;
    take(writer, &finished);
    if (finished)
        writer_post_finished(writer);
}

static void finish_group(struct writer *writer) {
    struct change *change = group_take(&writer->group);
    while (change != NULL) {
        struct change *next = change->next; /* done() may free it */
        finish(writer, change);
        change = next;
    }
}

/* Fills the group with what was taken, as far as it goes. */
static void fill_group(struct writer *writer) {
    struct group *group = &writer->group;
    while (writer->taken != NULL && writer->taken->kind == CHANGE_WRITE &&
           group_takes(group, writer->taken)) {
        struct change *change = pop(writer);
        group_add(group, change);
        if (change->decide != NULL && group_idle(group))
            finish_group(writer); /* it waits for nothing */
    }
}

static void run_group(struct writer *writer) {
    struct group *group = &writer->group;
    gather(writer);
    fill_group(writer);
    int64_t start = clock_ticks_us();
    group_commit(group);
    writer->commit_us = clock_ticks_us() - start;
    writer->last_count = group->change_count;
    finish_group(writer);
}

static void run(struct local *local) {
    struct writer *writer = local->writer;
    if ((store_is_broken(local->store) || writer->stale) && writer_recover(local) != OK) {
        fail_taken(writer, IO_FAILED);
        return;
    }
    if (writer->taken->kind == CHANGE_WRITE) {
        run_group(writer);
        return;
    }
    struct change *change = pop(writer);
    tables_execute(local, change);
    finish(writer, change);
}

static void *writer_main(void *argument) {
    struct local *local = argument;
    bool finished;
    while (take(local->writer, &finished)) {
        if (finished)
            backfill_finish(local);
        if (local->writer->taken != NULL)
            run(local);
        if (clock_ticks_us() >= local->writer->tick_at_us)
            writer_tick(local);
    }
    return NULL;
}

/* --- starting and stopping --- */

static void writer_free(struct local *local) {
    struct writer *writer = local->writer;
    group_release(&writer->group);
    pthread_cond_destroy(&writer->wake);
    pthread_mutex_destroy(&writer->lock);
    mem_free(writer);
    local->writer = NULL;
}

/* Waits by the clock that clock_ticks_us() reads. */
static void init_wake(struct writer *writer) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&writer->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

enum status writer_start(struct local *local, struct arena *arena, struct failure *failure) {
    struct writer *writer = mem_zalloc(sizeof(*writer));
    local->writer = writer;
    pthread_mutex_init(&writer->lock, NULL);
    init_wake(writer);
    writer->tick_at_us = clock_ticks_us();
    writer->last = &writer->first;
    writer->taken_end = &writer->taken;
    writer->syncs =
        !local->settings.store.memory && local->settings.store.sync == STORE_SYNC_COMMIT;
    group_init(&writer->group, local);
    if (pthread_create(&writer->thread, NULL, writer_main, local) == 0)
        return OK;
    writer_free(local);
    return failure_set(failure, arena, IO_FAILED, "The writer thread cannot be started.");
}

void writer_stop(struct local *local) {
    struct writer *writer = local->writer;
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    backfill_stop_all(local);
    writer_free(local);
}
