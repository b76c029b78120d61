/* Accepting, and the beginning and end of a listener.
 *
 * The first loop accepts and hands each socket to the loop that has the fewest. A listener ends
 * in three steps, each of which waits for the loops: nothing new is accepted (so no connection is
 * on its way to a loop after that); connections end as their exchanges do; the rest is cut off.
 */
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/connection.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

enum {
    ACCEPT_BURST = 64,     /* connections a turn */
    ACCEPT_RETRY_MS = 100, /* after the process ran out of something */
    TURNED_AWAY_MAX = 64,  /* connections over the limit that get to hear why */
};

/* ---- accepting ---- */

static struct shard *fewest(struct http_listener *listener) {
    struct shard *best = &listener->shards[0];
    unsigned best_count = UINT32_MAX;
    for (unsigned i = 0; i < listener->shard_count; i++) {
        unsigned count = atomic_load_explicit(&listener->shards[i].count, memory_order_relaxed);
        if (count < best_count) {
            best = &listener->shards[i];
            best_count = count;
        }
    }
    return best;
}

static void run_arrive(struct task *task) {
    connection_start((struct connection *)((char *)task - offsetof(struct connection, task)));
}

static void arrive(struct http_listener *listener, int fd) {
    unsigned count = atomic_load_explicit(&listener->connections, memory_order_relaxed);
    unsigned max = listener->settings.connections_max;
    if (count >= max + TURNED_AWAY_MAX) {
        close(fd);
        return;
    }
    atomic_fetch_add(&listener->connections, 1);
    atomic_fetch_add(&listener->users, 1);
    uv_mutex_lock(&listener->mutex);
    listener->handles++;
    uv_mutex_unlock(&listener->mutex);

    struct shard *shard = fewest(listener);
    atomic_fetch_add_explicit(&shard->count, 1, memory_order_relaxed);
    struct connection *connection = connection_new(shard, fd, count >= max);
    connection->task.run = run_arrive;
    if (shard->loop == loop_current())
        connection_start(connection);
    else
        loop_post(shard->loop, &connection->task);
}

static void on_acceptable(uv_poll_t *poll, int status, int events);

static void on_retry(uv_timer_t *timer) {
    struct http_listener *listener = timer->data;
    uv_poll_start(&listener->accept, UV_READABLE, on_acceptable);
}

/* Out of file descriptors or memory: those who wait stay in the system's queue until some of the
 * connections have ended. */
static void pause_accepting(struct http_listener *listener, int error) {
    log_warn("cannot accept a connection: %s; trying again in %d ms", uv_strerror(error),
             ACCEPT_RETRY_MS);
    uv_poll_stop(&listener->accept);
    uv_timer_start(&listener->retry, on_retry, ACCEPT_RETRY_MS, 0);
}

static void on_acceptable(uv_poll_t *poll, int status, int events) {
    struct http_listener *listener = poll->data;
    (void)events;
    if (status < 0) {
        pause_accepting(listener, status);
        return;
    }
    for (int i = 0; i < ACCEPT_BURST; i++) {
        int fd = wire_accept(listener->fd);
        if (fd >= 0)
            arrive(listener, fd);
        else if (fd == -EAGAIN || fd == -EWOULDBLOCK)
            return;
        else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM) {
            pause_accepting(listener, fd);
            return;
        } /* else that client has gone already: on to the next */
    }
}

/* ---- counting what is left ---- */

static void listener_unuse(struct http_listener *listener) {
    if (atomic_fetch_sub(&listener->users, 1) != 1)
        return;
    for (unsigned i = 0; i < listener->shard_count; i++)
        shard_release(&listener->shards[i]);
    uv_cond_destroy(&listener->changed);
    uv_mutex_destroy(&listener->mutex);
    mem_free(listener);
}

void listener_handle_closed(struct http_listener *listener) {
    uv_mutex_lock(&listener->mutex);
    listener->handles--;
    uv_cond_signal(&listener->changed);
    uv_mutex_unlock(&listener->mutex);
}

void listener_connection_over(struct http_listener *listener) {
    uv_mutex_lock(&listener->mutex);
    atomic_fetch_sub(&listener->connections, 1);
    uv_cond_signal(&listener->changed);
    uv_mutex_unlock(&listener->mutex);
    listener_unuse(listener);
}

/* ---- beginning ---- */

static void run_start(struct task *task) {
    struct http_listener *listener =
        (struct http_listener *)((char *)task - offsetof(struct http_listener, start));
    uv_loop_t *uv = loop_uv(listener->shards[0].loop);
    uv_timer_init(uv, &listener->retry);
    listener->retry.data = listener;
    int failed = uv_poll_init(uv, &listener->accept, listener->fd);
    assert(failed == 0);
    (void)failed;
    listener->accept.data = listener;
    uv_poll_start(&listener->accept, UV_READABLE, on_acceptable);
}

static void on_acceptor_closed(uv_handle_t *handle) {
    struct http_listener *listener = handle->data;
    uv_mutex_lock(&listener->mutex);
    listener->acceptors--;
    uv_cond_signal(&listener->changed);
    uv_mutex_unlock(&listener->mutex);
}

static void run_stop(struct task *task) {
    struct http_listener *listener =
        (struct http_listener *)((char *)task - offsetof(struct http_listener, stop));
    uv_close((uv_handle_t *)&listener->accept, on_acceptor_closed);
    uv_close((uv_handle_t *)&listener->retry, on_acceptor_closed);
    close(listener->fd);
}

static void fill_in_defaults(struct http_settings *settings) {
    if (settings->body_max == 0)
        settings->body_max = LIMIT_BODY_SIZE;
    if (settings->header_max == 0)
        settings->header_max = LIMIT_HEADER_SIZE;
    if (settings->connections_max == 0)
        settings->connections_max = LIMIT_CONNECTIONS;
    if (settings->in_flight_max == 0)
        settings->in_flight_max = LIMIT_IN_FLIGHT;
    if (settings->idle_ms == 0)
        settings->idle_ms = LIMIT_IDLE_MS;
    if (settings->request_ms == 0)
        settings->request_ms = LIMIT_REQUEST_MS;
}

static struct http_listener *listener_new(struct loops *loops,
                                          const struct http_settings *settings) {
    unsigned count = loops_count(loops);
    struct http_listener *listener = mem_zalloc(sizeof(*listener) + count * sizeof(struct shard));
    listener->loops = loops;
    listener->settings = *settings;
    fill_in_defaults(&listener->settings);
    listener->settings.host = NULL; /* the caller's; not needed any more */
    listener->limits.header_max = listener->settings.header_max;
    listener->limits.body_max = listener->settings.body_max;
    listener->start.run = run_start;
    listener->stop.run = run_stop;
    atomic_init(&listener->users, 1);
    uv_mutex_init(&listener->mutex);
    uv_cond_init(&listener->changed);
    listener->acceptors = 2;
    listener->handles = count;
    listener->shard_count = count;
    for (unsigned i = 0; i < count; i++)
        shard_init(&listener->shards[i], listener, loops_get(loops, i));
    return listener;
}

enum status http_listen(struct loops *loops, const struct http_settings *settings,
                        struct arena *arena, struct failure *failure, struct http_listener **out) {
    int fd, port;
    enum status status = wire_listen(settings->host, settings->port, arena, failure, &fd, &port);
    if (status != OK)
        return status;
    struct http_listener *listener = listener_new(loops, settings);
    listener->fd = fd;
    listener->port = port;
    for (unsigned i = 0; i < listener->shard_count; i++)
        loop_post(listener->shards[i].loop, &listener->shards[i].start);
    loop_post(listener->shards[0].loop, &listener->start);
    *out = listener;
    return OK;
}

int http_port(const struct http_listener *listener) {
    return listener->port;
}

unsigned http_connections(const struct http_listener *listener) {
    return atomic_load_explicit(&listener->connections, memory_order_relaxed);
}

/* ---- end ---- */

static void await_connections(struct http_listener *listener, int grace_ms) {
    uint64_t now = uv_hrtime(), end = now + (uint64_t)grace_ms * 1000000;
    while (atomic_load(&listener->connections) != 0 && now < end) {
        uv_cond_timedwait(&listener->changed, &listener->mutex, end - now);
        now = uv_hrtime();
    }
}

void http_close(struct http_listener *listener, int grace_ms) {
    assert(loop_current() == NULL);
    loop_post(listener->shards[0].loop, &listener->stop);
    uv_mutex_lock(&listener->mutex);
    while (listener->acceptors != 0)
        uv_cond_wait(&listener->changed, &listener->mutex);
    for (unsigned i = 0; i < listener->shard_count; i++)
        loop_post(listener->shards[i].loop, &listener->shards[i].wind_down);
    await_connections(listener, grace_ms);
    for (unsigned i = 0; i < listener->shard_count; i++)
        loop_post(listener->shards[i].loop, &listener->shards[i].end);
    while (listener->handles != 0)
        uv_cond_wait(&listener->changed, &listener->mutex);
    uv_mutex_unlock(&listener->mutex);
    listener_unuse(listener);
}
