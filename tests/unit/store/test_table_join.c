/* Small tables beside each other become one, while the store goes on and is closed at any moment.
 */
#include "store/store.h"

#include "base/clock.h"
#include "base/random.h"
#include "store_test.h"

enum {
    TABLES = 300,     /* handovers, */
    EACH = 40,        /* of so many keys */
    FEW = TABLES / 3, /* tables that are left of them at most */
    WAIT_US = 20 * 1000 * 1000,
};

static struct bytes key_of(char *room, size_t size, unsigned number) {
    snprintf(room, size, "record %06u", number);
    return bytes_str(room);
}

/* Keys as those of a stream: each greater than all before. With buffers of a byte each such write
 * hands over what the one before has written. */
static void put_next(struct store_test *t, struct store *store, unsigned table) {
    struct store_batch *batch = store_batch_new(store);
    for (unsigned i = table * EACH; i < (table + 1) * EACH; i++) {
        char key[24];
        store_put(batch, STORE_STREAM, key_of(key, sizeof(key), i), bytes_of(&i, sizeof(i)));
    }
    assert_int_equal(store_write(store, batch, (struct scope){&t->arena, &t->failure}), OK);
    store_batch_free(batch);
}

static void check_all(struct store *store, unsigned count) {
    struct store_iter *iter = store_iter_open(store, &(struct store_range){.family = STORE_STREAM});
    unsigned at = 0;
    for (bool more = store_iter_first(iter); more; more = store_iter_next(iter), at++) {
        char key[24];
        assert_bytes_equal(store_iter_key(iter), key_of(key, sizeof(key), at));
        assert_bytes_equal(store_iter_value(iter), bytes_of(&at, sizeof(at)));
    }
    assert_int_equal(store_iter_status(iter), OK);
    assert_int_equal(at, count);
    store_iter_close(iter);
}

static const struct store_settings tiny_buffers = {.buffer_size = 1, .table_from = 1};

static void test_join(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, &tiny_buffers);
    for (unsigned i = 0; i < TABLES; i++)
        put_next(t, store, i);
    int64_t until_us = clock_ticks_us() + WAIT_US;
    while (store_usage(store).files > FEW && clock_ticks_us() < until_us)
        usleep(10000);
    assert_true(store_usage(store).files <= FEW);
    check_all(store, TABLES * EACH);
    store_close(store);
    store = open_store(t, NULL);
    check_all(store, TABLES * EACH);
    store_close(store);
}

/* Tables of an earlier run are joined as well; and a close does not wait for what is under way, nor
 * loses any of it. */
static void test_closed_meanwhile(void **state) {
    struct store_test *t = *state;
    struct random random;
    random_seed(&random, test_seed());
    unsigned made = 0;
    while (made < TABLES) {
        struct store *store = open_store(t, &tiny_buffers);
        for (unsigned some = 1 + (unsigned)random_below(&random, 40); some > 0; some--)
            put_next(t, store, made++);
        store_close(store);
    }
    struct store *store = open_store(t, &tiny_buffers);
    for (unsigned i = 0; i < 3; i++)
        put_next(t, store, made++);
    int64_t until_us = clock_ticks_us() + WAIT_US;
    while (store_usage(store).files > FEW && clock_ticks_us() < until_us)
        usleep(10000);
    assert_true(store_usage(store).files <= FEW);
    check_all(store, made * EACH);
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_join, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_closed_meanwhile, setup_store, teardown_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
