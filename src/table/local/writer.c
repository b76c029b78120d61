/* The writer's two threads (writer.h).
 *
 * The writer thread takes what waits in the queue (write_queue.c) and fills a group with it; as
 * soon as no other group is being committed, it commits it or hands it to the commit thread. So a
 * group is as large as the load asks for, and a lone write waits for nobody. */
#include "table/local/writer.h"

#include "base/clock.h"
#include "base/machine.h"
#include "base/mem.h"
#include "base/thread.h"
#include "table/local/count_index.h"
#include "table/local/load_filter.h"

enum {
    WAKE_EACH = 16,           /* changes that the writer is woken for while a commit is under way */
    COMMIT_THREAD_FROM = 128, /* changes that are worth a second thread */
    FEW_CORES_FROM = 512,     /* the same where it would share a core with the loops */
    AHEAD = 8,                /* how many changes ahead are prefetched */
    QUIET_US = 100 * 1000,    /* since others wrote, after which loads have larger commits */
    LOOK_AGAIN_US = 1000,     /* between looks at a store that is behind */
};

/* --- taking from the queue --- */

static bool is_plain(const struct change *change) {
    return change->kind == CHANGE_WRITE && change->prepare == NULL;
}

/* Sleeps until it is woken or a job is due, or it is time to look whether the store is still
 * behind; false when one is. */
static bool sleep_on(struct writer *writer, size_t wake_at) {
    int64_t look_us = clock_ticks_us() + LOOK_AGAIN_US;
    int64_t us = writer->behind && look_us < writer->jobs_at_us ? look_us : writer->jobs_at_us;
    struct timespec until = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    writer->wake_at = wake_at;
    return pthread_cond_timedwait(&writer->wake, &writer->lock, &until) == 0;
}

/* Whether what is at hand has to wait until the commit that is under way is over. */
static bool is_blocked(const struct writer *writer) {
    return writer->committing != NULL && writer->taken != NULL;
}

/* How many actions of the next commit may be of those that yield: the more there are, the longer
 * wait others who write. */
static size_t yielding_most(const struct writer *writer) {
    bool quiet = clock_ticks_us() - writer->others_us >= QUIET_US;
    return quiet ? LIMIT_GROUP_YIELDED : LIMIT_GROUP_YIELDED / 2;
}

/* Whether one of those that yield can be done now. They take turns with what goes alone. */
static bool may_add_yielding(const struct writer *writer) {
    return writer->yielding != NULL && !writer->behind && is_plain(writer->yielding) &&
           (writer->taken == NULL || is_plain(writer->taken) || writer->yields_next) &&
           commit_group_takes_yielding(writer->filling, writer->yielding, yielding_most(writer));
}

/* Whether one that yields and goes alone can be done now: when others have had a group. */
static bool may_run_yielding(const struct writer *writer) {
    return writer->yielding != NULL && !writer->behind && !is_plain(writer->yielding) &&
           (writer->taken == NULL || writer->others_went);
}

/* Moves one list behind the other. */
static void move_queued(struct change **first, struct change ***last, struct change ***to_end) {
    if (*first == NULL)
        return;
    **to_end = *first;
    *to_end = *last;
    *first = NULL;
    *last = first;
}

/* Moves all that waits to `taken`. When there is nothing to do it sleeps until there is, or until a
 * job is due; if stopping, and all is done, it returns false. */
static bool take_queued(struct local *local, bool *finished) {
    struct writer *writer = local->writer;
    writer->behind = writer->yielding != NULL && store_is_behind(local->store);
    pthread_mutex_lock(&writer->lock);
    bool busy = writer->committing != NULL;
    writer->behind &= !writer->stopping;
    size_t enough = is_blocked(writer) ? SIZE_MAX : busy ? WAKE_EACH : 1;
    bool filled = writer->filling->change_count != 0;
    bool waits = busy || (writer->taken == NULL && !filled && !may_run_yielding(writer));
    bool awake = waits && !may_add_yielding(writer);
    while (awake && writer->queued < enough && writer->yielding_first == NULL &&
           !writer->finished && writer->commit != COMMIT_DONE && !(writer->stopping && !busy))
        awake = sleep_on(writer, enough);
    writer->wake_at = 0;
    if (writer->first != NULL)
        writer->others_us = clock_ticks_us();
    move_queued(&writer->first, &writer->last, &writer->taken_end);
    move_queued(&writer->yielding_first, &writer->yielding_last, &writer->yielding_end);
    writer->queued = 0;
    writer_place_submitted(&writer->place, &writer->submitted);
    writer->submitted.batches = writer->submitted.same = 0;
    *finished = writer->finished;
    writer->finished = false;
    bool more = writer->taken != NULL || writer->yielding != NULL || filled || *finished || busy ||
                !writer->stopping;
    pthread_mutex_unlock(&writer->lock);
    return more;
}

/* Takes the first change from a list, of which there is one. */
static struct change *pop(struct change **first, struct change ***end) {
    struct change *change = *first;
    *first = change->next;
    if (*first == NULL)
        *end = first;
    change->next = NULL;
    return change;
}

static struct change *pop_taken(struct writer *writer) {
    return pop(&writer->taken, &writer->taken_end);
}

static struct change *pop_yielding(struct writer *writer) {
    struct change *change = pop(&writer->yielding, &writer->yielding_end);
    for (size_t i = 0; i < change->source_count; i++)
        change->sources[i]->behind--;
    return change;
}

/* Whether others go before the change: a large one, and whatever its sources have behind it. */
static bool gives_way(const struct change *change) {
    if (change->kind != CHANGE_WRITE || (change->source_count == 0 && !change->unordered))
        return false;
    bool behind = change->all_bytes >= LIMIT_CHANGE_LARGE;
    for (size_t i = 0; i < change->source_count && !behind; i++)
        behind = change->sources[i]->behind != 0 ||
                 (change->prepare != NULL && change->sources[i]->heavy);
    return behind;
}

/* Puts what was taken and gives way with those that yield. */
static void put_behind(struct writer *writer) {
    while (writer->taken != NULL && gives_way(writer->taken)) {
        struct change *change = pop_taken(writer);
        for (size_t i = 0; i < change->source_count; i++)
            change->sources[i]->behind++;
        *writer->yielding_end = change;
        writer->yielding_end = &change->next;
    }
}

/* --- the commit thread --- */

/* The group that was handed over, or NULL when it is time to end. */
static struct commit_group *wait_for_group(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    while (writer->commit != COMMIT_HANDED && !writer->ending)
        pthread_cond_wait(&writer->work, &writer->lock);
    struct commit_group *group = writer->commit == COMMIT_HANDED ? writer->committing : NULL;
    pthread_mutex_unlock(&writer->lock);
    return group;
}

/* Gives the group back to the writer thread, and wakes it. */
static void return_group(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    bool wake = writer->wake_at != 0;
    writer->commit = COMMIT_DONE;
    writer->wake_at = 0;
    pthread_mutex_unlock(&writer->lock);
    if (wake)
        pthread_cond_signal(&writer->wake);
}

static void *commit_thread_main(void *argument) {
    pthread_setname_np(pthread_self(), "committer");
    struct writer *writer = ((struct local *)argument)->writer;
    for (struct commit_group *group; (group = wait_for_group(writer)) != NULL;) {
        commit_group_commit(group);
        struct change *changes = commit_group_take_changes(group);
        return_group(writer);
        writer_finish_all(writer, changes);
    }
    return NULL;
}

static bool commit_thread_start(struct local *local) {
    return thread_start(&local->writer->commit_thread, commit_thread_main, local) == 0;
}

static void commit_thread_stop(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    writer->ending = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->commit_thread, NULL);
}

/* --- groups --- */

static void finish_group(struct writer *writer, struct commit_group *group) {
    writer_finish_all(writer, commit_group_take_changes(group));
}

/* Takes back the group that was committed. What followed on one that failed fails, too. */
static void settle_committed(struct writer *writer) {
    struct commit_group *group = writer->committing, *next = writer->filling;
    bool failed = group->failure.status != OK;
    writer->committing = NULL;
    next->below = NULL;
    if (failed)
        commit_group_fail(next, &group->failure);
    commit_group_settle(group);
    if (failed) {
        commit_group_clear(next);
        finish_group(writer, next);
    }
}

/* Takes back the group that is being committed if its commit is over, or, with `wait`, when it is.
 */
static void reap_commit(struct writer *writer, bool wait) {
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
        settle_committed(writer);
}

/* How much there is to do in the commit: its changes, some of which may have several actions. */
static unsigned work_of(const struct commit_group *group) {
    return group->action_count > group->change_count ? (unsigned)group->action_count
                                                     : group->change_count;
}

/* Whether the group is so small that waking the commit thread would cost more than it saves. */
static bool commits_itself(const struct commit_group *group) {
    return commit_group_idle(group) || work_of(group) < group->local->writer->commit_thread_from;
}

/* Commits the group, or hands it over. Called when nothing is being committed. */
static void commit_filling(struct writer *writer) {
    struct commit_group *group = writer->filling;
    bool itself = commits_itself(group);
    writer->others_went = true;
    writer_place_committed(&writer->place, work_of(group), clock_ticks_us());
    if (itself) {
        commit_group_commit(group);
        commit_group_settle(group);
        finish_group(writer, group);
        return;
    }
    writer->filling = &writer->groups[1 - group->number];
    commit_group_follow(group, writer->filling);
    writer->committing = group;
    pthread_mutex_lock(&writer->lock);
    writer->commit = COMMIT_HANDED;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
}

/* Commits what is being filled, and waits until nothing is being committed. */
static void drain(struct writer *writer) {
    reap_commit(writer, true);
    if (writer->filling->change_count != 0) {
        commit_filling(writer);
        reap_commit(writer, true);
    }
}

/* --- periodic jobs --- */

/* A new job is added here. */
static writer_job *const jobs[] = {expiry_run, stream_trim, count_index_run, load_filter_run};

static void run_jobs(struct local *local) {
    struct writer *writer = local->writer;
    int64_t wait = JOB_WAIT_MAX_US;
    bool able = !store_is_broken(local->store) && !writer->stale;
    for (size_t i = 0; able && i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        int64_t again = jobs[i](local);
        if (again < wait)
            wait = again;
    }
    writer->jobs_at_us = clock_ticks_us() + wait;
    writer_place_review(&writer->place, clock_ticks_us());
}

/* --- the writer thread --- */

static void fail_queued(struct writer *writer, enum status status) {
    unsigned count = 0;
    while ((writer->taken != NULL || writer->yielding != NULL) && count++ < LIMIT_GROUP_WRITES) {
        struct change *change = writer->taken != NULL ? pop_taken(writer) : pop_yielding(writer);
        failure_set(&change->failure, change->arena, status,
                    "The disk refuses writes at present. Try again soon.");
        writer_finish(writer, change);
    }
}

static struct change *skip_changes(struct change *change, unsigned count) {
    while (change != NULL && count-- > 0)
        change = change->next;
    return change;
}

/* Those further down: their first action is usually their only one. */
static void prefetch_ahead(struct local *local, struct change **far, struct change **near) {
    if (*far != NULL && is_plain(*far) && (*far)->action_count != 0)
        action_prefetch(local, &(*far)->actions[0]);
    if (*near != NULL && is_plain(*near) && (*near)->action_count != 0)
        action_prefetch_item(local, &(*near)->actions[0]);
    *far = skip_changes(*far, 1);
    *near = skip_changes(*near, 1);
}

/* Looks up ahead what the next changes of one action will read. Returns the first change that was
 * not looked at. */
static struct change *look_ahead(struct local *local, struct change *change) {
    struct covering_batch batch = {.count = 0};
    for (; change != NULL && is_plain(change) && batch.count < COVERING_MANY;
         change = change->next) {
        struct action_state *state =
            change->action_count == 1 ? change->actions[0].engine_data : NULL;
        if (state == NULL || state->uncovered ||
            partition_filter_excludes(&state->table->partition_filter, state->key))
            continue;
        batch.states[batch.count] = state;
        batch.arenas[batch.count++] = change->arena;
    }
    action_look_ahead(local, &batch);
    return change;
}

/* Fills the group with what was taken, as far as it goes. True if what comes next gives way. */
static bool fill_in_order(struct local *local) {
    struct writer *writer = local->writer;
    struct change *far = skip_changes(writer->taken, AHEAD);
    struct change *near = skip_changes(writer->taken, AHEAD / 2);
    const struct change *unseen = writer->taken;
    while (writer->taken != NULL && !gives_way(writer->taken) && is_plain(writer->taken) &&
           commit_group_takes(writer->filling, writer->taken)) {
        prefetch_ahead(local, &far, &near);
        if (writer->taken == unseen)
            unseen = look_ahead(local, writer->taken);
        commit_group_add(writer->filling, pop_taken(writer));
    }
    return writer->taken != NULL && gives_way(writer->taken);
}

/* Fills the group: first with a few of those that yield, then with the others. */
static void fill_group(struct local *local) {
    struct writer *writer = local->writer;
    while (may_add_yielding(writer)) {
        commit_group_add_yielding(writer->filling, pop_yielding(writer));
        writer->yields_next = false;
    }
    while (fill_in_order(local))
        put_behind(writer);
}

/* What cannot go with others. Nothing else is under way. */
static void run_alone(struct local *local, struct change *change) {
    struct writer *writer = local->writer;
    writer->fills++;
    if (change->kind != CHANGE_WRITE) {
        table_ddl_execute(local, change);
        writer_finish(writer, change);
        return;
    }
    commit_group_add(writer->filling, change);
    for (size_t i = 0; i < change->source_count; i++)
        change->sources[i]->heavy = writer->filling->size >= LIMIT_CHANGE_LARGE;
    if (commit_group_idle(writer->filling))
        finish_group(writer, writer->filling); /* it waits for nothing */
}

/* Whether what is there cannot be written. It has failed then. */
static bool refuse_taken(struct local *local) {
    struct writer *writer = local->writer;
    if (writer->filling->change_count != 0 || writer->committing != NULL ||
        (!store_is_broken(local->store) && !writer->stale))
        return false;
    writer_place_end(&writer->place); /* RocksDB's threads would be bound as well */
    if (writer_recover(local) == OK)
        return false;
    fail_queued(writer, IO_FAILED);
    return true;
}

/* Does the next thing that can be done with what was taken: one group, or one change alone. Then
 * what came meanwhile is looked at, so that it need not wait for all of those that yield. */
static void run_taken(struct local *local) {
    struct writer *writer = local->writer;
    if ((writer->taken == NULL && writer->yielding == NULL && writer->filling->change_count == 0) ||
        refuse_taken(local))
        return;
    if (may_run_yielding(writer)) {
        drain(writer);
        run_alone(local, pop_yielding(writer));
        writer->others_went = false;
        return;
    }
    fill_group(local);
    if (writer->filling->change_count != 0) {
        if (writer->committing == NULL)
            commit_filling(writer);
    } else if (writer->taken != NULL && !is_plain(writer->taken)) {
        reap_commit(writer, true);
        run_alone(local, pop_taken(writer));
        writer->yields_next = writer->others_went = true;
    }
}

static _Thread_local const struct local *writes_for; /* whose writer this thread is */

bool writer_is_current(const struct local *local) {
    return writes_for == local;
}

static void *writer_main(void *argument) {
    pthread_setname_np(pthread_self(), "writer");
    struct local *local = argument;
    writes_for = local;
    struct writer *writer = local->writer;
    bool finished;
    while (take_queued(local, &finished)) {
        reap_commit(writer, false);
        if (finished) {
            drain(writer);
            backfill_finish(local);
        }
        run_taken(local);
        if (clock_ticks_us() >= writer->jobs_at_us) {
            drain(writer);
            run_jobs(local);
        }
    }
    writer_place_end(&writer->place);
    return NULL;
}

/* --- starting and stopping --- */

static void writer_free(struct local *local) {
    struct writer *writer = local->writer;
    commit_group_release(&writer->groups[0]);
    commit_group_release(&writer->groups[1]);
    load_filter_free(writer->load_filter);
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

static unsigned commit_thread_from(const struct local *local) {
    if (local->settings.commit_thread_from != 0)
        return local->settings.commit_thread_from;
    return machine_has_few_cores() ? FEW_CORES_FROM : COMMIT_THREAD_FROM;
}

static struct writer *writer_new(struct local *local) {
    struct writer *writer = mem_zalloc(sizeof(*writer));
    pthread_mutex_init(&writer->lock, NULL);
    init_wake(writer);
    pthread_cond_init(&writer->work, NULL);
    writer->jobs_at_us = clock_ticks_us();
    writer->fills = 1;
    writer_place_init(&writer->place, machine_has_few_cores(), clock_ticks_us());
    writer->commit_thread_from = commit_thread_from(local);
    writer->last = &writer->first;
    writer->taken_end = &writer->taken;
    writer->yielding_last = &writer->yielding_first;
    writer->yielding_end = &writer->yielding;
    writer->load_filter = load_filter_new();
    writer->syncs =
        !local->settings.store.memory && local->settings.store.sync == STORE_SYNC_COMMIT;
    for (unsigned i = 0; i < 2; i++)
        commit_group_init(&writer->groups[i], local, i);
    writer->filling = &writer->groups[0];
    return writer;
}

enum status writer_start(struct local *local, struct scope in) {
    struct writer *writer = local->writer = writer_new(local);
    bool commits = commit_thread_start(local);
    if (commits && thread_start(&writer->thread, writer_main, local) == 0)
        return OK;
    if (commits)
        commit_thread_stop(writer);
    writer_free(local);
    return failure_set(in.failure, in.arena, IO_FAILED, "The writer thread cannot be started.");
}

void writer_stop(struct local *local) {
    struct writer *writer = local->writer;
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    writer->wake_at = 0;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    commit_thread_stop(writer);
    backfill_stop_all(local);
    writer_free(local);
}
