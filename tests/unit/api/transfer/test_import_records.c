/* Lines, rows and names from outside. */
#include "api/transfer/import_records.h"
#include "api/transfer/transfer.h"
#include "base/limits.h"
#include "base/mem.h"
#include "test.h"
#include "value/number.h"

struct memory {
    struct byte_stream byte_stream; /* first */
    struct bytes left;
    size_t piece;
    bool fails; /* instead of ending */
};

static long read_memory(struct byte_stream *byte_stream, void *to, size_t size) {
    struct memory *memory = (struct memory *)byte_stream;
    if (size > memory->piece)
        size = memory->piece;
    if (size > memory->left.size)
        size = memory->left.size;
    if (size == 0)
        return memory->fails ? -1 : 0;
    memcpy(to, memory->left.data, size);
    memory->left = bytes_skip(memory->left, size);
    return (long)size;
}

static struct memory memory_of(struct bytes text, size_t piece) {
    return (struct memory){{read_memory}, text, piece, false};
}

static void test_lines(void **state) {
    (void)state;
    static const char *const want[] = {"one", "", "two", "\r", "three"};
    for (size_t piece = 1; piece < 12; piece++) {
        struct memory memory = memory_of(BYTES("one\n\r\ntwo\r\n\r\r\nthree"), piece);
        struct records records;
        struct bytes line;
        records_init(&records, &memory.byte_stream);
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(records_line(&records, &line), OK);
            assert_bytes_equal(line, bytes_str(want[i]));
        }
        assert_int_equal(records_line(&records, &line), NOT_FOUND);
        assert_int_equal(records_line(&records, &line), NOT_FOUND);
        assert_int_equal(records.size, 19);
        records_release(&records);
    }
}

/* A line of the limit is taken; one byte more is passed over, and the next one is there again. */
static void test_long_lines(void **state) {
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        size_t size = (size_t)LIMIT_RECORD_SIZE + extra;
        char *text = mem_alloc(size + 6);
        memset(text, 'x', size);
        memcpy(text + size, "\nnext\n", 6);
        struct memory memory = memory_of(bytes_of(text, size + 6), 100000);
        struct records records;
        struct bytes line;
        records_init(&records, &memory.byte_stream);
        assert_int_equal(records_line(&records, &line), extra == 0 ? OK : INVALID);
        assert_int_equal(records_line(&records, &line), OK);
        assert_bytes_equal(line, BYTES("next"));
        assert_int_equal(records.size, size + 6);
        records_release(&records);
        mem_free(text);
    }
}

static void test_unreadable(void **state) {
    (void)state;
    struct memory memory = memory_of(BYTES("one\ntw"), 3);
    struct records records;
    struct bytes line;
    memory.fails = true;
    records_init(&records, &memory.byte_stream);
    assert_int_equal(records_line(&records, &line), OK);
    assert_int_equal(records_line(&records, &line), IO_FAILED);
    records_release(&records);
}

/* Fields joined by '/', quoted ones in [], rows by a newline; ! for one that is refused. */
static void assert_rows(const char *text, uint8_t delimiter, const char *want) {
    for (size_t piece = 1; piece < 30; piece++) {
        struct memory memory = memory_of(bytes_str(text), piece);
        struct records records;
        struct csv row = {.delimiter = delimiter};
        struct buf got = {0};
        enum status status;
        records_init(&records, &memory.byte_stream);
        while ((status = csv_row(&row, &records)) != NOT_FOUND) {
            for (size_t i = 0; status == OK && i < row.count; i++)
                buf_printf(&got, row.fields[i].quoted ? "%s[%.*s]" : "%s%.*s", i == 0 ? "" : "/",
                           BYTES_ARG(row.fields[i].text));
            buf_put(&got, status == OK ? BYTES("\n") : BYTES("!\n"));
        }
        assert_bytes_equal(buf_bytes(&got), bytes_str(want));
        records_release(&records);
        csv_release(&row);
        buf_release(&got);
    }
}

static void test_rows(void **state) {
    (void)state;
    assert_rows("a,b,c\r\nd,,f\n", ',', "a/b/c\nd//f\n");
    assert_rows("\n\n,\n\r\nlast", ',', "/\nlast\n");
    assert_rows("\"a,b\",\"c\"\"d\"\n\"\",x\n", ',', "[a,b]/[c\"d]\n[]/x\n");
    assert_rows("\"two\nlines\r\n\",x\ny\n", ',', "[two\nlines\r\n]/x\ny\n");
    assert_rows("a;b,c\n", ';', "a/b,c\n");
    assert_rows("a\"b,c\nd\n", ',', "!\n"); /* the quote opens, and nothing closes it */
    assert_rows("a\"b\",c\nd\n", ',', "!\nd\n");
    assert_rows("\"a\"b,c\nd\n", ',', "!\nd\n");
    assert_rows("\"open", ',', "!\n");
    assert_rows("", ',', "");
}

static void test_csv_items(void **state) {
    (void)state;
    struct key_part parts[] = {
        {BYTES("id"), VALUE_S}, {BYTES("n"), VALUE_N}, {BYTES("b"), VALUE_B}};
    struct table_schema schema = {.attributes = parts, .attribute_count = 3};
    struct csv_field header[] = {
        {BYTES("n"), false}, {BYTES("id"), false}, {BYTES("b"), false}, {BYTES("more"), false}};
    struct csv_field fields[] = {
        {BYTES("1e1"), false}, {BYTES("x"), false}, {BYTES("AAE="), true}, {BYTES(""), true}};
    struct csv row = {.fields = fields, .count = 4};
    struct arena arena;
    struct failure failure;
    struct item item;
    arena_init(&arena);
    assert_int_equal(record_csv(&row, &(struct csv_columns){header, 4, &schema},
                                (struct scope){&arena, &failure}, &item),
                     OK);
    assert_int_equal(item.count, 4);
    assert_int_equal(item_get(&item, BYTES("n"))->type, VALUE_N);
    assert_int_equal(number_to_double(item_get(&item, BYTES("n"))->bytes), 10);
    assert_bytes_equal(item_get(&item, BYTES("b"))->bytes, bytes_of("\0\1", 2));
    assert_int_equal(item_get(&item, BYTES("more"))->type, VALUE_S);
    fields[3].quoted = false; /* an empty field is no attribute */
    assert_int_equal(record_csv(&row, &(struct csv_columns){header, 4, &schema},
                                (struct scope){&arena, &failure}, &item),
                     OK);
    assert_int_equal(item.count, 3);
    static const struct csv_field wrong[] = {
        {BYTES("ten"), false}, {BYTES("\xff"), false}, {BYTES("A"), false}};
    for (size_t i = 0; i < 3; i++) {
        struct csv_field kept = fields[i];
        fields[i] = wrong[i];
        assert_int_equal(record_csv(&row, &(struct csv_columns){header, 4, &schema},
                                    (struct scope){&arena, &failure}, &item),
                         INVALID);
        fields[i] = kept;
    }
    assert_int_equal(record_csv(&row, &(struct csv_columns){header, 3, &schema},
                                (struct scope){&arena, &failure}, &item),
                     INVALID);
    arena_release(&arena);
}

static void test_json_items(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "{",
                                        "[]",
                                        "null",
                                        "{\"Item\":null}",
                                        "{\"Item\":[]}",
                                        "{\"item\":{}}",
                                        "{\"Item\":{\"a\":\"x\"}}",
                                        "{\"Item\":{\"a\":{\"N\":1}}}",
                                        "{\"Item\":{\"a\":{\"NS\":[\"1\",\"1\"]}}}",
                                        "{\"Item\":{\"a\":{\"S\":\"x\"}}} x"};
    struct arena arena;
    struct failure failure;
    struct item item;
    arena_init(&arena);
    assert_int_equal(record_json(BYTES("{\"Item\":{\"a\":{\"S\":\"x\"},\"b\":{\"N\":\"1\"}}}"),
                                 (struct scope){&arena, &failure}, &item),
                     OK);
    assert_int_equal(item.count, 2);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        failure = (struct failure){0};
        assert_int_equal(record_json(bytes_str(wrong[i]), (struct scope){&arena, &failure}, &item),
                         INVALID);
        assert_int_equal(failure.status, INVALID);
        assert_true(failure.text.size != 0);
    }
    arena_release(&arena);
}

static void test_names(void **state) {
    (void)state;
    static const char *const good[] = {"a", "my-bucket", "a.b_c-9", "A1"};
    static const char *const bad[] = {"",   ".",  "..", "a/",  "/a", "a/b",
                                      ".a", "a.", "-a", "a b", "ä"};
    static const char *const paths[] = {"", "a", "a/", "a/b c/ä.json", "...", "a..b/c"};
    static const char *const escapes[] = {"/",   "/a",   "..",  "../",  "a/..", "a/../b",
                                          "./a", "a//b", "a/.", "a\nb", "\x7f"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(transfer_bucket_valid(bytes_str(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(transfer_bucket_valid(bytes_str(bad[i])));
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_true(transfer_prefix_valid(bytes_str(paths[i])));
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
        assert_false(transfer_prefix_valid(bytes_str(escapes[i])));
    assert_false(transfer_prefix_valid(bytes_of("a\0b", 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_unreadable), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_csv_items),  cmocka_unit_test(test_json_items),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
