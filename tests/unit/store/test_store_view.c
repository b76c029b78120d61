/* Views that pin no state of the tables while these are written. */
#include "store/store_int.h"

#include "store_test.h"

enum { KEYS = 300 };

static void put_keys(struct store_test *t, struct store *store, char first, const char *value) {
    struct store_batch *batch = store_batch_new(store);
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%c %04d", first, i);
        store_put(batch, STORE_ITEMS, bytes_str(key), bytes_str(value));
    }
    assert_int_equal(store_write(store, batch, (struct scope){&t->arena, &t->failure}), OK);
    store_batch_free(batch);
    assert_int_equal(handover_wait(store), OK);
}

/* The handover's thread may be about to free views of before. */
static void await_snapshots(struct store *store, uint64_t expected) {
    uint64_t count = UINT64_MAX;
    for (int i = 0; i < 10000 && count != expected; i++) {
        assert_int_equal(rocksdb_property_int(store->db, "rocksdb.num-snapshots", &count), 0);
        usleep(1000);
    }
    assert_int_equal(count, expected);
}

static void check_seen(struct store_test *t, struct store *store, struct store_snapshot *snapshot,
                       const char *value) {
    struct bytes got;
    struct store_key asked = {STORE_ITEMS, BYTES("a 0007"), snapshot};
    assert_int_equal(store_get(store, &asked, &t->arena, &got), OK);
    assert_bytes_equal(got, bytes_str(value));
}

static void check_walked(struct store *store, struct store_snapshot *snapshot, const char *value) {
    struct store_range range = {
        .family = STORE_ITEMS, .snapshot = snapshot, .low = BYTES("a"), .high = BYTES("b")};
    struct store_iter *iter = store_iter_open(store, &range);
    int count = 0;
    for (bool more = store_iter_first(iter); more; more = store_iter_next(iter), count++)
        assert_bytes_equal(store_iter_value(iter), bytes_str(value));
    assert_int_equal(count, KEYS);
    store_iter_close(iter);
}

/* The database gives a table a sequence number of its own, and writes all of it again later, if a
 * snapshot is there that must not see it. So only the note of the position has one. */
static void test_taken_as_old(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, &(struct store_settings){.table_from = 1});
    put_keys(t, store, 'a', "first");
    for (char first = 'b'; first < 'f'; first++) {
        uint64_t before = rocksdb_get_latest_sequence_number(store->db);
        put_keys(t, store, first, "first");
        assert_int_equal(rocksdb_get_latest_sequence_number(store->db), before + 1);
    }
    store_close(store);
}

/* Who still reads in an older view does not see it in any case. */
static void test_older_reader(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, &(struct store_settings){.table_from = 1});
    put_keys(t, store, 'a', "first");
    struct store_snapshot *snapshot = store_snapshot_take(store);
    uint64_t before = rocksdb_get_latest_sequence_number(store->db);
    put_keys(t, store, 'b', "first");
    assert_int_equal(rocksdb_get_latest_sequence_number(store->db), before + 2);
    struct bytes got;
    struct store_key asked = {STORE_ITEMS, BYTES("b 0007"), snapshot};
    assert_int_equal(store_get(store, &asked, &t->arena, &got), NOT_FOUND);
    store_snapshot_release(store, snapshot);
    store_close(store);
}

/* A snapshot of a view that is pinned only afterwards does not see what the next handover brings.
 */
static void test_pinned_later(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, &(struct store_settings){.table_from = 1});
    put_keys(t, store, 'a', "first");
    view_unpin(store);
    await_snapshots(store, 0);
    struct store_snapshot *snapshot = store_snapshot_take(store);
    check_seen(t, store, snapshot, "first");
    view_repin(store);
    await_snapshots(store, 1);
    put_keys(t, store, 'a', "second");
    check_seen(t, store, snapshot, "first");
    check_walked(store, snapshot, "first");
    check_seen(t, store, NULL, "second");
    store_snapshot_release(store, snapshot);
    store_close(store);
}

/* An iterator pins the view that it is opened on; those that come later get another one. */
static void test_pinned_by_iterator(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, &(struct store_settings){.table_from = 1});
    put_keys(t, store, 'a', "first");
    view_unpin(store);
    struct store_snapshot *snapshot = store_snapshot_take(store);
    check_walked(store, snapshot, "first");
    await_snapshots(store, 1);
    view_unpin(store);
    struct store_snapshot *later = store_snapshot_take(store);
    await_snapshots(store, 1);
    view_repin(store);
    await_snapshots(store, 2);
    put_keys(t, store, 'a', "second");
    check_seen(t, store, snapshot, "first");
    check_walked(store, snapshot, "first");
    check_seen(t, store, later, "first");
    check_walked(store, later, "first");
    check_walked(store, NULL, "second");
    store_snapshot_release(store, snapshot);
    store_snapshot_release(store, later);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_store, teardown_store)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_taken_as_old),
        TEST(test_older_reader),
        TEST(test_pinned_later),
        TEST(test_pinned_by_iterator),
    };
    return cmocka_run_group_tests_name("store_view", tests, NULL, NULL);
}
