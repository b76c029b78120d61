/* Reading streams: shards, partitions and pages. */
#include "streams.h"

/* Items of several partitions are in several shards, those of one in one. */
static void test_shards(void **state) {
    (void)state;
    struct world world;
    world_start(&world, false);
    make_table(&world, "game", STREAM_NEW);
    for (int i = 0; i < 200; i++) {
        char pk[16], sk[16];
        snprintf(pk, sizeof(pk), "p%d", i % 40);
        snprintf(sk, sizeof(sk), "%d", i / 40);
        put(&world, "game", pk, sk, i);
    }
    struct stream_info info = last_stream(&world, "game");
    int shard_of[40], used = 0;
    for (int i = 0; i < 40; i++)
        shard_of[i] = -1;
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++) {
        struct stream_read_reply reply = read_from(&world, &info, shard, info.kept[shard], 1000);
        used += reply.count != 0;
        for (size_t i = 0; i < reply.count; i++) {
            int pk =
                atoi((const char *)item_get(&reply.records[i].keys, BYTES("pk"))->bytes.data + 1);
            assert_true(shard_of[pk] == -1 || shard_of[pk] == (int)shard);
            shard_of[pk] = (int)shard;
        }
    }
    assert_int_equal(used, STREAM_SHARDS_MAX);
    world_end(&world);
}

/* A stream that begins has one shard unless the engine was opened for more, and keeps what it began
 * with; the other shards can be asked for and are empty. */
static void test_one_shard(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "four", STREAM_NEW);
    world.settings.stream_shards = 0;
    world_reopen(&world);
    make_table(&world, "one", STREAM_NEW);
    for (int round = 0; round < 2; round++, world_reopen(&world)) {
        for (int i = 0; i < 64; i++) {
            char pk[16];
            snprintf(pk, sizeof(pk), "p%d", i);
            put(&world, "one", pk, "s", round);
            put(&world, "four", pk, "s", round);
        }
        struct stream_info one = last_stream(&world, "one"), four = last_stream(&world, "four");
        assert_int_equal(one.shards, 1);
        assert_int_equal(four.shards, 4);
        assert_int_equal(read_from(&world, &one, 0, one.kept[0], 1000).count, 64 * (round + 1));
        assert_int_equal(read_from(&world, &one, 1, one.kept[1], 1000).count, 0);
        assert_in_range(read_from(&world, &four, 3, four.kept[3], 1000).count, 1, 63);
    }
    world_end(&world);
}

/* A stream's record of format 1 has no number of shards: there were four. */
static void test_shards_of_older_folder(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "game", STREAM_NEW);
    struct local *local = (struct local *)world.engine;
    struct store_range range = {.family = STORE_META, .low = BYTES("S"), .high = BYTES("T")};
    struct store_iter *iter = store_iter_open(local->store, &range);
    assert_true(store_iter_first(iter));
    struct bytes key = arena_copy(&world.arena, store_iter_key(iter));
    struct bytes record = arena_copy(&world.arena, store_iter_value(iter));
    store_iter_close(iter);
    assert_int_equal(record.data[0], 2);
    ((uint8_t *)record.data)[0] = 1;
    struct store_batch *batch = store_batch_new(local->store);
    struct failure failure;
    store_put(batch, STORE_META, key, bytes_of(record.data, record.size - 1));
    assert_int_equal(store_write(local->store, batch, (struct scope){&world.arena, &failure}), OK);
    store_batch_free(batch);
    world.settings.stream_shards = 1;
    world_reopen(&world);
    assert_int_equal(last_stream(&world, "game").shards, 4);
    world_end(&world);
}

/* Only what begins as asked for comes; what is passed over is passed for good. */
static void test_partitions(void **state) {
    (void)state;
    static const enum stream_view views[] = {STREAM_KEYS, STREAM_OLD, STREAM_BOTH};
    struct bytes wanted[] = {BYTES("room#"), BYTES("play")};
    for (int v = 0; v < 3; v++) {
        struct world world;
        struct failure failure = {0};
        size_t found = 0, all = 0;
        world_start(&world, false);
        make_table(&world, "game", views[v]);
        for (int i = 0; i < 300; i++) {
            char pk[32];
            snprintf(pk, sizeof(pk), "%s%d", i % 3 == 0 ? "room#" : i % 3 == 1 ? "play" : "pla", i);
            put(&world, "game", pk, "s", i);
        }
        struct stream_info info = last_stream(&world, "game");
        for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++) {
            struct stream_read_request request = {.table = info.table,
                                                  .label_ms = info.label_ms,
                                                  .shard = shard,
                                                  .limit = 7,
                                                  .partitions = wanted,
                                                  .partition_count = 2};
            struct stream_read_reply reply = {0};
            request.from = info.kept[shard];
            for (; !reply.caught_up; request.from = reply.next) {
                assert_int_equal(engine_stream_read(world.engine, &request,
                                                    (struct scope){&world.arena, &failure}, &reply),
                                 OK);
                assert_true(reply.next > request.from || reply.caught_up);
                found += reply.count;
                for (size_t i = 0; i < reply.count; i++) {
                    struct bytes pk = item_get(&reply.records[i].keys, BYTES("pk"))->bytes;
                    assert_true(bytes_starts(pk, wanted[0]) || bytes_starts(pk, wanted[1]));
                }
            }
            struct stream_read_reply rest = read_from(&world, &info, shard, reply.next, 10);
            assert_int_equal(rest.count, 0);
            assert_true(rest.caught_up);
            all += read_from(&world, &info, shard, info.kept[shard], 1000).count;
        }
        assert_int_equal(found, 200);
        assert_int_equal(all, 300);
        world_end(&world);
    }
}

/* Pages end at 1 MB, however many records were asked for. */
static void test_page_size(void **state) {
    (void)state;
    struct world world;
    world_start(&world, false);
    make_table(&world, "game", STREAM_NEW);
    char *large = arena_zalloc(&world.arena, 300 * 1024);
    memset(large, 'x', 300 * 1024 - 1);
    memcpy(large, "big=S:", 6);
    for (int i = 0; i < 8; i++)
        put_item(world.engine, &world.arena, "game",
                 item_of(&world.arena, "pk=S:a",
                         (const char *)arena_printf(&world.arena, "sk=S:%d%c", i, 0).data, large,
                         NULL));
    struct stream_info info = last_stream(&world, "game");
    size_t pages = 0, count = 0;
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++) {
        uint64_t from = info.kept[shard];
        for (;;) {
            struct stream_read_reply reply = read_from(&world, &info, shard, from, 1000);
            if (reply.count == 0)
                break;
            assert_true(reply.count <= 3);
            from = reply.next;
            count += reply.count;
            pages++;
        }
    }
    assert_int_equal(count, 8);
    assert_int_equal(pages, 3);
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_one_shard),
        cmocka_unit_test(test_shards_of_older_folder),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_page_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
