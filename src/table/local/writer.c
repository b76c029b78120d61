/* The writer thread and its queue.
 *
 * Whoever submits prepares the change on its own thread and appends it under a short lock. The
 * writer takes what waits and fills a group with it; as soon as no other group is being committed,
 * it hands it over. So a group is as large as the load asks for, and a lone writer waits for
 * nobody. The writer is only signalled when it sleeps, and while the committer is busy only for
 * every few. */
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "table/local/absent.h"

enum {
    WAKE_EACH = 16,    /* changes that the writer is woken for while a commit is under way */
    APART_FROM = 128,  /* changes that are worth a second thread */
    TOGETHER_MAX = 32, /* changes that a thread keeps back at most */
    AHEAD = 8,         /* changes that the memory is asked for before they are decided */
};

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

void writer_finish(struct writer *writer, struct change *change) {
    leave(writer, change);
    change_release(change);
    change->done(change);
}

/* --- any thread --- */

/* Changes on their way to the queue, in order. */
struct parcel {
    struct change *first, **last;
    unsigned count;
};

/* What this thread has kept back (engine_gather). */
static _Thread_local struct parcel kept;

static void parcel_add(struct parcel *parcel, struct change *change) {
    if (parcel->count++ == 0)
        parcel->last = &parcel->first;
    change->next = NULL;
    *parcel->last = change;
    parcel->last = &change->next;
}

static bool post(struct writer *writer, const struct parcel *parcel) {
    bool wake = false;
    pthread_mutex_lock(&writer->lock);
    bool taken = !writer->stopping;
    if (taken) {
        *writer->last = parcel->first;
        writer->last = parcel->last;
        writer->queued += parcel->count;
        wake = writer->wake_at != 0 && writer->queued >= writer->wake_at;
        if (wake)
            writer->wake_at = 0;
    }
    pthread_mutex_unlock(&writer->lock);
    if (wake)
        pthread_cond_signal(&writer->wake);
    return taken;
}

static void hand_over(struct writer *writer, struct parcel *parcel) {
    struct parcel sent = *parcel;
    *parcel = (struct parcel){0};
    if (sent.count == 0 || post(writer, &sent))
        return; /* they may be done already: hands off */
    for (struct change *change = sent.first, *next; change != NULL; change = next) {
        next = change->next;
        failure_set(&change->failure, change->arena, STOPPING, "The server is shutting down.");
        writer_finish(writer, change);
    }
}

void local_hand_over(struct engine *engine) {
    hand_over(((struct local *)engine)->writer, &kept);
}

void writer_post_finished(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    writer->finished = true;
    writer->wake_at = 0;
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
    if (prepare(local, change) != OK) {
        writer_finish(writer, change);
        return;
    }
    if (!engine_keeps(engine)) {
        struct parcel alone = {0};
        parcel_add(&alone, change);
        hand_over(writer, &alone);
        return;
    }
    parcel_add(&kept, change);
    if (kept.count >= TOGETHER_MAX)
        hand_over(writer, &kept);
}

/* --- the queue's other end --- */

/* Sleeps until it is woken or a job is due; false when one is. */
static bool sleep_on(struct writer *writer, size_t wake_at) {
    struct timespec until = {.tv_sec = writer->tick_at_us / 1000000,
                             .tv_nsec = writer->tick_at_us % 1000000 * 1000};
    writer->wake_at = wake_at;
    return pthread_cond_timedwait(&writer->wake, &writer->lock, &until) == 0;
}

/* Whether what is at hand has to wait until the commit that is under way is over. */
static bool is_blocked(const struct writer *writer) {
    return writer->committing != NULL && writer->taken != NULL;
}

/* Moves all that waits to `taken`. When there is nothing to do it sleeps until there is, or until a
 * job is due; if stopping, and all is done, it returns false. */
static bool take(struct writer *writer, bool *finished) {
    pthread_mutex_lock(&writer->lock);
    bool busy = writer->committing != NULL;
    size_t enough = is_blocked(writer) ? SIZE_MAX : busy ? WAKE_EACH : 1;
    bool awake = writer->taken == NULL || busy;
    while (awake && writer->queued < enough && !writer->finished && writer->commit != COMMIT_DONE &&
           !(writer->stopping && !busy))
        awake = sleep_on(writer, enough);
    writer->wake_at = 0;
    if (writer->first != NULL) {
        *writer->taken_end = writer->first;
        writer->taken_end = writer->last;
        writer->first = NULL;
        writer->last = &writer->first;
        writer->queued = 0;
    }
    *finished = writer->finished;
    writer->finished = false;
    bool more = writer->taken != NULL || *finished || busy || !writer->stopping;
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

/* --- groups --- */

static void finish_group(struct writer *writer, struct group *group) {
    struct change *change = group_take(group);
    while (change != NULL) {
        struct change *next = change->next; /* done() may free it */
        writer_finish(writer, change);
        change = next;
    }
}

/* Takes back the group that was committed. What followed on one that failed fails, too. */
static void settle(struct writer *writer) {
    struct group *group = writer->committing, *next = writer->filling;
    bool failed = group->failure.status != OK;
    writer->committing = NULL;
    next->below = NULL;
    if (failed)
        group_fail(next, &group->failure);
    group_settle(group);
    if (failed) {
        group_clear(next);
        finish_group(writer, next);
    }
}

/* If a commit is under way, and over or (`wait`) when it is. */
static void look_after_commit(struct writer *writer, bool wait) {
    if (writer->committing == NULL)
        return;
    pthread_mutex_lock(&writer->lock);
    while (wait && writer->commit != COMMIT_DONE) {
        writer->wake_at = SIZE_MAX;
        pthread_cond_wait(&writer->wake, &writer->lock);
    }
    writer->wake_at = 0;
    bool over = writer->commit == COMMIT_DONE;
    if (over)
        writer->commit = COMMIT_NONE;
    pthread_mutex_unlock(&writer->lock);
    if (over)
        settle(writer);
}

/* A few are sooner committed than handed over. */
static bool commits_itself(const struct group *group) {
    unsigned from = group->local->settings.apart_from;
    if (from == 0)
        from = APART_FROM;
    return group_idle(group) || (group->change_count < from && group->action_count < from);
}

/* Nothing is being committed. */
static void commit(struct writer *writer) {
    struct group *group = writer->filling;
    bool itself = commits_itself(group);
    writer->last_count = group->change_count;
    if (itself) {
        group_commit(group);
        group_settle(group);
        finish_group(writer, group);
        return;
    }
    writer->filling = &writer->groups[1 - group->number];
    group_follow(group, writer->filling);
    writer->committing = group;
    pthread_mutex_lock(&writer->lock);
    writer->commit = COMMIT_HANDED;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
}

/* Until nothing is being filled or committed. */
static void drain(struct writer *writer) {
    look_after_commit(writer, true);
    if (writer->filling->change_count != 0) {
        commit(writer);
        look_after_commit(writer, true);
    }
}

/* --- the thread --- */

static void fail_taken(struct writer *writer, enum status status) {
    unsigned count = 0;
    while (writer->taken != NULL && count++ < LIMIT_GROUP_WRITES) {
        struct change *change = pop(writer);
        failure_set(&change->failure, change->arena, status,
                    "The disk refuses writes at present. Try again soon.");
        writer_finish(writer, change);
    }
}

static bool is_plain(const struct change *change) {
    return change->kind == CHANGE_WRITE && change->decide == NULL;
}

static struct change *ahead_of(struct change *change, unsigned count) {
    while (change != NULL && count-- > 0)
        change = change->next;
    return change;
}

/* Those further down: their first action is usually their only one. */
static void ask_ahead(struct local *local, struct change **far, struct change **near) {
    if (*far != NULL && is_plain(*far) && (*far)->action_count != 0)
        action_soon(local, &(*far)->actions[0]);
    if (*near != NULL && is_plain(*near) && (*near)->action_count != 0)
        action_sooner(local, &(*near)->actions[0]);
    *far = ahead_of(*far, 1);
    *near = ahead_of(*near, 1);
}

/* Fills the group with what was taken, as far as it goes. */
static void fill(struct local *local) {
    struct writer *writer = local->writer;
    struct change *far = ahead_of(writer->taken, AHEAD);
    struct change *near = ahead_of(writer->taken, AHEAD / 2);
    while (writer->taken != NULL && is_plain(writer->taken) &&
           group_takes(writer->filling, writer->taken)) {
        ask_ahead(local, &far, &near);
        group_add(writer->filling, pop(writer));
    }
}

/* What cannot go with others. Nothing else is under way. */
static void run_alone(struct local *local, struct change *change) {
    struct writer *writer = local->writer;
    if (change->kind != CHANGE_WRITE) {
        tables_execute(local, change);
        writer_finish(writer, change);
        return;
    }
    group_add(writer->filling, change);
    if (group_idle(writer->filling))
        finish_group(writer, writer->filling); /* it waits for nothing */
}

/* Does what can be done with what was taken; what is left has to wait for the committer. */
static void run(struct local *local) {
    struct writer *writer = local->writer;
    while (writer->taken != NULL || writer->filling->change_count != 0) {
        bool empty = writer->filling->change_count == 0;
        if (empty && writer->committing == NULL &&
            (store_is_broken(local->store) || writer->stale) && writer_recover(local) != OK) {
            fail_taken(writer, IO_FAILED);
            return;
        }
        fill(local);
        if (writer->filling->change_count != 0) {
            if (writer->committing != NULL)
                return;
            commit(writer);
        } else if (writer->taken != NULL && !is_plain(writer->taken)) {
            look_after_commit(writer, true);
            run_alone(local, pop(writer));
        }
    }
}

static void *writer_main(void *argument) {
    pthread_setname_np(pthread_self(), "writer");
    struct local *local = argument;
    struct writer *writer = local->writer;
    bool finished;
    while (take(writer, &finished)) {
        look_after_commit(writer, false);
        if (finished) {
            drain(writer);
            backfill_finish(local);
        }
        run(local);
        if (clock_ticks_us() >= writer->tick_at_us) {
            drain(writer);
            writer_tick(local);
        }
    }
    return NULL;
}

/* --- starting and stopping --- */

static void writer_free(struct local *local) {
    struct writer *writer = local->writer;
    group_release(&writer->groups[0]);
    group_release(&writer->groups[1]);
    absent_free(writer->absent);
    pthread_cond_destroy(&writer->wake);
    pthread_cond_destroy(&writer->work);
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

static struct writer *writer_new(struct local *local) {
    struct writer *writer = mem_zalloc(sizeof(*writer));
    pthread_mutex_init(&writer->lock, NULL);
    init_wake(writer);
    pthread_cond_init(&writer->work, NULL);
    writer->tick_at_us = clock_ticks_us();
    writer->last = &writer->first;
    writer->taken_end = &writer->taken;
    writer->absent = absent_new();
    writer->syncs =
        !local->settings.store.memory && local->settings.store.sync == STORE_SYNC_COMMIT;
    for (unsigned i = 0; i < 2; i++)
        group_init(&writer->groups[i], local, i);
    writer->filling = &writer->groups[0];
    return writer;
}

enum status writer_start(struct local *local, struct arena *arena, struct failure *failure) {
    struct writer *writer = local->writer = writer_new(local);
    bool commits = committer_start(local);
    if (commits && pthread_create(&writer->thread, NULL, writer_main, local) == 0)
        return OK;
    if (commits)
        committer_end(writer);
    writer_free(local);
    return failure_set(failure, arena, IO_FAILED, "The writer thread cannot be started.");
}

void writer_stop(struct local *local) {
    struct writer *writer = local->writer;
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    writer->wake_at = 0;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    committer_end(writer);
    backfill_stop_all(local);
    writer_free(local);
}
