/* Bodies that are not taken, and the memory of all that are. A client that waits for "100 Continue"
 * shows when a body is admitted, so nothing here depends on how fast anybody is. */
#include "server.h"

static struct server server;
static atomic_uint judged;

static enum http_admission judge(struct http_exchange *exchange, void *context) {
    (void)context;
    atomic_fetch_add(&judged, 1);
    assert_int_equal(exchange->body.size, 0);
    assert_bytes_equal(http_header(exchange, "host"), BYTES("x"));
    arena_alloc(&exchange->arena, 100000);
    struct bytes how = http_header(exchange, "x-test");
    if (bytes_equal(how, BYTES("unproved")))
        return HTTP_TAKE_UNPROVED;
    return bytes_equal(how, BYTES("without")) ? HTTP_WITHOUT_BODY : HTTP_TAKE_BODY;
}

/* Sends a head that asks whether its body may come; the answer's status: 100 if it may. */
static int ask(int fd, const char *how, int size) {
    char head[200], line[32] = "";
    int status = 0;
    snprintf(head, sizeof head,
             "POST /echo HTTP/1.1\r\nHost: x\r\nX-Test: %s\r\nExpect: 100-continue\r\n"
             "Content-Length: %d\r\n\r\n",
             how, size);
    client_send(fd, head);
    read_exactly(fd, line, 12);
    assert_int_equal(sscanf(line, "HTTP/1.1 %d", &status), 1);
    if (status == 100) {
        read_exactly(fd, line, 13);
        assert_memory_equal(line, " Continue\r\n\r\n", 13);
    }
    return status;
}

static void send_body(int fd, int size) {
    char body[4096];
    memset(body, 'b', sizeof body);
    client_send_bytes(fd, body, (size_t)size);
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.size, size);
    reply_release(&reply);
}

static void test_all_bodies_together(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){.memory_max = 1000});
    int first = client_open(&server), second = client_open(&server), third = client_open(&server);
    assert_int_equal(ask(first, "", 600), 100);
    assert_int_equal(ask(second, "", 600), 503);
    send_body(first, 600);
    assert_int_equal(ask(third, "", 600), 100);
    send_body(third, 600);
    assert_int_equal(ask(first, "", 1000), 100);
    close(first); /* gives back what it held */
    int status = 503;
    for (int i = 0; i < 60000 && status == 503; i++) {
        close(second);
        second = client_open(&server);
        status = ask(second, "", 1000);
        sleep_ms(status == 503);
    }
    assert_int_equal(status, 100);
    close(second);
    close(third);
    server_close(&server);
}

static void test_chunks_count_as_they_come(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){.memory_max = 25});
    int fd = client_open(&server);
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "a\r\n0123456789\r\na\r\n0123456789\r\n");
    client_send(fd, "a\r\n0123456789\r\n");
    client_expect(fd, 503, NULL);
    client_expect_end(fd);
    close(fd);
    server_close(&server);
}

static void test_unproved_bodies(void **state) {
    (void)state;
    server_open(&server, 1,
                (struct http_settings){.admit = judge, .memory_max = 2000, .unproved_max = 500});
    int first = client_open(&server), second = client_open(&server), third = client_open(&server);
    assert_int_equal(ask(first, "unproved", 400), 100);
    assert_int_equal(ask(second, "unproved", 400), 503);
    assert_int_equal(ask(third, "", 400), 100);
    send_body(first, 400);
    assert_int_equal(ask(first, "unproved", 400), 100);
    send_body(first, 400);
    send_body(third, 400);
    close(first);
    close(second);
    close(third);
    server_close(&server);
}

/* The handler has it before the body comes, and the client hears the answer though it sends on. */
static void test_without_body(void **state) {
    (void)state;
    server_open(&server, 2, (struct http_settings){.admit = judge});
    int fd = client_open(&server);
    char *body = calloc(1, 1 << 20);
    client_send(
        fd, "POST /echo HTTP/1.1\r\nHost: x\r\nX-Test: without\r\nContent-Length: 4000000\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.size, 0);
    assert_non_null(strstr(reply.head, "Connection: close\r\n"));
    reply_release(&reply);
    client_send_bytes(fd, body, 1000);
    close(fd);
    fd = client_open(&server);
    client_send(
        fd,
        "POST /later?20 HTTP/1.1\r\nHost: x\r\nX-Test: without\r\nContent-Length: 1048576\r\n\r\n");
    client_send_bytes(fd, body, 1 << 20);
    client_expect(fd, 200, "");
    client_expect_end(fd);
    close(fd);
    free(body);
    server_close(&server);
}

/* What came with its head is the handler's to judge. */
static void test_judged_once(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){.admit = judge});
    atomic_store(&judged, 0);
    int fd = client_open(&server);
    client_send(
        fd, "POST /echo HTTP/1.1\r\nHost: x\r\nX-Test: without\r\nContent-Length: 5\r\n\r\nhello");
    client_expect(fd, 200, "hello");
    client_send(fd, "GET /info HTTP/1.1\r\nHost: x\r\n\r\n");
    client_expect(fd, 200, NULL);
    assert_int_equal(atomic_load(&judged), 0);
    assert_int_equal(ask(fd, "", 3000), 100);
    for (int i = 0; i < 2; i++) {
        char part[1000] = "";
        client_send_bytes(fd, part, sizeof part);
    }
    char rest[1000] = "";
    client_send_bytes(fd, rest, sizeof rest);
    client_expect(fd, 200, NULL);
    assert_int_equal(atomic_load(&judged), 1);
    close(fd);
    server_close(&server);
}

/* Answers that their clients do not read take the room of others' requests, until they end. */
static void test_unread_answers(void **state) {
    (void)state;
    server_open(&server, 1, (struct http_settings){.memory_max = 1000000});
    int deaf = client_open(&server), other = -1, status = 503;
    client_send(deaf, "GET /big?40000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply begun = client_read_to(deaf, false); /* so it is being written */
    assert_int_equal(begun.status, 200);
    reply_release(&begun);
    client_expect_refusal(&server, "GET /info HTTP/1.1\r\nHost: x\r\n\r\n", 503);
    close(deaf);
    for (int i = 0; i < 60000 && status == 503; i++) {
        other = client_open(&server);
        client_send(other, "GET /info HTTP/1.1\r\nHost: x\r\n\r\n");
        struct reply reply = client_read(other);
        status = reply.status;
        reply_release(&reply);
        close(other);
        sleep_ms(status == 503);
    }
    assert_int_equal(status, 200);
    server_close(&server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_bodies_together),
        cmocka_unit_test(test_chunks_count_as_they_come),
        cmocka_unit_test(test_unproved_bodies),
        cmocka_unit_test(test_without_body),
        cmocka_unit_test(test_judged_once),
        cmocka_unit_test(test_unread_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
