#include "net/channel.h"

#include "base/limits.h"
#include "base/mem.h"
#include "net/channel_int.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <strings.h>
#include <wslay/wslay.h>

enum {
    READ_SIZE = 16 * 1024,
    QUEUE_FIRST = 8,     /* places for messages, at first */
    UNANSWERED_MAX = 2,  /* pings */
    GOODBYE_MS = 2000,   /* for the client to say its own */
    WRITES_MAX = 64,     /* a turn: others wait */
    OWN_MAX = 16 * 1024, /* pongs that wait for a client that pings and does not read */
};

struct channel {
    struct connection *connection;
    struct channel_loop *loop;
    struct channel_settings settings;
    wslay_event_context_ptr frames; /* NULL: an event stream */
    struct bytes incoming;          /* what wslay has not read yet */

    struct buf own; /* what is not a message: the answer's head, pongs, goodbyes */
    size_t own_sent;
    struct message **queue; /* a ring */
    size_t first, count, room;
    size_t sent;   /* of the first message */
    size_t queued; /* bytes in the queue */

    struct channel *next_dirty;
    bool dirty, lagging, closing, busy, over;
    bool ended;          /* the goodbye is in `own`, or was */
    unsigned unanswered; /* pings */
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
    char accept[32];
    assert(key.size == 24);
    memcpy(text, key.data, 24);
    memcpy(text + 24, guid, sizeof(guid) - 1);
    SHA1(text, sizeof(text), digest);
    EVP_EncodeBlock((unsigned char *)accept, digest, sizeof(digest));
    buf_printf(to, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n",
               accept);
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
    return channel->frames != NULL ? message_frame(message) : message_event(message);
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
static void take_own_frames(struct channel *channel) {
    if (channel->closing && channel->count != 0)
        return;
    if (channel->frames != NULL && wslay_event_want_write(channel->frames))
        wslay_event_send(channel->frames);
    if (channel->frames == NULL && channel->closing && !channel->ended)
        buf_lit(&channel->own, "0\r\n\r\n");
    channel->ended = channel->closing;
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
        piece_sent(channel, own, piece, (size_t)sent);
        if ((size_t)sent < piece.size)
            return false;
    }
    return false;
}

static bool may_end(const struct channel *channel) {
    return channel->closing &&
           (channel->frames == NULL ? channel->ended : wslay_event_get_close_sent(channel->frames));
}

static void settle(struct channel *channel, bool all_sent) {
    if (all_sent && may_end(channel)) {
        connection_linger(channel->connection);
        return;
    }
    connection_watch(channel->connection, UV_READABLE | (all_sent ? 0 : UV_WRITABLE));
}

static void flush(struct channel *channel) {
    struct connection *connection = channel->connection;
    take_own_frames(channel);
    if (channel->own.size - channel->own_sent > OWN_MAX) {
        connection_drop(connection);
        return;
    }
    bool all_sent = write_pieces(channel);
    if (all_sent && channel->closing && !channel->ended) {
        take_own_frames(channel);
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
    if (channel->closing)
        return;
    channel->closing = true;
    if (channel->frames != NULL)
        wslay_event_queue_close(channel->frames, (uint16_t)code, (const uint8_t *)reason,
                                strlen(reason));
    connection_wait(channel->connection, GOODBYE_MS);
    mark_dirty(channel);
}

/* ---- receiving: wslay reads from `incoming`, and writes to `own` ---- */

static ssize_t on_recv(wslay_event_context_ptr frames, uint8_t *to, size_t room, int flags,
                       void *user) {
    struct channel *channel = user;
    (void)flags;
    if (channel->incoming.size == 0) {
        wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    size_t size = channel->incoming.size < room ? channel->incoming.size : room;
    memcpy(to, channel->incoming.data, size);
    channel->incoming = bytes_skip(channel->incoming, size);
    return (ssize_t)size;
}

static ssize_t on_send(wslay_event_context_ptr frames, const uint8_t *data, size_t size, int flags,
                       void *user) {
    struct channel *channel = user;
    (void)frames, (void)flags;
    buf_append(&channel->own, data, size);
    return (ssize_t)size;
}

static void on_message(wslay_event_context_ptr frames,
                       const struct wslay_event_on_msg_recv_arg *arg, void *user) {
    struct channel *channel = user;
    (void)frames;
    channel->unanswered = 0;
    if (arg->opcode == WSLAY_CONNECTION_CLOSE)
        channel->closing = true;
    else if (arg->opcode == WSLAY_TEXT_FRAME && !channel->closing)
        channel->settings.handler->received(channel, bytes_of(arg->msg, arg->msg_length),
                                            channel->settings.user);
    else if (arg->opcode == WSLAY_BINARY_FRAME)
        channel_close(channel, WSLAY_CODE_UNSUPPORTED_DATA, "only text is understood here");
}

static void arrived(struct channel *channel, struct bytes bytes) {
    if (channel->frames == NULL || bytes.size == 0)
        return; /* nothing is said to an event stream */
    channel->incoming = bytes;
    channel->busy = true;
    int failed = wslay_event_recv(channel->frames);
    channel->busy = false;
    channel->incoming = (struct bytes){0};
    if (failed != 0 || !wslay_event_get_read_enabled(channel->frames))
        channel->closing = true; /* wslay has queued the goodbye that fits */
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

void channel_expire(struct channel *channel) {
    if (channel->closing || channel->unanswered >= UNANSWERED_MAX) {
        connection_drop(channel->connection);
        return;
    }
    /* An event stream has no pong: what is sent must get through. */
    bool stuck = channel->count != 0 || channel->own.size != 0;
    if (channel->frames != NULL || stuck)
        channel->unanswered++;
    else
        channel->unanswered = 0;
    if (channel->frames != NULL)
        wslay_event_queue_msg(channel->frames, &(struct wslay_event_msg){.opcode = WSLAY_PING});
    else if (!stuck)
        buf_lit(&channel->own, "3\r\n:\n\n\r\n"); /* a comment */
    connection_wait(channel->connection, channel->settings.ping_ms);
    mark_dirty(channel);
}

void channel_wind_down(struct channel *channel) {
    channel_close(channel, WSLAY_CODE_GOING_AWAY, "the server stops");
}

void channel_dropped(struct channel *channel) {
    channel->over = channel->closing = true;
    channel->settings.handler->closed(channel, channel->settings.user);
    while (channel->count != 0)
        queue_drop_first(channel);
    if (channel->frames != NULL)
        wslay_event_context_free(channel->frames);
    buf_release(&channel->own);
    if (!channel->dirty) /* else the flush frees it */
        mem_free(channel);
}

struct channel *channel_new(struct connection *connection, struct channel_loop *loop,
                            const struct channel_settings *settings, struct bytes head) {
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = on_recv, .send_callback = on_send, .on_msg_recv_callback = on_message};
    struct channel *channel = mem_zalloc(sizeof(*channel));
    channel->connection = connection;
    channel->loop = loop;
    channel->settings = *settings;
    channel->settings.headers = (struct bytes){0};
    buf_put(&channel->own, head);
    if (!settings->events) {
        int failed = wslay_event_context_server_init(&channel->frames, &callbacks, channel);
        assert(failed == 0);
        (void)failed;
        wslay_event_config_set_max_recv_msg_length(channel->frames, settings->message_max);
    }
    connection_wait(connection, settings->ping_ms);
    connection_watch(connection, UV_READABLE);
    mark_dirty(channel);
    return channel;
}

struct loop *channel_loop(const struct channel *channel) {
    return channel->connection->shard->loop;
}
