/* Point-in-time recovery: a table as it was at any time since it was switched on, over restarts, as
 * far back as the days and the disk allow. */
#include "engine.h"

#include "base/clock.h"
#include "base/random.h"
#include "table/local/recovery_bases.h"

enum { KEYS = 16, STEPS = 80, DAY_MS = 24 * 60 * 60 * 1000 };

struct world {
    char *path;
    struct local_settings settings;
    struct engine *engine;
    struct arena arena;
    struct failure failure;
    struct random random;
    int value[STEPS][KEYS]; /* what each item was after each step; 0: not there */
    int64_t time_ms[STEPS]; /* a time after the step and before the next one */
};

static struct scope scope_of(struct world *world) {
    return (struct scope){&world->arena, &world->failure};
}

static void reopen(struct world *world) {
    if (world->engine != NULL)
        engine_close(world->engine);
    world->engine = engine_open(&world->settings);
}

static int setup(void **state) {
    struct world *world = calloc(1, sizeof(*world));
    world->path = folder_make();
    world->settings = (struct local_settings){.store.path = world->path, .threads = 1};
    arena_init(&world->arena);
    reopen(world);
    struct table_schema schema = game_schema(&world->arena, "game");
    create_table(world->engine, &world->arena, &schema);
    *state = world;
    return 0;
}

static int teardown(void **state) {
    struct world *world = *state;
    engine_close(world->engine);
    folder_remove(world->path);
    arena_release(&world->arena);
    free(world);
    return 0;
}

static struct item numbered(struct arena *arena, int key, int value) {
    return item_of(arena, (const char *)arena_printf(arena, "pk=S:%d%c", key, 0).data, "sk=S:0",
                   (const char *)arena_printf(arena, "value=N:%d%c", value, 0).data, NULL);
}

static struct recovery_state set(struct world *world, bool enabled, unsigned days) {
    struct recovery_request request = {BYTES("game"), enabled, days};
    struct recovery_state state;
    enum status status = engine_recovery_set(world->engine, &request, scope_of(world), &state);
    if (status != OK)
        print_message("%.*s\n", BYTES_ARG(world->failure.text));
    assert_int_equal(status, OK);
    return state;
}

static struct recovery_state describe(struct world *world) {
    struct recovery_state state;
    assert_int_equal(
        engine_recovery_describe(world->engine, BYTES("game"), scope_of(world), &state), OK);
    return state;
}

static enum status try_read(struct world *world, int64_t at_ms, struct table_reader **out) {
    struct reader_request request = {.table = BYTES("game"), .at_ms = at_ms};
    return engine_read_table(world->engine, &request, scope_of(world), out);
}

static void look(struct world *world) {
    recovery_look(local_of(world->engine)->recovery);
}

static size_t count_bases(struct world *world) {
    struct recovery_bases bases;
    char path[256];
    snprintf(path, sizeof(path), "%s/recovery", world->path);
    bases_list(path, &bases);
    return bases.count;
}

static size_t count_folders(struct world *world) {
    char command[256];
    unsigned count = 0;
    snprintf(command, sizeof(command), "ls %s/recovery 2>/dev/null | wc -l", world->path);
    FILE *pipe = popen(command, "r");
    assert_int_equal(fscanf(pipe, "%u", &count), 1);
    pclose(pipe);
    return count;
}

/* --- the model --- */

static void read_values(struct world *world, int64_t at_ms, int *values) {
    struct table_reader *reader;
    struct item item;
    enum status status = try_read(world, at_ms, &reader);
    if (status != OK)
        fail_msg("%.*s", BYTES_ARG(world->failure.text));
    memset(values, 0, KEYS * sizeof(*values));
    while ((status = reader->next(reader, &world->arena, &item)) == OK) {
        struct bytes pk = item_get(&item, BYTES("pk"))->bytes;
        int64_t value;
        assert_true(number_to_int(item_get(&item, BYTES("value"))->bytes, &value));
        values[atoi(arena_str(&world->arena, pk))] = (int)value;
    }
    assert_int_equal(status, NOT_FOUND);
    reader->close(reader);
}

static void assert_step(struct world *world, int step) {
    int values[KEYS];
    read_values(world, world->time_ms[step], values);
    assert_memory_equal(values, world->value[step], sizeof(values));
}

static void delete_item(struct world *world, int key) {
    struct action action = {
        .kind = ACTION_DELETE,
        .table = BYTES("game"),
        .item = item_of(&world->arena,
                        (const char *)arena_printf(&world->arena, "pk=S:%d%c", key, 0).data,
                        "sk=S:0", NULL)};
    struct change change = write_of(&world->arena, &action, 1);
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

static void write_step(struct world *world, int step) {
    int *now = world->value[step];
    if (step != 0)
        memcpy(now, world->value[step - 1], sizeof(world->value[0]));
    for (int i = 0; i < 3; i++) {
        int key = (int)random_below(&world->random, KEYS);
        bool remove = random_below(&world->random, 4) == 0;
        now[key] = remove ? 0 : 1 + step * 10 + i;
        if (remove)
            delete_item(world, key);
        else
            put_item(world->engine, &world->arena, "game", numbered(&world->arena, key, now[key]));
    }
    clock_shift_ms(1 + (int64_t)random_below(&world->random, 2000));
    world->time_ms[step] = clock_now_ms();
    clock_shift_ms(5);
}

/* Writes, days that go by, restarts; then the table as it was after steps at random. */
static void test_any_time(void **state) {
    struct world *world = *state;
    random_seed(&world->random, test_seed());
    write_step(world, 0);
    set(world, true, 35);
    int first = 1;
    for (int step = first; step < STEPS; step++) {
        write_step(world, step);
        if (random_below(&world->random, 16) == 0)
            reopen(world);
        if (random_below(&world->random, 16) == 0)
            clock_shift_ms(DAY_MS);
        if (random_below(&world->random, 8) == 0)
            look(world);
    }
    assert_int_equal(world->time_ms[first] >= describe(world).earliest_ms, true);
    for (int i = 0; i < 8; i++)
        assert_step(world, first + (int)random_below(&world->random, STEPS - (uint64_t)first));
    assert_step(world, STEPS - 1);
    look(world); /* so that the thread finds nothing to make meanwhile */
    assert_int_equal(count_folders(world), count_bases(world));
}

/* --- the bounds --- */

static void test_off(void **state) {
    struct world *world = *state;
    struct table_reader *reader;
    assert_false(describe(world).enabled);
    assert_int_equal(try_read(world, clock_now_ms(), &reader), NO_RESOURCE);
    set(world, false, 0);
    assert_int_equal(count_bases(world), 0);
    struct recovery_state on = set(world, true, 0);
    assert_true(on.enabled);
    assert_int_equal(on.days, 35);
    assert_true(on.earliest_ms <= on.latest_ms);
    assert_int_equal(count_bases(world), 1);
    assert_int_equal(try_read(world, on.earliest_ms - 1, &reader), INVALID);
    assert_int_equal(try_read(world, clock_now_ms() + 60000, &reader), INVALID);
    reopen(world);
    assert_int_equal(describe(world).earliest_ms, on.earliest_ms);
    /* Fewer days do not begin anew. */
    assert_int_equal(set(world, true, 3).days, 3);
    assert_int_equal(describe(world).earliest_ms, on.earliest_ms);
    set(world, false, 0);
    assert_false(describe(world).enabled);
    look(world);
    assert_int_equal(count_folders(world), 0);
    assert_int_equal(try_read(world, on.earliest_ms, &reader), NO_RESOURCE);
    struct recovery_request missing = {BYTES("missing"), true, 0};
    assert_int_equal(engine_recovery_set(world->engine, &missing, scope_of(world), &on), NO_TABLE);
}

/* A base each day, and none that is older than the period needs. */
static void test_days(void **state) {
    struct world *world = *state;
    struct table_reader *reader;
    int64_t since_ms = set(world, true, 2).earliest_ms;
    for (int day = 0; day < 6; day++) {
        put_item(world->engine, &world->arena, "game", numbered(&world->arena, 1, day));
        clock_shift_ms(DAY_MS);
        look(world);
    }
    assert_true(count_bases(world) >= 3 && count_bases(world) <= 4);
    struct recovery_state now = describe(world);
    assert_true(now.latest_ms - now.earliest_ms <= 2 * (int64_t)DAY_MS);
    assert_true(now.latest_ms - now.earliest_ms > DAY_MS);
    assert_int_equal(try_read(world, since_ms, &reader), INVALID);
    int values[KEYS];
    read_values(world, now.latest_ms - DAY_MS / 2, values);
    assert_int_equal(values[1], 5);
    read_values(world, now.earliest_ms + 60 * 60 * 1000, values);
}

/* Another one for each number: what changes nothing is not written. */
static struct item large(struct arena *arena, int number) {
    char *text = arena_alloc(arena, 300000);
    memset(text, 'a' + number % 26, 299999);
    memcpy(text, "text=S:", 7);
    text[299999] = '\0';
    return item_of(arena, (const char *)arena_printf(arena, "pk=S:%d%c", number % 3 + 2, 0).data,
                   "sk=S:0", text, NULL);
}

/* The oldest goes first, and it is told how far back what is left reaches. What is being read
 * stays. */
static void test_disk(void **state) {
    struct world *world = *state;
    world->settings.recovery_disk = 4 << 20;
    reopen(world);
    int64_t since_ms = set(world, true, 35).earliest_ms;
    struct table_reader *reader;
    put_item(world->engine, &world->arena, "game", numbered(&world->arena, 1, 7));
    clock_shift_ms(1000);
    int64_t at_ms = clock_now_ms();
    clock_shift_ms(1000);
    assert_int_equal(try_read(world, at_ms, &reader), OK);
    for (int i = 0; i < 60; i++) {
        put_item(world->engine, &world->arena, "game", large(&world->arena, i));
        clock_shift_ms(1000);
        look(world);
    }
    assert_int_equal(describe(world).earliest_ms, since_ms);
    struct item item;
    assert_int_equal(reader->next(reader, &world->arena, &item), OK);
    assert_text(item_get(&item, BYTES("pk"))->bytes, "1");
    assert_int_equal(reader->next(reader, &world->arena, &item), NOT_FOUND);
    reader->close(reader);
    look(world);
    struct recovery_state now = describe(world);
    assert_true(now.earliest_ms > since_ms);
    assert_true(now.earliest_ms <= now.latest_ms);
    assert_int_equal(try_read(world, at_ms, &reader), INVALID);
    assert_int_equal(try_read(world, now.latest_ms, &reader), OK);
    assert_int_equal(reader->next(reader, &world->arena, &item), OK);
    reader->close(reader);
}

/* Of a table that was made anew under the same name nothing is told of the one before. */
static void test_made_anew(void **state) {
    struct world *world = *state;
    set(world, true, 35);
    struct change change = {
        .kind = CHANGE_DELETE_TABLE, .arena = &world->arena, .table = BYTES("game")};
    engine_do(world->engine, &change);
    assert_status(&change, OK);
    struct table_schema schema = game_schema(&world->arena, "game");
    create_table(world->engine, &world->arena, &schema);
    assert_false(describe(world).enabled);
    look(world);
    assert_int_equal(count_folders(world), 0);
}

/* All tables of a folder that nobody has open. */
static void test_folder(void **state) {
    struct world *world = *state;
    char path[256];
    put_item(world->engine, &world->arena, "game", numbered(&world->arena, 1, 1));
    int64_t since_ms = set(world, true, 35).earliest_ms;
    clock_shift_ms(1000);
    int64_t at_ms = clock_now_ms();
    clock_shift_ms(1000);
    put_item(world->engine, &world->arena, "game", numbered(&world->arena, 1, 2));
    engine_close(world->engine);
    snprintf(path, sizeof(path), "%s/past", world->path);
    struct past_request request = {.from = world->path, .path = path, .time_ms = since_ms - DAY_MS};
    assert_int_equal(local_restore_past(&request, scope_of(world)), INVALID);
    request.time_ms = at_ms;
    enum status status = local_restore_past(&request, scope_of(world));
    if (status != OK)
        fail_msg("%.*s", BYTES_ARG(world->failure.text));
    struct table_reader *reader;
    struct item item;
    assert_int_equal(local_read_folder(path, BYTES("game"), scope_of(world), &reader), OK);
    assert_int_equal(reader->next(reader, &world->arena, &item), OK);
    int64_t value;
    assert_true(number_to_int(item_get(&item, BYTES("value"))->bytes, &value));
    assert_int_equal(value, 1);
    reader->close(reader);
    world->engine = NULL;
    reopen(world);
}

static void test_in_memory(void **state) {
    (void)state;
    struct arena arena;
    struct failure failure;
    struct recovery_state on;
    struct engine *engine = engine_open_memory();
    arena_init(&arena);
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    struct recovery_request request = {BYTES("game"), true, 0};
    assert_int_equal(engine_recovery_set(engine, &request, (struct scope){&arena, &failure}, &on),
                     UNSUPPORTED);
    arena_release(&arena);
    engine_close(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_off, setup, teardown),
        cmocka_unit_test_setup_teardown(test_days, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_made_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(test_folder, setup, teardown),
        cmocka_unit_test(test_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
