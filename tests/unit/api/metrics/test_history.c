/* History held against plain arrays of all readings. */
#include "test.h"

#include "api/metrics/history.h"
#include "base/limits.h"
#include "base/random.h"

#include <math.h>

enum { SECOND_US = 1000000, STEPS = 5000 };

/* Every reading ever added, in order. */
static double totals[STEPS], gauges[STEPS];

static void check_hour(struct history *history, size_t steps) {
    static double out[LIMIT_HISTORY_SECONDS];
    struct history_request request = {HISTORY_COMMITS, HISTORY_HOUR, LIMIT_HISTORY_SECONDS, 1};
    history_get(history, &request, out);
    for (size_t i = 0; i < LIMIT_HISTORY_SECONDS; i++) {
        size_t ago = LIMIT_HISTORY_SECONDS - 1 - i;
        if (ago + 1 >= steps) {
            assert_true(isnan(out[i]));
            continue;
        }
        size_t at = steps - 1 - ago;
        assert_true(fabs(out[i] - (totals[at] - totals[at - 1])) < 1e-2);
    }
}

static void check_day(struct history *history, size_t steps) {
    double out[10];
    struct history_request request = {HISTORY_RSS, HISTORY_DAY, 10, 1};
    size_t minutes = (steps - 1) / 60;
    history_get(history, &request, out);
    for (size_t i = 0; i < 10; i++) {
        size_t ago = 9 - i;
        if (ago >= minutes)
            assert_true(isnan(out[i]));
        else
            assert_true(fabs(out[i] - gauges[(minutes - ago) * 60]) < 1e-2);
    }
}

static void test_model(void **state) {
    struct history *history = history_new();
    struct history_reading reading = {.at_us = 77};
    struct random random;
    (void)state;
    random_seed(&random, test_seed());
    for (size_t i = 0; i < STEPS; i++) {
        reading.at_us += SECOND_US;
        reading.values[HISTORY_COMMITS] += (double)random_below(&random, 1000);
        reading.values[HISTORY_RSS] = (double)random_below(&random, 100000);
        totals[i] = reading.values[HISTORY_COMMITS];
        gauges[i] = reading.values[HISTORY_RSS];
        history_add(history, &reading);
        if (i % 617 == 0 || i == STEPS - 1) {
            check_hour(history, i + 1);
            check_day(history, i + 1);
        }
    }
    history_free(history);
}

static void test_missed_seconds_are_not_there(void **state) {
    struct history *history = history_new();
    struct history_reading reading = {.at_us = 0};
    double out[6];
    (void)state;
    history_add(history, &reading);
    reading.at_us += SECOND_US;
    reading.values[HISTORY_WRITES] = 10;
    history_add(history, &reading);
    reading.at_us += 4 * SECOND_US; /* as when the machine slept */
    reading.values[HISTORY_WRITES] = 18;
    history_add(history, &reading);
    history_get(history, &(struct history_request){HISTORY_WRITES, HISTORY_HOUR, 6, 1}, out);
    assert_true(isnan(out[0]) && out[1] == 10);
    assert_true(isnan(out[2]) && isnan(out[3]) && isnan(out[4]));
    assert_true(out[5] == 2);
    history_free(history);
}

static void test_percentiles_and_groups(void **state) {
    struct history *history = history_new();
    struct history_reading reading = {.at_us = 0};
    double out[2];
    (void)state;
    history_add(history, &reading);
    for (int i = 1; i <= 4; i++) { /* 1, 2, 3, 4 ms */
        struct durations durations = {0};
        durations_add(&durations, (uint64_t)i * 1000, 10);
        durations_sum(&reading.latency[METRICS_REST], &durations);
        reading.values[HISTORY_RSS] = i;
        reading.at_us += SECOND_US;
        history_add(history, &reading);
    }
    struct history_request request = {HISTORY_OF(METRICS_REST, HISTORY_P99), HISTORY_HOUR, 2, 2};
    history_get(history, &request, out);
    assert_true(fabs(out[0] - 2) < 0.3 && fabs(out[1] - 4) < 0.5); /* the largest of two */
    request.series = HISTORY_RSS;
    history_get(history, &request, out);
    assert_true(out[0] == 1.5 && out[1] == 3.5); /* the mean */
    request.series = HISTORY_OF(METRICS_REDIS, HISTORY_P99);
    history_get(history, &request, out);
    assert_true(isnan(out[1])); /* nothing was asked */
    history_free(history);
}

static void test_names_differ(void **state) {
    (void)state;
    for (enum history_series i = 0; i < HISTORY_SERIES; i++)
        for (enum history_series k = 0; k < i; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s", history_name(i));
            assert_string_not_equal(name, history_name(k));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_missed_seconds_are_not_there),
        cmocka_unit_test(test_percentiles_and_groups),
        cmocka_unit_test(test_names_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
