#include "net/channel.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/channel_int.h"
#include "net/frames.h"

#include <assert.h>
#include <openssl/sha.h>
#include <strings.h>

enum {
    READ_SIZE = 16 * 1024,
    QUEUE_FIRST = 8,   /* places for messages, at first */
    GOODBYE_MAX = 62,  /* bytes of its reason */
    GOODBYE_MS = 2000, /* for the client to say its own */
    WRITES_MAX = 64,   /* a turn: others wait */
};

enum { GOING_AWAY = 1001 };

struct channel {
    struct connection *connection;
    struct channel_loop *loop;
    struct channel_settings settings;
    struct frames frames; /* of the client; not for an event stream */

    struct buf own; /* what is not a message: the answer's head, pongs, goodbyes */
    size_t own_sent;
    struct message **queue; /* a ring */
    size_t first, count, room;
    size_t sent;   /* of the first message */
    size_t queued; /* bytes in the queue */
    uint8_t goodbye[2 + GOODBYE_MAX];
    uint8_t goodbye_size; /* goes after all that waits */

    struct channel *next_dirty;
    bool dirty, lagging, closing, over;
    bool ended;          /* the goodbye is in `own`, or was */
    unsigned unanswered; /* pings */
    uint64_t heard_ms;   /* when the client last said something, by its shard's clock */
};

/* ---- the handshake ---- */

static bool has_token(struct bytes list, const char *token) {
    size_t size = strlen(token);
    for (size_t i = 0; i + size <= list.size; i++)
        if (strncasecmp((const char *)list.data + i, token, size) == 0)
            return true;
    return false;
}

bool channel_wanted(const struct http_exchange *exchange) {
    return bytes_equal(exchange->method, BYTES("GET")) &&
           has_token(http_header(exchange, "Upgrade"), "websocket") &&
           has_token(http_header(exchange, "Connection"), "upgrade") &&
           bytes_equal(http_header(exchange, "Sec-WebSocket-Version"), BYTES("13")) &&
           http_header(exchange, "Sec-WebSocket-Key").size == 24;
}

void channel_put_grant(struct buf *to, const struct http_exchange *exchange) {
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    struct bytes key = http_header(exchange, "Sec-WebSocket-Key");
    uint8_t text[24 + sizeof(guid) - 1], digest[SHA_DIGEST_LENGTH];
    assert(key.size == 24);
    memcpy(text, key.data, 24);
    memcpy(text + 24, guid, sizeof(guid) - 1);
    SHA1(text, sizeof(text), digest);
    buf_lit(to, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ");
    base64_put(to, bytes_of(digest, sizeof(digest)));
    buf_lit(to, "\r\n");
}

/* ---- the queue ---- */

static void queue_grow(struct channel *channel) {
    size_t room = channel->room == 0 ? QUEUE_FIRST : channel->room * 2;
    struct message **queue = mem_alloc(room * sizeof(*queue));
    for (size_t i = 0; i < channel->count; i++)
        queue[i] = channel->queue[(channel->first + i) % channel->room];
    mem_free(channel->queue);
    channel->queue = queue;
    channel->first = 0;
    channel->room = room;
}

static struct bytes form_of(const struct channel *channel, struct message *message) {
    return channel->settings.events ? message_event(message) : message_frame(message);
}

static void queue_drop_first(struct channel *channel) {
    struct message *message = channel->queue[channel->first];
    channel->queued -= form_of(channel, message).size;
    channel->first = (channel->first + 1) % channel->room;
    channel->count--;
    channel->sent = 0;
    message_unref(message);
    if (channel->count == 0) { /* an idle channel has no queue */
        mem_free(channel->queue);
        channel->queue = NULL;
        channel->room = channel->first = 0;
    }
}

/* ---- sending ---- */

/* Nothing may follow a goodbye, so it waits for the messages that were queued before it. */
static void take_goodbye(struct channel *channel) {
    if (!channel->closing || channel->count != 0 || channel->ended)
        return;
    channel->ended = true;
    if (channel->settings.events)
        buf_lit(&channel->own, "0\r\n\r\n");
    else
        frames_put(&channel->own, FRAMES_OP_CLOSE,
                   bytes_of(channel->goodbye, channel->goodbye_size));
}

/* What goes next: a message that is partly sent, what is our own, or the next message. */
static struct bytes next_piece(const struct channel *channel, bool *own) {
    struct bytes mine = {0};
    if (channel->own.size > channel->own_sent)
        mine = bytes_skip(buf_bytes(&channel->own), channel->own_sent);
    *own = mine.size != 0 && channel->sent == 0;
    if (*own || channel->count == 0)
        return *own ? mine : (struct bytes){0};
    return bytes_skip(form_of(channel, channel->queue[channel->first]), channel->sent);
}

static void piece_sent(struct channel *channel, bool own, struct bytes piece, size_t sent) {
    if (!own) {
        channel->sent += sent;
        if (sent == piece.size)
            queue_drop_first(channel);
        return;
    }
    channel->own_sent += sent;
    if (channel->own_sent == channel->own.size) {
        buf_release(&channel->own);
        channel->own = (struct buf){0};
        channel->own_sent = 0;
    }
}

/* True when all is sent; false if some waits for the socket, or the client has gone. */
static bool write_pieces(struct channel *channel) {
    for (int i = 0; i < WRITES_MAX; i++) {
        bool own;
        struct bytes piece = next_piece(channel, &own);
        if (piece.size == 0)
            return true;
        ssize_t sent = wire_write(&channel->connection->wire, piece, (struct bytes){0});
        if (sent == WIRE_GONE)
            connection_drop(channel->connection);
        if (sent < 0)
            return false;
        shard_count(&channel->connection->shard->counts.bytes_out, (uint64_t)sent);
        piece_sent(channel, own, piece, (size_t)sent);
        if ((size_t)sent < piece.size)
            return false;
    }
    return false;
}

static void settle(struct channel *channel, bool all_sent) {
    if (all_sent && channel->ended) {
        connection_linger(channel->connection);
        return;
    }
    connection_watch(channel->connection, UV_READABLE | (all_sent ? 0 : UV_WRITABLE));
}

static void flush(struct channel *channel) {
    struct connection *connection = channel->connection;
    take_goodbye(channel);
    if (channel->own.size - channel->own_sent > LIMIT_PONGS_WAITING) {
        connection_drop(connection);
        return;
    }
    bool all_sent = write_pieces(channel);
    if (all_sent && channel->closing && !channel->ended) {
        take_goodbye(channel);
        all_sent = write_pieces(channel);
    }
    if (connection->state != CONNECTION_OPEN)
        return; /* the channel is gone */
    if (all_sent && channel->lagging && !channel->closing) {
        channel->lagging = false;
        channel->settings.handler->caught_up(channel, channel->settings.user);
        all_sent = channel->count == 0; /* what it sent goes with the next turn */
    }
    settle(channel, all_sent);
}

static void run_flush(struct task *task) {
    struct channel_loop *loop =
        (struct channel_loop *)((char *)task - offsetof(struct channel_loop, flush));
    while (loop->dirty != NULL) {
        struct channel *channel = loop->dirty;
        loop->dirty = channel->next_dirty;
        channel->dirty = false;
        if (channel->over)
            mem_free(channel);
        else if (channel->connection->state == CONNECTION_OPEN)
            flush(channel);
    }
}

void channel_loop_init(struct channel_loop *loop) {
    *loop = (struct channel_loop){.flush.run = run_flush};
}

static void mark_dirty(struct channel *channel) {
    if (channel->dirty)
        return;
    if (channel->loop->dirty == NULL)
        loop_after(channel->connection->shard->loop, &channel->loop->flush);
    channel->dirty = true;
    channel->next_dirty = channel->loop->dirty;
    channel->loop->dirty = channel;
}

bool channel_send(struct channel *channel, struct message *message) {
    struct bytes form = form_of(channel, message);
    if (channel->closing || channel->lagging)
        return false;
    if (channel->count != 0 && channel->queued + form.size > channel->settings.queue_max) {
        channel->lagging = true;
        return false;
    }
    if (channel->count == channel->room)
        queue_grow(channel);
    message_ref(message);
    channel->queue[(channel->first + channel->count++) % channel->room] = message;
    channel->queued += form.size;
    mark_dirty(channel);
    return true;
}

void channel_close(struct channel *channel, int code, const char *reason) {
    size_t size = strlen(reason);
    if (channel->closing)
        return;
    channel->closing = true;
    channel->goodbye[0] = (uint8_t)(code >> 8);
    channel->goodbye[1] = (uint8_t)code;
    if (size > GOODBYE_MAX)
        size = GOODBYE_MAX;
    memcpy(channel->goodbye + 2, reason, size);
    channel->goodbye_size = (uint8_t)(2 + size);
    connection_wait(channel->connection, GOODBYE_MS);
    mark_dirty(channel);
}

/* ---- receiving ---- */

/* The client's goodbye gets its own code back. */
static void answer_goodbye(struct channel *channel, struct bytes data) {
    channel->closing = true;
    channel->goodbye_size = data.size < 2 ? 0 : 2;
    for (size_t i = 0; i < channel->goodbye_size; i++)
        channel->goodbye[i] = data.data[i];
}

static void on_heard(void *user, enum frames_kind kind, struct bytes data) {
    struct channel *channel = user;
    channel->unanswered = 0;
    channel->heard_ms = shard_now(channel->connection->shard);
    if (channel->closing)
        return;
    if (kind == FRAMES_TEXT)
        channel->settings.handler->received(channel, data, channel->settings.user);
    else if (kind == FRAMES_PING)
        frames_put(&channel->own, FRAMES_OP_PONG, data);
    else if (kind == FRAMES_CLOSE)
        answer_goodbye(channel, data);
}

static const char *fault_of(int code) {
    switch (code) {
    case 1003:
        return "only text is understood here";
    case 1007:
        return "that is not UTF-8";
    case 1009:
        return "that is too large";
    default:
        return "those are no frames";
    }
}

static void arrived(struct channel *channel, struct bytes bytes) {
    if (channel->settings.events)
        return; /* nothing is said to an event stream */
    const struct frames_reader reader = {
        .message_max = channel->settings.message_max, .heard = on_heard, .user = channel};
    int code = frames_take(&channel->frames, bytes, &reader);
    if (code != 0)
        channel_close(channel, code, fault_of(code));
    mark_dirty(channel);
}

static void read_some(struct channel *channel) {
    uint8_t in[READ_SIZE];
    struct connection *connection = channel->connection;
    do {
        ssize_t got = wire_read(&connection->wire, in, sizeof(in));
        if (got == 0 || got == WIRE_GONE)
            connection_drop(connection);
        if (got <= 0)
            return;
        shard_count(&connection->shard->counts.bytes_in, (uint64_t)got);
        arrived(channel, bytes_of(in, (size_t)got));
    } while (connection->wire.pending && connection->state == CONNECTION_OPEN);
}

/* ---- what its connection tells it ---- */

void channel_ready(struct channel *channel, int events) {
    struct connection *connection = channel->connection;
    if ((events & UV_READABLE) != 0)
        read_some(channel);
    if (connection->state == CONNECTION_OPEN && (events & UV_WRITABLE) != 0)
        flush(channel);
}

/* How many milliseconds later the client is to be pinged, since it has said something meanwhile; 0:
 * now. Who plays needs no pings. */
static int ping_later(const struct channel *channel) {
    uint64_t next_ms = channel->heard_ms + (uint64_t)channel->settings.ping_ms;
    uint64_t now_ms = shard_now(channel->connection->shard);
    return channel->settings.events || channel->closing || next_ms <= now_ms
               ? 0
               : (int)(next_ms - now_ms);
}

void channel_expire(struct channel *channel) {
    int later_ms = ping_later(channel);
    if (later_ms != 0) {
        connection_wait(channel->connection, later_ms);
        return;
    }
    if (channel->closing || channel->unanswered >= LIMIT_PINGS_UNANSWERED) {
        connection_drop(channel->connection);
        return;
    }
    /* An event stream has no pong: what is sent must get through. */
    bool stuck = channel->count != 0 || channel->own.size != 0;
    if (!channel->settings.events || stuck)
        channel->unanswered++;
    else
        channel->unanswered = 0;
    if (!channel->settings.events)
        frames_put(&channel->own, FRAMES_OP_PING, (struct bytes){0});
    else if (!stuck)
        buf_lit(&channel->own, "3\r\n:\n\n\r\n"); /* a comment */
    connection_wait(channel->connection, channel->settings.ping_ms);
    mark_dirty(channel);
}

void channel_review(struct channel *channel) {
    const struct channel_handler *handler = channel->settings.handler;
    if (!channel->closing && handler->review != NULL)
        handler->review(channel, channel->settings.user);
}

void channel_wind_down(struct channel *channel) {
    channel_close(channel, GOING_AWAY, "the server stops");
}

void channel_dropped(struct channel *channel) {
    channel->over = channel->closing = true;
    channel->settings.handler->closed(channel, channel->settings.user);
    while (channel->count != 0)
        queue_drop_first(channel);
    frames_release(&channel->frames);
    buf_release(&channel->own);
    if (!channel->dirty) /* else the flush frees it */
        mem_free(channel);
}

struct channel *channel_new(struct connection *connection, struct channel_loop *loop,
                            const struct channel_settings *settings, struct bytes head) {
    struct channel *channel = mem_zalloc(sizeof(*channel));
    channel->connection = connection;
    channel->loop = loop;
    channel->settings = *settings;
    channel->settings.headers = (struct bytes){0};
    buf_put(&channel->own, head);
    if (!settings->events)
        wire_stamp(&connection->wire);
    channel->heard_ms = shard_now(connection->shard);
    connection_wait(connection, settings->ping_ms);
    connection_watch(connection, UV_READABLE);
    mark_dirty(channel);
    return channel;
}

int64_t channel_silent_ms(const struct channel *channel) {
    return channel->unanswered == 0
               ? 0
               : ((int64_t)channel->unanswered + 1) * channel->settings.ping_ms;
}

/* What is read now was not there yet when the loop looked before, which bounds how much the wall
 * clock can be trusted. */
int64_t channel_arrived_ms(const struct channel *channel) {
    const struct connection *connection = channel->connection;
    int64_t wall_ms = connection->wire.arrived_ms;
    if (wall_ms == 0)
        return clock_now_ms();
    int64_t most_us = clock_ticks_us() - loop_settled_us(connection->shard->loop);
    return clock_from_wall(wall_ms, (most_us + 999) / 1000);
}

struct loop *channel_loop(const struct channel *channel) {
    return channel->connection->shard->loop;
}
