/* The hash map against an array of flags, from a printed seed. */
#include "test.h"

#include "base/map.h"
#include "base/random.h"

enum { KEYS = 500, STEPS = 20000 };

static void map_agrees_with_an_array(void **state) {
    (void)state;
    static char names[KEYS][16];
    void *expected[KEYS] = {0};
    struct map map = {0};
    struct random random;
    random_seed(&random, test_seed());
    for (int i = 0; i < KEYS; i++)
        snprintf(names[i], sizeof(names[i]), "k%d", i);

    for (int step = 0; step < STEPS; step++) {
        size_t i = random_below(&random, KEYS);
        struct bytes key = bytes_str(names[i]);
        if (random_below(&random, 3) == 0) {
            assert_ptr_equal(map_del(&map, key), expected[i]);
            expected[i] = NULL;
        } else {
            void *value = &names[random_below(&random, KEYS)];
            assert_ptr_equal(map_put(&map, key, value), expected[i]);
            expected[i] = value;
        }
        i = random_below(&random, KEYS);
        assert_ptr_equal(map_get(&map, bytes_str(names[i])), expected[i]);
    }

    size_t count = 0, seen = 0, at = 0;
    for (int i = 0; i < KEYS; i++) {
        assert_ptr_equal(map_get(&map, bytes_str(names[i])), expected[i]);
        count += expected[i] != NULL;
    }
    while (map_next(&map, &at) != NULL)
        seen++;
    assert_int_equal(map.count, count);
    assert_int_equal(seen, count);
    map_release(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(map_agrees_with_an_array)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
