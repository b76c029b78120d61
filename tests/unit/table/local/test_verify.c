/* A sound folder is found sound; each kind of damage is found and told once. */
#include "table/local/engine.h"

struct told {
    struct arena arena;
    struct buf text; /* a line a sentence */
    uint64_t done, total;
};

static void tell(struct bytes sentence, void *context) {
    struct told *told = context;
    buf_put(&told->text, sentence);
    buf_byte(&told->text, '\n');
}

static void progress(uint64_t done, uint64_t total, void *context) {
    struct told *told = context;
    assert_true(done >= told->done);
    told->done = done;
    told->total = total;
}

static struct verify_report verify(const char *path, struct told *told) {
    struct verify_settings settings = {
        .path = path, .progress = progress, .found = tell, .context = told};
    struct verify_report report;
    struct failure failure = {0};
    buf_clear(&told->text);
    told->done = 0;
    assert_int_equal(local_verify(&settings, (struct scope){&told->arena, &failure}, &report), OK);
    buf_byte(&told->text, 0);
    return report;
}

static void make_folder(const char *path) {
    struct arena arena;
    arena_init(&arena);
    struct local_settings settings = {.store = {.path = path, .sync = STORE_SYNC_NONE}};
    struct engine *engine = engine_open(&settings);
    struct table_schema game = game_schema(&arena, "game"), plain = plain_schema(&arena, "plain"),
                        empty = game_schema(&arena, "empty");
    create_table(engine, &arena, &game);
    create_table(engine, &arena, &plain);
    create_table(engine, &arena, &empty);
    for (unsigned i = 0; i < 100; i++) {
        struct item item = item_of(&arena, "pk=S:p", "board=S:b", "score=N:5", NULL);
        struct value sk = value_string(arena_printf(&arena, "%u", i));
        item = item_with(&arena, &item, BYTES("sk"), &sk);
        put_item(engine, &arena, i % 4 == 0 ? "plain" : "game", item);
    }
    engine_close(engine);
    arena_release(&arena);
}

/* Changes a folder behind the engine's back. */
static void spoil(const char *path, enum store_family family, struct bytes key,
                  struct bytes value) {
    struct arena arena;
    struct failure failure = {0};
    struct store *store;
    struct store_settings settings = {.path = path, .must_exist = true};
    arena_init(&arena);
    assert_int_equal(store_open(&settings, (struct scope){&arena, &failure}, &store), OK);
    struct store_batch *batch = store_batch_new(store);
    if (value.data != NULL)
        store_put(batch, family, key, value);
    else
        store_del(batch, family, key);
    assert_int_equal(store_write(store, batch, (struct scope){&arena, &failure}), OK);
    store_batch_free(batch);
    store_close(store);
    arena_release(&arena);
}

/* The store key of an item of table number 1, "game". */
static struct bytes key_in_game(struct arena *arena, const char *sk) {
    struct table table = {.id = 1};
    struct table_schema schema = game_schema(arena, "game");
    struct item item = item_of(arena, "pk=S:p", sk, NULL);
    struct buf key = {0};
    keys_put_item(&key, &table, &schema, &item);
    struct bytes copy = arena_copy(arena, buf_bytes(&key));
    buf_release(&key);
    return copy;
}

#define assert_told(part) assert_non_null(strstr((const char *)told.text.data, part))

static void test_verify(void **state) {
    (void)state;
    struct told told = {0};
    arena_init(&told.arena);
    char *path = folder_make();
    make_folder(path);

    struct verify_report report = verify(path, &told);
    assert_string_equal((const char *)told.text.data, "");
    assert_int_equal(report.faults, 0);
    assert_int_equal(report.tables, 3);
    assert_int_equal(report.items, 100);
    assert_int_equal(report.indexes, 4);
    assert_int_equal(report.index_entries, 75);
    assert_int_equal(told.done, 100);
    assert_int_equal(told.total, 100);

    struct bytes key = key_in_game(&told.arena, "sk=S:1");
    spoil(path, STORE_ITEMS, key, BYTES("\x07garbage"));
    report = verify(path, &told);
    assert_told("Table game: the item at 00000001");
    assert_told("cannot be decoded");
    assert_true(report.faults >= 1);

    spoil(path, STORE_ITEMS, key, (struct bytes){0});
    report = verify(path, &told);
    assert_told("Table game has 74 items, but its record says 75.");
    assert_int_equal(report.faults, 1);

    spoil(path, STORE_ITEMS, BYTES("\x00\x00\x00\x63 of nobody"), BYTES("\x00"));
    report = verify(path, &told);
    assert_told("a table that the catalogue does not know (number 99)");
    assert_int_equal(report.faults, 2);

    spoil(path, STORE_META, BYTES("t\x00\x00\x00\x02"), BYTES("nonsense"));
    report = verify(path, &told);
    assert_told("The catalogue is damaged");

    folder_remove(path);
    buf_release(&told.text);
    arena_release(&told.arena);
}

/* An item that stands where another should. */
static void test_misplaced(void **state) {
    (void)state;
    struct told told = {0};
    arena_init(&told.arena);
    char *path = folder_make();
    make_folder(path);
    struct local local = {.names = names_new()};
    struct failure failure = {0};
    struct bytes stored;
    struct store_settings settings = {.path = path, .must_exist = true};
    assert_int_equal(store_open(&settings, (struct scope){&told.arena, &failure}, &local.store),
                     OK);
    assert_int_equal(store_get(local.store,
                               &(struct store_key){STORE_ITEMS, key_in_game(&told.arena, "sk=S:1")},
                               &told.arena, &stored),
                     OK);
    store_close(local.store);
    names_free(local.names);
    spoil(path, STORE_ITEMS, key_in_game(&told.arena, "sk=S:2"), stored);
    struct verify_report report = verify(path, &told);
    assert_told("has other keys than its place says");
    assert_true(report.faults >= 1);
    folder_remove(path);
    buf_release(&told.text);
    arena_release(&told.arena);
}

static void test_no_folder(void **state) {
    (void)state;
    struct arena arena;
    struct failure failure = {0};
    struct verify_report report;
    arena_init(&arena);
    struct verify_settings settings = {.path = "/tmp/gametable-test-there-is-none"};
    assert_int_not_equal(local_verify(&settings, (struct scope){&arena, &failure}, &report), OK);
    assert_true(failure.text.size > 0);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify),
        cmocka_unit_test(test_misplaced),
        cmocka_unit_test(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
