#include "cli/bot_socket.h"

#include "base/limits.h"

#include <errno.h>
#include <netinet/in.h>

enum { READ_SIZE = 16 * 1024 };

static void on_poll(uv_poll_t *poll, int status, int events);

/* ---- ends ---- */

static void on_poll_closed(uv_handle_t *handle) {
    (void)handle;
}

static void tear_down(struct bot_socket *socket) {
    socket->state = SOCKET_CLOSED;
    uv_poll_stop(&socket->poll);
    wire_close(&socket->wire);
    frames_release(&socket->frames);
    buf_release(&socket->in);
    buf_release(&socket->out);
    socket->sent = 0;
}

void bot_socket_close(struct bot_socket *socket) {
    socket->closed_by_owner |= socket->busy;
    if (socket->state == SOCKET_CLOSED || socket->busy)
        return;
    tear_down(socket);
    uv_close((uv_handle_t *)&socket->poll, on_poll_closed);
}

/* The handle must be closed before the socket's memory is used for another: one turn later. */
static void on_lost_closed(uv_handle_t *handle) {
    struct bot_socket *socket = handle->data;
    socket->lost(socket, socket->code);
}

static void lose(struct bot_socket *socket) {
    socket->is_lost |= socket->busy;
    if (socket->state == SOCKET_CLOSED || socket->busy)
        return;
    tear_down(socket);
    uv_close((uv_handle_t *)&socket->poll, on_lost_closed);
}

/* ---- sending ---- */

static void flush(struct bot_socket *socket) {
    while (socket->sent < socket->out.size) {
        ssize_t sent = wire_write(&socket->wire, bytes_skip(buf_bytes(&socket->out), socket->sent),
                                  (struct bytes){0});
        if (sent == WIRE_AGAIN)
            break;
        if (sent < 0) {
            lose(socket);
            return;
        }
        socket->sent += (size_t)sent;
    }
    bool all = socket->sent == socket->out.size;
    if (all) {
        buf_clear(&socket->out);
        socket->sent = 0;
    }
    uv_poll_start(&socket->poll, UV_READABLE | (all ? 0 : UV_WRITABLE), on_poll);
}

static void put_frame(struct bot_socket *socket, enum frames_opcode opcode, struct bytes data) {
    uint64_t mask = random_next(socket->random);
    frames_put_masked(&socket->out, opcode, data, (const uint8_t *)&mask);
}

void bot_socket_send(struct bot_socket *socket, struct bytes text) {
    if (socket->state != SOCKET_OPEN)
        return;
    put_frame(socket, FRAMES_OP_TEXT, text);
    if (!socket->busy)
        flush(socket);
}

/* ---- frames ---- */

static void on_heard(void *user, enum frames_kind kind, struct bytes data) {
    struct bot_socket *socket = user;
    if (kind == FRAMES_TEXT)
        socket->received(socket, data);
    else if (kind == FRAMES_PING)
        put_frame(socket, FRAMES_OP_PONG, data);
    else if (kind == FRAMES_CLOSE) {
        socket->code = data.size >= 2 ? data.data[0] << 8 | data.data[1] : 0;
        put_frame(socket, FRAMES_OP_CLOSE, bytes_of(data.data, data.size >= 2 ? 2 : 0));
    }
}

static void take_frames(struct bot_socket *socket, struct bytes bytes) {
    const struct frames_reader reader = {.message_max = LIMIT_CLIENT_MESSAGE,
                                         .from_server = true,
                                         .heard = on_heard,
                                         .user = socket};
    socket->busy = true;
    frames_take(&socket->frames, bytes, &reader);
    flush(socket);
    socket->busy = false;
    if (socket->closed_by_owner)
        bot_socket_close(socket);
    else if (socket->frames.over || socket->is_lost)
        lose(socket);
}

/* ---- the request for a WebSocket, and its answer ---- */

static void take_head(struct bot_socket *socket, struct bytes bytes) {
    buf_put(&socket->in, bytes);
    size_t end = bytes_find(buf_bytes(&socket->in), BYTES("\r\n\r\n"));
    if (end == SIZE_MAX) {
        if (socket->in.size > LIMIT_HEADER_SIZE)
            lose(socket);
        return;
    }
    if (socket->in.size < 12 || memcmp(socket->in.data + 9, "101", 3) != 0) {
        lose(socket);
        return;
    }
    socket->state = SOCKET_OPEN;
    struct buf rest = socket->in;
    socket->in = (struct buf){0};
    if (rest.size > end + 4)
        take_frames(socket, bytes_skip(buf_bytes(&rest), end + 4));
    buf_release(&rest);
}

static void read_some(struct bot_socket *socket) {
    uint8_t in[READ_SIZE];
    do {
        ssize_t got = wire_read(&socket->wire, in, sizeof(in));
        if (got == WIRE_AGAIN)
            return;
        if (got <= 0)
            lose(socket);
        else if (socket->state == SOCKET_UPGRADING)
            take_head(socket, bytes_of(in, (size_t)got));
        else
            take_frames(socket, bytes_of(in, (size_t)got));
    } while (socket->state != SOCKET_CLOSED && socket->wire.pending);
}

/* True when it has connected and both sides agree on the encryption. */
static bool greet(struct bot_socket *socket) {
    switch (wire_greet(&socket->wire)) {
    case WIRE_READY:
        socket->state = SOCKET_UPGRADING;
        return true;
    case WIRE_WANTS_IN:
        uv_poll_start(&socket->poll, UV_READABLE, on_poll);
        return false;
    case WIRE_WANTS_OUT:
        uv_poll_start(&socket->poll, UV_WRITABLE, on_poll);
        return false;
    default:
        lose(socket);
        return false;
    }
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    struct bot_socket *socket = poll->data;
    if (status < 0) {
        lose(socket);
        return;
    }
    if (socket->state == SOCKET_GREETING) {
        if (greet(socket))
            flush(socket);
        return;
    }
    if ((events & UV_READABLE) != 0)
        read_some(socket);
    if (socket->state != SOCKET_CLOSED && (events & UV_WRITABLE) != 0)
        flush(socket);
}

static void put_request(struct bot_socket *conn, struct bytes path) {
    buf_printf(&conn->out,
               "GET %.*s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: Z2FtZXRhYmxlLWJvdC1rZQ==\r\n\r\n",
               BYTES_ARG(path), conn->host);
}

bool bot_socket_open(struct bot_socket *conn, struct bytes path) {
    bool six = conn->address.ss_family == AF_INET6;
    socklen_t size = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    int fd = socket(conn->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    wire_open(&conn->wire, fd, conn->tls);
    int failed = connect(fd, (struct sockaddr *)&conn->address, size);
    if ((failed != 0 && errno != EINPROGRESS) || uv_poll_init(conn->loop, &conn->poll, fd)) {
        wire_close(&conn->wire);
        return false;
    }
    conn->poll.data = conn;
    conn->state = SOCKET_GREETING;
    conn->frames = (struct frames){0};
    conn->code = 0;
    conn->closed_by_owner = conn->is_lost = false;
    put_request(conn, path);
    uv_poll_start(&conn->poll, UV_WRITABLE, on_poll);
    return true;
}
