#include "net/shard.h"

#include "base/spare_blocks.h"
#include "net/connection.h"

#include <pthread.h>

enum {
    SWEEP_MIN_MS = 10,
    SWEEP_MAX_MS = 1000,
    SWEEP_STEP = 256,     /* connections that are looked at together; */
    SWEEP_STEPS_MAX = 50, /* of more than so many steps each looks at more */
};

/* ---- the list ---- */

void shard_link(struct shard *shard, struct connection *connection) {
    connection->prev = NULL;
    connection->next = shard->connections;
    if (connection->next != NULL)
        connection->next->prev = connection;
    shard->connections = connection;
}

void shard_unlink(struct shard *shard, struct connection *connection) {
    if (shard->cursor == connection)
        shard->cursor = connection->next;
    if (shard->swept == connection)
        shard->swept = connection->next;
    if (connection->next != NULL)
        connection->next->prev = connection->prev;
    if (connection->prev != NULL)
        connection->prev->next = connection->next;
    else
        shard->connections = connection->next;
}

/* Visits every connection; a visit may end any of them. */
static void walk(struct shard *shard, void (*visit)(struct connection *)) {
    shard->cursor = shard->connections;
    while (shard->cursor != NULL) {
        struct connection *connection = shard->cursor;
        shard->cursor = connection->next;
        visit(connection);
    }
}

/* ---- its life: tasks, posted by the listener ---- */

static void expire_if_due(struct connection *connection) {
    if (connection->deadline_ms <= shard_now(connection->shard))
        connection_expire(connection);
}

/* How many steps a sweep of the connections that there are has. */
static unsigned sweep_steps(const struct shard *shard) {
    unsigned steps = atomic_load_explicit(&shard->count, memory_order_relaxed) / SWEEP_STEP + 1;
    return steps < SWEEP_STEPS_MAX ? steps : SWEEP_STEPS_MAX;
}

static void begin_sweep(struct shard *shard) {
    unsigned count = atomic_load_explicit(&shard->count, memory_order_relaxed);
    shard->swept = shard->connections;
    shard->sweep_step = count / sweep_steps(shard) + 1;
    spare_blocks_trim();
}

/* A step of a sweep, which looks at each connection once: clients that came together are pinged
 * together, and 4,000 pings at once keep those waiting who play. */
static void on_sweep(uv_timer_t *timer) {
    struct shard *shard = timer->data;
    if (shard->swept == NULL)
        begin_sweep(shard);
    for (unsigned i = 0; i < shard->sweep_step && shard->swept != NULL; i++) {
        struct connection *connection = shard->swept;
        shard->swept = connection->next;
        expire_if_due(connection);
    }
    uv_timer_start(timer, on_sweep, shard->sweep_ms / sweep_steps(shard), 0);
}

/* Often enough that a time-out is late by no more than a quarter, or a second. */
static uint64_t sweep_ms(const struct listener_settings *settings) {
    int every = settings->shortest_ms / 4;
    if (every < SWEEP_MIN_MS)
        every = SWEEP_MIN_MS;
    return (uint64_t)(every > SWEEP_MAX_MS ? SWEEP_MAX_MS : every);
}

static void run_start(struct task *task) {
    struct shard *shard = (struct shard *)((char *)task - offsetof(struct shard, start));
    bool has = pthread_getcpuclockid(pthread_self(), &shard->processor_clock) == 0;
    atomic_store_explicit(&shard->has_processor_clock, has, memory_order_release);
    uv_timer_init(loop_uv(shard->loop), &shard->sweep);
    shard->sweep.data = shard;
    shard->sweep_ms = sweep_ms(&shard->listener->settings);
    uv_timer_start(&shard->sweep, on_sweep, shard->sweep_ms, 0);
}

static void run_wind_down(struct task *task) {
    struct shard *shard = (struct shard *)((char *)task - offsetof(struct shard, wind_down));
    shard->closing = true;
    walk(shard, connection_wind_down);
}

/* Cleared first: who asks from now on means the state that comes after this walk. */
static void run_review(struct task *task) {
    struct shard *shard = (struct shard *)((char *)task - offsetof(struct shard, review));
    atomic_store(&shard->review_posted, false);
    walk(shard, connection_review);
}

void shard_review(struct shard *shard) {
    if (!atomic_exchange(&shard->review_posted, true))
        loop_post(shard->loop, &shard->review);
}

static void on_sweep_closed(uv_handle_t *handle) {
    struct shard *shard = handle->data;
    listener_handle_closed(shard->listener);
}

static void run_end(struct task *task) {
    struct shard *shard = (struct shard *)((char *)task - offsetof(struct shard, end));
    walk(shard, connection_drop);
    uv_close((uv_handle_t *)&shard->sweep, on_sweep_closed);
}

void shard_init(struct shard *shard, struct listener *listener, struct loop *loop) {
    shard->listener = listener;
    shard->loop = loop;
    shard->start.run = run_start;
    shard->wind_down.run = run_wind_down;
    shard->end.run = run_end;
    shard->review.run = run_review;
    shard->shared = listener->kind->shared_new(shard);
}

void shard_release(struct shard *shard) {
    shard->listener->kind->shared_free(shard->shared);
}
