/* Spare blocks: who takes one after it was given back gets the same, up to a bound; what nobody
 * needs goes. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/spare_blocks.h"
#include "test.h"

#include <pthread.h>
#include <time.h>

enum { MB = 1024 * 1024 };

static void wait_a_little(void) {
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

/* Trims until it has an effect on all that is not needed; it is not done each time. */
static void trim_all(void) {
    int64_t until = clock_ticks_us() + INT64_C(60) * 1000 * 1000;
    while (spare_blocks_held() != 0) {
        assert_true(clock_ticks_us() < until);
        spare_blocks_trim();
        wait_a_little();
    }
}

static void test_sizes(void **unused) {
    (void)unused;
    assert_int_equal(spare_block_size(1), 1);
    assert_int_equal(spare_block_size(SPARE_BLOCK_MIN - 1), SPARE_BLOCK_MIN - 1);
    assert_int_equal(spare_block_size(SPARE_BLOCK_MIN), SPARE_BLOCK_MIN);
    assert_int_equal(spare_block_size(SPARE_BLOCK_MIN + 1), 2 * SPARE_BLOCK_MIN);
    assert_int_equal(spare_block_size(SPARE_BLOCK_MAX), SPARE_BLOCK_MAX);
    assert_int_equal(spare_block_size(SPARE_BLOCK_MAX + 1), SPARE_BLOCK_MAX + 1);
}

static void test_taken_again(void **unused) {
    (void)unused;
    void *block = spare_block_take(MB), *small = spare_block_take(1000);
    memset(block, 7, MB);
    spare_block_give(small, 1000);
    assert_int_equal(spare_blocks_held(), 0);
    spare_block_give(block, MB);
    assert_int_equal(spare_blocks_held(), MB);
    void *other = spare_block_take(2 * MB);
    assert_ptr_not_equal(other, block);
    assert_ptr_equal(spare_block_take(MB), block);
    memset(block, 8, MB);
    assert_int_equal(spare_blocks_held(), 0);
    spare_block_give(other, 2 * MB);
    spare_block_give(block, MB);
    trim_all();
}

/* No more is kept than there may be. */
static void test_bound(void **unused) {
    (void)unused;
    enum { COUNT = LIMIT_SPARE_BLOCKS / (4 * MB) + 3 };
    void *blocks[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        blocks[i] = spare_block_take(4 * MB);
    for (size_t i = 0; i < COUNT; i++)
        spare_block_give(blocks[i], 4 * MB);
    assert_int_equal(spare_blocks_held(), LIMIT_SPARE_BLOCKS);
    trim_all();
}

/* One that is needed again and again stays. */
static void test_needed_stays(void **unused) {
    (void)unused;
    void *first = spare_block_take(MB), *second = spare_block_take(MB);
    spare_block_give(first, MB);
    spare_block_give(second, MB);
    int64_t until = clock_ticks_us() + INT64_C(60) * 1000 * 1000;
    while (spare_blocks_held() != MB) {
        assert_true(clock_ticks_us() < until);
        spare_block_give(spare_block_take(MB), MB); /* of the two one at a time */
        spare_blocks_trim();
        wait_a_little();
        assert_true(spare_blocks_held() >= MB);
    }
    trim_all();
}

static void *take_and_give(void *number) {
    for (unsigned i = 0; i < 1000; i++) {
        uint8_t *block = spare_block_take(SPARE_BLOCK_MIN);
        block[100] = *(uint8_t *)number;
        if (i % 16 == 0)
            spare_blocks_trim();
        assert_int_equal(block[100], *(uint8_t *)number);
        spare_block_give(block, SPARE_BLOCK_MIN);
    }
    return NULL;
}

static void test_threads(void **unused) {
    (void)unused;
    pthread_t threads[4];
    uint8_t numbers[4] = {1, 2, 3, 4};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &numbers[i]), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_true(spare_blocks_held() <= 4 * SPARE_BLOCK_MIN);
    trim_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_taken_again),
        cmocka_unit_test(test_bound),   cmocka_unit_test(test_needed_stays),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
