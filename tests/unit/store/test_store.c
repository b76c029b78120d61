/* The store against a sorted array, over reopenings, kills, faults, full disks and damage. */
#include "store/store.h"

#include "base/arena.h"
#include "base/random.h"
#include "test.h"

#include "store/store_test.h"

static void put_text(struct store_batch *batch, const char *key, const char *value) {
    store_put(batch, STORE_ITEMS, bytes_str(key), bytes_str(value));
}

/* What is kept is there after closing and opening, in memory mode after reopening. */
static void test_keeps(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, NULL);
    struct store_batch *batch = store_batch_new(store);
    put_text(batch, "a", "1");
    put_text(batch, "b", "");
    store_put(batch, STORE_META, BYTES("a"), BYTES("meta"));
    assert_int_equal(store_batch_count(batch), 3);
    assert_true(store_batch_size(batch) > 8);
    assert_int_equal(store_write(store, batch, &t->arena, &t->failure), OK);
    store_batch_clear(batch);
    assert_int_equal(store_batch_count(batch), 0);
    store_batch_free(batch);
    for (int again = 0; again < 3; again++) {
        assert_value(t, store, STORE_ITEMS, "a", "1");
        assert_value(t, store, STORE_ITEMS, "b", "");
        assert_value(t, store, STORE_META, "a", "meta");
        assert_value(t, store, STORE_META, "b", NULL);
        if (again == 0) {
            store_close(store);
            store = open_store(t, NULL);
        } else
            assert_int_equal(store_reopen(store, &t->arena, &t->failure), OK);
    }
    assert_true(store_usage(store).disk > 0);
    assert_true(store_usage(store).memory > 0);
    store_close(store);
}

static void test_memory(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, &(struct store_settings){.memory = true});
    put_one(t, store, "a", "1");
    assert_value(t, store, STORE_ITEMS, "a", "1");
    assert_int_equal(store_reopen(store, &t->arena, &t->failure), OK);
    assert_value(t, store, STORE_ITEMS, "a", "1");
    assert_int_equal(store_usage(store).disk, 0);
    store_close(store);
    store = open_store(t, &(struct store_settings){.memory = true});
    assert_value(t, store, STORE_ITEMS, "a", NULL);
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keeps, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_memory, setup_store, teardown_store),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
