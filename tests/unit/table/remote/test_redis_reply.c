#include "test.h"

#include "base/random.h"
#include "table/remote/redis_reply.h"

static enum status read_all(struct bytes bytes, struct arena *arena, struct redis_reply *out) {
    struct redis_scan scan = {0};
    enum status status = redis_scan(&scan, bytes);
    if (status != OK)
        return status;
    assert_true(scan.size <= bytes.size);
    return redis_reply_read(bytes_of(bytes.data, scan.size), arena, out);
}

static void kinds(void **state) {
    struct arena arena;
    struct redis_reply reply;
    (void)state;
    arena_init(&arena);
    assert_int_equal(read_all(BYTES("+OK\r\n"), &arena, &reply), OK);
    assert_int_equal(reply.type, REDIS_STATUS);
    assert_bytes_equal(reply.text, BYTES("OK"));
    assert_int_equal(read_all(BYTES("-MOVED 1 a:1\r\n"), &arena, &reply), OK);
    assert_true(redis_reply_is_error(&reply, BYTES("MOVED")));
    assert_false(redis_reply_is_error(&reply, BYTES("MOVE")));
    assert_int_equal(read_all(BYTES(":-9223372036854775808\r\n"), &arena, &reply), OK);
    assert_true(reply.number == INT64_MIN);
    assert_int_equal(read_all(BYTES("$3\r\na\r\n\r\n"), &arena, &reply), OK);
    assert_bytes_equal(reply.text, BYTES("a\r\n"));
    assert_int_equal(read_all(BYTES("$-1\r\n"), &arena, &reply), OK);
    assert_int_equal(reply.type, REDIS_NULL);
    assert_int_equal(read_all(BYTES("*-1\r\n"), &arena, &reply), OK);
    assert_int_equal(reply.type, REDIS_NULL);
    assert_int_equal(read_all(BYTES("_\r\n"), &arena, &reply), OK);
    assert_int_equal(reply.type, REDIS_NULL);
    assert_int_equal(read_all(BYTES("%1\r\n$1\r\na\r\n#t\r\n"), &arena, &reply), OK);
    assert_int_equal(reply.count, 2);
    assert_int_equal(reply.elements[1].number, 1);
    assert_int_equal(read_all(BYTES("*2\r\n*1\r\n$2\r\n42\r\n*0\r\n"), &arena, &reply), OK);
    assert_int_equal(redis_reply_number(&reply.elements[0].elements[0]), 42);
    assert_int_equal(reply.elements[1].count, 0);
    arena_release(&arena);
}

static void refused(void **state) {
    static const char *const wrong[] = {
        "?\r\n",
        "\r\n",
        ":\r\n",
        ":1x\r\n",
        ":9223372036854775808\r\n",
        "$-2\r\n",
        "+OK\n",
        "$99999999999\r\n",
        "*99999999\r\n",
        ":12345678901234567890123\r\n",
    };
    struct arena arena;
    struct redis_reply reply;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(read_all(bytes_str(wrong[i]), &arena, &reply), PARSE_FAILED);
    assert_int_equal(read_all(BYTES("$1\r\nabc"), &arena, &reply), PARSE_FAILED);
    /* arrays in each other, one deeper than is allowed */
    assert_int_equal(read_all(BYTES("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"),
                              &arena, &reply),
                     PARSE_FAILED);
    arena_release(&arena);
}

/* However it arrives, its end is found at the same place. */
static void pieces(void **state) {
    struct bytes whole = BYTES("*3\r\n$5\r\nab\r\nc\r\n*2\r\n:1\r\n$-1\r\n-ERR no\r\n+rest\r\n");
    (void)state;
    struct redis_scan scan = {0};
    for (size_t size = 0; size < whole.size - 7; size++)
        assert_int_equal(redis_scan(&scan, bytes_of(whole.data, size)), WOULD_BLOCK);
    assert_int_equal(redis_scan(&scan, whole), OK);
    assert_int_equal(scan.size, whole.size - 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(refused),
        cmocka_unit_test(pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
