/* The store against a sorted array, over reopenings, with snapshots, and read by many threads. */
#include "store/store.h"

#include "base/random.h"
#include "store/store_test.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- the basics --- */

static void test_keeps(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, NULL);
    struct store_batch *batch = store_batch_new(store);
    store_put(batch, STORE_ITEMS, BYTES("a"), BYTES("1"));
    store_put(batch, STORE_ITEMS, BYTES("b"), BYTES(""));
    store_put(batch, STORE_META, BYTES("a"), BYTES("meta"));
    assert_int_equal(store_batch_count(batch), 3);
    assert_true(store_batch_size(batch) > 8);
    assert_int_equal(store_write(store, batch, (struct scope){&t->arena, &t->failure}), OK);
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
            assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
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
    assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
    assert_value(t, store, STORE_ITEMS, "a", "1");
    assert_int_equal(store_usage(store).disk, 0);
    store_close(store);
    store = open_store(t, &(struct store_settings){.memory = true});
    assert_value(t, store, STORE_ITEMS, "a", NULL);
    store_close(store);
}

static void test_interval(void **state) {
    struct store_test *t = *state;
    for (int sync = STORE_SYNC_INTERVAL; sync <= STORE_SYNC_NONE; sync++) {
        struct store_settings settings = {.sync = (enum store_sync)sync, .interval_ms = 2};
        struct store *store = open_store(t, &settings);
        for (int i = 0; i < 200; i++) {
            put_one(t, store, "a", i % 2 != 0 ? "odd" : "even");
            if (i % 50 == 0)
                usleep(5000);
        }
        assert_int_equal(store_sync(store), OK);
        assert_int_equal(store_sync(store), OK);
        assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
        assert_value(t, store, STORE_ITEMS, "a", "odd");
        store_close(store);
    }
}

/* --- the model: a sorted array --- */

enum { MODEL_MAX = 400, SNAPSHOTS = 4 };

struct model {
    unsigned count;
    struct {
        uint8_t key[4];
        uint8_t key_size;
        uint32_t value;
    } entries[MODEL_MAX];
};

static struct bytes model_key(const struct model *model, unsigned at) {
    return bytes_of(model->entries[at].key, model->entries[at].key_size);
}

/* The first entry that is not before the key. */
static unsigned model_find(const struct model *model, struct bytes key) {
    unsigned at = 0;
    while (at < model->count && bytes_compare(model_key(model, at), key) < 0)
        at++;
    return at;
}

static bool model_has(const struct model *model, unsigned at, struct bytes key) {
    return at < model->count && bytes_equal(model_key(model, at), key);
}

static void model_del(struct model *model, unsigned from, unsigned to) {
    memmove(&model->entries[from], &model->entries[to],
            (model->count - to) * sizeof(model->entries[0]));
    model->count -= to - from;
}

static void model_put(struct model *model, struct bytes key, uint32_t value) {
    unsigned at = model_find(model, key);
    if (!model_has(model, at, key)) {
        memmove(&model->entries[at + 1], &model->entries[at],
                (model->count - at) * sizeof(model->entries[0]));
        memcpy(model->entries[at].key, key.data, key.size);
        model->entries[at].key_size = (uint8_t)key.size;
        model->count++;
    }
    model->entries[at].value = value;
}

/* Up to three bytes of few values, so that keys meet, precede and begin one another. */
static struct bytes random_key(struct random *random, uint8_t key[4]) {
    static const uint8_t alphabet[] = {0, 1, 'a', 'b', 'z', 0xfe, 0xff};
    size_t size = random_below(random, 4);
    for (size_t i = 0; i < size; i++)
        key[i] = alphabet[random_below(random, sizeof(alphabet))];
    return bytes_of(key, size);
}

struct play {
    struct store_test *t;
    struct random random;
    struct store *store;
    struct model model;
    struct store_snapshot *snapshots[SNAPSHOTS];
    struct model moments[SNAPSHOTS];
};

static void play_write(struct play *play) {
    struct store_batch *batch = store_batch_new(play->store);
    for (uint64_t n = random_below(&play->random, 9); n > 0; n--) {
        uint8_t space[4], more[4];
        struct bytes key = random_key(&play->random, space);
        struct bytes high = random_key(&play->random, more);
        unsigned at = model_find(&play->model, key);
        uint64_t kind = random_below(&play->random, 20);
        if (kind == 0) {
            store_del_range(batch, STORE_ITEMS, key, high);
            unsigned to = model_find(&play->model, high);
            if (to > at)
                model_del(&play->model, at, to);
        } else if (kind < 8) {
            store_del(batch, STORE_ITEMS, key);
            if (model_has(&play->model, at, key))
                model_del(&play->model, at, at + 1);
        } else {
            uint32_t value = (uint32_t)random_next(&play->random);
            store_put(batch, STORE_ITEMS, key, bytes_of(&value, sizeof(value)));
            model_put(&play->model, key, value);
        }
    }
    assert_int_equal(
        store_write(play->store, batch, (struct scope){&play->t->arena, &play->t->failure}), OK);
    store_batch_free(batch);
}

static void check_get(struct play *play, const struct store_snapshot *snapshot,
                      const struct model *model) {
    uint8_t space[4];
    struct bytes key = random_key(&play->random, space), value;
    unsigned at = model_find(model, key);
    enum status status = store_get(play->store, &(struct store_key){STORE_ITEMS, key, snapshot},
                                   &play->t->arena, &value);
    if (!model_has(model, at, key)) {
        assert_int_equal(status, NOT_FOUND);
        return;
    }
    assert_int_equal(status, OK);
    assert_bytes_equal(value, bytes_of(&model->entries[at].value, 4));
}

/* Stands the iterator and an index into the model somewhere; to: index of the range's end. */
static bool step(struct play *play, struct store_iter *iter, const struct model *model,
                 unsigned from, unsigned to, int *at) {
    uint8_t space[4];
    struct bytes key = random_key(&play->random, space);
    int low = (int)from, high = (int)to, found = (int)model_find(model, key);
    switch (random_below(&play->random, *at < 0 ? 4 : 12)) {
    case 0:
        *at = low;
        return store_iter_first(iter);
    case 1:
        *at = high - 1;
        return store_iter_last(iter);
    case 2:
        *at = found > low ? found : low;
        return store_iter_seek(iter, key);
    case 3:
        if (!model_has(model, (unsigned)found, key))
            found--;
        *at = found < high ? found : high - 1;
        return store_iter_seek_back(iter, key);
    case 4:
    case 5:
    case 6:
    case 7:
        (*at)++;
        return store_iter_next(iter);
    default:
        (*at)--;
        return store_iter_prev(iter);
    }
}

static void check_walk(struct play *play, const struct store_snapshot *snapshot,
                       const struct model *model) {
    uint8_t space[4], more[4];
    struct store_range range = {
        .family = STORE_ITEMS,
        .snapshot = snapshot,
        .low = random_key(&play->random, space),
        .high = random_key(&play->random, more),
        .bulk = random_below(&play->random, 2) != 0,
    };
    unsigned from = model_find(model, range.low);
    unsigned to = range.high.size == 0 ? model->count : model_find(model, range.high);
    if (to < from)
        return; /* low above high is nobody's question */
    struct store_iter *iter = store_iter_open(play->store, &range);
    int at = -1;
    for (int i = 0; i < 30; i++) {
        bool there = step(play, iter, model, from, to, &at);
        bool expected = at >= (int)from && at < (int)to;
        assert_int_equal(there, expected);
        assert_int_equal(store_iter_status(iter), OK);
        if (!there) {
            assert_false(store_iter_next(iter));
            assert_false(store_iter_prev(iter));
            at = -1;
            continue;
        }
        assert_bytes_equal(store_iter_key(iter), model_key(model, (unsigned)at));
        assert_bytes_equal(store_iter_value(iter), bytes_of(&model->entries[at].value, 4));
    }
    store_iter_close(iter);
}

static void play_release(struct play *play) {
    for (int i = 0; i < SNAPSHOTS; i++) {
        store_snapshot_release(play->store, play->snapshots[i]);
        play->snapshots[i] = NULL;
    }
}

/* With buffers of any size, so that what is read stands in one, in two, or in tables. */
static struct store *play_open(struct play *play) {
    static const size_t sizes[] = {300, 3000, 20000, 100000};
    struct store_settings settings = {.buffer_size = sizes[random_below(&play->random, 4)],
                                      .sync = (enum store_sync)random_below(&play->random, 3)};
    return open_store(play->t, &settings);
}

static void play_again(struct play *play, bool close) {
    play_release(play);
    if (close) {
        store_close(play->store);
        play->store = play_open(play);
    } else
        assert_int_equal(
            store_reopen(play->store, (struct scope){&play->t->arena, &play->t->failure}), OK);
}

static void play_snapshot(struct play *play) {
    uint64_t i = random_below(&play->random, SNAPSHOTS);
    store_snapshot_release(play->store, play->snapshots[i]);
    play->snapshots[i] = store_snapshot_take(play->store);
    play->moments[i] = play->model;
}

static void test_model(void **state) {
    struct play *play = calloc(1, sizeof(*play));
    play->t = *state;
    random_seed(&play->random, test_seed());
    play->store = play_open(play);
    for (int round = 0; round < 3000; round++) {
        uint64_t kind = random_below(&play->random, 1000);
        if (kind < 500)
            play_write(play);
        else if (kind < 550)
            play_snapshot(play);
        else if (kind < 554)
            play_again(play, kind % 2 == 0);
        uint64_t i = random_below(&play->random, SNAPSHOTS);
        if (play->snapshots[i] != NULL) {
            check_get(play, play->snapshots[i], &play->moments[i]);
            check_walk(play, play->snapshots[i], &play->moments[i]);
        }
        check_get(play, NULL, &play->model);
        check_walk(play, NULL, &play->model);
        arena_reset(&play->t->arena);
    }
    play_release(play);
    store_close(play->store);
    free(play);
}

/* --- threads --- */

struct crowd {
    struct store *store;
    atomic_bool stop;
    atomic_int reads;
};

/* Reads batches as one moment: all keys of a snapshot have the same number. */
static void *read_crowd(void *argument) {
    struct crowd *crowd = argument;
    struct arena arena;
    arena_init(&arena);
    while (!atomic_load(&crowd->stop)) {
        struct store_snapshot *snapshot = store_snapshot_take(crowd->store);
        struct bytes first, last;
        enum status one =
            store_get(crowd->store, &(struct store_key){STORE_META, BYTES("key 0"), snapshot},
                      &arena, &first);
        enum status two =
            store_get(crowd->store, &(struct store_key){STORE_ITEMS, BYTES("key 11"), snapshot},
                      &arena, &last);
        assert_int_equal(one, OK);
        assert_int_equal(two, OK);
        assert_memory_equal(first.data, last.data, 4);
        struct store_iter *iter = store_iter_open(
            crowd->store, &(struct store_range){.family = STORE_ITEMS, .snapshot = snapshot});
        for (bool there = store_iter_first(iter); there; there = store_iter_next(iter))
            assert_memory_equal(store_iter_value(iter).data, first.data, 4);
        store_iter_close(iter);
        store_snapshot_release(crowd->store, snapshot);
        assert_int_equal(store_get(crowd->store, &(struct store_key){STORE_META, BYTES("key 0")},
                                   &arena, &first),
                         OK);
        arena_reset(&arena);
        atomic_fetch_add(&crowd->reads, 1);
    }
    arena_release(&arena);
    return NULL;
}

static void test_threads(void **state) {
    enum { READERS = 3 };
    struct store_test *t = *state;
    struct crowd crowd = {.store =
                              open_store(t, &(struct store_settings){.interval_ms = 1,
                                                                     .sync = STORE_SYNC_INTERVAL,
                                                                     .buffer_size = 200000})};
    struct store_batch *batch = store_batch_new(crowd.store);
    fill_batch(batch, 0);
    assert_int_equal(store_write(crowd.store, batch, (struct scope){&t->arena, &t->failure}), OK);
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_crowd, &crowd), 0);
    for (uint32_t number = 1; number < 400 || atomic_load(&crowd.reads) < 500; number++) {
        store_batch_clear(batch);
        fill_batch(batch, number);
        assert_int_equal(store_write(crowd.store, batch, (struct scope){&t->arena, &t->failure}),
                         OK);
        if (number % 100 == 0) { /* readers wait for it and go on */
            store_batch_free(batch);
            assert_int_equal(store_reopen(crowd.store, (struct scope){&t->arena, &t->failure}), OK);
            batch = store_batch_new(crowd.store);
        }
    }
    atomic_store(&crowd.stop, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    store_batch_free(batch);
    store_close(crowd.store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_store, teardown_store)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_keeps), TEST(test_memory),  TEST(test_interval),
        TEST(test_model), TEST(test_threads),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
