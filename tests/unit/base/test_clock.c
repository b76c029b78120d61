/* Who gives way leaves others as long as it has taken itself, up to a bound. */
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
    assert_true(slept_us(-1000 * 1000) < 1000 * 1000); /* what begins later is not waited for */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_give_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
