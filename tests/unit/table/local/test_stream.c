/* Streams: what a reader is told is what happened, in order, once; over restarts, failed writes and
 * the end of their time. */
#include "engine.h"

#include "base/clock.h"
#include "base/random.h"
#include "table/local/writer.h"

enum { DAY_MS = STREAM_KEPT_MS };

/* --- what the tests share --- */

struct world {
    struct local_settings settings;
    struct store_faults faults;
    struct engine *engine;
    struct arena arena;
    char *folder;
};

static void world_reopen(struct world *world) {
    if (world->engine != NULL)
        engine_close(world->engine);
    world->engine = engine_open(&world->settings);
}

static void world_start(struct world *world, bool folder) {
    *world = (struct world){0};
    arena_init(&world->arena);
    world->folder = folder ? folder_make() : NULL;
    world->settings = (struct local_settings){
        .store = {.memory = !folder, .path = world->folder, .faults = &world->faults},
        .threads = 1};
    world_reopen(world);
}

static void world_end(struct world *world) {
    engine_close(world->engine);
    arena_release(&world->arena);
    if (world->folder != NULL)
        folder_remove(world->folder);
}

static void make_table(struct world *world, const char *name, enum stream_view view) {
    struct table_schema schema = plain_schema(&world->arena, name);
    schema.stream = view;
    create_table(world->engine, &world->arena, &schema);
}

static void set_stream(struct world *world, const char *name, enum stream_view view) {
    struct alteration alteration = {.stream = &view};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = &world->arena,
                            .table = bytes_str(name),
                            .alteration = &alteration};
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

static void delete_table(struct world *world, const char *name) {
    struct change change = {
        .kind = CHANGE_DELETE_TABLE, .arena = &world->arena, .table = bytes_str(name)};
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

static struct item item_at(struct world *world, const char *pk, const char *sk, int value) {
    struct arena *arena = &world->arena;
    const char *key = (const char *)arena_printf(arena, "pk=S:%s%c", pk, 0).data;
    const char *sort = (const char *)arena_printf(arena, "sk=S:%s%c", sk, 0).data;
    if (value < 0)
        return item_of(arena, key, sort, NULL);
    return item_of(arena, key, sort, (const char *)arena_printf(arena, "v=N:%d%c", value, 0).data,
                   NULL);
}

static void put(struct world *world, const char *table, const char *pk, const char *sk, int value) {
    put_item(world->engine, &world->arena, table, item_at(world, pk, sk, value));
}

static void remove_item(struct world *world, const char *table, const char *pk, const char *sk,
                        bool expired) {
    struct action action = {.kind = ACTION_DELETE,
                            .table = bytes_str(table),
                            .item = item_at(world, pk, sk, -1),
                            .expired = expired};
    struct change change = write_of(&world->arena, &action, 1);
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

/* The table's streams in the order they began. */
static struct stream_list list(struct world *world, const char *table) {
    struct stream_list_request request = {.table = bytes_str(table), .limit = 100};
    struct stream_list streams;
    assert_int_equal(engine_streams(world->engine, &request, &world->arena, &streams), OK);
    return streams;
}

static struct stream_info last_stream(struct world *world, const char *table) {
    struct stream_list streams = list(world, table);
    assert_true(streams.count > 0);
    return streams.streams[streams.count - 1];
}

static struct stream_read_reply read_from(struct world *world, const struct stream_info *info,
                                          unsigned shard, uint64_t from, size_t limit) {
    struct stream_read_request request = {.table = info->table,
                                          .label_ms = info->label_ms,
                                          .shard = shard,
                                          .from = from,
                                          .limit = limit};
    struct stream_read_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_stream_read(world->engine, &request, &world->arena, &failure, &reply),
                     OK);
    return reply;
}

struct records {
    struct stream_record at[4096];
    unsigned shard[4096];
    size_t count;
    bool ended; /* all shards */
};

static int by_sequence(const void *a, const void *b) {
    const struct stream_record *left = a, *right = b;
    return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

/* All records of all shards, by sequence number, read in pages of `limit`. */
static struct records *read_all(struct world *world, const struct stream_info *info, size_t limit) {
    struct records *all = ARENA_NEW(&world->arena, struct records);
    all->ended = true;
    for (unsigned shard = 0; shard < STREAM_SHARDS; shard++) {
        uint64_t from = info->kept[shard];
        struct stream_read_reply reply;
        do {
            reply = read_from(world, info, shard, from, limit);
            assert_false(reply.trimmed);
            assert_true(reply.count <= limit);
            for (size_t i = 0; i < reply.count; i++) {
                assert_true(reply.records[i].sequence >= from);
                from = reply.records[i].sequence + 1;
                all->at[all->count++] = reply.records[i];
            }
            assert_int_equal(reply.next, from);
        } while (reply.count != 0);
        all->ended &= reply.ended;
    }
    qsort(all->at, all->count, sizeof(all->at[0]), by_sequence);
    return all;
}

/* Plays the records into a list of items. */
struct replay {
    struct item items[512];
    size_t count;
};

static size_t replay_find(const struct replay *replay, const struct item *keys) {
    size_t at = 0;
    for (; at < replay->count; at++)
        if (value_equal(item_get(&replay->items[at], BYTES("pk")), item_get(keys, BYTES("pk"))) &&
            value_equal(item_get(&replay->items[at], BYTES("sk")), item_get(keys, BYTES("sk"))))
            break;
    return at;
}

static void replay_one(struct replay *replay, const struct stream_record *record) {
    size_t at = replay_find(replay, &record->keys);
    bool there = at < replay->count;
    assert_int_equal(record->has_old, there);
    assert_int_equal(record->event, !record->has_new ? STREAM_REMOVE
                                    : there          ? STREAM_MODIFY
                                                     : STREAM_INSERT);
    if (there)
        assert_true(item_equal(&record->old, &replay->items[at]));
    if (there && record->has_new)
        assert_false(item_equal(&record->old, &record->new));
    if (record->has_new) {
        replay->items[at] = record->new;
        replay->count += !there;
    } else
        replay->items[at] = replay->items[--replay->count];
}

/* The table's items are those that the stream tells of. */
static void check_replay(struct world *world, const char *table, const struct records *records) {
    struct replay *replay = ARENA_NEW(&world->arena, struct replay);
    struct failure failure = {0};
    struct page_reply page;
    struct page_request request = {.table = bytes_str(table), .consistent = true};
    for (size_t i = 0; i < records->count; i++)
        replay_one(replay, &records->at[i]);
    assert_int_equal(engine_page(world->engine, &request, &world->arena, &failure, &page), OK);
    assert_false(page.more);
    assert_int_equal(page.count, replay->count);
    for (uint64_t i = 0; i < page.count; i++) {
        size_t at = replay_find(replay, &page.items[i]);
        assert_true(at < replay->count);
        assert_true(item_equal(&replay->items[at], &page.items[i]));
    }
}

/* Lets the writer do its jobs. */
static void tick(struct world *world) {
    struct stall stall;
    stall_start(&stall, world->engine);
    struct writer *writer = local_of(world->engine)->writer;
    writer->tick_at_us = 0; /* the writer stands still */
    stall_end(&stall);
    for (int i = 0; i < 2; i++) { /* the second change is taken up after the jobs */
        stall_start(&stall, world->engine);
        stall_end(&stall);
    }
}

/* --- views --- */

static void check_view(struct world *world, enum stream_view view) {
    char name[16];
    snprintf(name, sizeof(name), "view%d", (int)view);
    make_table(world, name, view);
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
        check_view(&world, view);
    make_table(&world, "none", STREAM_OFF);
    put(&world, "none", "a", "1", 1);
    assert_int_equal(list(&world, "none").count, 0);
    assert_int_equal(list(&world, "").count, 4);
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
        assert_int_equal(
            engine_describe(world.engine, BYTES("game"), &world.arena, &failure, &about), OK);
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
    struct stream_info info;
    assert_int_equal(engine_stream(world.engine, BYTES("bbb"), 1, &world.arena, &failure, &info),
                     NO_RESOURCE);
    world_end(&world);
}

/* --- the model --- */

static void random_write(struct world *world, struct random *random) {
    struct action actions[3] = {0};
    size_t count = 1 + random_below(random, 3);
    for (size_t i = 0; i < count; i++) {
        char pk[16], sk[16];
        snprintf(pk, sizeof(pk), "p%d", (int)random_below(random, 12));
        snprintf(sk, sizeof(sk), "%d-%d", (int)random_below(random, 4), (int)i);
        bool gone = random_below(random, 3) == 0;
        actions[i].kind = gone ? ACTION_DELETE : ACTION_PUT;
        actions[i].table = BYTES("game");
        actions[i].item = item_at(world, pk, sk, gone ? -1 : (int)random_below(random, 4));
    }
    struct change change = write_of(&world->arena, actions, count);
    engine_do(world->engine, &change);
    if (change.failure.status != OK)
        assert_status(&change, IO_FAILED);
}

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
    for (unsigned shard = 0; shard < STREAM_SHARDS; shard++) {
        struct stream_read_reply reply = read_from(&world, &info, shard, info.kept[shard], 1000);
        used += reply.count != 0;
        for (size_t i = 0; i < reply.count; i++) {
            int pk =
                atoi((const char *)item_get(&reply.records[i].keys, BYTES("pk"))->bytes.data + 1);
            assert_true(shard_of[pk] == -1 || shard_of[pk] == (int)shard);
            shard_of[pk] = (int)shard;
        }
    }
    assert_int_equal(used, STREAM_SHARDS);
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
        for (unsigned shard = 0; shard < STREAM_SHARDS; shard++) {
            struct stream_read_request request = {.table = info.table,
                                                  .label_ms = info.label_ms,
                                                  .shard = shard,
                                                  .limit = 7,
                                                  .partitions = wanted,
                                                  .partition_count = 2};
            struct stream_read_reply reply = {0};
            request.from = info.kept[shard];
            for (; !reply.caught_up; request.from = reply.next) {
                assert_int_equal(
                    engine_stream_read(world.engine, &request, &world.arena, &failure, &reply), OK);
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
    for (unsigned shard = 0; shard < STREAM_SHARDS; shard++) {
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

/* --- the end of their time --- */

static size_t stored_records(struct world *world) {
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(local_of(world->engine)->store, &range);
    size_t count = 0;
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter))
        count++;
    store_iter_close(iter);
    return count;
}

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
    assert_int_equal(stored_records(&world), 400);
    clock_shift_ms(DAY_MS / 2 + 60 * 1000);
    tick(&world);
    assert_int_equal(stored_records(&world), 100);
    for (int round = 0; round < 2; round++) {
        struct stream_info info = last_stream(&world, "game");
        struct records *records = read_all(&world, &info, 1000);
        assert_int_equal(records->count, 100);
        for (unsigned shard = 0; shard < STREAM_SHARDS; shard++) {
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
    assert_int_equal(stored_records(&world), 0);
    struct stream_info info = last_stream(&world, "game");
    for (unsigned shard = 0; shard < STREAM_SHARDS; shard++)
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
    assert_int_equal(stored_records(&world), 2);
    clock_shift_ms(2 * 60 * 1000);
    for (int i = 0; i < 4; i++)
        tick(&world);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(list(&world, "").count, 1);
        assert_int_equal(list(&world, "game").count, 1);
        assert_int_equal(stored_records(&world), 0);
        world_reopen(&world);
    }
    world_end(&world);
}

/* --- failures --- */

/* The Nth write or sync fails: afterwards stream and table agree, whatever became of it. */
static void try_failing(int *fault, struct world *world, struct random *random, int at) {
    *fault = at;
    for (int i = 0; i < 12; i++)
        random_write(world, random);
    *fault = 0;
    for (int tries = 0; tries < 100; tries++) {
        struct action action = {
            .kind = ACTION_PUT, .table = BYTES("game"), .item = item_at(world, "well", "1", at)};
        struct change change = write_of(&world->arena, &action, 1);
        if (engine_do(world->engine, &change) == OK)
            break;
        usleep(20 * 1000);
    }
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
    usleep(300 * 1000);
    put(&world, "game", "a", "1", 2);
    struct stream_info info = last_stream(&world, "game");
    assert_true(info.enabled);
    check_replay(&world, "game", read_all(&world, &info, 1000));
    world_end(&world);
}

/* --- looking offline --- */

static void count_sentences(struct bytes sentence, void *context) {
    (void)sentence;
    ++*(unsigned *)context;
}

static struct verify_report verify(struct world *world) {
    unsigned sentences = 0;
    struct verify_settings settings = {
        .path = world->folder, .found = count_sentences, .context = &sentences};
    struct verify_report report;
    struct failure failure = {0};
    assert_int_equal(local_verify(&settings, &world->arena, &failure, &report), OK);
    assert_int_equal(report.faults, sentences);
    return report;
}

/* Puts a record that is not one, behind the engine's back. */
static void spoil(struct world *world, struct bytes key, struct bytes value) {
    struct store_settings settings = {.path = world->folder};
    struct failure failure = {0};
    struct store *store;
    assert_int_equal(store_open(&settings, &world->arena, &failure, &store), OK);
    struct store_batch *batch = store_batch_new(store);
    store_put(batch, STORE_STREAM, key, value);
    assert_int_equal(store_write(store, batch, &world->arena, &failure), OK);
    store_batch_free(batch);
    store_close(store);
}

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
    spoil(&world, stream_key(1, info.label_ms, 0, 1, room), BYTES("\x03 no record"));
    assert_int_equal(verify(&world).faults, 1);
    spoil(&world, stream_key(77, info.label_ms, 0, 1, room), BYTES("x"));
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
        cmocka_unit_test(test_model),         cmocka_unit_test(test_shards),
        cmocka_unit_test(test_partitions),    cmocka_unit_test(test_page_size),
        cmocka_unit_test(test_trim),          cmocka_unit_test(test_trim_ended),
        cmocka_unit_test(test_failures),      cmocka_unit_test(test_failing_switch),
        cmocka_unit_test(test_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
