#include "table/local/key_run.h"

#include "base/hash.h"
#include "base/random.h"
#include "test.h"

/* Keys with much in common, of all lengths; the number at the end keeps them apart. */
static size_t make_key(struct random *random, uint32_t number, uint8_t *to, size_t room) {
    size_t size = (size_t)random_below(random, random_below(random, 100) == 0 ? room - 4 : 40);
    for (size_t i = 0; i < size; i++)
        to[i] = i < 20 ? 'a' : (uint8_t)random_below(random, 4);
    memcpy(to + size, &number, sizeof number);
    return size + sizeof number;
}

static uint64_t sum_of(struct bytes key) {
    return hash_keyed(key, 0);
}

static void test_walk_and_order(void **state) {
    (void)state;
    enum { COUNT = 60000, ROOM = 2000 }; /* some megabytes: several blocks */
    struct random random;
    struct key_run key_run = {0};
    uint8_t key[ROOM];
    uint64_t given = 0, walked = 0, sorted = 0;
    size_t count = 0;
    random_seed(&random, test_seed());
    for (uint32_t i = 0; i < COUNT; i++) {
        struct bytes made = bytes_of(key, make_key(&random, i, key, ROOM));
        given += sum_of(made);
        key_run_add(&key_run, made, i % 3 == 0);
    }
    struct key_run_walk walk = {.key_run = &key_run};
    for (struct bytes one; key_run_walk_next(&walk, &one) ||
                           (key_run_walk_block(&walk) && key_run_walk_next(&walk, &one));
         count++) {
        uint32_t number;
        memcpy(&number, one.data + one.size - sizeof number, sizeof number);
        assert_int_equal(walk.marked, number % 3 == 0);
        walked += sum_of(one);
    }
    assert_int_equal(count, COUNT);
    assert_true(walked == given);
    key_run_sort(&key_run);
    assert_int_equal(key_run.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        sorted += sum_of(key_run_get(&key_run, i));
        if (i > 0)
            assert_true(bytes_compare(key_run_get(&key_run, i - 1), key_run_get(&key_run, i)) < 0);
    }
    assert_true(sorted == given);
    key_run_release(&key_run);
}

static void test_empty(void **state) {
    (void)state;
    struct key_run key_run = {0};
    struct key_run_walk walk = {.key_run = &key_run};
    struct bytes key;
    assert_false(key_run_walk_block(&walk));
    key_run_sort(&key_run);
    key_run_add(&key_run, (struct bytes){0}, false);
    walk = (struct key_run_walk){.key_run = &key_run};
    assert_true(key_run_walk_block(&walk));
    assert_true(key_run_walk_next(&walk, &key));
    assert_int_equal(key.size, 0);
    assert_false(key_run_walk_next(&walk, &key));
    key_run_release(&key_run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk_and_order),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
