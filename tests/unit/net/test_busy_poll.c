/* When a loop looks for what comes next, and what it makes of what it found. */
#include "test.h"

#include "base/clock.h"
#include "net/busy_poll.h"

#include <unistd.h>

enum { TRIAL = 16 }; /* one wait in so many begins with a look */

static int ends[2];
static struct busy_polls all;

static int setup(void **state) {
    (void)state;
    return pipe(ends);
}

static int teardown(void **state) {
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* One that looks for so long, alone. */
static struct busy_poll *begin(unsigned most_us) {
    static struct busy_poll one;
    all = (struct busy_polls){.most_us = most_us, .busy_most = 1};
    busy_poll_init(&one, &all, ends[0]);
    return &one;
}

static void look(struct busy_poll *busy, int timeout_ms) {
    busy_poll_look(busy, timeout_ms, clock_ticks_us());
}

/* How many of the waits begin with a look, when each finds something or none does. */
static unsigned looks_of(struct busy_poll *busy, unsigned waits, bool found) {
    unsigned looks = 0;
    for (unsigned i = 0; i < waits; i++)
        if (busy_poll_wanted(busy)) {
            busy_poll_note(busy, found);
            looks++;
        }
    return looks;
}

static void test_looks_where_it_finds(void **state) {
    struct busy_poll *busy = begin(60);
    (void)state;
    assert_int_equal(looks_of(busy, TRIAL - 1, true), 0);
    assert_int_equal(looks_of(busy, 1, true), 1);
    assert_int_equal(looks_of(busy, 5 * TRIAL, true), 5); /* six of eight, from here on always */
    assert_int_equal(looks_of(busy, 1000, true), 1000);
    assert_int_equal(looks_of(busy, 3, false), 3); /* the third one is the last */
    assert_int_equal(looks_of(busy, 10 * TRIAL, false), 10);
}

/* One in vain among eight, or two, changes nothing. */
static void test_some_in_vain(void **state) {
    struct busy_poll *busy = begin(60);
    (void)state;
    looks_of(busy, 8 * TRIAL, true);
    for (unsigned i = 0; i < 100; i++) {
        assert_true(busy_poll_wanted(busy));
        busy_poll_note(busy, i % 4 != 0);
    }
}

static void test_off(void **state) {
    struct busy_poll *busy = begin(0);
    (void)state;
    assert_int_equal(looks_of(busy, 10 * TRIAL, true), 0);
    for (unsigned i = 0; i < 10 * TRIAL; i++)
        look(busy, -1);
    assert_int_equal(busy_poll_spent_us(busy), 0);
}

/* It ends when something has come, or the time is over, and says what it was. */
static void test_look(void **state) {
    struct busy_poll *busy = begin(1000);
    (void)state;
    busy->waits = TRIAL - 1;
    look(busy, 0); /* which is no wait */
    assert_int_equal(busy->waits, TRIAL - 1);
    look(busy, -1);
    assert_int_equal(busy->waits, 0);
    assert_int_equal(busy->found, 0);
    int64_t spent_us = busy_poll_spent_us(busy);
    assert_in_range(spent_us, 0, 1000 + 5);
    assert_int_equal(write(ends[1], "x", 1), 1);
    busy->waits = TRIAL - 1;
    look(busy, -1);
    assert_int_equal(busy->found, 1);
    assert_int_equal(busy_poll_spent_us(busy), spent_us); /* it was there at once */
}

/* Where another loop is busy none looks: it was about to wait a moment ago, or longer. */
static void test_others_are_busy(void **state) {
    struct busy_poll *busy = begin(1000), other;
    int64_t now_us = clock_ticks_us();
    (void)state;
    busy_poll_init(&other, &all, ends[0]);
    busy_poll_look(&other, -1, now_us);
    assert_int_equal(write(ends[1], "x", 1), 1);
    busy->waits = TRIAL - 1;
    busy_poll_look(busy, -1, now_us + 500);
    assert_int_equal(busy->found, 0);
    busy_poll_look(busy, -1, now_us + 1400); /* it was counted less than a millisecond ago */
    assert_int_equal(busy->found, 0);
    busy_poll_look(busy, -1, now_us + 1500);
    assert_int_equal(busy->found, 1);
    assert_int_equal(other.found, 0);
}

/* A wait for a timer begins with no longer a look than it is. */
static void test_no_longer_than_the_wait(void **state) {
    struct busy_poll *busy = begin(1000000);
    (void)state;
    busy->waits = TRIAL - 1;
    look(busy, 1);
    assert_int_equal(busy->waits, 0);
    assert_in_range(busy_poll_spent_us(busy), 0, 1000 + 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_looks_where_it_finds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_some_in_vain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_look, setup, teardown),
        cmocka_unit_test_setup_teardown(test_others_are_busy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_longer_than_the_wait, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
