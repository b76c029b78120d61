/* The queue of changes that wait for the writer: what a submitter does, on any thread.
 *
 * Whoever submits a change admits it on its own thread and appends it under a short lock. The queue
 * is bounded. The writer is only signalled when it sleeps, and while a group is being committed
 * only for every few changes. */
#include "base/thread.h"
#include "table/inprocess.h"
#include "table/local/writer.h"

enum { BATCH_MAX = 32 }; /* changes that a batch holds before it is sent by itself */

/* How many actions of a change count toward the bound of the queue; those that its `prepare` will
 * make do not. */
static size_t actions_of(const struct change *change) {
    return change->kind == CHANGE_WRITE && change->prepare == NULL ? change->action_count : 0;
}

/* What a list of changes counts toward the bounds of the queue. */
struct queue_load {
    unsigned changes;
    size_t actions;
};

static struct queue_load load_of(const struct change *changes) {
    struct queue_load load = {0};
    for (; changes != NULL; changes = changes->next) {
        load.changes++;
        load.actions += actions_of(changes);
    }
    return load;
}

static void queue_enter(struct writer *writer, struct queue_load load) {
    atomic_fetch_add_explicit(&writer->waiting, load.changes, memory_order_relaxed);
    atomic_fetch_add_explicit(&writer->waiting_actions, load.actions, memory_order_relaxed);
}

static void queue_leave(struct writer *writer, struct queue_load load) {
    atomic_fetch_sub_explicit(&writer->waiting, load.changes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&writer->waiting_actions, load.actions, memory_order_relaxed);
}

/* Whether there is room for the change. Those of batches that were not sent yet do not count: they
 * are few, and so are their actions. */
static bool queue_has_room(struct writer *writer, const struct change *change) {
    size_t actions = atomic_load_explicit(&writer->waiting_actions, memory_order_relaxed);
    return atomic_load_explicit(&writer->waiting, memory_order_relaxed) < LIMIT_WRITES_WAITING &&
           actions + actions_of(change) <= LIMIT_ACTIONS_WAITING;
}

static void finish(struct change *change) {
    change_release(change);
    change->done(change);
}

void writer_finish(struct writer *writer, struct change *change) {
    queue_leave(writer, (struct queue_load){1, actions_of(change)});
    finish(change);
}

void writer_finish_all(struct writer *writer, struct change *changes) {
    queue_leave(writer, load_of(changes));
    while (changes != NULL) {
        struct change *next = changes->next; /* done() may free it */
        finish(changes);
        changes = next;
    }
}

static void batch_add(struct change_batch *batch, struct change *change) {
    if (batch->count++ == 0)
        batch->last = &batch->first;
    change->next = NULL;
    *batch->last = change;
    batch->last = &change->next;
}

/* Notes that this thread has submitted a batch. */
static void note_submitter(struct submissions *submitted) {
    int thread = thread_number();
    submitted->batches++;
    submitted->same += thread == submitted->thread;
    submitted->thread = thread;
}

/* Appends some that yield to the queue of those. The caller holds the lock. Returns whether the
 * writer is to be woken. */
static bool append_yielding(struct writer *writer, const struct change_batch *batch) {
    bool wake = writer->wake_at != 0;
    *writer->yielding_last = batch->first;
    writer->yielding_last = batch->last;
    writer->wake_at = 0;
    return wake;
}

/* False if the writer is stopping, or read-only. All of a batch yield or none. */
static bool queue_append(struct writer *writer, const struct change_batch *batch) {
    bool wake = false;
    pthread_mutex_lock(&writer->lock);
    bool taken = !writer->stopping && !writer->read_only;
    if (taken && batch->first->yields)
        wake = append_yielding(writer, batch);
    else if (taken) {
        *writer->last = batch->first;
        writer->last = batch->last;
        writer->queued += batch->count;
        note_submitter(&writer->submitted);
        wake = writer->wake_at != 0 && writer->queued >= writer->wake_at;
        if (wake)
            writer->wake_at = 0;
    }
    pthread_mutex_unlock(&writer->lock);
    if (wake)
        pthread_cond_signal(&writer->wake);
    return taken;
}

/* Appends the changes of the batch to the queue and empties the batch; if the writer takes none,
 * they fail. */
static void send_batch(struct writer *writer, struct change_batch *batch) {
    struct change_batch sent = *batch;
    *batch = (struct change_batch){0};
    if (sent.count != 0)
        queue_enter(writer, load_of(sent.first));
    if (sent.count == 0 || queue_append(writer, &sent))
        return; /* they may be done already: they are not looked at */
    for (struct change *change = sent.first, *next; change != NULL; change = next) {
        next = change->next;
        if (writer->read_only)
            change_refuse_read_only(change);
        else
            failure_set(&change->failure, change->arena, STOPPING, "The server is shutting down.");
        writer_finish(writer, change);
    }
}

void local_batch_flush(struct engine *engine, struct change_batch *batch) {
    send_batch(((struct local *)engine)->writer, batch);
}

void local_read_only(struct engine *engine, bool on) {
    struct writer *writer = ((struct local *)engine)->writer;
    pthread_mutex_lock(&writer->lock);
    writer->read_only = on;
    pthread_mutex_unlock(&writer->lock);
}

void writer_post_finished(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    writer->finished = true;
    writer->wake_at = 0;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
}

static enum status admit(struct local *local, struct change *change) {
    if (change->kind == CHANGE_WRITE && change->prepare == NULL)
        return change_admit(local, change);
    if (change->kind == CHANGE_CREATE_TABLE)
        return rules_check_table(&(struct rules_context){
            .schema = change->schema, .arena = change->arena, .failure = &change->failure});
    return OK;
}

/* Answers a change that was not counted in. */
static void reject_unqueued(struct change *change, enum status status, const char *text) {
    if (text != NULL)
        failure_set(&change->failure, change->arena, status, "%s", text);
    change->done(change);
}

/* Whether the change may wait with those of the batch: they are of the same engine, and of the same
 * queue. */
static bool may_join(const struct local *local, const struct change_batch *batch,
                     const struct change *change) {
    return batch->engine == &local->engine &&
           (batch->count == 0 || batch->first->yields == change->yields);
}

/* Keeps the change back with others of its batch; those that it cannot wait with go first. */
static void submit_batched(struct local *local, struct change *change) {
    struct change_batch *batch = change->batch;
    if (!may_join(local, batch, change)) {
        engine_batch_flush(batch);
        batch->engine = &local->engine;
    }
    bool large = !change->yields && actions_of(change) > LIMIT_TRANSACT_ITEMS;
    batch_add(batch, change);
    if (large || batch->count >= BATCH_MAX)
        send_batch(local->writer, batch);
}

static void send_alone(struct writer *writer, struct change *change) {
    struct change_batch alone = {0};
    batch_add(&alone, change);
    send_batch(writer, &alone);
}

void queue_send_part(struct writer *writer, struct change *part) {
    send_alone(writer, part); /* there is room: the whole change was counted in */
}

void local_submit(struct engine *engine, struct change *change) {
    struct local *local = (struct local *)engine;
    struct writer *writer = local->writer;
    change->failure = (struct failure){0};
    change->repeated = false;
    change->all_bytes = change->bytes;
    if (change->prepare != NULL)
        change->action_count = 0;
    if (change->kind == CHANGE_WRITE && change_check_count(change) != OK) {
        reject_unqueued(change, INVALID, NULL);
        return;
    }
    if (!queue_has_room(writer, change)) {
        reject_unqueued(change, BUSY, "Too many writes are waiting. Try again soon.");
        return;
    }
    if (admit(local, change) != OK) {
        finish(change);
        return;
    }
    if (change_is_divided(change)) {
        queue_enter(writer, (struct queue_load){1, actions_of(change)});
        change_send_parts(local, change);
    } else if (change->batch == NULL)
        send_alone(writer, change);
    else
        submit_batched(local, change);
}
