/* A list of tables that has one which is not there: forgotten if its handover failed, told if not.
 */
#include "store/store.h"

#include "base/clock.h"
#include "store_test.h"

enum { KEYS = 500, WAIT_US = 20 * 1000 * 1000 };

static struct bytes key_of(char *room, size_t size, unsigned number) {
    snprintf(room, size, "key %04u", number);
    return bytes_str(room);
}

static enum status put_all(struct store_test *t, struct store *store, const char *value) {
    struct store_batch *batch = store_batch_new(store);
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        store_put(batch, STORE_ITEMS, key_of(key, sizeof(key), i), bytes_str(value));
    }
    enum status status = store_write(store, batch, (struct scope){&t->arena, &t->failure});
    store_batch_free(batch);
    return status;
}

static void check_all(struct store_test *t, struct store *store, const char *value) {
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        key_of(key, sizeof(key), i);
        assert_value(t, store, STORE_ITEMS, key, value);
    }
    arena_reset(&t->arena);
}

static void remove_newest_table(struct store_test *t) {
    run("cd %s/db && rm $(ls *.sst | tail -n 1)", t->path);
}

/* Has the handover of "second" fail when the list has the new table, and removes that, as the
 * database does when the list's sync fails. It overlaps no other, so that no merge takes it. */
static struct store *fail_handover(struct store_test *t, struct store_faults *faults) {
    struct store_settings settings = {.buffer_size = 1, .table_from = 1, .faults = faults};
    struct store *store = open_store(t, &settings);
    put_one(t, store, "another", "1");
    store_close(store);
    store = open_store(t, &settings);
    assert_int_equal(put_all(t, store, "second"), OK);
    faults->ingest_in = 1;
    try_put(t, store, "another", "2"); /* "second" is full, and frozen now; it may have failed */
    int64_t until_us = clock_ticks_us() + WAIT_US;
    while (!store_is_broken(store) && clock_ticks_us() < until_us)
        usleep(1000);
    assert_true(store_is_broken(store));
    check_all(t, store, "second"); /* reading goes on */
    remove_newest_table(t);
    return store;
}

static void test_reopened(void **state) {
    struct store_test *t = *state;
    struct store_faults faults = {0};
    struct store *store = fail_handover(t, &faults);
    assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
    check_all(t, store, "second");
    assert_int_equal(put_all(t, store, "third"), OK);
    store_close(store);
    store = open_store(t, NULL);
    check_all(t, store, "third");
    store_close(store);
}

static void test_opened_later(void **state) {
    struct store_test *t = *state;
    struct store_faults faults = {0};
    store_close(fail_handover(t, &faults));
    for (int i = 0; i < 2; i++) {
        struct store *store = open_store(t, NULL);
        check_all(t, store, "second");
        store_close(store);
    }
}

/* A table of a handover that has ended, of the list's beginning or behind it. */
static void lose_table(struct store_test *t, bool old) {
    struct store_settings settings = {.path = t->path, .table_from = 1};
    struct store *store = open_store(t, &settings);
    assert_int_equal(put_all(t, store, "first"), OK);
    store_close(store);
    if (old) /* the list that this opening makes begins with it */
        store_close(open_store(t, &settings));
    run("cd %s/db && rm $(ls -S *.sst | head -n 1)", t->path);
    for (int i = 0; i < 2; i++)
        assert_int_equal(store_open(&settings, (struct scope){&t->arena, &t->failure}, &store),
                         DAMAGED);
}

static void test_lost(void **state) {
    lose_table(*state, false);
}

static void test_lost_before(void **state) {
    lose_table(*state, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reopened, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_opened_later, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_lost, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_lost_before, setup_store, teardown_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
