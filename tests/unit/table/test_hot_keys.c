/* The sketch held against counts of all keys, on skewed and on even traffic. */
#include "test.h"

#include "base/random.h"
#include "table/hot_keys.h"

enum { KEYS = 2000, NOTES = 60000 };

static uint64_t counts[KEYS];

static void note(struct hot_keys *hot, size_t key, int64_t at_s) {
    char text[16];
    snprintf(text, sizeof text, "k%zu", key);
    hot_keys_note(hot, &(struct hot_note){BYTES("t"), HOT_WRITES, bytes_str(text), 1, at_s});
    counts[key]++;
}

static size_t number_of(const struct hot_key *key) {
    char text[HOT_KEY_SIZE + 1] = {0};
    memcpy(text, key->text, key->size);
    return strtoull(text + 1, NULL, 10);
}

/* Every count is too large by at most its error, and who has more than a 64th is there. */
static void check(struct hot_keys *hot) {
    struct arena arena;
    struct hot_table table;
    bool listed[KEYS] = {0};
    arena_init(&arena);
    assert_true(hot_keys_table(hot, BYTES("t"), &arena, &table));
    assert_int_equal(table.totals[HOT_WRITES], NOTES);
    assert_int_equal(table.totals[HOT_READS], 0);
    const struct hot_list *list = &table.lists[HOT_WRITES];
    for (size_t i = 0; i < list->count; i++) {
        const struct hot_key *key = &list->keys[i];
        size_t number = number_of(key);
        assert_true(i == 0 || list->keys[i - 1].count >= key->count);
        assert_true(key->count >= counts[number] && key->count - key->error <= counts[number]);
        assert_false(listed[number]);
        listed[number] = true;
    }
    for (size_t i = 0; i < KEYS; i++)
        assert_true(listed[i] || counts[i] <= NOTES / HOT_COUNTERS);
    arena_release(&arena);
}

static void run_traffic(bool skewed) {
    struct hot_keys *hot = hot_keys_new();
    struct random random;
    memset(counts, 0, sizeof counts);
    random_seed(&random, test_seed());
    for (size_t i = 0; i < NOTES; i++) {
        uint64_t key = random_below(&random, KEYS);
        if (skewed)
            key = random_below(&random, 1 + random_below(&random, 1 + key));
        note(hot, key, (int64_t)(i / 1000));
    }
    check(hot);
    hot_keys_free(hot);
}

static void test_skewed(void **state) {
    (void)state;
    run_traffic(true);
}

static void test_even(void **state) {
    (void)state;
    run_traffic(false);
}

static void test_many_are_sampled(void **state) {
    struct hot_keys *hot = hot_keys_new();
    (void)state;
    assert_int_equal(hot_keys_every(hot), 1);
    for (size_t i = 0; i < 10 * HOT_SAMPLES; i++)
        note(hot, 1, 5);
    assert_true(hot_keys_every(hot) > 1);
    for (int64_t second = 6; second < 30; second++) /* and quiet ones are not, after a while */
        note(hot, 1, second);
    assert_int_equal(hot_keys_every(hot), 1);
    hot_keys_free(hot);
}

static void test_tables_have_a_bound(void **state) {
    struct hot_keys *hot = hot_keys_new();
    struct arena arena;
    struct bytes *names;
    (void)state;
    for (size_t i = 0; i < 2 * LIMIT_HOT_TABLES; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%zu", i);
        hot_keys_note(hot, &(struct hot_note){bytes_str(name), HOT_READS, BYTES("k"), 1, 1});
    }
    arena_init(&arena);
    assert_int_equal(hot_keys_names(hot, &arena, &names), LIMIT_HOT_TABLES);
    arena_release(&arena);
    hot_keys_free(hot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skewed),
        cmocka_unit_test(test_even),
        cmocka_unit_test(test_many_are_sampled),
        cmocka_unit_test(test_tables_have_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
