/* A connection to a Redis server: the socket, encryption, and the first words. */
#include "table/remote/redis_connection.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ_STEP = 64 * 1024, DEFAULT_PORT = 6379 };

struct redis_connection {
    int fd;
    struct tls *tls;
    SSL *ssl; /* NULL: plain */
    struct buf in;
    size_t read; /* bytes of `in` that were replies already given out */
    struct redis_scan scan;
};

/* --- addresses --- */

static bool read_port(struct bytes text, uint16_t *out) {
    unsigned port = 0;
    if (text.size == 0 || text.size > 5)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        port = port * 10 + (unsigned)(text.data[i] - '0');
    }
    *out = (uint16_t)port;
    return port >= 1 && port <= UINT16_MAX;
}

bool redis_address_read(struct bytes text, struct redis_address *out) {
    struct bytes host = text;
    *out = (struct redis_address){.port = DEFAULT_PORT};
    if (bytes_starts(text, BYTES("unix:"))) {
        host = bytes_skip(text, 5);
        out->port = 0;
    } else if (text.size != 0 && text.data[0] == '[') {
        const uint8_t *end = memchr(text.data, ']', text.size);
        if (end == NULL)
            return false;
        host = bytes_of(text.data + 1, (size_t)(end - text.data) - 1);
        struct bytes rest = bytes_skip(text, host.size + 2);
        if (rest.size != 0 && (rest.data[0] != ':' || !read_port(bytes_skip(rest, 1), &out->port)))
            return false;
    } else {
        const uint8_t *colon = text.size != 0 ? memrchr(text.data, ':', text.size) : NULL;
        if (colon != NULL) {
            host.size = (size_t)(colon - text.data);
            if (!read_port(bytes_skip(text, host.size + 1), &out->port))
                return false;
        }
    }
    if (host.size == 0 || host.size > REDIS_HOST_MAX || memchr(host.data, 0, host.size) != NULL)
        return false;
    memcpy(out->host, host.data, host.size);
    return true;
}

bool redis_address_equal(const struct redis_address *a, const struct redis_address *b) {
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* --- waiting --- */

static bool wait_for(int fd, short events, int64_t deadline_us) {
    struct pollfd poll_fd = {.fd = fd, .events = events};
    for (;;) {
        int64_t left = deadline_us - clock_ticks_us();
        if (left <= 0)
            return false;
        int got = poll(&poll_fd, 1, (int)((left + 999) / 1000));
        if (got > 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
    }
}

/* --- sockets --- */

static bool finish_connect(int fd, int64_t deadline_us) {
    int fault = 0;
    socklen_t size = sizeof(fault);
    return wait_for(fd, POLLOUT, deadline_us) &&
           getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &size) == 0 && fault == 0;
}

static int connect_to(const struct sockaddr *address, socklen_t size, int64_t deadline_us) {
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd < 0)
        return -1;
    if (address->sa_family != AF_UNIX) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    }
    if (connect(fd, address, size) == 0 ||
        (errno == EINPROGRESS && finish_connect(fd, deadline_us)))
        return fd;
    close(fd);
    return -1;
}

static int connect_path(const char *path, int64_t deadline_us) {
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(local.sun_path))
        return -1;
    memcpy(local.sun_path, path, strlen(path) + 1);
    return connect_to((struct sockaddr *)&local, sizeof(local), deadline_us);
}

static int connect_host(const struct redis_address *address, int64_t deadline_us) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
    char port[8];
    int fd = -1;
    snprintf(port, sizeof(port), "%u", address->port);
    if (getaddrinfo(address->host, port, &hints, &all) != 0)
        return -1;
    for (const struct addrinfo *one = all; one != NULL && fd < 0; one = one->ai_next)
        fd = connect_to(one->ai_addr, one->ai_addrlen, deadline_us);
    freeaddrinfo(all);
    return fd;
}

/* --- bytes, plain or encrypted --- */

/* What OpenSSL waits for, or 0 if it has failed. */
static short ssl_wants(const struct redis_connection *connection, int result) {
    int fault = SSL_get_error(connection->ssl, result);
    ERR_clear_error();
    return fault == SSL_ERROR_WANT_READ ? POLLIN : fault == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
}

/* One read or write. Returns the bytes, or 0 with what to wait for; wants 0: the connection is
 * over. */
static size_t read_some(struct redis_connection *connection, void *to, size_t room, short *wants) {
    *wants = 0;
    if (connection->ssl != NULL) {
        int got = SSL_read(connection->ssl, to, (int)room);
        if (got <= 0)
            *wants = ssl_wants(connection, got);
        return got > 0 ? (size_t)got : 0;
    }
    ssize_t got = recv(connection->fd, to, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        *wants = POLLIN;
    return got > 0 ? (size_t)got : 0;
}

static size_t write_some(struct redis_connection *connection, struct bytes from, short *wants) {
    *wants = 0;
    if (connection->ssl != NULL) {
        int put = SSL_write(connection->ssl, from.data,
                            (int)(from.size < READ_STEP ? from.size : READ_STEP));
        if (put <= 0)
            *wants = ssl_wants(connection, put);
        return put > 0 ? (size_t)put : 0;
    }
    ssize_t put = send(connection->fd, from.data, from.size, MSG_NOSIGNAL);
    if (put < 0 && (errno == EAGAIN || errno == EINTR))
        *wants = POLLOUT;
    return put > 0 ? (size_t)put : 0;
}

enum status redis_send(struct redis_connection *connection, struct bytes commands,
                       int64_t deadline_us) {
    while (commands.size != 0) {
        short wants;
        size_t put = write_some(connection, commands, &wants);
        commands = bytes_skip(commands, put);
        if (put == 0 && (wants == 0 || !wait_for(connection->fd, wants, deadline_us)))
            return IO_FAILED;
    }
    return OK;
}

/* Reads what is there, waiting until something is. */
static enum status read_more(struct redis_connection *connection, int64_t deadline_us) {
    struct buf *in = &connection->in;
    if (connection->read != 0) { /* what was given out has been copied */
        memmove(in->data, in->data + connection->read, in->size - connection->read);
        in->size -= connection->read;
        connection->read = 0;
    }
    for (;;) {
        short wants;
        size_t got = read_some(connection, buf_reserve(in, READ_STEP), READ_STEP, &wants);
        in->size += got;
        if (got != 0)
            return OK;
        if (wants == 0 || !wait_for(connection->fd, wants, deadline_us))
            return IO_FAILED;
    }
}

enum status redis_receive(struct redis_connection *connection, int64_t deadline_us,
                          struct arena *arena, struct redis_reply *out) {
    for (;;) {
        struct bytes bytes = bytes_skip(buf_bytes(&connection->in), connection->read);
        enum status status = bytes.size == 0 ? WOULD_BLOCK : redis_scan(&connection->scan, bytes);
        if (status == OK) {
            struct bytes reply = arena_copy(arena, bytes_of(bytes.data, connection->scan.size));
            connection->read += connection->scan.size;
            connection->scan = (struct redis_scan){0};
            return redis_reply_read(reply, arena, out);
        }
        if (status == WOULD_BLOCK)
            status = read_more(connection, deadline_us);
        if (status != OK)
            return status;
    }
}

bool redis_has_input(const struct redis_connection *connection) {
    return connection->in.size > connection->read ||
           (connection->ssl != NULL && SSL_pending(connection->ssl) > 0);
}

bool redis_is_stale(struct redis_connection *connection) {
    struct pollfd poll_fd = {.fd = connection->fd, .events = POLLIN};
    return redis_has_input(connection) || poll(&poll_fd, 1, 0) != 0;
}

int redis_descriptor(const struct redis_connection *connection) {
    return connection->fd;
}

/* --- commands --- */

/* "$12" and a line end. By hand, since a rebuild writes millions of them. */
static void put_count(struct buf *to, char kind, size_t number) {
    char text[24];
    char *at = text + sizeof(text);
    *--at = '\n';
    *--at = '\r';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    *--at = kind;
    buf_append(to, at, (size_t)(text + sizeof(text) - at));
}

void redis_command_begin(struct buf *to, size_t count) {
    put_count(to, '*', count);
}

void redis_command_word(struct buf *to, struct bytes word) {
    put_count(to, '$', word.size);
    buf_put(to, word);
    buf_lit(to, "\r\n");
}

void redis_command(struct buf *to, const struct bytes *words, size_t count) {
    redis_command_begin(to, count);
    for (size_t i = 0; i < count; i++)
        redis_command_word(to, words[i]);
}

/* --- coming in --- */

static enum status begin_tls(struct redis_connection *connection, const struct redis_peer *peer,
                             struct scope in) {
    const struct redis_address *address = peer->address;
    const struct redis_login *login = peer->login;
    const char *ca = login->ca != NULL && login->ca[0] != '\0' ? login->ca : NULL;
    enum status status = tls_open_client(address->host, ca, in, &connection->tls);
    if (status != OK)
        return status;
    connection->ssl = tls_connection(connection->tls, connection->fd);
    while (connection->ssl != NULL) {
        int result = SSL_do_handshake(connection->ssl);
        if (result == 1)
            return OK;
        long verified = SSL_get_verify_result(connection->ssl);
        short wants = ssl_wants(connection, result);
        if (wants == 0 && verified != X509_V_OK)
            return failure_set(in.failure, in.arena, INVALID,
                               "The certificate of Redis at %s:%u is not trusted (%s): name its "
                               "authority by --rank-redis-ca",
                               address->host, address->port,
                               X509_verify_cert_error_string(verified));
        if (wants == 0 || !wait_for(connection->fd, wants, peer->deadline_us))
            break;
    }
    return failure_set(in.failure, in.arena, IO_FAILED,
                       "Redis at %s:%u does not answer with TLS: is that its encrypted port?",
                       address->host, address->port);
}

enum status redis_no_answer(const struct redis_peer *peer, struct scope in) {
    return failure_set(in.failure, in.arena, IO_FAILED, "Redis at %s:%u does not answer%s",
                       peer->address->host, peer->address->port,
                       peer->login->tls ? "" : ": --rank-redis-tls if that is its encrypted port");
}

static enum status say_who(struct redis_connection *connection, const struct redis_peer *peer,
                           struct scope in) {
    const struct redis_address *address = peer->address;
    const struct redis_login *login = peer->login;
    struct buf command = {0};
    struct redis_reply reply;
    if (login->password == NULL || login->password[0] == '\0')
        return OK;
    if (login->user != NULL && login->user[0] != '\0')
        redis_command_words(&command, BYTES("AUTH"), bytes_str(login->user),
                            bytes_str(login->password));
    else
        redis_command_words(&command, BYTES("AUTH"), bytes_str(login->password));
    enum status status = redis_send(connection, buf_bytes(&command), peer->deadline_us);
    if (status == OK)
        status = redis_receive(connection, peer->deadline_us, in.arena, &reply);
    buf_release(&command);
    if (status != OK)
        return redis_no_answer(peer, in);
    if (reply.type == REDIS_ERROR)
        return failure_set(in.failure, in.arena, DENIED,
                           "Redis at %s:%u refuses the user or the password: %.*s", address->host,
                           address->port, BYTES_ARG(reply.text));
    return OK;
}

enum status redis_connect(const struct redis_peer *peer, struct scope in,
                          struct redis_connection **out) {
    const struct redis_address *address = peer->address;
    int fd = address->port == 0 ? connect_path(address->host, peer->deadline_us)
                                : connect_host(address, peer->deadline_us);
    if (fd < 0)
        return failure_set(in.failure, in.arena, IO_FAILED, "Redis at %s:%u cannot be reached",
                           address->host, address->port);
    struct redis_connection *connection = mem_zalloc(sizeof(*connection));
    enum status status = OK;
    connection->fd = fd;
    if (peer->login->tls && address->port != 0)
        status = begin_tls(connection, peer, in);
    if (status == OK)
        status = say_who(connection, peer, in);
    if (status == OK)
        *out = connection;
    else
        redis_disconnect(connection);
    return status;
}

void redis_disconnect(struct redis_connection *connection) {
    if (connection == NULL)
        return;
    if (connection->ssl != NULL)
        SSL_free(connection->ssl);
    if (connection->tls != NULL)
        tls_close(connection->tls);
    close(connection->fd);
    buf_release(&connection->in);
    mem_free(connection);
}
