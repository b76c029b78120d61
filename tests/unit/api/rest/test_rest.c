/* The REST front end without sockets: whole requests, those that come back later, and those that
 * are refused while the server is busy or stops. What clients see is in tests/wire/rest.test.mjs.
 */
#include "test.h"

#include "api/rest/rest_fixture.h"

static struct rest_fixture asking;

static int setup(void **state) {
    (void)state;
    rest_fixture_open(&asking);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rest_fixture_close(&asking);
    return 0;
}

static int ask_json(const char *method, const char *target, const char *body) {
    return rest_ask(&asking, bytes_str(method), bytes_str(target), "application/json",
                    bytes_str(body));
}

static void assert_has(const char *text) {
    if (strstr((const char *)asking.body.data, text) == NULL)
        fail_msg("%s is not in %s", text, (const char *)asking.body.data);
}

static void make_board(void) {
    assert_int_equal(ask_json("POST", "/v1/boards", "{\"id\":\"b\",\"game\":\"g\"}"), 201);
}

static void test_a_board(void **state) {
    (void)state;
    make_board();
    assert_int_equal(ask_json("POST", "/v1/games/g/scores", "{\"player\":\"a\",\"score\":1}"), 200);
    assert_has("\"rankAfter\":1");
    assert_int_equal(ask_json("GET", "/v1/boards/b/entries", ""), 200);
    assert_has("\"member\":\"a\"");
    assert_int_equal(ask_json("DELETE", "/v1/boards/b", ""), 204);
    assert_int_equal(ask_json("GET", "/v1/boards/b", ""), 404);
}

static void test_a_batch(void **state) {
    (void)state;
    struct buf body = {0};
    make_board();
    buf_lit(&body, "{\"scores\":[");
    for (int i = 0; i < 500; i++)
        buf_printf(&body, "%s{\"%s\":\"%s\",\"player\":\"p%d\",\"score\":%d}", i == 0 ? "" : ",",
                   i % 2 == 0 ? "game" : "board",
                   i % 2 == 0   ? "g"
                   : i % 7 == 0 ? "none"
                                : "b",
                   i % 9, i);
    buf_lit(&body, "]}");
    assert_int_equal(rest_ask(&asking, BYTES("POST"), BYTES("/v1/scores:batch"), "application/json",
                              buf_bytes(&body)),
                     200);
    assert_has("\"problem\":{");
    assert_has("\"submitted\":{");
    buf_release(&body);
    assert_int_equal(ask_json("GET", "/v1/boards/b/entries/p8", ""), 200);
    assert_has("\"score\":494");
}

/* However often a member comes in one request, all of its lines count. */
static void test_lines_of_one_member(void **state) {
    (void)state;
    struct buf body = {0};
    assert_int_equal(
        ask_json("POST", "/v1/boards", "{\"id\":\"s\",\"game\":\"g\",\"keep\":\"sum\"}"), 201);
    for (int i = 1; i <= 100; i++)
        buf_printf(&body, "m,%d\nn%d,1\n", i, i);
    assert_int_equal(rest_ask(&asking, BYTES("POST"), BYTES("/v1/boards/s/entries:load"),
                              "text/csv", buf_bytes(&body)),
                     200);
    assert_has("\"lines\":200,\"added\":101,\"changed\":99,\"kept\":0,\"refused\":0");
    assert_int_equal(ask_json("GET", "/v1/boards/s/entries/m", ""), 200);
    assert_has("\"score\":5050");
    buf_lit(&body, "m,1\n");
    assert_int_equal(rest_ask(&asking, BYTES("POST"), BYTES("/v1/boards/s/entries:load"),
                              "text/csv", buf_bytes(&body)),
                     200);
    assert_has("\"lines\":201,\"added\":0,\"changed\":201,\"kept\":0,\"refused\":0");
    assert_int_equal(ask_json("GET", "/v1/boards/s/entries/m", ""), 200);
    assert_has("\"score\":10101");
    buf_release(&body);
}

/* Reads are answered whatever waits; what would wait is refused. */
static void test_overload(void **state) {
    (void)state;
    make_board();
    asking.exchange.overload = true;
    assert_int_equal(ask_json("GET", "/v1/boards/b/entries", ""), 200);
    assert_int_equal(ask_json("POST", "/v1/games/g/scores", "{\"player\":\"a\",\"score\":1}"), 429);
    assert_non_null(strstr((const char *)asking.lines.data, "Retry-After: 1\r\n"));
    assert_int_equal(ask_json("DELETE", "/v1/boards/b", ""), 429);
    assert_int_equal(ask_json("POST", "/v1/scores:batch",
                              "{\"scores\":[{\"game\":\"g\",\"player\":\"a\",\"score\":1}]}"),
                     429);
    asking.exchange.overload = false;
    assert_int_equal(ask_json("GET", "/v1/boards/b/entries/a", ""), 404);
}

static void test_stopping(void **state) {
    (void)state;
    make_board();
    rest_stop(asking.rest);
    assert_int_equal(ask_json("POST", "/v1/games/g/scores", "{\"player\":\"a\",\"score\":1}"), 503);
    background_stop(asking.background);
    assert_int_equal(ask_json("DELETE", "/v1/boards/b", ""), 429);
}

/* Nothing that the document's own writer does depends on a request. */
static void test_document(void **state) {
    (void)state;
    struct buf once = {0}, again = {0};
    rest_put_openapi(&once);
    rest_put_openapi(&again);
    assert_int_equal(once.size, again.size);
    assert_memory_equal(once.data, again.data, once.size);
    assert_int_equal(ask_json("GET", "/v1/openapi.json", ""), 200);
    assert_int_equal(asking.body.size, once.size);
    buf_release(&once);
    buf_release(&again);
}

/* The first dense rank of a board of many scores has to be counted, which no loop waits for: each
 * of these would be an answer of another kind if it were not done elsewhere. */
static void test_dense_ranks(void **state) {
    (void)state;
    struct buf lines = {0};
    for (int i = 0; i < 700; i++)
        buf_printf(&lines, "{\"member\":\"p%d\",\"score\":%d}\n", i, i / 2);
    static const char *const boards[] = {"d", "e", "f"};
    for (size_t i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"id\":\"%s\",\"game\":\"%s\",\"ranking\":\"dense\"}",
                 boards[i], boards[i]);
        assert_int_equal(ask_json("POST", "/v1/boards", text), 201);
        snprintf(text, sizeof text, "/v1/boards/%s/entries:load", boards[i]);
        assert_int_equal(rest_ask(&asking, BYTES("POST"), bytes_str(text), "application/x-ndjson",
                                  buf_bytes(&lines)),
                         200);
    }
    buf_release(&lines);
    assert_int_equal(ask_json("GET", "/v1/boards/d/entries/p0", ""), 200);
    assert_has("\"rank\":350");
    assert_int_equal(ask_json("POST", "/v1/games/e/scores", "{\"player\":\"p1\",\"score\":349}"),
                     200);
    assert_has("\"rankAfter\":1");
    assert_int_equal(ask_json("POST", "/v1/scores:batch",
                              "{\"scores\":[{\"game\":\"f\",\"player\":\"p1\",\"score\":348}]}"),
                     200);
    assert_has("\"rankAfter\":2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_board, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lines_of_one_member, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overload, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stopping, setup, teardown),
        cmocka_unit_test_setup_teardown(test_document, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dense_ranks, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
