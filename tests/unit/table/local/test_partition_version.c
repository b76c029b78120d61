/* When a partition last changed: the number rises with it, and who finds it unchanged may trust
 * what was read. */
#include "base/mem.h"
#include "engine.h"
#include "table/inprocess.h"
#include "table/local/local_int.h"

struct world {
    struct engine *engine;
    struct arena arena;
};

static uint64_t version_of(struct engine *engine, const char *table, const char *partition) {
    struct value value = value_string(bytes_str(partition));
    return engine_partition_version(engine, bytes_str(table), &value);
}

static uint32_t where_of(struct engine *engine, const char *table, const char *partition) {
    struct value value = value_string(bytes_str(partition));
    uint32_t slot;
    uint64_t last = engine_partition_version_slot(engine, bytes_str(table), &value, &slot);
    assert_int_equal(last, engine_partition_version(engine, bytes_str(table), &value));
    assert_int_equal(last, engine_partition_version_at(engine, slot));
    return slot;
}

static void delete_table(struct world *world, const char *name) {
    struct change change = {
        .kind = CHANGE_DELETE_TABLE, .arena = &world->arena, .table = bytes_str(name)};
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

static void test_rises(void **state) {
    (void)state;
    struct world world;
    arena_init(&world.arena);
    world.engine = engine_open_memory();
    struct table_schema schema = game_schema(&world.arena, "game");
    assert_int_equal(version_of(world.engine, "game", "a"), 0);
    create_table(world.engine, &world.arena, &schema);
    uint64_t a = version_of(world.engine, "game", "a"), b = version_of(world.engine, "game", "b");
    put_item(world.engine, &world.arena, "game",
             item_of(&world.arena, "pk=S:a", "sk=S:1", "score=N:1", NULL));
    assert_true(version_of(world.engine, "game", "a") > a);
    assert_int_equal(version_of(world.engine, "game", "b"), b);
    a = version_of(world.engine, "game", "a");
    /* The same again changes nothing. */
    put_item(world.engine, &world.arena, "game",
             item_of(&world.arena, "pk=S:a", "sk=S:1", "score=N:1", NULL));
    assert_int_equal(version_of(world.engine, "game", "a"), a);
    struct action del = {.kind = ACTION_DELETE,
                         .table = BYTES("game"),
                         .item = item_of(&world.arena, "pk=S:a", "sk=S:1", NULL)};
    struct change change = write_of(&world.arena, &del, 1);
    engine_do(world.engine, &change);
    assert_true(version_of(world.engine, "game", "a") > a);
    a = version_of(world.engine, "game", "a");
    /* With its table everything goes, and comes again. */
    delete_table(&world, "game");
    assert_true(version_of(world.engine, "game", "a") > a);
    a = version_of(world.engine, "game", "a");
    create_table(world.engine, &world.arena, &schema);
    assert_true(version_of(world.engine, "game", "a") > a);
    engine_close(world.engine);
    arena_release(&world.arena);
}

/* Where the number was found it is found again; once the table is another, whoever looks there
 * sees that something happened. */
static void test_where(void **state) {
    (void)state;
    struct world world;
    arena_init(&world.arena);
    world.engine = engine_open_memory();
    struct table_schema schema = game_schema(&world.arena, "game");
    uint32_t none = where_of(world.engine, "game", "a");
    uint64_t before = engine_partition_version_at(world.engine, none);
    create_table(world.engine, &world.arena, &schema);
    assert_true(engine_partition_version_at(world.engine, none) > before);
    uint32_t a = where_of(world.engine, "game", "a"), b = where_of(world.engine, "game", "b");
    assert_int_not_equal(a, b);
    before = engine_partition_version_at(world.engine, a);
    uint64_t other = engine_partition_version_at(world.engine, b);
    put_item(world.engine, &world.arena, "game", item_of(&world.arena, "pk=S:a", "sk=S:1", NULL));
    assert_true(engine_partition_version_at(world.engine, a) > before);
    assert_int_equal(engine_partition_version_at(world.engine, b), other);
    assert_int_equal(engine_partition_version_at(world.engine, a),
                     version_of(world.engine, "game", "a"));
    before = engine_partition_version_at(world.engine, a);
    delete_table(&world, "game");
    create_table(world.engine, &world.arena, &schema);
    assert_int_not_equal(where_of(world.engine, "game", "a"), a); /* it has another number */
    assert_true(engine_partition_version_at(world.engine, a) > before);
    engine_close(world.engine);
    arena_release(&world.arena);
}

/* A partition that was written to has changed, and so may have those that share its slot once the
 * slot has more than it can list; never the other way round. */
static void test_changed(void **state) {
    (void)state;
    enum { PARTITIONS = 4000 };
    struct world world;
    struct partition_seen *seen = mem_zalloc(PARTITIONS * sizeof(*seen));
    char name[32];
    unsigned unsure = 0;
    arena_init(&world.arena);
    world.engine = engine_open_memory();
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        seen[i].slot = where_of(world.engine, "game", name);
        seen[i].version = engine_partition_version_at(world.engine, seen[i].slot);
    }
    for (unsigned i = 0; i < PARTITIONS; i += 2) { /* more than once each, and some far apart */
        snprintf(name, sizeof(name), "pk=S:p%u", i);
        for (unsigned j = 0; j < 2; j++)
            put_item(world.engine, &world.arena, "game",
                     item_of(&world.arena, name, j == 0 ? "sk=S:1" : "sk=S:2", NULL));
    }
    for (unsigned i = 0; i < PARTITIONS; i++) {
        bool changed = engine_partition_changed(world.engine, seen[i].slot, seen[i].version);
        assert_true(changed || i % 2 == 1);
        unsure += changed && i % 2 == 1;
        uint64_t now = engine_partition_version_at(world.engine, seen[i].slot);
        assert_false(engine_partition_changed(world.engine, seen[i].slot, now));
    }
    assert_true(unsure < 5);
    delete_table(&world, "game");
    assert_true(engine_partition_changed(world.engine, seen[1].slot, seen[1].version));
    engine_close(world.engine);
    arena_release(&world.arena);
    mem_free(seen);
}

/* Very many partitions: what the slots cannot list any more counts as changed. */
static void test_unlisted(void **state) {
    (void)state;
    enum { SLOTS = 65536, LISTED = 6, MORE = 3 };
    struct local *local = mem_zalloc(sizeof(*local));
    uint8_t key[8] = {0, 0, 0, 1};
    uint32_t first = 0;
    partition_versions_init(local);
    for (uint32_t i = 0; i < LISTED + MORE; i++) { /* all of one slot */
        key[4] = (uint8_t)i;
        partition_version_raise(local, bytes_of(key, sizeof(key)), 10 + i);
        partition_version_raise(local, bytes_of(key, sizeof(key)), 10 + i);
    }
    for (uint32_t i = 0; i < SLOTS; i++) /* which it is */
        if (atomic_load(&local->partition_versions.slots[i].last) != 0)
            first = i;
    for (uint32_t i = 0; i < LISTED + MORE; i++) {
        bool found = false;
        for (uint32_t mark = 0; mark < 1 << 16 && !found; mark++) {
            uint32_t where = first | mark << 16;
            found = local_partition_changed(&local->engine, where, 10 + i - 1) &&
                    !local_partition_changed(&local->engine, where, 10 + i);
        }
        assert_int_equal(found, i >= MORE - 1); /* of those that went, the last is known */
    }
    partition_versions_release(local);
    mem_free(local);
}

/* A table that was loaded was not there before, whatever it is full of. */
static void test_loaded(void **state) {
    (void)state;
    struct world world;
    arena_init(&world.arena);
    world.engine = engine_open_memory();
    struct table_schema schema = game_schema(&world.arena, "game");
    struct change change = {
        .kind = CHANGE_CREATE_TABLE, .arena = &world.arena, .schema = &schema, .loading = true};
    engine_do(world.engine, &change);
    struct action put = {.kind = ACTION_PUT,
                         .table = BYTES("game"),
                         .item = item_of(&world.arena, "pk=S:a", "sk=S:1", NULL)};
    change = write_of(&world.arena, &put, 1);
    change.loading = true;
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    uint64_t a = version_of(world.engine, "game", "a");
    change = (struct change){
        .kind = CHANGE_LOADED, .arena = &world.arena, .table = BYTES("game"), .loading = true};
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_true(version_of(world.engine, "game", "a") > a);
    engine_close(world.engine);
    arena_release(&world.arena);
}

/* After a failed write nobody knows what there is. */
static void test_recovered(void **state) {
    (void)state;
    struct store_faults faults = {0};
    struct world world;
    char *folder = folder_make();
    struct local_settings settings = {.store = {.path = folder, .faults = &faults}, .threads = 1};
    arena_init(&world.arena);
    world.engine = engine_open(&settings);
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    uint64_t a = version_of(world.engine, "game", "a");
    faults.sync_in = 1;
    struct action put = {.kind = ACTION_PUT,
                         .table = BYTES("game"),
                         .item = item_of(&world.arena, "pk=S:a", "sk=S:1", NULL)};
    struct change change = write_of(&world.arena, &put, 1);
    engine_do(world.engine, &change);
    assert_status(&change, IO_FAILED);
    assert_int_equal(version_of(world.engine, "game", "a"), a);
    struct item got;
    for (int i = 0; i < 3000 && version_of(world.engine, "game", "a") == a; i++) {
        usleep(20000);
        put.item = item_of(&world.arena, "pk=S:b", "sk=S:1", NULL);
        engine_do(world.engine, &change);
    }
    assert_true(get_item(world.engine, &world.arena, "game",
                         item_of(&world.arena, "pk=S:a", "sk=S:1", NULL), &got));
    assert_true(version_of(world.engine, "game", "a") > a);
    engine_close(world.engine);
    arena_release(&world.arena);
    folder_remove(folder);
}

/* --- readers beside a writer --- */

enum { WRITES = 3000, READERS = 2 };

struct reader {
    struct engine *engine;
    atomic_bool *stop;
    uint32_t slot;
    pthread_t thread;
    atomic_uint same;
    unsigned other;
};

static int64_t read_score(struct engine *engine, struct arena *arena) {
    struct item got;
    int64_t score = 0;
    if (get_item(engine, arena, "game", item_of(arena, "pk=S:a", "sk=S:1", NULL), &got))
        require(number_to_int(item_get(&got, BYTES("score"))->bytes, &score));
    return score;
}

static void *read_on(void *argument) {
    struct reader *reader = argument;
    struct arena arena;
    arena_init(&arena);
    for (unsigned i = 0; !atomic_load(reader->stop); i++) {
        bool locks = i % 2 == 0; /* either way of asking */
        arena_reset(&arena);
        uint64_t before = locks ? version_of(reader->engine, "game", "a")
                                : engine_partition_version_at(reader->engine, reader->slot);
        int64_t first = read_score(reader->engine, &arena);
        int64_t second = read_score(reader->engine, &arena);
        uint64_t after = locks ? version_of(reader->engine, "game", "a")
                               : engine_partition_version_at(reader->engine, reader->slot);
        if (after == before) {
            require(first == second);
            atomic_fetch_add(&reader->same, 1);
        } else
            reader->other++;
        require(second >= first);
    }
    arena_release(&arena);
    return NULL;
}

static void test_trust(void **state) {
    (void)state;
    struct world world;
    atomic_bool stop = false;
    struct reader readers[READERS];
    arena_init(&world.arena);
    world.engine = engine_open_memory();
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    uint32_t slot = where_of(world.engine, "game", "a");
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){.engine = world.engine, .stop = &stop, .slot = slot};
        pthread_create(&readers[i].thread, NULL, read_on, &readers[i]);
    }
    for (int i = 1; i <= WRITES; i++) {
        struct arena arena;
        arena_init(&arena);
        char score[24];
        snprintf(score, sizeof(score), "score=N:%d", i);
        uint64_t before = version_of(world.engine, "game", "a");
        put_item(world.engine, &arena, "game", item_of(&arena, "pk=S:a", "sk=S:1", score, NULL));
        assert_true(engine_partition_version_at(world.engine, slot) > before);
        assert_true(version_of(world.engine, "game", "a") > before);
        if (i % 16 == 0)
            usleep(50);
        arena_release(&arena);
    }
    for (int i = 0; i < READERS; i++)
        while (atomic_load(&readers[i].same) == 0)
            usleep(1000);
    atomic_store(&stop, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i].thread, NULL);
    engine_close(world.engine);
    arena_release(&world.arena);
}

/* What is marked as quiet does not raise it; in one commit with what is not, that does. */
static void test_quiet(void **state) {
    (void)state;
    struct world world;
    arena_init(&world.arena);
    world.engine = engine_open_memory();
    struct table_schema schema = game_schema(&world.arena, "game");
    create_table(world.engine, &world.arena, &schema);
    uint64_t before = version_of(world.engine, "game", "a");
    struct action actions[] = {
        {.kind = ACTION_PUT, .table = BYTES("game"), .keeps_version = true},
        {.kind = ACTION_PUT, .table = BYTES("game")},
    };
    actions[0].item = item_of(&world.arena, "pk=S:a", "sk=S:1", "score=N:1", NULL);
    struct change change = {
        .kind = CHANGE_WRITE, .arena = &world.arena, .actions = actions, .action_count = 1};
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_int_equal(version_of(world.engine, "game", "a"), before);
    actions[0].item = item_of(&world.arena, "pk=S:a", "sk=S:1", "score=N:2", NULL);
    actions[1].item = item_of(&world.arena, "pk=S:a", "sk=S:2", "score=N:2", NULL);
    change.action_count = 2;
    change.all_or_nothing = true;
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_true(version_of(world.engine, "game", "a") > before);
    engine_close(world.engine);
    arena_release(&world.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rises),     cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_where),     cmocka_unit_test(test_changed),
        cmocka_unit_test(test_unlisted),  cmocka_unit_test(test_loaded),
        cmocka_unit_test(test_recovered), cmocka_unit_test(test_trust)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
