/* The store as it was: a checkpoint and the log since then make the state of any time between. */
#include "store_test.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"

enum { KEYS = 24, STEPS = 60, CHECKPOINTS = 4, VALUE_MAX = 60000 };

/* What every key was after each step: a number, 0 if it was not there. */
struct history {
    uint32_t value[STEPS][KEYS];
    int64_t time_ms[STEPS]; /* a time after the step and before the next one */
};

struct kept_base {
    char path[160];
    int64_t time_ms;
};

struct world {
    struct store_test *t;
    struct random random;
    struct store *store;
    uint64_t position; /* of the log, when the first base was made */
    struct history history;
    struct kept_base bases[CHECKPOINTS];
    int base_count;
};

static void open_again(struct world *world) {
    struct store_settings settings = {.recovery_from = world->position, .buffer_size = 1 << 20};
    store_close(world->store);
    world->store = open_store(world->t, &settings);
}

static void make_base(struct world *world) {
    struct kept_base *base = &world->bases[world->base_count];
    snprintf(base->path, sizeof(base->path), "%s/base-%d", world->t->root, world->base_count++);
    assert_int_equal(store_checkpoint(world->store, base->path,
                                      (struct scope){&world->t->arena, &world->t->failure}),
                     OK);
    base->time_ms = clock_now_ms();
}

static void key_name(char *to, size_t size, int key) {
    snprintf(to, size, "key %02d", key);
}

/* Some keys are put, some deleted, now and then a range of them. */
static void write_step(struct world *world, int step) {
    static uint8_t value[VALUE_MAX];
    uint32_t *now = world->history.value[step];
    struct store_batch *batch = store_batch_new(world->store);
    char name[16], high[16];
    if (step != 0)
        memcpy(now, world->history.value[step - 1], sizeof(world->history.value[0]));
    for (int i = 0; i < 6; i++) {
        int key = (int)random_below(&world->random, KEYS);
        uint64_t what = random_below(&world->random, 10);
        key_name(name, sizeof(name), key);
        key_name(high, sizeof(high), key + 3);
        now[key] = what < 7 ? (uint32_t)random_next(&world->random) | 1 : 0;
        memcpy(value, &now[key], sizeof(now[key]));
        if (what < 7)
            store_put(batch, STORE_ITEMS, bytes_str(name),
                      bytes_of(value, 4 + random_below(&world->random, VALUE_MAX - 4)));
        else if (what < 9)
            store_del(batch, STORE_ITEMS, bytes_str(name));
        else {
            store_del_range(batch, STORE_ITEMS, bytes_str(name), bytes_str(high));
            for (int j = key; j < key + 3 && j < KEYS; j++)
                now[j] = 0;
        }
    }
    assert_int_equal(
        store_write(world->store, batch, (struct scope){&world->t->arena, &world->t->failure}), OK);
    store_batch_free(batch);
}

static const char *base_before(const struct world *world, int64_t time_ms) {
    const char *found = NULL;
    for (int i = 0; i < world->base_count && world->bases[i].time_ms <= time_ms; i++)
        found = world->bases[i].path;
    return found;
}

static enum status make_past(struct world *world, const char *base, int64_t time_ms, char *path) {
    struct store_past past = {.base = base, .path = path, .time_ms = time_ms};
    return store_restore_past(world->store, &past,
                              (struct scope){&world->t->arena, &world->t->failure});
}

static void check_step(struct world *world, int step) {
    char path[160], name[16];
    int64_t time_ms = world->history.time_ms[step];
    snprintf(path, sizeof(path), "%s/past", world->t->root);
    enum status status = make_past(world, base_before(world, time_ms), time_ms, path);
    if (status != OK)
        fail_msg("%.*s", BYTES_ARG(world->t->failure.text));
    struct store_settings settings = {.path = path, .must_exist = true, .read_only = true};
    struct store *past = open_store(world->t, &settings);
    for (int key = 0; key < KEYS; key++) {
        struct bytes got;
        uint32_t found = 0;
        key_name(name, sizeof(name), key);
        if (store_get(past, &(struct store_key){STORE_ITEMS, bytes_str(name)}, &world->t->arena,
                      &got) == OK)
            memcpy(&found, got.data, sizeof(found));
        assert_int_equal(found, world->history.value[step][key]);
    }
    store_close(past);
    arena_reset(&world->t->arena);
    run("rm -rf %s", path);
}

static struct world *world_new(struct store_test *t) {
    struct world *world = mem_zalloc(sizeof(*world));
    struct store_settings settings = {.buffer_size = 1 << 20};
    world->t = t;
    world->store = open_store(t, &settings);
    world->position = store_recovery_position(world->store);
    store_keep_recovery(world->store, world->position);
    return world;
}

static void world_free(struct world *world) {
    store_close(world->store);
    mem_free(world);
}

static void test_any_time(void **state) {
    struct world *world = world_new(*state);
    random_seed(&world->random, test_seed());
    for (int step = 0; step < STEPS; step++) {
        write_step(world, step);
        clock_shift_ms(1 + (int64_t)random_below(&world->random, 3000));
        world->history.time_ms[step] = clock_now_ms();
        if (step % (STEPS / CHECKPOINTS) == 0)
            make_base(world);
        if (random_below(&world->random, 12) == 0)
            open_again(world);
        clock_shift_ms(5);
    }
    int64_t first_ms = world->bases[0].time_ms;
    for (int i = 0; i < 12; i++) {
        int step = (int)random_below(&world->random, STEPS);
        if (world->history.time_ms[step] >= first_ms)
            check_step(world, step);
    }
    check_step(world, STEPS - 1);
    world_free(world);
}

/* Writes until the log has gone on to another segment. */
static void fill_segment(struct world *world) {
    uint64_t from = store_recovery_position(world->store);
    struct store_batch *batch = store_batch_new(world->store);
    while (store_recovery_position(world->store) < from + 2) {
        store_batch_clear(batch);
        fill_batch(batch, 1);
        assert_int_equal(
            store_write(world->store, batch, (struct scope){&world->t->arena, &world->t->failure}),
            OK);
    }
    store_batch_free(batch);
}

/* What the log has let go of cannot be had, and nothing is left of the try. */
static void test_trimmed(void **state) {
    struct world *world = world_new(*state);
    char path[160];
    snprintf(path, sizeof(path), "%s/past", world->t->root);
    put_one(world->t, world->store, "a", "1");
    make_base(world);
    fill_segment(world);
    assert_int_equal(make_past(world, world->bases[0].path, clock_now_ms(), path), OK);
    run("rm -rf %s", path);
    store_keep_recovery(world->store, UINT64_MAX);
    /* It goes by and by. */
    enum status status = OK;
    for (int i = 0; i < 6000 && status == OK; i++) {
        char other[160];
        put_one(world->t, world->store, "a", "2");
        snprintf(other, sizeof(other), "%s/other-%d", world->t->root, i);
        assert_int_equal(store_checkpoint(world->store, other,
                                          (struct scope){&world->t->arena, &world->t->failure}),
                         OK);
        run("rm -rf %s", other);
        status = make_past(world, world->bases[0].path, clock_now_ms(), path);
        run("rm -rf %s", path);
    }
    assert_int_equal(status, NOT_FOUND);
    assert_int_not_equal(access(path, F_OK), 0);
    world_free(world);
}

static void test_stopped(void **state) {
    struct world *world = world_new(*state);
    char path[160];
    atomic_bool stop = true;
    snprintf(path, sizeof(path), "%s/past", world->t->root);
    make_base(world);
    put_one(world->t, world->store, "a", "1");
    struct store_past past = {
        .base = world->bases[0].path, .path = path, .time_ms = clock_now_ms(), .stop = &stop};
    assert_int_equal(store_restore_past(world->store, &past,
                                        (struct scope){&world->t->arena, &world->t->failure}),
                     STOPPING);
    assert_int_not_equal(access(path, F_OK), 0);
    world_free(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_time, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_trimmed, setup_store, teardown_store),
        cmocka_unit_test_setup_teardown(test_stopped, setup_store, teardown_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
