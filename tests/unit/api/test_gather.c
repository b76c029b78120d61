/* Which requests of a pipeline are answered together. */
#include "test.h"

#include "api/redis/gather.h"
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

static bool begins(struct gather *gather, const char *text) {
    request(text);
    return gather_begin(gather, command, &parser);
}

static bool goes_on(struct gather *gather, const char *text) {
    request(text);
    return gather_add(gather, &parser);
}

#define ZSCORE(key, member) "*3\r\n$6\r\nZSCORE\r\n$1\r\n" key "\r\n$1\r\n" member "\r\n"

static void begins_with_a_read_of_one_member(void **state) {
    (void)state;
    struct gather gather = {0};
    assert_false(goes_on(&gather, ZSCORE("k", "a")));
    assert_false(begins(&gather, "*1\r\n$4\r\nNOPE\r\n"));
    assert_false(begins(&gather, "*3\r\n$4\r\nNOPE\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_false(begins(&gather, "*3\r\n$4\r\nZREM\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_false(begins(&gather, "*3\r\n$7\r\nZMSCORE\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_false(begins(&gather, "*2\r\n$6\r\nZSCORE\r\n$1\r\nk\r\n"));
    assert_false(begins(&gather, "*4\r\n$5\r\nZRANK\r\n$1\r\nk\r\n$1\r\na\r\n$9\r\nWITHSCORE\r\n"));
    assert_false(begins(&gather, "ZSCORE k a\r\n"));
    assert_int_equal(gather.count, 0);
    assert_true(begins(&gather, ZSCORE("k", "a")));
    assert_int_equal(gather.count, 1);
    assert_true(gather.command == command);
    assert_true(begins(&gather, "*3\r\n$8\r\nzrevrank\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_true(begins(&gather, "*3\r\n$5\r\nZRANK\r\n$1\r\nk\r\n$1\r\na\r\n"));
}

static void goes_on_with_the_same_of_the_same_key(void **state) {
    (void)state;
    struct gather gather = {0};
    assert_true(begins(&gather, ZSCORE("k", "a")));
    assert_true(goes_on(&gather, ZSCORE("k", "b")));
    assert_false(goes_on(&gather, ZSCORE("l", "b")));
    assert_false(goes_on(&gather, "*3\r\n$5\r\nZRANK\r\n$1\r\nk\r\n$1\r\na\r\n"));
    assert_false(goes_on(&gather, "*4\r\n$6\r\nZSCORE\r\n$1\r\nk\r\n$1\r\na\r\n$1\r\nb\r\n"));
    assert_false(goes_on(&gather, "*2\r\n$6\r\nZSCORE\r\n$1\r\nk\r\n"));
    assert_false(goes_on(&gather, "ZSCORE k a\r\n"));
    assert_int_equal(gather.count, 2);
    assert_bytes_equal(gather.args[0], BYTES("ZSCORE"));
    assert_bytes_equal(gather.args[1], BYTES("k"));
    assert_bytes_equal(gather.args[2], BYTES("a"));
    assert_bytes_equal(gather.args[3], BYTES("b"));
    while (gather.count < GATHER_MAX)
        assert_true(goes_on(&gather, ZSCORE("k", "c")));
    assert_false(goes_on(&gather, ZSCORE("k", "d")));
    assert_bytes_equal(gather.args[GATHER_MEMBER + GATHER_MAX - 1], BYTES("c"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(begins_with_a_read_of_one_member, setup, teardown),
        cmocka_unit_test_setup_teardown(goes_on_with_the_same_of_the_same_key, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
