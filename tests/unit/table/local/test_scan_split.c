/* Cutting a table: the spans are the table, and none holds most of it. */
#include "table/local/engine.h"
#include "table/local/scan_split.h"

enum { MANY = 40000, PARTITIONS = 300, LEAST = 32 };

struct fixture {
    struct arena arena;
    char *folder;
    struct local local;
    struct table_schema schema;
    struct table *table;
};

static void open_fixture(struct fixture *f) {
    struct failure failure = {0};
    struct store_settings settings = {.path = f->folder};
    assert_int_equal(store_open(&settings, (struct scope){&f->arena, &failure}, &f->local.store),
                     OK);
}

static void setup(struct fixture *f) {
    *f = (struct fixture){.folder = folder_make()};
    arena_init(&f->arena);
    open_fixture(f);
    f->schema = game_schema(&f->arena, "game");
    f->table = table_new(7, &f->schema);
}

static void teardown(struct fixture *f) {
    table_unref(f->table);
    store_close(f->local.store);
    arena_release(&f->arena);
    folder_remove(f->folder);
}

static void put(struct fixture *f, struct store_batch *batch, const struct table *table,
                const char *partition, unsigned number) {
    struct buf key = {0};
    struct item item =
        item_of(&f->arena, arena_str(&f->arena, arena_printf(&f->arena, "pk=S:%s", partition)),
                arena_str(&f->arena, arena_printf(&f->arena, "sk=S:player-%08u", number)), NULL);
    keys_put_item(&key, table, &f->schema, &item);
    store_put(batch, STORE_ITEMS, buf_bytes(&key),
              BYTES("what the item is, some forty bytes long"));
    buf_release(&key);
}

/* Many small partitions and one large one, between two tables of others. */
static void fill(struct fixture *f, unsigned many) {
    struct failure failure = {0};
    struct store_batch *batch = store_batch_new(f->local.store);
    for (unsigned i = 0; i < PARTITIONS; i++)
        put(f, batch, f->table, arena_str(&f->arena, arena_printf(&f->arena, "p%u", i)), i);
    for (unsigned i = 0; i < many; i++)
        put(f, batch, f->table, "board", i);
    for (unsigned i = 0; i < 20; i++)
        put(f, batch, &(struct table){.id = i % 2 == 0 ? 6 : 8}, "board", i);
    assert_int_equal(store_write(f->local.store, batch, (struct scope){&f->arena, &failure}), OK);
    store_batch_free(batch);
}

/* Each key is in one span; returns how many are in the fullest. */
static uint64_t check_spans(struct fixture *f, const struct scan_ranges *ranges, uint64_t keys) {
    struct store_iter *iter =
        store_iter_open(f->local.store, &(struct store_range){.family = STORE_ITEMS});
    uint64_t sum = 0, most = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct scan_range *part = &ranges->at[i];
        uint64_t count = 0;
        assert_true(bytes_compare(part->first, part->last) <= 0);
        for (bool on = store_iter_seek(iter, part->first);
             on && bytes_compare(store_iter_key(iter), part->last) <= 0; on = store_iter_next(iter))
            count++;
        assert_true(count > 0);
        for (size_t j = 0; j < i; j++)
            assert_true(bytes_compare(ranges->at[j].last, part->first) < 0 ||
                        bytes_compare(ranges->at[j].first, part->last) > 0);
        sum += count;
        most = count > most ? count : most;
    }
    store_iter_close(iter);
    assert_int_equal(sum, keys);
    return most;
}

static struct scan_ranges cut(struct fixture *f, size_t least) {
    struct index_build build = {.local = &f->local, .table = f->table, .schema = &f->schema};
    struct scan_ranges ranges;
    assert_int_equal(scan_split(&build, least, &f->arena, &ranges), OK);
    return ranges;
}

static void test_one_large_partition(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, MANY);
    store_close(f.local.store); /* which writes tables, whose sizes are known */
    open_fixture(&f);
    struct scan_ranges ranges = cut(&f, LEAST);
    assert_true(ranges.count >= LEAST);
    assert_true(check_spans(&f, &ranges, PARTITIONS + MANY) < 2 * (PARTITIONS + MANY) / LEAST);
    ranges = cut(&f, 1);
    assert_int_equal(ranges.count, 1);
    check_spans(&f, &ranges, PARTITIONS + MANY);
    teardown(&f);
}

/* Nothing is known about sizes: still enough spans, and the whole table. */
static void test_not_in_tables(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    assert_int_equal(cut(&f, LEAST).count, 0);
    fill(&f, 1);
    struct scan_ranges ranges = cut(&f, LEAST);
    assert_true(ranges.count >= LEAST);
    assert_true(check_spans(&f, &ranges, PARTITIONS + 1) < PARTITIONS / 4);
    teardown(&f);
}

/* Fewer keys than spans are wished for. */
static void test_few_keys(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, 0);
    struct scan_ranges ranges = cut(&f, 2 * (size_t)PARTITIONS);
    assert_int_equal(ranges.count, PARTITIONS);
    check_spans(&f, &ranges, PARTITIONS);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_large_partition),
        cmocka_unit_test(test_not_in_tables),
        cmocka_unit_test(test_few_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
