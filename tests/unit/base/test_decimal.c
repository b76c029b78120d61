#include "base/decimal.h"

#include "base/random.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

static void check(struct arena *arena, int64_t number) {
    char expected[64];
    snprintf(expected, sizeof(expected), "n#%" PRId64, number);
    struct bytes text = decimal_text(arena, BYTES("n#"), number);
    assert_bytes_equal(text, bytes_str(expected));
    text = decimal_text(arena, (struct bytes){0}, number);
    assert_bytes_equal(text, bytes_str(expected + 2));
}

static void test_text(void **state) {
    (void)state;
    struct arena arena;
    struct random random;
    arena_init(&arena);
    random_seed(&random, 3);
    int64_t edges[] = {0, 1, -1, 9, 10, -10, 99, 100, 101, 999, 1000, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
        check(&arena, edges[i]);
    for (unsigned i = 0; i < 5000; i++) {
        check(&arena, (int64_t)(random_next(&random) >> random_below(&random, 64)));
        arena_reset(&arena);
    }
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
