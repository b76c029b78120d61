#include "cli/ask.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIMEOUT_S = 600, ANSWER_MAX = 32 * 1024 * 1024, RECEIVE_SIZE = 64 * 1024 };

struct place {
    char host[256];
    char port[8];
};

/* http://host[:port][/], the host in brackets if it has colons. */
static bool read_endpoint(const char *endpoint, struct place *out) {
    if (strncmp(endpoint, "http://", 7) != 0)
        return false;
    const char *from = endpoint + 7, *end = from + strcspn(from, "/");
    const char *bracket = *from == '[' ? memchr(from, ']', (size_t)(end - from)) : NULL;
    const char *colon = memchr(bracket != NULL ? bracket : from, ':',
                               (size_t)(end - (bracket != NULL ? bracket : from)));
    const char *host_end = colon != NULL ? colon : end;
    if (bracket != NULL) {
        from++;
        host_end = bracket;
    }
    size_t host = (size_t)(host_end - from), port = colon == NULL ? 0 : (size_t)(end - colon - 1);
    if (host == 0 || host >= sizeof out->host || port >= sizeof out->port)
        return false;
    memcpy(out->host, from, host);
    out->host[host] = '\0';
    memcpy(out->port, colon == NULL ? "80" : colon + 1, colon == NULL ? 3 : port);
    if (colon != NULL)
        out->port[port] = '\0';
    return true;
}

static int dial(const struct place *place) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    struct timeval timeout = {.tv_sec = TIMEOUT_S};
    int fd = -1, on = 1;
    if (getaddrinfo(place->host, place->port, &hints, &list) != 0)
        return -1;
    for (struct addrinfo *at = list; at != NULL && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd < 0)
        return fd;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a body must not wait for an ACK */
    return fd;
}

static bool send_all(int fd, struct bytes bytes) {
    while (bytes.size > 0) {
        ssize_t sent = send(fd, bytes.data, bytes.size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes = bytes_skip(bytes, (size_t)sent);
    }
    return true;
}

/* Reads more of the answer; 0 at its end, -1 if it cannot. */
static ssize_t receive(int fd, struct buf *to) {
    ssize_t got;
    do
        got = recv(fd, buf_reserve(to, RECEIVE_SIZE), RECEIVE_SIZE, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        to->size += (size_t)got;
    return got;
}

/* The length that the head tells; false if it tells none. */
static bool body_size(struct bytes head, size_t *out) {
    static const char name[] = "\r\ncontent-length:";
    for (size_t i = 0; i + sizeof name < head.size; i++)
        if (strncasecmp((const char *)head.data + i, name, sizeof name - 1) == 0) {
            *out = strtoul((const char *)head.data + i + sizeof name - 1, NULL, 10);
            return true;
        }
    return false;
}

/* Takes one whole answer: its head, and as much body as that says. */
static bool receive_answer(int fd, struct buf *to, int *status, struct bytes *body) {
    size_t end = SIZE_MAX, size = 0;
    buf_clear(to);
    while (end == SIZE_MAX) {
        if (to->size > ANSWER_MAX || receive(fd, to) <= 0)
            return false;
        end = bytes_find(buf_bytes(to), BYTES("\r\n\r\n"));
    }
    struct bytes head = bytes_of(to->data, end + 2);
    if (!bytes_starts(head, BYTES("HTTP/1.1 ")))
        return false;
    *status = atoi((const char *)head.data + 9);
    if (*status != 204 && *status != 304 && (!body_size(head, &size) || size > ANSWER_MAX))
        return false;
    while (to->size < end + 4 + size)
        if (receive(fd, to) <= 0)
            return false;
    *body = bytes_of(to->data + end + 4, size);
    return true;
}

/* --- asking --- */

static bool send_question(int fd, const struct place *place, const struct question *question) {
    struct buf head = {0};
    buf_printf(&head, "%s %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Length: %zu\r\n", question->method,
               question->path, place->host, place->port, question->body.size);
    if (question->body.size != 0)
        buf_printf(&head, "Content-Type: %s\r\n",
                   question->type != NULL ? question->type : "application/json");
    if (question->key != NULL)
        buf_printf(&head, "Authorization: Bearer %s\r\n", question->key);
    buf_lit(&head, "\r\n");
    bool sent = send_all(fd, buf_bytes(&head)) && send_all(fd, question->body);
    buf_release(&head);
    return sent;
}

void asker_close(struct asker *asker) {
    if (asker->fd >= 0)
        close(asker->fd);
    asker->fd = -1;
    buf_release(&asker->answer);
}

enum status asker_ask(struct asker *asker, const struct question *question, struct arena *arena,
                      struct failure *failure, int *status, struct bytes *body) {
    struct place place;
    if (!read_endpoint(question->endpoint, &place))
        return failure_set(failure, arena, INVALID,
                           "%s is no plain HTTP endpoint, such as http://127.0.0.1:8000",
                           question->endpoint);
    if (asker->fd < 0)
        asker->fd = dial(&place);
    if (asker->fd < 0)
        return failure_set(failure, arena, IO_FAILED, "no server answers at %s",
                           question->endpoint);
    if (send_question(asker->fd, &place, question) &&
        receive_answer(asker->fd, &asker->answer, status, body)) {
        *body = arena_copy(arena, *body);
        return OK;
    }
    close(asker->fd);
    asker->fd = -1;
    return failure_set(failure, arena, IO_FAILED, "the server at %s gave no answer",
                       question->endpoint);
}

enum status ask(const struct question *question, struct arena *arena, struct failure *failure,
                int *status, struct bytes *body) {
    struct asker asker = {.fd = -1};
    enum status result = asker_ask(&asker, question, arena, failure, status, body);
    asker_close(&asker);
    return result;
}
