/* Buffers that become tables of the database: by a file of their own, and through its memory. */
#include "store/store_int.h"

#include "base/random.h"
#include "store_test.h"

enum { KEYS = 300, ROUNDS = 40 };

/* What the store should hold: by key the number of the round that wrote it, 0 if none did. */
struct table_model {
    struct random random;
    unsigned written[KEYS];
};

static struct bytes model_key(char *room, size_t size, unsigned number) {
    snprintf(room, size, "key %04u", number);
    return bytes_str(room);
}

static void put_round(struct table_model *model, struct store_batch *batch, unsigned round) {
    unsigned most = random_below(&model->random, 3) == 0 ? 10 : KEYS; /* few, or many */
    for (unsigned i = 0; i < most; i++) {
        unsigned number = (unsigned)random_below(&model->random, KEYS);
        bool stays = random_below(&model->random, 4) != 0;
        char key[16];
        model_key(key, sizeof(key), number);
        if (stays)
            store_put(batch, STORE_ITEMS, bytes_str(key), bytes_of(&round, sizeof(round)));
        else
            store_del(batch, STORE_ITEMS, bytes_str(key));
        model->written[number] = stays ? round : 0;
    }
}

static void delete_range(struct table_model *model, struct store_batch *batch) {
    unsigned low = (unsigned)random_below(&model->random, KEYS);
    unsigned high = low + (unsigned)random_below(&model->random, KEYS - low);
    char from[16], to[16];
    store_del_range(batch, STORE_ITEMS, model_key(from, sizeof(from), low),
                    model_key(to, sizeof(to), high));
    for (unsigned i = low; i < high; i++)
        model->written[i] = 0;
}

static void check_all(struct store_test *t, struct store *store, const struct table_model *model) {
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        struct bytes got;
        struct store_key asked = {STORE_ITEMS, model_key(key, sizeof(key), i)};
        enum status status = store_get(store, &asked, &t->arena, &got);
        assert_int_equal(status, model->written[i] != 0 ? OK : NOT_FOUND);
        if (status == OK)
            assert_bytes_equal(got, bytes_of(&model->written[i], sizeof(model->written[i])));
    }
    arena_reset(&t->arena);
}

static unsigned count_entries(struct store *store) {
    struct store_iter *iter = store_iter_open(store, &(struct store_range){.family = STORE_ITEMS});
    unsigned count = 0;
    for (bool more = store_iter_first(iter); more; more = store_iter_next(iter))
        count++;
    store_iter_close(iter);
    return count;
}

static unsigned model_count(const struct table_model *model) {
    unsigned count = 0;
    for (unsigned i = 0; i < KEYS; i++)
        count += model->written[i] != 0;
    return count;
}

/* Each round becomes tables: the store is closed after it, or the buffer is full at once. */
static void test_rounds(void **state) {
    struct store_test *t = *state;
    struct table_model model = {0};
    random_seed(&model.random, test_seed());
    struct store *store = open_store(t, NULL);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        struct store_batch *batch = store_batch_new(store);
        if (random_below(&model.random, 4) == 0)
            delete_range(&model, batch);
        put_round(&model, batch, round);
        assert_int_equal(store_write(store, batch, (struct scope){&t->arena, &t->failure}), OK);
        store_batch_free(batch);
        check_all(t, store, &model);
        store_close(store);
        struct store_settings settings = {.buffer_size = random_below(&model.random, 2),
                                          .table_from = 32};
        store = open_store(t, &settings);
        check_all(t, store, &model);
        assert_int_equal(count_entries(store), model_count(&model));
    }
    store_close(store);
}

static void put_many(struct store_test *t, struct store *store, enum store_family family,
                     const char *value) {
    struct store_batch *batch = store_batch_new(store);
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        store_put(batch, family, model_key(key, sizeof(key), i), bytes_str(value));
    }
    assert_int_equal(store_write(store, batch, (struct scope){&t->arena, &t->failure}), OK);
    store_batch_free(batch);
}

/* A process that ends when the database has taken a table leaves a second name of it. The next
 * table must not be written into the one that is in use. */
static void test_left_name(void **state) {
    struct store_test *t = *state;
    struct store_settings settings = {.table_from = 32};
    struct store *store = open_store(t, &settings);
    put_many(t, store, STORE_ITEMS, "first");
    store_close(store);
    run("cd %s/db && ln $(ls -S *.sst | head -n 1) handover.sst", t->path);
    store = open_store(t, &settings);
    run("! test -e %s/db/handover.sst", t->path);
    run("cd %s/db && ln $(ls -S *.sst | head -n 1) handover.sst",
        t->path); /* or while it is open */
    put_one(t, store, "key 9999", "second");
    put_many(t, store, STORE_META, "meta");
    store_close(store);
    run("! test -e %s/db/handover.sst", t->path);
    store = open_store(t, NULL);
    assert_value(t, store, STORE_ITEMS, "key 0000", "first");
    assert_value(t, store, STORE_ITEMS, "key 0299", "first");
    assert_value(t, store, STORE_ITEMS, "key 9999", "second");
    assert_value(t, store, STORE_META, "key 0000", "meta");
    store_close(store);
}

/* --- runs of keys that begin alike --- */

enum { RUN = 5000, RUNS = 5, LAST_LEVEL = 6 };

static void run_key(char room[24], unsigned number) {
    snprintf(room, 24, "board:00%08u", number);
}

/* A buffer of what follows on all before in one partition, and of one key on each side of it. */
static void put_run(struct store_test *t, struct store *store, unsigned round) {
    struct store_batch *batch = store_batch_new(store);
    char key[24];
    for (unsigned i = round * RUN; i < (round + 1) * RUN; i++) {
        run_key(key, i);
        store_put(batch, STORE_ITEMS, bytes_str(key), bytes_str("score"));
    }
    snprintf(key, sizeof(key), "audit:00%u", round);
    store_put(batch, STORE_ITEMS, bytes_str(key), bytes_str("before"));
    snprintf(key, sizeof(key), "zebra:00%u", round);
    store_put(batch, STORE_ITEMS, bytes_str(key), bytes_str("behind"));
    assert_int_equal(store_write(store, batch, (struct scope){&t->arena, &t->failure}), OK);
    store_batch_free(batch);
}

/* Tables of the runs, each of which has to be on the last level as it was made. */
static int count_runs(struct store *store) {
    const rocksdb_livefiles_t *files = rocksdb_livefiles(store->db);
    int runs = 0;
    for (int i = 0; i < rocksdb_livefiles_count(files); i++)
        if (rocksdb_livefiles_entries(files, i) >= RUN) {
            assert_int_equal(rocksdb_livefiles_entries(files, i), RUN);
            assert_int_equal(rocksdb_livefiles_level(files, i), LAST_LEVEL);
            runs++;
        }
    rocksdb_livefiles_destroy(files);
    return runs;
}

/* Keys far away from those of a load do not stretch its tables over each other, so that nothing
 * merges them. */
static void test_runs(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, NULL);
    char key[24];
    for (unsigned round = 0; round < RUNS; round++) {
        put_run(t, store, round);
        assert_int_equal(handover_wait(store), OK);
    }
    assert_int_equal(count_runs(store), RUNS);
    assert_int_equal(count_entries(store), RUNS * (RUN + 2));
    store_close(store);
    store = open_store(t, NULL);
    assert_int_equal(count_entries(store), RUNS * (RUN + 2));
    for (unsigned i = 0; i < RUNS * RUN; i += RUN - 1) {
        run_key(key, i);
        assert_value(t, store, STORE_ITEMS, key, "score");
    }
    assert_value(t, store, STORE_ITEMS, "audit:003", "before");
    assert_value(t, store, STORE_ITEMS, "zebra:003", "behind");
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rounds, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_left_name, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_runs, setup_store, teardown_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
