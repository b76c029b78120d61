#include "test.h"

#include "base/limits.h"
#include "base/random.h"
#include "json/json.h"

static struct arena arena;

static enum status parse(struct bytes text, struct json *out) {
    size_t at = SIZE_MAX;
    enum status status = json_parse(text, &arena, out, &at);
    if (status != OK)
        assert_true(at <= text.size);
    return status;
}

/* The tree as text, by the dumbest writer there is. */
static void reads_what_is_json(void **state) {
    (void)state;
    const char *cases[][2] = {
        {"null", "null"},
        {" true ", "true"},
        {"\t\r\nfalse", "false"},
        {"0", "0"},
        {"-0", "-0"},
        {"12.50e+3", "12.50e+3"},
        {"1E-400", "1E-400"},
        {"\"\"", "\"\""},
        {"[]", "[]"},
        {"{}", "{}"},
        {"[ ]", "[]"},
        {"{ }", "{}"},
        {"[1 , [2,{\"a\" : null}] , \"x\"]", "[1,[2,{\"a\":null}],\"x\"]"},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"\"\\u0000\\u001F\\u0041\\u00e9\\u20AC\"", "\"\\u0000\\u001fA\xc3\xa9\xe2\x82\xac\""},
        {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
        {"\"\\ud800\"", "\"\xef\xbf\xbd\""},
        {"\"\\udc00x\"", "\"\xef\xbf\xbdx\""},
        {"\"\\ud800\\u0041\"", "\"\xef\xbf\xbd"
                               "A\""},
        {"\"\\ud800\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\""},
        {"\"\x7f\xc2\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf\"",
         "\"\x7f\xc2\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf\""},
        {"\"a long string that goes past a word, \\n, and on\"",
         "\"a long string that goes past a word, \\n, and on\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json json;
        struct buf out = {0};
        if (parse(bytes_str(cases[i][0]), &json) != OK)
            fail_msg("refused: %s", cases[i][0]);
        json_put(&out, &json);
        assert_bytes_equal(buf_bytes(&out), bytes_str(cases[i][1]));
        buf_release(&out);
    }
}

static void refuses_what_is_not(void **state) {
    (void)state;
    const char *cases[] = {
        "",
        " ",
        "nul",
        "nullx",
        "truefalse",
        "True",
        "+1",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "--1",
        "0x1",
        "Infinity",
        "NaN",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u123g\"",
        "\"\\",
        "\"\n\"",
        "\"\t\"",
        "\"\x01\"",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{,}",
        "1 1",
        "[] []",
        "'a'",
        "/**/1",
        "\xef\xbb\xbf[]",
        "\"\x80\"",
        "\"\xc0\x80\"",
        "\"\xc1\xbf\"",
        "\"\xe0\x9f\xbf\"",
        "\"\xed\xa0\x80\"",
        "\"\xf0\x8f\xbf\xbf\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xf5\x80\x80\x80\"",
        "\"\xff\"",
        "\"\xc2\"",
        "\"\xe2\x82\"",
        "\"\\n\xe2\x82\"",
        "\"\\n\x01\"",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json json;
        if (parse(bytes_str(cases[i]), &json) != PARSE_FAILED)
            fail_msg("took: %s", cases[i]);
    }
}

static void says_where(void **state) {
    (void)state;
    struct json json;
    size_t at;
    assert_int_equal(json_parse(BYTES("[1,2,x]"), &arena, &json, &at), PARSE_FAILED);
    assert_int_equal(at, 5);
    assert_int_equal(json_parse(BYTES("{} x"), &arena, &json, &at), PARSE_FAILED);
    assert_int_equal(at, 3);
}

static void bounds_depth(void **state) {
    (void)state;
    struct json json;
    for (int more = 0; more < 2; more++)
        for (int object = 0; object < 2; object++) {
            struct buf text = {0};
            for (int i = 0; i < LIMIT_JSON_DEPTH + more; i++)
                buf_put(&text, object ? BYTES("{\"a\":") : BYTES("["));
            if (object)
                buf_byte(&text, '1');
            for (int i = 0; i < LIMIT_JSON_DEPTH + more; i++)
                buf_byte(&text, object ? '}' : ']');
            assert_int_equal(parse(buf_bytes(&text), &json), more ? PARSE_FAILED : OK);
            buf_release(&text);
        }
    struct buf deep = {0};
    memset(buf_reserve(&deep, 1000000), '[', 1000000);
    deep.size = 1000000;
    assert_int_equal(parse(buf_bytes(&deep), &json), PARSE_FAILED);
    buf_release(&deep);
}

static void holds_many_members(void **state) {
    (void)state;
    struct json json;
    struct buf text = {0}, out = {0};
    buf_byte(&text, '[');
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "%s{\"n\":%d,\"l\":[%d,%d]}", i ? "," : "", i, i, -i);
    buf_byte(&text, ']');
    assert_int_equal(parse(buf_bytes(&text), &json), OK);
    json_put(&out, &json);
    assert_bytes_equal(buf_bytes(&out), buf_bytes(&text));
    buf_release(&text);
    buf_release(&out);
}

static void finds_the_last_member(void **state) {
    (void)state;
    struct json json;
    assert_int_equal(parse(BYTES("{\"a\":1,\"b\":2,\"a\":3}"), &json), OK);
    assert_bytes_equal(json_get(&json, BYTES("a"))->text, BYTES("3"));
    assert_bytes_equal(json_get(&json, BYTES("b"))->text, BYTES("2"));
    assert_null(json_get(&json, BYTES("c")));
    assert_null(json_get(json_get(&json, BYTES("a")), BYTES("c")));
}

static void borrows_plain_strings(void **state) {
    (void)state;
    struct json json;
    struct bytes text = BYTES("\"plain \xc3\xa9 text\"");
    assert_int_equal(parse(text, &json), OK);
    assert_ptr_equal(json.text.data, text.data + 1);
}

static void writes_numbers(void **state) {
    (void)state;
    struct buf out = {0};
    int64_t whole[] = {0, 7, -7, 10, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        char text[32];
        snprintf(text, sizeof(text), "%lld", (long long)whole[i]);
        buf_clear(&out);
        json_put_int(&out, whole[i]);
        assert_bytes_equal(buf_bytes(&out), bytes_str(text));
    }
    struct {
        double number;
        const char *text;
    } cases[] = {{0.5, "0.5"},          {12, "12"},
                 {1.25, "1.25"},        {-3, "-3"},
                 {100, "100"},          {-0.0, "0"},
                 {1e-9, "0"},           {-1e-9, "0"},
                 {1.0 / 3, "0.333333"}, {1e15, "1000000000000000"},
                 {1.0 / 0.0, "null"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_clear(&out);
        json_put_double(&out, cases[i].number);
        assert_bytes_equal(buf_bytes(&out), bytes_str(cases[i].text));
    }
    buf_release(&out);
}

static void replaces_what_is_not_utf8(void **state) {
    (void)state;
    struct buf out = {0};
    json_put_string(&out, BYTES("a\xff"
                                "b\xe2\x82"
                                "c\xc3\xa9\xed\xa0\x80"));
    assert_bytes_equal(buf_bytes(&out), BYTES("\"a\xef\xbf\xbd"
                                              "b\xef\xbf\xbd\xef\xbf\xbd"
                                              "c\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""));
    buf_release(&out);
}

/* Random strings of every length, special bytes anywhere: written and read back they are the same,
 * and so they are when every character is spelled as an escape. */
static void strings_come_back(void **state) {
    (void)state;
    static const char *const pieces[] = {"a",
                                         "\"",
                                         "\\",
                                         "\n",
                                         "\x01",
                                         "\x1f",
                                         "\xc3\xa9",
                                         "\xe2\x82\xac",
                                         "/",
                                         " ",
                                         "\x7f",
                                         "\b",
                                         "\xf0\x9f\x98\x80",
                                         "xyz",
                                         "longer piece"};
    static const uint32_t points[] = {'a', '"', '\\', '\n', 1,       0x1f, 0xe9, 0x20ac,
                                      '/', ' ', 0x7f, 8,    0x1f600, 0,    0};
    struct random random;
    struct buf text = {0}, plain = {0}, escaped = {0};
    random_seed(&random, test_seed());
    for (int round = 0; round < 20000; round++) {
        struct json json;
        size_t count = random_below(&random, 12), rare = 1 + random_below(&random, 4);
        arena_reset(&arena);
        buf_clear(&text);
        buf_clear(&plain);
        buf_clear(&escaped);
        buf_byte(&escaped, '"');
        for (size_t i = 0; i < count; i++) {
            size_t at = random_below(&random, rare) == 0 ? random_below(&random, 15) : 0;
            buf_put(&text, bytes_str(pieces[at]));
            if (points[at] == 0)
                buf_put(&escaped, bytes_str(pieces[at]));
            else if (points[at] > 0xffff)
                buf_printf(&escaped, "\\ud83d\\uDE00");
            else
                buf_printf(&escaped, "\\u%04x", points[at]);
        }
        buf_byte(&escaped, '"');
        json_put_string(&plain, buf_bytes(&text));
        assert_int_equal(parse(buf_bytes(&plain), &json), OK);
        assert_bytes_equal(json.text, buf_bytes(&text));
        assert_int_equal(parse(buf_bytes(&escaped), &json), OK);
        assert_bytes_equal(json.text, buf_bytes(&text));
    }
    buf_release(&text);
    buf_release(&plain);
    buf_release(&escaped);
}

/* Strings of 0 to 70 bytes, each with one or two bytes anywhere that are not plain, are written as
 * they would be byte by byte. */
static void writes_strings_of_every_length(void **state) {
    (void)state;
    static const struct {
        char byte;
        const char *written;
    } specials[] = {{'"', "\\\""},
                    {'\\', "\\\\"},
                    {0x1f, "\\u001f"},
                    {'\n', "\\n"},
                    {(char)0xff, "\xef\xbf\xbd"}};
    for (size_t size = 0; size <= 70; size++)
        for (size_t at = 0; at <= size; at++) { /* at == size: nothing special */
            char text[70];
            struct buf out = {0}, want = {0};
            size_t second = at + (size - at) / 2;
            memset(text, 'x', sizeof(text));
            unsigned which = (unsigned)((size + at) % 5);
            if (at < size)
                text[at] = text[second] = specials[which].byte;
            buf_byte(&want, '"');
            for (size_t i = 0; i < size; i++)
                buf_put(&want, text[i] == 'x' ? BYTES("x") : bytes_str(specials[which].written));
            buf_byte(&want, '"');
            json_put_string(&out, bytes_of(text, size));
            assert_bytes_equal(buf_bytes(&out), buf_bytes(&want));
            buf_release(&out);
            buf_release(&want);
        }
    struct buf out = {0};
    json_put_string(&out, (struct bytes){0});
    assert_bytes_equal(buf_bytes(&out), BYTES("\"\""));
    buf_release(&out);
}

/* Every truncation and many bit flips of a document are read or refused, never a crash; what is
 * read is written and read again to the same text. */
static void survives_damage(void **state) {
    (void)state;
    struct bytes good =
        BYTES("{\"TableName\":\"t\\u00e9\",\"Item\":{\"a\":{\"S\":\"x\\n\xc3\xa9\"},"
              "\"b\":{\"N\":\"-1.5e3\"},\"c\":{\"L\":[{\"BOOL\":true},null,1.25]}}}");
    struct random random;
    random_seed(&random, test_seed());
    for (size_t cut = 0; cut < good.size; cut++) {
        struct json json;
        uint8_t *exact = malloc(cut + 1); /* so that reading past the end is caught */
        memcpy(exact, good.data, cut);
        assert_int_equal(parse(bytes_of(exact, cut), &json), PARSE_FAILED);
        free(exact);
    }
    for (int round = 0; round < 20000; round++) {
        struct json json, again;
        struct buf first = {0}, second = {0};
        arena_reset(&arena);
        uint8_t *bad = malloc(good.size);
        memcpy(bad, good.data, good.size);
        for (int i = 0; i < 1 + round % 3; i++)
            bad[random_below(&random, good.size)] ^= (uint8_t)(1u << random_below(&random, 8));
        if (parse(bytes_of(bad, good.size), &json) == OK) {
            json_put(&first, &json);
            assert_int_equal(parse(buf_bytes(&first), &again), OK);
            json_put(&second, &again);
            assert_bytes_equal(buf_bytes(&first), buf_bytes(&second));
        }
        buf_release(&first);
        buf_release(&second);
        free(bad);
    }
}

static int set_up(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_json),
        cmocka_unit_test(refuses_what_is_not),
        cmocka_unit_test(says_where),
        cmocka_unit_test(bounds_depth),
        cmocka_unit_test(holds_many_members),
        cmocka_unit_test(finds_the_last_member),
        cmocka_unit_test(borrows_plain_strings),
        cmocka_unit_test(writes_numbers),
        cmocka_unit_test(replaces_what_is_not_utf8),
        cmocka_unit_test(strings_come_back),
        cmocka_unit_test(writes_strings_of_every_length),
        cmocka_unit_test(survives_damage),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
