/* Kinds of partitions: what is known of a stream without reading it is what its records say. */
#include "streams.h"

static struct bytes key_of(const char *partition, struct buf *to) {
    buf_clear(to);
    buf_u32(to, 7);
    buf_u32(to, 0x23232323); /* a hash that looks like the end of a kind */
    buf_put(to, bytes_str(partition));
    buf_byte(to, 0);
    return buf_bytes(to);
}

static bool lacks(const struct stream_kinds *kinds, uint64_t from, const char *prefix) {
    struct bytes prefixes[] = {bytes_str(prefix)};
    return stream_kinds_lack(kinds, from, prefixes, 1);
}

static void test_kinds(void **state) {
    (void)state;
    struct stream_kinds kinds = {.since = 100};
    struct buf key = {0};
    assert_false(lacks(&kinds, 99, "PLAYER#")); /* nothing is known of that one */
    assert_true(lacks(&kinds, 100, "PLAYER#"));
    stream_kinds_note(&kinds, key_of("PLAYER#ann", &key), 120);
    assert_false(lacks(&kinds, 120, "PLAYER#"));
    assert_true(lacks(&kinds, 121, "PLAYER#"));
    stream_kinds_note(&kinds, key_of("PLAYER#bob#x", &key), 110); /* after a commit that failed */
    assert_true(lacks(&kinds, 121, "PLAYER#"));
    assert_false(lacks(&kinds, 115, "PLAYER#"));
    /* One of several that are wanted is enough to have to read. */
    struct bytes wanted[] = {BYTES("NEVER#"), BYTES("PLAYER#")};
    assert_false(stream_kinds_lack(&kinds, 115, wanted, 2));
    assert_true(stream_kinds_lack(&kinds, 121, wanted, 2));
    /* All records are wanted, or those of names that may be of any kind. */
    assert_false(stream_kinds_lack(&kinds, 121, NULL, 0));
    assert_false(lacks(&kinds, 121, ""));
    assert_false(lacks(&kinds, 121, "PLAY"));
    assert_false(lacks(&kinds, 121, "a name that is very long before its #"));
    /* More of a name than its kind. */
    assert_true(lacks(&kinds, 121, "PLAYER#ann"));
    assert_false(lacks(&kinds, 120, "PLAYER#carl"));
    buf_release(&key);
}

/* What a request for some kinds finds from a position on, and where it ends. */
struct found {
    uint64_t sequences[512];
    size_t count;
};

static void read_kinds(struct world *world, const struct stream_info *info, uint64_t from,
                       const struct bytes *prefixes, size_t count, struct found *out) {
    struct stream_read_reply reply = {.next = from};
    while (!reply.caught_up) {
        struct stream_read_request request = {.table = info->table,
                                              .label_ms = info->label_ms,
                                              .from = reply.next,
                                              .limit = 1 + from % 7,
                                              .partitions = prefixes,
                                              .partition_count = count};
        struct failure failure = {0};
        assert_int_equal(engine_stream_read(world->engine, &request,
                                            (struct scope){&world->arena, &failure}, &reply),
                         OK);
        assert_true(reply.next >= request.from);
        for (size_t i = 0; i < reply.count; i++)
            out->sequences[out->count++] = reply.records[i].sequence;
    }
    assert_true(reply.next <= engine_stream_latest(world->engine));
}

static bool begins_with_one(const struct stream_record *record, const struct bytes *prefixes,
                            size_t count) {
    bool begins = false;
    for (size_t i = 0; i < count; i++)
        begins |= bytes_starts(item_get(&record->keys, BYTES("pk"))->bytes, prefixes[i]);
    return begins;
}

static void check_kinds(struct world *world, const struct stream_info *info, uint64_t from,
                        const struct bytes *prefixes, size_t count) {
    struct found found = {.count = 0};
    struct records *all = read_all(world, info, 100);
    size_t at = 0;
    read_kinds(world, info, from, prefixes, count, &found);
    for (size_t i = 0; i < all->count; i++) {
        if (all->at[i].sequence < from || !begins_with_one(&all->at[i], prefixes, count))
            continue;
        assert_true(at < found.count);
        assert_int_equal(found.sequences[at++], all->at[i].sequence);
    }
    assert_int_equal(at, found.count);
}

/* Requests for a few kinds find what a reading of all finds, over restarts, after failed commits,
 * and with other streams beside this one. */
static void test_model(void **state) {
    (void)state;
    static const char *const partitions[] = {"A#1", "A#2", "B#1", "C", "AB#1", "#", "B#1#2"};
    static const struct bytes wanted[][2] = {
        {{(const uint8_t *)"A#", 2}, {0}},
        {{(const uint8_t *)"B#", 2}, {0}},
        {{(const uint8_t *)"Z#", 2}, {0}},
        {{(const uint8_t *)"A", 1}, {0}},
        {{(const uint8_t *)"#", 1}, {0}},
        {{(const uint8_t *)"Z#", 2}, {(const uint8_t *)"C", 1}},
        {{(const uint8_t *)"AB#", 3}, {(const uint8_t *)"B#1#", 4}}};
    struct random random;
    struct world world;
    random_seed(&random, test_seed());
    world_start(&world, true);
    world.settings.stream_shards = 1;
    world_reopen(&world);
    make_table(&world, "other", STREAM_NEW);
    make_table(&world, "game", STREAM_BOTH);
    for (int i = 0; i < 300; i++) {
        const char *pk = partitions[random_below(&random, 7)];
        uint64_t chance = random_below(&random, 40);
        if (chance == 0)
            world_reopen(&world);
        if (chance < 8)
            put(&world, "other", pk, "s", i);
        else
            put(&world, "game", pk, "s", i);
        struct stream_info info = last_stream(&world, "game");
        uint64_t latest = engine_stream_latest(world.engine);
        uint64_t from = info.first + random_below(&random, latest - info.first + 1);
        const struct bytes *prefixes = wanted[random_below(&random, 7)];
        check_kinds(&world, &info, from, prefixes, prefixes[1].size == 0 ? 1 : 2);
    }
    world_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
