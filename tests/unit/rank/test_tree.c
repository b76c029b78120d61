/* The counted tree against the dumbest thing that is right: a sorted array. */
#include "test.h"

#include "base/mem.h"
#include "base/random.h"
#include "rank/tree.h"

struct model {
    struct bytes *keys; /* sorted; each owned */
    size_t count, room;
};

/* How many keys are less than `key`. */
static size_t model_rank(const struct model *model, struct bytes key, bool *equal) {
    size_t low = 0, high = model->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (bytes_compare(model->keys[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *equal = low < model->count && bytes_equal(model->keys[low], key);
    return low;
}

static bool model_put(struct model *model, struct bytes key) {
    bool equal;
    size_t at = model_rank(model, key, &equal);
    if (equal)
        return false;
    if (model->count == model->room) {
        model->room = model->room * 2 + 16;
        model->keys = mem_realloc(model->keys, model->room * sizeof(*model->keys));
    }
    uint8_t *copy = mem_alloc(key.size + 1);
    memcpy(copy, key.data, key.size);
    memmove(model->keys + at + 1, model->keys + at, (model->count - at) * sizeof(*model->keys));
    model->keys[at] = bytes_of(copy, key.size);
    model->count++;
    return true;
}

static bool model_del(struct model *model, struct bytes key) {
    bool equal;
    size_t at = model_rank(model, key, &equal);
    if (!equal)
        return false;
    mem_free((void *)(uintptr_t)model->keys[at].data);
    model->count--;
    memmove(model->keys + at, model->keys + at + 1, (model->count - at) * sizeof(*model->keys));
    return true;
}

static void model_release(struct model *model) {
    for (size_t i = 0; i < model->count; i++)
        mem_free((void *)(uintptr_t)model->keys[i].data);
    mem_free(model->keys);
}

/* Key sets. `serial` counts the keys asked for; each writes at most TREE_KEY_MAX bytes. */
typedef size_t make_key(struct random *random, uint64_t serial, uint8_t *to);

static void fill(struct random *random, uint8_t *to, size_t size) {
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)random_next(random);
}

static size_t key_random(struct random *random, uint64_t serial, uint8_t *to) {
    (void)serial;
    fill(random, to, 20);
    return 20;
}

/* A few bytes to choose from and a few lengths: many are there already, many begin others. */
static size_t key_dense(struct random *random, uint64_t serial, uint8_t *to) {
    static const uint8_t letters[] = {0, 0, 1, 'a', 255};
    size_t size = random_below(random, 9);
    (void)serial;
    for (size_t i = 0; i < size; i++)
        to[i] = letters[random_below(random, sizeof(letters))];
    return size;
}

static size_t key_short(struct random *random, uint64_t serial, uint8_t *to) {
    size_t size = random_below(random, 4);
    (void)serial;
    fill(random, to, size);
    return size;
}

/* As an index of boards has them: partition, name, number, table key. */
static size_t key_board(struct random *random, uint64_t serial, uint8_t *to) {
    static const char *names[] = {"LB#daily#global", "LB#daily#eu", "LB#weekly#global"};
    const char *name = names[random_below(random, 3)];
    size_t size = strlen(name) + 1;
    (void)serial;
    memset(to, name[3], 4);
    memcpy(to + 4, name, size);
    size += 4;
    fill(random, to + size, 2);
    size += 2 + random_below(random, 3);
    fill(random, to + size, 24);
    return size + 24;
}

static size_t key_long_prefix(struct random *random, uint64_t serial, uint8_t *to) {
    size_t prefix = 100 + 1000 * random_below(random, 3);
    (void)serial;
    memset(to, 'p', prefix);
    fill(random, to + prefix, 3);
    return prefix + 3;
}

/* From nothing to the longest, differing early or late. */
static size_t key_huge(struct random *random, uint64_t serial, uint8_t *to) {
    static const size_t sizes[] = {0, 5, 300, 700, 2000, 30000, TREE_KEY_MAX};
    size_t size = sizes[random_below(random, 7)];
    (void)serial;
    memset(to, 'h', size);
    if (size > 0) {
        to[random_below(random, size)] = (uint8_t)random_next(random);
        to[size - 1] = (uint8_t)random_next(random);
        if (random_below(random, 2) == 0)
            to[0] = (uint8_t)random_next(random);
    }
    return size;
}

static size_t number_key(uint64_t number, uint8_t *to) {
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(number >> (56 - 8 * i));
    memcpy(to + 8, "tail of the key", 12);
    return 20;
}

static size_t key_rising(struct random *random, uint64_t serial, uint8_t *to) {
    (void)random;
    return number_key(serial, to);
}

static size_t key_falling(struct random *random, uint64_t serial, uint8_t *to) {
    (void)random;
    return number_key(~serial, to);
}

static void check_place(struct tree_cursor *cursor, const struct model *model, size_t at) {
    assert_int_equal(cursor->valid, at < model->count);
    if (cursor->valid)
        assert_bytes_equal(tree_key(cursor), model->keys[at]);
}

/* Several keys at once, there or not, and some of them twice. */
static void check_many(const struct tree *tree, const struct model *model, struct bytes key,
                       struct random *random) {
    struct bytes keys[40];
    uint64_t ranks[40];
    bool has[40];
    size_t count = random_below(random, 41);
    for (size_t i = 0; i < count; i++)
        keys[i] =
            model->count == 0 || i % 5 == 0 ? key : model->keys[random_below(random, model->count)];
    tree_prefetch_many(tree, keys, count); /* of whatever there is, also of an empty tree */
    tree_find_many(tree, keys, count, ranks, has);
    for (size_t i = 0; i < count; i++) {
        bool equal;
        assert_int_equal(ranks[i], model_rank(model, keys[i], &equal));
        assert_int_equal(has[i], equal);
    }
}

/* Everything one can ask about a key, there or not. */
static void check_key(const struct tree *tree, const struct model *model, struct bytes key) {
    struct tree_cursor cursor = {0};
    bool equal;
    size_t rank = model_rank(model, key, &equal);
    assert_int_equal(tree_rank(tree, key), rank);
    assert_int_equal(tree_has(tree, key), equal);
    assert_int_equal(tree_seek(&cursor, tree, key), rank < model->count);
    check_place(&cursor, model, rank);
    if (cursor.valid) {
        tree_next(&cursor);
        check_place(&cursor, model, rank + 1);
    }
    assert_int_equal(tree_seek_before(&cursor, tree, key), rank > 0);
    check_place(&cursor, model, rank - 1);
    if (cursor.valid) {
        tree_prev(&cursor);
        check_place(&cursor, model, rank - 2);
    }
    tree_seek_rank(&cursor, tree, rank);
    check_place(&cursor, model, rank);
    tree_cursor_release(&cursor);
}

static void check_walk(const struct tree *tree, const struct model *model) {
    struct tree_cursor cursor = {0};
    size_t at = 0;
    assert_int_equal(tree_count(tree), model->count);
    for (bool on = tree_seek_rank(&cursor, tree, 0); on; on = tree_next(&cursor))
        check_place(&cursor, model, at++);
    assert_int_equal(at, model->count);
    for (bool on = tree_seek_last(&cursor, tree); on; on = tree_prev(&cursor))
        check_place(&cursor, model, --at);
    assert_int_equal(at, 0);
    tree_cursor_release(&cursor);
    tree_check(tree);
}

/* A loader given the model's keys makes the same tree. */
static void check_loader(const struct model *model) {
    struct tree_loader *loader = tree_loader_new();
    for (size_t i = 0; i < model->count; i++) {
        assert_true(tree_loader_add(loader, model->keys[i]));
        assert_false(tree_loader_add(loader, model->keys[i]));
        assert_false(tree_loader_add(loader, model->keys[i / 2]));
    }
    struct tree *tree = tree_loader_finish(loader);
    check_walk(tree, model);
    for (size_t i = 0; i < model->count; i += 7)
        check_key(tree, model, model->keys[i]);
    for (size_t i = 0; i < model->count; i += 3)
        assert_true(tree_del(tree, model->keys[i]));
    for (size_t i = 0; i < model->count; i += 3)
        assert_true(tree_put(tree, model->keys[i]));
    check_walk(tree, model);
    tree_free(tree);
}

struct run {
    make_key *make;
    size_t grow;        /* puts before the deletions begin */
    size_t check_every; /* changes */
};

struct world {
    struct random random;
    struct tree *tree;
    struct model model;
    uint8_t *key;
    size_t changes, moves;
};

static void change(struct world *world, const struct run *run, struct bytes key, bool put) {
    if (put)
        assert_int_equal(tree_put(world->tree, key), model_put(&world->model, key));
    else
        assert_int_equal(tree_del(world->tree, key), model_del(&world->model, key));
    assert_int_equal(tree_count(world->tree), world->model.count);
    if (++world->changes % run->check_every == 0) {
        tree_check(world->tree);
        check_key(world->tree, &world->model, key);
        check_many(world->tree, &world->model, key, &world->random);
    }
}

static void change_new(struct world *world, const struct run *run, bool put) {
    size_t size = run->make(&world->random, world->changes, world->key);
    change(world, run, bytes_of(world->key, size), put);
}

static void del_any(struct world *world, const struct run *run) {
    if (world->model.count == 0)
        return;
    struct bytes key = world->model.keys[random_below(&world->random, world->model.count)];
    memcpy(world->key, key.data, key.size);
    change(world, run, bytes_of(world->key, key.size), false);
}

/* Moves any key to where one of its neighbours with another last byte would stand, or to anywhere.
 * What is refused must leave all as it was. */
static void move_any(struct world *world, const struct run *run) {
    struct model *model = &world->model;
    if (model->count == 0)
        return;
    bool has;
    size_t at = (size_t)random_below(&world->random, model->count), size;
    uint64_t step = random_below(&world->random, 5);
    struct bytes near = model->keys[at + step < model->count ? at + step : at];
    if (near.size == 0 || random_below(&world->random, 8) == 0) {
        size = run->make(&world->random, world->changes, world->key);
    } else {
        size = near.size;
        memcpy(world->key, near.data, size);
        world->key[size - 1] = (uint8_t)random_below(&world->random, 256);
    }
    struct bytes to = bytes_of(world->key, size), from = model->keys[at];
    model_rank(model, to, &has);
    bool moved = tree_move(world->tree, from, to);
    if (moved) {
        assert_false(has);
        assert_true(model_put(model, to));
        assert_true(model_del(model, from));
        world->moves++;
    }
    assert_false(tree_move(world->tree, to, to));
    assert_int_equal(tree_count(world->tree), model->count);
    tree_check(world->tree);
    check_key(world->tree, model, to);
}

static void play(const struct run *run) {
    struct world world = {.tree = tree_new(), .key = mem_alloc(TREE_KEY_MAX)};
    random_seed(&world.random, test_seed());
    size_t empty = tree_memory(world.tree);
    check_walk(world.tree, &world.model);
    for (size_t i = 0; i < run->grow; i++)
        change_new(&world, run, true);
    check_walk(world.tree, &world.model);
    check_loader(&world.model);
    size_t full = tree_memory(world.tree);
    for (size_t i = 0; i < run->grow; i++) {
        if (random_below(&world.random, 2) == 0)
            change_new(&world, run, random_below(&world.random, 4) != 0);
        else
            del_any(&world, run);
        if (i % run->check_every == 0)
            move_any(&world, run);
    }
    for (size_t i = 0; i < 300; i++)
        move_any(&world, run);
    assert_true(world.moves > 10); /* there are keys that can */
    check_walk(world.tree, &world.model);
    while (world.model.count > run->grow / 20)
        del_any(&world, run);
    check_walk(world.tree, &world.model);
    if (run->grow >= 8000)
        assert_true(tree_memory(world.tree) < full / 8); /* memory follows the count */
    while (world.model.count > 0)
        del_any(&world, run);
    check_walk(world.tree, &world.model);
    /* Nothing but the room it assembles keys in. */
    assert_true(tree_memory(world.tree) < empty + 8 * TREE_KEY_MAX);
    tree_free(world.tree);
    model_release(&world.model);
    mem_free(world.key);
}

#define PLAY(name, ...)                               \
    static void test_##name(void **state) {           \
        (void)state;                                  \
        play(&(struct run){key_##name, __VA_ARGS__}); \
    }
PLAY(random, 12000, 1009)
PLAY(dense, 3000, 1)
PLAY(short, 6000, 7)
PLAY(board, 10000, 1009)
PLAY(long_prefix, 2000, 11)
PLAY(huge, 400, 3)
PLAY(rising, 8000, 509)
PLAY(falling, 8000, 509)

static void test_small_random(void **state) {
    (void)state;
    play(&(struct run){key_random, 400, 1});
}

static void test_empty(void **state) {
    (void)state;
    struct tree *tree = tree_new();
    struct tree_cursor cursor = {0};
    struct bytes none = {0};
    assert_false(tree_seek(&cursor, tree, none));
    assert_false(tree_seek_before(&cursor, tree, none));
    assert_false(tree_seek_last(&cursor, tree));
    assert_false(tree_seek_rank(&cursor, tree, 0));
    assert_false(tree_del(tree, none));
    assert_int_equal(tree_rank(tree, BYTES("a")), 0);
    assert_true(tree_put(tree, none));
    assert_false(tree_put(tree, none));
    assert_true(tree_seek_last(&cursor, tree));
    assert_int_equal(tree_key(&cursor).size, 0);
    assert_int_equal(tree_rank(tree, BYTES("a")), 1);
    tree_cursor_release(&cursor);
    tree_free(tree);
    tree_free(NULL);
}

/* What the tree promises about memory, in random and in rising order; and a tree of several
 * levels taken down again. */
static void test_compact(void **state) {
    (void)state;
    struct random random;
    struct tree *scattered = tree_new(), *rising = tree_new();
    size_t count = 100000;
    uint8_t *keys = mem_alloc(count * 20), other[20];
    random_seed(&random, test_seed());
    for (size_t i = 0; i < count; i++) {
        uint8_t *key = keys + i * 20;
        assert_true(tree_put(scattered, bytes_of(key, key_random(&random, i, key))));
        assert_true(tree_put(rising, bytes_of(other, key_rising(&random, i, other))));
    }
    tree_check(scattered);
    tree_check(rising);
    assert_true(tree_memory(scattered) < count * (20 + 8));
    assert_true(tree_memory(rising) < count * 20);
    for (size_t i = 0; i < count; i++) {
        assert_true(tree_del(scattered, bytes_of(keys + i * 20, 20)));
        assert_true(tree_del(rising, bytes_of(other, number_key(i, other))));
        if (i % 20011 == 0) {
            tree_check(scattered);
            tree_check(rising);
        }
        if (i == count / 2) /* half the keys: nothing like all of the memory */
            assert_true(tree_memory(scattered) < count * (20 + 8) * 3 / 4);
    }
    tree_check(scattered);
    tree_check(rising);
    tree_free(scattered);
    tree_free(rising);
    mem_free(keys);
}

/* Memory comes back as keys go, and never much of it at once: whoever deletes holds a lock. */
static void test_memory_comes_back(void **state) {
    (void)state;
    struct random random;
    struct tree *tree = tree_new();
    size_t count = 300000, empty = tree_memory(tree), most = 0;
    uint8_t *keys = mem_alloc(count * 20);
    random_seed(&random, test_seed());
    for (size_t i = 0; i < count; i++)
        tree_put(tree, bytes_of(keys + i * 20, key_random(&random, i, keys + i * 20)));
    size_t full = tree_memory(tree), before = full;
    for (size_t i = 0; i < count; i++) {
        assert_true(tree_del(tree, bytes_of(keys + i * 20, 20)));
        size_t now = tree_memory(tree);
        if (before > now && before - now > most)
            most = before - now;
        before = now;
        if (i == count * 9 / 10)
            assert_true(now < full / 4);
    }
    tree_check(tree);
    assert_true(most <= 12 * 64 * 1024);
    assert_true(before < empty + 1024);
    tree_free(tree);
    mem_free(keys);
}

/* Leaves that are moved, to empty their slab, are found by all ways that lead to them. */
static void test_moved_leaves(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    size_t count = 60000;
    uint8_t *keys = mem_alloc(count * 20);
    struct tree *tree = tree_new();
    for (size_t i = 0; i < count; i++)
        tree_put(tree, bytes_of(keys + i * 20, key_random(&random, i, keys + i * 20)));
    for (size_t i = 0; i < count; i++)
        if (i % 8 != 0)
            assert_true(tree_del(tree, bytes_of(keys + i * 20, 20)));
    tree_check(tree);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(tree_has(tree, bytes_of(keys + i * 20, 20)), i % 8 == 0);
    tree_free(tree);
    mem_free(keys);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_small_random),
        cmocka_unit_test(test_dense),        cmocka_unit_test(test_short),
        cmocka_unit_test(test_random),       cmocka_unit_test(test_board),
        cmocka_unit_test(test_long_prefix),  cmocka_unit_test(test_huge),
        cmocka_unit_test(test_rising),       cmocka_unit_test(test_falling),
        cmocka_unit_test(test_compact),      cmocka_unit_test(test_memory_comes_back),
        cmocka_unit_test(test_moved_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
