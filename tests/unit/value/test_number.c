#include "test.h"

#include "base/limits.h"
#include "base/random.h"
#include "value/number.h"

static struct arena arena;

static struct bytes number(const char *text) {
    struct bytes out;
    if (number_read(&arena, bytes_str(text), &out) != NUMBER_OK)
        fail_msg("not a number: %s", text);
    assert_true(number_valid(out));
    assert_int_equal(number_span(out), out.size);
    return out;
}

static char *text_of(struct bytes encoded) {
    char *text = arena_alloc(&arena, NUMBER_MAX_TEXT + 1);
    size_t size = number_text(encoded, text);
    assert_true(size <= NUMBER_MAX_TEXT);
    text[size] = 0;
    return text;
}

/* What the quick way writes is what the other one does, and it writes nothing of what is no number.
 * False: it has left it to the other. */
static bool check_whole(struct bytes bytes) {
    char quick[NUMBER_MAX_TEXT], text[NUMBER_MAX_TEXT];
    size_t size = number_text_whole(bytes, quick);
    if (size == 0)
        return false;
    assert_true(size <= 18 && number_valid(bytes));
    assert_bytes_equal(bytes_of(quick, size), bytes_of(text, number_text(bytes, text)));
    assert_int_equal(number_size(bytes), bytes.size);
    return true;
}

static void writes_whole_numbers_quickly(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    assert_true(check_whole(number("0")));
    assert_false(check_whole((struct bytes){0}));
    for (int64_t power = 1; power <= 100000000000000000; power *= 10) {
        for (int64_t times = 1; times <= 9; times += 4) {
            arena_reset(&arena);
            int64_t near = power * times;
            assert_true(check_whole(number_from_int(&arena, near)));
            assert_true(check_whole(number_from_int(&arena, near - 1)));
            assert_true(check_whole(number_from_int(&arena, near + 1)));
            assert_false(check_whole(number_from_int(&arena, -near)));
        }
        assert_true(check_whole(
            number_from_int(&arena, (int64_t)random_below(&random, (uint64_t)power * 10))));
    }
    assert_false(check_whole(number("1e18")));
    assert_false(check_whole(number("1.5")));
    assert_false(check_whole(number("100.01")));
    assert_false(check_whole(number("0.5")));
    arena_reset(&arena);
}

static char *repeat(const char *before, char with, int times, const char *after) {
    char *text = arena_alloc(&arena, strlen(before) + (size_t)times + strlen(after) + 1);
    char *at = stpcpy(text, before);
    memset(at, with, (size_t)times);
    strcpy(at + times, after);
    return text;
}

static void writes_canonical_text(void **state) {
    (void)state;
    const char *cases[][2] = {
        {"0", "0"},
        {"-0", "0"},
        {"+0.000e5", "0"},
        {"0e1000", "0"},
        {"-0.00e-1000", "0"},
        {"0.000", "0"},
        {"1", "1"},
        {"-1", "-1"},
        {"+.5", "0.5"},
        {"5.", "5"},
        {"00012", "12"},
        {"-12.50", "-12.5"},
        {"1e3", "1000"},
        {"1E+5", "100000"},
        {"1e-7", "0.0000001"},
        {"100", "100"},
        {"10", "10"},
        {"101", "101"},
        {"1001.01", "1001.01"},
        {"0.05", "0.05"},
        {"0.0105", "0.0105"},
        {"123456789012345678", "123456789012345678"},
        {"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
        {"1.2345678901234567890123456789012345678", "1.2345678901234567890123456789012345678"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(text_of(number(cases[i][0])), cases[i][1]);
    assert_string_equal(text_of(number("1e125")), repeat("1", '0', 125, ""));
    assert_string_equal(text_of(number("-1e-130")), repeat("-0.", '0', 129, "1"));
    assert_string_equal(text_of(number(repeat("", '9', 38, "e88"))),
                        repeat("", '9', 38, repeat("", '0', 88, "")) + 0);
    assert_string_equal(text_of(number(repeat("", '0', 50, "7"))), "7");
}

static void tells_faults_apart(void **state) {
    (void)state;
    struct {
        const char *text;
        enum number_fault fault;
    } cases[] = {
        {"", NUMBER_MALFORMED},
        {".", NUMBER_MALFORMED},
        {"-", NUMBER_MALFORMED},
        {"e5", NUMBER_MALFORMED},
        {"1e", NUMBER_MALFORMED},
        {"1e+", NUMBER_MALFORMED},
        {"1e1.5", NUMBER_MALFORMED},
        {" 1", NUMBER_MALFORMED},
        {"1 ", NUMBER_MALFORMED},
        {"--1", NUMBER_MALFORMED},
        {"+-1", NUMBER_MALFORMED},
        {"1.2.3", NUMBER_MALFORMED},
        {"0x10", NUMBER_MALFORMED},
        {"NaN", NUMBER_MALFORMED},
        {"1_0", NUMBER_MALFORMED},
        {"1e9223372036854775808", NUMBER_MALFORMED},
        {"0e99999999999999999999", NUMBER_MALFORMED},
        {"1e2147483648", NUMBER_OVERFLOW},
        {"1e9223372036854775807", NUMBER_OVERFLOW},
        {"1e-9223372036854775807", NUMBER_UNDERFLOW},
        {"1e126", NUMBER_OVERFLOW},
        {"-1e126", NUMBER_OVERFLOW},
        {"10e125", NUMBER_OVERFLOW},
        {"1e2147483647", NUMBER_OVERFLOW},
        {"0.1e127", NUMBER_OVERFLOW},
        {"1e-131", NUMBER_UNDERFLOW},
        {"9.99e-131", NUMBER_UNDERFLOW},
        {"1e-2147483647", NUMBER_UNDERFLOW},
        {"123456789012345678901234567890123456789", NUMBER_PRECISION},
        {"-1.23456789012345678901234567890123456789", NUMBER_PRECISION},
        {"100000000000000000000000000000000000001", NUMBER_PRECISION},
    };
    uint8_t to[NUMBER_MAX_SIZE];
    size_t size;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (number_parse(bytes_str(cases[i].text), to, &size) != cases[i].fault)
            fail_msg("%s", cases[i].text);
    assert_int_equal(number_parse((struct bytes){0}, to, &size), NUMBER_MALFORMED);
}

/* One number of each region of the format, in order. */
static void orders_by_bytes(void **state) {
    (void)state;
    const char *rising[] = {
        "-9.99e125",
        "-1e125",
        "-9.9e123",
        "-1e100",
        "-1000",
        "-100.5",
        "-100",
        "-99",
        "-10",
        "-9.5",
        "-9",
        "-1.5",
        "-1",
        "-0.1",
        "-0.01",
        "-1e-127",
        "-1e-128",
        "-1e-129",
        "-1.00001e-130",
        "-1e-130",
        "0",
        "1e-130",
        "1.00001e-130",
        "2e-130",
        "1e-129",
        "1.1e-129",
        "1e-128",
        "1e-127",
        "0.01",
        "0.1",
        "1",
        "1.5",
        "9",
        "9.5",
        "10",
        "99",
        "100",
        "100.5",
        "1000",
        "1e100",
        "9.9e123",
        "1e125",
        "9.99e125",
    };
    for (size_t i = 1; i < sizeof(rising) / sizeof(rising[0]); i++)
        if (bytes_compare(number(rising[i - 1]), number(rising[i])) >= 0)
            fail_msg("%s < %s", rising[i - 1], rising[i]);
}

static void converts_machine_numbers(void **state) {
    (void)state;
    int64_t cases[] = {0,  1,  -1,      9,         10,        99,        100,        -100,
                       12, -7, 1000000, INT64_MAX, INT64_MIN, INT32_MIN, 4294967296, 1700000000123};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t back;
        char text[32];
        snprintf(text, sizeof(text), "%lld", (long long)cases[i]);
        struct bytes made = number_from_int(&arena, cases[i]);
        assert_bytes_equal(made, number(text));
        assert_true(number_to_int(made, &back));
        assert_true(back == cases[i]);
    }
    int64_t ignored;
    assert_false(number_to_int(number("9223372036854775808"), &ignored));
    assert_false(number_to_int(number("-9223372036854775809"), &ignored));
    assert_false(number_to_int(number("18446744073709551616"), &ignored));
    assert_false(number_to_int(number("99999999999999999999"), &ignored));
    assert_false(number_to_int(number("1e30"), &ignored));
    assert_false(number_to_int(number("1.5"), &ignored));
    assert_false(number_to_int(number("100.01"), &ignored));
    assert_false(number_to_int(number("0.01"), &ignored));
    assert_true(number_to_double(number("-2.5")) == -2.5);
    assert_true(number_to_double(number("1e20")) == 1e20);
    assert_true(number_to_double(number("0")) == 0);
    assert_true(number_to_double(number("1e-130")) == 1e-130);
}

static void counts_its_size(void **state) {
    (void)state;
    assert_int_equal(number_size(number("0")), 1);
    assert_int_equal(number_size(number("1")), 2);
    assert_int_equal(number_size(number("12")), 2);
    assert_int_equal(number_size(number("100")), 2);
    assert_int_equal(number_size(number("123")), 3);
    assert_int_equal(number_size(number("1.2")), 3);
    assert_int_equal(number_size(number("-123")), 4);
    assert_int_equal(number_size(number("1e-130")), 2);
    assert_int_equal(number_size(number(repeat("", '9', 38, ""))), 20);
}

static void refuses_what_is_no_encoding(void **state) {
    (void)state;
    const uint8_t cases[][6] = {
        {1, 0x7f},                /* neither sign */
        {2, 0x80, 0x02},          /* zero with digits */
        {1, 0xc1},                /* no digits */
        {2, 0xc1, 0x03},          /* no end */
        {2, 0xc1, 0x00},          /* trailing zero pair */
        {3, 0xc1, 0x03, 0x00},    /* the same, after a digit */
        {3, 0xc1, 0x01, 0x02},    /* leading zero pair */
        {3, 0xc1, 0x02, 0x02},    /* an end in the middle */
        {2, 0xc1, 0xc8},          /* pair over 99 */
        {3, 0xc1, 0xc9, 0x02},    /* the same, before the last */
        {4, 0x81, 0x01, 0x01, 2}, /* below the smallest */
        {2, 0x81, 0x00},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_false(number_valid(bytes_of(cases[i] + 1, cases[i][0])));
    assert_false(number_valid((struct bytes){0}));
    assert_int_equal(number_span((struct bytes){0}), 0);
    uint8_t long_one[1 + 21];
    long_one[0] = 0xc1;
    memset(long_one + 1, 3, sizeof(long_one) - 1);
    long_one[sizeof(long_one) - 1] = 2;
    assert_false(number_valid(bytes_of(long_one, sizeof(long_one)))); /* 41 digits */
}

/* Three bytes, as number.h says it: neither the first pair nor the last is zero, each is under 100,
 * and the last one alone is even. The smallest exponent may have one pair of zero in front. */
static bool is_encoding_of_two_pairs(const uint8_t *bytes) {
    uint8_t mask = bytes[0] < 0x80 ? 0xff : 0;
    unsigned head = bytes[0] ^ mask, first = bytes[1] ^ mask, last = bytes[2] ^ mask;
    if (head <= 0x80 || first % 2 == 0 || last % 2 != 0 || first / 2 > 99 || last / 2 > 99)
        return false;
    return last != 0 && (first != 1 || head == 0x81);
}

static void knows_every_encoding_of_two_pairs(void **state) {
    (void)state;
    for (unsigned i = 0; i < 1 << 24; i++) {
        uint8_t bytes[3] = {(uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
        check_whole(bytes_of(bytes, 3));
        if (number_valid(bytes_of(bytes, 3)) != is_encoding_of_two_pairs(bytes))
            fail_msg("%02x %02x %02x", bytes[0], bytes[1], bytes[2]);
    }
}

/* 20 pairs can be 38 digits, if the first has one and the last ends in zero; not more. */
static void limits_digits_exactly(void **state) {
    (void)state;
    uint8_t bytes[1 + 20];
    for (unsigned first = 1; first < 100; first += 7)
        for (unsigned last = 1; last < 100; last++) {
            int digits = 40 - (first < 10) - (last % 10 == 0);
            bytes[0] = 0xc1;
            memset(bytes + 1, 2 * 37 + 1, 20);
            bytes[1] = (uint8_t)(2 * first + 1);
            bytes[20] = (uint8_t)(2 * last);
            assert_int_equal(number_valid(bytes_of(bytes, 21)), digits <= LIMIT_DIGITS);
        }
}

/* ---- against a slow reference: a sign and 300 places ---- */

enum { PLACES = 300, POINT = 128 }; /* place i stands for 10^(POINT - i) */

struct slow {
    int sign; /* -1, 0, 1 */
    int place[PLACES];
};

static struct slow slow_of(const char *digits, int exponent, bool negative) {
    struct slow slow = {.sign = negative ? -1 : 1};
    bool any = false;
    for (int i = 0; digits[i] != 0; i++) {
        slow.place[POINT - exponent + i] = digits[i] - '0';
        any |= digits[i] != '0';
    }
    if (!any)
        slow.sign = 0;
    return slow;
}

static int slow_magnitude(const struct slow *a, const struct slow *b) {
    for (int i = 0; i < PLACES; i++)
        if (a->place[i] != b->place[i])
            return a->place[i] < b->place[i] ? -1 : 1;
    return 0;
}

static int slow_compare(const struct slow *a, const struct slow *b) {
    if (a->sign != b->sign)
        return a->sign < b->sign ? -1 : 1;
    return a->sign * slow_magnitude(a, b);
}

static struct slow slow_add(const struct slow *a, const struct slow *b) {
    if (a->sign == 0 || b->sign == 0)
        return a->sign == 0 ? *b : *a;
    int order = slow_magnitude(a, b);
    if (order < 0)
        return slow_add(b, a);
    struct slow sum = *a;
    int by = a->sign == b->sign ? 1 : -1;
    if (order == 0 && by < 0)
        return (struct slow){0};
    for (int i = PLACES - 1, carry = 0; i >= 0; i--) {
        int digit = a->place[i] + by * b->place[i] + carry;
        carry = digit < 0 ? -1 : digit / 10;
        sum.place[i] = digit - 10 * carry;
    }
    return sum;
}

/* The fault the sum must come to, and its text as "<sign><digits>e<exponent>" when it has none. */
static enum number_fault slow_text(const struct slow *slow, char *to) {
    int first = 0, last = PLACES - 1;
    if (slow->sign == 0) {
        strcpy(to, "0");
        return NUMBER_OK;
    }
    while (slow->place[first] == 0)
        first++;
    while (slow->place[last] == 0)
        last--;
    if (POINT - first > 125)
        return NUMBER_OVERFLOW;
    if (POINT - first < -130)
        return NUMBER_UNDERFLOW;
    if (last - first + 1 > 38)
        return NUMBER_PRECISION;
    if (slow->sign < 0)
        *to++ = '-';
    for (int i = first; i <= last; i++)
        *to++ = (char)('0' + slow->place[i]);
    sprintf(to, "e%d", POINT - last);
    return NUMBER_OK;
}

/* Random digits and exponent, often near each other or at a border; the text in one of several
 * spellings. */
struct drawn {
    char text[160];
    struct slow slow;
};

static void draw(struct random *random, struct drawn *out) {
    static const int exponents[] = {0, 0, 1, 2, 5, 18, -1, -3, 125, 124, -130, -129, -128, -127};
    char digits[39];
    int count = 1 + (int)random_below(random, random_below(random, 3) == 0 ? 38 : 6);
    int exponent = random_below(random, 4) == 0
                       ? (int)random_below(random, 256) - 130
                       : exponents[random_below(random, sizeof(exponents) / sizeof(int))];
    bool negative = random_below(random, 2) == 0, zeros = random_below(random, 3) == 0;
    for (int i = 0; i < count; i++)
        digits[i] =
            (char)('0' + (zeros && random_below(random, 2) == 0 ? 9 * random_below(random, 2)
                                                                : random_below(random, 10)));
    if (digits[0] == '0')
        digits[0] = '1';
    digits[count] = 0;
    out->slow = slow_of(digits, exponent, negative);
    const char *sign = negative ? "-" : random_below(random, 5) == 0 ? "+" : "";
    switch (random_below(random, 4)) {
    case 0:
        sprintf(out->text, "%s%c.%se%d", sign, digits[0], digits + 1, exponent);
        break;
    case 1:
        sprintf(out->text, "%s%sE%d", sign, digits, exponent - count + 1);
        break;
    case 2:
        sprintf(out->text, "%s000.000%s000e%d", sign, digits, exponent + 4);
        break;
    default:
        sprintf(out->text, "%s0%s000.00e%d", sign, digits, exponent - count - 2);
    }
}

static void agrees_with_the_reference(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (int round = 0; round < 60000; round++) {
        struct drawn a, b;
        char wanted[200];
        arena_reset(&arena);
        draw(&random, &a);
        draw(&random, &b);
        struct bytes left = number(a.text), right = number(b.text), sum, again;
        int order = bytes_compare(left, right);
        assert_int_equal((order > 0) - (order < 0), slow_compare(&a.slow, &b.slow));

        assert_bytes_equal(number(text_of(left)), left);

        bool minus = round % 2 != 0;
        if (minus)
            b.slow.sign = -b.slow.sign;
        struct slow total = slow_add(&a.slow, &b.slow);
        enum number_fault fault = slow_text(&total, wanted);
        if ((minus ? number_subtract : number_add)(&arena, left, right, &sum) != fault)
            fail_msg("%s %c %s", a.text, minus ? '-' : '+', b.text);
        if (fault != NUMBER_OK)
            continue;
        assert_bytes_equal(sum, number(wanted));
        if (number_subtract(&arena, sum, minus ? number("0") : right, &again) == NUMBER_OK &&
            !minus)
            assert_bytes_equal(again, left);
    }
}

static void span_finds_the_end(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, test_seed());
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[64];
        struct drawn a;
        arena_reset(&arena);
        draw(&random, &a);
        struct bytes made = number(a.text);
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)random_next(&random);
        memcpy(bytes, made.data, made.size);
        assert_int_equal(number_span(bytes_of(bytes, sizeof(bytes))), made.size);
        for (size_t cut = 0; cut < made.size; cut++) {
            assert_int_equal(number_span(bytes_of(bytes, cut)), 0);
            assert_false(number_valid(bytes_of(bytes, cut)));
        }
        /* Whatever passes for a number reads back as itself. */
        bytes[random_below(&random, made.size)] ^= (uint8_t)(1u << random_below(&random, 8));
        size_t span = number_span(bytes_of(bytes, sizeof(bytes)));
        if (span != 0)
            assert_bytes_equal(number(text_of(bytes_of(bytes, span))), bytes_of(bytes, span));
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
        cmocka_unit_test(writes_canonical_text),
        cmocka_unit_test(writes_whole_numbers_quickly),
        cmocka_unit_test(tells_faults_apart),
        cmocka_unit_test(orders_by_bytes),
        cmocka_unit_test(converts_machine_numbers),
        cmocka_unit_test(knows_every_encoding_of_two_pairs),
        cmocka_unit_test(limits_digits_exactly),
        cmocka_unit_test(counts_its_size),
        cmocka_unit_test(refuses_what_is_no_encoding),
        cmocka_unit_test(agrees_with_the_reference),
        cmocka_unit_test(span_finds_the_end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
