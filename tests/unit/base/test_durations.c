/* Durations held against a sorted array of them. */
#include "test.h"

#include "base/durations.h"
#include "base/random.h"

#include <stdlib.h>

static void test_buckets_meet(void **state) {
    (void)state;
    for (size_t i = 0; i < DURATIONS_BUCKETS; i++) {
        uint64_t low = durations_low_us(i), high = durations_low_us(i + 1);
        assert_true(low < high);
        assert_int_equal(durations_bucket(low), i);
        assert_int_equal(durations_bucket(high - 1), i);
        if (i >= DURATIONS_EIGHTHS) /* within an eighth */
            assert_true((high - low) * DURATIONS_EIGHTHS <= low);
    }
    assert_int_equal(durations_low_us(DURATIONS_BUCKETS), DURATIONS_MAX_US);
    assert_int_equal(durations_bucket(UINT64_MAX), DURATIONS_BUCKETS - 1);
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of all magnitudes, as latencies are. */
static uint64_t some_duration(struct random *random) {
    return random_next(random) >> (37 + random_next(random) % 27);
}

static void check_percentiles(const struct durations_sums *sums, const uint64_t *sorted,
                              size_t count) {
    const double shares[] = {0, 0.5, 0.9, 0.99, 0.999, 1};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        double wanted = shares[i] * (double)count;
        size_t at = wanted < 1 ? 0 : (size_t)wanted - ((double)(size_t)wanted == wanted);
        double told = durations_percentile_us(sums, shares[i]), right = (double)sorted[at];
        assert_true(told >= right * (1 - 1.0 / 8) - 1 && told <= right * (1 + 1.0 / 8) + 1);
    }
}

static void test_model(void **state) {
    enum { COUNT = 20000 };
    struct random random;
    struct durations durations = {0};
    struct durations_sums before = {0}, now = {0};
    uint64_t *all = calloc(COUNT, sizeof *all), sum = 0;
    (void)state;
    random_seed(&random, test_seed());
    for (size_t i = 0; i < COUNT; i++) {
        if (i == COUNT / 2)
            durations_sum(&before, &durations);
        all[i] = some_duration(&random);
        sum += all[i];
        if (random_next(&random) % 2 == 0)
            durations_add(&durations, all[i], 1);
        else
            durations_add_shared(&durations, all[i]);
    }
    durations_sum(&now, &durations);
    assert_int_equal(now.count, COUNT);
    assert_int_equal(now.sum_us, sum);
    struct durations_sums since = durations_since(&now, &before);
    qsort(all + COUNT / 2, COUNT / 2, sizeof *all, compare);
    assert_int_equal(since.count, COUNT / 2);
    check_percentiles(&since, all + COUNT / 2, COUNT / 2);
    qsort(all, COUNT, sizeof *all, compare);
    check_percentiles(&now, all, COUNT);
    durations_sum_sums(&since, &before);
    assert_memory_equal(&since, &now, sizeof now);
    for (uint64_t us = 16; us <= 1 << 25; us *= 2) {
        size_t below = 0;
        while (below < COUNT && all[below] < us)
            below++;
        assert_int_equal(durations_below(&now, us), below);
    }
    free(all);
}

static void test_nothing(void **state) {
    struct durations_sums none = {0};
    (void)state;
    assert_true(durations_percentile_us(&none, 0.99) == 0);
    assert_int_equal(durations_below(&none, 1 << 20), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_meet),
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
