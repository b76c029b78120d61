#include "cli/bot_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>
#include <wslay/wslay.h>

enum { READ_SIZE = 16 * 1024, HEAD_MAX = 4096 };

static void on_poll(uv_poll_t *poll, int status, int events);

static void on_poll_closed(uv_handle_t *handle) {
    (void)handle;
}

static void tear_down(struct bot_socket *socket) {
    if (socket->state == SOCKET_CLOSED)
        return;
    socket->state = SOCKET_CLOSED;
    uv_poll_stop(&socket->poll);
    close(socket->fd);
    if (socket->frames != NULL)
        wslay_event_context_free(socket->frames);
    socket->frames = NULL;
    buf_release(&socket->in);
    buf_release(&socket->out);
    socket->in = socket->out = (struct buf){0};
    socket->sent = 0;
}

void bot_socket_close(struct bot_socket *socket) {
    socket->quiet |= socket->busy;
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
    socket->doomed |= socket->busy;
    if (socket->state == SOCKET_CLOSED || socket->busy)
        return;
    tear_down(socket);
    uv_close((uv_handle_t *)&socket->poll, on_lost_closed);
}

/* ---- sending ---- */

static void flush(struct bot_socket *socket) {
    while (socket->sent < socket->out.size) {
        ssize_t sent = send(socket->fd, socket->out.data + socket->sent,
                            socket->out.size - socket->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN)
            break;
        if (sent <= 0) {
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

static void flush_frames(struct bot_socket *socket) {
    if (socket->frames != NULL && wslay_event_want_write(socket->frames))
        wslay_event_send(socket->frames);
    flush(socket);
}

void bot_socket_send(struct bot_socket *socket, struct bytes text) {
    if (socket->state != SOCKET_OPEN)
        return;
    struct wslay_event_msg message = {WSLAY_TEXT_FRAME, text.data, text.size};
    wslay_event_queue_msg(socket->frames, &message);
    flush_frames(socket);
}

/* ---- frames ---- */

static ssize_t on_recv(wslay_event_context_ptr frames, uint8_t *to, size_t room, int flags,
                       void *user) {
    struct bot_socket *socket = user;
    (void)flags;
    if (socket->incoming.size == 0) {
        wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    size_t size = socket->incoming.size < room ? socket->incoming.size : room;
    memcpy(to, socket->incoming.data, size);
    socket->incoming = bytes_skip(socket->incoming, size);
    return (ssize_t)size;
}

static ssize_t on_send(wslay_event_context_ptr frames, const uint8_t *data, size_t size, int flags,
                       void *user) {
    struct bot_socket *socket = user;
    (void)frames, (void)flags;
    buf_append(&socket->out, data, size);
    return (ssize_t)size;
}

static int on_mask(wslay_event_context_ptr frames, uint8_t *to, size_t size, void *user) {
    (void)frames, (void)user;
    memset(to, 0x5a, size); /* it is there for proxies; nobody is fooled here */
    return 0;
}

static void on_message(wslay_event_context_ptr frames,
                       const struct wslay_event_on_msg_recv_arg *arg, void *user) {
    struct bot_socket *socket = user;
    (void)frames;
    if (arg->opcode == WSLAY_CONNECTION_CLOSE) {
        socket->code = arg->status_code;
        socket->closing = true;
    } else if (arg->opcode == WSLAY_TEXT_FRAME)
        socket->received(socket, bytes_of(arg->msg, arg->msg_length));
}

static void take_frames(struct bot_socket *socket, struct bytes bytes) {
    socket->incoming = bytes;
    socket->busy = true;
    bool failed = wslay_event_recv(socket->frames) != 0;
    flush_frames(socket);
    socket->busy = false;
    socket->incoming = (struct bytes){0};
    if (socket->quiet)
        bot_socket_close(socket);
    else if (failed || socket->closing || socket->doomed)
        lose(socket);
}

/* ---- the handshake ---- */

static void begin_frames(struct bot_socket *socket) {
    static const struct wslay_event_callbacks callbacks = {.recv_callback = on_recv,
                                                           .send_callback = on_send,
                                                           .genmask_callback = on_mask,
                                                           .on_msg_recv_callback = on_message};
    wslay_event_context_client_init(&socket->frames, &callbacks, socket);
    socket->state = SOCKET_OPEN;
}

static void take_head(struct bot_socket *socket, struct bytes bytes) {
    buf_put(&socket->in, bytes);
    size_t end = bytes_find(buf_bytes(&socket->in), BYTES("\r\n\r\n"));
    if (end == SIZE_MAX) {
        if (socket->in.size > HEAD_MAX)
            lose(socket);
        return;
    }
    if (socket->in.size < 12 || memcmp(socket->in.data + 9, "101", 3) != 0) {
        lose(socket);
        return;
    }
    begin_frames(socket);
    struct buf rest = socket->in;
    socket->in = (struct buf){0};
    if (rest.size > end + 4)
        take_frames(socket, bytes_skip(buf_bytes(&rest), end + 4));
    buf_release(&rest);
}

static void read_some(struct bot_socket *socket) {
    uint8_t in[READ_SIZE];
    ssize_t got = recv(socket->fd, in, sizeof(in), 0);
    if (got < 0 && errno == EAGAIN)
        return;
    if (got <= 0)
        lose(socket);
    else if (socket->state == SOCKET_SHAKING)
        take_head(socket, bytes_of(in, (size_t)got));
    else
        take_frames(socket, bytes_of(in, (size_t)got));
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    struct bot_socket *socket = poll->data;
    int error = 0;
    socklen_t size = sizeof(error);
    if (socket->state == SOCKET_CONNECTING) {
        getsockopt(socket->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        socket->state = SOCKET_SHAKING;
    }
    if (status < 0 || error != 0) {
        lose(socket);
        return;
    }
    if ((events & UV_READABLE) != 0)
        read_some(socket);
    if (socket->state != SOCKET_CLOSED && (events & UV_WRITABLE) != 0)
        flush(socket);
}

static void put_request(struct bot_socket *line, struct bytes path) {
    buf_printf(&line->out,
               "GET %.*s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: Z2FtZXRhYmxlLWJvdC1rZQ==\r\n\r\n",
               BYTES_ARG(path), line->host);
}

bool bot_socket_open(struct bot_socket *line, struct bytes path) {
    int on = 1;
    bool six = line->address.ss_family == AF_INET6;
    socklen_t size = six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    line->fd = socket(line->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (line->fd < 0)
        return false;
    setsockopt(line->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    int failed = connect(line->fd, (struct sockaddr *)&line->address, size);
    if ((failed != 0 && errno != EINPROGRESS) || uv_poll_init(line->loop, &line->poll, line->fd)) {
        close(line->fd);
        return false;
    }
    line->poll.data = line;
    line->state = SOCKET_CONNECTING;
    line->code = 0;
    line->closing = line->quiet = line->doomed = false;
    put_request(line, path);
    uv_poll_start(&line->poll, UV_READABLE | UV_WRITABLE, on_poll);
    return true;
}
