/* What the tests of streams share: an engine with tables that have one, changes to them, and all
 * that a stream tells, played against its table. */
#ifndef GT_TEST_STREAMS_H
#define GT_TEST_STREAMS_H

#include "engine.h"

#include "base/clock.h"
#include "base/random.h"
#include "table/local/writer.h"

enum { DAY_MS = STREAM_KEPT_MS };

/* --- an engine and its tables --- */

struct world {
    struct local_settings settings;
    struct store_faults faults;
    struct engine *engine;
    struct arena arena;
    char *folder;
};

static inline void world_reopen(struct world *world) {
    if (world->engine != NULL)
        engine_close(world->engine);
    world->engine = engine_open(&world->settings);
}

static inline void world_start(struct world *world, bool folder) {
    *world = (struct world){0};
    arena_init(&world->arena);
    world->folder = folder ? folder_make() : NULL;
    world->settings = (struct local_settings){
        .store = {.memory = !folder, .path = world->folder, .faults = &world->faults},
        .threads = 1,
        .stream_shards = STREAM_SHARDS_MAX};
    world_reopen(world);
}

static inline void world_end(struct world *world) {
    engine_close(world->engine);
    arena_release(&world->arena);
    if (world->folder != NULL)
        folder_remove(world->folder);
}

static inline void make_table(struct world *world, const char *name, enum stream_view view) {
    struct table_schema schema = plain_schema(&world->arena, name);
    schema.stream = view;
    create_table(world->engine, &world->arena, &schema);
}

/* The same with an index of its partitions by `v`, which covers its items (covering.h). */
static inline void make_ranked_table(struct world *world, const char *name, enum stream_view view) {
    struct key_part parts[] = {
        {BYTES("pk"), VALUE_S}, {BYTES("sk"), VALUE_S}, {BYTES("v"), VALUE_N}};
    struct index_schema index = {
        .name = BYTES("ranks"),
        .keys = {.parts = {parts[0], parts[2]}, .partition_count = 1, .sort_count = 1},
        .projected = PROJECTED_KEYS};
    struct table_schema schema = plain_schema(&world->arena, name);
    schema.stream = view;
    schema.attributes = parts;
    schema.attribute_count = 3;
    schema.indexes = &index;
    schema.index_count = 1;
    create_table(world->engine, &world->arena, &schema);
}

static inline void set_stream(struct world *world, const char *name, enum stream_view view) {
    struct alteration alteration = {.stream = &view};
    struct change change = {.kind = CHANGE_UPDATE_TABLE,
                            .arena = &world->arena,
                            .table = bytes_str(name),
                            .alteration = &alteration};
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

static inline void delete_table(struct world *world, const char *name) {
    struct change change = {
        .kind = CHANGE_DELETE_TABLE, .arena = &world->arena, .table = bytes_str(name)};
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

static inline struct item item_at(struct world *world, const char *pk, const char *sk, int value) {
    struct arena *arena = &world->arena;
    const char *key = (const char *)arena_printf(arena, "pk=S:%s%c", pk, 0).data;
    const char *sort = (const char *)arena_printf(arena, "sk=S:%s%c", sk, 0).data;
    if (value < 0)
        return item_of(arena, key, sort, NULL);
    return item_of(arena, key, sort, (const char *)arena_printf(arena, "v=N:%d%c", value, 0).data,
                   NULL);
}

static inline void put(struct world *world, const char *table, const char *pk, const char *sk,
                       int value) {
    put_item(world->engine, &world->arena, table, item_at(world, pk, sk, value));
}

static inline void remove_item(struct world *world, const char *table, const char *pk,
                               const char *sk, bool expired) {
    struct action action = {.kind = ACTION_DELETE,
                            .table = bytes_str(table),
                            .item = item_at(world, pk, sk, -1),
                            .expired = expired};
    struct change change = write_of(&world->arena, &action, 1);
    engine_do(world->engine, &change);
    assert_status(&change, OK);
}

/* The table's streams in the order they began. */
static inline struct stream_list list(struct world *world, const char *table) {
    struct stream_list_request request = {.table = bytes_str(table), .limit = 100};
    struct stream_list streams;
    assert_int_equal(engine_streams(world->engine, &request, &world->arena, &streams), OK);
    return streams;
}

static inline struct stream_info last_stream(struct world *world, const char *table) {
    struct stream_list streams = list(world, table);
    assert_true(streams.count > 0);
    return streams.streams[streams.count - 1];
}

static inline struct stream_read_reply read_from(struct world *world,
                                                 const struct stream_info *info, unsigned shard,
                                                 uint64_t from, size_t limit) {
    struct stream_read_request request = {.table = info->table,
                                          .label_ms = info->label_ms,
                                          .shard = shard,
                                          .from = from,
                                          .limit = limit};
    struct stream_read_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_stream_read(world->engine, &request,
                                        (struct scope){&world->arena, &failure}, &reply),
                     OK);
    return reply;
}

struct records {
    struct stream_record at[4096];
    unsigned shard[4096];
    size_t count;
    bool ended; /* all shards */
};

static inline int by_sequence(const void *a, const void *b) {
    const struct stream_record *left = a, *right = b;
    return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

/* All records of all shards, by sequence number, read in pages of `limit`. */
static inline struct records *read_all(struct world *world, const struct stream_info *info,
                                       size_t limit) {
    struct records *all = ARENA_NEW(&world->arena, struct records);
    all->ended = true;
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++) {
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

static inline size_t replay_find(const struct replay *replay, const struct item *keys) {
    size_t at = 0;
    for (; at < replay->count; at++)
        if (value_equal(item_get(&replay->items[at], BYTES("pk")), item_get(keys, BYTES("pk"))) &&
            value_equal(item_get(&replay->items[at], BYTES("sk")), item_get(keys, BYTES("sk"))))
            break;
    return at;
}

static inline void replay_one(struct replay *replay, const struct stream_record *record) {
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
static inline void check_replay(struct world *world, const char *table,
                                const struct records *records) {
    struct replay *replay = ARENA_NEW(&world->arena, struct replay);
    struct failure failure = {0};
    struct page_reply page;
    struct page_request request = {.table = bytes_str(table), .consistent = true, .whole = true};
    for (size_t i = 0; i < records->count; i++)
        replay_one(replay, &records->at[i]);
    assert_int_equal(
        engine_page(world->engine, &request, (struct scope){&world->arena, &failure}, &page), OK);
    assert_false(page.more);
    assert_int_equal(page.count, replay->count);
    for (uint64_t i = 0; i < page.count; i++) {
        size_t at = replay_find(replay, &page.items[i]);
        assert_true(at < replay->count);
        assert_true(item_equal(&replay->items[at], &page.items[i]));
    }
}

/* Lets the writer do its jobs. */
static inline void tick(struct world *world) {
    struct stall stall;
    stall_start(&stall, world->engine);
    struct writer *writer = local_of(world->engine)->writer;
    writer->jobs_at_us = 0; /* the writer stands still */
    stall_end(&stall);
    for (int i = 0; i < 2; i++) { /* the second change is taken up after the jobs */
        stall_start(&stall, world->engine);
        stall_end(&stall);
    }
}

/* --- any changes --- */

static inline void random_write(struct world *world, struct random *random) {
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

/* --- the store and what is said of it --- */

struct stored {
    size_t values, records; /* that these values have */
};

/* What the iterator stands on, read from the log if it is there. */
static inline struct bytes loaded_value(struct store_iter *iter) {
    struct bytes value;
    assert_int_equal(store_iter_load(iter, &value), OK);
    return value;
}

static inline struct stored stored_in(struct world *world) {
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(local_of(world->engine)->store, &range);
    struct stored stored = {0};
    for (bool on = store_iter_first(iter); on; on = store_iter_next(iter)) {
        struct bytes key = store_iter_key(iter), record;
        uint64_t sequence;
        key = bytes_skip(key, STREAM_KEY_SIZE - 8);
        assert_true(take_u64(&key, &sequence));
        struct bundle_iter from = bundle_read(loaded_value(iter), sequence);
        while (bundle_next(&from, &sequence, &record) == OK)
            stored.records++;
        stored.values++;
    }
    store_iter_close(iter);
    return stored;
}

static inline void count_sentences(struct bytes sentence, void *context) {
    (void)sentence;
    ++*(unsigned *)context;
}

static inline struct verify_report verify(struct world *world) {
    unsigned sentences = 0;
    struct verify_settings settings = {
        .path = world->folder, .found = count_sentences, .context = &sentences};
    struct verify_report report;
    struct failure failure = {0};
    assert_int_equal(local_verify(&settings, (struct scope){&world->arena, &failure}, &report), OK);
    assert_int_equal(report.faults, sentences);
    return report;
}

/* The store behind the back of the engine, which is closed. */
static inline struct store *open_behind(struct world *world) {
    struct store_settings settings = {.path = world->folder};
    struct failure failure = {0};
    struct store *store;
    assert_int_equal(store_open(&settings, (struct scope){&world->arena, &failure}, &store), OK);
    return store;
}

static inline void close_behind(struct world *world, struct store *store,
                                struct store_batch *batch) {
    struct failure failure = {0};
    assert_int_equal(store_write(store, batch, (struct scope){&world->arena, &failure}), OK);
    store_batch_free(batch);
    store_close(store);
}

/* Puts a record that is not one. */
static inline void spoil(struct world *world, struct bytes key, struct bytes value) {
    struct store *store = open_behind(world);
    struct store_batch *batch = store_batch_new(store);
    store_put(batch, STORE_STREAM, key, value);
    close_behind(world, store, batch);
}

#endif
