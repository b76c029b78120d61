/* HTTP over real sockets, as well-behaved clients use it. test_limits.c has the others. */
#include "server.h"

static struct server server;

static int setup(void **state) {
    (void)state;
    server_open(&server, 2, (struct http_settings){0});
    return 0;
}

static int teardown(void **state) {
    (void)state;
    server_close(&server);
    return 0;
}

static void test_keep_alive(void **state) {
    (void)state;
    int fd = client_open(&server);
    for (int i = 0; i < 100; i++) {
        client_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        struct reply reply = client_read(fd);
        assert_int_equal(reply.status, 200);
        assert_string_equal(reply.body, "hello");
        assert_non_null(strstr(reply.head, "\r\nDate: "));
        assert_non_null(strstr(reply.head, "\r\nContent-Type: text/plain\r\n"));
        assert_non_null(strstr(reply.head, "\r\nX-Extra: yes\r\n"));
        assert_null(strstr(reply.head, "Connection:"));
        reply_release(&reply);
    }
    assert_int_equal(listener_connections(server.listener), 1);
    close(fd);
}

static void test_request_fields(void **state) {
    (void)state;
    static const struct {
        const char *request, *answer;
    } cases[] = {
        {"GET /info HTTP/1.1\r\nHost: x\r\n\r\n", "GET\n/info\n\n\n"},
        {"PUT /info?a=b&c HTTP/1.1\r\nHost: x\r\n\r\n", "PUT\n/info\na=b&c\n\n"},
        {"GET /info?#f HTTP/1.1\r\nHost: x\r\n\r\n", "GET\n/info\n\n\n"},
        {"GET http://x:1/info?q HTTP/1.1\r\nHost: x:1\r\n\r\n", "GET\n/info\nq\n\n"},
        {"GET /info HTTP/1.1\r\nHost: x\r\nX-TEST: \t a b \t\r\n\r\n", "GET\n/info\n\na b\n"},
        {"GET /info HTTP/1.1\r\nX-Test:\r\nHost: x\r\n\r\n", "GET\n/info\n\n\n"},
        {"\r\nGET /info HTTP/1.1\r\nHost: x\r\n\r\n", "GET\n/info\n\n\n"},
        {"GET /info HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
         "GET\n/info\n\n\n"},
    };
    int fd = client_open(&server);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        client_send(fd, cases[i].request);
        client_expect(fd, 200, cases[i].answer);
    }
    close(fd);
}

static void test_byte_by_byte(void **state) {
    (void)state;
    int fd = client_open(&server);
    const char *request = "POST /info?q HTTP/1.1\r\nHost: x\r\nX-Test: value\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;ext=1\r\nc\r\n0\r\n"
                          "Trailer: t\r\n\r\n";
    for (const char *at = request; *at != '\0'; at++) {
        client_send_bytes(fd, at, 1);
        if ((at - request) % 8 == 0)
            sleep_ms(1);
    }
    client_expect(fd, 200, "POST\n/info\nq\nvalue\n");
    close(fd);
}

static void test_chunked(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd,
                "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
                "5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n"
                "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    client_expect(fd, 200, "hello world");
    client_expect(fd, 200, "");
    close(fd);
}

/* A body of very many tiny chunks: reads cut them anywhere. */
static void test_many_chunks(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    struct buf text = {0};
    buf_lit(&text, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < COUNT; i++)
        buf_printf(&text, "1\r\n%c\r\n", 'a' + i % 26);
    buf_lit(&text, "0\r\n\r\n");
    int fd = client_open(&server);
    client_send_bytes(fd, text.data, text.size);
    struct reply reply = client_read(fd);
    assert_int_equal(reply.size, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(reply.body[i], 'a' + i % 26);
    reply_release(&reply);
    buf_release(&text);
    close(fd);
}

static void test_pipelining(void **state) {
    (void)state;
    int fd = client_open(&server);
    struct buf text = {0};
    for (int i = 0; i < 200; i++)
        buf_printf(&text, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n%03d",
                   i % 7 == 0 ? "/later?1" : "/echo", i);
    client_send_bytes(fd, text.data, text.size);
    for (int i = 0; i < 200; i++) {
        char expected[16];
        snprintf(expected, sizeof(expected), "%03d", i);
        client_expect(fd, 200, expected);
    }
    buf_release(&text);
    close(fd);
}

/* A client that pipelines without reading is held back by its own socket, not by our memory. */
static void test_flood_is_held_back(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "GET /later?300 HTTP/1.1\r\nHost: x\r\n\r\n");
    char request[4096] = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4039\r\n\r\n";
    size_t head = strlen(request);
    memset(request + head, 'x', sizeof(request) - head);
    size_t whole = head + 4039, sent = 0;
    int64_t end = now_ms() + 200;
    while (now_ms() < end) {
        ssize_t n =
            send(fd, request + sent % whole, whole - sent % whole, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            sent += (size_t)n;
        else
            sleep_ms(1);
    }
    assert_true(sent < 32 * 1024 * 1024); /* what the two sockets hold */
    client_expect(fd, 200, "");
    for (size_t i = 0; i < sent / whole; i++) {
        struct reply reply = client_read(fd);
        assert_int_equal(reply.size, 4039);
        reply_release(&reply);
    }
    close(fd);
}

static void test_later(void **state) {
    (void)state;
    int fd = client_open(&server);
    for (int i = 0; i < 20; i++) {
        client_send(fd, "POST /later?2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok");
        client_expect(fd, 200, "ok");
    }
    close(fd);
}

/* An answer that is kept back is sent whole when it is released, and requests behind it wait. */
static void test_kept_back(void **state) {
    (void)state;
    int fd = client_open(&server);
    for (int i = 0; i < 20; i++) {
        int64_t from_ms = now_ms();
        client_send(fd, "POST /kept?30 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nkept"
                        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nnext");
        client_expect(fd, 200, "kept");
        assert_true(now_ms() - from_ms >= 29);
        client_expect(fd, 200, "next");
    }
    close(fd);
}

static void test_head_and_no_content(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "HEAD /big?1000 HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read_to(fd, false);
    assert_int_equal(reply.size, 1000);
    reply_release(&reply);
    client_send(fd, "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n");
    reply = client_read(fd);
    assert_int_equal(reply.status, 204);
    assert_null(strstr(reply.head, "Content-Length"));
    reply_release(&reply);
    client_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(fd, 200, "");
    close(fd);
}

static void test_connection_header(void **state) {
    (void)state;
    static const struct {
        const char *request, *header;
        bool ends;
    } cases[] = {
        {"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "Connection: close", true},
        {"GET /echo HTTP/1.0\r\n\r\n", "Connection: close", true},
        {"GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "Connection: keep-alive", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int fd = client_open(&server);
        client_send(fd, cases[i].request);
        struct reply reply = client_read(fd);
        assert_int_equal(reply.status, 200);
        assert_non_null(strstr(reply.head, cases[i].header));
        reply_release(&reply);
        if (cases[i].ends)
            client_expect_end(fd);
        else {
            client_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
            client_expect(fd, 200, "");
        }
        close(fd);
    }
}

static void test_expect_continue(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                    "Expect: 100-continue\r\n\r\n");
    client_expect(fd, 100, "");
    client_send(fd, "ok");
    client_expect(fd, 200, "ok");
    /* who does not wait is not kept waiting */
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                    "Expect: 100-continue\r\n\r\nok");
    client_expect(fd, 200, "ok");
    close(fd);
}

static void test_large_body(void **state) {
    (void)state;
    enum { SIZE = 8 * 1024 * 1024 };
    int fd = client_open(&server);
    char *body = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        body[i] = (char)(i % 251);
    char head[128];
    for (int round = 0; round < 2; round++) {
        snprintf(head, sizeof(head),
                 "POST /later HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", SIZE);
        client_send(fd, head);
        client_send_bytes(fd, body, SIZE);
        struct reply reply = client_read(fd);
        assert_int_equal(reply.size, SIZE);
        assert_memory_equal(reply.body, body, SIZE);
        reply_release(&reply);
    }
    free(body);
    close(fd);
}

/* A large answer to a slow reader does not keep others of the same loop waiting. */
static void test_large_answer(void **state) {
    (void)state;
    enum { SIZE = 16 * 1024 * 1024 };
    static const char *paths[] = {"/big", "/borrowed"};
    for (int round = 0; round < 2; round++) {
        char request[128];
        snprintf(request, sizeof(request), "GET %s?%d HTTP/1.1\r\nHost: x\r\n\r\n", paths[round],
                 SIZE);
        int fd = client_open(&server), others[4];
        client_send(fd, request);
        client_send(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        sleep_ms(20);
        for (int i = 0; i < 4; i++) {
            others[i] = client_open(&server);
            client_send(others[i], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
            client_expect(others[i], 200, "");
        }
        struct reply reply = client_read(fd);
        assert_int_equal(reply.size, SIZE);
        for (size_t i = 0; i < SIZE; i++)
            if ((uint8_t)reply.body[i] != (uint8_t)(i * 31 >> 3))
                fail_msg("byte %zu of %s is wrong", i, paths[round]);
        reply_release(&reply);
        client_expect(fd, 200, "");
        for (int i = 0; i < 4; i++)
            close(others[i]);
        close(fd);
    }
}

static void test_half_closed(void **state) {
    (void)state;
    int fd = client_open(&server);
    client_send(fd, "POST /later?30 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na"
                    "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nb");
    shutdown(fd, SHUT_WR);
    client_expect(fd, 200, "a");
    client_expect(fd, 200, "b");
    client_expect_end(fd);
    close(fd);
}

static void await_no_connections(void) {
    for (int i = 0; i < 60000 && listener_connections(server.listener) != 0; i++)
        sleep_ms(1);
    assert_int_equal(listener_connections(server.listener), 0);
}

static void test_client_goes_away(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        int fd = client_open(&server);
        if (i % 2 == 0) { /* by a reset instead of an end */
            struct linger hard = {.l_onoff = 1};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        }
        if (i % 5 == 0)
            client_send(fd, "GET /big?4000000 HTTP/1.1\r\nHost: x\r\n\r\n");
        else if (i % 5 == 1)
            client_send(fd, "GET /echo HTTP");
        else if (i % 5 == 2)
            client_send(fd, "GET /kept?20 HTTP/1.1\r\nHost: x\r\n\r\n");
        else
            client_send(fd, "GET /later?20 HTTP/1.1\r\nHost: x\r\n\r\n");
        sleep_ms(2);
        close(fd);
    }
    await_no_connections();
}

struct crowd {
    pthread_t thread;
    unsigned seed;
};

static void *crowd_member(void *argument) {
    struct crowd *me = argument;
    enum { CONNECTIONS = 16, ROUNDS = 30 };
    int fds[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++)
        fds[i] = client_open(&server);
    for (int round = 0; round < ROUNDS; round++) {
        char body[32], request[160];
        for (int i = 0; i < CONNECTIONS; i++) {
            int size = snprintf(body, sizeof(body), "%u-%d-%d", me->seed, round, i);
            snprintf(request, sizeof(request),
                     "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s",
                     (round + i) % 4 == 0 ? "/later?1" : "/echo", size, body);
            client_send(fds[i], request);
        }
        for (int i = 0; i < CONNECTIONS; i++) {
            snprintf(body, sizeof(body), "%u-%d-%d", me->seed, round, i);
            client_expect(fds[i], 200, body);
        }
    }
    for (int i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
    return NULL;
}

static void test_crowd(void **state) {
    (void)state;
    struct crowd members[6];
    for (unsigned i = 0; i < 6; i++) {
        members[i].seed = i;
        pthread_create(&members[i].thread, NULL, crowd_member, &members[i]);
    }
    for (unsigned i = 0; i < 6; i++)
        pthread_join(members[i].thread, NULL);
    await_no_connections();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keep_alive, setup, teardown),
        cmocka_unit_test_setup_teardown(test_request_fields, setup, teardown),
        cmocka_unit_test_setup_teardown(test_byte_by_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_chunked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_chunks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pipelining, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flood_is_held_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kept_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_head_and_no_content, setup, teardown),
        cmocka_unit_test_setup_teardown(test_connection_header, setup, teardown),
        cmocka_unit_test_setup_teardown(test_expect_continue, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_body, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_half_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_client_goes_away, setup, teardown),
        cmocka_unit_test_setup_teardown(test_crowd, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
