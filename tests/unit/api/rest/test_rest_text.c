/* What clients of /v1 write as text: moments, cursors, paths, queries, lines. */
#include "test.h"

#include "api/rest/rest_cursor.h"
#include "api/rest/rest_route.h"
#include "api/rest/rfc3339.h"
#include "api/rest/score_lines.h"
#include "base/random.h"

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

static void test_moments(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-16T13:00:00Z", INT64_C(1794834000000)},
        {"2026-11-16T13:00Z", INT64_C(1794834000000)},
        {"2026-11-16t14:30:00.5+01:30", INT64_C(1794834000500)},
        {"2026-11-16T12:59:59.999999-00:00", INT64_C(1794833999999)},
        {"2024-02-29T00:00:00Z", INT64_C(1709164800000)},
        {"9999-12-31T23:59:59.999Z", INT64_C(253402300799999)},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t ms = -1;
        assert_true(rfc3339_read(bytes_str(good[i].text), &ms));
        assert_int_equal(ms, good[i].ms);
    }
    static const char *const bad[] = {"",
                                      "2026-11-16",
                                      "2026-11-16T13:00:00",
                                      "2026-13-01T00:00Z",
                                      "2026-02-29T00:00Z",
                                      "2026-00-01T00:00Z",
                                      "2026-01-01T24:00Z",
                                      "2026-01-01T00:60Z",
                                      "2026-01-01T00:00:60Z",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00Zx",
                                      "2026-01-01T00:00+1:00",
                                      "1969-12-31T23:59:59Z",
                                      "1970-01-01T00:00:00+01:00"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ms;
        assert_false(rfc3339_read(bytes_str(bad[i]), &ms));
    }
    struct buf text = {0};
    rfc3339_put(&text, INT64_C(1794834000005));
    assert_memory_equal(text.data, "\"2026-11-16T13:00:00.005Z\"", text.size);
    buf_release(&text);
}

static void test_cursors(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    struct random random;
    random_seed(&random, seed);
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t noise[40];
        size_t size = 1 + random_below(&random, sizeof noise);
        for (size_t j = 0; j < size; j++)
            noise[j] = (uint8_t)random_next(&random);
        struct buf text = {0};
        struct bytes back;
        cursor_put(&text, bytes_of(noise, size));
        assert_true(cursor_read(bytes_of(text.data + 1, text.size - 2), &arena, &back));
        assert_int_equal(back.size, size);
        assert_memory_equal(back.data, noise, size);
        buf_release(&text);
        arena_reset(&arena);
    }
    struct bytes out;
    assert_false(cursor_read(BYTES("A"), &arena, &out));
    assert_false(cursor_read(BYTES("AAAAA"), &arena, &out)); /* five letters are no bytes */
    assert_false(cursor_read(BYTES("AB"), &arena, &out));    /* bits that nothing takes */
    assert_false(cursor_read(BYTES("A+"), &arena, &out));
}

static void test_page_cursors(void **state) {
    (void)state;
    struct bytes one = number_from_int(&arena, 1), many = number_from_int(&arena, INT64_MAX);
    struct page_cursor cursor = {.instance = BYTES("b@2026"),
                                 .entry = {.member = BYTES("ann"),
                                           .points = {many, one},
                                           .tie = number_from_int(&arena, -5)},
                                 .backward = true,
                                 .low = one};
    struct page_cursor back;
    struct buf text = {0};
    page_cursor_put(&text, &cursor);
    struct bytes inside = bytes_of(text.data + 1, text.size - 2);
    assert_true(page_cursor_read(inside, &arena, &back));
    assert_true(bytes_equal(back.entry.points.score, many));
    assert_true(bytes_equal(back.entry.tie, cursor.entry.tie));
    assert_true(bytes_equal(back.instance, cursor.instance));
    assert_true(back.backward && bytes_equal(back.low, one) && back.high.size == 0);
    for (size_t cut = 1; cut < inside.size; cut++)
        assert_false(page_cursor_read(bytes_of(inside.data, inside.size - cut), &arena, &back));
    buf_release(&text);
}

static void expect_route(const char *method, const char *path, const char *id, const char *first,
                         const char *second) {
    struct route_match match;
    enum route_found found = route_find(bytes_str(method), bytes_str(path), &arena, &match);
    assert_int_equal(found, id == NULL ? ROUTE_NONE : ROUTE_FOUND);
    if (id != NULL) {
        assert_string_equal(match.route->id, id);
        assert_true(bytes_equal(match.arguments[0], bytes_str(first)));
        assert_true(bytes_equal(match.arguments[1], bytes_str(second)));
    }
}

static void test_paths(void **state) {
    (void)state;
    expect_route("GET", "/v1", "index", "", "");
    expect_route("GET", "/v1/", "index", "", "");
    expect_route("HEAD", "/v1/boards", "listBoards", "", "");
    expect_route("GET", "/v1/boards/a:b/entries/x%2Fy", "getEntry", "a:b", "x/y");
    expect_route("POST", "/v1/boards/a%20b/entries:query", "queryEntries", "a b", "");
    expect_route("POST", "/v1/plays/01ABC:end", "endPlay", "01ABC", "");
    expect_route("GET", "/v1/plays/01ABC", "getPlay", "01ABC", "");
    expect_route("PUT", "/v1/boards/b/entries/+", "putEntry", "b", "+");
    expect_route("GET", "/v1/boards//entries", NULL, "", "");
    expect_route("GET", "/v1/boards/b/", NULL, "", "");
    expect_route("GET", "/v1/boards/%4", NULL, "", "");
    struct route_match match;
    assert_int_equal(route_find(BYTES("PATCH"), BYTES("/v1/boards"), &arena, &match),
                     ROUTE_OTHER_METHOD);
    assert_bytes_equal(match.allow, BYTES("GET, HEAD, POST"));
}

static enum status read_query(const char *text, struct bytes values[QUERY_MAX],
                              struct bytes *member) {
    struct route_match match;
    struct route_parameters parameters;
    struct failure failure = {0};
    route_find(BYTES("GET"), BYTES("/v1/boards/b/entries"), &arena, &match);
    enum status status =
        route_query(match.route, bytes_str(text), (struct scope){&arena, &failure}, &parameters);
    memcpy(values, parameters.values, sizeof parameters.values);
    *member = parameters.wrong;
    return status;
}

static void test_queries(void **state) {
    (void)state;
    struct bytes values[QUERY_MAX], member = {0};
    assert_int_equal(read_query("limit=5&&scope=a+b%26&numbers=string&", values, &member), OK);
    assert_true(bytes_equal(values[0], BYTES("5")));
    assert_true(bytes_equal(values[6], BYTES("a b&")));
    assert_true(bytes_equal(values[QUERY_MAX - 1], BYTES("string")));
    assert_null(values[1].data);
    static const struct {
        const char *query, *member;
    } bad[] = {{"limit=1001", "limit"},  {"limit=", "limit"},          {"limit", "limit"},
               {"limit=1e2", "limit"},   {"from=-1", "from"},          {"min=x", "min"},
               {"detail=all", "detail"}, {"limit=1&limit=1", "limit"}, {"a%20b=1", "a b"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(read_query(bad[i].query, values, &member), INVALID);
        assert_true(bytes_equal(member, bytes_str(bad[i].member)));
    }
    assert_int_equal(read_query("limit=%", values, &member), INVALID);
    assert_int_equal(read_query("%ff=1", values, &member), INVALID);
}

/* Reads all lines; `expected` has member=score;... with ! for one that is refused. */
static void expect_lines(const char *text, bool json, const char *expected) {
    struct score_lines lines = {.left = bytes_str(text), .json = json};
    struct buf got = {0};
    for (;;) {
        struct score_line line;
        struct failure failure = {0};
        enum status status = score_lines_next(&lines, (struct scope){&arena, &failure}, &line);
        if (status == NOT_FOUND)
            break;
        if (status != OK) {
            buf_lit(&got, "!;");
            assert_true(failure.text.size != 0);
            continue;
        }
        buf_put(&got, line.member);
        buf_byte(&got, '=');
        number_write(&got, line.score);
        if (line.name.size != 0)
            buf_printf(&got, "(%.*s)", BYTES_ARG(line.name));
        buf_byte(&got, ';');
    }
    buf_byte(&got, 0);
    assert_string_equal((const char *)got.data, expected);
    buf_release(&got);
}

static void test_lines(void **state) {
    (void)state;
    expect_lines("a,1\nb,2.50,Bob\r\n\n\"c,\"\"d\",-3,\"e\"\n", false,
                 "a=1;b=2.5(Bob);c,\"d=-3(e);");
    expect_lines("member,score,name\na, 1 ", false, "a=1;");
    expect_lines("a,1\nmember,score\n", false, "a=1;!;");
    expect_lines("a\na,\n,1\na,1,b,c\n\"a,1\n\"a\"b,1\na,1e999", false, "!;!;!;!;!;!;!;");
    expect_lines("", false, "");
    expect_lines("\n\n", false, "");
    expect_lines(
        "{\"member\":\"a\",\"score\":\"7\"}\n{\"member\":\"b\",\"score\":9223372036854775807,"
        "\"name\":\"x\"}\n{}\n[]\nx",
        true, "a=7;b=9223372036854775807(x);!;!;!;");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_moments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cursors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_page_cursors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_queries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
