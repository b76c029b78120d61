/* Commits of many records: whatever they are stored as, a reader sees the same. */
#include "streams.h"

enum { KINDS = 4, ALL_MAX = 4000 };

/* --- writing much at once --- */

static struct item any_item(struct world *world, struct random *random, bool gone) {
    struct arena *arena = &world->arena;
    char pk[32], sk[32];
    snprintf(pk, sizeof(pk), "pk=S:p%d", (int)random_below(random, 6));
    snprintf(sk, sizeof(sk), "sk=S:%d", (int)random_below(random, 60));
    const char *key = arena_str(arena, bytes_str(pk)), *sort = arena_str(arena, bytes_str(sk));
    if (gone)
        return item_of(arena, key, sort, NULL);
    size_t size = 8 + random_below(random, 20);
    if (random_below(random, 60) == 0)
        size = 20 * 1024 + random_below(random, 120 * 1024);
    char *text = arena_zalloc(arena, size + 1);
    memset(text, 'x', size);
    snprintf(text, size, "v=S:%d", (int)random_below(random, 1000));
    text[strlen(text)] = 'x';
    return item_of(arena, key, sort, text, NULL);
}

/* As many changes as that, in as few commits as the writer makes of them. */
static void write_many(struct world *world, struct random *random, size_t count) {
    struct action *actions = ARENA_ARRAY(&world->arena, struct action, count);
    struct change *changes = ARENA_ARRAY(&world->arena, struct change, count);
    struct stall stall;
    sem_t done;
    sem_init(&done, 0, 0);
    stall_start(&stall, world->engine);
    for (size_t i = 0; i < count; i++) {
        bool gone = random_below(random, 5) == 0;
        actions[i] = (struct action){.kind = gone ? ACTION_DELETE : ACTION_PUT,
                                     .table = BYTES("game"),
                                     .item = any_item(world, random, gone)};
        changes[i] = write_of(ARENA_NEW(&world->arena, struct arena), &actions[i], 1);
        arena_init(changes[i].arena);
        changes[i].done = engine_done;
        changes[i].user = &done;
        engine_submit(world->engine, &changes[i]);
    }
    stall_end(&stall);
    for (size_t i = 0; i < count; i++)
        while (sem_wait(&done) != 0)
            ;
    for (size_t i = 0; i < count; i++) {
        assert_status(&changes[i], OK);
        arena_release(changes[i].arena);
    }
    sem_destroy(&done);
}

/* --- reading from anywhere --- */

static void check_page(struct world *world, const struct stream_info *info, unsigned shard,
                       uint64_t from, size_t limit, const struct records *all) {
    struct stream_read_reply reply = read_from(world, info, shard, from, limit);
    size_t at = 0, size = 0;
    while (at < all->count && (all->at[at].sequence < from || all->shard[at] != shard))
        at++;
    for (size_t i = 0; i < reply.count; i++) {
        assert_int_equal(reply.records[i].sequence, all->at[at].sequence);
        assert_true(item_equal(&reply.records[i].keys, &all->at[at].keys));
        assert_int_equal(reply.records[i].has_new, all->at[at].has_new);
        if (reply.records[i].has_new)
            assert_true(item_equal(&reply.records[i].new, &all->at[at].new));
        size += reply.records[i].size;
        for (at++; at < all->count && all->shard[at] != shard;)
            at++;
    }
    if (reply.count != 0)
        assert_int_equal(reply.next, reply.records[reply.count - 1].sequence + 1);
    else
        assert_int_equal(reply.next, from);
    assert_true(reply.count <= limit);
    assert_int_equal(reply.caught_up, at == all->count);
    if (at < all->count && reply.count < limit) /* it was the size */
        assert_true(size + all->at[at].size > 1024 * 1024 * 9 / 10);
}

/* From each position, a few records; from some, as many as there are. */
static void check_positions(struct world *world, const struct stream_info *info,
                            struct random *random, const struct records *all) {
    struct arena kept = world->arena;
    uint64_t next = engine_stream_latest(world->engine);
    arena_init(&world->arena);
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++)
        for (uint64_t from = info->kept[shard]; from <= next; from++) {
            size_t limit = random_below(random, 50) == 0 ? 1000 : 1 + random_below(random, 3);
            check_page(world, info, shard, from, limit, all);
            arena_reset(&world->arena);
        }
    arena_release(&world->arena);
    world->arena = kept;
}

/* Each number was given once, and the shards are as they say. */
static struct records *read_checked(struct world *world, const struct stream_info *info) {
    struct records *all = read_all(world, info, 1000);
    assert_true(all->count < ALL_MAX);
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++) {
        uint64_t from = info->kept[shard];
        for (struct stream_read_reply page = {0}; !page.caught_up; from = page.next) {
            page = read_from(world, info, shard, from, 1000);
            for (size_t i = 0; i < page.count; i++)
                all->shard[page.records[i].sequence - all->at[0].sequence] = shard;
        }
    }
    for (size_t i = 1; i < all->count; i++)
        assert_int_equal(all->at[i].sequence, all->at[0].sequence + i);
    assert_int_equal(all->at[all->count - 1].sequence + 1, engine_stream_latest(world->engine));
    return all;
}

/* --- the older form --- */

/* Stores the records of every second bundle or so one by one, as programs of format 1 did; of at
 * least one that holds several, however the dice fall. */
static void unbundle(struct world *world, struct random *random) {
    bool several = false;
    struct store *store = open_behind(world);
    struct store_batch *batch = store_batch_new(store);
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(store, &range);
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter)) {
        uint8_t key[STREAM_KEY_SIZE];
        struct stream_position at;
        struct bytes record;
        assert_true(stream_key_read(store_iter_key(iter), &at));
        struct bundle_iter from = bundle_read(loaded_value(iter), at.sequence);
        if (random_below(random, 2) == 0 && several)
            continue;
        uint64_t first = at.sequence;
        while (bundle_next(&from, &at.sequence, &record) == OK)
            store_put(batch, STORE_STREAM, stream_key(&at, key), record);
        several = several || at.sequence > first;
    }
    store_iter_close(iter);
    close_behind(world, store, batch);
}

/* --- the tests --- */

static void check_model(struct world *world, struct random *random) {
    static const size_t counts[] = {1, 2, 30, 300};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5; i++)
            write_many(world, random, counts[random_below(random, KINDS)]);
        write_many(world, random, 200);
        struct stream_info info = last_stream(world, "game");
        struct records *all = read_checked(world, &info);
        check_replay(world, "game", all);
        struct stored stored = stored_in(world);
        assert_int_equal(stored.records, all->count);
        assert_true(stored.values < all->count);
        check_positions(world, &info, random, all);
        engine_close(world->engine);
        unbundle(world, random);
        struct verify_report report = verify(world);
        assert_int_equal(report.faults, 0);
        assert_int_equal(report.stream_records, stored.records);
        world->engine = engine_open(&world->settings);
        assert_int_equal(stored_in(world).records, stored.records);
        assert_true(stored_in(world).values > stored.values);
        all = read_checked(world, &info);
        check_replay(world, "game", all);
        check_positions(world, &info, random, all);
    }
}

static void test_model(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (unsigned apart = 0; apart < 2; apart++) {
        struct world world;
        world_start(&world, true);
        world.settings.commit_thread_from = apart; /* 1: each commit by the committer */
        world_reopen(&world);
        make_table(&world, "game", STREAM_BOTH);
        check_model(&world, &random);
        world_end(&world);
    }
}

/* The records of a commit are stored together, as far as they are small. */
static void test_together(void **state) {
    (void)state;
    struct world world;
    world_start(&world, true);
    make_table(&world, "game", STREAM_NEW);
    make_table(&world, "other", STREAM_NEW);
    struct action actions[40] = {0};
    for (int i = 0; i < 40; i++) {
        char sk[16];
        snprintf(sk, sizeof(sk), "%d", i);
        actions[i] = (struct action){.kind = ACTION_PUT,
                                     .table = i % 2 == 0 ? BYTES("game") : BYTES("other"),
                                     .item = item_at(&world, "one", sk, i)};
    }
    struct change change = write_of(&world.arena, actions, 40);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_int_equal(stored_in(&world).values, 2);
    assert_int_equal(stored_in(&world).records, 40);
    char *large = arena_zalloc(&world.arena, 30 * 1024);
    memset(large, 'x', 30 * 1024 - 1);
    memcpy(large, "v=S:", 4);
    for (int i = 0; i < 40; i++) {
        actions[i].table = BYTES("game");
        actions[i].item =
            item_of(&world.arena, "pk=S:one",
                    (const char *)arena_printf(&world.arena, "sk=S:%d%c", i, 0).data, large, NULL);
    }
    change = write_of(&world.arena, actions, 40);
    engine_do(world.engine, &change);
    assert_status(&change, OK);
    assert_int_equal(stored_in(&world).values, 2 + 20);
    assert_int_equal(stored_in(&world).records, 80);
    world_end(&world);
}

/* Bytes that are no bundle are refused, by a reader and by verify. */
static void test_damaged(void **state) {
    (void)state;
    struct world world;
    struct bytes bad[] = {BYTES("\x40"),
                          BYTES("\x40\x01"),
                          BYTES("\x40\x01\x01\x05\x03"),
                          BYTES("\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01"),
                          BYTES("\x40\x01\x01\x01\x03\x01\x01\x03"),
                          BYTES("\x80")};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint8_t room[STREAM_KEY_SIZE];
        world_start(&world, true);
        world.settings.stream_shards = 1; /* where the bad one stands between good ones: else it is
                                             trimmed at once, for nothing says how old it is */
        world_reopen(&world);
        make_table(&world, "game", STREAM_NEW);
        for (int n = 0; n < 4; n++)
            put(&world, "game", "a", "1", n);
        struct stream_info info = last_stream(&world, "game");
        engine_close(world.engine);
        spoil(&world, stream_key(&(struct stream_position){1, info.label_ms, 0, 3}, room), bad[i]);
        assert_true(verify(&world).faults > 0);
        world.engine = engine_open(&world.settings);
        struct stream_read_request request = {
            .table = info.table, .label_ms = info.label_ms, .from = info.kept[0], .limit = 10};
        struct stream_read_reply reply;
        struct failure failure = {0};
        assert_int_equal(engine_stream_read(world.engine, &request,
                                            (struct scope){&world.arena, &failure}, &reply),
                         DAMAGED);
        clock_shift_ms(DAY_MS + 60 * 1000);
        tick(&world);
        assert_int_equal(stored_in(&world).values, 0);
        clock_shift_ms(-(DAY_MS + 60 * 1000));
        world_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
