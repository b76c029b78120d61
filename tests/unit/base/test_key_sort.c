#include "base/key_sort.h"

#include "base/mem.h"
#include "base/random.h"
#include "test.h"

static void test_shared(void **state) {
    (void)state;
    assert_int_equal(key_shared(BYTES("abcd"), BYTES("abcd"), 4), 4);
    assert_int_equal(key_shared(BYTES("abcd"), BYTES("abxd"), 4), 2);
    assert_int_equal(key_shared(BYTES("abcd"), BYTES("abxd"), 1), 1);
    assert_int_equal(key_shared(BYTES("abcd"), BYTES("ab"), 4), 2);
    assert_int_equal(key_shared(BYTES("abcd"), BYTES("xbcd"), 4), 0);
    assert_int_equal(key_shared(BYTES("abcd"), (struct bytes){0}, 4), 0);
}

/* Words of which `bits` differ, so that there are few or many of the same. */
static void check_sorted(struct random *random, size_t count, uint64_t bits) {
    struct key_word *words = mem_alloc((2 * count + 1) * sizeof(*words));
    uint64_t *given = mem_alloc((count + 1) * sizeof(*given));
    for (size_t i = 0; i < count; i++) {
        given[i] = random_next(random) & bits;
        words[i] = (struct key_word){given[i], (uint32_t)i};
    }
    const struct key_word *sorted = key_words_sort(words, words + count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(sorted[i].word == given[sorted[i].at]);
        if (i != 0)
            assert_true(sorted[i - 1].word < sorted[i].word ||
                        (sorted[i - 1].word == sorted[i].word && sorted[i - 1].at < sorted[i].at));
    }
    mem_free(given);
    mem_free(words);
}

static void test_sorted(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    const uint64_t bits[] = {0, UINT64_MAX, 0xff, 0xff00, 0x0f00ff0000000001, 7};
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        for (size_t count = 0; count < 3000; count = count * 3 + 1)
            check_sorted(&random, count, bits[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
