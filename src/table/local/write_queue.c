/* The queue of changes that wait for the writer: what a submitter does, on any thread.
 *
 * Whoever submits a change admits it on its own thread and appends it under a short lock. The queue
 * is bounded. The writer is only signalled when it sleeps, and while a group is being committed
 * only for every few changes. */
#include "table/inprocess.h"
#include "table/local/writer.h"

enum { BATCH_MAX = 32 }; /* changes that a batch holds before it is sent by itself */

/* How many actions of a change count toward the bound of the queue; those that its `prepare` will
 * make do not. */
static size_t actions_of(const struct change *change) {
    return change->kind == CHANGE_WRITE && change->prepare == NULL ? change->action_count : 0;
}

static void queue_leave(struct writer *writer, const struct change *change) {
    atomic_fetch_sub_explicit(&writer->waiting, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&writer->waiting_actions, actions_of(change), memory_order_relaxed);
}

/* Counts the change in, even if there is no room for it; false if there is none. */
static bool queue_enter(struct writer *writer, const struct change *change) {
    size_t actions = actions_of(change);
    unsigned changes = atomic_fetch_add_explicit(&writer->waiting, 1, memory_order_relaxed);
    actions += atomic_fetch_add_explicit(&writer->waiting_actions, actions, memory_order_relaxed);
    return changes < LIMIT_WRITES_WAITING && actions <= LIMIT_ACTIONS_WAITING;
}

void writer_finish(struct writer *writer, struct change *change) {
    queue_leave(writer, change);
    change_release(change);
    change->done(change);
}

static void batch_add(struct change_batch *batch, struct change *change) {
    if (batch->count++ == 0)
        batch->last = &batch->first;
    change->next = NULL;
    *batch->last = change;
    batch->last = &change->next;
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
    batch_add(batch, change);
    if (batch->count >= BATCH_MAX)
        send_batch(local->writer, batch);
}

static void send_alone(struct writer *writer, struct change *change) {
    struct change_batch alone = {0};
    batch_add(&alone, change);
    send_batch(writer, &alone);
}

void queue_send_part(struct writer *writer, struct change *part) {
    queue_enter(writer, part); /* there is room: the whole change was counted in */
    send_alone(writer, part);
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
    if (!queue_enter(writer, change)) {
        queue_leave(writer, change);
        reject_unqueued(change, BUSY, "Too many writes are waiting. Try again soon.");
        return;
    }
    if (admit(local, change) != OK) {
        writer_finish(writer, change);
        return;
    }
    if (change_is_divided(change))
        change_send_parts(local, change);
    else if (change->batch == NULL)
        send_alone(writer, change);
    else
        submit_batched(local, change);
}
