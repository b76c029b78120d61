#include "cli/ask.h"

#include "base/buf.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIMEOUT_S = 600, ANSWER_MAX = 1024 * 1024 };

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
    int fd = -1;
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
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
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

static bool receive_all(int fd, struct buf *to) {
    char part[4096];
    for (;;) {
        ssize_t got = recv(fd, part, sizeof part, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || to->size > ANSWER_MAX)
            return got == 0;
        buf_append(to, part, (size_t)got);
    }
}

static bool exchange(int fd, const struct place *place, const struct question *question,
                     struct buf *answer) {
    struct buf request = {0};
    buf_printf(&request,
               "%s %s HTTP/1.1\r\nHost: %s:%s\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\nConnection: close\r\n\r\n",
               question->method, question->path, place->host, place->port, question->body.size);
    buf_put(&request, question->body);
    bool done = send_all(fd, buf_bytes(&request)) && receive_all(fd, answer);
    buf_release(&request);
    return done;
}

enum status ask(const struct question *question, struct arena *arena, struct failure *failure,
                int *status, struct bytes *body) {
    struct place place;
    if (!read_endpoint(question->endpoint, &place))
        return failure_set(failure, arena, INVALID,
                           "%s is no plain HTTP endpoint, such as http://127.0.0.1:8000",
                           question->endpoint);
    int fd = dial(&place);
    if (fd < 0)
        return failure_set(failure, arena, IO_FAILED, "no server answers at %s",
                           question->endpoint);
    struct buf answer = {0};
    bool done = exchange(fd, &place, question, &answer);
    close(fd);
    struct bytes whole = arena_copy(arena, buf_bytes(&answer));
    buf_release(&answer);
    size_t end = bytes_find(whole, BYTES("\r\n\r\n"));
    if (!done || end == SIZE_MAX || !bytes_starts(whole, BYTES("HTTP/1.1 ")))
        return failure_set(failure, arena, IO_FAILED, "the server at %s gave no answer",
                           question->endpoint);
    *status = atoi((const char *)whole.data + 9);
    *body = bytes_skip(whole, end + 4);
    return OK;
}
