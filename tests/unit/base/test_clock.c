/* Who gives way leaves others as long as it has taken itself, up to a bound; what the wall clock
 * showed when something came; and a clock that stands still. */
#include "base/clock.h"

#include "base/limits.h"
#include "test.h"

static int64_t slept_us(int64_t after_us) {
    int64_t begun_us = clock_ticks_us();
    clock_give_way(begun_us - after_us);
    return clock_ticks_us() - begun_us;
}

static void test_give_way(void **state) {
    (void)state;
    assert_true(slept_us(3000) >= 3000);
    assert_true(slept_us((int64_t)3600 * 1000 * 1000) >= LIMIT_GIVE_WAY_US); /* and it returns */
    /* What begins later is not waited for. A busy machine may take its time once, not each time. */
    int64_t least_us = INT64_MAX;
    for (int i = 0; i < 1000 && least_us >= LIMIT_GIVE_WAY_US / 2; i++) {
        int64_t us = slept_us(-1000 * 1000);
        least_us = us < least_us ? us : least_us;
    }
    assert_true(least_us < LIMIT_GIVE_WAY_US / 2);
}

/* A moment ago is that long ago; what cannot be is bounded, as after a jump of the wall clock. */
static void test_from_wall(void **state) {
    (void)state;
    int64_t now_ms = clock_now_ms();
    assert_int_equal(clock_from_wall(now_ms - 50, 60000), now_ms - 50);
    int64_t before_ms = clock_now_ms(), at_ms = clock_from_wall(before_ms - 3600 * 1000, 200);
    assert_in_range(at_ms, before_ms - 200, clock_now_ms() - 200);
    before_ms = clock_now_ms();
    at_ms = clock_from_wall(before_ms + 3600 * 1000, 200);
    assert_in_range(at_ms, before_ms, clock_now_ms());
    clock_shift_ms(5000);
    assert_int_equal(clock_from_wall(now_ms, 60000), now_ms + 5000);
    clock_shift_ms(-5000);
}

/* It is what it was however long it takes to look, until it is moved. */
static void test_stop(void **state) {
    (void)state;
    int64_t ticks_us = clock_ticks_us();
    assert_true(clock_now_ms() > 0);
    clock_shift_ms(7);
    clock_stop(1000);
    assert_int_equal(clock_now_ms(), 1000);
    while (clock_ticks_us() < ticks_us + 5000)
        assert_int_equal(clock_now_ms(), 1000);
    assert_int_equal(clock_shift_ms(20), 20);
    assert_int_equal(clock_now_ms(), 1020);
    assert_int_equal(clock_from_wall(clock_read().wall_ms - 10, 200),
                     1020); /* nothing has passed */
    assert_int_equal(clock_believed().wall_ms, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_give_way),
                                       cmocka_unit_test(test_from_wall),
                                       cmocka_unit_test(test_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
