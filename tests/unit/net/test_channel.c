/* Channels: a raw client speaks WebSocket frames, and reads events, against a server that echoes.
 */
#include "server.h"

#include "base/clock.h"
#include "net/channel.h"

enum { SLOW_PING_MS = 1500 };

static atomic_int closed, caught_up;
static atomic_llong arrived_ms; /* of the last message */
static sem_t held, let_go;

static void echo(struct channel *channel, struct bytes text, void *user) {
    (void)user;
    atomic_store(&arrived_ms, channel_arrived_ms(channel));
    if (bytes_equal(text, BYTES("hold"))) {
        sem_post(&held);
        sem_wait(&let_go);
    }
    if (bytes_equal(text, BYTES("close me"))) {
        channel_close(channel, 4001, "as you wish");
        return;
    }
    size_t times = 1;
    bool last = bytes_equal(text, BYTES("a last word"));
    if (bytes_equal(text, BYTES("flood")))
        times = 20000;
    for (size_t i = 0; i < times; i++) {
        struct message *message = message_new(text);
        channel_send(channel, message);
        message_unref(message);
    }
    if (last)
        channel_close(channel, 4002, "after that");
}

static void on_caught_up(struct channel *channel, void *user) {
    (void)user;
    atomic_fetch_add(&caught_up, 1);
    struct message *message = message_new(BYTES("latest"));
    assert_true(channel_send(channel, message));
    message_unref(message);
}

static void on_closed(struct channel *channel, void *user) {
    (void)channel, (void)user;
    atomic_fetch_add(&closed, 1);
}

static const struct channel_handler handler = {echo, on_caught_up, on_closed};

static void handle_channel(struct http_exchange *exchange, void *context) {
    (void)context;
    struct channel_settings settings = {.handler = &handler,
                                        .message_max = 100000,
                                        .queue_max = 64 * 1024,
                                        .ping_ms = 60000,
                                        .events = bytes_equal(exchange->path, BYTES("/events"))};
    if (!bytes_equal(exchange->path, BYTES("/ws")))
        settings.ping_ms = bytes_equal(exchange->path, BYTES("/slow")) ? SLOW_PING_MS : 200;
    if (!settings.events && !channel_wanted(exchange)) {
        http_answer(exchange, &(struct http_answer){.status = 426});
        return;
    }
    struct channel *channel = channel_open(exchange, &settings);
    if (channel != NULL && settings.events) {
        struct message *message = message_new(BYTES("{\"a\":1}\nb"));
        channel_send(channel, message);
        message_unref(message);
    }
}

static struct server server;

static int begin(void **state) {
    (void)state;
    struct failure failure = {0};
    struct http_settings settings = {.host = "127.0.0.1", .handler = handle_channel};
    memset(&server, 0, sizeof(server));
    arena_init(&server.arena);
    server.loops = loops_new(2);
    loops_start(server.loops);
    assert_int_equal(http_listen(server.loops, &settings, (struct scope){&server.arena, &failure},
                                 &server.listener),
                     OK);
    atomic_store(&closed, 0);
    atomic_store(&caught_up, 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    server_close(&server);
    return 0;
}

/* ---- the client ---- */

static int client_websocket_at(const char *path) {
    int fd = client_open(&server);
    client_send(fd, "GET ");
    client_send(fd, path);
    client_send(fd, " HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, "
                    "Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 101);
    assert_non_null(strstr(reply.head, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    reply_release(&reply);
    return fd;
}

static int client_websocket(void) {
    return client_websocket_at("/ws");
}

static void send_frame(int fd, uint8_t first, const void *data, size_t size) {
    uint8_t head[14] = {first}, mask[4] = {1, 2, 3, 4};
    size_t at = 2;
    if (size < 126)
        head[1] = (uint8_t)(0x80 | size);
    else {
        head[1] = 0x80 | 127;
        for (int i = 0; i < 8; i++)
            head[at++] = (uint8_t)((uint64_t)size >> (8 * (7 - i)));
    }
    memcpy(head + at, mask, 4);
    uint8_t *masked = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        masked[i] = ((const uint8_t *)data)[i] ^ mask[i % 4];
    client_send_bytes(fd, head, at + 4);
    client_send_bytes(fd, masked, size);
    free(masked);
}

static void send_text(int fd, const char *text) {
    send_frame(fd, 0x81, text, strlen(text));
}

static uint8_t read_any_frame(int fd, char **data, size_t *size) {
    uint8_t head[10];
    read_exactly(fd, (char *)head, 2);
    assert_false(head[1] & 0x80);
    *size = head[1] & 0x7f;
    int more = *size == 126 ? 2 : *size == 127 ? 8 : 0;
    if (more != 0) {
        read_exactly(fd, (char *)head + 2, (size_t)more);
        *size = 0;
        for (int i = 0; i < more; i++)
            *size = *size << 8 | head[2 + i];
    }
    *data = calloc(1, *size + 1);
    read_exactly(fd, *data, *size);
    return head[0];
}

/* The next frame that is not a ping; those are answered. */
static uint8_t read_frame(int fd, char **data, size_t *size) {
    uint8_t first;
    while (((first = read_any_frame(fd, data, size)) & 0xf) == 9) {
        send_frame(fd, 0x8a, *data, *size);
        free(*data);
    }
    return first;
}

static void expect_text(int fd, const char *text) {
    char *data;
    size_t size;
    assert_int_equal(read_frame(fd, &data, &size), 0x81);
    assert_string_equal(data, text);
    free(data);
}

static void expect_close(int fd, int code) {
    char *data;
    size_t size;
    uint8_t first;
    while ((first = read_frame(fd, &data, &size)) != 0x88)
        free(data);
    assert_int_equal((uint8_t)data[0] << 8 | (uint8_t)data[1], code);
    free(data);
}

static void wait_closed(int count) {
    for (int i = 0; i < 60000 && atomic_load(&closed) < count; i++)
        sleep_ms(5);
    assert_int_equal(atomic_load(&closed), count);
}

/* ---- the tests ---- */

/* Whether a message that comes while the loop is held is said to have come when it was sent. */
static bool is_stamped(int fd) {
    send_text(fd, "hold");
    sem_wait(&held);
    int64_t before_ms = clock_now_ms();
    send_text(fd, "in time");
    int64_t after_ms = clock_now_ms();
    while (clock_now_ms() < after_ms + 50)
        sleep_ms(1);
    sem_post(&let_go);
    expect_text(fd, "hold");
    expect_text(fd, "in time");
    int64_t at_ms = atomic_load(&arrived_ms);
    assert_true(at_ms >= before_ms);
    return at_ms <= after_ms;
}

/* The system begins to stamp a moment after it was first told to. */
static void test_arrived(void **state) {
    bool stamped = false;
    (void)state;
    sem_init(&held, 0, 0);
    sem_init(&let_go, 0, 0);
    int fd = client_websocket();
    for (int i = 0; i < 100 && !stamped; i++)
        stamped = is_stamped(fd);
#ifdef __linux__
    assert_true(stamped);
#endif
    close(fd);
    wait_closed(1);
    sem_destroy(&held);
    sem_destroy(&let_go);
}

static void test_messages(void **state) {
    (void)state;
    int fd = client_websocket();
    send_text(fd, "hello");
    expect_text(fd, "hello");
    send_frame(fd, 0x01, "in ", 3); /* in pieces, with a ping between them */
    send_frame(fd, 0x89, "?", 1);
    send_frame(fd, 0x80, "two", 3);
    char *data;
    size_t size;
    assert_int_equal(read_frame(fd, &data, &size), 0x8a);
    assert_string_equal(data, "?");
    free(data);
    expect_text(fd, "in two");
    char *large = malloc(70001);
    memset(large, 'x', 70000);
    large[70000] = '\0';
    send_text(fd, large);
    expect_text(fd, large);
    free(large);
    send_frame(fd, 0x88, "\x03\xe8", 2);
    expect_close(fd, 1000);
    close(fd);
    wait_closed(1);
}

static void test_refusals(void **state) {
    (void)state;
    int fd = client_websocket();
    send_text(fd, "close me");
    expect_close(fd, 4001);
    close(fd);
    fd = client_websocket();
    send_text(fd, "a last word"); /* what was sent before the goodbye comes before it */
    expect_text(fd, "a last word");
    expect_close(fd, 4002);
    close(fd);
    fd = client_websocket();
    send_frame(fd, 0x82, "binary", 6);
    expect_close(fd, 1003);
    close(fd);
    fd = client_websocket();
    send_frame(fd, 0x81, "\xff\xfe", 2); /* not text */
    expect_close(fd, 1007);
    close(fd);
    fd = client_websocket();
    char *large = calloc(1, 100001);
    memset(large, 'x', 100001);
    send_frame(fd, 0x81, large, 100001);
    free(large);
    expect_close(fd, 1009);
    close(fd);
    wait_closed(5);
    fd = client_open(&server);
    client_send(fd, "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    "Sec-WebSocket-Version: 8\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 426);
    reply_release(&reply);
    close(fd);
}

/* Who does not read misses what was sent meanwhile, and then gets the latest. */
static void test_lagging(void **state) {
    (void)state;
    int fd = client_websocket();
    int small = 4096, floods = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    send_text(fd, "flood");
    sleep_ms(100);
    char *data;
    size_t size;
    do {
        assert_int_equal(read_frame(fd, &data, &size), 0x81);
        floods += strcmp(data, "flood") == 0;
        bool last = strcmp(data, "latest") == 0;
        free(data);
        if (last)
            break;
    } while (true);
    assert_true(floods > 100 && floods < 20000);
    assert_int_equal(atomic_load(&caught_up), 1);
    send_text(fd, "again");
    expect_text(fd, "again");
    close(fd);
    wait_closed(1);
}

/* Who says something is not pinged until they have been silent as long. The echo shows that the
 * message was read before a ping was due; where it was not, the machine was busy: once more. */
static void test_no_ping_needed(void **state) {
    (void)state;
    int fd = client_websocket_at("/slow"), tries = 0;
    int64_t said_ms;
    bool pinged;
    do {
        char *data;
        size_t size;
        uint8_t first;
        sleep_ms(1200); /* deadlines are looked at each second */
        said_ms = now_ms();
        send_text(fd, "here");
        pinged = false;
        while ((first = read_any_frame(fd, &data, &size)) == 0x89) {
            pinged = true;
            send_frame(fd, 0x8a, data, size);
            free(data);
        }
        assert_int_equal(first, 0x81);
        free(data);
    } while (pinged && ++tries < 100);
    char *data;
    size_t size;
    assert_false(pinged);
    assert_int_equal(read_any_frame(fd, &data, &size), 0x89);
    assert_true(now_ms() - said_ms >= SLOW_PING_MS);
    free(data);
    close(fd);
    wait_closed(1);
}

/* Who does not answer pings is cut off. */
static void test_silence(void **state) {
    (void)state;
    int fd = client_websocket_at("/impatient");
    wait_closed(1);
    close(fd);
}

static void test_events(void **state) {
    (void)state;
    static const char expected[] = "17\r\ndata: {\"a\":1}\ndata: b\n\n\r\n";
    int fd = client_open(&server);
    char data[sizeof(expected)] = {0};
    client_send(fd, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    struct reply reply = client_read(fd);
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.head, "Content-Type: text/event-stream\r\n"));
    reply_release(&reply);
    read_exactly(fd, data, sizeof(expected) - 1);
    assert_string_equal(data, expected);
    read_exactly(fd, data, 8); /* a sign of life, after a while */
    data[8] = '\0';
    assert_string_equal(data, "3\r\n:\n\n\r\n");
    close(fd);
    wait_closed(1);
}

static void test_shutdown(void **state) {
    (void)state;
    int fd = client_websocket();
    send_text(fd, "hello");
    expect_text(fd, "hello");
    listener_close(server.listener, 100);
    expect_close(fd, 1001);
    close(fd);
    wait_closed(1);
    struct failure failure = {0};
    struct http_settings settings = {.host = "127.0.0.1", .handler = handle_channel};
    assert_int_equal(http_listen(server.loops, &settings, (struct scope){&server.arena, &failure},
                                 &server.listener),
                     OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_messages, begin, end),
        cmocka_unit_test_setup_teardown(test_arrived, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals, begin, end),
        cmocka_unit_test_setup_teardown(test_lagging, begin, end),
        cmocka_unit_test_setup_teardown(test_no_ping_needed, begin, end),
        cmocka_unit_test_setup_teardown(test_silence, begin, end),
        cmocka_unit_test_setup_teardown(test_events, begin, end),
        cmocka_unit_test_setup_teardown(test_shutdown, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
