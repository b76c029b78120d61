/* A checkpoint is a data folder of its own, as of one moment. */
#include "store_test.h"

static void test_moment(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, NULL), *copy;
    char path[160];
    snprintf(path, sizeof(path), "%s/copy", t->root);
    put_one(t, store, "a", "1");
    put_one(t, store, "b", "2");
    assert_int_equal(store_checkpoint(store, path, (struct scope){&t->arena, &t->failure}), OK);
    put_one(t, store, "a", "changed");
    put_one(t, store, "c", "3");
    /* A second one to the same place is refused and harms nothing. */
    assert_int_equal(store_checkpoint(store, path, (struct scope){&t->arena, &t->failure}),
                     IO_FAILED);
    struct store_settings settings = {.path = path, .must_exist = true, .read_only = true};
    copy = open_store(t, &settings);
    assert_value(t, copy, STORE_ITEMS, "a", "1");
    assert_value(t, copy, STORE_ITEMS, "b", "2");
    assert_value(t, copy, STORE_ITEMS, "c", NULL);
    store_close(copy);
    assert_value(t, store, STORE_ITEMS, "a", "changed");
    store_close(store);
    /* It lives without the first one, and may be written. */
    run("rm -rf %s", t->path);
    settings.read_only = false;
    copy = open_store(t, &settings);
    assert_value(t, copy, STORE_ITEMS, "b", "2");
    put_one(t, copy, "b", "own");
    store_close(copy);
}

static void test_refusals(void **state) {
    struct store_test *t = *state;
    char path[160];
    struct store_settings memory = {.memory = true};
    struct store *store = open_store(t, &memory);
    snprintf(path, sizeof(path), "%s/none/copy", t->root);
    assert_null(store_path(store));
    assert_int_equal(store_checkpoint(store, path, (struct scope){&t->arena, &t->failure}),
                     UNSUPPORTED);
    store_close(store);
    store = open_store(t, NULL);
    assert_string_equal(store_path(store), t->path);
    assert_int_equal(store_checkpoint(store, path, (struct scope){&t->arena, &t->failure}),
                     IO_FAILED);
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_moment, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_refusals, setup_store, teardown_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
