/* Requests out of bytes, however they are cut, and replies in both versions. */
#include "test.h"

#include "base/random.h"
#include "net/resp.h"

static const struct resp_limits usual = {.args_max = 1000, .bulk_max = 1000, .size_max = 100000};

/* What came out of some bytes: each request as [a][b], then the fault if there was one. */
static void take_all(struct bytes input, const struct resp_limits *limits, struct random *cuts,
                     struct buf *out) {
    struct resp_parser parser;
    struct buf have = {0};
    size_t begin = 0, fed = 0;
    resp_init(&parser);
    buf_clear(out);
    for (;;) {
        /* A copy, so that every piece finds the bytes somewhere else. */
        struct buf moved = {0};
        buf_append(&moved, have.data + begin, have.size - begin);
        enum resp_state state = resp_parse(&parser, buf_bytes(&moved), limits);
        if (state == RESP_READY && cuts != NULL) {
            assert_int_equal(
                resp_parse(&parser, bytes_of(have.data + begin, have.size - begin), limits),
                RESP_READY);
            assert_int_equal(resp_parse(&parser, buf_bytes(&moved), limits), RESP_READY);
        }
        for (size_t i = 0; state == RESP_READY && i < parser.count; i++)
            buf_printf(out, "[%.*s]", BYTES_ARG(parser.args[i]));
        buf_release(&moved);
        if (state == RESP_REFUSED) {
            buf_printf(out, "!%s", resp_fault(&parser));
            break;
        }
        if (state == RESP_READY) {
            buf_byte(out, '\n');
            begin += parser.used;
            resp_next(&parser);
            continue;
        }
        if (fed == input.size)
            break;
        size_t more = cuts == NULL ? input.size : 1 + random_below(cuts, 3);
        more = more > input.size - fed ? input.size - fed : more;
        buf_append(&have, input.data + fed, more);
        fed += more;
    }
    resp_release(&parser);
    buf_release(&have);
    buf_byte(out, 0);
}

static void expect(const char *input, size_t size, const struct resp_limits *limits,
                   const char *expected) {
    struct random cuts;
    struct buf out = {0};
    random_seed(&cuts, size);
    take_all(bytes_of(input, size), limits, NULL, &out);
    assert_string_equal((char *)out.data, expected);
    for (int i = 0; i < 5; i++) {
        take_all(bytes_of(input, size), limits, &cuts, &out);
        assert_string_equal((char *)out.data, expected);
    }
    buf_release(&out);
}

#define EXPECT(input, expected) expect(input, sizeof(input) - 1, &usual, expected)

static void test_requests(void **state) {
    (void)state;
    EXPECT("*1\r\n$4\r\nPING\r\n", "[PING]\n");
    EXPECT("*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", "[ECHO][]\n");
    EXPECT("*2\r\n$1\r\na\r\n$4\r\n\r\n\r\n\r\n*1\r\n$1\r\nb\r\n", "[a][\r\n\r\n]\n[b]\n");
    EXPECT("*0\r\n*-1\r\n*1\r\n$1\r\nx\r\n", "\n\n[x]\n");
    EXPECT("*1\r\n$1\r\nx", "");
    EXPECT("*12\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n$1\r\n5\r\n$1\r\n6\r\n$1\r\n7\r\n"
           "$1\r\n8\r\n$1\r\n9\r\n$2\r\n10\r\n$2\r\n11\r\n$2\r\n12\r\n",
           "[1][2][3][4][5][6][7][8][9][10][11][12]\n");
}

/* Lengths of one digit and of many. */
static void test_lengths(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 9, 10, 99, 100, 999, 1000, 9999, 10000};
    struct resp_limits limits = {.args_max = 10, .bulk_max = 10000, .size_max = 100000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct buf text = {0}, expected = {0};
        char *bulk = calloc(sizes[i] + 1, 1);
        memset(bulk, 'b', sizes[i]);
        buf_printf(&text, "*2\r\n$%zu\r\n%s\r\n$1\r\na\r\n", sizes[i], bulk);
        buf_printf(&expected, "[%s][a]\n", bulk);
        buf_byte(&expected, 0);
        expect((char *)text.data, text.size, &limits, (char *)expected.data);
        free(bulk);
        buf_release(&text);
        buf_release(&expected);
    }
}

static void test_lines(void **state) {
    (void)state;
    EXPECT("PING\r\n", "[PING]\n");
    EXPECT("  ping \t x\n", "[ping][x]\n");
    EXPECT("\r\n\n  \r\nPING\n", "\n\n\n[PING]\n");
    EXPECT("a \"b c\" 'd e'\r\n", "[a][b c][d e]\n");
    EXPECT("a \"\\x41\\n\\\"\\q\" 'it\\'s \\n'\r\n", "[a][A\n\"q][it's \\n]\n");
    EXPECT("set \"\" ''\r\n", "[set][][]\n");
    EXPECT("a\"b\"\r\n", "[ab]\n");
    EXPECT("a \"b\"c\r\n", "!Protocol error: unbalanced quotes in request");
    EXPECT("a \"b\r\n", "!Protocol error: unbalanced quotes in request");
    EXPECT("a 'b\r\n", "!Protocol error: unbalanced quotes in request");
}

static void test_faults(void **state) {
    (void)state;
    EXPECT("*x\r\n", "!Protocol error: invalid multibulk length");
    EXPECT("*\r\n", "!Protocol error: invalid multibulk length");
    EXPECT("*01\r\n", "!Protocol error: invalid multibulk length");
    EXPECT("*+1\r\n", "!Protocol error: invalid multibulk length");
    EXPECT("*2x\r\n$1\r\na\r\n", "!Protocol error: invalid multibulk length");
    EXPECT("*123x\r\n$1\r\n", "!Protocol error: invalid multibulk length");
    EXPECT("*1\r\n$01\r\na\r\n", "!Protocol error: invalid bulk length");
    EXPECT("*1\r\n$1:\r\na\r\n", "!Protocol error: invalid bulk length");
    EXPECT("*1\r\n$999999\r\n", "!Protocol error: invalid bulk length");
    EXPECT("*1001\r\n", "!Protocol error: invalid multibulk length");
    EXPECT("*99999999999999999999\r\n", "!Protocol error: invalid multibulk length");
    EXPECT("*1\r\nPING\r\n", "!Protocol error: expected '$', got 'P'");
    EXPECT("*2\r\n$1\r\na\r\n:1\r\n", "!Protocol error: expected '$', got ':'");
    EXPECT("*1\r\n$-1\r\n", "!Protocol error: invalid bulk length");
    EXPECT("*1\r\n$1001\r\n", "!Protocol error: invalid bulk length");
    EXPECT("*1\r\n$abc\r\n", "!Protocol error: invalid bulk length");
    EXPECT("PING\r\n*1\r\n$x\r\n", "[PING]\n!Protocol error: invalid bulk length");
}

static void test_strangers(void **state) {
    (void)state;
    struct resp_limits limits = {
        .args_max = 1000, .bulk_max = 100000, .size_max = 1000000, .strange = true};
    const char many[] = "*11\r\n", large[] = "*1\r\n$16385\r\n", fits[] = "*10\r\n$16384\r\n";
    expect(many, sizeof(many) - 1, &limits, "!Protocol error: unauthenticated multibulk length");
    expect(large, sizeof(large) - 1, &limits, "!Protocol error: unauthenticated bulk length");
    expect(fits, sizeof(fits) - 1, &limits, "");
}

static void test_long_lines(void **state) {
    (void)state;
    struct buf text = {0}, out = {0};
    static const struct {
        const char *begin, *fault;
    } cases[] = {{"*", "!Protocol error: too big mbulk count string"},
                 {"*1\r\n$", "!Protocol error: too big bulk count string"},
                 {"x", "!Protocol error: too big inline request"}};
    for (size_t i = 0; i < 3; i++) {
        buf_clear(&text);
        buf_put(&text, bytes_str(cases[i].begin));
        for (int j = 0; j < 70000; j++)
            buf_byte(&text, '1');
        take_all(buf_bytes(&text), &usual, NULL, &out);
        assert_string_equal((char *)out.data, cases[i].fault);
    }
    buf_release(&text);
    buf_release(&out);
}

static void test_total_size(void **state) {
    (void)state;
    struct resp_limits limits = {.args_max = 1000, .bulk_max = 100, .size_max = 300};
    struct buf text = {0}, out = {0};
    buf_lit(&text, "*9\r\n");
    for (int i = 0; i < 9; i++)
        buf_printf(&text, "$50\r\n%050d\r\n", i);
    take_all(buf_bytes(&text), &limits, NULL, &out);
    assert_string_equal((char *)out.data, "!Protocol error: too big request");
    buf_release(&text);
    buf_release(&out);
}

/* Random requests, cut anywhere, come out as they went in. */
static void test_random(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    struct buf text = {0}, expected = {0}, out = {0};
    for (int round = 0; round < 200; round++) {
        buf_clear(&text);
        buf_clear(&expected);
        for (uint64_t i = random_below(&random, 6); i > 0; i--) {
            uint64_t count = 1 + random_below(&random, 40);
            buf_printf(&text, "*%d\r\n", (int)count);
            for (; count > 0; count--) {
                char bulk[64];
                size_t size = random_below(&random, sizeof(bulk));
                for (size_t j = 0; j < size; j++)
                    bulk[j] = "ab\r\n$*1 "[random_below(&random, 8)];
                buf_printf(&text, "$%d\r\n%.*s\r\n", (int)size, (int)size, bulk);
                buf_printf(&expected, "[%.*s]", (int)size, bulk);
            }
            buf_byte(&expected, '\n');
        }
        buf_byte(&expected, 0);
        take_all(buf_bytes(&text), &usual, &random, &out);
        assert_string_equal((char *)out.data, (char *)expected.data);
    }
    buf_release(&text);
    buf_release(&expected);
    buf_release(&out);
}

/* ---- replies ---- */

static void put_everything(struct resp *out) {
    resp_ok(out);
    resp_error(out, BYTES("ERR a\r\nb"));
    resp_int(out, 0);
    resp_int(out, -7);
    resp_int(out, 1234567);
    resp_int(out, INT64_MIN);
    resp_int(out, INT64_MAX);
    resp_bulk(out, BYTES("a\r\nb"));
    resp_bulk(out, BYTES(""));
    resp_null(out);
    resp_null_array(out);
    resp_bool(out, true);
    resp_bool(out, false);
    resp_verbatim(out, BYTES("text"));
    resp_double(out, 1.5);
    resp_array(out, 0);
    resp_map(out, 2);
    resp_set(out, 3);
    resp_push(out, 4);
}

static void test_replies(void **state) {
    (void)state;
    static const char *const expected[] = {
        "+OK\r\n-ERR a  b\r\n:0\r\n:-7\r\n:1234567\r\n:-9223372036854775808\r\n"
        ":9223372036854775807\r\n$4\r\na\r\nb\r\n$0\r\n\r\n$-1\r\n*-1\r\n:1\r\n:0\r\n$4\r\ntext\r\n"
        "$3\r\n1.5\r\n*0\r\n*4\r\n*3\r\n*4\r\n",
        "+OK\r\n-ERR a  b\r\n:0\r\n:-7\r\n:1234567\r\n:-9223372036854775808\r\n"
        ":9223372036854775807\r\n$4\r\na\r\nb\r\n$0\r\n\r\n_\r\n_\r\n#t\r\n#f\r\n=8\r\ntxt:text\r\n"
        ",1.5\r\n*0\r\n%2\r\n~3\r\n>4\r\n",
    };
    for (int version = 2; version <= 3; version++) {
        struct buf text = {0};
        struct resp out = {&text, version};
        put_everything(&out);
        buf_byte(&text, 0);
        assert_string_equal((char *)text.data, expected[version - 2]);
        buf_release(&text);
    }
}

static void test_bulks_of_any_length(void **state) {
    (void)state;
    for (size_t size = 0; size < 130; size++) {
        uint8_t body[130];
        struct buf text = {0}, expected = {0};
        memset(body, 'x', sizeof(body));
        resp_bulk(&(struct resp){&text, 2}, bytes_of(body, size));
        buf_printf(&expected, "$%zu\r\n", size);
        buf_append(&expected, body, size);
        buf_lit(&expected, "\r\n");
        assert_bytes_equal(buf_bytes(&text), buf_bytes(&expected));
        buf_release(&text);
        buf_release(&expected);
    }
}

static void test_doubles(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-1, "-1"},
                 {0.1, "0.10000000000000001"},
                 {1.0 / 0.0, "inf"},
                 {-1.0 / 0.0, "-inf"},
                 {1e15, "1000000000000000"},
                 {9007199254740991.0, "9007199254740991"},
                 {9007199254740993.0, "9007199254740992"},
                 {1e16, "10000000000000000"},
                 {1e17, "1e+17"},
                 {1e300, "1.0000000000000001e+300"},
                 {5e-324, "4.9406564584124654e-324"},
                 {-2.5, "-2.5"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[RESP_DOUBLE_MAX];
        size_t size = resp_double_text(cases[i].number, text);
        assert_bytes_equal(bytes_of(text, size), bytes_str(cases[i].text));
    }
}

/* The short way of writing whole numbers is the long way's. */
static void test_random_doubles(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (int i = 0; i < 100000; i++) {
        int64_t number = (int64_t)random_next(&random) >> random_below(&random, 64);
        char text[RESP_DOUBLE_MAX], expected[64];
        size_t size = resp_double_text((double)number, text);
        snprintf(expected, sizeof(expected), "%.17g", (double)number);
        assert_bytes_equal(bytes_of(text, size), bytes_str(expected));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),   cmocka_unit_test(test_lines),
        cmocka_unit_test(test_lengths),    cmocka_unit_test(test_faults),
        cmocka_unit_test(test_strangers),  cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_total_size), cmocka_unit_test(test_random),
        cmocka_unit_test(test_replies),    cmocka_unit_test(test_bulks_of_any_length),
        cmocka_unit_test(test_doubles),    cmocka_unit_test(test_random_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
