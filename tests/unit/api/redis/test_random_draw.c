/* Numbers drawn at random: in their range, different where they have to be, and each as likely. */
#include "test.h"

#include "api/redis/random_draw.h"

static void test_different(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    for (uint64_t size = 1; size < 40; size++)
        for (uint64_t count = 0; count <= size; count++) {
            bool seen[40] = {false};
            uint64_t *drawn = draw_different(&arena, size, count);
            for (uint64_t i = 0; i < count; i++) {
                assert_true(drawn[i] < size);
                assert_false(seen[drawn[i]]);
                seen[drawn[i]] = true;
            }
        }
    arena_release(&arena);
}

/* Ten numbers, three at a time: each is drawn in three of ten. 20,000 draws leave one that differs
 * from that by a tenth less than once in 10^13 runs. */
static void test_even(void **state) {
    (void)state;
    enum { SIZE = 10, COUNT = 3, ROUNDS = 20000 };
    unsigned different[SIZE] = {0}, any[SIZE] = {0};
    struct arena arena;
    arena_init(&arena);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t *drawn = draw_different(&arena, SIZE, COUNT);
        uint64_t *repeats = draw_any(&arena, SIZE, COUNT);
        for (int i = 0; i < COUNT; i++) {
            different[drawn[i]]++;
            assert_true(repeats[i] < SIZE);
            any[repeats[i]]++;
        }
        arena_reset(&arena);
    }
    for (int i = 0; i < SIZE; i++) {
        assert_in_range(different[i], ROUNDS * COUNT / SIZE * 9 / 10,
                        ROUNDS * COUNT / SIZE * 11 / 10);
        assert_in_range(any[i], ROUNDS * COUNT / SIZE * 9 / 10, ROUNDS * COUNT / SIZE * 11 / 10);
    }
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_different),
        cmocka_unit_test(test_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
