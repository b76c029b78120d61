/* Accepting, and the beginning and end of a listener.
 *
 * The first loop accepts and hands each socket to a loop (placement.h). A listener ends
 * in three steps, each of which waits for the loops: nothing new is accepted (so no connection is
 * on its way to a loop after that); connections end as what they are at does; the rest is cut off.
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
};

/* ---- accepting ---- */

static void run_arrive(struct task *task) {
    connection_start((struct connection *)((char *)task - offsetof(struct connection, task)));
}

static void arrive(struct listener *listener, int fd) {
    unsigned count = atomic_load_explicit(&listener->connections, memory_order_relaxed);
    unsigned max = listener->settings.connections_max;
    if (count >= max + LIMIT_TURNED_AWAY) {
        close(fd);
        return;
    }
    atomic_fetch_add(&listener->connections, 1);
    atomic_fetch_add(&listener->users, 1);
    uv_mutex_lock(&listener->mutex);
    listener->handles++;
    uv_mutex_unlock(&listener->mutex);

    struct shard *shard = placement_of_new(listener);
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
    struct listener *listener = timer->data;
    uv_poll_start(&listener->accept, UV_READABLE, on_acceptable);
}

/* Out of file descriptors or memory: those who wait stay in the system's queue until some of the
 * connections have ended. */
static void pause_accepting(struct listener *listener, int error) {
    log_warn("cannot accept a connection: %s; trying again in %d ms", uv_strerror(error),
             ACCEPT_RETRY_MS);
    uv_poll_stop(&listener->accept);
    uv_timer_start(&listener->retry, on_retry, ACCEPT_RETRY_MS, 0);
}

static void on_acceptable(uv_poll_t *poll, int status, int events) {
    struct listener *listener = poll->data;
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

static void listener_unuse(struct listener *listener) {
    if (atomic_fetch_sub(&listener->users, 1) != 1)
        return;
    for (unsigned i = 0; i < listener->shard_count; i++)
        shard_release(&listener->shards[i]);
    listener->kind->own_free(listener->own);
    uv_cond_destroy(&listener->changed);
    uv_mutex_destroy(&listener->mutex);
    mem_free(listener);
}

void listener_handle_closed(struct listener *listener) {
    uv_mutex_lock(&listener->mutex);
    listener->handles--;
    uv_cond_signal(&listener->changed);
    uv_mutex_unlock(&listener->mutex);
}

void listener_connection_over(struct listener *listener) {
    uv_mutex_lock(&listener->mutex);
    atomic_fetch_sub(&listener->connections, 1);
    uv_cond_signal(&listener->changed);
    uv_mutex_unlock(&listener->mutex);
    listener_unuse(listener);
}

/* ---- beginning ---- */

static void run_start(struct task *task) {
    struct listener *listener =
        (struct listener *)((char *)task - offsetof(struct listener, start));
    uv_loop_t *uv = loop_uv(listener->shards[0].loop);
    uv_timer_init(uv, &listener->retry);
    listener->retry.data = listener;
    int failed = uv_poll_init(uv, &listener->accept, listener->fd);
    assert(failed == 0);
    (void)failed;
    listener->accept.data = listener;
    uv_poll_start(&listener->accept, UV_READABLE, on_acceptable);
    if (listener->settings.gather)
        placement_start(listener);
}

static void on_acceptor_closed(uv_handle_t *handle) {
    struct listener *listener = handle->data;
    uv_mutex_lock(&listener->mutex);
    listener->acceptors--;
    uv_cond_signal(&listener->changed);
    uv_mutex_unlock(&listener->mutex);
}

static void run_stop(struct task *task) {
    struct listener *listener = (struct listener *)((char *)task - offsetof(struct listener, stop));
    uv_close((uv_handle_t *)&listener->accept, on_acceptor_closed);
    uv_close((uv_handle_t *)&listener->retry, on_acceptor_closed);
    if (listener->settings.gather)
        uv_close((uv_handle_t *)&listener->placement.timer, on_acceptor_closed);
    close(listener->fd);
}

static struct listener *listener_new(struct loops *loops,
                                     const struct listener_settings *settings) {
    unsigned count = loops_count(loops);
    struct listener *listener = mem_zalloc(sizeof(*listener) + count * sizeof(struct shard));
    listener->loops = loops;
    listener->settings = *settings;
    listener->settings.host = NULL; /* the caller's; not needed any more */
    listener->kind = settings->kind;
    listener->own = settings->own;
    listener->start.run = run_start;
    listener->stop.run = run_stop;
    atomic_init(&listener->users, 1);
    uv_mutex_init(&listener->mutex);
    uv_cond_init(&listener->changed);
    listener->acceptors = settings->gather ? 3 : 2;
    listener->handles = count;
    listener->shard_count = count;
    for (unsigned i = 0; i < count; i++)
        shard_init(&listener->shards[i], listener, loops_get(loops, i));
    return listener;
}

enum status listener_open(struct loops *loops, const struct listener_settings *settings,
                          struct scope in, struct listener **out) {
    int fd = -1, port = settings->port;
    enum status status = wire_listen(settings->host, &port, in, &fd);
    if (status != OK) {
        settings->kind->own_free(settings->own);
        return status;
    }
    struct listener *listener = listener_new(loops, settings);
    listener->fd = fd;
    listener->port = port;
    for (unsigned i = 0; i < listener->shard_count; i++)
        loop_post(listener->shards[i].loop, &listener->shards[i].start);
    loop_post(listener->shards[0].loop, &listener->start);
    *out = listener;
    return OK;
}

int listener_port(const struct listener *listener) {
    return listener->port;
}

unsigned listener_connections(const struct listener *listener) {
    return atomic_load_explicit(&listener->connections, memory_order_relaxed);
}

void listener_figures(const struct listener *listener, struct listener_figures *out) {
    *out = (struct listener_figures){.connections = listener_connections(listener)};
    for (unsigned i = 0; i < listener->shard_count; i++) {
        const struct shard_counts *counts = &listener->shards[i].counts;
        out->accepted += atomic_load_explicit(&counts->accepted, memory_order_relaxed);
        out->turned_away += atomic_load_explicit(&counts->turned_away, memory_order_relaxed);
        out->bytes_in += atomic_load_explicit(&counts->bytes_in, memory_order_relaxed);
        out->bytes_out += atomic_load_explicit(&counts->bytes_out, memory_order_relaxed);
        out->refused += atomic_load_explicit(&counts->refused, memory_order_relaxed);
        out->looked_us += (uint64_t)loop_looked_us(listener->shards[i].loop);
    }
}

void listener_review(struct listener *listener) {
    for (unsigned i = 0; i < listener->shard_count; i++)
        shard_review(&listener->shards[i]);
}

/* ---- end ---- */

static void await_connections(struct listener *listener, int grace_ms) {
    uint64_t now = uv_hrtime(), end = now + (uint64_t)grace_ms * 1000000;
    while (atomic_load(&listener->connections) != 0 && now < end) {
        uv_cond_timedwait(&listener->changed, &listener->mutex, end - now);
        now = uv_hrtime();
    }
}

void listener_close(struct listener *listener, int grace_ms) {
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
