/* Sorting and building: the tree that is built is the tree that would have grown. */
#include "base/mem.h"
#include "base/random.h"
#include "table/local/engine.h"
#include "table/local/key_run.h"

/* --- sorting --- */

static int compare_bytes(const void *a, const void *b) {
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

/* Keys that share long beginnings, end in zeros, or are prefixes of one another. */
static struct bytes random_key(struct random *random, struct arena *arena, unsigned kind) {
    size_t size = random_below(random, kind == 0 ? 6 : 60);
    uint8_t *data = arena_zalloc(arena, size + 64);
    size_t shared = kind == 2 ? 24 : 0;
    memset(data, 'p', shared);
    for (size_t i = 0; i < size; i++)
        data[shared + i] = (uint8_t)random_below(random, kind == 1 ? 256 : 2);
    return bytes_of(data, shared + size);
}

static void check_sorted(struct random *random, struct arena *arena, size_t count, unsigned kind) {
    struct bytes *keys = ARENA_ARRAY(arena, struct bytes, count + 1);
    struct key_run key_run = {0};
    for (size_t i = 0; i < count; i++) {
        keys[i] = random_key(random, arena, kind);
        key_run_add(&key_run, keys[i], false);
    }
    qsort(keys, count, sizeof *keys, compare_bytes);
    key_run_sort(&key_run);
    assert_int_equal(key_run.count, count);
    for (size_t i = 0; i < count; i++)
        assert_bytes_equal(key_run_get(&key_run, i), keys[i]);
    key_run_release(&key_run);
    arena_reset(arena);
}

static void test_sort(void **state) {
    (void)state;
    struct random random;
    struct arena arena;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (unsigned round = 0; round < 300; round++)
        check_sorted(&random, &arena, random_below(&random, 400), round % 3);
    for (unsigned kind = 1; kind < 3; kind++)
        check_sorted(&random, &arena, kind == 1 ? 300000 : 50000, kind);
    arena_release(&arena);
}

/* Rising, falling and nearly equal keys must not be slow or deep. */
static void test_sort_patterns(void **state) {
    (void)state;
    for (unsigned pattern = 0; pattern < 3; pattern++) {
        struct key_run key_run = {0};
        enum { COUNT = 100000 };
        for (unsigned i = 0; i < COUNT; i++) {
            char text[64];
            unsigned number = pattern == 0 ? i : pattern == 1 ? COUNT - i : (i * 7919) % COUNT;
            int size = snprintf(text, sizeof text, "a long beginning that all share %08u", number);
            key_run_add(&key_run, bytes_of(text, (size_t)size), false);
        }
        key_run_sort(&key_run);
        for (unsigned i = 1; i < COUNT; i++)
            assert_true(bytes_compare(key_run_get(&key_run, i - 1), key_run_get(&key_run, i)) < 0);
        key_run_release(&key_run);
    }
}

/* Keys that are equal for long and then differ in one of very many places: no way down may be so
 * deep that the stack ends. */
static void test_sort_deep(void **state) {
    (void)state;
    enum { COUNT = 40000, SIZE = 2000 };
    struct key_run key_run = {0};
    uint8_t *key = mem_zalloc(SIZE);
    for (unsigned i = 0; i < COUNT; i++) {
        size_t at = SIZE - 2 - i % (SIZE - 2);
        key[at] = (uint8_t)(1 + i / (SIZE - 2));
        key_run_add(&key_run, bytes_of(key, SIZE), false);
        key[at] = 0;
    }
    key_run_sort(&key_run);
    for (unsigned i = 1; i < COUNT; i++)
        assert_true(bytes_compare(key_run_get(&key_run, i - 1), key_run_get(&key_run, i)) < 0);
    key_run_release(&key_run);
    mem_free(key);
}

/* --- building --- */

struct fixture {
    struct random random;
    struct arena arena;
    struct local local;
    struct table_schema schema;
    struct table *table;
};

static void setup(struct fixture *f) {
    struct failure failure = {0};
    struct store_settings settings = {.memory = true};
    *f = (struct fixture){0};
    random_seed(&f->random, test_seed());
    arena_init(&f->arena);
    f->local.names = names_new();
    assert_int_equal(store_open(&settings, (struct scope){&f->arena, &failure}, &f->local.store),
                     OK);
    f->schema = game_schema(&f->arena, "game");
    f->table = table_new(7, &f->schema);
}

static void teardown(struct fixture *f) {
    table_unref(f->table);
    store_close(f->local.store);
    names_free(f->local.names);
    arena_release(&f->arena);
}

static struct item random_score(struct fixture *f, unsigned number, bool one_partition) {
    struct arena *arena = &f->arena;
    struct item item = item_of(
        arena, arena_str(arena, arena_printf(arena, "pk=S:%u", one_partition ? 1 : number % 977)),
        arena_str(arena, arena_printf(arena, "sk=S:player-%u", number)), NULL);
    struct value board = value_string(BYTES("weekly")), name = value_string(BYTES("x"));
    struct value score = {.type = VALUE_N};
    score.bytes = number_from_int(arena, (int64_t)random_below(&f->random, 1000));
    if (random_below(&f->random, 10) != 0)
        item = item_with(arena, &item, BYTES("board"), &board);
    if (random_below(&f->random, 10) != 0)
        item = item_with(arena, &item, BYTES("score"), &score);
    if (random_below(&f->random, 3) == 0)
        item = item_with(arena, &item, BYTES("nick"), &name);
    return item;
}

/* Puts items of the table and of its neighbours, and grows the trees they should give. */
static void fill(struct fixture *f, unsigned count, bool one_partition, struct tree **want,
                 uint64_t *want_size) {
    struct store_batch *batch = store_batch_new(f->local.store);
    struct buf key = {0}, value = {0};
    struct failure failure = {0};
    for (unsigned i = 0; i < count + 20; i++) {
        struct item item = random_score(f, i, one_partition);
        struct table neighbour = {.id = i % 2 == 0 ? 6 : 8};
        buf_clear(&key);
        buf_clear(&value);
        keys_put_item(&key, i < count ? f->table : &neighbour, &f->schema, &item);
        item_encode(&item, f->local.names, &value);
        store_put(batch, STORE_ITEMS, buf_bytes(&key), buf_bytes(&value));
        *want_size += i < count ? item_size(&item) : 0;
        for (unsigned j = 0; i < count && j < 2; j++) {
            buf_clear(&key);
            if (keys_put_entry(&key, &f->schema, f->table->indexes[j], &item))
                assert_true(tree_put(want[j], buf_bytes(&key)));
        }
    }
    assert_int_equal(store_write(f->local.store, batch, (struct scope){&f->arena, &failure}), OK);
    store_batch_free(batch);
    buf_release(&key);
    buf_release(&value);
}

static void assert_same_tree(const struct tree *is, const struct tree *want) {
    struct tree_cursor a = {0}, b = {0};
    tree_check(is);
    assert_int_equal(tree_count(is), tree_count(want));
    bool more = tree_seek(&b, want, (struct bytes){0});
    for (bool on = tree_seek(&a, is, (struct bytes){0}); on; on = tree_next(&a)) {
        assert_true(more);
        assert_bytes_equal(tree_key(&a), tree_key(&b));
        more = tree_next(&b);
    }
    tree_cursor_release(&a);
    tree_cursor_release(&b);
}

static void check_build(unsigned count, unsigned threads, bool one_partition) {
    struct fixture f;
    struct failure failure = {0};
    struct tree *want[2] = {tree_new(), tree_new()};
    uint64_t size = 0;
    setup(&f);
    fill(&f, count, one_partition, want, &size);
    f.table->item_count = count;
    struct index_build build = {.local = &f.local,
                                .measure = true,
                                .table = f.table,
                                .schema = f.table->schema,
                                .indexes = f.table->indexes,
                                .index_count = 2,
                                .threads = threads};
    assert_int_equal(index_build_run(&build, (struct scope){&f.arena, &failure}), OK);
    assert_int_equal(build.item_count, count);
    assert_int_equal(build.size, size);
    for (unsigned i = 0; i < 2; i++) {
        assert_same_tree(f.table->indexes[i]->tree, want[i]);
        tree_free(want[i]);
    }
    teardown(&f);
}

static void test_build(void **state) {
    (void)state;
    check_build(0, 2, false);
    check_build(1, 2, false);
    check_build(3000, 1, false);
    check_build(20000, 2, false);
    check_build(20000, 3, true);
}

static void test_build_refused(void **state) {
    (void)state;
    struct fixture f;
    struct failure failure = {0};
    struct tree *want[2] = {tree_new(), tree_new()};
    uint64_t size = 0;
    atomic_bool stop = true;
    setup(&f);
    fill(&f, 5000, false, want, &size);
    struct index_build build = {.local = &f.local,
                                .table = f.table,
                                .schema = f.table->schema,
                                .indexes = f.table->indexes,
                                .index_count = 2,
                                .threads = 2,
                                .stop = &stop};
    assert_int_equal(index_build_run(&build, (struct scope){&f.arena, &failure}), STOPPING);
    stop = false;
    f.local.settings.index_memory = 1000;
    assert_int_equal(index_build_run(&build, (struct scope){&f.arena, &failure}), MEMORY_FULL);
    assert_null(f.table->indexes[0]->tree);
    f.local.settings.index_memory = 64 << 20;
    atomic_store(&f.local.index_memory, 64 << 20); /* others have taken it */
    assert_int_equal(index_build_run(&build, (struct scope){&f.arena, &failure}), MEMORY_FULL);
    assert_int_equal(failure.status, MEMORY_FULL);
    atomic_store(&f.local.index_memory, 0);
    assert_int_equal(index_build_run(&build, (struct scope){&f.arena, &failure}), OK);
    index_empty(f.table->indexes[0]);
    index_empty(f.table->indexes[1]);

    struct store_batch *batch = store_batch_new(f.local.store);
    struct buf key = {0};
    struct item item = item_of(&f.arena, "pk=S:bad", "sk=S:bad", NULL);
    keys_put_item(&key, f.table, &f.schema, &item);
    store_put(batch, STORE_ITEMS, buf_bytes(&key), BYTES("\x05nonsense"));
    assert_int_equal(store_write(f.local.store, batch, (struct scope){&f.arena, &failure}), OK);
    store_batch_free(batch);
    buf_release(&key);
    assert_int_equal(index_build_run(&build, (struct scope){&f.arena, &failure}), DAMAGED);
    assert_null(f.table->indexes[1]->tree);
    tree_free(want[0]);
    tree_free(want[1]);
    teardown(&f);
}

/* Entries of one partition: the same but for eight digits at the end of the sort key. */
static struct bytes make_entries(struct fixture *f, const struct index *index, unsigned count,
                                 size_t *size) {
    struct buf entry = {0};
    struct item item =
        item_of(&f->arena, "pk=S:board", "sk=S:player-00000000", "score=N:1234", NULL);
    assert_true(keys_put_entry(&entry, &f->schema, index, &item));
    *size = entry.size;
    char *all = arena_alloc(&f->arena, count * entry.size + 1);
    for (unsigned i = 0; i < count; i++) {
        char *at = all + i * entry.size, digits[16];
        memcpy(at, entry.data, entry.size);
        snprintf(digits, sizeof digits, "%08u", i);
        memcpy(at + entry.size - 9, digits, 8); /* one byte ends it */
    }
    buf_release(&entry);
    return bytes_of(all, count * *size);
}

/* One of two threads, which fill the same entry hash with every other entry. */
struct filling {
    struct index *index;
    struct index_fill_locks *locks;
    struct bytes entries;
    size_t first, size;
    unsigned count;
};

static void *fill_half(void *argument) {
    const struct filling *filling = argument;
    struct index_filler filler;
    index_filler_begin(&filler, filling->index, filling->locks, filling->count);
    for (size_t at = filling->first; at < filling->entries.size; at += 2 * filling->size)
        index_filler_add(&filler, bytes_of(filling->entries.data + at, filling->size), false);
    index_filler_finish(&filler);
    return NULL;
}

static void check_filled(struct fixture *f, struct index *index, unsigned count) {
    size_t size;
    struct bytes entries = make_entries(f, index, count, &size);
    pthread_t thread;
    index->entry_hash = entry_hash_new(count);
    struct index_fill_locks *locks = index_fill_locks_new();
    struct filling one = {index, locks, entries, 0, size, count}, other = one;
    other.first = size;
    assert_int_equal(pthread_create(&thread, NULL, fill_half, &other), 0);
    fill_half(&one);
    pthread_join(thread, NULL);
    index_fill_locks_free(locks);
    assert_int_equal(entry_hash_count(index->entry_hash), count);
    entry_hash_check(index->entry_hash);
    for (size_t at = 0; at < entries.size; at += size)
        check_found(index, bytes_of(entries.data + at, size));
    index_empty(index);
}

/* Few entries, and so many that some piles are put before the end. */
static void test_fill(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct index_schema ranking = {
        .name = BYTES("ranking"),
        .keys = {.parts = {{BYTES("pk"), VALUE_S}, {BYTES("score"), VALUE_N}},
                 .partition_count = 1,
                 .sort_count = 1},
        .projected = PROJECTED_KEYS};
    struct index index = {.schema = &ranking};
    keys_prepare_index(&index, &f.schema);
    assert_true(index.has_entry_hash);
    check_filled(&f, &index, 0);
    check_filled(&f, &index, 5000);
    check_filled(&f, &index, 560000);
    teardown(&f);
}

/* Counts that are wrong in the catalogue are found out at a start, and counted anew. */
static void test_counts_mended(void **state) {
    (void)state;
    struct arena arena;
    struct failure failure;
    char *folder = folder_make();
    struct local_settings settings = {.store.path = folder};
    arena_init(&arena);
    struct engine *engine = engine_open(&settings);
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    for (int i = 0; i < 3; i++)
        put_item(engine, &arena, "game",
                 item_of(&arena, "pk=S:a",
                         i == 0   ? "sk=S:0"
                         : i == 1 ? "sk=S:1"
                                  : "sk=S:2",
                         "board=S:b", "score=N:1", NULL));
    engine_close(engine);
    struct store *store;
    struct table table = {.id = 1};
    assert_int_equal(store_open(&settings.store, (struct scope){&arena, &failure}, &store), OK);
    struct store_batch *batch = store_batch_new(store);
    catalogue_put_counts(batch, &table, 17, 1234);
    assert_int_equal(store_write(store, batch, (struct scope){&arena, &failure}), OK);
    store_batch_free(batch);
    store_close(store);
    engine = engine_open(&settings);
    check_engine(engine);
    engine_close(engine);
    arena_release(&arena);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),          cmocka_unit_test(test_sort_patterns),
        cmocka_unit_test(test_sort_deep),     cmocka_unit_test(test_build),
        cmocka_unit_test(test_build_refused), cmocka_unit_test(test_counts_mended),
        cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
