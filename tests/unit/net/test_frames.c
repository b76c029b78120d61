/* WebSocket frames without a socket: what a client writes a server reads, and the other way round.
 */
#include "net/frames.h"

#include "test.h"

static struct {
    struct buf text;
    unsigned texts, pings, pongs, closes;
} heard;

static void note(void *user, enum frames_kind kind, struct bytes data) {
    assert_ptr_equal(user, &heard);
    heard.texts += kind == FRAMES_TEXT;
    heard.pings += kind == FRAMES_PING;
    heard.pongs += kind == FRAMES_PONG;
    heard.closes += kind == FRAMES_CLOSE;
    buf_clear(&heard.text);
    buf_put(&heard.text, data);
}

static const struct frames_reader of_client = {
    .message_max = 100000, .heard = note, .user = &heard};
static const struct frames_reader of_server = {
    .message_max = 100000, .from_server = true, .heard = note, .user = &heard};

static int reset(void **state) {
    (void)state;
    buf_release(&heard.text);
    memset(&heard, 0, sizeof(heard));
    return 0;
}

/* All of it, in pieces of that size. */
static int take(struct bytes all, size_t piece, const struct frames_reader *reader) {
    struct frames frames = {0};
    int code = 0;
    while (all.size != 0 && code == 0) {
        size_t size = all.size < piece ? all.size : piece;
        code = frames_take(&frames, bytes_of(all.data, size), reader);
        all = bytes_skip(all, size);
    }
    frames_release(&frames);
    return code;
}

static void both_sides_read_each_other(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 3, 4, 5, 125, 126, 127, 65535, 65536, 100000};
    const uint8_t mask[FRAMES_MASK_SIZE] = {0xa1, 0x00, 0xff, 0x5a};
    uint8_t *text = malloc(100000);
    for (size_t i = 0; i < 100000; i++)
        text[i] = (uint8_t)('a' + i % 26);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t piece = 1; piece <= 100100; piece = piece * 317 + 2) {
            struct bytes data = bytes_of(text, sizes[i]);
            struct buf client = {0}, server = {0};
            frames_put_masked(&client, FRAMES_OP_TEXT, data, mask);
            frames_put(&server, FRAMES_OP_TEXT, data);
            assert_int_equal(client.size, server.size + FRAMES_MASK_SIZE);
            assert_int_equal(take(buf_bytes(&client), piece, &of_client), 0);
            assert_bytes_equal(buf_bytes(&heard.text), data);
            buf_clear(&heard.text);
            assert_int_equal(take(buf_bytes(&server), piece, &of_server), 0);
            assert_bytes_equal(buf_bytes(&heard.text), data);
            /* and not its own kind */
            assert_int_equal(take(buf_bytes(&client), piece, &of_server), 1002);
            assert_int_equal(take(buf_bytes(&server), piece, &of_client), 1002);
            buf_release(&client);
            buf_release(&server);
        }
    free(text);
}

static void a_message_in_pieces_with_a_ping_between(void **state) {
    (void)state;
    struct bytes frames = BYTES("\x01\x02"
                                "he"
                                "\x89\x01"
                                "!"
                                "\x00\x01"
                                "l"
                                "\x80\x02"
                                "lo");
    assert_int_equal(take(frames, 1, &of_server), 0);
    assert_int_equal(heard.pings, 1);
    assert_int_equal(heard.texts, 1);
    assert_bytes_equal(buf_bytes(&heard.text), BYTES("hello"));
}

static void what_a_server_must_not_send(void **state) {
    (void)state;
    static const struct {
        struct bytes frames;
        int code;
    } cases[] = {
        {BYTES("\xc1\x00"), 1002},                                 /* a reserved bit */
        {BYTES("\x09\x00"), 1002},                                 /* a ping in pieces */
        {BYTES("\x89\x7e\x00\x7e"), 1002},                         /* a ping of 126 bytes */
        {BYTES("\x8b\x00"), 1002},                                 /* an opcode that is none */
        {BYTES("\x80\x01x"), 1002},                                /* goes on with nothing */
        {BYTES("\x88\x01x"), 1002},                                /* half a code */
        {BYTES("\x82\x01x"), 1003},                                /* binary */
        {BYTES("\x81\x01\xff"), 1007},                             /* not UTF-8 */
        {BYTES("\x81\x7f\x00\x00\x00\x00\x00\x01\x86\xa1"), 1009}, /* 100,001 bytes */
        {BYTES("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), 1009},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(take(cases[i].frames, 100, &of_server), cases[i].code);
    assert_int_equal(heard.texts + heard.pings + heard.closes, 0);
}

static void nothing_is_read_after_a_close(void **state) {
    (void)state;
    struct bytes frames = BYTES("\x88\x04\x0f\xa0"
                                "by"
                                "\x81\x01x");
    assert_int_equal(take(frames, 3, &of_server), 0);
    assert_int_equal(heard.closes, 1);
    assert_int_equal(heard.texts, 0);
    assert_bytes_equal(buf_bytes(&heard.text), BYTES("\x0f\xa0"
                                                     "by"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_sides_read_each_other, reset, reset),
        cmocka_unit_test_setup_teardown(a_message_in_pieces_with_a_ping_between, reset, reset),
        cmocka_unit_test_setup_teardown(what_a_server_must_not_send, reset, reset),
        cmocka_unit_test_setup_teardown(nothing_is_read_after_a_close, reset, reset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
