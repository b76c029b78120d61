/* The cache against a model that remembers every version, alone and with threads. */
#include "base/random.h"
#include "table/local/local_int.h"
#include "test.h"

enum { KEYS = 200, COMMITS_MAX = 4000 };

static struct bytes key_of(unsigned key, uint8_t *room) {
    int size = snprintf((char *)room, 32, "item-%u", key);
    return bytes_of(room, (size_t)size);
}

/* The value of a key as of a commit; sizes vary so that entries move. */
static struct bytes value_of(unsigned key, uint64_t commit, uint8_t *room) {
    size_t size = 16 + (key * 37 + commit * 11) % 200;
    memset(room, (int)('a' + (key + commit) % 26), size);
    memcpy(room, &commit, 8);
    return bytes_of(room, size);
}

struct model {
    uint64_t written[KEYS]; /* the commit that last wrote the key; 0: never */
    bool deleted[KEYS];
    uint64_t commit;
};

static void model_commit(struct model *model, struct random *random, struct cache *cache) {
    uint8_t key[32], value[256];
    unsigned count = 1 + (unsigned)random_below(random, 5);
    model->commit++;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = (unsigned)random_below(random, KEYS);
        model->written[at] = model->commit;
        model->deleted[at] = random_below(random, 5) == 0;
        struct bytes now =
            model->deleted[at] ? (struct bytes){0} : value_of(at, model->commit, value);
        cache_write(cache, hashed_key_of(key_of(at, key)),
                    &(struct cache_update){now, at % 3 == 0, model->commit});
    }
}

/* A hit at a view is what the model had then, if it is still known. */
static void test_model(void **state) {
    (void)state;
    struct random random;
    struct arena arena;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (unsigned round = 0; round < 10; round++) {
        struct cache *cache = cache_new(round % 2 == 0 ? 8 << 20 : 8 << 10);
        struct model model = {.commit = 1};
        uint64_t hits = 0;
        for (unsigned step = 0; step < 20000; step++) {
            uint8_t key_room[32], value_room[256];
            unsigned at = (unsigned)random_below(&random, KEYS);
            struct hashed_key key = hashed_key_of(key_of(at, key_room));
            struct bytes got;
            if (random_below(&random, 8) == 0)
                model_commit(&model, &random, cache);
            uint64_t view = model.commit - random_below(&random, model.commit > 3 ? 3 : 1);
            uint64_t now = model.written[at] == 0 ? 0 : model.written[at];
            bool known = now <= view; /* what it was before, the model has forgotten */
            if (random_below(&random, 2) == 0 && known && !model.deleted[at]) {
                cache_fill(cache, key, value_of(at, now, value_room), view);
                continue;
            }
            got = cache_get(cache, key, random_below(&random, 2) ? view : UINT64_MAX, &arena);
            if (got.data != NULL) {
                hits++;
                assert_false(model.deleted[at]);
                struct bytes want = value_of(at, now, value_room);
                assert_bytes_equal(got, want);
            }
            arena_reset(&arena);
        }
        struct engine_figures figures = {0};
        cache_figures(cache, &figures);
        assert_true(hits > 100);
        assert_int_equal(figures.cache_hits, hits);
        assert_true(figures.cache_memory <= figures.cache_memory_max);
        assert_true(figures.cache_items <= KEYS);
        cache_free(cache);
    }
    arena_release(&arena);
}

static void test_views(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct cache *cache = cache_new(1 << 16);
    struct hashed_key key = hashed_key_of(BYTES("k"));
    cache_write(cache, key, &(struct cache_update){.value = BYTES("new"), .commit = 7});
    assert_null(cache_get(cache, key, 6, &arena).data); /* written after that view */
    assert_bytes_equal(cache_get(cache, key, 7, &arena), BYTES("new"));
    cache_write(cache, key, &(struct cache_update){.commit = 8});
    assert_null(cache_get(cache, key, 8, &arena).data);
    cache_fill(cache, key, BYTES("old"), 7); /* a slow reader with what was deleted since */
    assert_null(cache_get(cache, key, UINT64_MAX, &arena).data);
    cache_fill(cache, key, BYTES("now"), 8);
    assert_bytes_equal(cache_get(cache, key, 8, &arena), BYTES("now"));
    cache_clear(cache);
    assert_null(cache_get(cache, key, UINT64_MAX, &arena).data);
    cache_free(cache);
    arena_release(&arena);
}

/* What is used stays; what is not goes. */
static void test_clock(void **state) {
    (void)state;
    struct arena arena;
    struct hashed_key hot = hashed_key_of(BYTES("hot"));
    uint8_t key[32], value[256];
    arena_init(&arena);
    struct cache *cache = cache_new(64 << 10);
    cache_write(cache, hot, &(struct cache_update){.value = BYTES("value"), .commit = 1});
    for (unsigned i = 0; i < 5000; i++) {
        cache_fill(cache, hashed_key_of(key_of(i, key)), value_of(i, 1, value), 1);
        assert_non_null(cache_get(cache, hot, 1, &arena).data);
        arena_reset(&arena);
    }
    struct engine_figures figures = {0};
    cache_figures(cache, &figures);
    assert_true(figures.cache_items > 100 && figures.cache_items < 1000);
    cache_free(cache);
    arena_release(&arena);
}

/* One of very many writes is added as long as there is room, and pushes nothing out. */
static void test_bulk(void **state) {
    (void)state;
    enum { FIRST = 500, MANY = 20000 };
    struct engine_figures before = {0}, after = {0};
    struct arena arena;
    uint8_t key[32], value[256];
    unsigned kept = 0;
    arena_init(&arena);
    struct cache *cache = cache_new(1 << 20);
    for (unsigned i = 0; i < FIRST; i++)
        cache_write(cache, hashed_key_of(key_of(i, key)),
                    &(struct cache_update){.value = value_of(i, 1, value), .commit = 1});
    cache_figures(cache, &before);
    assert_int_equal(before.cache_items, FIRST);
    for (unsigned i = FIRST; i < MANY; i++)
        cache_write(cache, hashed_key_of(key_of(i, key)),
                    &(struct cache_update){value_of(i, 1, value), true, 1});
    cache_figures(cache, &after);
    for (unsigned i = 0; i < MANY; i++) {
        bool has = cache_get(cache, hashed_key_of(key_of(i, key)), 1, &arena).data != NULL;
        kept += has;
        assert_true(has || i >= FIRST);
        arena_reset(&arena);
    }
    assert_int_equal(after.cache_items, kept);
    assert_in_range(kept, FIRST + 1000, MANY / 2);
    assert_true(after.cache_memory <= after.cache_memory_max);
    cache_free(cache);
    arena_release(&arena);
}

/* In a cache that has been full for long, what is let go must not leave runs of slots that are all
 * taken: a look-up would have to pass over them. */
static void test_full(void **state) {
    (void)state;
    uint8_t key[32], value[256];
    struct cache *cache = cache_new(2 << 20);
    for (unsigned i = 0; i < 200000; i++) {
        cache_fill(cache, hashed_key_of(key_of(i, key)), value_of(i, 1, value), 1);
        if (i % 1000 == 0)
            assert_in_range(cache_longest_run(cache), 0, 300);
    }
    cache_free(cache);
}

/* --- threads: one writes commits, others read at what they know is current --- */

struct shared {
    struct cache *cache;
    pthread_rwlock_t state_lock;
    struct model model; /* under state_lock */
    atomic_bool stop;
};

static void *read_often(void *context) {
    struct shared *shared = context;
    struct random random;
    struct arena arena;
    random_seed(&random, (uint64_t)(uintptr_t)&random);
    arena_init(&arena);
    uint64_t hits = 0;
    /* One that comes when all is written goes on until it has seen something. */
    for (unsigned i = 0; !atomic_load(&shared->stop) || (hits == 0 && i < 1000000); i++) {
        uint8_t key_room[32], value_room[256];
        unsigned at = (unsigned)random_below(&random, KEYS);
        struct hashed_key key = hashed_key_of(key_of(at, key_room));
        pthread_rwlock_rdlock(&shared->state_lock);
        uint64_t view = shared->model.commit, now = shared->model.written[at];
        bool there = !shared->model.deleted[at];
        pthread_rwlock_unlock(&shared->state_lock);
        struct bytes got = cache_get(shared->cache, key, view, &arena);
        if (got.data != NULL) {
            struct bytes want = value_of(at, now, value_room);
            hits++;
            assert_true(there);
            assert_bytes_equal(got, want);
        } else if (there)
            cache_fill(shared->cache, key, value_of(at, now, value_room), view);
        arena_reset(&arena);
    }
    arena_release(&arena);
    assert_true(hits > 0);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct shared shared = {.cache = cache_new(16 << 10), .model.commit = 1};
    struct random random;
    pthread_t readers[3];
    random_seed(&random, test_seed());
    pthread_rwlock_init(&shared.state_lock, NULL);
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&readers[i], NULL, read_often, &shared);
    for (unsigned i = 0; i < COMMITS_MAX; i++) {
        pthread_rwlock_wrlock(&shared.state_lock);
        model_commit(&shared.model, &random, shared.cache);
        pthread_rwlock_unlock(&shared.state_lock);
        if (i % 16 == 0)
            sched_yield();
    }
    atomic_store(&shared.stop, true);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(readers[i], NULL);
    pthread_rwlock_destroy(&shared.state_lock);
    cache_free(shared.cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views), cmocka_unit_test(test_model), cmocka_unit_test(test_clock),
        cmocka_unit_test(test_bulk),  cmocka_unit_test(test_full),  cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
