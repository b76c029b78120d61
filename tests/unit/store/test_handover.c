/* What writers do while more is written than the tables can take: those who write much wait. */
#include "store/store_int.h"

#include "base/clock.h"
#include "store_test.h"

enum { SIZE = 1 << 20 }; /* of a write buffer */

static void write_bytes(struct store_test *t, struct store *store, size_t size) {
    struct store_batch *batch = store_batch_new(store);
    void *memory = memset(arena_alloc(&t->arena, size), 'x', size);
    store_put(batch, STORE_ITEMS, BYTES("key"), bytes_of(memory, size));
    assert_int_equal(store_write(store, batch, (struct scope){&t->arena, &t->failure}), OK);
    store_batch_free(batch);
}

/* A store whose newest buffer is nearly as full as it may be, and whose handover does not get on
 * until table_lock is let go of. */
static struct store *open_behind(struct store_test *t) {
    struct store *store =
        open_store(t, &(struct store_settings){.memory = true, .buffer_size = SIZE});
    pthread_mutex_lock(&store->table_lock);
    write_bytes(t, store, SIZE);
    assert_false(store_is_behind(store)); /* the next write freezes it */
    write_bytes(t, store, SIZE);
    assert_true(store_is_behind(store));
    write_bytes(t, store, 7 * SIZE / 4);
    return store;
}

static void test_behind(void **state) {
    struct store_test *t = *state;
    struct store *store = open_behind(t);
    assert_true(store_is_behind(store));
    pthread_mutex_unlock(&store->table_lock);
    assert_int_equal(handover_wait(store), OK);
    assert_false(store_is_behind(store));
    store_close(store);
}

/* Small writes go on: each of them waiting as long as a large one does would take seconds. */
static void test_small_writes(void **state) {
    enum { WRITES = 500 };
    struct store_test *t = *state;
    struct store *store = open_behind(t);
    int64_t begin_us = clock_ticks_us();
    for (int i = 0; i < WRITES; i++)
        write_bytes(t, store, 10);
    assert_true(clock_ticks_us() - begin_us < 1000 * 1000);
    assert_true(store_is_behind(store));
    pthread_mutex_unlock(&store->table_lock);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_store, teardown_store)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_behind),
        TEST(test_small_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
