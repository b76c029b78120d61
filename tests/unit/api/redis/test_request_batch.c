/* Which requests of a pipeline are answered together. */
#include "test.h"

#include "api/redis/request_batch.h"
#include "base/limits.h"

static struct resp_parser parser;
static const struct redis_command *command;

static int setup(void **state) {
    (void)state;
    resp_init(&parser);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    resp_release(&parser);
    return 0;
}

static void request(const char *text) {
    struct resp_limits limits = {.args_max = 100, .bulk_max = 1000, .size_max = 10000};
    resp_next(&parser);
    assert_int_equal(resp_parse(&parser, bytes_str(text), &limits), RESP_READY);
    command = redis_command_find(parser.args[0]);
}

static bool begins(struct request_batch *batch, const char *text) {
    request(text);
    return request_batch_begin(batch, command, &parser);
}

static bool goes_on(struct request_batch *batch, const char *text) {
    request(text);
    return request_batch_add(batch, &parser);
}

#define ZSCORE(key, member) "*3\r\n$6\r\nZSCORE\r\n$1\r\n" key "\r\n$1\r\n" member "\r\n"

static void begins_with_a_read_of_one_member(void **state) {
    (void)state;
    struct request_batch batch = {0};
    assert_false(goes_on(&batch, ZSCORE("k", "a")));
    assert_false(begins(&batch, "*1\r\n$4\r\nNOPE\r\n"));
    assert_false(begins(&batch, "*3\r\n$4\r\nNOPE\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_false(begins(&batch, "*3\r\n$4\r\nZREM\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_false(begins(&batch, "*3\r\n$7\r\nZMSCORE\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_false(begins(&batch, "*2\r\n$6\r\nZSCORE\r\n$1\r\nk\r\n"));
    assert_false(begins(&batch, "*4\r\n$5\r\nZRANK\r\n$1\r\nk\r\n$1\r\na\r\n$9\r\nWITHSCORE\r\n"));
    assert_false(begins(&batch, "ZSCORE k a\r\n"));
    assert_int_equal(batch.count, 0);
    assert_true(begins(&batch, ZSCORE("k", "a")));
    assert_int_equal(batch.count, 1);
    assert_true(batch.command == command);
    assert_true(begins(&batch, "*3\r\n$8\r\nzrevrank\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_true(begins(&batch, "*3\r\n$5\r\nZRANK\r\n$1\r\nk\r\n$1\r\na\r\n"));
}

#define HGET(key, field) "*3\r\n$4\r\nHGET\r\n$1\r\n" key "\r\n$1\r\n" field "\r\n"

/* Fields of any keys; each of them can be shown as a request of its own. */
static void goes_on_with_fields_of_other_keys(void **state) {
    (void)state;
    struct request_batch batch = {0};
    assert_true(begins(&batch, HGET("k", "a")));
    assert_true(goes_on(&batch, HGET("l", "b")));
    assert_true(goes_on(&batch, HGET("l", "c")));
    assert_false(goes_on(&batch, ZSCORE("l", "c")));
    assert_int_equal(batch.count, 3);
    assert_int_equal(request_batch_args(&batch), 3);
    const char *const pairs[][2] = {{"k", "a"}, {"l", "b"}, {"l", "c"}};
    for (size_t i = 0; i < 3; i++) {
        request_batch_show(&batch, i);
        assert_bytes_equal(batch.args[0], BYTES("HGET"));
        assert_bytes_equal(batch.args[1], bytes_str(pairs[i][0]));
        assert_bytes_equal(batch.args[2], bytes_str(pairs[i][1]));
    }
    assert_true(begins(&batch, HGET("k", "a")));
    while (batch.count < REQUEST_BATCH_MAX)
        assert_true(goes_on(&batch, HGET("m", "z")));
    assert_false(goes_on(&batch, HGET("m", "z")));
}

static void goes_on_with_the_same_of_the_same_key(void **state) {
    (void)state;
    struct request_batch batch = {0};
    assert_true(begins(&batch, ZSCORE("k", "a")));
    assert_true(goes_on(&batch, ZSCORE("k", "b")));
    assert_false(goes_on(&batch, ZSCORE("l", "b")));
    assert_false(goes_on(&batch, "*3\r\n$5\r\nZRANK\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_false(goes_on(&batch, "*4\r\n$6\r\nZSCORE\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\nb\r\n"));
    assert_false(goes_on(&batch, "*2\r\n$6\r\nZSCORE\r\n$1\r\nk\r\n"));
    assert_false(goes_on(&batch, "ZSCORE k a\r\n"));
    assert_int_equal(batch.count, 2);
    assert_bytes_equal(batch.args[0], BYTES("ZSCORE"));
    assert_bytes_equal(batch.args[1], BYTES("k"));
    assert_bytes_equal(batch.args[2], BYTES("a"));
    assert_bytes_equal(batch.args[3], BYTES("b"));
    while (batch.count < REQUEST_BATCH_MAX)
        assert_true(goes_on(&batch, ZSCORE("k", "c")));
    assert_false(goes_on(&batch, ZSCORE("k", "d")));
    assert_bytes_equal(batch.args[batch.shared + REQUEST_BATCH_MAX - 1], BYTES("c"));
}

#define GET(key) "*2\r\n$3\r\nGET\r\n$1\r\n" key "\r\n"

static void goes_on_with_other_keys(void **state) {
    (void)state;
    struct request_batch batch = {0};
    assert_true(begins(&batch, GET("a")));
    assert_true(goes_on(&batch, GET("b")));
    assert_false(goes_on(&batch, "*3\r\n$3\r\nGET\r\n$1\r\na\r\n$1\r\nb\r\n"));
    assert_false(goes_on(&batch, "*2\r\n$3\r\nget\r\n$1\r\na\r\n"));
    assert_int_equal(batch.count, 2);
    assert_bytes_equal(batch.args[1], BYTES("a"));
    assert_bytes_equal(batch.args[2], BYTES("b"));
    assert_false(begins(&batch, "*2\r\n$4\r\nMGET\r\n$1\r\na\r\n"));
}

#define ZCOUNT(key, low, high) \
    "*4\r\n$6\r\nZCOUNT\r\n$1\r\n" key "\r\n$1\r\n" low "\r\n$1\r\n" high "\r\n"

/* Ranges of one key; each of them can be shown as a request of its own. */
static void goes_on_with_other_ranges_of_the_same_key(void **state) {
    (void)state;
    struct request_batch batch = {0};
    assert_false(begins(&batch, "*3\r\n$6\r\nZCOUNT\r\n$1\r\nk\r\n$1\r\n1\r\n"));
    assert_true(begins(&batch, ZCOUNT("k", "1", "2")));
    assert_true(goes_on(&batch, ZCOUNT("k", "3", "x")));
    assert_false(goes_on(&batch, ZCOUNT("l", "3", "4")));
    assert_true(goes_on(&batch, ZCOUNT("k", "5", "6")));
    assert_int_equal(batch.count, 3);
    assert_int_equal(request_batch_args(&batch), 4);
    const char *const ranges[][2] = {{"1", "2"}, {"3", "x"}, {"5", "6"}};
    for (size_t i = 0; i < 3; i++) {
        request_batch_show(&batch, i);
        assert_bytes_equal(batch.args[1], BYTES("k"));
        assert_bytes_equal(batch.args[2], bytes_str(ranges[i][0]));
        assert_bytes_equal(batch.args[3], bytes_str(ranges[i][1]));
    }
    assert_true(begins(&batch, ZCOUNT("k", "1", "2")));
    while (batch.count < REQUEST_BATCH_MAX)
        assert_true(goes_on(&batch, ZCOUNT("k", "3", "4")));
    assert_false(goes_on(&batch, ZCOUNT("k", "3", "4")));
}

#define ZADD(key, score, member) \
    "*4\r\n$4\r\nZADD\r\n$1\r\n" key "\r\n$1\r\n" score "\r\n$1\r\n" member "\r\n"

/* Writes to one key, each to another member. */
static void goes_on_with_writes_to_other_members(void **state) {
    (void)state;
    struct request_batch batch = {0};
    assert_false(
        begins(&batch, "*5\r\n$4\r\nZADD\r\n$1\r\nk\r\n$2\r\nNX\r\n$1\r\n1\r\n$1\r\na\r\n"));
    assert_false(begins(&batch, "*3\r\n$4\r\nZADD\r\n$1\r\nk\r\n$1\r\n1\r\n"));
    assert_true(begins(&batch, ZADD("k", "1", "a")));
    assert_true(goes_on(&batch, ZADD("k", "1", "b")));
    assert_false(goes_on(&batch, ZADD("k", "2", "a")));
    assert_false(goes_on(&batch, ZADD("k", "2", "b")));
    assert_false(goes_on(&batch, ZADD("l", "2", "c")));
    assert_false(goes_on(&batch, "*4\r\n$7\r\nZINCRBY\r\n$1\r\nk\r\n$1\r\n1\r\n$1\r\nc\r\n"));
    assert_true(goes_on(&batch, ZADD("k", "a", "1")));
    assert_int_equal(batch.count, 3);
    assert_bytes_equal(batch.args[6], BYTES("a"));
    assert_bytes_equal(batch.args[7], BYTES("1"));
    assert_true(begins(&batch, "*4\r\n$7\r\nzincrby\r\n$1\r\nk\r\n$1\r\n1\r\n$1\r\nc\r\n"));
}

/* Their bytes are copied, which is not done with many. */
static void leaves_out_large_writes(void **state) {
    (void)state;
    struct request_batch batch = {0};
    char text[3000], member[2001];
    memset(member, 'm', 2000);
    member[2000] = '\0';
    snprintf(text, sizeof(text), "*4\r\n$4\r\nZADD\r\n$1\r\nk\r\n$1\r\n1\r\n$2000\r\n%s\r\n",
             member);
    struct resp_limits limits = {.args_max = 100, .bulk_max = 10000, .size_max = 10000};
    resp_next(&parser);
    assert_int_equal(resp_parse(&parser, bytes_str(text), &limits), RESP_READY);
    assert_true(request_batch_begin(&batch, redis_command_find(BYTES("ZADD")), &parser));
    snprintf(text, sizeof(text), "*4\r\n$4\r\nZADD\r\n$1\r\nk\r\n$1\r\n1\r\n$2019\r\n%s%019d\r\n",
             member, 0);
    resp_next(&parser);
    assert_int_equal(resp_parse(&parser, bytes_str(text), &limits), RESP_READY);
    assert_false(request_batch_add(&batch, &parser));
    assert_false(request_batch_begin(&batch, redis_command_find(BYTES("ZADD")), &parser));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(begins_with_a_read_of_one_member, setup, teardown),
        cmocka_unit_test_setup_teardown(goes_on_with_the_same_of_the_same_key, setup, teardown),
        cmocka_unit_test_setup_teardown(goes_on_with_other_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(goes_on_with_fields_of_other_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(goes_on_with_other_ranges_of_the_same_key, setup, teardown),
        cmocka_unit_test_setup_teardown(goes_on_with_writes_to_other_members, setup, teardown),
        cmocka_unit_test_setup_teardown(leaves_out_large_writes, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
