/* A list of tables whose last record a power cut has torn: it is opened, and all is there. */
#include "store/store_test.h"

/* Appends a record whose data, but for its first bytes, never came to the disk; then `rest`. */
static void tear(struct store_test *t, bool record_behind) {
    run("cd %s/db && m=MANIFEST-$(sed 's/MANIFEST-//' CURRENT) && "
        "printf '\\1\\2\\3\\4\\320\\7\\1data' >>$m && head -c 2000 /dev/zero >>$m && "
        "%s",
        t->path, record_behind ? "head -c 35 $m | cat - >>$m" : "true");
}

static void make_folder(struct store_test *t) {
    struct store *store = open_store(t, NULL);
    put_one(t, store, "a", "1");
    store_close(store);
}

static void test_torn(void **state) {
    struct store_test *t = *state;
    make_folder(t);
    tear(t, false);
    for (int i = 0; i < 2; i++) {
        struct store *store = open_store(t, NULL);
        assert_value(t, store, STORE_ITEMS, "a", "1");
        store_close(store);
    }
}

/* A whole record behind it was written later: what looks torn was on the disk, and is damaged. */
static void test_damaged(void **state) {
    struct store_test *t = *state;
    struct store *store;
    make_folder(t);
    tear(t, true);
    struct store_settings settings = {.path = t->path};
    assert_int_not_equal(store_open(&settings, (struct scope){&t->arena, &t->failure}, &store), OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_torn, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_damaged, setup_store, teardown_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
