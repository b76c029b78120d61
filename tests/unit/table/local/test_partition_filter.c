/* Partition filters: a partition with items is never excluded, one without mostly is. That no item
 * is excluded is also asserted by check_engine(), in all tests of the engine. */
#include "engine.h"

#include "base/random.h"
#include "table/inprocess.h"

enum { MANY = 6000, ASKED = 2000 };

struct world {
    struct engine *engine;
    struct arena arena;
    char *folder; /* NULL: in memory */
};

static void world_open(struct world *world) {
    struct local_settings settings = {
        .store = {.path = world->folder, .memory = world->folder == NULL}, .threads = 2};
    world->engine = engine_open(&settings);
}

static void world_close(struct world *world) {
    check_engine(world->engine);
    engine_close(world->engine);
    arena_reset(&world->arena);
}

static struct item key_of(struct arena *arena, const char *prefix, unsigned number) {
    struct bytes pk = arena_printf(arena, "pk=S:%s%u%c", prefix, number, 0);
    return item_of(arena, (const char *)pk.data, "sk=S:a", NULL);
}

/* Puts the items, a hundred in a change. */
static void put_many(struct world *world, const char *table, const char *prefix, unsigned count) {
    enum { TOGETHER = 100 };
    for (unsigned from = 0; from < count; from += TOGETHER) {
        struct action actions[TOGETHER];
        for (unsigned i = 0; i < TOGETHER; i++)
            actions[i] = (struct action){.kind = ACTION_PUT,
                                         .table = bytes_str(table),
                                         .item = key_of(&world->arena, prefix, from + i)};
        struct change change = write_of(&world->arena, actions, TOGETHER);
        engine_do(world->engine, &change);
        assert_status(&change, OK);
        arena_reset(&world->arena);
    }
}

/* How many of the first partitions the filter excludes. */
static unsigned count_excluded(struct world *world, const char *table, const char *prefix) {
    struct local *local = local_of(world->engine);
    unsigned excluded = 0;
    for (unsigned i = 0; i < ASKED; i++) {
        struct item key = key_of(&world->arena, prefix, i);
        struct buf stored = {0};
        const struct table *of = local_table(local, bytes_str(table));
        keys_put_partition(&stored, of, &key.pairs[0].value);
        excluded += partition_filter_excludes(&of->partition_filter, buf_bytes(&stored));
        buf_release(&stored);
    }
    arena_reset(&world->arena);
    return excluded;
}

static void check_there(struct world *world, const char *table, const char *prefix, bool there) {
    for (unsigned i = 0; i < ASKED; i++) {
        struct item item, key = key_of(&world->arena, prefix, i);
        assert_int_equal(get_item(world->engine, &world->arena, table, key, &item), there);
        arena_reset(&world->arena);
    }
}

/* --- the tests --- */

static void test_new_table(void **state) {
    (void)state;
    struct world world = {0};
    world_open(&world);
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    assert_int_equal(count_excluded(&world, "game", "in"), ASKED);
    put_many(&world, "game", "in", MANY);
    assert_int_equal(count_excluded(&world, "game", "in"), 0);
    assert_true(count_excluded(&world, "game", "out") > ASKED - ASKED / 20);
    check_there(&world, "game", "in", true);
    check_there(&world, "game", "out", false);
    world_close(&world);
    arena_release(&world.arena);
}

/* After a start the filter of a table with indexes has what the folder has; there is none of one
 * without, and nothing of it is overlooked either. */
static void test_restart(void **state) {
    (void)state;
    struct world world = {.folder = folder_make()};
    world_open(&world);
    struct table_schema game = game_schema(&world.arena, "game");
    struct table_schema plain = plain_schema(&world.arena, "plain");
    create_table(world.engine, &world.arena, &game);
    create_table(world.engine, &world.arena, &plain);
    put_many(&world, "game", "in", MANY);
    put_many(&world, "plain", "in", MANY);
    world_close(&world);
    world_open(&world);
    assert_int_equal(count_excluded(&world, "game", "in"), 0);
    assert_true(count_excluded(&world, "game", "out") > ASKED - ASKED / 20);
    assert_int_equal(count_excluded(&world, "plain", "out"), 0);
    assert_true(engine_partitions_absent(world.engine, BYTES("game"), NULL, 0));
    assert_false(engine_partitions_absent(world.engine, BYTES("plain"), NULL, 0));
    assert_false(engine_partitions_absent(world.engine, BYTES("none"), NULL, 0));
    check_there(&world, "game", "in", true);
    check_there(&world, "plain", "in", true);
    put_many(&world, "game", "out", ASKED);
    put_many(&world, "plain", "out", ASKED);
    check_there(&world, "game", "out", true);
    check_there(&world, "plain", "out", true);
    world_close(&world);
    arena_release(&world.arena);
    folder_remove(world.folder);
}

/* What the function of an action asks the engine. */
struct asking {
    struct engine *engine;
    struct value partitions[2];
    bool absent;
};

static enum status ask(struct action *action, const struct item *old, struct arena *arena,
                       struct item *new) {
    struct asking *asking = action->user;
    (void)old, (void)arena, (void)new;
    asking->absent = engine_partitions_absent(asking->engine, BYTES("game"), asking->partitions, 2);
    return OK;
}

static bool ask_in_action(struct world *world, struct asking *asking) {
    struct action action = {.kind = ACTION_COMPUTE,
                            .table = BYTES("game"),
                            .item = key_of(&world->arena, "other", 0),
                            .compute = ask,
                            .user = asking};
    struct change change = write_of(&world->arena, &action, 1);
    engine_do(world->engine, &change);
    assert_status(&change, OK);
    return asking->absent;
}

/* Asked by an action, all partitions that were written to before are there. */
static void test_asked_by_action(void **state) {
    (void)state;
    struct world world = {0};
    world_open(&world);
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    struct asking asking = {
        world.engine, {value_string(BYTES("free")), value_string(BYTES("in7"))}, false};
    assert_true(ask_in_action(&world, &asking));
    assert_true(engine_partitions_absent(world.engine, BYTES("game"), asking.partitions, 2));
    put_many(&world, "game", "in", 100);
    assert_false(ask_in_action(&world, &asking));
    assert_false(engine_partitions_absent(world.engine, BYTES("game"), asking.partitions, 2));
    world_close(&world);
    arena_release(&world.arena);
}

/* Adds one to what is there. */
static enum status add_one(struct action *action, const struct item *old, struct arena *arena,
                           struct item *new) {
    int64_t count = 0;
    const struct value *value = item_get(old, BYTES("count"));
    if (value != NULL)
        assert_true(number_to_int(value->bytes, &count));
    struct value number = {.type = VALUE_N, .bytes = number_from_int(arena, count + 1)};
    *new = item_with(arena, &action->item, BYTES("count"), &number);
    return OK;
}

/* Several writes of new items wait together, so a later one must see that an earlier one of its
 * group has made the item. */
static void test_groups(void **state) {
    (void)state;
    enum { KEYS = 50, WRITES = 400 };
    struct world world = {0};
    struct random random;
    int64_t counts[KEYS] = {0};
    random_seed(&random, 11);
    world_open(&world);
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    struct action actions[WRITES];
    struct change changes[WRITES];
    sem_t done;
    sem_init(&done, 0, 0);
    for (unsigned i = 0; i < WRITES; i++) {
        unsigned key = (unsigned)random_below(&random, KEYS);
        counts[key]++;
        actions[i] = (struct action){.kind = ACTION_COMPUTE,
                                     .table = BYTES("game"),
                                     .item = key_of(&world.arena, "in", key),
                                     .compute = add_one};
        changes[i] = write_of(ARENA_NEW(&world.arena, struct arena), &actions[i], 1);
        changes[i].done = engine_done;
        changes[i].user = &done;
        engine_submit(world.engine, &changes[i]);
    }
    for (unsigned i = 0; i < WRITES; i++)
        while (sem_wait(&done) != 0)
            ;
    for (unsigned i = 0; i < WRITES; i++) {
        assert_status(&changes[i], OK);
        arena_release(changes[i].arena);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        struct item item;
        int64_t count = 0;
        bool there =
            get_item(world.engine, &world.arena, "game", key_of(&world.arena, "in", i), &item);
        if (there)
            assert_true(number_to_int(item_get(&item, BYTES("count"))->bytes, &count));
        assert_int_equal(count, counts[i]);
    }
    sem_destroy(&done);
    world_close(&world);
    arena_release(&world.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_table), cmocka_unit_test(test_restart),
        cmocka_unit_test(test_asked_by_action), cmocka_unit_test(test_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
