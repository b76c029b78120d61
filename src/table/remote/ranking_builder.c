/* Building rankings that are missing, from the items of their partitions.
 *
 * Who finds a ranking that is not whole asks for it here. A few threads take what is asked for, one
 * partition at a time: the lease in Redis sees to it that only one node builds it. ranking_build.c
 * has what building is.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/thread.h"
#include "table/remote/ranking_int.h"

#include <time.h>

struct wanted {
    struct bytes partition;
    bool taken;            /* by a thread */
    int64_t since_us;      /* when it was asked for */
    int64_t not_before_us; /* it failed, or somebody else builds it: not until then */
    uint8_t text[];
};

struct ranking_builder {
    struct remote_ranking *ranking;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct map wanted; /* partition -> struct wanted */
    uint64_t tokens;
    bool stopping;
    pthread_t threads[LIMIT_RANK_BUILDERS];
};

/* Waits for a change until then (clock_ticks_us()). Under the lock. */
static void wait_until(struct ranking_builder *builder, int64_t until_us) {
    int64_t left_us = until_us - clock_ticks_us();
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (left_us > 0) {
        until.tv_sec += left_us / 1000000;
        until.tv_nsec += left_us % 1000000 * 1000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
    }
    pthread_cond_timedwait(&builder->changed, &builder->lock, &until);
}

/* --- one partition --- */

static struct bytes make_token(struct ranking_builder *builder, struct arena *arena) {
    pthread_mutex_lock(&builder->lock);
    uint64_t number = ++builder->tokens;
    pthread_mutex_unlock(&builder->lock);
    return arena_printf(arena, "%s-%llu", builder->ranking->remote->node,
                        (unsigned long long)number);
}

/* Builds it if nobody else does. OK: it is whole. BUSY: somebody else builds it. */
static enum status build_partition(struct ranking_builder *builder, struct bytes partition,
                                   struct scope in) {
    struct remote_ranking *ranking = builder->ranking;
    struct rank_finish finish = {.partition = partition, .token = make_token(builder, in.arena)};
    enum rank_begin began;
    enum status status = rank_store_begin(&ranking->store, partition, finish.token, in, &began);
    if (status != OK || began == RANK_BEGIN_WHOLE)
        return status;
    if (began == RANK_BEGIN_OTHER)
        return BUSY;
    status = ranking_build(ranking, partition, finish.token);
    finish.whole = status == OK;
    enum status finished = rank_store_finish(&ranking->store, &finish, in);
    return status == OK ? finished : status;
}

/* --- the threads --- */

/* One that may be taken now; *until_us is when the next may be. Under the lock. */
static struct wanted *take_wanted(struct ranking_builder *builder, int64_t *until_us) {
    int64_t now_us = clock_ticks_us();
    struct map_slot *slot;
    size_t at = 0;
    *until_us = now_us + 1000000;
    while ((slot = map_next(&builder->wanted, &at)) != NULL) {
        struct wanted *wanted = slot->value;
        if (wanted->taken)
            continue;
        if (wanted->not_before_us <= now_us)
            return wanted;
        if (wanted->not_before_us < *until_us)
            *until_us = wanted->not_before_us;
    }
    return NULL;
}

static void finish_wanted(struct ranking_builder *builder, struct wanted *wanted,
                          enum status status) {
    wanted->taken = false;
    if (status == OK) {
        map_del(&builder->wanted, wanted->partition);
        mem_free(wanted);
    } else
        wanted->not_before_us =
            clock_ticks_us() +
            (int64_t)(status == BUSY ? LIMIT_RANK_LOOK_MS : LIMIT_RANK_RETRY_MS) * 1000;
    pthread_cond_broadcast(&builder->changed);
}

static void *run_builder(void *user) {
    struct ranking_builder *builder = user;
    struct arena arena;
    arena_init(&arena);
    pthread_mutex_lock(&builder->lock);
    while (!builder->stopping) {
        int64_t until_us;
        struct wanted *wanted = take_wanted(builder, &until_us);
        if (wanted == NULL) {
            wait_until(builder, until_us);
            continue;
        }
        wanted->taken = true;
        pthread_mutex_unlock(&builder->lock);
        struct failure failure = {0};
        enum status status =
            build_partition(builder, wanted->partition, (struct scope){&arena, &failure});
        arena_reset(&arena);
        pthread_mutex_lock(&builder->lock);
        finish_wanted(builder, wanted, status);
    }
    pthread_mutex_unlock(&builder->lock);
    arena_release(&arena);
    return NULL;
}

struct ranking_builder *ranking_builder_start(struct remote_ranking *ranking) {
    struct ranking_builder *builder = mem_zalloc(sizeof(*builder));
    pthread_condattr_t attributes;
    builder->ranking = ranking;
    pthread_mutex_init(&builder->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&builder->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    for (unsigned i = 0; i < LIMIT_RANK_BUILDERS; i++)
        thread_start(&builder->threads[i], run_builder, builder);
    return builder;
}

void ranking_builder_stop(struct ranking_builder *builder) {
    struct map_slot *slot;
    size_t at = 0;
    pthread_mutex_lock(&builder->lock);
    builder->stopping = true;
    pthread_cond_broadcast(&builder->changed);
    pthread_mutex_unlock(&builder->lock);
    for (unsigned i = 0; i < LIMIT_RANK_BUILDERS; i++)
        pthread_join(builder->threads[i], NULL);
    while ((slot = map_next(&builder->wanted, &at)) != NULL)
        mem_free(slot->value);
    map_release(&builder->wanted);
    pthread_cond_destroy(&builder->changed);
    pthread_mutex_destroy(&builder->lock);
    mem_free(builder);
}

/* --- asking --- */

/* Under the lock. Past the bound it is forgotten: who asks for its ranks asks for it again. */
static void want(struct ranking_builder *builder, struct bytes partition) {
    if (builder->wanted.count >= LIMIT_RANK_WANTED || map_get(&builder->wanted, partition) != NULL)
        return;
    struct wanted *wanted = mem_zalloc(sizeof(*wanted) + partition.size);
    memcpy(wanted->text, partition.data, partition.size);
    wanted->partition = bytes_of(wanted->text, partition.size);
    wanted->since_us = clock_ticks_us();
    map_put(&builder->wanted, wanted->partition, wanted);
    pthread_cond_broadcast(&builder->changed);
}

void ranking_builder_want(struct ranking_builder *builder, struct bytes partition) {
    pthread_mutex_lock(&builder->lock);
    want(builder, partition);
    pthread_mutex_unlock(&builder->lock);
}

void ranking_builder_await(struct ranking_builder *builder, struct bytes partition) {
    pthread_mutex_lock(&builder->lock);
    want(builder, partition);
    const struct wanted *wanted = map_get(&builder->wanted, partition);
    int64_t since_us = wanted != NULL ? wanted->since_us : 0;
    int64_t until_us = since_us + (int64_t)LIMIT_RANK_AWAIT_MS * 1000;
    while (!builder->stopping && map_get(&builder->wanted, partition) != NULL &&
           clock_ticks_us() < until_us)
        wait_until(builder, until_us);
    pthread_mutex_unlock(&builder->lock);
}

size_t ranking_builder_count(struct ranking_builder *builder) {
    pthread_mutex_lock(&builder->lock);
    size_t count = builder->wanted.count;
    pthread_mutex_unlock(&builder->lock);
    return count;
}
