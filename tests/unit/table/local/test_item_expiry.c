/* Items that end: with a clock that the test moves. */
#include "engine.h"

#include "base/clock.h"
#include "base/random.h"
#include "table/local/writer.h"

struct world {
    struct engine *engine;
    struct arena arena;
    char *folder;
    struct local_settings settings;
};

static void set_expiry(struct world *world, bool on, enum status want) {
    struct change change = {.kind = CHANGE_EXPIRY,
                            .arena = &world->arena,
                            .table = BYTES("game"),
                            .expiry = BYTES("ttl"),
                            .expires = on};
    engine_do(world->engine, &change);
    assert_status(&change, want);
}

static void world_open(struct world *world, bool durable) {
    *world = (struct world){0};
    arena_init(&world->arena);
    world->settings.threads = 1;
    world->settings.store.memory = !durable;
    if (durable)
        world->settings.store.path = world->folder = folder_make();
    world->engine = engine_open(&world->settings);
    struct table_schema schema = game_schema(&world->arena, "game");
    create_table(world->engine, &world->arena, &schema);
}

static void world_reopen(struct world *world) {
    engine_close(world->engine);
    world->engine = engine_open(&world->settings);
}

static void world_close(struct world *world) {
    engine_close(world->engine);
    arena_release(&world->arena);
    if (world->folder != NULL)
        folder_remove(world->folder);
}

static int64_t now_s(void) {
    return clock_now_ms() / 1000;
}

static struct item key_of(struct world *world, const char *name) {
    return item_of(&world->arena,
                   (const char *)arena_printf(&world->arena, "pk=S:%s%c", name, 0).data, "sk=S:0",
                   NULL);
}

/* With "ttl" as given ("N:12.5", "S:x", ""), and in both indexes. */
static struct item item_ending(struct world *world, const char *name, const char *ttl) {
    struct arena *arena = &world->arena;
    const char *pk = (const char *)arena_printf(arena, "pk=S:%s%c", name, 0).data;
    if (*ttl == '\0')
        return item_of(arena, pk, "sk=S:0", "board=S:b", "score=N:1", "nick=S:n", NULL);
    return item_of(arena, pk, "sk=S:0", "board=S:b", "score=N:1", "nick=S:n",
                   (const char *)arena_printf(arena, "ttl=%s%c", ttl, 0).data, NULL);
}

static void put(struct world *world, const char *name, const char *ttl) {
    put_item(world->engine, &world->arena, "game", item_ending(world, name, ttl));
}

static void put_in(struct world *world, const char *name, double seconds) {
    char ttl[64];
    snprintf(ttl, sizeof(ttl), "N:%.3f", (double)clock_now_ms() / 1000 + seconds);
    put(world, name, ttl);
}

static bool is_there(struct world *world, const char *name) {
    struct item got;
    return get_item(world->engine, &world->arena, "game", key_of(world, name), &got);
}

/* Takes away what is due, if the writer has not done it by itself. */
static void expire(struct world *world) {
    struct change change = {.kind = CHANGE_EXPIRE, .arena = &world->arena};
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

/* Items PREFIX0, PREFIX1, ..., ending after `seconds` and a little more each, in few commits. */
static void put_many(struct world *world, const char *prefix, int count, int seconds, int spread) {
    enum { EACH = 100 };
    struct action actions[EACH];
    char name[32], ttl[32];
    for (int done = 0; done < count; done += EACH) {
        for (int i = 0; i < EACH; i++) {
            snprintf(name, sizeof(name), "%s%d", prefix, done + i);
            snprintf(ttl, sizeof(ttl), "N:%lld",
                     (long long)(now_s() + seconds + (done + i) % spread));
            actions[i] = (struct action){
                .kind = ACTION_PUT, .table = BYTES("game"), .item = item_ending(world, name, ttl)};
        }
        struct change change = write_of(&world->arena, actions, EACH);
        engine_do(world->engine, &change);
        assert_status(&change, OK);
    }
}

static uint64_t item_count(struct world *world) {
    struct table_description about;
    struct failure failure;
    assert_int_equal(engine_describe(world->engine, BYTES("game"),
                                     (struct scope){&world->arena, &failure}, &about),
                     OK);
    for (uint32_t i = 0; i < about.schema.index_count; i++)
        assert_int_equal(about.indexes[i].item_count, about.item_count);
    return about.item_count;
}

/* Waits until a tree that is being built is there. */
static void wait_built(struct world *world) {
    struct local *local = local_of(world->engine);
    for (int i = 0; i < 30000; i++) {
        pthread_rwlock_rdlock(&local->state_lock);
        const struct table *table = map_get(&local->tables, BYTES("game"));
        bool built = table->expiry == NULL || table->expiry->tree != NULL;
        pthread_rwlock_unlock(&local->state_lock);
        if (built)
            return;
        usleep(2000);
    }
    fail_msg("not built");
}

static void test_settings(void **state) {
    (void)state;
    struct world world;
    world_open(&world, false);
    set_expiry(&world, false, INVALID);
    set_expiry(&world, true, OK);
    set_expiry(&world, true, INVALID);
    struct change other = {.kind = CHANGE_EXPIRY,
                           .arena = &world.arena,
                           .table = BYTES("game"),
                           .expiry = BYTES("end")};
    engine_do(world.engine, &other);
    assert_status(&other, INVALID);
    assert_text(other.failure.text,
                "TimeToLive is active on a different AttributeName: current AttributeName is ttl");
    set_expiry(&world, false, OK);
    put_in(&world, "past", -1);
    expire(&world);
    assert_true(is_there(&world, "past"));
    other.table = BYTES("none");
    engine_do(world.engine, &other);
    assert_status(&other, NO_TABLE);
    check_engine(world.engine);
    world_close(&world);
}

static void test_kinds(void **state) {
    (void)state;
    struct world world;
    char text[64];
    world_open(&world, false);
    set_expiry(&world, true, OK);
    wait_built(&world);
    put(&world, "none", "");
    put(&world, "text", "S:1");
    put(&world, "bytes", "B:1");
    put(&world, "zero", "N:0");
    put(&world, "negative", "N:-5");
    put(&world, "huge", "N:9e100");
    put(&world, "long-ago", "N:100000"); /* 1970: over five years past */
    snprintf(text, sizeof(text), "N:%lld", (long long)(now_s() - 4 * 365 * 24 * 3600));
    put(&world, "some-years-ago", text);
    put_in(&world, "later", 3600);
    int64_t ends_ms = clock_now_ms() + 100 * 1000 + 999;
    snprintf(text, sizeof(text), "N:%lld.%03lld", (long long)ends_ms / 1000,
             (long long)ends_ms % 1000);
    put(&world, "soon", text);
    expire(&world);
    assert_false(is_there(&world, "some-years-ago"));
    assert_int_equal(item_count(&world), 9);
    clock_shift_ms(100 * 1000);
    expire(&world);
    bool there = is_there(&world, "soon");
    assert_true(there || clock_now_ms() >= ends_ms); /* a part of a second is missing */
    clock_shift_ms(1000);
    expire(&world);
    assert_false(is_there(&world, "soon"));
    clock_shift_ms(3600 * 1000);
    expire(&world);
    assert_int_equal(item_count(&world), 7);
    check_engine(world.engine);
    world_close(&world);
}

/* The last word on an item's time counts. */
static void test_changes(void **state) {
    (void)state;
    struct world world;
    world_open(&world, false);
    set_expiry(&world, true, OK);
    wait_built(&world);
    struct arena *arena = &world.arena;
    put_in(&world, "moved", 10);
    put_in(&world, "moved", 1000);
    put_in(&world, "stripped", 10);
    struct action action = {
        .kind = ACTION_UPDATE, .table = BYTES("game"), .item = key_of(&world, "stripped")};
    struct item aliases = {0};
    struct expr_source source = source_of(arena, "UpdateExpression", "REMOVE #t", &aliases);
    source.env->names = &(struct expr_name){.alias = BYTES("#t"), .name = BYTES("ttl")};
    source.env->name_count = 1;
    struct update *update = NULL;
    assert_int_equal(update_parse(&source, &update), OK);
    action.update = update;
    struct change change = write_of(arena, &action, 1);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    put_in(&world, "deleted", 10);
    action = (struct action){
        .kind = ACTION_DELETE, .table = BYTES("game"), .item = key_of(&world, "deleted")};
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    put_in(&world, "due", 10);
    clock_shift_ms(20 * 1000);
    expire(&world);
    assert_false(is_there(&world, "due"));
    assert_true(is_there(&world, "moved"));
    assert_true(is_there(&world, "stripped"));
    clock_shift_ms(2000 * 1000);
    expire(&world);
    assert_false(is_there(&world, "moved"));
    assert_true(is_there(&world, "stripped"));
    check_engine(world.engine);
    world_close(&world);
}

/* Nobody asks: the writer looks by itself, several times a second. */
static void test_by_itself(void **state) {
    (void)state;
    struct world world;
    world_open(&world, false);
    set_expiry(&world, true, OK);
    put_in(&world, "soon", 3600);
    assert_true(is_there(&world, "soon"));
    clock_shift_ms(3601 * 1000);
    int64_t until = clock_ticks_us() + INT64_C(60) * 1000 * 1000;
    while (is_there(&world, "soon"))
        assert_true(clock_ticks_us() < until);
    assert_int_equal(item_count(&world), 0);
    world_close(&world);
}

/* Switched on for a table with items, some written while the tree is built; then a restart. */
static void test_later_and_restart(void **state) {
    (void)state;
    struct world world;
    world_open(&world, true);
    put_many(&world, "a", 2000, 1050, 100);
    set_expiry(&world, true, OK);
    put_many(&world, "a", 100, 1060, 1);
    put_many(&world, "b", 100, 2500, 1);
    wait_built(&world);
    check_engine(world.engine);
    world_reopen(&world);
    check_engine(world.engine);
    clock_shift_ms(1160 * 1000);
    expire(&world);
    assert_int_equal(item_count(&world), 100);
    check_engine(world.engine);
    world_reopen(&world);
    assert_int_equal(item_count(&world), 100);
    clock_shift_ms(1500 * 1000);
    expire(&world);
    assert_int_equal(item_count(&world), 0);
    world_close(&world);
}

/* A table can go while its tree is built. */
static void test_deleted_at_once(void **state) {
    (void)state;
    struct world world;
    world_open(&world, false);
    for (int round = 0; round < 20; round++) {
        put_in(&world, "a", 100);
        set_expiry(&world, true, OK);
        if (round % 2 == 0)
            set_expiry(&world, false, OK);
        struct change change = {
            .kind = CHANGE_DELETE_TABLE, .arena = &world.arena, .table = BYTES("game")};
        engine_do(world.engine, &change);
        assert_status(&change, OK);
        struct table_schema schema = game_schema(&world.arena, "game");
        create_table(world.engine, &world.arena, &schema);
    }
    check_engine(world.engine);
    world_close(&world);
}

/* Writes that fail while items end: what is there afterwards agrees with its trees. */
static void test_faults(void **state) {
    (void)state;
    for (int n = 1; n <= 3; n++) {
        struct world world;
        struct store_faults faults = {0};
        world_open(&world, true);
        engine_close(world.engine);
        world.settings.store.faults = &faults;
        world.engine = engine_open(&world.settings);
        set_expiry(&world, true, OK);
        put_many(&world, "a", 1200, 500, 1);
        wait_built(&world);
        __atomic_store_n(n % 2 == 0 ? &faults.sync_in : &faults.write_in, n, __ATOMIC_SEQ_CST);
        clock_shift_ms(600 * 1000);
        struct change change = {.kind = CHANGE_EXPIRE, .arena = &world.arena};
        for (int tries = 0; tries < 3000 && engine_do(world.engine, &change) != OK; tries++) {
            assert_status(&change, IO_FAILED);
            usleep(20 * 1000);
        }
        assert_status(&change, OK);
        assert_int_equal(item_count(&world), 0);
        check_engine(world.engine);
        world_close(&world);
    }
}

/* Random writes and a clock that goes on, against a plain array. */
static void test_model(void **state) {
    (void)state;
    enum { KEYS = 60, ROUNDS = 1500 };
    struct world world;
    struct random random;
    int64_t ends[KEYS]; /* -1: absent; INT64_MAX: for good */
    char name[16];
    random_seed(&random, test_seed());
    world_open(&world, false);
    set_expiry(&world, true, OK);
    wait_built(&world);
    for (int i = 0; i < KEYS; i++)
        ends[i] = -1;
    for (int round = 0; round < ROUNDS; round++) {
        int key = (int)random_below(&random, KEYS);
        int64_t second = now_s() + 5 + (int64_t)random_below(&random, 60);
        char ttl[32];
        snprintf(name, sizeof(name), "k%d", key);
        snprintf(ttl, sizeof(ttl), "N:%lld", (long long)second);
        bool stays = random_below(&random, 4) == 0;
        put(&world, name, stays ? "S:never" : ttl);
        ends[key] = stays ? INT64_MAX : second * 1000;
        if (random_below(&random, 20) == 0)
            clock_shift_ms(7000);
        if (random_below(&random, 10) != 0)
            continue;
        int64_t before = clock_now_ms();
        expire(&world);
        for (int i = 0; i < KEYS; i++) {
            snprintf(name, sizeof(name), "k%d", i);
            bool there = is_there(&world, name);
            /* what ended within the last moments may still be there, or be gone by now */
            if (there)
                assert_true(ends[i] > before - 1000);
            else
                assert_true(ends[i] <= clock_now_ms());
            if (!there)
                ends[i] = -1;
        }
        arena_reset(&world.arena);
    }
    check_engine(world.engine);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_by_itself),
        cmocka_unit_test(test_later_and_restart),
        cmocka_unit_test(test_deleted_at_once),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
