/* Writes that fail: the Nth write, or the Nth sync, for N = 1, 2, 3, ..., once or for a while. What
 * was acknowledged is there, what failed is there whole or not at all, and all that is derived
 * agrees with the items. */
#include "engine.h"

#include "base/random.h"
#include "table/local/writer.h"

enum { KEYS = 6, STEPS = 24 };

/* What an item may be: the value last acknowledged, or one whose write failed since. -1: absent. */
struct expected {
    int values[STEPS + 1];
    int count;
};

struct world {
    struct local_settings settings;
    struct store_faults faults;
    struct engine *engine;
    struct arena arena;
    struct expected expected[KEYS];
    unsigned failures;
};

static struct item key_item(struct arena *arena, int key, int value) {
    struct item item;
    const char *pk = (const char *)arena_printf(arena, "pk=S:%d%c", key, 0).data;
    if (value < 0)
        return item_of(arena, pk, "sk=S:0", NULL);
    item = item_of(arena, pk, "sk=S:0", "board=S:b",
                   (const char *)arena_printf(arena, "score=N:%d%c", value, 0).data,
                   value % 3 == 0 ? "nick=S:third" : "x=S:y", NULL);
    return item;
}

static void expect(struct world *world, int key, int value, bool acknowledged) {
    struct expected *expected = &world->expected[key];
    if (acknowledged)
        expected->count = 0;
    else
        world->failures++;
    expected->values[expected->count++] = value;
}

/* One put or deletion, or two puts in one change. */
static void step(struct world *world, int number) {
    int key = number % KEYS, other = (number + 1) % KEYS;
    bool gone = number % 5 == 4, two = number % 4 == 3;
    int value = gone ? -1 : number;
    struct action actions[2] = {{.kind = gone ? ACTION_DELETE : ACTION_PUT, .table = BYTES("game")},
                                {.kind = ACTION_PUT, .table = BYTES("game")}};
    actions[0].item = key_item(&world->arena, key, value);
    actions[1].item = key_item(&world->arena, other, number);
    struct change change = write_of(&world->arena, actions, two ? 2 : 1);
    engine_do(world->engine, &change);
    if (change.failure.status != OK)
        assert_status(&change, IO_FAILED);
    expect(world, key, value, change.failure.status == OK);
    if (two)
        expect(world, other, number, change.failure.status == OK);
}

static void check_world(struct world *world) {
    for (int key = 0; key < KEYS; key++) {
        struct item got;
        bool found =
            get_item(world->engine, &world->arena, "game", key_item(&world->arena, key, -1), &got);
        int64_t score = -1;
        if (found)
            assert_true(number_to_int(item_get(&got, BYTES("score"))->bytes, &score));
        bool allowed = false;
        for (int i = 0; i < world->expected[key].count; i++)
            allowed |= world->expected[key].values[i] == score;
        assert_true(allowed);
    }
}

/* Writes until one is acknowledged: the engine is well again. */
static void wait_well(struct world *world) {
    for (int i = 0; i < 3000; i++) {
        struct action action = {.kind = ACTION_PUT,
                                .table = BYTES("game"),
                                .item = item_of(&world->arena, "pk=S:probe", "sk=S:0", NULL)};
        action.item = item_with(&world->arena, &action.item, BYTES("n"),
                                &(struct value){.type = VALUE_BOOL, .count = (uint32_t)i % 2});
        struct change change = write_of(&world->arena, &action, 1);
        if (engine_do(world->engine, &change) == OK)
            return;
        assert_status(&change, IO_FAILED);
        usleep(20 * 1000);
    }
    fail_msg("no recovery");
}

static void run_world(struct world *world, int write_in, int sync_in, bool sticky) {
    arena_init(&world->arena);
    for (int key = 0; key < KEYS; key++)
        world->expected[key] = (struct expected){{-1}, 1};
    world->settings.store.faults = &world->faults;
    world->settings.threads = 1;
    world->engine = engine_open(&world->settings);
    struct table_schema schema = game_schema(&world->arena, "game");
    create_table(world->engine, &world->arena, &schema);
    world->faults.sticky = sticky;
    __atomic_store_n(&world->faults.write_in, write_in, __ATOMIC_SEQ_CST);
    __atomic_store_n(&world->faults.sync_in, sync_in, __ATOMIC_SEQ_CST);
    for (int i = 0; i < STEPS; i++) {
        step(world, i);
        check_world(world); /* reading goes on, whatever happens to writes */
    }
    if (sticky) {
        assert_true(world->failures > 0);
        struct engine_figures figures;
        engine_figures(world->engine, &figures);
        __atomic_store_n(&world->faults.write_in, 0, __ATOMIC_SEQ_CST);
        __atomic_store_n(&world->faults.sync_in, 0, __ATOMIC_SEQ_CST);
    }
    wait_well(world);
    check_engine(world->engine);
    check_world(world);
    step(world, 1);
    check_engine(world->engine);
    engine_close(world->engine);
    if (!world->settings.store.memory) {
        world->engine = engine_open(&world->settings);
        check_engine(world->engine);
        check_world(world);
        engine_close(world->engine);
    }
    arena_release(&world->arena);
}

static void test_faults_in_memory(void **state) {
    (void)state;
    for (int n = 1; n <= STEPS; n += n < 3 ? 1 : 9)
        for (int kind = 0; kind < 4; kind++) {
            struct world world = {.settings.store.memory = true};
            run_world(&world, kind % 2 == 0 ? n : 0, kind % 2 == 1 ? n : 0, kind >= 2);
        }
}

static void test_faults_on_disk(void **state) {
    (void)state;
    for (int n = 1; n <= 3; n++)
        for (int kind = 0; kind < 4; kind++) {
            char *path = folder_make();
            struct world world = {.settings.store.path = path};
            run_world(&world, kind % 2 == 0 ? n : 0, kind % 2 == 1 ? n : 0, kind >= 2);
            folder_remove(path);
        }
}

/* Making, changing and deleting tables, each with a write that fails. */
static void test_tables(void **state) {
    (void)state;
    for (int sync = 0; sync < 2; sync++)
        for (int kind = 0; kind < 4; kind++) {
            struct world world = {.settings.store.memory = true, .settings.threads = 1};
            world.settings.store.faults = &world.faults;
            arena_init(&world.arena);
            world.engine = engine_open(&world.settings);
            struct table_schema schema = game_schema(&world.arena, "game"),
                                other = plain_schema(&world.arena, "other");
            create_table(world.engine, &world.arena, &schema);
            put_item(world.engine, &world.arena, "game", key_item(&world.arena, 1, 3));
            struct tag tag = {BYTES("k"), BYTES("v")};
            struct alteration drop = {.drop_index = BYTES("byname")};
            struct change change = {.kind = (enum change_kind)(CHANGE_CREATE_TABLE + kind),
                                    .arena = &world.arena,
                                    .table = BYTES("game"),
                                    .schema = &other,
                                    .alteration = &drop,
                                    .tags = &tag,
                                    .tag_count = 1};
            __atomic_store_n(sync ? &world.faults.sync_in : &world.faults.write_in, 1,
                             __ATOMIC_SEQ_CST);
            engine_do(world.engine, &change);
            assert_status(&change, IO_FAILED);
            /* A write to a table that may be gone: either is right. */
            struct action action = {
                .kind = ACTION_PUT, .table = BYTES("game"), .item = key_item(&world.arena, 2, 5)};
            struct change write = write_of(&world.arena, &action, 1);
            enum status status = engine_do(world.engine, &write);
            assert_true(status == OK || (kind == 1 && sync == 1 && status == NO_TABLE));
            check_engine(world.engine);
            engine_close(world.engine);
            arena_release(&world.arena);
        }
}

/* Those that wait with a failing one fail with it: they may have seen what it did. */
static void test_group_fails_together(void **state) {
    (void)state;
    enum { COUNT = 50 };
    struct world world = {.settings.store.memory = true, .settings.threads = 1};
    world.settings.store.faults = &world.faults;
    arena_init(&world.arena);
    world.engine = engine_open(&world.settings);
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    struct item values = item_of(&world.arena, ":n=N:1", NULL), got;
    struct update *update = update_of(&world.arena, "ADD score :n", &values);
    struct action actions[COUNT];
    struct change changes[COUNT];
    struct arena arenas[COUNT];
    sem_t done;
    struct stall stall;
    sem_init(&done, 0, 0);
    for (int i = 0; i < COUNT; i++) {
        arena_init(&arenas[i]);
        actions[i] = (struct action){.kind = ACTION_UPDATE,
                                     .table = BYTES("game"),
                                     .item = key_item(&world.arena, 1, -1),
                                     .update = update};
        changes[i] = write_of(&arenas[i], &actions[i], 1);
        changes[i].done = engine_done;
        changes[i].user = &done;
    }
    engine_submit(world.engine, &changes[0]); /* alone */
    sem_wait(&done);
    stall_start(&stall, world.engine); /* so that the others do wait together */
    __atomic_store_n(&world.faults.write_in, 1, __ATOMIC_SEQ_CST);
    for (int i = 1; i < COUNT; i++)
        engine_submit(world.engine, &changes[i]);
    stall_end(&stall);
    int64_t score = 0;
    for (int i = 1; i < COUNT; i++)
        sem_wait(&done);
    for (int i = 0; i < COUNT; i++) {
        assert_status(&changes[i], i == 0 ? OK : IO_FAILED);
        arena_release(&arenas[i]);
    }
    sem_destroy(&done);
    wait_well(&world);
    get_item(world.engine, &world.arena, "game", key_item(&world.arena, 1, -1), &got);
    number_to_int(item_get(&got, BYTES("score"))->bytes, &score);
    assert_int_equal(score, 1);
    check_engine(world.engine);
    engine_close(world.engine);
    arena_release(&world.arena);
}

struct reader {
    struct engine *engine;
    atomic_bool stop;
    atomic_uint reads, faults;
};

static void *read_on(void *argument) {
    struct reader *reader = argument;
    struct arena arena;
    arena_init(&arena);
    while (!atomic_load(&reader->stop)) {
        struct failure failure;
        struct page_reply page;
        struct get_reply got;
        arena_reset(&arena);
        struct page_request scan = {.table = BYTES("game"), .index = BYTES("byscore")};
        struct get_request get = {.table = BYTES("game"), .key = key_item(&arena, 1, -1)};
        if (engine_page(reader->engine, &scan, (struct scope){&arena, &failure}, &page) != OK ||
            engine_get(reader->engine, &get, (struct scope){&arena, &failure}, &got) != OK)
            atomic_fetch_add(&reader->faults, 1);
        atomic_fetch_add(&reader->reads, 1);
    }
    arena_release(&arena);
    return NULL;
}

/* Failures and recoveries, again and again, under the eyes of readers. */
static void test_readers(void **state) {
    (void)state;
    struct world world = {.settings.store.memory = true, .settings.threads = 1};
    world.settings.store.faults = &world.faults;
    arena_init(&world.arena);
    for (int key = 0; key < KEYS; key++)
        world.expected[key] = (struct expected){{-1}, 1};
    world.engine = engine_open(&world.settings);
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    struct reader reader = {.engine = world.engine};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, read_on, &reader);
    for (int round = 0; round < 6; round++) {
        unsigned reads = atomic_load(&reader.reads);
        while (atomic_load(&reader.reads) == reads) /* they are at it */
            usleep(1000);
        __atomic_store_n(round % 2 ? &world.faults.sync_in : &world.faults.write_in, 2,
                         __ATOMIC_SEQ_CST);
        for (int i = 0; i < 3; i++)
            step(&world, round * 3 + i);
        check_world(&world);
        wait_well(&world);
    }
    atomic_store(&reader.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(world.failures >= 6);
    assert_int_equal(atomic_load(&reader.faults), 0);
    check_world(&world);
    check_engine(world.engine);
    engine_close(world.engine);
    arena_release(&world.arena);
}

/* --- groups that follow on one that fails --- */

enum { ADDERS = 6, COUNTERS = 3, ROUNDS = 6 };

/* Each adds to counters that all share. A write that failed may be there after all, so what the
 * counter shows is between what was acknowledged and what was tried. */
struct adder {
    struct world *world;
    struct random random;
    pthread_t thread;
    atomic_bool *stop;
    atomic_uint done[COUNTERS], failed[COUNTERS];
};

static enum status add_one(struct action *action, const struct item *old, struct arena *arena,
                           struct item *new) {
    int64_t number = 0;
    if (old->count != 0)
        number_to_int(item_get(old, BYTES("score"))->bytes, &number);
    struct value more = {.type = VALUE_N, .bytes = number_from_int(arena, number + 1)};
    struct value board = value_string(BYTES("b"));
    *new = item_with(arena, &action->item, BYTES("score"), &more);
    *new = item_with(arena, new, BYTES("board"), &board);
    return OK;
}

static struct item counter_key(struct arena *arena, unsigned counter) {
    static const char *const names[COUNTERS] = {"pk=S:x", "pk=S:y", "pk=S:z"};
    return item_of(arena, names[counter], "sk=S:0", NULL);
}

static void *add_on(void *argument) {
    struct adder *adder = argument;
    struct arena arena;
    arena_init(&arena);
    while (!atomic_load(adder->stop)) {
        unsigned counter = (unsigned)random_below(&adder->random, COUNTERS);
        arena_reset(&arena);
        struct action action = {.kind = ACTION_COMPUTE,
                                .table = BYTES("game"),
                                .item = counter_key(&arena, counter),
                                .compute = add_one};
        struct change change = write_of(&arena, &action, 1);
        if (engine_do(adder->world->engine, &change) == OK) {
            atomic_fetch_add(&adder->done[counter], 1);
            continue;
        }
        atomic_fetch_add(&adder->failed[counter], 1);
        usleep(2000);
    }
    arena_release(&arena);
    return NULL;
}

/* The sums of all who add to it. */
struct added {
    unsigned done, failed;
};

static struct added added_to(const struct adder *adders, unsigned counter) {
    struct added sum = {0};
    for (int i = 0; i < ADDERS; i++) {
        sum.done += atomic_load(&adders[i].done[counter]);
        sum.failed += atomic_load(&adders[i].failed[counter]);
    }
    return sum;
}

static void check_counter(struct world *world, const struct adder *adders, unsigned counter) {
    struct added added = added_to(adders, counter);
    int64_t shown = 0;
    struct item got;
    if (get_item(world->engine, &world->arena, "game", counter_key(&world->arena, counter), &got))
        number_to_int(item_get(&got, BYTES("score"))->bytes, &shown);
    assert_in_range(shown, added.done, added.done + added.failed);
}

/* Waits until each counter was added to once more. */
static void wait_for_more(const struct adder *adders) {
    unsigned before[COUNTERS];
    for (unsigned i = 0; i < COUNTERS; i++)
        before[i] = added_to(adders, i).done;
    for (unsigned i = 0; i < COUNTERS; i++)
        while (added_to(adders, i).done == before[i])
            usleep(1000);
}

static unsigned failures_of(const struct adder *adders) {
    unsigned sum = 0;
    for (unsigned i = 0; i < COUNTERS; i++)
        sum += added_to(adders, i).failed;
    return sum;
}

static bool each_has_failed(const struct adder *adders) {
    bool each = true;
    for (unsigned i = 0; i < COUNTERS; i++)
        each &= added_to(adders, i).failed != 0;
    return each;
}

static void test_followers(void **state) {
    (void)state;
    struct world world = {.settings = {.store.path = folder_make(), .commit_thread_from = 2}};
    struct adder adders[ADDERS] = {0};
    atomic_bool stop = false;
    uint64_t seed = test_seed();
    world.settings.store.faults = &world.faults;
    arena_init(&world.arena);
    world.engine = engine_open(&world.settings);
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    for (int i = 0; i < ADDERS; i++) {
        adders[i].world = &world;
        adders[i].stop = &stop;
        random_seed(&adders[i].random, seed + (uint64_t)i);
        pthread_create(&adders[i].thread, NULL, add_on, &adders[i]);
    }
    for (int round = 0; round < ROUNDS || !each_has_failed(adders); round++) {
        wait_for_more(adders);
        unsigned failed = failures_of(adders);
        __atomic_store_n(round % 2 ? &world.faults.sync_in : &world.faults.write_in, 3,
                         __ATOMIC_SEQ_CST);
        while (failures_of(adders) == failed)
            usleep(1000);
    }
    wait_for_more(adders);
    atomic_store(&stop, true);
    for (int i = 0; i < ADDERS; i++)
        pthread_join(adders[i].thread, NULL);
    wait_well(&world);
    for (unsigned i = 0; i < COUNTERS; i++)
        check_counter(&world, adders, i);
    check_engine(world.engine);
    engine_close(world.engine);
    arena_release(&world.arena);
    folder_remove((char *)(uintptr_t)world.settings.store.path);
}

static void test_read_fault(void **state) {
    (void)state;
    struct world world = {.settings.store.memory = true, .settings.threads = 1};
    world.settings.store.faults = &world.faults;
    arena_init(&world.arena);
    world.engine = engine_open(&world.settings);
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    /* The store is asked, since the partition has an item. */
    put_item(world.engine, &world.arena, "game",
             item_of(&world.arena, "pk=S:1", "sk=S:another", NULL));
    __atomic_store_n(&world.faults.read_in, 1, __ATOMIC_SEQ_CST);
    struct action action = {
        .kind = ACTION_PUT, .table = BYTES("game"), .item = key_item(&world.arena, 1, 5)};
    struct change change = write_of(&world.arena, &action, 1);
    engine_do(world.engine, &change);
    assert_status(&change, IO_FAILED);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    check_engine(world.engine);
    engine_close(world.engine);
    arena_release(&world.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_in_memory), cmocka_unit_test(test_faults_on_disk),
        cmocka_unit_test(test_tables),           cmocka_unit_test(test_group_fails_together),
        cmocka_unit_test(test_readers),          cmocka_unit_test(test_read_fault),
        cmocka_unit_test(test_followers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
