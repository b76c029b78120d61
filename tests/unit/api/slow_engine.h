/* An engine whose calls block, around one that does not: each takes 20 ms, or as long as the gate
 * is shut. Stands for an engine behind a network. */
#ifndef GT_TEST_SLOW_ENGINE_H
#define GT_TEST_SLOW_ENGINE_H

#include "table/backup.h"
#include "table/engine.h"
#include "table/inprocess.h"
#include "table/ranking.h"
#include "table/table_stream.h"

#include <pthread.h>
#include <unistd.h>

enum { SLOW_CALL_US = 20 * 1000 };

struct slow_engine {
    struct engine engine; /* first */
    struct engine *behind;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool shut;         /* calls wait until it is opened */
    unsigned inside;   /* calls that wait at present */
    pthread_t no_loop; /* a thread that must never be in here: the loop's */
    bool guarded, caught;
};

static inline struct engine *slow_wait(struct engine *engine) {
    struct slow_engine *slow = (struct slow_engine *)engine;
    pthread_mutex_lock(&slow->lock);
    if (slow->guarded && pthread_equal(slow->no_loop, pthread_self()))
        slow->caught = true;
    slow->inside++;
    pthread_cond_broadcast(&slow->changed);
    bool gated = slow->shut;
    while (slow->shut)
        pthread_cond_wait(&slow->changed, &slow->lock);
    slow->inside--;
    pthread_mutex_unlock(&slow->lock);
    if (!gated)
        usleep(SLOW_CALL_US);
    return slow->behind;
}

static inline enum status slow_get_many(struct engine *engine, const struct get_request *requests,
                                        size_t count, struct scope in, struct get_reply *replies) {
    return engine_get_many(slow_wait(engine), requests, count, in, replies);
}

static inline enum status slow_page(struct engine *engine, const struct page_request *request,
                                    struct scope in, struct page_reply *out) {
    return engine_page(slow_wait(engine), request, in, out);
}

static inline enum status slow_rank_lookup(struct engine *engine,
                                           const struct rank_request *request, struct scope in,
                                           struct rank_reply *replies) {
    return engine_rank_lookup(slow_wait(engine), request, in, replies);
}

static inline void slow_submit(struct engine *engine, struct change *change) {
    engine_submit(slow_wait(engine), change);
}

static inline enum status slow_describe(struct engine *engine, struct bytes table, struct scope in,
                                        struct table_description *out) {
    return engine_describe(slow_wait(engine), table, in, out);
}

static inline enum status slow_list(struct engine *engine, const struct list_request *request,
                                    struct arena *arena, struct name_list *out) {
    return engine_list(slow_wait(engine), request, arena, out);
}

/* What the interface says never blocks. */
static inline uint64_t slow_version(struct engine *engine, struct bytes table,
                                    const struct value *partition, uint32_t *slot) {
    struct engine *behind = ((struct slow_engine *)engine)->behind;
    return behind->inprocess->partition_version(behind, table, partition, slot);
}

static inline uint64_t slow_version_at(struct engine *engine, uint32_t slot) {
    return engine_partition_version_at(((struct slow_engine *)engine)->behind, slot);
}

static inline void slow_flush(struct engine *engine, struct change_batch *batch) {
    struct engine *behind = ((struct slow_engine *)engine)->behind;
    behind->inprocess->batch_flush(behind, batch);
}

static inline void slow_figures(struct engine *engine, struct engine_figures *out) {
    engine_figures(((struct slow_engine *)engine)->behind, out);
}

static inline void slow_close(struct engine *engine) {
    engine_close(((struct slow_engine *)engine)->behind);
}

static const struct engine_ops slow_ops = {.figures = slow_figures, .close = slow_close};
static const struct item_ops slow_items = {.get_many = slow_get_many, .page = slow_page};
static const struct change_ops slow_changes = {.submit = slow_submit};
static const struct table_ops slow_tables = {.describe = slow_describe, .list = slow_list};
static const struct ranking_ops slow_ranking = {.rank_lookup = slow_rank_lookup};
static const struct inprocess_ops slow_inprocess = {.partition_version = slow_version,
                                                    .partition_version_at = slow_version_at,
                                                    .batch_flush = slow_flush};

static inline struct engine *slow_engine_init(struct slow_engine *slow, struct engine *behind) {
    *slow = (struct slow_engine){
        .engine = {.ops = &slow_ops,
                   .items = &slow_items,
                   .changes = &slow_changes,
                   .tables = &slow_tables,
                   .ranking = &slow_ranking,
                   .inprocess = &slow_inprocess,
                   .abilities = ENGINE_RANKING | ENGINE_PREPARE | ENGINE_VERSIONS,
                   .may_block = true},
        .behind = behind};
    pthread_mutex_init(&slow->lock, NULL);
    pthread_cond_init(&slow->changed, NULL);
    return &slow->engine;
}

static inline void slow_shut(struct slow_engine *slow, bool shut) {
    pthread_mutex_lock(&slow->lock);
    slow->shut = shut;
    pthread_cond_broadcast(&slow->changed);
    pthread_mutex_unlock(&slow->lock);
}

/* Until so many calls wait at the gate. */
static inline void slow_await(struct slow_engine *slow, unsigned count) {
    pthread_mutex_lock(&slow->lock);
    while (slow->inside < count)
        pthread_cond_wait(&slow->changed, &slow->lock);
    pthread_mutex_unlock(&slow->lock);
}

#endif
