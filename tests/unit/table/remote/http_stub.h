/* An HTTP server for tests, on a thread of its own: what it answers is a function of the test's.
 * One connection at a time is read, and closed after each answer. */
#ifndef GT_TEST_HTTP_STUB_H
#define GT_TEST_HTTP_STUB_H

#include "base/buf.h"
#include "base/bytes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STUB_SILENT = -1, STUB_CLOSE = -2, STUB_REQUEST_MAX = 16 * 1024 * 1024 };

struct http_stub {
    int fd;
    char url[64];
    pthread_t thread;
    atomic_bool stopping;
    atomic_uint asked; /* requests so far */
    char *request;     /* the last one, with its head; for the test when none is under way */
    /* The status, with the body appended; STUB_SILENT: no answer until the end, STUB_CLOSE: the
     * connection is closed instead. `number` counts from 0. */
    int (*answer)(struct http_stub *stub, unsigned number, struct bytes request, struct buf *body);
    void *user;
};

static inline bool stub_read(struct http_stub *stub, int fd, size_t *size) {
    *size = 0;
    for (;;) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        if (poll(&poll_fd, 1, 50) == 0) {
            if (stub->stopping)
                return false;
            continue;
        }
        ssize_t got = recv(fd, stub->request + *size, STUB_REQUEST_MAX - 1 - *size, 0);
        if (got <= 0)
            return false;
        *size += (size_t)got;
        stub->request[*size] = '\0';
        const char *end = strstr(stub->request, "\r\n\r\n");
        const char *length = strcasestr(stub->request, "\r\nContent-Length:");
        size_t body = length != NULL && length < end ? strtoul(length + 17, NULL, 10) : 0;
        if (end != NULL && *size >= (size_t)(end + 4 - stub->request) + body)
            return true;
    }
}

static inline void stub_serve(struct http_stub *stub, int fd) {
    size_t size;
    struct buf body = {0}, head = {0};
    if (!stub_read(stub, fd, &size))
        return;
    unsigned number = atomic_load(&stub->asked);
    int status = stub->answer(stub, number, bytes_of(stub->request, size), &body);
    atomic_fetch_add(&stub->asked, 1);
    while (status == STUB_SILENT && !stub->stopping)
        usleep(5000);
    if (status > 0) {
        buf_printf(&head, "HTTP/1.1 %d x\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                   status, body.size);
        buf_put(&head, buf_bytes(&body));
        send(fd, head.data, head.size, MSG_NOSIGNAL);
    }
    buf_release(&body);
    buf_release(&head);
}

static inline void *stub_run(void *user) {
    struct http_stub *stub = user;
    while (!stub->stopping) {
        struct pollfd poll_fd = {.fd = stub->fd, .events = POLLIN};
        if (poll(&poll_fd, 1, 20) <= 0)
            continue;
        int fd = accept(stub->fd, NULL, NULL);
        if (fd < 0)
            continue;
        stub_serve(stub, fd);
        close(fd);
    }
    return NULL;
}

static inline void stub_start(struct http_stub *stub) {
    struct sockaddr_in local = {.sin_family = AF_INET};
    socklen_t size = sizeof(local);
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    stub->request = malloc(STUB_REQUEST_MAX); /* only what is used of it is given */
    assert_non_null(stub->request);
    stub->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stub->fd, (struct sockaddr *)&local, sizeof(local)), 0);
    assert_int_equal(listen(stub->fd, 64), 0);
    assert_int_equal(getsockname(stub->fd, (struct sockaddr *)&local, &size), 0);
    snprintf(stub->url, sizeof(stub->url), "http://127.0.0.1:%u", ntohs(local.sin_port));
    assert_int_equal(pthread_create(&stub->thread, NULL, stub_run, stub), 0);
}

static inline void stub_stop(struct http_stub *stub) {
    stub->stopping = true;
    pthread_join(stub->thread, NULL);
    close(stub->fd);
    free(stub->request);
}

#endif
