/* Records and streams whose time is over. */
#include "streams.h"

#include <unistd.h>

static void test_trim(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "game", STREAM_BOTH);
    for (int i = 0; i < 300; i++) {
        char pk[16];
        snprintf(pk, sizeof(pk), "p%d", i % 30);
        put(&world, "game", pk, "1", i);
    }
    struct stream_info before = last_stream(&world, "game");
    clock_shift_ms(DAY_MS / 2);
    for (int i = 0; i < 100; i++) {
        char pk[16];
        snprintf(pk, sizeof(pk), "q%d", i % 30);
        put(&world, "game", pk, "1", i);
    }
    tick(&world);
    assert_int_equal(stored_in(&world).records, 400);
    clock_shift_ms(DAY_MS / 2 + 60 * 1000);
    tick(&world);
    assert_int_equal(stored_in(&world).records, 100);
    for (int round = 0; round < 2; round++) {
        struct stream_info info = last_stream(&world, "game");
        struct records *records = read_all(&world, &info, 1000);
        assert_int_equal(records->count, 100);
        for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++) {
            assert_true(info.kept[shard] > before.kept[shard]);
            struct stream_read_reply reply =
                read_from(&world, &info, shard, info.kept[shard] - 1, 10);
            assert_true(reply.trimmed);
            assert_int_equal(reply.count, 0);
            assert_false(read_from(&world, &info, shard, info.kept[shard], 10).trimmed);
        }
        world_reopen(&world);
    }
    /* those who read all that there was can go on */
    clock_shift_ms(DAY_MS);
    uint64_t latest = engine_stream_latest(world.engine);
    tick(&world);
    assert_int_equal(stored_in(&world).records, 0);
    struct stream_info info = last_stream(&world, "game");
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++)
        assert_false(read_from(&world, &info, shard, latest, 10).trimmed);
    put(&world, "game", "a", "1", 1);
    assert_int_equal(read_all(&world, &info, 1000)->count, 1);
    world_end(&world);
}

/* A stream that has ended goes a day later, with its records. */
static void test_trim_ended(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "game", STREAM_BOTH);
    make_table(&world, "gone", STREAM_BOTH);
    put(&world, "game", "a", "1", 1);
    put(&world, "gone", "a", "1", 1);
    set_stream(&world, "game", STREAM_OFF);
    set_stream(&world, "game", STREAM_NEW);
    delete_table(&world, "gone");
    clock_shift_ms(DAY_MS - 60 * 1000);
    tick(&world);
    assert_int_equal(list(&world, "").count, 3);
    assert_int_equal(stored_in(&world).records, 2);
    clock_shift_ms(2 * 60 * 1000);
    for (int i = 0; i < 4; i++)
        tick(&world);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(list(&world, "").count, 1);
        assert_int_equal(list(&world, "game").count, 1);
        assert_int_equal(stored_in(&world).records, 0);
        world_reopen(&world);
    }
    world_end(&world);
}

/* --- the log --- */

static bool has_first_segment(const struct world *world) {
    char path[256];
    snprintf(path, sizeof(path), "%s/log/000000000001", world->folder);
    return access(path, F_OK) == 0;
}

/* The records stand in the log, which is kept as long as a stream wants one of them. */
static void test_trim_log(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "game", STREAM_BOTH);
    for (int i = 0; i < 400; i++) /* more than the first segment has room for */
        put(&world, "game", "p", "1", i);
    world_reopen(&world);
    for (int i = 0; i < 5; i++)
        tick(&world);
    struct stream_info info = last_stream(&world, "game");
    assert_int_equal(read_all(&world, &info, 1000)->count, 400);
    assert_true(has_first_segment(&world));
    clock_shift_ms(DAY_MS + 60 * 1000);
    put(&world, "game", "p", "1", 1000);
    for (int i = 0; i < 5; i++)
        tick(&world);
    while (has_first_segment(&world)) /* the log's helper is at it */
        usleep(1000);
    world_reopen(&world);
    info = last_stream(&world, "game");
    assert_int_equal(read_all(&world, &info, 1000)->count, 1);
    world_end(&world);
}

/* --- bundles --- */

/* Puts `count` items of one partition in one commit. */
static void put_together(struct world *world, int from, int count) {
    struct action *actions = ARENA_ARRAY(&world->arena, struct action, (size_t)count);
    for (int i = 0; i < count; i++) {
        char sk[16];
        snprintf(sk, sizeof(sk), "%d", from + i);
        actions[i] = (struct action){.kind = ACTION_PUT,
                                     .table = BYTES("game"),
                                     .item = item_at(world, "one", sk, from + i)};
    }
    struct change change = write_of(&world->arena, actions, (size_t)count);
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

/* The record, made at another time: flags, when, the rest. */
static void put_moved(struct buf *to, struct bytes record, int64_t by_ms) {
    uint8_t flags;
    uint64_t created_ms;
    assert_true(take_u8(&record, &flags) && take_varint(&record, &created_ms));
    buf_clear(to);
    buf_byte(to, flags);
    buf_varint(to, created_ms + (uint64_t)by_ms);
    buf_put(to, record);
}

/* The records with the numbers below `below` were made that much later. */
static void move_records(struct world *world, uint64_t below, int64_t by_ms) {
    struct store *store = open_behind(world);
    struct store_batch *batch = store_batch_new(store);
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(store, &range);
    struct buf moved = {0};
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter)) {
        struct bytes key = store_iter_key(iter), number = bytes_skip(key, STREAM_KEY_SIZE - 8);
        struct bytes record;
        struct bundle bundle = {0};
        uint64_t sequence;
        assert_true(take_u64(&number, &sequence));
        struct bundle_iter from = bundle_read(loaded_value(iter), sequence);
        while (bundle_next(&from, &sequence, &record) == OK) {
            put_moved(&moved, record, sequence < below ? by_ms : 0);
            struct buf room = bundle_add(&bundle, &world->arena, sequence, moved.size);
            buf_put(&room, buf_bytes(&moved));
        }
        store_put(batch, STORE_STREAM, key, bundle_bytes(&bundle));
    }
    store_iter_close(iter);
    close_behind(world, store, batch);
    buf_release(&moved);
}

/* A bundle stays whole until the last of its records has passed its time. */
static void test_trim_bundle(void **state) {
    (void)state;
    struct world world;
    unsigned shard = 0;
    world_start(&world, true);
    make_table(&world, "game", STREAM_BOTH);
    for (int i = 0; i < 3; i++)
        put_together(&world, 50 * i, 50);
    assert_int_equal(stored_in(&world).values, 3);
    struct stream_info info = last_stream(&world, "game");
    uint64_t first = read_all(&world, &info, 1000)->at[0].sequence;
    while (read_from(&world, &info, shard, first, 1).count == 0)
        shard++;
    engine_close(world.engine);
    move_records(&world, first + 75, -2 * (int64_t)DAY_MS); /* to the middle of the second */
    assert_int_equal(verify(&world).stream_records, 150);
    world.engine = engine_open(&world.settings); /* which looks at the stream at once */
    tick(&world);
    assert_int_equal(stored_in(&world).values, 2);
    assert_int_equal(stored_in(&world).records, 100);
    info = last_stream(&world, "game");
    assert_int_equal(info.kept[shard], first + 50);
    assert_true(read_from(&world, &info, shard, first + 49, 10).trimmed);
    for (uint64_t from = first + 50; from < first + 150; from++) {
        struct stream_read_reply reply = read_from(&world, &info, shard, from, 1);
        assert_false(reply.trimmed);
        assert_int_equal(reply.count, 1);
        assert_int_equal(reply.records[0].sequence, from);
    }
    clock_shift_ms(DAY_MS + 60 * 1000);
    tick(&world);
    assert_int_equal(stored_in(&world).values, 0);
    info = last_stream(&world, "game");
    assert_int_equal(info.kept[shard], first + 150);
    assert_false(read_from(&world, &info, shard, first + 150, 10).trimmed);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_trim_ended),
        cmocka_unit_test(test_trim_log),
        cmocka_unit_test(test_trim_bundle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
