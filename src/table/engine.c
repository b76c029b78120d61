/* The table interface's calls go to whichever engine is below. */
#include "table/engine.h"
#include "table/backup.h"
#include "table/hot_keys.h"
#include "table/inprocess.h"
#include "table/ranking.h"
#include "table/table_stream.h"

#include <pthread.h>
#include <stdatomic.h>

enum status engine_get(struct engine *engine, const struct get_request *request, struct scope in,
                       struct get_reply *out) {
    hot_keys_got(engine->hot, engine, request);
    return engine->items->get_many(engine, request, 1, in, out);
}

enum status engine_get_many(struct engine *engine, const struct get_request *requests, size_t count,
                            struct scope in, struct get_reply *replies) {
    for (size_t i = 0; engine->hot != NULL && i < count; i++)
        hot_keys_got(engine->hot, engine, &requests[i]);
    return engine->items->get_many(engine, requests, count, in, replies);
}

enum status engine_page(struct engine *engine, const struct page_request *request, struct scope in,
                        struct page_reply *out) {
    hot_keys_paged(engine->hot, engine, request);
    return engine->items->page(engine, request, in, out);
}

/* UNSUPPORTED, for a part that the engine has not. */
static enum status lacks(struct scope in, const char *what) {
    return failure_set(in.failure, in.arena, UNSUPPORTED, "This server's engine has no %s.", what);
}

enum status engine_rank_lookup(struct engine *engine, const struct rank_request *request,
                               struct scope in, struct rank_reply *replies) {
    if (engine->ranking == NULL)
        return lacks(in, "ranks");
    hot_keys_ranked(engine->hot, engine, request);
    return engine->ranking->rank_lookup(engine, request, in, replies);
}

enum status engine_partitions_count(struct engine *engine, const struct partition_names *which,
                                    struct scope in, struct name_span *spans, size_t count) {
    if (engine->ranking == NULL || engine->ranking->partitions_count == NULL)
        return lacks(in, "counts of partitions");
    return engine->ranking->partitions_count(engine, which, in, spans, count);
}

enum status engine_partitions_list(struct engine *engine, const struct partition_names *which,
                                   const struct name_span *span, size_t limit, struct scope in,
                                   struct partition_list *out) {
    if (engine->ranking == NULL || engine->ranking->partitions_list == NULL)
        return lacks(in, "lists of partitions");
    return engine->ranking->partitions_list(engine, which, span, limit, in, out);
}

/* Of an engine that cannot tell: a version may rise without reason, and this one always has. */
static uint64_t next_version(void) {
    static atomic_uint_fast64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

uint64_t engine_partition_version(struct engine *engine, struct bytes table,
                                  const struct value *partition) {
    uint32_t slot;
    return engine_partition_version_slot(engine, table, partition, &slot);
}

uint64_t engine_partition_version_slot(struct engine *engine, struct bytes table,
                                       const struct value *partition, uint32_t *slot) {
    if (engine->inprocess == NULL)
        return next_version();
    return engine->inprocess->partition_version(engine, table, partition, slot);
}

uint64_t engine_partition_version_at(struct engine *engine, uint32_t slot) {
    if (engine->inprocess == NULL)
        return next_version();
    return engine->inprocess->partition_version_at(engine, slot);
}

bool engine_partition_changed(struct engine *engine, uint32_t slot, uint64_t version) {
    if (engine->inprocess != NULL && engine->inprocess->partition_changed != NULL)
        return engine->inprocess->partition_changed(engine, slot, version);
    return engine_partition_version_at(engine, slot) != version;
}

bool engine_partitions_absent(struct engine *engine, struct bytes table,
                              const struct value *partitions, size_t count) {
    return engine->inprocess != NULL && engine->inprocess->partitions_absent != NULL &&
           engine->inprocess->partitions_absent(engine, table, partitions, count);
}

void engine_batch_flush(struct change_batch *batch) {
    if (batch->engine != NULL)
        batch->engine->inprocess->batch_flush(batch->engine, batch);
}

/* What the change needs and the engine cannot, or NULL. */
static const char *missing_ability(const struct engine *engine, const struct change *change) {
    if (change->prepare != NULL && !engine_can(engine, ENGINE_PREPARE))
        return "transactions over all that they read";
    if (change->loading && !engine_can(engine, ENGINE_LOADING))
        return "loading of tables";
    return NULL;
}

enum status change_refuse_read_only(struct change *change) {
    return failure_set(&change->failure, change->arena, IO_FAILED,
                       "This server is read-only while its game is moved; try again soon.");
}

void engine_submit(struct engine *engine, struct change *change) {
    const char *missing = missing_ability(engine, change);
    if (missing != NULL) {
        lacks((struct scope){change->arena, &change->failure}, missing);
        change->done(change);
        return;
    }
    if (change->prepare == NULL) /* which makes the actions; the engine tells of them then */
        hot_keys_changed(engine->hot, engine, change);
    engine->changes->submit(engine, change);
}

/* Of one thread that waits for a change. */
struct change_waiter {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool done;
};

static void wake_change_waiter(struct change *change) {
    struct change_waiter *waiter = change->user;
    pthread_mutex_lock(&waiter->lock);
    waiter->done = true;
    pthread_cond_signal(&waiter->woken);
    pthread_mutex_unlock(&waiter->lock);
}

enum status engine_submit_wait(struct engine *engine, struct change *change) {
    struct change_waiter waiter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    change->done = wake_change_waiter;
    change->user = &waiter;
    change->batch = NULL;
    engine_submit(engine, change);
    pthread_mutex_lock(&waiter.lock);
    while (!waiter.done)
        pthread_cond_wait(&waiter.woken, &waiter.lock);
    pthread_mutex_unlock(&waiter.lock);
    pthread_mutex_destroy(&waiter.lock);
    pthread_cond_destroy(&waiter.woken);
    return change->failure.status;
}

enum status engine_describe(struct engine *engine, struct bytes table, struct scope in,
                            struct table_description *out) {
    return engine->tables->describe(engine, table, in, out);
}

enum status engine_list(struct engine *engine, const struct list_request *request,
                        struct arena *arena, struct name_list *out) {
    return engine->tables->list(engine, request, arena, out);
}

enum status engine_streams(struct engine *engine, const struct stream_list_request *request,
                           struct arena *arena, struct stream_list *out) {
    if (engine->streams == NULL)
        return UNSUPPORTED;
    return engine->streams->streams(engine, request, arena, out);
}

enum status engine_stream(struct engine *engine, const struct stream_id *id, struct scope in,
                          struct stream_info *out) {
    if (engine->streams == NULL)
        return lacks(in, "streams");
    return engine->streams->stream(engine, id, in, out);
}

enum status engine_stream_read(struct engine *engine, const struct stream_read_request *request,
                               struct scope in, struct stream_read_reply *out) {
    if (engine->streams == NULL)
        return lacks(in, "streams");
    return engine->streams->stream_read(engine, request, in, out);
}

uint64_t engine_stream_latest(struct engine *engine) {
    if (engine->streams == NULL)
        return 0;
    return engine->streams->stream_latest(engine);
}

void engine_figures(struct engine *engine, struct engine_figures *out) {
    engine->ops->figures(engine, out);
}

enum status engine_backup_create(struct engine *engine, const struct backup_request *request,
                                 struct scope in, struct backup_description *out) {
    if (engine->copies == NULL)
        return lacks(in, "copies of tables");
    return engine->copies->backup_create(engine, request, in, out);
}

enum status engine_backup_describe(struct engine *engine, struct bytes id, struct scope in,
                                   struct backup_description *out) {
    if (engine->copies == NULL)
        return lacks(in, "copies of tables");
    return engine->copies->backup_describe(engine, id, in, out);
}

enum status engine_backup_delete(struct engine *engine, struct bytes id, struct scope in,
                                 struct backup_description *out) {
    if (engine->copies == NULL)
        return lacks(in, "copies of tables");
    return engine->copies->backup_delete(engine, id, in, out);
}

enum status engine_backup_list(struct engine *engine, const struct backup_filter *filter,
                               struct scope in, struct backup_list *out) {
    if (engine->copies == NULL)
        return lacks(in, "copies of tables");
    return engine->copies->backup_list(engine, filter, in, out);
}

enum status engine_read_table(struct engine *engine, const struct reader_request *request,
                              struct scope in, struct table_reader **out) {
    if (engine->copies == NULL)
        return lacks(in, "copies of tables");
    return engine->copies->read_table(engine, request, in, out);
}

enum status engine_recovery_set(struct engine *engine, const struct recovery_request *request,
                                struct scope in, struct recovery_state *out) {
    if (engine->copies == NULL)
        return lacks(in, "copies of tables");
    return engine->copies->recovery_set(engine, request, in, out);
}

enum status engine_recovery_describe(struct engine *engine, struct bytes table, struct scope in,
                                     struct recovery_state *out) {
    if (engine->copies == NULL)
        return lacks(in, "copies of tables");
    return engine->copies->recovery_describe(engine, table, in, out);
}

void engine_read_only(struct engine *engine, bool on) {
    engine->ops->read_only(engine, on);
}

void engine_end_soon(struct engine *engine, unsigned grace_ms) {
    if (engine->ops->end_soon != NULL)
        engine->ops->end_soon(engine, grace_ms);
}

void engine_close(struct engine *engine) {
    engine->ops->close(engine);
}
