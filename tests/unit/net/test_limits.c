/* Clients that are malformed, too large, too slow or too many; and how a server ends. */
#include "base/limits.h"
#include "server.h"

#include <fcntl.h>

static struct server server;

static void await_connections(unsigned count) {
    for (int i = 0; i < 60000 && listener_connections(server.listener) != count; i++)
        sleep_ms(1);
    assert_int_equal(listener_connections(server.listener), count);
}

static void test_malformed(void **state) {
    (void)state;
    static const struct {
        int status;
        const char *text;
    } cases[] = {
        {400, "hello\r\n\r\n"},
        {400, "\x16\x03\x01\x02 this might be TLS"},
        {400, "GET /echo HTTP/1.1\r\n\r\n"},
        {400, "GET /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
        {400, "GET /echo HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n"},
        {400, "GET /echo HTTP/1.1\r\nHost: x\r\nBad : space\r\n\r\n"},
        {400, "GET /echo HTTP/1.1\r\nHost: x\r\nFolded: a\r\n b\r\n\r\n"},
        {400, "GET /echo HTTP/1.1\r\nHost: x\r\nControl: a\x01\r\n\r\n"},
        {400, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"},
        {400, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n"},
        {400, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"},
        {400, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"},
        {400, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
              "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        {400, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
              "Content-Length: 3\r\n\r\n0\r\n\r\n"},
        {400, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"},
        {400, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
              "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        {400, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        {501, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"},
        {400, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"},
        {417, "GET /echo HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n"},
        {505, "GET /echo HTTP/2.0\r\nHost: x\r\n\r\n"},
    };
    server_open(&server, 1, (struct http_settings){0});
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        client_expect_refusal(&server, cases[i].text, cases[i].status);
    assert_int_equal(atomic_load(&server.handled), 0);
    server_close(&server);
}

static void test_body_max(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){.body_max = 10});
    client_expect_refusal(
        &server, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello worl", 413);
    client_expect_refusal(
        &server,
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n",
        413);
    client_expect_refusal(&server,
                          "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "5\r\nhello\r\n6\r\n world\r\n",
                          413);
    int fd = client_open(&server);
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789");
    client_expect(fd, 200, "0123456789");
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n");
    client_expect(fd, 200, "0123456789");
    close(fd);
    server_close(&server);
}

/* The client sends all of a refused body and only then looks: the answer must still be there. */
static void test_refused_while_sending(void **state) {
    (void)state;
    enum { SIZE = 4 * 1024 * 1024 };
    server_open(&server, 1, (struct http_settings){.body_max = 1000});
    char *body = calloc(1, SIZE), head[128];
    int fd = client_open(&server);
    snprintf(head, sizeof(head), "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
             SIZE);
    client_send(fd, head);
    client_send_bytes(fd, body, SIZE);
    client_expect(fd, 413, NULL);
    client_expect_end(fd);
    close(fd);
    free(body);
    server_close(&server);
}

static void test_header_max(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){.header_max = 200});
    static char text[4 * LIMIT_REQUEST_LINE], filler[LIMIT_REQUEST_LINE + 1000];
    memset(filler, 'f', sizeof(filler));
    snprintf(text, sizeof(text), "GET /echo HTTP/1.1\r\nHost: x\r\nX: %.*s\r\n\r\n", 200, filler);
    client_expect_refusal(&server, text, 400);
    snprintf(text, sizeof(text), "GET /%.*s", LIMIT_REQUEST_LINE + 300, filler); /* never ends */
    client_expect_refusal(&server, text, 400);
    snprintf(text, sizeof(text), "GET /%.*s HTTP/1.1\r\nHost: x\r\n\r\n", LIMIT_REQUEST_LINE,
             filler);
    client_expect_refusal(&server, text, 400);
    int fd = client_open(&server);
    snprintf(text, sizeof(text), "GET /echo HTTP/1.1\r\nHost: x\r\nX: %.*s\r\n\r\n", 160, filler);
    client_send(fd, text);
    client_expect(fd, 200, "");
    close(fd);
    server_close(&server);

    server_open(&server, 1, (struct http_settings){0});
    struct buf many = {0};
    buf_lit(&many, "GET /echo HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < 300; i++)
        buf_lit(&many, "a: b\r\n");
    buf_append(&many, "\r\n", 3);
    client_expect_refusal(&server, (const char *)many.data, 431);
    buf_release(&many);
    server_close(&server);
}

static void test_connections_max(void **state) {
    (void)state;
    server_open(&server, 2, (struct http_settings){.connections_max = 4});
    int fds[4];
    for (int i = 0; i < 4; i++) {
        fds[i] = client_open(&server);
        client_send(fds[i], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        client_expect(fds[i], 200, "");
    }
    for (int i = 0; i < 5; i++)
        client_expect_refusal(&server, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", 503);
    close(fds[0]);
    await_connections(3);
    fds[0] = client_open(&server);
    for (int i = 0; i < 4; i++) {
        client_send(fds[i], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        client_expect(fds[i], 200, "");
        close(fds[i]);
    }
    server_close(&server);
}

/* A drop now and then does not help. How many were sent before the answer came; 0 if the test was
 * not given the processor in time for one. */
static int drip(void) {
    int fd = client_open(&server), sent = 0;
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    client_send(fd, "GET /");
    while (poll(&readable, 1, 20) == 0 && sent++ < 1000)
        client_send(fd, "x");
    assert_true(sent < 1000);
    client_expect(fd, 408, NULL);
    close(fd);
    return sent;
}

static void test_slow_sender(void **state) {
    (void)state;
    static const char *starts[] = {
        "GET /ec",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe",
    };
    server_open(&server, 1, (struct http_settings){.request_ms = 100});
    for (int i = 0; i < 2; i++) {
        int64_t began = now_ms();
        client_expect_refusal(&server, starts[i], 408);
        assert_in_range(now_ms() - began, 95, 20000); /* it would be half a minute */
    }
    int drops = 0;
    for (int i = 0; i < 1000 && drops == 0; i++)
        drops = drip();
    assert_true(drops > 0);
    server_close(&server);
}

/* A connection whose request the server has taken. One that came too late to ask has ended by then:
 * another one asks. */
static int open_taken(const char *text) {
    for (int i = 0; i < 1000; i++) {
        unsigned handled = atomic_load(&server.handled);
        int fd = client_open(&server);
        struct pollfd ended = {.fd = fd, .events = POLLIN};
        char byte;
        client_send_some(fd, text, strlen(text));
        do
            poll(&ended, 1, 1);
        while (atomic_load(&server.handled) == handled &&
               (ended.revents == 0 || client_recv(fd, &byte, 1, MSG_PEEK) > 0));
        if (atomic_load(&server.handled) != handled)
            return fd;
        close(fd);
    }
    fail_msg("no request is taken");
    return -1;
}

static void test_idle(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){.idle_ms = 100});
    int busy = open_taken("GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
    int64_t began = now_ms();
    int fresh = client_open(&server);
    client_expect_end(fresh);
    assert_in_range(now_ms() - began, 95, 20000); /* it would be a minute */
    began = now_ms();
    int used = open_taken("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(used, 200, "");
    client_expect_end(used);
    assert_in_range(now_ms() - began, 95, 20000);
    assert_int_equal(atomic_load(&server.running), 1); /* longer than it may be idle */
    sem_post(&server.gate);
    client_expect(busy, 200, "");
    client_expect_end(busy);
    close(fresh);
    close(used);
    close(busy);
    server_close(&server);
}

/* So many that they are looked at in several steps: the time of each is over once, while others
 * come and go. */
static void test_idle_many(void **state) {
    enum { MANY = 600 };
    static int fds[MANY];
    struct rlimit before, enough;
    (void)state;
    getrlimit(RLIMIT_NOFILE, &before);
    enough = before;
    if (enough.rlim_cur < 3 * MANY)
        enough.rlim_cur = 3 * MANY;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &enough), 0);
    server_open(&server, 1, (struct http_settings){.idle_ms = 2000, .connections_max = 2 * MANY});
    int64_t began = now_ms();
    for (int i = 0; i < MANY; i++)
        fds[i] = client_open(&server);
    for (int i = 0; i < MANY; i += 3) /* not in their order */
        close(fds[i]);
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0)
            continue;
        client_expect_end(fds[i]);
        close(fds[i]);
    }
    assert_in_range(now_ms() - began, 1995, 20000);
    server_close(&server);
    setrlimit(RLIMIT_NOFILE, &before);
}

/* A client that asks for much and reads nothing. */
static void test_slow_reader(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){.request_ms = 100});
    int fd = client_open(&server);
    client_send(fd, "GET /big?16000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    await_connections(1);
    await_connections(0);
    close(fd);
    server_close(&server);
}

static void test_out_of_descriptors(void **state) {
    (void)state;
    server_open(&server, 2, (struct http_settings){0});
    int first = client_open(&server);
    client_send(first, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(first, 200, "");
    int second = socket(AF_INET, SOCK_STREAM, 0);
    struct rlimit before, tight;
    getrlimit(RLIMIT_NOFILE, &before);
    tight = before;
    tight.rlim_cur = (rlim_t)second + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)listener_port(server.listener)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(connect(second, (struct sockaddr *)&to, sizeof(to)), 0);
    client_send(second, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    struct pollfd readable = {.fd = second, .events = POLLIN};
    assert_int_equal(poll(&readable, 1, 150), 0);
    client_send(first, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(first, 200, "");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(poll(&readable, 1, 60000), 1);
    client_expect(second, 200, "");
    close(first);
    close(second);
    server_close(&server);
}

static void test_listen_failures(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){0});
    struct listener *other = NULL;
    struct failure failure = {0};
    struct http_settings settings = {
        .host = "127.0.0.1", .port = listener_port(server.listener), .handler = handle};
    assert_int_equal(
        http_listen(server.loops, &settings, (struct scope){&server.arena, &failure}, &other),
        IN_USE);
    assert_true(bytes_find(failure.text, BYTES("another program")) != SIZE_MAX);
    settings = (struct http_settings){.host = "no such host", .port = 1, .handler = handle};
    assert_int_equal(
        http_listen(server.loops, &settings, (struct scope){&server.arena, &failure}, &other),
        INVALID);
    settings = (struct http_settings){.host = "127.0.0.1", .port = 70000, .handler = handle};
    assert_int_equal(
        http_listen(server.loops, &settings, (struct scope){&server.arena, &failure}, &other),
        INVALID);
    server_close(&server);
}

/* ---- the end ---- */

static void *close_listener(void *argument) {
    listener_close(argument, 20000);
    return NULL;
}

/* Nobody is there any more. */
static void expect_refused(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int late = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_not_equal(connect(late, (struct sockaddr *)&to, sizeof(to)), 0);
    close(late);
}

/* The end of the idle one shows that its loop has been told; the loop of the busy one is the same
 * where there is one loop, and then the answer says that it is the last. */
static void check_close_waits(unsigned loops) {
    server_open(&server, loops, (struct http_settings){0});
    int idle = client_open(&server), busy = client_open(&server), half = client_open(&server);
    client_send(idle, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(idle, 200, "");
    client_send(busy, "POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok");
    client_send(half, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                      "Expect: 100-continue\r\n\r\n");
    client_expect(half, 100, ""); /* so it has begun */
    while (atomic_load(&server.running) == 0)
        sleep_ms(1);
    pthread_t closer;
    int port = listener_port(server.listener);
    pthread_create(&closer, NULL, close_listener, server.listener);
    client_expect_end(idle);
    client_send(half, "ok");
    client_expect(half, 200, "ok");
    client_expect_end(half);
    sem_post(&server.gate);
    struct reply reply = client_read(busy);
    assert_int_equal(reply.status, 200);
    assert_true(loops > 1 || strstr(reply.head, "Connection: close") != NULL);
    reply_release(&reply);
    client_expect_end(busy);
    pthread_join(closer, NULL);
    expect_refused(port);
    close(idle);
    close(half);
    close(busy);
    loops_free(server.loops);
    arena_release(&server.arena);
}

static void test_close_waits_for_exchanges(void **state) {
    (void)state;
    check_close_waits(1);
    check_close_waits(2);
}

static void test_close_waits_for_readers(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){0});
    int fd = client_open(&server);
    client_send(fd, "GET /big?16000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    while (atomic_load(&server.handled) == 0)
        sleep_ms(1);
    sleep_ms(50);
    pthread_t closer;
    int64_t began = now_ms();
    pthread_create(&closer, NULL, close_listener, server.listener);
    sleep_ms(50);
    struct reply reply = client_read(fd);
    assert_int_equal(reply.size, 16000000);
    reply_release(&reply);
    client_expect_end(fd);
    pthread_join(closer, NULL);
    assert_in_range(now_ms() - began, 0, 19000); /* not the whole grace */
    close(fd);
    loops_free(server.loops);
    arena_release(&server.arena);
}

/* After the grace the sockets close, but an exchange that runs stays good until it is answered. */
static void test_close_cuts_off(void **state) {
    (void)state;
    server_open(&server, 2, (struct http_settings){0});
    int busy = client_open(&server), reader = client_open(&server), half = client_open(&server);
    client_send(busy, "GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
    client_send(reader, "GET /big?16000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    client_send(half, "GET /");
    while (atomic_load(&server.handled) < 2)
        sleep_ms(1);
    int64_t began = now_ms();
    listener_close(server.listener, 50);
    assert_true(now_ms() - began >= 45);
    client_expect_end(busy);
    assert_int_equal(atomic_load(&server.running), 1); /* it was not waited for */
    sem_post(&server.gate);
    while (atomic_load(&server.running) != 0)
        sleep_ms(1);
    close(busy);
    close(reader);
    close(half);
    loops_free(server.loops);
    arena_release(&server.arena);
}

/* Two listeners on the same loops; one ends, the other goes on. */
static void test_two_listeners(void **state) {
    (void)state;
    server_open(&server, 2, (struct http_settings){0});
    struct http_settings settings = {.host = "127.0.0.1", .handler = handle, .context = &server};
    struct listener *other = NULL;
    struct failure failure = {0};
    assert_int_equal(
        http_listen(server.loops, &settings, (struct scope){&server.arena, &failure}, &other), OK);
    assert_int_not_equal(listener_port(other), listener_port(server.listener));
    listener_close(other, 100);
    int fd = client_open(&server);
    client_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(fd, 200, "");
    close(fd);
    server_close(&server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_body_max),
        cmocka_unit_test(test_refused_while_sending),
        cmocka_unit_test(test_header_max),
        cmocka_unit_test(test_connections_max),
        cmocka_unit_test(test_slow_sender),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_idle_many),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_out_of_descriptors),
        cmocka_unit_test(test_listen_failures),
        cmocka_unit_test(test_close_waits_for_exchanges),
        cmocka_unit_test(test_close_waits_for_readers),
        cmocka_unit_test(test_close_cuts_off),
        cmocka_unit_test(test_two_listeners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
