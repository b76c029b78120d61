/* Streams: what a reader is told is what happened, in order, once; over restarts, failed writes and
 * the end of their time. */
#include "streams.h"

/* --- views --- */

static void check_view(struct world *world, enum stream_view view, bool ranked) {
    char name[16];
    snprintf(name, sizeof(name), "%s%d", ranked ? "ranked" : "view", (int)view);
    (ranked ? make_ranked_table : make_table)(world, name, view);
    put(world, name, "a", "1", 1);
    put(world, name, "a", "1", 2);
    remove_item(world, name, "a", "1", false);
    struct stream_info info = last_stream(world, name);
    assert_int_equal(info.view, view);
    assert_true(info.enabled);
    struct records *records = read_all(world, &info, 1000);
    assert_int_equal(records->count, 3);
    bool old = view == STREAM_OLD || view == STREAM_BOTH;
    bool new = view == STREAM_NEW || view == STREAM_BOTH;
    struct item keys = item_at(world, "a", "1", -1);
    for (int i = 0; i < 3; i++) {
        const struct stream_record *record = &records->at[i];
        assert_int_equal(record->event, i);
        assert_true(item_equal(&record->keys, &keys));
        assert_int_equal(record->has_old, old && i > 0);
        assert_int_equal(record->has_new, new &&i < 2);
        struct item was = item_at(world, "a", "1", i), is = item_at(world, "a", "1", i + 1);
        size_t size = item_size(&keys);
        if (record->has_old) {
            assert_true(item_equal(&record->old, &was));
            size += item_size(&was);
        }
        if (record->has_new) {
            assert_true(item_equal(&record->new, &is));
            size += item_size(&is);
        }
        assert_int_equal(record->size, size);
        assert_false(record->expired);
        assert_true(clock_now_ms() - record->created_ms < 60 * 1000);
    }
}

static void test_views(void **state) {
    (void)state;
    struct world world;
    world_start(&world, false);
    for (enum stream_view view = STREAM_KEYS; view <= STREAM_BOTH; view++)
        check_view(&world, view, false);
    for (enum stream_view view = STREAM_KEYS; view <= STREAM_BOTH; view++)
        check_view(&world, view, true);
    make_table(&world, "none", STREAM_OFF);
    put(&world, "none", "a", "1", 1);
    assert_int_equal(list(&world, "none").count, 0);
    assert_int_equal(list(&world, "").count, 8);
    world_end(&world);
}

/* --- nothing for nothing --- */

static void test_no_change(void **state) {
    (void)state;
    struct world world;
    world_start(&world, false);
    make_table(&world, "game", STREAM_BOTH);
    put(&world, "game", "a", "1", 1);
    uint64_t latest = engine_stream_latest(world.engine);
    put(&world, "game", "a", "1", 1);
    remove_item(&world, "game", "b", "1", false);
    struct item values = item_of(&world.arena, ":v=N:1", NULL);
    struct action actions[2] = {
        {.kind = ACTION_UPDATE, .table = BYTES("game"), .item = item_at(&world, "a", "1", -1)},
        {.kind = ACTION_CHECK, .table = BYTES("game"), .item = item_at(&world, "b", "1", -1)}};
    actions[0].update = update_of(&world.arena, "SET v = :v", &values);
    actions[1].condition = condition_of(&world.arena, "attribute_not_exists(pk)", NULL);
    struct change change = write_of(&world.arena, actions, 2);
    change.all_or_nothing = true;
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    /* one that fails as a whole */
    actions[0].update = update_of(&world.arena, "SET v = v + :v", &values);
    actions[1].condition = condition_of(&world.arena, "attribute_exists(pk)", NULL);
    engine_do(world.engine, &change);
    assert_status(&change, CANCELLED);
    assert_int_equal(engine_stream_latest(world.engine), latest);
    struct stream_info info = last_stream(&world, "game");
    assert_int_equal(read_all(&world, &info, 1000)->count, 1);
    world_end(&world);
}

static void test_expired(void **state) {
    (void)state;
    struct world world;
    world_start(&world, false);
    make_table(&world, "game", STREAM_KEYS);
    put(&world, "game", "a", "1", 1);
    remove_item(&world, "game", "a", "1", true);
    struct stream_info info = last_stream(&world, "game");
    struct records *records = read_all(&world, &info, 1000);
    assert_int_equal(records->count, 2);
    assert_false(records->at[0].expired);
    assert_true(records->at[1].expired);
    assert_int_equal(records->at[1].event, STREAM_REMOVE);
    world_end(&world);
}

/* --- a stream's life --- */

static void test_switching(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "game", STREAM_BOTH);
    put(&world, "game", "a", "1", 1);
    set_stream(&world, "game", STREAM_OFF);
    put(&world, "game", "a", "1", 2);
    set_stream(&world, "game", STREAM_KEYS);
    put(&world, "game", "a", "1", 3);
    set_stream(&world, "game", STREAM_OFF);
    set_stream(&world, "game", STREAM_NEW);
    for (int round = 0; round < 2; round++) {
        struct stream_list streams = list(&world, "game");
        assert_int_equal(streams.count, 3);
        const struct stream_info *info = streams.streams;
        assert_true(info[0].label_ms < info[1].label_ms && info[1].label_ms < info[2].label_ms);
        assert_false(info[0].enabled);
        assert_true(info[2].enabled);
        assert_int_equal(info[1].view, STREAM_KEYS);
        struct records *records = read_all(&world, &info[0], 1000);
        assert_int_equal(records->count, 1);
        assert_true(records->ended);
        assert_true(records->at[0].sequence >= info[0].first);
        assert_true(records->at[0].sequence <= info[0].last);
        assert_true(info[1].first > info[0].last);
        records = read_all(&world, &info[1], 1000);
        assert_int_equal(records->count, 1);
        assert_false(records->at[0].has_new);
        assert_false(read_all(&world, &info[2], 1000)->ended);
        struct table_description about;
        struct failure failure;
        assert_int_equal(engine_describe(world.engine, BYTES("game"),
                                         (struct scope){&world.arena, &failure}, &about),
                         OK);
        assert_int_equal(about.stream_since_ms, info[2].label_ms);
        world_reopen(&world);
    }
    world_end(&world);
}

/* A table's name may come again; the streams of both can be read and told apart. */
static void test_deleted_table(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "game", STREAM_BOTH);
    put(&world, "game", "a", "1", 1);
    delete_table(&world, "game");
    make_table(&world, "game", STREAM_BOTH);
    put(&world, "game", "a", "1", 5);
    put(&world, "game", "a", "1", 6);
    for (int round = 0; round < 2; round++) {
        struct stream_list streams = list(&world, "game");
        assert_int_equal(streams.count, 2);
        assert_false(bytes_equal(streams.streams[0].table_id, streams.streams[1].table_id));
        assert_int_equal(read_all(&world, &streams.streams[0], 1000)->count, 1);
        struct records *records = read_all(&world, &streams.streams[1], 1000);
        assert_int_equal(records->count, 2);
        check_replay(&world, "game", records);
        world_reopen(&world);
    }
    world_end(&world);
}

static void test_list_pages(void **state) {
    (void)state;
    struct world world;
    world_start(&world, false);
    make_table(&world, "bbb", STREAM_NEW);
    make_table(&world, "aaa", STREAM_NEW);
    make_table(&world, "ccc", STREAM_NEW);
    set_stream(&world, "bbb", STREAM_OFF);
    set_stream(&world, "bbb", STREAM_NEW);
    const char *const want[] = {"aaa", "bbb", "bbb", "ccc"};
    struct stream_list_request request = {.limit = 1};
    struct stream_list streams;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(engine_streams(world.engine, &request, &world.arena, &streams), OK);
        assert_int_equal(streams.count, 1);
        assert_int_equal(streams.more, i < 3);
        assert_text(streams.streams[0].table, want[i]);
        request.after_table = streams.streams[0].table;
        request.after_label_ms = streams.streams[0].label_ms;
    }
    request = (struct stream_list_request){.table = BYTES("bbb"), .limit = 1};
    assert_int_equal(engine_streams(world.engine, &request, &world.arena, &streams), OK);
    assert_true(streams.count == 1 && streams.more);
    request.after_table = BYTES("bbb");
    request.after_label_ms = streams.streams[0].label_ms;
    assert_int_equal(engine_streams(world.engine, &request, &world.arena, &streams), OK);
    assert_true(streams.count == 1 && !streams.more);
    struct failure failure;
    struct stream_id id = {BYTES("bbb"), 1};
    struct stream_info info;
    assert_int_equal(
        engine_stream(world.engine, &id, (struct scope){&world.arena, &failure}, &info),
        NO_RESOURCE);
    world_end(&world);
}

/* --- the model --- */

static void test_model(void **state) {
    (void)state;
    struct random random;
    struct world world;
    random_seed(&random, test_seed());
    world_start(&world, true);
    make_table(&world, "game", STREAM_BOTH);
    uint64_t latest = 0;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 150; i++)
            random_write(&world, &random);
        struct stream_info info = last_stream(&world, "game");
        struct records *records = read_all(&world, &info, 1 + random_below(&random, 20));
        assert_true(records->count > 100);
        check_replay(&world, "game", records);
        for (size_t i = 1; i < records->count; i++)
            assert_true(records->at[i].sequence > records->at[i - 1].sequence);
        assert_true(engine_stream_latest(world.engine) > records->at[records->count - 1].sequence);
        assert_true(engine_stream_latest(world.engine) > latest);
        latest = engine_stream_latest(world.engine);
        world_reopen(&world);
        assert_int_equal(engine_stream_latest(world.engine), latest);
    }
    world_end(&world);
}

/* --- failures --- */

/* The engine tries to recover now and then. */
static void put_until_well(struct world *world, int at) {
    for (int tries = 0; tries < 3000; tries++) {
        struct action action = {
            .kind = ACTION_PUT, .table = BYTES("game"), .item = item_at(world, "well", "1", at)};
        struct change change = write_of(&world->arena, &action, 1);
        if (engine_do(world->engine, &change) == OK)
            return;
        usleep(20 * 1000);
    }
    fail_msg("no recovery");
}

/* The Nth write or sync fails: afterwards stream and table agree, whatever became of it. */
static void try_failing(int *fault, struct world *world, struct random *random, int at) {
    *fault = at;
    for (int i = 0; i < 12; i++)
        random_write(world, random);
    *fault = 0;
    put_until_well(world, at);
    struct stream_info info = last_stream(world, "game");
    check_replay(world, "game", read_all(world, &info, 1000));
    struct records *records = read_all(world, &info, 1000);
    for (size_t i = 1; i < records->count; i++)
        assert_true(records->at[i].sequence > records->at[i - 1].sequence);
}

static void test_failures(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (int sync = 0; sync < 2; sync++) {
        struct world world;
        world_start(&world, true);
        make_table(&world, "game", STREAM_BOTH);
        for (int at = 1; at <= 6; at++)
            try_failing(sync ? &world.faults.sync_in : &world.faults.write_in, &world, &random, at);
        world_reopen(&world);
        struct stream_info info = last_stream(&world, "game");
        check_replay(&world, "game", read_all(&world, &info, 1000));
        world_end(&world);
    }
}

/* A stream that could not be switched on or off is as it was, or as it should be, not in between.
 */
static void test_failing_switch(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "game", STREAM_BOTH);
    put(&world, "game", "a", "1", 1);
    enum stream_view off = STREAM_OFF;
    struct alteration alteration = {.stream = &off};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = &world.arena,
                            .table = BYTES("game"),
                            .alteration = &alteration};
    world.faults.write_in = 1;
    engine_do(world.engine, &change);
    assert_status(&change, IO_FAILED);
    assert_true(last_stream(&world, "game").enabled);
    put_until_well(&world, 2);
    put(&world, "game", "a", "1", 2);
    struct stream_info info = last_stream(&world, "game");
    assert_true(info.enabled);
    check_replay(&world, "game", read_all(&world, &info, 1000));
    world_end(&world);
}

/* --- looking offline --- */

static void test_verify(void **state) {
    (void)state;
    struct world world;
    uint8_t room[STREAM_KEY_SIZE];
    world_start(&world, true);
    make_table(&world, "game", STREAM_KEYS);
    put(&world, "game", "a", "1", 1);
    put(&world, "game", "b", "1", 1);
    struct stream_info info = last_stream(&world, "game");
    engine_close(world.engine);
    struct verify_report report = verify(&world);
    assert_int_equal(report.stream_records, 2);
    assert_int_equal(report.faults, 0);
    spoil(&world, stream_key(&(struct stream_position){1, info.label_ms, 0, 1}, room),
          BYTES("\x03 no record"));
    assert_int_equal(verify(&world).faults, 1);
    spoil(&world, stream_key(&(struct stream_position){77, info.label_ms, 0, 1}, room), BYTES("x"));
    assert_int_equal(verify(&world).faults, 2);
    spoil(&world, BYTES("no key"), BYTES("x"));
    assert_int_equal(verify(&world).faults, 3);
    world.engine = engine_open(&world.settings);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),         cmocka_unit_test(test_no_change),
        cmocka_unit_test(test_expired),       cmocka_unit_test(test_switching),
        cmocka_unit_test(test_deleted_table), cmocka_unit_test(test_list_pages),
        cmocka_unit_test(test_model),

        cmocka_unit_test(test_failures),      cmocka_unit_test(test_failing_switch),
        cmocka_unit_test(test_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
