/* A server to try net/ on, and a client of raw sockets. What the paths answer:
 *
 *     /echo     the request's body, at once
 *     /later    the same, from another thread after the milliseconds in the query
 *     /held     the same, when the test opens the gate
 *     /info     method, path, query and the value of X-Test, each on a line
 *     /big      as many bytes as the query says, from the reply buffer
 *     /borrowed the same, from memory that is the handler's
 *     /empty    204
 *     /kept     the request's body, at once; the answer is kept back for the milliseconds in the
 * query
 */
#ifndef GT_TEST_NET_SERVER_H
#define GT_TEST_NET_SERVER_H

#include "test.h"

#include "net/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct server {
    struct loops *loops;
    struct listener *listener;
    struct arena arena;
    atomic_uint running; /* exchanges that are on their way to be answered later */
    atomic_uint handled;
    sem_t gate; /* each post lets one that is held go on */
};

static inline void sleep_ms(long ms) {
    struct timespec t = {ms / 1000, (ms % 1000) * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

static inline int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* For a minute at most: a test that has failed does not hang. */
static inline void gate_wait(struct server *server) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    while (sem_timedwait(&server->gate, &until) != 0 && errno == EINTR) {
    }
}

/* ---- the handler ---- */

static inline void answer_with(struct http_exchange *exchange, struct bytes body) {
    struct http_answer answer = {.status = 200,
                                 .content_type = BYTES("text/plain"),
                                 .headers = BYTES("X-Extra: yes\r\n"),
                                 .body = body};
    http_answer(exchange, &answer);
}

static inline void answer_later(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    struct server *server = exchange->user;
    buf_put(&exchange->reply, exchange->body);
    answer_with(exchange, buf_bytes(&exchange->reply));
    atomic_fetch_sub(&server->running, 1);
}

static inline size_t query_number(const struct http_exchange *exchange) {
    size_t number = 0;
    for (size_t i = 0; i < exchange->query.size; i++)
        number = number * 10 + (size_t)(exchange->query.data[i] - '0');
    return number;
}

static inline void release_later(struct task *task) {
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)task - offsetof(struct http_exchange, task));
    struct server *server = exchange->user;
    http_release(exchange);
    atomic_fetch_sub(&server->running, 1);
}

static inline void *wait_and_post(void *argument) {
    struct http_exchange *exchange = argument;
    if (bytes_equal(exchange->path, BYTES("/held")))
        gate_wait(exchange->user);
    else
        sleep_ms((long)query_number(exchange));
    exchange->task.run = bytes_equal(exchange->path, BYTES("/kept")) ? release_later : answer_later;
    loop_post(exchange->loop, &exchange->task);
    return NULL;
}

static inline void handle_later(struct http_exchange *exchange, struct server *server) {
    pthread_t thread;
    exchange->user = server;
    atomic_fetch_add(&server->running, 1);
    assert_int_equal(pthread_create(&thread, NULL, wait_and_post, exchange), 0);
    pthread_detach(thread);
}

static inline void handle_big(struct http_exchange *exchange, bool borrowed) {
    size_t size = query_number(exchange);
    uint8_t *to = borrowed ? malloc(size) : buf_reserve(&exchange->reply, size);
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(i * 31 >> 3);
    if (!borrowed)
        exchange->reply.size += size;
    answer_with(exchange, bytes_of(to, size));
    if (borrowed) {
        memset(to, 0, size);
        free(to);
    }
}

/* From memory that is another's by the time the answer is sent. */
static inline void handle_kept(struct http_exchange *exchange) {
    char body[100];
    assert_true(exchange->body.size <= sizeof(body));
    if (exchange->body.size != 0)
        memcpy(body, exchange->body.data, exchange->body.size);
    answer_with(exchange, bytes_of(body, exchange->body.size));
    memset(body, '?', sizeof(body));
}

static inline bool answered(struct http_exchange *exchange, const struct http_answer *answer,
                            void *context) {
    if (answer->status != 200 || !bytes_equal(exchange->path, BYTES("/kept")))
        return false;
    handle_later(exchange, context);
    return true;
}

static inline void handle_info(struct http_exchange *exchange) {
    struct bytes test = http_header(exchange, "x-test");
    answer_with(exchange, arena_printf(&exchange->arena, "%.*s\n%.*s\n%.*s\n%.*s\n",
                                       BYTES_ARG(exchange->method), BYTES_ARG(exchange->path),
                                       BYTES_ARG(exchange->query), (int)test.size,
                                       test.size == 0 ? "" : (const char *)test.data));
}

static inline void handle(struct http_exchange *exchange, void *context) {
    struct server *server = context;
    atomic_fetch_add(&server->handled, 1);
    assert_ptr_equal(loop_current(), exchange->loop);
    if (bytes_equal(exchange->path, BYTES("/later")) || bytes_equal(exchange->path, BYTES("/held")))
        handle_later(exchange, server);
    else if (bytes_equal(exchange->path, BYTES("/kept")))
        handle_kept(exchange);
    else if (bytes_equal(exchange->path, BYTES("/info")))
        handle_info(exchange);
    else if (bytes_equal(exchange->path, BYTES("/big")))
        handle_big(exchange, false);
    else if (bytes_equal(exchange->path, BYTES("/borrowed")))
        handle_big(exchange, true);
    else if (bytes_equal(exchange->path, BYTES("/empty")))
        http_answer(exchange, &(struct http_answer){.status = 204});
    else
        answer_with(exchange, exchange->body);
}

/* ---- the server ---- */

static inline void server_open(struct server *server, unsigned loops,
                               struct http_settings settings) {
    memset(server, 0, sizeof(*server));
    sem_init(&server->gate, 0, 0);
    arena_init(&server->arena);
    server->loops = loops_new(loops);
    loops_set_busy_poll(server->loops, 60, loops);
    loops_start(server->loops);
    settings.host = "127.0.0.1";
    if (settings.handler == NULL)
        settings.handler = handle;
    settings.answered = answered;
    settings.context = server;
    struct failure failure = {0};
    assert_int_equal(http_listen(server->loops, &settings, (struct scope){&server->arena, &failure},
                                 &server->listener),
                     OK);
}

static inline void server_close(struct server *server) {
    listener_close(server->listener, 1000);
    while (atomic_load(&server->running) != 0)
        sleep_ms(1);
    loops_free(server->loops);
    arena_release(&server->arena);
}

/* ---- the client ---- */

static inline int client_open(const struct server *server) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)listener_port(server->listener)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    struct timeval limit = {.tv_sec = 60};
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* A process that was stopped and goes on finds its calls with a time limit interrupted. */
static inline ssize_t client_recv(int fd, void *to, size_t size, int flags) {
    ssize_t got;
    do
        got = recv(fd, to, size, flags);
    while (got < 0 && errno == EINTR);
    return got;
}

static inline ssize_t client_send_some(int fd, const void *data, size_t size) {
    ssize_t sent;
    do
        sent = send(fd, data, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

static inline void client_send_bytes(int fd, const void *data, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t sent = client_send_some(fd, (const char *)data + at, size - at);
        assert_true(sent > 0);
        at += (size_t)sent;
    }
}

static inline void client_send(int fd, const char *text) {
    client_send_bytes(fd, text, strlen(text));
}

struct reply {
    int status;
    char head[4096];
    char *body; /* of `size` bytes, and a NUL */
    size_t size;
};

static inline void reply_release(struct reply *reply) {
    free(reply->body);
    reply->body = NULL;
}

static inline void read_exactly(int fd, char *to, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t got = client_recv(fd, to + at, size - at, 0);
        assert_true(got > 0);
        at += (size_t)got;
    }
}

/* Reads one answer byte for byte, so that the next stays on the socket. */
static inline struct reply client_read_to(int fd, bool body) {
    struct reply reply = {0};
    size_t size = 0;
    do {
        assert_true(size + 1 < sizeof(reply.head));
        read_exactly(fd, reply.head + size, 1);
        size++;
    } while (size < 4 || memcmp(reply.head + size - 4, "\r\n\r\n", 4) != 0);
    assert_int_equal(sscanf(reply.head, "HTTP/1.1 %d ", &reply.status), 1);
    const char *length = strstr(reply.head, "Content-Length: ");
    reply.size = length == NULL ? 0 : (size_t)atoll(length + 16);
    reply.body = calloc(1, reply.size + 1);
    if (body)
        read_exactly(fd, reply.body, reply.size);
    return reply;
}

static inline struct reply client_read(int fd) {
    return client_read_to(fd, true);
}

/* Reads an answer and checks it. */
static inline void client_expect(int fd, int status, const char *body) {
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, status);
    if (body != NULL)
        assert_string_equal(reply.body, body);
    reply_release(&reply);
}

/* The server has ended the connection, in order. */
static inline void client_expect_end(int fd) {
    char byte;
    assert_int_equal(client_recv(fd, &byte, 1, 0), 0);
}

/* Sends the text on a connection of its own, which must be answered so and then end. */
static inline void client_expect_refusal(const struct server *server, const char *text,
                                         int status) {
    int fd = client_open(server);
    client_send(fd, text);
    struct reply reply = client_read(fd);
    if (reply.status != status)
        print_message("sent: %s\nanswer: %s%s\n", text, reply.head, reply.body);
    assert_int_equal(reply.status, status);
    assert_non_null(strstr(reply.head, "Connection: close\r\n"));
    assert_non_null(strstr(reply.head, "Content-Type: text/plain"));
    char start[8];
    snprintf(start, sizeof(start), "%d ", status);
    assert_memory_equal(reply.body, start, 4);
    reply_release(&reply);
    client_expect_end(fd);
    close(fd);
}

#endif
