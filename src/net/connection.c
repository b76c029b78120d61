#include "net/connection.h"

#include "base/mem.h"

enum {
    LINGER_MS = 2000,
    LINGER_READ_SIZE = 16 * 1024,
};

static const struct connection_kind *kind_of(const struct connection *connection) {
    return connection->shard->listener->kind;
}

/* ---- waiting ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

void connection_watch(struct connection *connection, int events) {
    if (connection->watched == events)
        return;
    connection->watched = events;
    if (events == 0)
        uv_poll_stop(&connection->poll);
    else
        uv_poll_start(&connection->poll, events, on_poll);
}

void connection_wait(struct connection *connection, int wait_ms) {
    connection->deadline_ms =
        wait_ms == 0 ? CONNECTION_NEVER : shard_now(connection->shard) + (uint64_t)wait_ms;
}

/* ---- the end ---- */

void connection_free_if_over(struct connection *connection) {
    if (!connection->handle_closed || kind_of(connection)->in_use(connection))
        return;
    struct shard *shard = connection->shard;
    kind_of(connection)->over(connection);
    shard_unlink(shard, connection);
    mem_free(connection);
    atomic_fetch_sub_explicit(&shard->count, 1, memory_order_relaxed);
    listener_connection_over(shard->listener);
}

static void on_handle_closed(uv_handle_t *handle) {
    struct connection *connection = handle->data;
    connection->handle_closed = true;
    listener_handle_closed(connection->shard->listener);
    connection_free_if_over(connection);
}

void connection_drop(struct connection *connection) {
    if (connection->state == CONNECTION_CLOSED)
        return;
    connection->state = CONNECTION_CLOSED;
    connection->deadline_ms = CONNECTION_NEVER;
    uv_close((uv_handle_t *)&connection->poll, on_handle_closed);
    wire_close(&connection->wire);
    kind_of(connection)->dropped(connection);
}

void connection_linger(struct connection *connection) {
    wire_finish(&connection->wire);
    connection->state = CONNECTION_LINGERING;
    connection_wait(connection, LINGER_MS);
    connection_watch(connection, UV_READABLE);
}

static void read_away(struct connection *connection) {
    uint8_t unwanted[LINGER_READ_SIZE];
    ssize_t got = wire_read(&connection->wire, unwanted, sizeof(unwanted));
    if (got == 0 || got == WIRE_GONE)
        connection_drop(connection);
}

/* ---- the beginning ---- */

struct connection *connection_new(struct shard *shard, int fd, bool turned_away) {
    struct connection *connection = mem_zalloc(shard->listener->kind->size);
    connection->shard = shard;
    connection->turned_away = turned_away;
    connection->placed =
        atomic_load_explicit(&shard->listener->placement.number, memory_order_relaxed);
    wire_open(&connection->wire, fd, shard->listener->settings.tls);
    return connection;
}

/* The handle that its loop has for it. False: epoll is out of room, and that was its end. */
static bool open_handle(struct connection *connection) {
    struct shard *shard = connection->shard;
    int failed = uv_poll_init(loop_uv(shard->loop), &connection->poll, connection->wire.fd);
    connection->poll.data = connection;
    if (failed == 0)
        return true;
    wire_close(&connection->wire);
    connection->state = CONNECTION_CLOSED;
    on_handle_closed((uv_handle_t *)&connection->poll);
    return false;
}

/* Agrees on the encryption, and says so to a client that knows of none. */
static void greet(struct connection *connection) {
    switch (wire_greet(&connection->wire)) {
    case WIRE_WANTS_IN:
        connection_watch(connection, UV_READABLE);
        break;
    case WIRE_WANTS_OUT:
        connection_watch(connection, UV_WRITABLE);
        break;
    case WIRE_READY:
        connection->state = CONNECTION_OPEN;
        kind_of(connection)->begin(connection);
        break;
    case WIRE_PLAIN:
        connection->state = CONNECTION_OPEN;
        kind_of(connection)->misled(connection);
        break;
    case WIRE_REFUSED:
        connection_drop(connection);
    }
}

void connection_start(struct connection *connection) {
    struct shard *shard = connection->shard;
    shard_link(shard, connection);
    shard_count(connection->turned_away ? &shard->counts.turned_away : &shard->counts.accepted, 1);
    if (!open_handle(connection))
        return;
    connection->state = CONNECTION_GREETING;
    connection_wait(connection, shard->listener->settings.request_ms);
    greet(connection);
}

/* ---- to another loop ---- */

/* On the new loop. A listener that ends has told this shard's connections already. */
static void run_moved(struct task *task) {
    struct connection *connection =
        (struct connection *)((char *)task - offsetof(struct connection, task));
    shard_link(connection->shard, connection);
    if (!open_handle(connection))
        return;
    connection->state = CONNECTION_OPEN;
    kind_of(connection)->moved(connection);
    if (connection->shard->closing)
        connection_wind_down(connection);
}

static void on_left(uv_handle_t *handle) {
    struct connection *connection = handle->data;
    connection->task.run = run_moved;
    loop_post(connection->shard->loop, &connection->task);
}

bool connection_move(struct connection *connection) {
    struct shard *from = connection->shard, *to = placement_again(from);
    connection->placed =
        atomic_load_explicit(&from->listener->placement.number, memory_order_relaxed);
    if (to == from || from->closing)
        return false;
    shard_unlink(from, connection);
    atomic_fetch_sub_explicit(&from->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&to->count, 1, memory_order_relaxed);
    connection->shard = to;
    connection->state = CONNECTION_MOVING;
    connection->watched = 0;
    if (kind_of(connection)->leaves != NULL)
        kind_of(connection)->leaves(connection);
    uv_close((uv_handle_t *)&connection->poll, on_left);
    return true;
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    struct connection *connection = poll->data;
    if (status < 0) {
        connection_drop(connection);
        return;
    }
    switch (connection->state) {
    case CONNECTION_OPEN:
        kind_of(connection)->ready(connection, events);
        break;
    case CONNECTION_GREETING:
        greet(connection);
        break;
    case CONNECTION_LINGERING:
        read_away(connection);
        break;
    case CONNECTION_MOVING:
    case CONNECTION_CLOSED:
        break;
    }
}

/* ---- what its shard tells it ---- */

void connection_expire(struct connection *connection) {
    if (connection->state == CONNECTION_OPEN)
        kind_of(connection)->expire(connection);
    else
        connection_drop(connection);
}

void connection_review(struct connection *connection) {
    if (connection->state == CONNECTION_OPEN)
        kind_of(connection)->review(connection);
}

void connection_wind_down(struct connection *connection) {
    if (connection->state == CONNECTION_OPEN)
        kind_of(connection)->wind_down(connection);
    else
        connection_drop(connection);
}
