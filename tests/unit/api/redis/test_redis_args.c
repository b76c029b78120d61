/* Arguments of calls: numbers within bounds, words without case, errors that stay on their line. */
#include "test.h"

#include "api/redis/redis_command.h"

#include <math.h>

struct fixture {
    struct arena arena;
    struct redis_call call;
    struct bytes args[4];
};

static struct fixture f;

static int setup(void **state) {
    (void)state;
    memset(&f, 0, sizeof(f));
    arena_init(&f.arena);
    f.call = (struct redis_call){.arena = &f.arena, .args = f.args, .count = 4};
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_release(&f.arena);
    return 0;
}

static void give(const char *text) {
    f.args[1] = bytes_str(text);
    f.call.error = (struct bytes){0};
}

static void test_bounds(void **state) {
    int64_t number = 77;
    (void)state;
    give("-3");
    assert_int_equal(call_int_between(&f.call, 1, (struct int_bounds){-3, 5, NULL}, &number), OK);
    assert_int_equal(number, -3);
    give("5");
    assert_int_equal(call_int_between(&f.call, 1, (struct int_bounds){-3, 5, NULL}, &number), OK);
    assert_int_equal(number, 5);
    give("6");
    assert_int_equal(call_int_between(&f.call, 1, (struct int_bounds){-3, 5, NULL}, &number),
                     INVALID);
    assert_bytes_equal(f.call.error, BYTES(ERROR_NOT_INTEGER));
    give("-4");
    assert_int_equal(
        call_int_between(&f.call, 1, (struct int_bounds){-3, 5, "ERR too 100% low"}, &number),
        INVALID);
    assert_bytes_equal(f.call.error, BYTES("ERR too 100% low"));
    give("six");
    assert_int_equal(
        call_int_between(&f.call, 1, (struct int_bounds){INT64_MIN, INT64_MAX, NULL}, &number),
        INVALID);
    assert_int_equal(number, 5); /* a refusal leaves it alone */
}

static void test_integers(void **state) {
    int64_t number;
    (void)state;
    give("-9223372036854775808");
    assert_int_equal(call_int(&f.call, 1, &number), OK);
    assert_true(number == INT64_MIN);
    give("9223372036854775808");
    assert_int_equal(call_int(&f.call, 1, &number), INVALID);
    assert_bytes_equal(f.call.error, BYTES(ERROR_NOT_INTEGER));
    give("18446744073709551617"); /* 2^64 + 1 is not 1 */
    assert_int_equal(call_int(&f.call, 1, &number), INVALID);
}

/* The short way for small integers and the long one agree on either side of where they meet. */
static void test_reals(void **state) {
    static const struct {
        const char *text;
        double real;
    } good[] = {{"0", 0},
                {"-0", -0.0},
                {"00017", 17},
                {"99999999999999", 99999999999999.0},
                {"999999999999999", 999999999999999.0},
                {"9999999999999999", 9999999999999999.0},
                {"-99999999999999", -99999999999999.0},
                {"-999999999999999", -999999999999999.0},
                {"+5", 5},
                {".5", .5},
                {"5.", 5},
                {"1e308", 1e308},
                {"INFINITY", INFINITY},
                {"-inf", -INFINITY},
                {"0x1p-3", .125},
                {"4.9e-324", 4.9e-324}};
    static const char *const bad[] = {"",         "-",      "+",    ".",     "e5",  "\t1",
                                      "1\t",      "NaN",    "-nan", "1e309", "1,5", "0x",
                                      "infinite", "1e-325", "1 1",  "١"};
    double real;
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        give(good[i].text);
        assert_int_equal(call_double(&f.call, 1, &real), OK);
        assert_memory_equal(&real, &good[i].real, sizeof(real));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        give(bad[i]);
        if (call_double(&f.call, 1, &real) != INVALID)
            fail_msg("'%s' was taken for %g", bad[i], real);
        assert_bytes_equal(f.call.error, BYTES(ERROR_NOT_FLOAT));
    }
}

/* A byte 0 within a number is not its end; a text of any length is looked at safely. */
static void test_reals_of_bytes(void **state) {
    static char digits[2000];
    double real;
    (void)state;
    assert_false(redis_read_double(BYTES("1\0"), &real));
    assert_false(redis_read_double(BYTES("1.5\0"), &real));
    memset(digits, '0', sizeof(digits));
    digits[0] = '1', digits[1] = '.';
    assert_true(redis_read_double(bytes_of(digits, 511), &real) && real == 1);
    assert_false(redis_read_double(bytes_of(digits, 512), &real));
    assert_false(redis_read_double(bytes_of(digits, sizeof(digits)), &real));
}

static void test_words(void **state) {
    (void)state;
    give("WithScores");
    assert_true(call_arg_is(&f.call, 1, "withscores"));
    assert_false(call_arg_is(&f.call, 1, "withscore"));
    assert_false(call_arg_is(&f.call, 1, "withscoresx"));
    f.args[1] = BYTES("nx\0");
    assert_false(call_arg_is(&f.call, 1, "nx"));
    give("");
    assert_true(call_arg_is(&f.call, 1, ""));
}

/* What a client sent may be told in an error, and must not end its line. */
static void test_errors(void **state) {
    (void)state;
    assert_int_equal(call_error(&f.call, "ERR no '%s'\r\n\r\n", "key"), INVALID);
    assert_bytes_equal(f.call.error, BYTES("ERR no 'key'"));
    assert_int_equal(call_error(&f.call, "%s", "\r\n"), INVALID);
    assert_int_equal(f.call.error.size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_integers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reals_of_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
