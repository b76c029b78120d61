/* What a call has seen: whether it is still so, against an engine that others write to. */
#include "test.h"

#include "api/redis/seen_versions.h"
#include "base/clock.h"
#include "table/local/engine.h"

struct world {
    struct arena arena;
    struct engine *engine;
};

static void open_world(struct world *world) {
    arena_init(&world->arena);
    world->engine = engine_open_memory();
    struct table_schema schema = game_schema(&world->arena, "game");
    create_table(world->engine, &world->arena, &schema);
}

static void close_world(struct world *world) {
    engine_close(world->engine);
    arena_release(&world->arena);
}

static struct partition_seen see(struct world *world, const char *partition) {
    struct value key = value_string(bytes_str(partition));
    struct partition_seen seen = {0};
    seen.version = engine_partition_version_slot(world->engine, BYTES("game"), &key, &seen.slot);
    return seen;
}

static void test_current(void **state) {
    (void)state;
    struct world world;
    struct seen_versions seen = {0};
    open_world(&world);
    assert_true(seen_is_current(&seen, world.engine)); /* nothing was seen */
    seen_add(&seen, see(&world, "a"), &world.arena);
    seen_add(&seen, see(&world, "b"), &world.arena);
    put_item(world.engine, &world.arena, "game",
             item_of(&world.arena, "pk=S:other", "sk=S:x", NULL));
    assert_true(seen_is_current(&seen, world.engine));
    put_item(world.engine, &world.arena, "game", item_of(&world.arena, "pk=S:b", "sk=S:x", NULL));
    assert_false(seen_is_current(&seen, world.engine));
    close_world(&world);
}

static void test_two_versions(void **state) {
    (void)state;
    struct world world;
    struct seen_versions seen = {0};
    open_world(&world);
    seen_add(&seen, see(&world, "a"), &world.arena);
    put_item(world.engine, &world.arena, "game", item_of(&world.arena, "pk=S:a", "sk=S:x", NULL));
    seen_add(&seen, see(&world, "a"), &world.arena); /* as it is now, but it was not */
    assert_false(seen_is_current(&seen, world.engine));
    close_world(&world);
}

static void test_ends(void **state) {
    (void)state;
    struct world world;
    struct seen_versions seen = {0};
    open_world(&world);
    seen_ends(&seen, 0);
    seen_ends(&seen, INT64_MAX);
    assert_true(seen_is_current(&seen, world.engine));
    seen_ends(&seen, clock_now_ms() - 1);
    seen_ends(&seen, INT64_MAX);
    assert_false(seen_is_current(&seen, world.engine));
    close_world(&world);
}

/* Who has seen very many partitions, so that all slots are among theirs, is told of these alone. */
static void test_many(void **state) {
    (void)state;
    enum { PARTITIONS = 200000, OTHERS = 2000 };
    struct world world;
    struct seen_versions seen = {0};
    char name[32];
    open_world(&world);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        seen_add(&seen, see(&world, name), &world.arena);
    }
    assert_true(seen.count <= PARTITIONS && seen.count > PARTITIONS - PARTITIONS / 1000);
    assert_true(seen_is_current(&seen, world.engine));
    for (unsigned i = 0; i < OTHERS; i++) {
        snprintf(name, sizeof(name), "pk=S:other%u", i % (OTHERS / 2));
        put_item(world.engine, &world.arena, "game",
                 item_of(&world.arena, name, i % 2 == 0 ? "sk=S:x" : "sk=S:y", NULL));
    }
    assert_true(seen_is_current(&seen, world.engine));
    put_item(world.engine, &world.arena, "game",
             item_of(&world.arena, "pk=S:p77777", "sk=S:x", NULL));
    assert_false(seen_is_current(&seen, world.engine));
    close_world(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_current),
        cmocka_unit_test(test_two_versions),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
