/* The arguments of ZRANGE and its relatives, as a range. */
#include "test.h"

#include "api/redis/zset_range_args.h"

#include <math.h>

struct fixture {
    struct arena arena;
    struct redis_call call;
    struct bytes args[16];
    struct range_args read;
};

static struct fixture f;

static int setup(void **state) {
    (void)state;
    memset(&f, 0, sizeof(f));
    arena_init(&f.arena);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_release(&f.arena);
    return 0;
}

/* Reads what follows "ZRANGE key", as a command that knows `given` by its name. */
static enum status read_words(struct range_args given, const char *const *words) {
    f.call = (struct redis_call){.arena = &f.arena, .args = f.args, .count = 2};
    f.args[0] = BYTES("zrange");
    f.args[1] = BYTES("key");
    for (; *words != NULL; words++)
        f.args[f.call.count++] = bytes_str(*words);
    f.read = given;
    return range_args_read(&f.call, 2, &f.read);
}
#define READ(...) read_words((struct range_args){0}, (const char *const[]){__VA_ARGS__, NULL})
#define assert_error(text, ...)                        \
    do {                                               \
        assert_int_equal(READ(__VA_ARGS__), INVALID);  \
        assert_bytes_equal(f.call.error, BYTES(text)); \
    } while (0)

static void test_ranks(void **state) {
    (void)state;
    assert_int_equal(READ("0", "-1"), OK);
    assert_int_equal(f.read.range.by, RANGE_RANK);
    assert_int_equal(f.read.range.start, 0);
    assert_int_equal(f.read.range.stop, -1);
    assert_false(f.read.range.reverse || f.read.scores || f.read.range.counted);
    assert_int_equal(READ("3", "9", "rev", "WITHSCORES"), OK);
    assert_true(f.read.range.reverse && f.read.scores);
    assert_int_equal(f.read.range.start, 3); /* seen from the end that REV chooses */
    assert_error(ERROR_NOT_INTEGER, "0", "x");
    assert_error(ERROR_NOT_INTEGER, "(0", "1");
}

static void test_scores(void **state) {
    (void)state;
    assert_int_equal(READ("(1.5", "+inf", "BYSCORE"), OK);
    const struct zset_range *range = &f.read.range;
    assert_int_equal(range->by, RANGE_SCORE);
    assert_true(range->low.score == 1.5 && range->low.exclusive);
    assert_true(isinf(range->high.score) && range->high.score > 0 && !range->high.exclusive);
    assert_int_equal(READ("9", "(1", "byscore", "rev"), OK); /* high comes first */
    assert_true(range->low.score == 1 && range->low.exclusive);
    assert_true(range->high.score == 9 && !range->high.exclusive);
    assert_int_equal(READ("(", " 1", "byscore"), OK); /* as lenient as Redis: nothing is 0 */
    assert_true(range->low.score == 0 && range->low.exclusive && range->high.score == 1);
    assert_error("ERR min or max is not a float", "(x", "1", "byscore");
    assert_error("ERR min or max is not a float", "1", "nan", "byscore");
    assert_error("ERR min or max is not a float", "[1", "2", "byscore");
}

static void test_members(void **state) {
    (void)state;
    assert_int_equal(READ("[a", "(", "BYLEX"), OK);
    const struct zset_range *range = &f.read.range;
    assert_int_equal(range->by, RANGE_MEMBER);
    assert_bytes_equal(range->low.member, BYTES("a"));
    assert_int_equal(range->low.infinite, 0);
    assert_false(range->low.exclusive);
    assert_true(range->high.exclusive); /* before the empty member: nothing */
    assert_int_equal(range->high.member.size, 0);
    assert_int_equal(READ("+", "-", "bylex", "rev"), OK);
    assert_int_equal(range->low.infinite, -1);
    assert_int_equal(range->high.infinite, 1);
    assert_error("ERR min or max not valid string range item", "a", "[b", "bylex");
    assert_error("ERR min or max not valid string range item", "-x", "+", "bylex");
    assert_error("ERR min or max not valid string range item", "", "+", "bylex");
}

static void test_limit(void **state) {
    (void)state;
    assert_int_equal(READ("0", "9", "byscore", "LIMIT", "2", "3"), OK);
    assert_true(f.read.range.counted);
    assert_int_equal(f.read.range.offset, 2);
    assert_int_equal(f.read.range.limit, 3);
    assert_int_equal(READ("0", "9", "byscore", "limit", "-1", "-5"), OK);
    assert_int_equal(f.read.range.offset, -1);
    assert_error("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or "
                 "BYLEX",
                 "0", "9", "limit", "0", "1");
    assert_error(ERROR_SYNTAX, "0", "9", "byscore", "limit", "0");
    assert_error(ERROR_NOT_INTEGER, "0", "9", "byscore", "limit", "0", "many");
}

static void test_what_does_not_go_together(void **state) {
    (void)state;
    assert_error("ERR syntax error, WITHSCORES not supported in combination with BYLEX", "-", "+",
                 "bylex", "withscores");
    assert_error(ERROR_SYNTAX, "0", "1", "byscore", "bylex");
    assert_error(ERROR_SYNTAX, "0", "1", "rev", "rev");
    assert_error(ERROR_SYNTAX, "0", "1", "withscore");
    assert_error(ERROR_SYNTAX, "0", "1", "");
}

/* Commands whose name tells the kind and the direction do not take the words for them. */
static void test_older_commands(void **state) {
    static const char *const plain[] = {"5", "(1", "limit", "0", "1", NULL};
    static const char *const rev[] = {"5", "1", "rev", NULL}, *const kind[] = {"5", "1", "byscore",
                                                                               NULL};
    static const char *const scores[] = {"5", "1", "withscores", NULL};
    struct range_args older = {
        .directed = true, .kinded = true, .range = {.by = RANGE_SCORE, .reverse = true}};
    (void)state;
    assert_int_equal(read_words(older, plain), OK);
    assert_true(f.read.range.low.score == 1 && f.read.range.low.exclusive);
    assert_int_equal(read_words(older, rev), INVALID);
    assert_int_equal(read_words(older, kind), INVALID);
    assert_int_equal(read_words(older, scores), OK);
    assert_int_equal(read_words((struct range_args){.store = true}, scores), INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ranks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scores, setup, teardown),
        cmocka_unit_test_setup_teardown(test_members, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_does_not_go_together, setup, teardown),
        cmocka_unit_test_setup_teardown(test_older_commands, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
