/* Bloom filters: what was added is there; of what was not, little seems to be. */
#include "table/local/bloom.h"

#include "base/random.h"
#include "test.h"

static void fill(struct bloom *bloom, uint64_t seed, size_t count) {
    struct random random;
    random_seed(&random, seed);
    for (size_t i = 0; i < count; i++)
        assert_true(bloom_add(bloom, random_next(&random)));
}

static size_t count_found(const struct bloom *bloom, uint64_t seed, size_t count) {
    struct random random;
    size_t found = 0;
    random_seed(&random, seed);
    for (size_t i = 0; i < count; i++)
        found += bloom_has(bloom, random_next(&random));
    return found;
}

static void test_empty(void **state) {
    (void)state;
    struct bloom bloom = {0};
    assert_false(bloom_has(&bloom, 1));
    assert_int_equal(bloom_count(&bloom), 0);
    bloom_prefetch(&bloom, 1);
    bloom_reserve(&bloom, 0);
    assert_false(bloom_has(&bloom, 1));
    bloom_release(&bloom);
}

/* From no part at all to several. */
static void test_growth(void **state) {
    (void)state;
    enum { MANY = 200000 };
    struct bloom bloom = {0};
    fill(&bloom, 1, MANY);
    assert_true(atomic_load(&bloom.part_count) > 2);
    assert_int_equal(count_found(&bloom, 1, MANY), MANY);
    assert_true(count_found(&bloom, 2, MANY) < MANY / 30);
    assert_true(bloom_count(&bloom) > MANY - MANY / 30 && bloom_count(&bloom) <= MANY);
    bloom_release(&bloom);
    assert_false(bloom_has(&bloom, 1));
}

/* With room for all from the beginning, and added in order, as at a start. */
static void test_reserved(void **state) {
    (void)state;
    enum { MANY = 100000 };
    struct bloom bloom = {0};
    size_t wrong = 0;
    bloom_reserve(&bloom, MANY);
    for (uint64_t i = 0; i < MANY; i++)
        assert_true(bloom_add(&bloom, (i * 40000) << 32 | i * 40000));
    assert_int_equal(atomic_load(&bloom.part_count), 1);
    for (uint64_t i = 0; i < MANY; i++) {
        assert_true(bloom_has(&bloom, (i * 40000) << 32 | i * 40000));
        wrong += bloom_has(&bloom, (i * 40000 + 7) << 32 | (i * 40000 + 7));
    }
    assert_true(wrong < MANY / 30);
    bloom_release(&bloom);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_empty), cmocka_unit_test(test_growth),
                                       cmocka_unit_test(test_reserved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
