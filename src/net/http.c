/* HTTP's kind of connection: a request, its answer, the next request.
 *
 *              first byte          last byte            answer
 *     IDLE ---------------> READING --------> BUSY ----------------> IDLE
 *      ^                       |                \    socket full      |
 *      |                       | refused         +-----> WRITING -----+
 *      |                       v                            |         |
 *      |                    (answer) -----------------------+---> (lingers, or ends)
 *
 * BUSY has no deadline: the handler answers when it answers. The others have one each. A handler
 * may also make a channel of the connection (channel.h), which is CHANNEL from then on.
 */
#include "net/http.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/channel_int.h"
#include "net/connection.h"
#include "net/http_load.h"
#include "net/request_pool.h"
#include "net/response_head.h"

#include <assert.h>
#include <stdio.h>

enum {
    SMALL_BODY = 16 * 1024,  /* cheaper to copy behind the head than to write apart */
    WRITE_MAX = 1024 * 1024, /* a turn: other connections wait */
};

enum http_state {
    HTTP_IDLE,    /* nothing of a request is here, and no struct request */
    HTTP_READING, /* part of one is */
    HTTP_BUSY,    /* the handler has it */
    HTTP_WRITING, /* answered, and the socket takes no more for now */
    HTTP_CHANNEL, /* no longer HTTP */
    HTTP_OVER,    /* all is said, or the socket is gone */
};

struct http_connection {
    struct connection base;  /* first */
    struct request *request; /* NULL when IDLE */
    enum http_state state;
    bool advancing;             /* advance() is on the stack */
    bool eof;                   /* the client sends no more; it may well still read */
    bool last;                  /* ends after the answer being written */
    struct http_load_part part; /* what of the listener's load is its own */
    struct bytes head, body;    /* what is left to write */
    struct channel *channel;    /* of CHANNEL */
};

/* The listener's own. */
struct http_own {
    struct http_settings settings; /* defaults filled in; constant from the start */
    struct request_limits limits;
    struct http_load load; /* counted in by all loops */
};

/* What the connections of a loop share. */
struct http_shared {
    struct request_pool pool;
    struct response_date date;
    struct channel_loop channels;
};

static void advance(struct http_connection *http);
static void read_request(struct http_connection *http);

static struct http_connection *http_of(struct connection *connection) {
    return (struct http_connection *)connection;
}

static struct http_own *own_of(const struct http_connection *http) {
    return http->base.shard->listener->own;
}

static const struct http_settings *settings_of(const struct http_connection *http) {
    return &own_of(http)->settings;
}

static struct http_load *load_of(const struct http_connection *http) {
    return &own_of(http)->load;
}

static struct http_shared *shared_of(const struct http_connection *http) {
    return http->base.shard->shared;
}

static void enter(struct http_connection *http, enum http_state state, int wait_ms) {
    http->state = state;
    connection_wait(&http->base, wait_ms);
}

/* ---- its request, while it has bytes ---- */

static void attach(struct http_connection *http) {
    struct request *request = request_pool_get(&shared_of(http)->pool, http->base.shard->loop);
    request_begin(request, &own_of(http)->limits);
    http->request = request;
    request->connection = http;
}

static void detach(struct http_connection *http) {
    struct request *request = http->request;
    http->request = NULL;
    http_load_let_go(load_of(http), &http->part);
    if (request != NULL)
        request_pool_put(&shared_of(http)->pool, request);
}

/* ---- the end ---- */

static void on_dropped(struct connection *connection) {
    struct http_connection *http = http_of(connection);
    if (http->channel != NULL)
        channel_dropped(http->channel);
    http->channel = NULL;
    if (http->state != HTTP_BUSY)
        detach(http);
    http->state = HTTP_OVER;
}

static bool is_in_use(const struct connection *connection) {
    return ((const struct http_connection *)connection)->request != NULL;
}

static void on_over(struct connection *connection) {
    (void)connection; /* everything has been given back */
}

static void finish(struct http_connection *http) {
    struct request *request = http->request;
    bool all_read = request->ready && !request_has_surplus(request);
    if (http->eof || all_read) {
        connection_drop(&http->base);
        return;
    }
    detach(http);
    http->state = HTTP_OVER;
    connection_linger(&http->base);
}

/* ---- writing ---- */

/* The answer is written: on to the next request, if there is to be one. */
static void written(struct http_connection *http) {
    if (http->last || http->base.shard->closing) {
        finish(http);
        return;
    }
    if (request_has_surplus(http->request)) {
        http_load_let_go(load_of(http), &http->part);
        request_next(http->request);
        enter(http, HTTP_READING, settings_of(http)->request_ms);
    } else if (http->eof) {
        connection_drop(&http->base);
        return;
    } else {
        detach(http);
        enter(http, HTTP_IDLE, settings_of(http)->idle_ms);
        if (connection_is_misplaced(&http->base) && !http->base.wire.pending &&
            connection_move(&http->base))
            return;
    }
    if (!http->eof)
        connection_watch(&http->base, UV_READABLE);
    advance(http);
}

/* The answer's body is the handler's own until http_answer() returns; after that it must be ours.
 */
static void keep_body(struct http_connection *http) {
    struct bytes *body = &http->body;
    struct buf *reply = &http->request->exchange.reply;
    bool ours = reply->data != NULL && body->data >= reply->data &&
                body->data + body->size <= reply->data + reply->size;
    if (body->size == 0 || ours)
        return;
    buf_clear(reply);
    buf_put(reply, *body);
    *body = buf_bytes(reply);
}

static void flush(struct http_connection *http) {
    struct bytes head = http->head, body = http->body;
    if (body.size > WRITE_MAX)
        body.size = WRITE_MAX;
    ssize_t sent = head.size == 0 ? wire_write(&http->base.wire, body, (struct bytes){0})
                                  : wire_write(&http->base.wire, head, body);
    if (sent == WIRE_GONE) {
        connection_drop(&http->base);
        return;
    }
    if (sent > 0) {
        size_t of_head = (size_t)sent < head.size ? (size_t)sent : head.size;
        http->head = bytes_skip(http->head, of_head);
        if ((size_t)sent > of_head)
            http->body = bytes_skip(http->body, (size_t)sent - of_head);
        shard_count(&http->base.shard->counts.bytes_out, (uint64_t)sent);
        enter(http, HTTP_WRITING, settings_of(http)->request_ms);
    }
    if (http->head.size + http->body.size == 0) {
        written(http);
        return;
    }
    keep_body(http);
    size_t size = request_body_size(http->request) + http->head.size + http->body.size;
    http_load_hold_answer(load_of(http), &http->part, size);
    connection_watch(&http->base, UV_WRITABLE);
}

static void send_answer(struct http_connection *http, const struct http_answer *answer) {
    struct request *request = http->request;
    http->last = answer->close || !request->keep_alive || http->base.shard->closing;
    enum response_connection how = http->last        ? ANSWER_CLOSE
                                   : request->is_old ? ANSWER_KEEP_ALIVE
                                                     : ANSWER_GOES_ON;
    buf_clear(&request->head);
    response_head_put(&request->head, answer, how, &shared_of(http)->date);
    http->body = answer->body;
    if (request->is_head || !response_has_body(answer->status))
        http->body = (struct bytes){0};
    if (http->body.size <= SMALL_BODY) {
        buf_put(&request->head, http->body);
        http->body = (struct bytes){0};
    }
    http->head = buf_bytes(&request->head);
    enter(http, HTTP_WRITING, settings_of(http)->request_ms);
    flush(http);
}

/* Bytes that the encryption has taken from the socket already wake nobody. */
static void read_pending(struct http_connection *http) {
    while (http->base.wire.pending && !http->advancing &&
           (http->state == HTTP_IDLE || http->state == HTTP_READING))
        read_request(http);
}

/* True: the answer is to be kept back. */
static bool tell_answered(struct http_connection *http, struct http_exchange *exchange,
                          const struct http_answer *answer) {
    const struct http_settings *settings = settings_of(http);
    return settings->answered != NULL && settings->answered(exchange, answer, settings->context);
}

static void finish_exchange(struct http_connection *http, const struct http_answer *answer) {
    http_load_wait(load_of(http), &http->part, false);
    if (http->state == HTTP_OVER) { /* the client has gone meanwhile */
        detach(http);
        connection_free_if_over(&http->base);
        return;
    }
    assert(http->state == HTTP_BUSY);
    send_answer(http, answer);
    read_pending(http);
}

void http_answer(struct http_exchange *exchange, const struct http_answer *answer) {
    struct request *request = (struct request *)exchange;
    assert(loop_current() == exchange->loop);
    if (!tell_answered(request->connection, exchange, answer)) {
        finish_exchange(request->connection, answer);
        return;
    }
    request->kept = *answer;
    request->kept.content_type = arena_copy(&exchange->arena, answer->content_type);
    request->kept.headers = arena_copy(&exchange->arena, answer->headers);
    request->kept.body = arena_copy(&exchange->arena, answer->body);
}

void http_release(struct http_exchange *exchange) {
    struct request *request = (struct request *)exchange;
    assert(loop_current() == exchange->loop);
    finish_exchange(request->connection, &request->kept);
}

struct channel *channel_open(struct http_exchange *exchange,
                             const struct channel_settings *settings) {
    struct request *request = (struct request *)exchange;
    struct http_connection *http = request->connection;
    struct http_answer opened = {.status = settings->events ? 200 : 101};
    assert(loop_current() == exchange->loop);
    http_load_wait(load_of(http), &http->part, false);
    bool keep = tell_answered(http, exchange, &opened);
    assert(!keep);
    (void)keep;
    if (http->state == HTTP_OVER) {
        detach(http);
        connection_free_if_over(&http->base);
        return NULL;
    }
    assert(http->state == HTTP_BUSY);
    buf_clear(&request->head);
    if (settings->events)
        buf_lit(&request->head, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                "Cache-Control: no-store\r\nTransfer-Encoding: chunked\r\n");
    else {
        buf_lit(&request->head, "HTTP/1.1 101 Switching Protocols\r\n");
        channel_put_grant(&request->head, exchange);
    }
    buf_put(&request->head, settings->headers);
    buf_lit(&request->head, "\r\n");
    http->channel =
        channel_new(&http->base, &shared_of(http)->channels, settings, buf_bytes(&request->head));
    http->state = HTTP_CHANNEL;
    struct channel *channel = http->channel;
    if (request_has_surplus(request)) /* nobody may speak before the answer */
        channel_close(channel, 1002, "the client did not wait for the answer");
    detach(http);
    return channel;
}

/* Says what is wrong and ends the connection: where the next request would begin is unknown. */
static void http_refuse(struct http_connection *http, int status, const char *text) {
    char body[256];
    int size = snprintf(body, sizeof(body), "%d %s: %s\n", status, response_reason(status), text);
    struct http_answer answer = {.status = status,
                                 .content_type = BYTES("text/plain; charset=utf-8"),
                                 .body = bytes_of(body, (size_t)size),
                                 .close = true};
    shard_count(&http->base.shard->counts.refused, 1);
    send_answer(http, &answer);
}

/* ---- reading ---- */

static void say_continue(struct http_connection *http, struct request *request) {
    if (!request->expects_continue || !request->headers_done || request->body.size != 0)
        return;
    request->expects_continue = false;
    /* Nothing else is on its way out, so the socket has room for 25 bytes, or is broken. */
    struct bytes line = BYTES("HTTP/1.1 100 Continue\r\n\r\n");
    if (wire_write(&http->base.wire, line, (struct bytes){0}) != (ssize_t)line.size)
        connection_drop(&http->base);
}

/* Only those that are not answered at once are counted: a read costs no shared counter. */
static void hand_over(struct http_connection *http, struct request *request) {
    const struct http_settings *settings = settings_of(http);
    http_load_trust_body(load_of(http), &http->part);
    request->exchange.withheld = request->withheld;
    request->exchange.encrypted = settings->tls != NULL;
    request->exchange.overload = http_load_is_full(load_of(http));
    enter(http, HTTP_BUSY, 0);
    request->exchange.note = (struct http_note){0};
    request->exchange.begun_us = clock_ticks_us();
    settings->handler(&request->exchange, settings->context);
    if (http->state != HTTP_BUSY)
        return;
    http_load_wait(load_of(http), &http->part, true);
    shard_count(&http->base.shard->counts.deferred, 1);
}

/* The head is there and its body is not, or not all of it. False: it was answered. */
static bool judge_body(struct http_connection *http, struct request *request) {
    const struct http_settings *settings = settings_of(http);
    enum http_admission admission = HTTP_TAKE_BODY;
    request->judged = true;
    if (settings->admit != NULL) {
        request_fill_head(request);
        admission = settings->admit(&request->exchange, settings->context);
        arena_reset(&request->exchange.arena);
    }
    if (admission == HTTP_WITHOUT_BODY) {
        request_fill_head(request);
        request->withheld = true;
        hand_over(http, request);
        return false;
    }
    if (admission == HTTP_TAKE_UNPROVED)
        http_load_doubt_body(load_of(http), &http->part);
    return true;
}

/* More of the request is to come. False: it was answered, or refused. */
static bool await_more(struct http_connection *http, struct request *request) {
    if (!request->headers_done)
        return true;
    if (!request->judged && !judge_body(http, request))
        return false;
    if (!http_load_hold_body(load_of(http), &http->part, request_body_size(request))) {
        http_refuse(http, 503, "too many large requests at once; try again later");
        return false;
    }
    say_continue(http, request);
    return true;
}

/* Parses what is there and hands it to the handler, request after request, until one is not
 * answered at once or not all there. Answering calls back here: hence `advancing`. */
static void advance(struct http_connection *http) {
    if (http->advancing)
        return;
    http->advancing = true;
    while (http->state == HTTP_READING) {
        struct request *request = http->request;
        enum request_state state = request_parse(request);
        if (state == REQUEST_READY && http_load_has_room(load_of(http)))
            hand_over(http, request);
        else if (state == REQUEST_READY)
            http_refuse(http, 503, "too many answers wait to be read; try again later");
        else if (state == REQUEST_REFUSED)
            http_refuse(http, request->refusal, request->refusal_text);
        else if (http->eof)
            connection_drop(&http->base); /* half a request will never be whole */
        else if (await_more(http, request))
            break;
    }
    http->advancing = false;
}

static void on_eof(struct http_connection *http) {
    http->eof = true;
    connection_watch(&http->base, 0);
    if (http->state != HTTP_BUSY)
        connection_drop(&http->base);
}

static void read_request(struct http_connection *http) {
    if (http->request == NULL)
        attach(http);
    struct request *request = http->request;
    size_t room;
    uint8_t *to = request_room(request, &room);
    if (room == 0) { /* it is BUSY and the client floods: leave it to the socket's window */
        connection_watch(&http->base, 0);
        return;
    }
    ssize_t got = wire_read(&http->base.wire, to, room);
    if (got > 0) {
        shard_count(&http->base.shard->counts.bytes_in, (uint64_t)got);
        request_added(request, (size_t)got);
    }
    if (http->state == HTTP_IDLE) {
        if (got > 0)
            enter(http, HTTP_READING, settings_of(http)->request_ms);
        else
            detach(http);
    }
    if (got == WIRE_GONE)
        connection_drop(&http->base);
    else if (got == 0)
        on_eof(http);
    else if (got > 0)
        advance(http);
}

/* ---- what its connection tells it ---- */

static void on_begin(struct connection *connection) {
    struct http_connection *http = http_of(connection);
    enter(http, HTTP_IDLE, settings_of(http)->idle_ms);
    if (connection->turned_away) {
        attach(http);
        http_refuse(http, 503, "too many connections; try again later");
        return;
    }
    connection_watch(connection, UV_READABLE);
    read_pending(http);
}

static void on_misled(struct connection *connection) {
    struct http_connection *http = http_of(connection);
    attach(http);
    http_refuse(http, 400, "this port is encrypted: use https");
}

static void on_moved(struct connection *connection) {
    connection_watch(connection, UV_READABLE);
}

static void on_ready(struct connection *connection, int events) {
    struct http_connection *http = http_of(connection);
    if (http->state == HTTP_CHANNEL) {
        channel_ready(http->channel, events);
        return;
    }
    /* Only one is watched at a time, and the state knows which. */
    if (http->state == HTTP_WRITING)
        flush(http);
    else
        read_request(http);
    read_pending(http);
}

static void on_expire(struct connection *connection) {
    struct http_connection *http = http_of(connection);
    if (http->state == HTTP_READING)
        http_refuse(http, 408, "the request took too long to arrive");
    else if (http->state == HTTP_CHANNEL)
        channel_expire(http->channel);
    else
        connection_drop(connection);
}

/* A request is asked who it is each time; only what stays open needs to be asked again. */
static void on_review(struct connection *connection) {
    struct http_connection *http = http_of(connection);
    if (http->state == HTTP_CHANNEL)
        channel_review(http->channel);
}

static void on_wind_down(struct connection *connection) {
    struct http_connection *http = http_of(connection);
    if (http->state == HTTP_CHANNEL)
        channel_wind_down(http->channel);
    /* A request may have arrived that the loop has not come round to. */
    if (http->state == HTTP_IDLE)
        read_request(http);
    if (http->state == HTTP_IDLE)
        connection_drop(connection);
}

/* ---- listening ---- */

static void *shared_new(struct shard *shard) {
    struct http_shared *shared = mem_zalloc(sizeof(*shared));
    (void)shard;
    channel_loop_init(&shared->channels);
    return shared;
}

static void shared_free(void *argument) {
    struct http_shared *shared = argument;
    request_pool_release(&shared->pool);
    mem_free(shared);
}

static const struct connection_kind http_kind = {
    .size = sizeof(struct http_connection),
    .shared_new = shared_new,
    .shared_free = shared_free,
    .own_free = mem_free,
    .begin = on_begin,
    .misled = on_misled,
    .ready = on_ready,
    .moved = on_moved,
    .expire = on_expire,
    .wind_down = on_wind_down,
    .review = on_review,
    .dropped = on_dropped,
    .in_use = is_in_use,
    .over = on_over,
};

static void fill_in_defaults(struct http_settings *settings) {
    if (settings->body_max == 0)
        settings->body_max = LIMIT_BODY_SIZE;
    if (settings->header_max == 0)
        settings->header_max = LIMIT_HEADER_SIZE;
    if (settings->connections_max == 0)
        settings->connections_max = LIMIT_CONNECTIONS;
    if (settings->in_flight_max == 0)
        settings->in_flight_max = LIMIT_IN_FLIGHT;
    if (settings->memory_max == 0)
        settings->memory_max = LIMIT_HTTP_MEMORY;
    if (settings->unproved_max == 0)
        settings->unproved_max = LIMIT_HTTP_UNPROVED;
    if (settings->idle_ms == 0)
        settings->idle_ms = LIMIT_IDLE_MS;
    if (settings->request_ms == 0)
        settings->request_ms = LIMIT_REQUEST_MS;
}

enum status http_listen(struct loops *loops, const struct http_settings *settings, struct scope in,
                        struct listener **out) {
    struct http_own *own = mem_zalloc(sizeof(*own));
    own->settings = *settings;
    fill_in_defaults(&own->settings);
    own->settings.host = NULL; /* the caller's; not needed any more */
    own->limits.header_max = own->settings.header_max;
    own->limits.body_max = own->settings.body_max;
    own->load.in_flight_max = own->settings.in_flight_max;
    own->load.held_max = own->settings.memory_max;
    own->load.unproved_max = own->settings.unproved_max;
    struct listener_settings common = {
        .host = settings->host,
        .port = settings->port,
        .tls = settings->tls,
        .connections_max = own->settings.connections_max,
        .shortest_ms = own->settings.idle_ms < own->settings.request_ms ? own->settings.idle_ms
                                                                        : own->settings.request_ms,
        .request_ms = own->settings.request_ms,
        .gather = settings->gather,
        .kind = &http_kind,
        .own = own};
    return listener_open(loops, &common, in, out);
}
