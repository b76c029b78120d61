/* Arenas: pieces that do not overlap, over resets of both kinds. */
#include "base/arena.h"
#include "test.h"

enum { PIECES = 200, ROUNDS = 50 };

/* Fills pieces of many sizes, then looks whether each still has what it was filled with. */
static size_t fill(struct arena *arena, unsigned round) {
    uint8_t *pieces[PIECES];
    size_t sizes[PIECES], sum = 0;
    for (unsigned i = 0; i < PIECES; i++) {
        sizes[i] = (i * 7919u + round * 104729u) % (i % 50 == 0 ? 300000 : 5000);
        pieces[i] = arena_alloc(arena, sizes[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)(i + round), sizes[i]);
        sum += (sizes[i] + 15) / 16 * 16;
    }
    for (unsigned i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], (uint8_t)(i + round));
    return sum;
}

static void test_rounds(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    arena_recycle(&arena);
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t sum = fill(&arena, round);
        assert_int_equal(arena.used, sum);
        if (round % 5 == 4)
            arena_reset(&arena);
        else
            arena_recycle(&arena);
        assert_int_equal(arena.used, 0);
    }
    arena_release(&arena);
}

/* The same use again comes from the same memory; after a small use the rest has gone. */
static void test_recycle(void **state) {
    (void)state;
    enum { LARGE = 1000000 };
    struct arena arena;
    arena_init(&arena);
    arena_alloc(&arena, 1);
    void *large = arena_alloc(&arena, LARGE);
    arena_recycle(&arena);
    arena_alloc(&arena, 1);
    assert_ptr_equal(arena_alloc(&arena, LARGE), large);
    arena_recycle(&arena);
    arena_alloc(&arena, 1);
    arena_recycle(&arena);
    assert_ptr_equal(arena.current, arena.first);
    arena_alloc(&arena, 1);
    arena_alloc(&arena, 2 * LARGE);
    arena_release(&arena);
}

/* Small uses in between leave the memory where it is, until it is asked to go. */
static void test_rewind(void **state) {
    (void)state;
    enum { LARGE = 1000000 };
    struct arena arena;
    arena_init(&arena);
    arena_rewind(&arena, 0);
    arena_alloc(&arena, 1);
    void *large = arena_alloc(&arena, LARGE);
    for (int i = 0; i < 3; i++) {
        arena_rewind(&arena, SIZE_MAX);
        assert_int_equal(arena.used, 0);
        arena_alloc(&arena, 1);
    }
    assert_ptr_equal(arena_alloc(&arena, LARGE), large);
    arena_rewind(&arena, LARGE);
    arena_alloc(&arena, 1);
    assert_ptr_equal(arena_alloc(&arena, LARGE), large);
    arena_rewind(&arena, 1);
    fill(&arena, 1);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds),
                                       cmocka_unit_test(test_recycle),
                                       cmocka_unit_test(test_rewind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
