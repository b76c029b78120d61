#include "net/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE does it there */
#endif

static void set_flags(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* ---- listening ---- */

/* A listening socket on the address, or -1 with errno set. */
static int listen_on(const struct addrinfo *address) {
    int fd = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
    if (fd < 0)
        return -1;
    set_flags(fd);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int port_of(int fd) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    /* The analyzer does not see that the call filled in what is read as another type here. */
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
    return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static enum status listen_failed(const char *host, int port, int error, struct scope in) {
    switch (error) {
    case EADDRINUSE:
        return failure_set(in.failure, in.arena, IN_USE,
                           "port %d on %s is taken by another program: stop it or choose another "
                           "port",
                           port, host);
    case EACCES:
        return failure_set(in.failure, in.arena, INVALID,
                           "this user may not listen on port %d: choose one above 1023", port);
    case EADDRNOTAVAIL:
        return failure_set(in.failure, in.arena, INVALID,
                           "%s is not an address of this machine: listen on one that is, such as "
                           "127.0.0.1",
                           host);
    default:
        return failure_set(in.failure, in.arena, IO_FAILED, "cannot listen on %s, port %d: %s",
                           host, port, strerror(error));
    }
}

enum status wire_listen(const char *host, int *in_out_port, struct scope in, int *out_fd) {
    char service[16];
    int port = *in_out_port;
    snprintf(service, sizeof(service), "%d", port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    int found =
        port < 0 || port > 65535 ? EAI_SERVICE : getaddrinfo(host, service, &hints, &addresses);
    if (found != 0)
        return failure_set(in.failure, in.arena, INVALID, "cannot listen on %s, port %d: %s", host,
                           port, gai_strerror(found));
    int fd = -1, error = 0;
    for (struct addrinfo *a = addresses; a != NULL && fd < 0; a = a->ai_next) {
        fd = listen_on(a);
        if (fd < 0 && error == 0)
            error = errno;
    }
    freeaddrinfo(addresses);
    if (fd < 0)
        return listen_failed(host, port, error, in);
    *out_fd = fd;
    *in_out_port = port_of(fd);
    return OK;
}

int wire_accept(int listening) {
    int fd;
    do {
#ifdef __linux__
        fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
        fd = accept(listening, NULL, NULL);
        if (fd >= 0)
            set_flags(fd);
#endif
    } while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

/* ---- a connection ---- */

void wire_open(struct wire *wire, int fd, struct tls *tls) {
    *wire = (struct wire){.fd = fd, .greeted = tls == NULL};
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
#ifdef SO_NOSIGPIPE
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#endif
    if (tls != NULL)
        wire->tls = tls_connection(tls, fd);
}

void wire_keep_alive(struct wire *wire) {
    int on = 1;
    setsockopt(wire->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
#ifdef TCP_KEEPIDLE
    int idle_s = 300, every_s = 100, tries = 3;
    setsockopt(wire->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(wire->fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
    setsockopt(wire->fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
#endif
}

static ssize_t failed(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? WIRE_AGAIN : WIRE_GONE;
}

/* ---- when bytes came ---- */

#ifdef SCM_TIMESTAMPNS

/* What the system says of when the last of them came; 0: nothing. */
static int64_t stamp_of(struct msghdr *message) {
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        struct timespec at;
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&at, CMSG_DATA(part), sizeof(at));
        return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
    }
    return 0;
}

/* recv() that sets wire->arrived_ms if it got anything. */
static ssize_t receive_stamped(struct wire *wire, void *to, size_t room) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec part = {to, room};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    ssize_t got = recvmsg(wire->fd, &message, 0);
    if (got > 0)
        wire->arrived_ms = stamp_of(&message);
    return got;
}

/* What OpenSSL reads an encrypted wire through, so that the stamps are seen; it goes on writing
 * through its own. */
static int read_encrypted(BIO *bio, char *to, int room) {
    ssize_t got = receive_stamped(BIO_get_data(bio), to, (size_t)room);
    BIO_clear_retry_flags(bio);
    if (got < 0 && BIO_sock_should_retry((int)got) != 0)
        BIO_set_retry_read(bio);
    else if (got == 0)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return (int)got;
}

static long control_encrypted(BIO *bio, int command, long number, void *pointer) {
    (void)number, (void)pointer;
    return command == BIO_CTRL_EOF && BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
}

static BIO_METHOD *stamping;

static void make_stamping(void) {
    stamping = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stamped socket");
    if (stamping != NULL) {
        BIO_meth_set_read(stamping, read_encrypted);
        BIO_meth_set_ctrl(stamping, control_encrypted);
    }
}

/* False if there is no memory for it. */
static bool stamp_encrypted(struct wire *wire) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_stamping);
    BIO *bio = stamping != NULL ? BIO_new(stamping) : NULL;
    if (bio == NULL)
        return false;
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    SSL_set0_rbio(wire->tls, bio);
    return true;
}

void wire_stamp(struct wire *wire) {
    int on = 1;
    if (setsockopt(wire->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) == 0)
        wire->stamped = wire->tls == NULL || stamp_encrypted(wire);
}

#else

static ssize_t receive_stamped(struct wire *wire, void *to, size_t room) {
    return recv(wire->fd, to, room, 0);
}

void wire_stamp(struct wire *wire) {
    (void)wire;
}

#endif

/* ---- encrypted ---- */

enum wire_greeting wire_greet(struct wire *wire) {
    if (wire->greeted)
        return WIRE_READY;
    if (wire->tls == NULL)
        return WIRE_REFUSED;
    ERR_clear_error();
    int done = SSL_do_handshake(wire->tls);
    if (done == 1) {
        wire->greeted = true;
        wire->pending = true; /* a request may have come along with the last of it */
        return WIRE_READY;
    }
    int error = SSL_get_error(wire->tls, done);
    if (error == SSL_ERROR_WANT_READ)
        return WIRE_WANTS_IN;
    if (error == SSL_ERROR_WANT_WRITE)
        return WIRE_WANTS_OUT;
    bool plain = error == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
    ERR_clear_error();
    SSL_free(wire->tls);
    wire->tls = NULL;
    wire->greeted = true;
    return plain ? WIRE_PLAIN : WIRE_REFUSED;
}

static ssize_t tls_failed(struct wire *wire, int result) {
    int error = SSL_get_error(wire->tls, result);
    ERR_clear_error();
    switch (error) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return WIRE_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        return WIRE_GONE;
    }
}

/* Reads until there is no more or no room: a record that was taken from the socket wakes nobody. */
static ssize_t tls_read(struct wire *wire, uint8_t *to, size_t room) {
    size_t total = 0, got;
    ssize_t end = WIRE_AGAIN;
    ERR_clear_error();
    while (total < room) {
        int result = SSL_read_ex(wire->tls, to + total, room - total, &got);
        if (result != 1) {
            end = tls_failed(wire, result);
            break;
        }
        total += got;
    }
    wire->pending = total == room;
    return total != 0 ? (ssize_t)total : end;
}

static ssize_t tls_write(struct wire *wire, struct bytes first, struct bytes second) {
    size_t total = 0, sent;
    ERR_clear_error();
    while (first.size + second.size != 0) {
        struct bytes *from = first.size != 0 ? &first : &second;
        int result = SSL_write_ex(wire->tls, from->data, from->size, &sent);
        if (result != 1) {
            ssize_t end = tls_failed(wire, result);
            return end == WIRE_AGAIN && total != 0 ? (ssize_t)total : end == 0 ? WIRE_GONE : end;
        }
        *from = bytes_skip(*from, sent);
        total += sent;
    }
    return (ssize_t)total;
}

/* ---- either ---- */

ssize_t wire_read(struct wire *wire, void *to, size_t room) {
    if (wire->tls != NULL)
        return tls_read(wire, to, room);
    ssize_t got;
    do
        got = wire->stamped ? receive_stamped(wire, to, room) : recv(wire->fd, to, room, 0);
    while (got < 0 && errno == EINTR);
    return got < 0 ? failed() : got;
}

ssize_t wire_write(struct wire *wire, struct bytes first, struct bytes second) {
    if (wire->tls != NULL)
        return tls_write(wire, first, second);
    ssize_t sent;
    struct iovec parts[2] = {{(void *)first.data, first.size}, {(void *)second.data, second.size}};
    struct msghdr both = {.msg_iov = parts, .msg_iovlen = 2};
    do
        sent = second.size == 0 ? send(wire->fd, first.data, first.size, MSG_NOSIGNAL)
                                : sendmsg(wire->fd, &both, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? failed() : sent;
}

/* Says good-bye, so that the client knows that nothing was cut off. */
static void tls_finish(struct wire *wire) {
    if (wire->tls == NULL || !wire->greeted || (SSL_get_shutdown(wire->tls) & SSL_SENT_SHUTDOWN))
        return;
    ERR_clear_error();
    SSL_shutdown(wire->tls);
    ERR_clear_error();
}

void wire_finish(struct wire *wire) {
    tls_finish(wire);
    shutdown(wire->fd, SHUT_WR);
}

void wire_close(struct wire *wire) {
    if (wire->fd < 0)
        return;
    tls_finish(wire);
    if (wire->tls != NULL)
        SSL_free(wire->tls);
    wire->tls = NULL;
    close(wire->fd);
    wire->fd = -1;
}
