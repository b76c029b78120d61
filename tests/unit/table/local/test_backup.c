/* Backups, readers of one moment, and tables that are loaded whole or not at all. */
#include "engine.h"

struct world {
    char *path;
    struct local_settings settings;
    struct engine *engine;
    struct arena arena;
    struct failure failure;
};

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

static struct item numbered(struct arena *arena, int number, const char *mark) {
    return item_of(arena, (const char *)arena_printf(arena, "pk=S:%d%c", number, 0).data, "sk=S:0",
                   (const char *)arena_printf(arena, "mark=S:%s%c", mark, 0).data, "board=S:b",
                   (const char *)arena_printf(arena, "score=N:%d%c", number, 0).data, NULL);
}

static void fill(struct world *world, const char *table, int count, const char *mark) {
    for (int i = 0; i < count; i++)
        put_item(world->engine, &world->arena, table, numbered(&world->arena, i, mark));
}

static void make_game(struct world *world, const char *name) {
    struct table_schema schema = game_schema(&world->arena, name);
    create_table(world->engine, &world->arena, &schema);
}

static struct backup_description backup(struct world *world, const char *table, const char *name) {
    struct backup_description about;
    struct backup_request request = {bytes_str(table), bytes_str(name)};
    enum status status = engine_backup_create(
        world->engine, &request, (struct scope){&world->arena, &world->failure}, &about);
    if (status != OK)
        print_message("%.*s\n", BYTES_ARG(world->failure.text));
    assert_int_equal(status, OK);
    return about;
}

static struct table_reader *read_from(struct world *world, struct reader_request request) {
    struct table_reader *reader = NULL;
    enum status status = engine_read_table(world->engine, &request,
                                           (struct scope){&world->arena, &world->failure}, &reader);
    if (status != OK)
        print_message("%.*s\n", BYTES_ARG(world->failure.text));
    assert_int_equal(status, OK);
    return reader;
}

/* Reads to the end: `count` items, all with that mark. */
static void assert_reads(struct world *world, struct table_reader *reader, int count,
                         const char *mark) {
    struct item item;
    enum status status;
    int seen = 0;
    while ((status = reader->next(reader, &world->arena, &item)) == OK) {
        assert_text(item_get(&item, BYTES("mark"))->bytes, mark);
        seen++;
    }
    assert_int_equal(status, NOT_FOUND);
    assert_int_equal(seen, count);
}

static size_t folders_in(struct world *world) {
    char command[256];
    unsigned count = 0;
    snprintf(command, sizeof(command), "ls %s/backups 2>/dev/null | wc -l", world->path);
    FILE *pipe = popen(command, "r");
    assert_int_equal(fscanf(pipe, "%u", &count), 1);
    pclose(pipe);
    return count;
}

static void test_moment(void **state) {
    struct world *world = *state;
    make_game(world, "game");
    make_game(world, "other");
    fill(world, "game", 50, "before");
    struct backup_description made = backup(world, "game", "first");
    assert_int_equal(made.table.item_count, 50);
    fill(world, "game", 80, "after");
    for (int restarts = 0; restarts < 2; restarts++) {
        struct table_reader *reader = read_from(world, (struct reader_request){.backup = made.id});
        assert_text(reader->about.schema.name, "game");
        assert_int_equal(reader->about.schema.index_count, 2);
        assert_reads(world, reader, 50, "before");
        reader->close(reader);
        reader = read_from(world, (struct reader_request){.table = BYTES("game")});
        fill(world, "game", 1, "later");
        assert_reads(world, reader, 80, "after");
        reader->close(reader);
        fill(world, "game", 1, "after");
        assert_int_equal(folders_in(world), 1);
        reopen(world);
    }
    struct backup_description about;
    assert_int_equal(engine_backup_describe(world->engine, made.id,
                                            (struct scope){&world->arena, &world->failure}, &about),
                     OK);
    assert_text(about.name, "first");
    assert_text(about.table.schema.name, "game");
    assert_int_equal(about.created_ms, made.created_ms);
    assert_bytes_equal(about.table.id, made.table.id);
    check_engine(world->engine);
}

static void test_list(void **state) {
    struct world *world = *state;
    struct backup_description made[5];
    struct backup_list list;
    make_game(world, "game");
    make_game(world, "other");
    for (int i = 0; i < 5; i++) {
        made[i] = backup(world, i % 2 == 0 ? "game" : "other", i == 0 ? "zero" : "more");
        usleep(2000);
    }
    struct backup_filter filters[] = {{0},
                                      {.table = BYTES("game")},
                                      {.table = BYTES("none")},
                                      {.limit = 2},
                                      {.limit = 5},
                                      {.after = made[1].id},
                                      {.from_ms = made[3].created_ms},
                                      {.until_ms = made[3].created_ms},
                                      {.table = BYTES("other"), .after = made[1].id, .limit = 1}};
    size_t counts[] = {5, 3, 0, 2, 5, 3, 2, 3, 1};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        assert_int_equal(engine_backup_list(world->engine, &filters[i],
                                            (struct scope){&world->arena, &world->failure}, &list),
                         OK);
        assert_int_equal(list.count, counts[i]);
        assert_int_equal(list.more, i == 3);
        for (size_t j = 1; j < list.count; j++)
            assert_true(bytes_compare(list.backups[j - 1].id, list.backups[j].id) < 0);
    }
}

static void test_delete(void **state) {
    struct world *world = *state;
    struct engine *engine = world->engine;
    struct backup_description about;
    make_game(world, "game");
    struct backup_description made = backup(world, "game", "gone");
    struct table_reader *reader = read_from(world, (struct reader_request){.backup = made.id});
    assert_int_equal(engine_backup_delete(engine, made.id,
                                          (struct scope){&world->arena, &world->failure}, &about),
                     IN_USE);
    reader->close(reader);
    assert_int_equal(engine_backup_delete(engine, made.id,
                                          (struct scope){&world->arena, &world->failure}, &about),
                     OK);
    assert_text(about.name, "gone");
    assert_int_equal(folders_in(world), 0);
    assert_int_equal(engine_backup_delete(engine, made.id,
                                          (struct scope){&world->arena, &world->failure}, &about),
                     NO_RESOURCE);
    assert_int_equal(engine_backup_describe(engine, made.id,
                                            (struct scope){&world->arena, &world->failure}, &about),
                     NO_RESOURCE);
}

static void test_refusals(void **state) {
    struct world *world = *state;
    struct engine *engine = world->engine;
    struct backup_description about;
    struct table_reader *reader;
    struct backup_request request = {BYTES("none"), BYTES("x")};
    assert_int_equal(engine_backup_create(engine, &request,
                                          (struct scope){&world->arena, &world->failure}, &about),
                     NO_TABLE);
    static const char *const ids[] = {"",
                                      ".",
                                      "..",
                                      "../../etc",
                                      "01700000000000-0000000g",
                                      "01700000000000-00000000",
                                      "0170000000000/-00000000"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        struct bytes id = bytes_str(ids[i]);
        assert_int_equal(engine_backup_describe(
                             engine, id, (struct scope){&world->arena, &world->failure}, &about),
                         NO_RESOURCE);
        assert_int_equal(engine_backup_delete(
                             engine, id, (struct scope){&world->arena, &world->failure}, &about),
                         NO_RESOURCE);
        struct reader_request from = {.backup = id};
        if (id.size != 0)
            assert_int_equal(engine_read_table(engine, &from,
                                               (struct scope){&world->arena, &world->failure},
                                               &reader),
                             NO_RESOURCE);
    }
    struct engine *memory = engine_open_memory();
    struct backup_list list;
    assert_int_equal(engine_backup_create(memory, &request,
                                          (struct scope){&world->arena, &world->failure}, &about),
                     UNSUPPORTED);
    assert_int_equal(engine_backup_list(memory, &(struct backup_filter){0},
                                        (struct scope){&world->arena, &world->failure}, &list),
                     OK);
    assert_int_equal(list.count, 0);
    engine_close(memory);
}

/* A changed byte of the description is noticed; what an interrupted one left is removed. */
static void test_damage(void **state) {
    struct world *world = *state;
    struct backup_description about;
    struct backup_list list;
    char command[400];
    make_game(world, "game");
    struct backup_description made = backup(world, "game", "x");
    snprintf(command, sizeof(command),
             "printf X | dd of=%s/backups/%.*s/BACKUP bs=1 seek=30 conv=notrunc 2>/dev/null && "
             "mkdir -p %s/backups/01700000000000-00000000.partial/db",
             world->path, BYTES_ARG(made.id), world->path);
    assert_int_equal(system(command), 0);
    assert_int_equal(folders_in(world), 2);
    reopen(world);
    assert_int_equal(folders_in(world), 1);
    assert_int_equal(engine_backup_describe(world->engine, made.id,
                                            (struct scope){&world->arena, &world->failure}, &about),
                     DAMAGED);
    assert_int_equal(engine_backup_list(world->engine, &(struct backup_filter){0},
                                        (struct scope){&world->arena, &world->failure}, &list),
                     OK);
    assert_int_equal(list.count, 0);
}

/* --- loading --- */

static enum status change_table(struct world *world, enum change_kind kind, const char *name,
                                bool loading) {
    struct table_schema schema = game_schema(&world->arena, name);
    struct change change = {.kind = kind,
                            .arena = &world->arena,
                            .table = bytes_str(name),
                            .schema = &schema,
                            .loading = loading};
    return engine_do(world->engine, &change);
}

static enum status put_loading(struct world *world, const char *table, int number, bool loading) {
    struct action action = {.kind = ACTION_PUT,
                            .table = bytes_str(table),
                            .item = numbered(&world->arena, number, "loaded")};
    struct change change = write_of(&world->arena, &action, 1);
    change.loading = loading;
    return engine_do(world->engine, &change);
}

static enum part_status status_of(struct world *world, const char *table) {
    struct table_description about;
    assert_int_equal(engine_describe(world->engine, bytes_str(table),
                                     (struct scope){&world->arena, &world->failure}, &about),
                     OK);
    return about.status;
}

static enum status read_one(struct world *world, const char *table) {
    struct get_request get[2] = {
        {.table = bytes_str(table), .key = item_of(&world->arena, "pk=S:1", "sk=S:0", NULL)}};
    struct get_reply replies[2];
    struct page_request page = {.table = bytes_str(table)};
    struct page_reply reply;
    get[1] = get[0];
    enum status one =
        engine_get(world->engine, get, (struct scope){&world->arena, &world->failure}, replies);
    assert_int_equal(engine_get_many(world->engine, get, 2,
                                     (struct scope){&world->arena, &world->failure}, replies),
                     one);
    assert_int_equal(
        engine_page(world->engine, &page, (struct scope){&world->arena, &world->failure}, &reply),
        one);
    return one;
}

static void test_loading(void **state) {
    struct world *world = *state;
    struct backup_description about;
    struct backup_request request = {BYTES("game"), BYTES("x")};
    assert_int_equal(change_table(world, CHANGE_CREATE_TABLE, "game", true), OK);
    assert_int_equal(status_of(world, "game"), PART_CREATING);
    assert_int_equal(change_table(world, CHANGE_CREATE_TABLE, "game", false), TABLE_IN_USE);
    assert_int_equal(change_table(world, CHANGE_DELETE_TABLE, "game", false), TABLE_IN_USE);
    assert_int_equal(change_table(world, CHANGE_TAGS, "game", false), TABLE_IN_USE);
    assert_int_equal(put_loading(world, "game", 1, false), NO_TABLE);
    assert_int_equal(read_one(world, "game"), NO_TABLE);
    assert_int_equal(put_loading(world, "game", 1, true), OK);
    assert_int_equal(put_loading(world, "game", 2, true), OK);
    assert_int_equal(read_one(world, "game"), NO_TABLE);
    assert_int_equal(engine_backup_create(world->engine, &request,
                                          (struct scope){&world->arena, &world->failure}, &about),
                     TABLE_IN_USE);
    assert_int_equal(change_table(world, CHANGE_LOADED, "game", true), OK);
    assert_int_equal(status_of(world, "game"), PART_ACTIVE);
    assert_int_equal(read_one(world, "game"), OK);
    assert_int_equal(put_loading(world, "game", 3, true), NO_TABLE);
    assert_int_equal(put_loading(world, "game", 3, false), OK);
    assert_int_equal(change_table(world, CHANGE_LOADED, "game", true), NO_TABLE);
    check_engine(world->engine);
    reopen(world);
    assert_int_equal(status_of(world, "game"), PART_ACTIVE);
    assert_int_equal(read_one(world, "game"), OK);
    check_engine(world->engine);
}

static void test_interrupted_load(void **state) {
    struct world *world = *state;
    struct name_list names;
    struct verify_report report;
    struct verify_settings verify = {.path = world->path};
    make_game(world, "kept");
    fill(world, "kept", 3, "x");
    assert_int_equal(change_table(world, CHANGE_CREATE_TABLE, "half", true), OK);
    for (int i = 0; i < 20; i++)
        assert_int_equal(put_loading(world, "half", i, true), OK);
    reopen(world);
    assert_int_equal(
        engine_list(world->engine, &(struct list_request){.limit = 10}, &world->arena, &names), OK);
    assert_int_equal(names.count, 1);
    assert_int_equal(change_table(world, CHANGE_CREATE_TABLE, "half", true), OK);
    assert_int_equal(change_table(world, CHANGE_DELETE_TABLE, "half", true), OK);
    check_engine(world->engine);
    engine_close(world->engine);
    assert_int_equal(local_verify(&verify, (struct scope){&world->arena, &world->failure}, &report),
                     OK);
    assert_int_equal(report.faults, 0);
    assert_int_equal(report.items, 3);
    world->engine = NULL;
    reopen(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_moment, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delete, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_loading, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupted_load, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
