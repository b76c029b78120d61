/* Tables: making, changing, deleting, tags, and indexes that are added while work goes on. */
#include "engine.h"

struct fixture {
    struct engine *engine;
    struct arena arena;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    f->engine = engine_open_memory();
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    check_engine(f->engine);
    engine_close(f->engine);
    arena_release(&f->arena);
    free(f);
    return 0;
}

static struct table_description describe(struct fixture *f, const char *name) {
    struct table_description out;
    struct failure failure;
    assert_int_equal(
        engine_describe(f->engine, bytes_str(name), (struct scope){&f->arena, &failure}, &out), OK);
    return out;
}

static struct change delete_of(struct fixture *f, const char *name) {
    return (struct change){
        .kind = CHANGE_DELETE_TABLE, .arena = &f->arena, .table = bytes_str(name)};
}

static struct change alter(struct fixture *f, const char *name, struct alteration by) {
    struct alteration *kept = ARENA_NEW(&f->arena, struct alteration);
    *kept = by;
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = &f->arena,
                            .table = bytes_str(name),
                            .alteration = kept};
    engine_do(f->engine, &change);
    return change;
}

static void make_plain(struct fixture *f, const char *name) {
    struct table_schema schema = plain_schema(&f->arena, name);
    schema.billing = BILLING_PROVISIONED;
    schema.capacity.provisioned = (struct throughput){5, 6};
    create_table(f->engine, &f->arena, &schema);
}

static void test_create(void **state) {
    struct fixture *f = *state;
    struct table_schema schema = game_schema(&f->arena, "game");
    struct change change = {.kind = CHANGE_CREATE_TABLE, .arena = &f->arena, .schema = &schema};
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_int_equal(change.description->id.size, 36);
    assert_int_equal(change.description->status, PART_ACTIVE);
    assert_true(change.description->created_ms > 0);
    assert_int_equal(change.description->schema.index_count, 2);
    assert_int_equal(change.description->indexes[1].status, PART_ACTIVE);

    engine_do(f->engine, &change);
    assert_status(&change, TABLE_IN_USE);
    assert_text(change.failure.text, "Table already exists: game");

    schema.attribute_count = 4; /* "nick" is not defined any more */
    schema.name = BYTES("other");
    engine_do(f->engine, &change);
    assert_status(&change, INVALID);
}

static void test_list(void **state) {
    struct fixture *f = *state;
    const char *names[] = {"bbb", "ddd", "aaa", "ccc"};
    struct name_list list;
    for (int i = 0; i < 4; i++)
        make_plain(f, names[i]);
    engine_list(f->engine, &(struct list_request){.limit = 3}, &f->arena, &list);
    assert_int_equal(list.count, 3);
    assert_true(list.more);
    assert_text(list.names[2], "ccc");
    engine_list(f->engine, &(struct list_request){BYTES("ccc"), 3}, &f->arena, &list);
    assert_int_equal(list.count, 1);
    assert_false(list.more);
    assert_text(list.names[0], "ddd");
}

static void test_delete(void **state) {
    struct fixture *f = *state;
    struct table_schema schema = game_schema(&f->arena, "game");
    schema.deletion_protection = true;
    create_table(f->engine, &f->arena, &schema);
    put_item(f->engine, &f->arena, "game",
             item_of(&f->arena, "pk=S:a", "sk=S:0", "nick=S:n", NULL));
    struct change change = delete_of(f, "game");
    engine_do(f->engine, &change);
    assert_status(&change, INVALID);
    assert_text(change.failure.text, "Resource cannot be deleted as it is currently protected "
                                     "against deletion. Disable deletion protection first.");
    bool off = false;
    struct change open = alter(f, "game", (struct alteration){.deletion_protection = &off});
    assert_status(&open, OK);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_int_equal(change.description->item_count, 1);
    engine_do(f->engine, &change);
    assert_status(&change, NO_TABLE);
    assert_text(change.failure.text, "Requested resource not found: Table: game not found");

    /* One of the same name knows nothing of the old one's items. */
    schema.deletion_protection = false;
    create_table(f->engine, &f->arena, &schema);
    struct item got, key = item_of(&f->arena, "pk=S:a", "sk=S:0", NULL);
    assert_false(get_item(f->engine, &f->arena, "game", key, &got));
    assert_int_equal(describe(f, "game").item_count, 0);
}

static void test_capacity(void **state) {
    struct fixture *f = *state;
    make_plain(f, "plain");
    struct capacity_settings capacity = {.provisioned = {5, 6}};
    struct change change = alter(f, "plain", (struct alteration){.capacity = &capacity});
    assert_status(&change, INVALID);
    assert_text(change.failure.text,
                "The provisioned throughput for the table will not change. The requested value "
                "equals the current value. Current ReadCapacityUnits provisioned for the table: 5. "
                "Requested ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the "
                "table: 6. Requested WriteCapacityUnits: 6. ");
    capacity.provisioned.read = 9;
    change = alter(f, "plain", (struct alteration){.capacity = &capacity});
    assert_status(&change, OK);
    assert_int_equal(change.description->schema.capacity.provisioned.read, 9);
    assert_true(change.description->capacity_raised_ms > 0);
    assert_int_equal(change.description->capacity_lowered_today, 0);
    capacity.provisioned.read = 1;
    change = alter(f, "plain", (struct alteration){.capacity = &capacity});
    assert_int_equal(change.description->capacity_lowered_today, 1);

    enum billing billing = BILLING_ON_DEMAND;
    change = alter(f, "plain", (struct alteration){.billing = &billing, .capacity = &capacity});
    assert_status(&change, INVALID);
    change = alter(f, "plain", (struct alteration){.billing = &billing});
    assert_status(&change, OK);
    assert_int_equal(change.description->schema.capacity.provisioned.read, 0);
    assert_true(change.description->billing_changed_ms > 0);
    change = alter(f, "plain", (struct alteration){.capacity = &capacity});
    assert_status(&change, INVALID);
    billing = BILLING_PROVISIONED;
    change = alter(f, "plain", (struct alteration){.billing = &billing});
    assert_status(&change, INVALID);
    change = alter(f, "plain", (struct alteration){.billing = &billing, .capacity = &capacity});
    assert_status(&change, OK);
}

static void test_stream_and_settings(void **state) {
    struct fixture *f = *state;
    make_plain(f, "plain");
    enum stream_view view = STREAM_BOTH;
    struct change change = alter(f, "plain", (struct alteration){.stream = &view});
    assert_status(&change, OK);
    assert_true(change.description->stream_since_ms > 0);
    change = alter(f, "plain", (struct alteration){.stream = &view});
    assert_status(&change, INVALID);
    view = STREAM_OFF;
    change = alter(f, "plain", (struct alteration){.stream = &view});
    assert_status(&change, OK);
    change = alter(f, "plain", (struct alteration){.stream = &view});
    assert_status(&change, INVALID);
    struct bytes class = BYTES("RARE");
    change = alter(f, "plain", (struct alteration){.table_class = &class});
    assert_status(&change, OK);
    assert_text(describe(f, "plain").schema.table_class, "RARE");
    change = alter(f, "nowhere", (struct alteration){.table_class = &class});
    assert_status(&change, NO_TABLE);
}

static void test_tags(void **state) {
    struct fixture *f = *state;
    make_plain(f, "plain");
    struct tag tags[51];
    for (int i = 0; i < 51; i++)
        tags[i] = (struct tag){arena_printf(&f->arena, "k%d", i), BYTES("v")};
    struct change change = {.kind = CHANGE_TAGS,
                            .arena = &f->arena,
                            .table = BYTES("plain"),
                            .tags = tags,
                            .tag_count = 51};
    engine_do(f->engine, &change);
    assert_status(&change, INVALID);
    change.tag_count = 50;
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_int_equal(describe(f, "plain").schema.tag_count, 50);
    tags[0].value = BYTES("w");
    change.tag_count = 1;
    engine_do(f->engine, &change);
    assert_text(describe(f, "plain").schema.tags[0].value, "w");
    struct bytes gone[] = {BYTES("k0"), BYTES("unknown")};
    change.tag_count = 0;
    change.untag = gone;
    change.untag_count = 2;
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_int_equal(describe(f, "plain").schema.tag_count, 49);
}

/* --- indexes --- */

static struct alteration adding(struct fixture *f, const char *name, const char *attribute) {
    struct key_part *part = ARENA_NEW(&f->arena, struct key_part);
    struct index_schema *index = ARENA_NEW(&f->arena, struct index_schema);
    *part = (struct key_part){bytes_str(attribute), VALUE_S};
    *index = (struct index_schema){.name = bytes_str(name),
                                   .keys = {.parts = {*part}, .partition_count = 1},
                                   .capacity.provisioned = {1, 1}};
    return (struct alteration){.attributes = part, .attribute_count = 1, .add_index = index};
}

static void wait_active(struct fixture *f, const char *table) {
    for (int i = 0; i < 60000; i++) {
        struct table_description about = describe(f, table);
        bool active = true;
        for (uint32_t j = 0; j < about.schema.index_count; j++)
            active &= about.indexes[j].status == PART_ACTIVE;
        if (active)
            return;
        usleep(1000);
    }
    fail_msg("an index did not become active");
}

static void put_many(struct fixture *f, const char *table, int from, int to) {
    struct arena arena;
    arena_init(&arena);
    for (int i = from; i < to; i++) {
        char pk[32], colour[32];
        snprintf(pk, sizeof(pk), "pk=S:%d", i);
        snprintf(colour, sizeof(colour), "colour=S:%d", i % 7);
        put_item(f->engine, &arena, table, item_of(&arena, pk, "sk=S:0", colour, NULL));
        arena_reset(&arena);
    }
    arena_release(&arena);
}

static void test_add_and_drop_index(void **state) {
    struct fixture *f = *state;
    make_plain(f, "plain");
    put_many(f, "plain", 0, 500);
    struct change change = alter(f, "plain", adding(f, "bycolour", "colour"));
    assert_status(&change, OK);
    assert_int_equal(change.description->indexes[0].status, PART_CREATING);
    assert_true(change.description->indexes[0].backfilling);
    assert_int_equal(change.description->schema.attribute_count, 3);
    put_many(f, "plain", 250, 700); /* some of it while the index is built */
    wait_active(f, "plain");
    check_engine(f->engine);
    assert_int_equal(describe(f, "plain").indexes[0].item_count, 700);

    change = alter(f, "plain", adding(f, "bycolour", "colour"));
    assert_status(&change, INVALID);
    assert_text(change.failure.text, "Attempting to create an index which already exists");
    struct alteration both = adding(f, "other", "colour");
    both.drop_index = BYTES("bycolour");
    change = alter(f, "plain", both);
    assert_status(&change, LIMIT_EXCEEDED);

    change = alter(f, "plain", (struct alteration){.drop_index = BYTES("nope")});
    assert_status(&change, NO_TABLE);
    change = alter(f, "plain", (struct alteration){.drop_index = BYTES("bycolour")});
    assert_status(&change, OK);
    assert_int_equal(change.description->schema.index_count, 0);
    assert_int_equal(change.description->schema.attribute_count, 2);
    assert_int_equal(atomic_load(&local_of(f->engine)->index_memory), 0);
    put_many(f, "plain", 0, 10);
}

/* Writes that wait behind the index: they are executed while it is built, and one of them was
 * checked when its attribute was no key. */
static void test_writes_during_backfill(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 5 };
    make_plain(f, "plain");
    put_many(f, "plain", 0, 4000);
    struct arena *arena = &f->arena;
    struct alteration add = adding(f, "bycolour", "colour");
    struct action actions[COUNT - 1] = {
        {.kind = ACTION_PUT, .item = item_of(arena, "pk=S:new", "sk=S:0", "colour=S:9", NULL)},
        {.kind = ACTION_DELETE, .item = item_of(arena, "pk=S:1", "sk=S:0", NULL)},
        {.kind = ACTION_PUT,
         .item = item_of(arena, "pk=S:2", "sk=S:0", "colour=S:9", "more=S:x", NULL)},
        {.kind = ACTION_PUT, .item = item_of(arena, "pk=S:3", "sk=S:0", "colour=N:9", NULL)}};
    struct change changes[COUNT] = {
        {.kind = CHANGE_UPDATE_TABLE, .arena = arena, .table = BYTES("plain"), .alteration = &add}};
    struct stall stall;
    sem_t done;
    sem_init(&done, 0, 0);
    stall_start(&stall, f->engine);
    for (int i = 0; i < COUNT; i++) {
        if (i > 0) {
            actions[i - 1].table = BYTES("plain");
            changes[i] = write_of(arena, &actions[i - 1], 1);
        }
        changes[i].done = engine_done;
        changes[i].user = &done;
        engine_submit(f->engine, &changes[i]);
    }
    stall_end(&stall);
    for (int i = 0; i < COUNT; i++)
        sem_wait(&done);
    sem_destroy(&done);
    for (int i = 0; i < COUNT - 1; i++)
        assert_status(&changes[i], OK);
    assert_status(&changes[COUNT - 1], INVALID);
    wait_active(f, "plain");
    check_engine(f->engine);
    assert_int_equal(describe(f, "plain").indexes[0].item_count, 4000);
}

static void test_index_faults(void **state) {
    struct fixture *f = *state;
    make_plain(f, "plain");
    struct alteration add = adding(f, "bycolour", "colour");
    add.attribute_count = 0;
    struct change change = alter(f, "plain", add);
    assert_status(&change, INVALID); /* no definition */
    struct key_part parts[] = {{BYTES("colour"), VALUE_S}, {BYTES("extra"), VALUE_S}};
    add = adding(f, "bycolour", "colour");
    add.attributes = parts;
    add.attribute_count = 2;
    change = alter(f, "plain", add);
    assert_status(&change, INVALID); /* one that is not used */
    struct key_part again[] = {{BYTES("colour"), VALUE_S}, {BYTES("pk"), VALUE_N}};
    add.attributes = again;
    change = alter(f, "plain", add);
    assert_status(&change, INVALID); /* pk is a string */
    assert_int_equal(describe(f, "plain").schema.index_count, 0);
    for (int i = 0; i < LIMIT_GLOBAL_INDEXES; i++) {
        change = alter(
            f, "plain",
            adding(f, (const char *)arena_printf(&f->arena, "index%d%c", i, 0).data, "colour"));
        assert_status(&change, OK);
        wait_active(f, "plain");
    }
    change = alter(f, "plain", adding(f, "toomany", "colour"));
    assert_status(&change, INVALID);
}

/* While one is being built the table is not deleted and no other is begun; it may be dropped. */
static void test_backfill_in_the_way(void **state) {
    struct fixture *f = *state;
    make_plain(f, "plain");
    put_many(f, "plain", 0, 3000);
    for (int round = 0; round < 20; round++) {
        struct change change = alter(f, "plain", adding(f, "bycolour", "colour"));
        assert_status(&change, OK);
        struct change deletion = delete_of(f, "plain");
        struct change second = alter(f, "plain", adding(f, "second", "colour"));
        if (second.failure.status != OK) {
            assert_status(&second, LIMIT_EXCEEDED);
            engine_do(f->engine, &deletion);
            if (deletion.failure.status == OK) { /* it was quick */
                make_plain(f, "plain");
                continue;
            }
            assert_status(&deletion, TABLE_IN_USE);
        } else {
            wait_active(f, "plain");
            change = alter(f, "plain", (struct alteration){.drop_index = BYTES("second")});
            assert_status(&change, OK);
        }
        change = alter(f, "plain", (struct alteration){.drop_index = BYTES("bycolour")});
        assert_status(&change, OK);
    }
}

static void test_backfill_without_memory(void **state) {
    struct fixture *f = *state;
    make_plain(f, "plain");
    put_many(f, "plain", 0, 2000);
    struct local *local = local_of(f->engine);
    size_t most = local->settings.index_memory;
    local->settings.index_memory = 100;
    struct change change = alter(f, "plain", adding(f, "bycolour", "colour"));
    assert_status(&change, OK);
    wait_active(f, "plain"); /* it is gone again */
    assert_int_equal(describe(f, "plain").schema.index_count, 0);
    local->settings.index_memory = most;
    put_many(f, "plain", 0, 10);
}

/* Settings and indexes after a restart; one that is closed while an index is being built. */
static void test_restart(void **state) {
    struct fixture *f = *state;
    char *path = folder_make();
    struct local_settings settings = {.store.path = path, .store.sync = STORE_SYNC_NONE};
    engine_close(f->engine);
    f->engine = engine_open(&settings);
    make_plain(f, "plain");
    struct bytes id = describe(f, "plain").id;
    put_many(f, "plain", 0, 3000);
    struct change change = alter(f, "plain", adding(f, "bycolour", "colour"));
    assert_status(&change, OK);
    engine_close(f->engine);
    f->engine = engine_open(&settings);
    struct table_description about = describe(f, "plain");
    assert_bytes_equal(about.id, id);
    assert_int_equal(about.indexes[0].status, PART_ACTIVE);
    assert_int_equal(about.indexes[0].item_count, 3000);
    assert_int_equal(about.schema.capacity.provisioned.write, 6);
    check_engine(f->engine);
    struct change deletion = delete_of(f, "plain");
    engine_do(f->engine, &deletion);
    assert_status(&deletion, OK);
    engine_close(f->engine);
    f->engine = engine_open(&settings);
    struct engine_figures figures;
    engine_figures(f->engine, &figures);
    assert_int_equal(figures.tables, 0);
    make_plain(f, "plain");
    assert_int_equal(describe(f, "plain").item_count, 0);
    engine_close(f->engine);
    folder_remove(path);
    f->engine = engine_open_memory();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_create, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delete, setup, teardown),
        cmocka_unit_test_setup_teardown(test_capacity, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stream_and_settings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tags, setup, teardown),
        cmocka_unit_test_setup_teardown(test_add_and_drop_index, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writes_during_backfill, setup, teardown),
        cmocka_unit_test_setup_teardown(test_index_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_backfill_in_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_backfill_without_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_restart, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
