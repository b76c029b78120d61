/* Which web pages may talk to the server: by Origin and Host, with and without keys. */
#include "test.h"

#include "api/origin.h"

struct asked {
    const char *host, *origin, *site, *mode;
};

/* Whether the policy admits such an exchange; a refusal must come with a sentence. */
static bool admits(const struct origin_policy *policy, struct asked asked) {
    struct http_header headers[4];
    struct http_exchange exchange = {.headers = headers};
    const char *const names[] = {"Host", "Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"};
    const char *const values[] = {asked.host, asked.origin, asked.site, asked.mode};
    for (int i = 0; i < 4; i++)
        if (values[i] != NULL)
            headers[exchange.header_count++] =
                (struct http_header){bytes_str(names[i]), bytes_str(values[i])};
    struct bytes why = {0};
    arena_init(&exchange.arena);
    bool admitted = origin_admits(policy, &exchange, &why);
    assert_true(admitted || why.size != 0);
    arena_release(&exchange.arena);
    return admitted;
}

static void test_hosts(void **state) {
    (void)state;
    const struct origin_policy policy = {0};
    const char *const ours[] = {"localhost",      "LOCALHOST:8000", "game.localhost:8000",
                                "1up.localhost",  "127.0.0.1",      "127.0.0.1:8000",
                                "127.1.2.3:1",    "[::1]:8000",     "[::1]",
                                "127.255.255.255"};
    const char *const others[] = {"evil.example",
                                  "localhost.evil.example",
                                  "127.0.0.1.evil.example",
                                  "127.0.0.1evil",
                                  "192.168.1.4:8000",
                                  "[::2]:8000",
                                  "127.0.0.256",
                                  "127.0.0",
                                  "127.0.0.",
                                  "evil.example:127",
                                  "xlocalhost",
                                  ".localhost.",
                                  "127..0.1",
                                  "0.0.0.0:8000",
                                  "[::1].evil.example"};
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        assert_true(admits(&policy, (struct asked){.host = ours[i]}));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(admits(&policy, (struct asked){.host = others[i]}));
    assert_true(admits(&policy, (struct asked){0})); /* HTTP/1.0: no browser */
}

static void test_origins(void **state) {
    (void)state;
    const struct origin_policy policy = {0};
    const char *host = "127.0.0.1:8000";
    const char *const ours[] = {"http://127.0.0.1:8000", "http://localhost:5173",
                                "https://localhost", "http://[::1]:3000"};
    const char *const others[] = {"null",
                                  "http://evil.example",
                                  "https://localhost.evil.example",
                                  "http://127.0.0.1.evil.example:8000",
                                  "file://",
                                  "://",
                                  ""};
    for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
        assert_true(admits(&policy, (struct asked){.host = host, .origin = ours[i]}));
    for (size_t i = 0; i + 1 < sizeof(others) / sizeof(*others); i++)
        assert_false(admits(&policy, (struct asked){.host = host, .origin = others[i]}));
}

/* A name that was made to resolve to loopback makes Origin and Host equal. */
static void test_rebinding(void **state) {
    (void)state;
    const struct asked asked = {.host = "evil.example:8000", .origin = "http://evil.example:8000"};
    assert_false(admits(&(struct origin_policy){0}, asked));
    assert_true(admits(&(struct origin_policy){.any_host = true}, asked)); /* --trust-network */
}

static void test_listed(void **state) {
    (void)state;
    const struct origin_policy policy = {.listed = " https://game.example  null "};
    assert_true(admits(&policy, (struct asked){"127.0.0.1:8000", "https://game.example"}));
    assert_true(admits(&policy, (struct asked){"127.0.0.1:8000", "null"}));
    assert_true(admits(&policy, (struct asked){.host = "game.example:8000"}));
    assert_false(admits(&policy, (struct asked){"127.0.0.1:8000", "http://game.example"}));
    assert_false(admits(&policy, (struct asked){"127.0.0.1:8000", "https://game.example.evil"}));
    assert_false(admits(&policy, (struct asked){.host = "example:8000"}));
    const struct origin_policy any = {.listed = "*"};
    assert_true(admits(&any, (struct asked){"evil.example", "https://evil.example"}));
}

/* What a page embeds carries no Origin; what a person follows is no harm. */
static void test_cross_site(void **state) {
    (void)state;
    const struct origin_policy policy = {0};
    struct asked asked = {.host = "localhost:8000", .site = "cross-site", .mode = "no-cors"};
    assert_false(admits(&policy, asked));
    asked.mode = "navigate";
    assert_true(admits(&policy, asked));
    asked = (struct asked){.host = "localhost:8000", .site = "same-origin", .mode = "cors"};
    assert_true(admits(&policy, asked));
}

/* With keys a request needs one; live subscriptions still look at the page. */
static void test_with_keys(void **state) {
    (void)state;
    const struct origin_policy policy = {.any_host = true, .any_page = true};
    assert_true(admits(&policy, (struct asked){"game.example", "https://other.example"}));
    struct http_header headers[] = {{BYTES("Host"), BYTES("game.example")},
                                    {BYTES("Origin"), BYTES("https://other.example")}};
    struct http_exchange exchange = {.headers = headers, .header_count = 2};
    assert_false(origin_is_trusted(&policy, &exchange));
    headers[1].value = BYTES("https://game.example");
    assert_true(origin_is_trusted(&policy, &exchange));
    headers[1].value = BYTES("http://localhost:5173");
    assert_false(origin_is_trusted(&policy, &exchange));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts),      cmocka_unit_test(test_origins),
        cmocka_unit_test(test_rebinding),  cmocka_unit_test(test_listed),
        cmocka_unit_test(test_cross_site), cmocka_unit_test(test_with_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
