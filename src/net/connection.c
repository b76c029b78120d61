#include "net/connection.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>

enum {
    LINGER_MS = 2000,
    SMALL_BODY = 16 * 1024,  /* cheaper to copy behind the head than to write apart */
    WRITE_MAX = 1024 * 1024, /* a turn: other connections wait */
    LINGER_READ_SIZE = 16 * 1024,
};
static const uint64_t NEVER = UINT64_MAX;

static void connection_advance(struct connection *connection);
static void read_request(struct connection *connection);
static void send_answer(struct connection *connection, const struct http_answer *answer);

/* ---- waiting ---- */

static void on_poll(uv_poll_t *poll, int status, int events);

/* Changing what is watched costs system calls, so a busy connection stays watched for reading
 * until the client does send more than there is room for. */
static void watch(struct connection *connection, int events) {
    if (connection->watched == events)
        return;
    connection->watched = events;
    if (events == 0)
        uv_poll_stop(&connection->poll);
    else
        uv_poll_start(&connection->poll, events, on_poll);
}

static void enter(struct connection *connection, enum connection_state state, int wait_ms) {
    connection->state = state;
    connection->deadline_ms = shard_now(connection->shard) + (uint64_t)wait_ms;
}

static const struct http_settings *settings_of(const struct connection *connection) {
    return &connection->shard->listener->settings;
}

/* ---- beginning and end ---- */

struct connection *connection_new(struct shard *shard, int fd, bool turned_away) {
    struct connection *connection = mem_zalloc(sizeof(*connection));
    connection->shard = shard;
    connection->turned_away = turned_away;
    wire_open(&connection->wire, fd, shard->listener->settings.tls);
    return connection;
}

static void attach(struct connection *connection) {
    connection->request = shard_take(connection->shard);
    connection->request->connection = connection;
}

static void detach(struct connection *connection) {
    if (connection->request != NULL)
        shard_give(connection->shard, connection->request);
    connection->request = NULL;
}

static void free_if_over(struct connection *connection) {
    if (!connection->handle_closed || connection->request != NULL)
        return;
    struct shard *shard = connection->shard;
    shard_unlink(shard, connection);
    mem_free(connection);
    atomic_fetch_sub_explicit(&shard->count, 1, memory_order_relaxed);
    listener_connection_over(shard->listener);
}

static void on_handle_closed(uv_handle_t *handle) {
    struct connection *connection = handle->data;
    struct http_listener *listener = connection->shard->listener;
    connection->handle_closed = true;
    listener_handle_closed(listener);
    free_if_over(connection);
}

void connection_drop(struct connection *connection) {
    if (connection->state == CONNECTION_CLOSED)
        return;
    bool busy = connection->state == CONNECTION_BUSY;
    connection->state = CONNECTION_CLOSED;
    connection->deadline_ms = NEVER;
    uv_close((uv_handle_t *)&connection->poll, on_handle_closed);
    wire_close(&connection->wire);
    if (!busy)
        detach(connection);
}

/* Closing a socket that holds unread bytes makes the client's system throw away the answer it has
 * not read yet. So when the client may still be sending, say that we are done and listen for it
 * to be done too, for a while. */
static void finish(struct connection *connection) {
    struct request *request = connection->request;
    bool all_read = request->ready && !request_has_surplus(request);
    if (connection->eof || all_read) {
        connection_drop(connection);
        return;
    }
    wire_finish(&connection->wire);
    detach(connection);
    enter(connection, CONNECTION_LINGERING, LINGER_MS);
    watch(connection, UV_READABLE);
}

/* ---- writing ---- */

/* The answer is written: on to the next request, if there is to be one. */
static void written(struct connection *connection) {
    if (connection->last || connection->shard->closing) {
        finish(connection);
        return;
    }
    if (request_has_surplus(connection->request)) {
        request_next(connection->request);
        enter(connection, CONNECTION_READING, settings_of(connection)->request_ms);
    } else if (connection->eof) {
        connection_drop(connection);
        return;
    } else {
        detach(connection);
        enter(connection, CONNECTION_IDLE, settings_of(connection)->idle_ms);
    }
    if (!connection->eof)
        watch(connection, UV_READABLE);
    connection_advance(connection);
}

/* The answer's body is the handler's own until http_answer() returns; after that it must be ours.
 */
static void keep_body(struct connection *connection) {
    struct bytes *body = &connection->body;
    struct buf *reply = &connection->request->exchange.reply;
    bool ours = reply->data != NULL && body->data >= reply->data &&
                body->data + body->size <= reply->data + reply->size;
    if (body->size == 0 || ours)
        return;
    buf_clear(reply);
    buf_put(reply, *body);
    *body = buf_bytes(reply);
}

static void flush(struct connection *connection) {
    struct bytes head = connection->head, body = connection->body;
    if (body.size > WRITE_MAX)
        body.size = WRITE_MAX;
    ssize_t sent = head.size == 0 ? wire_write(&connection->wire, body, (struct bytes){0})
                                  : wire_write(&connection->wire, head, body);
    if (sent == WIRE_GONE) {
        connection_drop(connection);
        return;
    }
    if (sent > 0) {
        size_t of_head = (size_t)sent < head.size ? (size_t)sent : head.size;
        connection->head = bytes_skip(connection->head, of_head);
        connection->body = bytes_skip(connection->body, (size_t)sent - of_head);
        enter(connection, CONNECTION_WRITING, settings_of(connection)->request_ms);
    }
    if (connection->head.size + connection->body.size == 0) {
        written(connection);
        return;
    }
    keep_body(connection);
    watch(connection, UV_WRITABLE);
}

static void send_answer(struct connection *connection, const struct http_answer *answer) {
    struct request *request = connection->request;
    connection->last = answer->close || !request->keep_alive || connection->shard->closing;
    enum answer_connection how = connection->last  ? ANSWER_CLOSE
                                 : request->is_old ? ANSWER_KEEP_ALIVE
                                                   : ANSWER_GOES_ON;
    buf_clear(&request->head);
    answer_head(&request->head, answer, how, &connection->shard->date);
    connection->body = answer->body;
    if (request->is_head || !answer_has_body(answer->status))
        connection->body = (struct bytes){0};
    if (connection->body.size <= SMALL_BODY) {
        buf_put(&request->head, connection->body);
        connection->body = (struct bytes){0};
    }
    connection->head = buf_bytes(&request->head);
    enter(connection, CONNECTION_WRITING, settings_of(connection)->request_ms);
    flush(connection);
}

/* Bytes that the encryption has taken from the socket already wake nobody. */
static void read_pending(struct connection *connection) {
    while (connection->wire.pending && !connection->advancing &&
           (connection->state == CONNECTION_IDLE || connection->state == CONNECTION_READING))
        read_request(connection);
}

/* Its exchange waits for its answer from now on, or no longer. */
static void count_in_flight(struct connection *connection, bool waits) {
    atomic_uint *count = &connection->shard->listener->in_flight;
    if (connection->in_flight == waits)
        return;
    connection->in_flight = waits;
    if (waits)
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(count, 1, memory_order_relaxed);
}

void http_answer(struct http_exchange *exchange, const struct http_answer *answer) {
    struct request *request = (struct request *)exchange;
    struct connection *connection = request->connection;
    assert(loop_current() == exchange->loop);
    count_in_flight(connection, false);
    if (connection->state == CONNECTION_CLOSED) { /* the client has gone meanwhile */
        detach(connection);
        free_if_over(connection);
        return;
    }
    assert(connection->state == CONNECTION_BUSY);
    send_answer(connection, answer);
    read_pending(connection);
}

/* Says what is wrong and ends the connection: where the next request would begin is unknown. */
static void refuse(struct connection *connection, int status, const char *text) {
    char body[256];
    int size = snprintf(body, sizeof(body), "%d %s: %s\n", status, answer_reason(status), text);
    struct http_answer answer = {.status = status,
                                 .content_type = BYTES("text/plain; charset=utf-8"),
                                 .body = bytes_of(body, (size_t)size),
                                 .close = true};
    send_answer(connection, &answer);
}

/* ---- reading ---- */

static void say_continue(struct connection *connection, struct request *request) {
    if (!request->expects_continue || !request->headers_done || request->body.size != 0)
        return;
    request->expects_continue = false;
    /* Nothing else is on its way out, so the socket has room for 25 bytes, or is broken. */
    struct bytes line = BYTES("HTTP/1.1 100 Continue\r\n\r\n");
    if (wire_write(&connection->wire, line, (struct bytes){0}) != (ssize_t)line.size)
        connection_drop(connection);
}

/* Only those that are not answered at once are counted: a read costs no shared counter. */
static void hand_over(struct connection *connection, struct request *request) {
    const struct http_settings *settings = settings_of(connection);
    atomic_uint *in_flight = &connection->shard->listener->in_flight;
    request->exchange.overload =
        atomic_load_explicit(in_flight, memory_order_relaxed) >= settings->in_flight_max;
    connection->state = CONNECTION_BUSY;
    connection->deadline_ms = NEVER;
    settings->handler(&request->exchange, settings->context);
    if (connection->state == CONNECTION_BUSY)
        count_in_flight(connection, true);
}

/* Parses what is there and hands it to the handler, request after request, until one is not
 * answered at once or not all there. Answering calls back here: hence `advancing`. */
static void connection_advance(struct connection *connection) {
    if (connection->advancing)
        return;
    connection->advancing = true;
    while (connection->state == CONNECTION_READING) {
        struct request *request = connection->request;
        enum request_state state = request_parse(request);
        if (state == REQUEST_READY)
            hand_over(connection, request);
        else if (state == REQUEST_REFUSED)
            refuse(connection, request->refusal, request->refusal_text);
        else if (connection->eof)
            connection_drop(connection); /* half a request will never be whole */
        else {
            say_continue(connection, request);
            break;
        }
    }
    connection->advancing = false;
}

static void on_eof(struct connection *connection) {
    connection->eof = true;
    watch(connection, 0);
    if (connection->state != CONNECTION_BUSY)
        connection_drop(connection);
}

static void read_request(struct connection *connection) {
    if (connection->request == NULL)
        attach(connection);
    struct request *request = connection->request;
    size_t room;
    uint8_t *to = request_room(request, &room);
    if (room == 0) { /* it is BUSY and the client floods: leave it to the socket's window */
        watch(connection, 0);
        return;
    }
    ssize_t got = wire_read(&connection->wire, to, room);
    if (got > 0)
        request_added(request, (size_t)got);
    if (connection->state == CONNECTION_IDLE) {
        if (got > 0)
            enter(connection, CONNECTION_READING, settings_of(connection)->request_ms);
        else
            detach(connection);
    }
    if (got == WIRE_GONE)
        connection_drop(connection);
    else if (got == 0)
        on_eof(connection);
    else if (got > 0)
        connection_advance(connection);
}

static void read_away(struct connection *connection) {
    uint8_t unwanted[LINGER_READ_SIZE];
    ssize_t got = wire_read(&connection->wire, unwanted, sizeof(unwanted));
    if (got == 0 || got == WIRE_GONE)
        connection_drop(connection);
}

static void turn_away(struct connection *connection) {
    attach(connection);
    refuse(connection, 503, "too many connections; try again later");
}

static void begin(struct connection *connection) {
    enter(connection, CONNECTION_IDLE, settings_of(connection)->idle_ms);
    if (connection->turned_away)
        turn_away(connection);
    else
        watch(connection, UV_READABLE);
}

/* Agrees on the encryption, and says so to a client that knows of none. */
static void greet(struct connection *connection) {
    switch (wire_greet(&connection->wire)) {
    case WIRE_WANTS_IN:
        watch(connection, UV_READABLE);
        break;
    case WIRE_WANTS_OUT:
        watch(connection, UV_WRITABLE);
        break;
    case WIRE_READY:
        begin(connection);
        break;
    case WIRE_PLAIN:
        attach(connection);
        refuse(connection, 400, "this port is encrypted: use https");
        break;
    case WIRE_REFUSED:
        connection_drop(connection);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    struct connection *connection = poll->data;
    (void)events; /* only one is watched at a time, and the state knows which */
    if (status < 0) {
        connection_drop(connection);
        return;
    }
    switch (connection->state) {
    case CONNECTION_GREETING:
        greet(connection);
        break;
    case CONNECTION_WRITING:
        flush(connection);
        break;
    case CONNECTION_LINGERING:
        read_away(connection);
        break;
    case CONNECTION_CLOSED:
        break;
    default:
        read_request(connection);
    }
    read_pending(connection);
}

/* ---- what its shard tells it ---- */

void connection_start(struct connection *connection) {
    struct shard *shard = connection->shard;
    shard_link(shard, connection);
    int failed = uv_poll_init(loop_uv(shard->loop), &connection->poll, connection->wire.fd);
    connection->poll.data = connection;
    if (failed != 0) { /* epoll is out of room */
        wire_close(&connection->wire);
        on_handle_closed((uv_handle_t *)&connection->poll);
        return;
    }
    if (connection->wire.greeted) {
        begin(connection);
        return;
    }
    enter(connection, CONNECTION_GREETING, settings_of(connection)->request_ms);
    greet(connection);
}

void connection_expire(struct connection *connection) {
    if (connection->state == CONNECTION_READING)
        refuse(connection, 408, "the request took too long to arrive");
    else
        connection_drop(connection);
}

void connection_wind_down(struct connection *connection) {
    /* A request may have arrived that the loop has not come round to. */
    if (connection->state == CONNECTION_IDLE)
        read_request(connection);
    if (connection->state == CONNECTION_IDLE || connection->state == CONNECTION_LINGERING ||
        connection->state == CONNECTION_GREETING)
        connection_drop(connection);
}
