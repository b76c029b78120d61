/* Values that stay in the log: read back from the buffer, from the log through a reference, and
 * from nowhere when the log has let go of them. */
#include "base/random.h"
#include "store/log_value.h"
#include "store/store_test.h"

#include <fcntl.h>

enum { VALUE_MAX = 40000, KEYS = 40 };

/* What is expected under each key: made from a number; 0: nothing. */
struct logged_model {
    struct store_test *t;
    struct store *store;
    uint32_t numbers[KEYS];
};

static struct bytes make_key(char *room, unsigned key) {
    snprintf(room, 16, "key %03u", key);
    return bytes_str(room);
}

static struct bytes make_value(uint32_t number) {
    static uint8_t value[VALUE_MAX];
    struct random random;
    random_seed(&random, number);
    size_t size = random_below(&random, number % 4 == 0 ? VALUE_MAX : 60);
    for (size_t i = 0; i < size; i++)
        value[i] = (uint8_t)(i == 0 ? 1 : random_next(&random));
    return bytes_of(value, size);
}

static void put_logged(struct logged_model *m, unsigned key, uint32_t number) {
    char room[16];
    struct store_batch *batch = store_batch_new(m->store);
    store_put(batch, STORE_ITEMS, BYTES("before"), BYTES("it"));
    if (number != 0)
        store_put_logged(batch, STORE_STREAM, make_key(room, key), make_value(number));
    else
        store_del(batch, STORE_STREAM, make_key(room, key));
    assert_int_equal(store_write(m->store, batch, (struct scope){&m->t->arena, &m->t->failure}),
                     OK);
    store_batch_free(batch);
    m->numbers[key] = number;
}

/* All are there, one by one and in a walk. */
static void check_all(struct logged_model *m) {
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(m->store, &range);
    bool on = store_iter_first(iter);
    char room[16];
    for (unsigned key = 0; key < KEYS; key++) {
        struct store_key wanted = {STORE_STREAM, make_key(room, key), NULL};
        struct bytes got;
        enum status status = store_get(m->store, &wanted, &m->t->arena, &got);
        assert_int_equal(status, m->numbers[key] != 0 ? OK : NOT_FOUND);
        if (m->numbers[key] == 0)
            continue;
        assert_bytes_equal(got, make_value(m->numbers[key]));
        assert_true(on);
        assert_bytes_equal(store_iter_key(iter), make_key(room, key));
        assert_int_equal(store_iter_load(iter, &got), OK);
        assert_bytes_equal(got, make_value(m->numbers[key]));
        on = store_iter_next(iter);
    }
    assert_false(on);
    store_iter_close(iter);
    arena_reset(&m->t->arena);
}

static void reopen(struct logged_model *m) {
    store_close(m->store);
    m->store = open_store(m->t, NULL);
}

/* How many values the buffer or the tables have only a reference to. */
static unsigned count_references(struct logged_model *m) {
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(m->store, &range);
    unsigned count = 0;
    struct log_value value;
    struct store_logged logged;
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter)) {
        bool is_one = log_value_take(store_iter_value(iter), &value);
        assert_true(store_iter_logged(iter, &logged) && logged.segment != 0);
        assert_true(!is_one || logged.segment == value.place.segment);
        count += is_one;
    }
    store_iter_close(iter);
    return count;
}

static void test_model(void **state) {
    struct logged_model m = {.t = *state};
    struct random random;
    random_seed(&random, test_seed());
    m.store = open_store(m.t, NULL);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 60; i++)
            put_logged(&m, (unsigned)random_below(&random, KEYS),
                       random_below(&random, 8) == 0 ? 0 : (uint32_t)random_next(&random));
        check_all(&m);
        reopen(&m);
        check_all(&m);
        if (round % 2 == 0)
            assert_int_equal(store_reopen(m.store, (struct scope){&m.t->arena, &m.t->failure}), OK);
        check_all(&m);
    }
    assert_true(count_references(&m) > 0);
    store_close(m.store);
}

/* The write buffer has references as well: values of streams, which are the larger half of what a
 * score writes, would have it handed over twice as often. */
static void test_buffer(void **state) {
    struct logged_model m = {.t = *state};
    m.store = open_store(m.t, NULL);
    for (unsigned key = 0; key < KEYS; key++)
        put_logged(&m, key, 4 * key + 4);
    assert_int_equal(count_references(&m), KEYS);
    check_all(&m);
    assert_int_equal(store_reopen(m.store, (struct scope){&m.t->arena, &m.t->failure}), OK);
    assert_int_equal(count_references(&m), KEYS);
    check_all(&m);
    store_close(m.store);
}

static void test_memory(void **state) {
    struct logged_model m = {.t = *state};
    struct store_logged logged;
    m.store = open_store(m.t, &(struct store_settings){.memory = true});
    put_logged(&m, 3, 4);
    check_all(&m);
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(m.store, &range);
    assert_true(store_iter_first(iter));
    assert_false(store_iter_logged(iter, &logged));
    store_iter_close(iter);
    assert_int_equal(store_log_position(m.store), 0);
    store_keep_log(m.store, 7);
    store_close(m.store);
}

static enum status load_key(struct logged_model *m, unsigned key) {
    char room[16];
    struct bytes got;
    return store_get(m->store, &(struct store_key){STORE_STREAM, make_key(room, key), NULL},
                     &m->t->arena, &got);
}

/* Fills segments until the one that is written to is another. */
static void fill_segment(struct logged_model *m, unsigned key) {
    uint64_t before = store_log_position(m->store);
    for (uint32_t i = 1; store_log_position(m->store) == before; i++)
        put_logged(m, key, 4 * i);
}

/* The log is kept as long as it is wanted, and no longer. */
static void test_retention(void **state) {
    struct logged_model m = {.t = *state};
    m.store = open_store(m.t, NULL);
    put_logged(&m, 0, 4);
    fill_segment(&m, 1);
    reopen(&m);
    fill_segment(&m, 2);
    reopen(&m);
    check_all(&m); /* nobody has said what is wanted */
    store_keep_log(m.store, 1);
    put_logged(&m, 3, 4);
    check_all(&m);
    uint64_t kept = store_log_position(m.store);
    store_keep_log(m.store, kept);
    while (load_key(&m, 0) == OK)
        usleep(100); /* the log's helper is at it */
    assert_int_equal(load_key(&m, 0), NOT_FOUND);
    assert_int_equal(load_key(&m, 3), OK);
    reopen(&m);
    assert_int_equal(load_key(&m, 0), NOT_FOUND);
    assert_int_equal(load_key(&m, 3), OK);
    store_close(m.store);
}

/* A checkpoint has no log; when it gets one, no segment of it is taken for one of the other's. */
static void test_checkpoint(void **state) {
    struct logged_model m = {.t = *state};
    char copy[160];
    snprintf(copy, sizeof(copy), "%s/copy", m.t->root);
    m.store = open_store(m.t, NULL);
    put_logged(&m, 0, 4);
    assert_int_equal(store_checkpoint(m.store, copy, (struct scope){&m.t->arena, &m.t->failure}),
                     OK);
    store_close(m.store);
    m.store = open_store(m.t, &(struct store_settings){.path = copy});
    assert_int_equal(load_key(&m, 0), NOT_FOUND);
    put_logged(&m, 1, 4);
    assert_int_equal(load_key(&m, 0), NOT_FOUND);
    assert_int_equal(load_key(&m, 1), OK);
    store_close(m.store);
}

/* --- damage --- */

static void count_fault(void *user, struct bytes sentence) {
    assert_true(bytes_find(sentence, BYTES("log/00000000000")) != SIZE_MAX);
    ++*(unsigned *)user;
}

static unsigned verify_store(struct logged_model *m) {
    unsigned faults = 0;
    struct store_verify verify = {.fault = count_fault, .user = &faults};
    m->store = open_store(m->t, &(struct store_settings){.read_only = true});
    store_verify(m->store, &verify, (struct scope){&m->t->arena, &m->t->failure});
    assert_true(verify.log_groups > 0);
    store_close(m->store);
    return faults;
}

/* Where the value of a key stands. */
static struct log_place find_place(struct logged_model *m) {
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(m->store, &range);
    struct log_value value;
    assert_true(store_iter_first(iter) && log_value_take(store_iter_value(iter), &value));
    store_iter_close(iter);
    return value.place;
}

static void test_damage(void **state) {
    struct logged_model m = {.t = *state};
    char path[192];
    m.store = open_store(m.t, NULL);
    put_logged(&m, 0, 4);
    put_logged(&m, 1, 4);
    reopen(&m);
    struct log_place place = find_place(&m);
    store_close(m.store);
    assert_int_equal(verify_store(&m), 0);
    snprintf(path, sizeof(path), "%s/log/%012llu", m.t->path, (unsigned long long)place.segment);
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "\xff\xff", 2, (off_t)place.offset + 5), 2);
    close(file);
    assert_int_equal(verify_store(&m), 1);
    m.store = open_store(m.t, NULL);
    assert_int_equal(load_key(&m, 0), DAMAGED);
    assert_int_equal(load_key(&m, 1), OK);
    store_close(m.store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_store, teardown_store)
        TEST(test_model),     TEST(test_buffer),     TEST(test_memory),
        TEST(test_retention), TEST(test_checkpoint), TEST(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
