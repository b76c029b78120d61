/* The believed time, told by clocks that the test sets. */
#include "test.h"

#include "base/limits.h"
#include "base/random.h"
#include "base/time_belief.h"

#define HOUR   INT64_C(3600000)
#define MINUTE INT64_C(60000)
#define START  INT64_C(1790000000000)

/* A machine: what its clocks say, and what is believed of them. */
struct machine {
    struct time_belief belief;
    struct time_reading clocks;
    struct time_news news;
    unsigned events[4]; /* how often each has been told */
    int64_t now_ms;
};

static void look(struct machine *machine) {
    machine->now_ms = time_belief_at(&machine->belief, machine->clocks, &machine->news);
    machine->events[machine->news.event]++;
}

/* Real time passes, looked at every second. */
static void pass(struct machine *machine, int64_t real_ms) {
    for (; real_ms > 0; real_ms -= 1000) {
        int64_t some_ms = real_ms < 1000 ? real_ms : 1000;
        machine->clocks.wall_ms += some_ms;
        machine->clocks.steady_ms += some_ms;
        look(machine);
    }
}

static void jump(struct machine *machine, int64_t by_ms) {
    machine->clocks.wall_ms += by_ms;
    look(machine);
}

static struct machine started(void) {
    struct machine machine = {.clocks = {.wall_ms = START, .steady_ms = 5000}};
    look(&machine);
    assert_int_equal(machine.now_ms, START);
    return machine;
}

static void test_follows_the_wall_clock(void **state) {
    struct machine machine = started();
    (void)state;
    pass(&machine, 10 * MINUTE);
    jump(&machine, 1500);
    jump(&machine, -700);
    assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
    assert_int_equal(machine.events[TIME_JUMPED], 0);
}

/* The jump of the issue: 25 hours, for four seconds. */
static void test_short_jump_changes_nothing(void **state) {
    struct machine machine = started();
    (void)state;
    jump(&machine, 25 * HOUR);
    assert_int_equal(machine.news.event, TIME_JUMPED);
    assert_int_equal(machine.news.apart_ms, 25 * HOUR);
    pass(&machine, 4000);
    assert_int_equal(machine.now_ms, START + 4000);
    jump(&machine, -25 * HOUR);
    assert_int_equal(machine.news.event, TIME_AGREES);
    pass(&machine, 10 * MINUTE);
    assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
    assert_int_equal(machine.events[TIME_JUMPED], 1);
    assert_int_equal(machine.events[TIME_MOVED], 0);
}

static void test_proved_jump_is_followed_in_steps(void **state) {
    struct machine machine = started();
    (void)state;
    jump(&machine, 6 * HOUR);
    pass(&machine, LIMIT_CLOCK_PROOF_MS - 1000);
    assert_int_equal(machine.news.apart_ms, 6 * HOUR);
    pass(&machine, 1000);
    assert_int_equal(machine.news.event, TIME_MOVED);
    assert_int_equal(machine.news.moved_ms, HOUR);
    pass(&machine, LIMIT_CLOCK_PROOF_MS);
    assert_int_equal(machine.news.moved_ms, 2 * HOUR);
    pass(&machine, LIMIT_CLOCK_PROOF_MS);
    assert_int_equal(machine.news.event, TIME_AGREES);
    assert_int_equal(machine.news.moved_ms, 3 * HOUR);
    assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
    pass(&machine, MINUTE);
    assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
}

static void test_each_jump_proves_itself(void **state) {
    struct machine machine = started();
    (void)state;
    jump(&machine, 3 * HOUR);
    pass(&machine, LIMIT_CLOCK_PROOF_MS - 1000);
    jump(&machine, HOUR);
    assert_int_equal(machine.news.event, TIME_JUMPED);
    pass(&machine, LIMIT_CLOCK_PROOF_MS - 1000);
    assert_int_equal(machine.now_ms, START + 2 * (LIMIT_CLOCK_PROOF_MS - 1000));
}

/* A machine that starts in 1970 and is told the time later. */
static void test_years_take_minutes(void **state) {
    struct machine machine = {.clocks = {.wall_ms = 1000, .steady_ms = 1000}};
    (void)state;
    look(&machine);
    jump(&machine, START);
    pass(&machine, 25 * MINUTE);
    assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
}

/* Ten minutes back: the time goes on, a little slower, and never back. */
static void test_back_a_little_is_slower(void **state) {
    struct machine machine = started();
    (void)state;
    jump(&machine, -10 * MINUTE);
    assert_int_equal(machine.now_ms, START);
    int64_t last_ms = machine.now_ms, slowest_ms = INT64_MAX;
    for (int i = 0; i < 100 * 60; i++) {
        pass(&machine, 1000);
        if (machine.now_ms - last_ms < slowest_ms)
            slowest_ms = machine.now_ms - last_ms;
        last_ms = machine.now_ms;
    }
    assert_int_equal(slowest_ms, 875);
    assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
    assert_int_equal(machine.events[TIME_JUMPED], 1);
    assert_int_equal(machine.events[TIME_AGREES], 1);
}

static void test_far_back_goes_in_steps(void **state) {
    struct machine machine = started();
    (void)state;
    jump(&machine, -3 * HOUR);
    pass(&machine, LIMIT_CLOCK_PROOF_MS);
    assert_int_equal(machine.news.moved_ms, -HOUR);
    pass(&machine, 10 * 60 * MINUTE);
    assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
}

static void test_starts_elsewhere(void **state) {
    struct machine machine = {.clocks = {.wall_ms = START, .steady_ms = 5000}};
    (void)state;
    time_belief_start(&machine.belief, machine.clocks, START - 48 * HOUR);
    look(&machine);
    assert_int_equal(machine.news.event, TIME_JUMPED);
    assert_int_equal(machine.news.apart_ms, 48 * HOUR);
    assert_int_equal(machine.now_ms, START - 48 * HOUR);
    pass(&machine, 10 * MINUTE);
    assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
}

/* Whatever the wall clock does, in a minute the believed time goes by that minute and one step. */
static void test_any_clock_is_bounded(void **state) {
    struct random random;
    (void)state;
    random_seed(&random, test_seed());
    for (int round = 0; round < 50; round++) {
        struct machine machine = started();
        for (int i = 0; i < 500; i++) {
            int64_t before_ms = machine.now_ms, step_ms = machine.belief.step_ms;
            if (random_next(&random) % 8 == 0)
                jump(&machine,
                     (int64_t)(random_next(&random) % (uint64_t)(100 * HOUR)) - 50 * HOUR);
            int64_t real_ms = (int64_t)(random_next(&random) % (uint64_t)MINUTE);
            pass(&machine, real_ms);
            int64_t most_ms = step_ms > HOUR ? step_ms : HOUR;
            assert_true(machine.now_ms - before_ms <= real_ms + most_ms + LIMIT_CLOCK_TRUST_MS);
            assert_true(before_ms - machine.now_ms <= most_ms + LIMIT_CLOCK_TRUST_MS);
        }
        pass(&machine, 12 * 60 * MINUTE);
        assert_int_equal(machine.now_ms, machine.clocks.wall_ms);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follows_the_wall_clock),
        cmocka_unit_test(test_short_jump_changes_nothing),
        cmocka_unit_test(test_proved_jump_is_followed_in_steps),
        cmocka_unit_test(test_each_jump_proves_itself),
        cmocka_unit_test(test_years_take_minutes),
        cmocka_unit_test(test_back_a_little_is_slower),
        cmocka_unit_test(test_far_back_goes_in_steps),
        cmocka_unit_test(test_starts_elsewhere),
        cmocka_unit_test(test_any_clock_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
