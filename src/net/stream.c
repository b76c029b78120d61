/* The stream's kind of connection. Bytes are read into a buffer that all streams of a loop share;
 * only what the handler leaves is kept, in a buffer of the stream's own, borrowed from a pool as is
 * the one for what it sends: an idle stream has neither. */
#include "net/stream.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/connection.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    READ_SIZE = 64 * 1024,
    WRITE_MAX = 1024 * 1024, /* a turn: others wait */
    SPARE_MAX = 64,          /* buffers that a loop keeps, */
    SPARE_ROOM = 64 * 1024,  /* each of at most this much */
};

struct stream_connection {
    struct connection base; /* first */
    struct stream stream;
    struct buf in;  /* what the handler has not taken, */
    size_t in_at;   /* from here on */
    size_t sent;    /* of stream.out */
    size_t counted; /* its part of stream_own.waiting */
    unsigned holds; /* and one while it is among the dirty */
    bool dirty;     /* in the list of those that have something to send */
    bool busy;      /* `arrived` is on the stack */
    bool paused;    /* the handler has left requests because too much waits to be sent */
    bool full;      /* the system takes no more of it at present */
    bool shows_own; /* `arrived` sees bytes of `in` */
    bool gave;      /* and has taken that over */
    bool eof;       /* the client sends no more */
    struct stream_connection *next_dirty;
};

struct stream_own {
    struct stream_settings settings;
    atomic_size_t waiting; /* bytes to be sent, of all streams */
};

struct stream_shared {
    struct task flush; /* sends for the dirty */
    struct stream_connection *dirty;
    struct buf spare[SPARE_MAX];
    unsigned spares;
    uint8_t in[READ_SIZE];
};

static void read_some(struct stream_connection *s);

static struct stream_connection *of_connection(struct connection *connection) {
    return (struct stream_connection *)connection;
}

static struct stream_connection *of_stream(struct stream *stream) {
    return (struct stream_connection *)((char *)stream -
                                        offsetof(struct stream_connection, stream));
}

static struct stream_own *own_of(const struct stream_connection *s) {
    return s->base.shard->listener->own;
}

static const struct stream_settings *settings_of(const struct stream_connection *s) {
    return &own_of(s)->settings;
}

static struct stream_shared *shared_of(const struct stream_connection *s) {
    return s->base.shard->shared;
}

/* ---- buffers ---- */

static void borrow(struct stream_connection *s, struct buf *buf) {
    struct stream_shared *shared = shared_of(s);
    if (buf->room == 0 && shared->spares > 0)
        *buf = shared->spare[--shared->spares];
}

static void give_back(struct stream_connection *s, struct buf *buf) {
    struct stream_shared *shared = shared_of(s);
    buf_clear(buf);
    if (buf->room != 0 && buf->room <= SPARE_ROOM && shared->spares < SPARE_MAX)
        shared->spare[shared->spares++] = *buf;
    else
        buf_release(buf);
    *buf = (struct buf){0};
}

/* ---- what it waits for ---- */

static size_t unsent(const struct stream_connection *s) {
    return s->stream.out.size - s->sent;
}

static size_t untaken(const struct stream_connection *s) {
    return s->in.size - s->in_at;
}

static bool may_read(const struct stream_connection *s) {
    if (s->eof || s->stream.ending || unsent(s) > settings_of(s)->out_pause)
        return false;
    return !s->stream.stalled || untaken(s) < LIMIT_STALLED;
}

/* Brings the count of what waits for all clients up to date. */
static void count_unsent(struct stream_connection *s) {
    size_t now = unsent(s);
    if (now != s->counted)
        atomic_fetch_add(&own_of(s)->waiting, now - s->counted); /* modulo, if it is less */
    s->counted = now;
}

static bool is_crowded(const struct stream_connection *s) {
    return atomic_load_explicit(&own_of(s)->waiting, memory_order_relaxed) >
           settings_of(s)->out_total;
}

bool stream_is_crowded(const struct stream *stream) {
    return is_crowded(
        (const struct stream_connection *)((const char *)stream -
                                           offsetof(struct stream_connection, stream)));
}

/* What a crowd leaves to each is what it has read most of, so that it goes on as it reads. */
static bool is_full(const struct stream_connection *s) {
    size_t waits = unsent(s);
    return waits > settings_of(s)->out_pause || (waits > SPARE_ROOM && is_crowded(s));
}

bool stream_is_full(struct stream *stream) {
    struct stream_connection *s = of_stream(stream);
    s->paused = is_full(s);
    return s->paused;
}

/* Says what comes next, after anything has happened. */
static void settle(struct stream_connection *s) {
    count_unsent(s);
    if (s->base.state != CONNECTION_OPEN)
        return;
    bool idle = unsent(s) == 0 && s->holds == 0;
    if (idle && (s->eof || s->base.shard->closing)) {
        connection_drop(&s->base);
        return;
    }
    if (s->stream.ending && unsent(s) == 0) {
        connection_linger(&s->base);
        return;
    }
    bool waits = unsent(s) != 0 || (untaken(s) != 0 && !s->stream.stalled);
    connection_wait(&s->base, waits           ? settings_of(s)->request_ms
                              : s->holds != 0 ? 0 /* what is under way has all the time it wants */
                                              : settings_of(s)->idle_ms);
    /* Another set of events costs calls to the system: what is about to be sent needs none. */
    connection_watch(&s->base, (may_read(s) ? UV_READABLE : 0) | (s->full ? UV_WRITABLE : 0));
}

/* ---- to another loop ---- */

/* Nothing is under way, and it has nothing of the loop's. */
static bool is_at_rest(const struct stream_connection *s) {
    return s->base.state == CONNECTION_OPEN && s->holds == 0 && !s->busy && !s->eof &&
           !s->stream.ending && !s->stream.stalled && !s->base.wire.pending && s->in.room == 0 &&
           s->stream.out.room == 0;
}

/* Changes its loop if it should and can. True: it has left, and is not to be touched any more. */
static bool leave(struct stream_connection *s) {
    const struct stream_settings *settings = settings_of(s);
    return connection_is_misplaced(&s->base) && settings->handler.may_move != NULL &&
           is_at_rest(s) && settings->handler.may_move(&s->stream, settings->context) &&
           connection_move(&s->base);
}

/* ---- sending ---- */

/* Sends what it can. False if that was the end of it. */
static bool flush(struct stream_connection *s) {
    struct buf *out = &s->stream.out;
    if (unsent(s) > settings_of(s)->out_max) {
        log_warn("a client that does not read was cut off: %zu bytes waited for it", unsent(s));
        connection_drop(&s->base);
        return false;
    }
    s->full = false;
    if (unsent(s) != 0) {
        size_t size = unsent(s) < WRITE_MAX ? unsent(s) : WRITE_MAX;
        ssize_t sent =
            wire_write(&s->base.wire, bytes_of(out->data + s->sent, size), (struct bytes){0});
        if (sent == WIRE_GONE) {
            connection_drop(&s->base);
            return false;
        }
        if (sent != WIRE_AGAIN) {
            s->sent += (size_t)sent;
            shard_count(&s->base.shard->counts.bytes_out, (uint64_t)sent);
        }
        s->full = unsent(s) != 0; /* the rest when it is this connection's turn again */
        if (s->full)
            return true;
    }
    s->sent = 0;
    give_back(s, out);
    return true;
}

static void take_own(struct stream_connection *s);

/* Sends what it can, and goes on with requests that were left until then. */
static bool flush_on(struct stream_connection *s) {
    bool open = flush(s);
    while (open && s->paused && !is_full(s)) {
        s->paused = false;
        if (untaken(s) != 0)
            take_own(s);
        open = s->base.state == CONNECTION_OPEN && flush(s);
    }
    return open;
}

static void run_flush(struct task *task) {
    struct stream_shared *shared =
        (struct stream_shared *)((char *)task - offsetof(struct stream_shared, flush));
    while (shared->dirty != NULL) {
        struct stream_connection *s = shared->dirty;
        shared->dirty = s->next_dirty;
        s->dirty = false;
        s->holds--;
        if (s->base.state == CONNECTION_OPEN && flush_on(s))
            settle(s);
        if (!leave(s))
            connection_free_if_over(&s->base);
    }
}

void stream_send(struct stream *stream) {
    struct stream_connection *s = of_stream(stream);
    struct stream_shared *shared = shared_of(s);
    if (s->dirty || s->busy)
        return;
    if (shared->dirty == NULL)
        loop_after(stream->loop, &shared->flush);
    s->dirty = true;
    s->holds++;
    s->next_dirty = shared->dirty;
    shared->dirty = s;
}

/* ---- receiving ---- */

/* The handler sees the bytes; returns how many it took. */
static size_t offer(struct stream_connection *s, struct bytes bytes) {
    const struct stream_settings *settings = settings_of(s);
    if (s->stream.stalled || s->stream.ending || bytes.size == 0)
        return 0;
    borrow(s, &s->stream.out);
    s->busy = true;
    size_t taken = settings->handler.arrived(&s->stream, bytes, settings->context);
    s->busy = false;
    assert(taken <= bytes.size || s->gave);
    return taken;
}

/* Of bytes in the shared buffer: what is left of them is kept. */
static void take_shared(struct stream_connection *s, size_t size) {
    struct bytes bytes = bytes_of(shared_of(s)->in, size);
    bytes = bytes_skip(bytes, offer(s, bytes));
    if (bytes.size != 0 && !s->stream.ending) {
        borrow(s, &s->in);
        buf_put(&s->in, bytes);
    }
}

bool stream_take_in(struct stream *stream, const uint8_t *end, struct buf *out) {
    struct stream_connection *s = of_stream(stream);
    if (!s->shows_own)
        return false;
    struct bytes rest = bytes_of(end, (size_t)(s->in.data + s->in.size - end));
    if (rest.size > READ_SIZE)
        return false;
    *out = s->in;
    s->in = (struct buf){0};
    s->in_at = 0;
    s->shows_own = false;
    s->gave = true;
    if (rest.size != 0) {
        borrow(s, &s->in);
        buf_put(&s->in, rest);
    }
    return true;
}

static void take_own(struct stream_connection *s) {
    s->shows_own = true;
    s->gave = false;
    size_t taken = offer(s, bytes_of(s->in.data + s->in_at, untaken(s)));
    s->shows_own = false;
    s->in_at += s->gave ? 0 : taken;
    if (untaken(s) == 0) {
        s->in_at = 0;
        give_back(s, &s->in);
    } else if (s->in_at > s->in.size / 2) { /* moving a byte costs a byte taken */
        memmove(s->in.data, s->in.data + s->in_at, untaken(s));
        s->in.size = untaken(s);
        s->in_at = 0;
    }
}

static void read_some(struct stream_connection *s) {
    struct stream_shared *shared = shared_of(s);
    bool own = s->in.size != 0;
    size_t room = own && s->in.size < READ_SIZE ? READ_SIZE / 4 : READ_SIZE;
    uint8_t *to = own ? buf_reserve(&s->in, room) : shared->in;
    ssize_t got = wire_read(&s->base.wire, to, room);
    if (got == WIRE_AGAIN)
        return;
    if (got == WIRE_GONE) {
        connection_drop(&s->base);
        return;
    }
    shard_count(&s->base.shard->counts.bytes_in, (uint64_t)got);
    if (got == 0)
        s->eof = true;
    else if (own) {
        s->in.size += (size_t)got;
        take_own(s);
    } else
        take_shared(s, (size_t)got);
    if (s->base.state == CONNECTION_OPEN && s->stream.out.room != 0)
        flush_on(s);
}

static void on_ready(struct connection *connection, int events) {
    struct stream_connection *s = of_connection(connection);
    if ((events & UV_WRITABLE) != 0 && !flush_on(s))
        return;
    if ((events & UV_READABLE) != 0 && may_read(s))
        read_some(s);
    /* Bytes that the encryption has taken from the socket already wake nobody. */
    while (s->base.state == CONNECTION_OPEN && s->base.wire.pending && may_read(s))
        read_some(s);
    settle(s);
}

static void on_events(struct connection *connection, int events) {
    on_ready(connection, events);
    leave(of_connection(connection));
}

void stream_resume(struct stream *stream) {
    struct stream_connection *s = of_stream(stream);
    stream->stalled = false;
    if (s->base.state != CONNECTION_OPEN || s->busy)
        return;
    if (untaken(s) != 0)
        take_own(s);
    if (s->base.state == CONNECTION_OPEN && s->base.wire.pending)
        on_ready(&s->base, UV_READABLE);
    stream_send(stream);
}

/* ---- its life ---- */

void stream_end(struct stream *stream) {
    struct stream_connection *s = of_stream(stream);
    s->stream.ending = true;
    stream_send(stream);
}

void stream_drop(struct stream *stream) {
    struct stream_connection *s = of_stream(stream);
    assert(!s->busy);
    if (s->base.state == CONNECTION_CLOSED)
        return;
    connection_drop(&s->base);
    connection_free_if_over(&s->base);
}

size_t stream_unsent(const struct stream *stream) {
    return unsent((const struct stream_connection *)((const char *)stream -
                                                     offsetof(struct stream_connection, stream)));
}

void stream_hold(struct stream *stream) {
    of_stream(stream)->holds++;
}

void stream_release(struct stream *stream) {
    struct stream_connection *s = of_stream(stream);
    assert(s->holds > 0);
    s->holds--;
    if (s->busy)
        return;
    settle(s);
    connection_free_if_over(&s->base);
}

void stream_address(const struct stream *stream, bool ours, char to[STREAM_ADDRESS_SIZE]) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);
    char host[INET6_ADDRSTRLEN] = "?";
    int fd = stream_socket(stream);
    int found = ours ? getsockname(fd, (struct sockaddr *)&address, &size)
                     : getpeername(fd, (struct sockaddr *)&address, &size);
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
    if (found == 0 && address.ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
        snprintf(to, STREAM_ADDRESS_SIZE, "[%s]:%d", host, ntohs(v6->sin6_port));
    } else {
        if (found == 0)
            inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
        /* The analyzer does not see that the call filled in what is read as another type here. */
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        snprintf(to, STREAM_ADDRESS_SIZE, "%s:%d", host, found == 0 ? ntohs(v4->sin_port) : 0);
    }
}

int stream_socket(const struct stream *stream) {
    const struct stream_connection *s =
        (const struct stream_connection *)((const char *)stream -
                                           offsetof(struct stream_connection, stream));
    return s->base.wire.fd;
}

static void on_begin(struct connection *connection) {
    struct stream_connection *s = of_connection(connection);
    const struct stream_settings *settings = settings_of(s);
    s->stream.loop = connection->shard->loop;
    if (connection->turned_away) {
        buf_put(&s->stream.out, settings->full);
        s->stream.ending = true;
        if (flush(s))
            settle(s);
        return;
    }
    wire_keep_alive(&connection->wire);
    settings->handler.opened(&s->stream, settings->context);
    on_ready(connection, 0);
}

static void on_misled(struct connection *connection) {
    connection_drop(connection);
}

static void on_expire(struct connection *connection) {
    connection_drop(connection);
}

static void on_wind_down(struct connection *connection) {
    struct stream_connection *s = of_connection(connection);
    /* Something may have arrived that the loop has not come round to. */
    if (may_read(s) && s->holds == 0)
        on_ready(connection, UV_READABLE);
    settle(s);
}

static void on_review(struct connection *connection) {
    struct stream_connection *s = of_connection(connection);
    const struct stream_settings *settings = settings_of(s);
    if (settings->handler.review != NULL && s->stream.user != NULL &&
        !settings->handler.review(&s->stream, settings->context))
        connection_drop(connection);
}

static void on_leaves(struct connection *connection) {
    struct stream_connection *s = of_connection(connection);
    const struct stream_settings *settings = settings_of(s);
    settings->handler.leaves(&s->stream, connection->shard->loop, settings->context);
}

/* Who reviewed all connections meanwhile did not find it. */
static void on_moved(struct connection *connection) {
    struct stream_connection *s = of_connection(connection);
    const struct stream_settings *settings = settings_of(s);
    s->stream.loop = connection->shard->loop;
    settings->handler.moved(&s->stream, settings->context);
    on_review(connection);
    settle(s);
}

static void on_dropped(struct connection *connection) {
    struct stream_connection *s = of_connection(connection);
    s->stream.gone = true;
    give_back(s, &s->in);
    s->in_at = 0;
}

static bool is_in_use(const struct connection *connection) {
    const struct stream_connection *s = (const struct stream_connection *)connection;
    return s->holds != 0 || s->busy;
}

static void on_over(struct connection *connection) {
    struct stream_connection *s = of_connection(connection);
    const struct stream_settings *settings = settings_of(s);
    s->stream.gone = true;
    if (s->stream.loop != NULL && !connection->turned_away)
        settings->handler.closed(&s->stream, settings->context);
    give_back(s, &s->stream.out);
    s->sent = 0;
    count_unsent(s);
}

/* ---- listening ---- */

static void *shared_new(struct shard *shard) {
    struct stream_shared *shared = mem_zalloc(sizeof(*shared));
    (void)shard;
    shared->flush.run = run_flush;
    return shared;
}

static void shared_free(void *argument) {
    struct stream_shared *shared = argument;
    while (shared->spares > 0)
        buf_release(&shared->spare[--shared->spares]);
    mem_free(shared);
}

static const struct connection_kind stream_kind = {
    .size = sizeof(struct stream_connection),
    .shared_new = shared_new,
    .shared_free = shared_free,
    .own_free = mem_free,
    .begin = on_begin,
    .misled = on_misled,
    .ready = on_events,
    .leaves = on_leaves,
    .moved = on_moved,
    .expire = on_expire,
    .wind_down = on_wind_down,
    .review = on_review,
    .dropped = on_dropped,
    .in_use = is_in_use,
    .over = on_over,
};

enum status stream_listen(struct loops *loops, const struct stream_settings *settings,
                          struct scope in, struct listener **out) {
    struct stream_own *own = mem_zalloc(sizeof(*own));
    struct stream_settings *filled = &own->settings;
    *filled = *settings;
    filled->host = NULL; /* the caller's; not needed any more */
    if (filled->connections_max == 0)
        filled->connections_max = LIMIT_CONNECTIONS;
    if (filled->out_pause == 0)
        filled->out_pause = LIMIT_STREAM_PAUSE;
    if (filled->out_max == 0)
        filled->out_max = LIMIT_STREAM_OUT;
    if (filled->out_total == 0)
        filled->out_total = LIMIT_STREAMS_OUT;
    if (filled->request_ms == 0)
        filled->request_ms = LIMIT_REQUEST_MS;
    bool idles = filled->idle_ms != 0 && filled->idle_ms < filled->request_ms;
    struct listener_settings common = {.host = settings->host,
                                       .port = settings->port,
                                       .tls = settings->tls,
                                       .connections_max = filled->connections_max,
                                       .request_ms = filled->request_ms,
                                       .shortest_ms = idles ? filled->idle_ms : filled->request_ms,
                                       .gather = filled->gather,
                                       .kind = &stream_kind,
                                       .own = own};
    return listener_open(loops, &common, in, out);
}
