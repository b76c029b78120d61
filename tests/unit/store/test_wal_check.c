/* A list of tables whose end a power cut has torn: it is opened, and all is there. */
#include "store/store_test.h"

/* Appends a record whose data, but for its first bytes, never came to the disk; then so many whole
 * ones. */
static void tear(struct store_test *t, int records_behind) {
    run("cd %s/db && m=MANIFEST-$(sed 's/MANIFEST-//' CURRENT) && head -c 35 $m >whole && "
        "printf '\\1\\2\\3\\4\\320\\7\\1data' >>$m && head -c 2000 /dev/zero >>$m && "
        "for i in $(seq %d); do cat whole >>$m; done; rm whole",
        t->path, records_behind);
}

static void make_folder(struct store_test *t) {
    struct store *store = open_store(t, NULL);
    put_one(t, store, "a", "1");
    store_close(store);
}

static void open_torn(struct store_test *t, int records_behind) {
    make_folder(t);
    tear(t, records_behind);
    for (int i = 0; i < 2; i++) {
        struct store *store = open_store(t, NULL);
        assert_value(t, store, STORE_ITEMS, "a", "1");
        store_close(store);
    }
}

static void test_torn(void **state) {
    open_torn(*state, 0);
}

/* A failed sync left out a sector of the first of the records that it should have written, and
 * brought the others to the disk. */
static void test_torn_group(void **state) {
    open_torn(*state, 2);
}

/* More whole records behind it were written later: what looks torn was on the disk, and is damaged.
 */
static void test_damaged(void **state) {
    struct store_test *t = *state;
    struct store *store;
    make_folder(t);
    tear(t, 3);
    struct store_settings settings = {.path = t->path};
    assert_int_not_equal(store_open(&settings, (struct scope){&t->arena, &t->failure}, &store), OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_torn, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_torn_group, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_damaged, setup_store, teardown_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
