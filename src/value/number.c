/* Numbers are taken apart into decimal digits to be read and written, and into base-100 pairs to
 * be added. Neither form leaves this file. */
#include "value/number.h"

#include "base/limits.h"

#include <assert.h>
#include <stdlib.h>

enum {
    EXPONENT_MAX = 125, /* of the leading digit */
    EXPONENT_MIN = -130,
    EXPONENT_FAR = 1 << 30,
    PAIR_EXPONENT_MAX = 62,
    PAIR_EXPONENT_MIN = -64, /* one below it is written with a leading pair of zero */
    PAIRS_MAX = LIMIT_DIGITS / 2 + 1,
    ZERO = 0x80,
    FIRST_BIAS = 0x81 - PAIR_EXPONENT_MIN,
};

/* digits[0] . digits[1] digits[2] ... times 10^exponent; neither the first nor the last digit is
 * zero. No digits: zero, with the exponent it was written with. */
struct decimal {
    int64_t exponent;
    int count;
    bool negative;
    bool precise; /* false: there were more digits than fit */
    uint8_t digits[LIMIT_DIGITS];
};

static inline unsigned digit_of(uint8_t byte) {
    return (unsigned)byte - '0';
}

/* ---- reading text ---- */

struct scan {
    struct decimal *to;
    int64_t zeros; /* seen since the last digit that was not one: significant if another follows */
    int64_t whole; /* digits before the point, from the first significant one on */
    int64_t lost;  /* zeros after the point, before the first significant digit */
    bool any;
};

static inline void scan_significant(struct scan *scan, unsigned digit) {
    struct decimal *to = scan->to;
    if (digit == 0) {
        scan->zeros++;
        return;
    }
    if (to->count + scan->zeros >= LIMIT_DIGITS) {
        to->precise = false;
        return;
    }
    for (; scan->zeros > 0; scan->zeros--)
        to->digits[to->count++] = 0;
    to->digits[to->count++] = (uint8_t)digit;
}

static const uint8_t *scan_whole(struct scan *scan, const uint8_t *at, const uint8_t *end) {
    unsigned digit;
    for (; at < end && (digit = digit_of(*at)) <= 9; at++) {
        scan->any = true;
        if (digit == 0 && scan->to->count == 0)
            continue;
        scan_significant(scan, digit);
        scan->whole++;
    }
    return at;
}

static const uint8_t *scan_fraction(struct scan *scan, const uint8_t *at, const uint8_t *end) {
    unsigned digit;
    for (; at < end && (digit = digit_of(*at)) <= 9; at++) {
        scan->any = true;
        if (digit == 0 && scan->to->count == 0)
            scan->lost++;
        else
            scan_significant(scan, digit);
    }
    return at;
}

/* The text after the "e"; false if it is not an integer of 64 bits. What is far beyond any range
 * comes out as EXPONENT_FAR, so that sums with it cannot wrap. */
static bool scan_exponent(const uint8_t *at, const uint8_t *end, int64_t *out) {
    bool negative = at < end && *at == '-';
    int64_t exponent = 0;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    for (; at < end; at++) {
        unsigned digit = digit_of(*at);
        if (digit > 9)
            return false;
        if (__builtin_mul_overflow(exponent, 10, &exponent) ||
            __builtin_add_overflow(exponent, digit, &exponent))
            return false;
    }
    if (exponent > EXPONENT_FAR)
        exponent = EXPONENT_FAR;
    *out = negative ? -exponent : exponent;
    return true;
}

static bool decimal_scan(struct bytes text, struct decimal *to) {
    if (text.size == 0)
        return false;
    struct scan scan = {.to = to};
    const uint8_t *at = text.data, *end = at + text.size;
    int64_t exponent = 0;
    to->count = 0;
    to->precise = true;
    to->negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    at = scan_whole(&scan, at, end);
    if (at < end && *at == '.')
        at = scan_fraction(&scan, at + 1, end);
    if (!scan.any)
        return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (!scan_exponent(at + 1, end, &exponent))
            return false;
        at = end;
    }
    to->exponent = exponent;
    if (to->count != 0)
        to->exponent += (scan.whole > 0 ? scan.whole : -scan.lost) - 1;
    return at == end;
}

/* ---- the encoding ---- */

static size_t encode_zero(uint8_t *to) {
    to[0] = ZERO;
    return 1;
}

/* Where the sign is applied and the last pair marked. */
static size_t encode_finish(uint8_t *to, size_t size, bool negative) {
    to[size - 1] &= 0xfe;
    if (negative)
        for (size_t i = 0; i < size; i++)
            to[i] = (uint8_t)~to[i];
    return size;
}

/* Writes the first byte, and the zero pair that the smallest magnitudes begin with. */
static size_t encode_start(uint8_t *to, int pair_exponent) {
    if (pair_exponent < PAIR_EXPONENT_MIN) {
        to[0] = 0x81;
        to[1] = 1;
        return 2;
    }
    to[0] = (uint8_t)(pair_exponent + FIRST_BIAS);
    return 1;
}

static size_t decimal_encode(const struct decimal *from, uint8_t *to) {
    if (from->count == 0)
        return encode_zero(to);
    int exponent = (int)from->exponent;
    bool odd = (exponent & 1) != 0;
    size_t size = encode_start(to, (exponent - (odd ? 1 : 0)) / 2);
    int at = 0;
    if (!odd)
        to[size++] = (uint8_t)(2 * from->digits[at++] + 1);
    for (; at + 1 < from->count; at += 2)
        to[size++] = (uint8_t)(2 * (10 * from->digits[at] + from->digits[at + 1]) + 1);
    if (at < from->count)
        to[size++] = (uint8_t)(2 * 10 * from->digits[at] + 1);
    return encode_finish(to, size, from->negative);
}

static size_t encode_whole(uint64_t magnitude, bool negative, uint8_t *to) {
    uint8_t pairs[10];
    int count = 0, skip = 0;
    for (; magnitude != 0; magnitude /= 100)
        pairs[count++] = (uint8_t)(magnitude % 100);
    if (count == 0)
        return encode_zero(to);
    while (pairs[skip] == 0)
        skip++;
    size_t size = encode_start(to, count - 1);
    for (int i = count - 1; i >= skip; i--)
        to[size++] = (uint8_t)(2 * pairs[i] + 1);
    return encode_finish(to, size, negative);
}

/* Most numbers are short integers: these need no decimal. False for any other text. */
static bool parse_short(struct bytes text, uint8_t *to, size_t *size) {
    uint64_t magnitude = 0;
    bool negative = text.size > 1 && text.data[0] == '-';
    if (text.size == 0 || text.size > 18)
        return false;
    for (size_t i = negative; i < text.size; i++) {
        unsigned digit = digit_of(text.data[i]);
        if (digit > 9)
            return false;
        magnitude = magnitude * 10 + digit;
    }
    *size = encode_whole(magnitude, negative, to);
    return true;
}

enum number_fault number_parse(struct bytes text, uint8_t *to, size_t *size) {
    struct decimal decimal;
    if (parse_short(text, to, size))
        return NUMBER_OK;
    if (!decimal_scan(text, &decimal))
        return NUMBER_MALFORMED;
    if (decimal.exponent > EXPONENT_MAX)
        return NUMBER_OVERFLOW;
    if (decimal.exponent < EXPONENT_MIN)
        return NUMBER_UNDERFLOW;
    if (!decimal.precise)
        return NUMBER_PRECISION;
    *size = decimal_encode(&decimal, to);
    return NUMBER_OK;
}

enum number_fault number_read(struct arena *arena, struct bytes text, struct bytes *out) {
    uint8_t encoded[NUMBER_MAX_SIZE];
    size_t size;
    enum number_fault fault = number_parse(text, encoded, &size);
    if (fault == NUMBER_OK)
        *out = arena_copy(arena, bytes_of(encoded, size));
    return fault;
}

/* ---- checking ---- */

static inline uint8_t sign_mask(struct bytes number) {
    return number.data[0] < ZERO ? 0xff : 0;
}

static bool is_zero(struct bytes number) {
    return number.data[0] == ZERO;
}

size_t number_span(struct bytes bytes) {
    if (bytes.size == 0)
        return 0;
    if (is_zero(bytes))
        return 1;
    uint8_t mask = sign_mask(bytes);
    size_t most = bytes.size < NUMBER_MAX_SIZE ? bytes.size : NUMBER_MAX_SIZE;
    for (size_t i = 1; i < most; i++)
        if (((bytes.data[i] ^ mask) & 1) == 0)
            return number_valid(bytes_of(bytes.data, i + 1)) ? i + 1 : 0;
    return 0;
}

/* How many of the pairs' digits are significant: a first pair under 10 and a last one that ends in
 * zero have one each. */
static int count_digits(const uint8_t *first, const uint8_t *last, uint8_t mask) {
    int digits = 2 * (int)(last - first + 1);
    if ((*first ^ mask) >> 1 < 10)
        digits--;
    if (((*last ^ mask) >> 1) % 10 == 0)
        digits--;
    return digits;
}

bool number_valid(struct bytes bytes) {
    if (bytes.size == 0 || bytes.data[0] == 0x7f)
        return false;
    if (is_zero(bytes))
        return bytes.size == 1;
    uint8_t mask = sign_mask(bytes);
    const uint8_t *first = bytes.data + 1, *last = bytes.data + bytes.size - 1;
    if (bytes.size < 2)
        return false;
    for (const uint8_t *at = first; at <= last; at++) {
        uint8_t pair = *at ^ mask;
        if (pair > 199 || ((pair & 1) == 0) != (at == last))
            return false;
    }
    bool smallest = (bytes.data[0] ^ mask) == 0x81;
    if ((*first ^ mask) == 1 && smallest)
        first++;
    if ((*first ^ mask) <= 1 || (*last ^ mask) == 0)
        return false;
    return count_digits(first, last, mask) <= LIMIT_DIGITS;
}

size_t number_size(struct bytes number) {
    if (is_zero(number))
        return 1;
    uint8_t mask = sign_mask(number);
    size_t size = number.size;
    if ((number.data[1] ^ mask) == 1)
        size--;
    return size + (mask != 0);
}

/* ---- writing text ---- */

/* The digits as characters, and the exponent of the first of them. Returns how many. */
static int number_digits(struct bytes number, char *to, int *exponent) {
    uint8_t mask = sign_mask(number);
    size_t at = 1;
    int count = 0, pair_exponent = (number.data[0] ^ mask) - FIRST_BIAS;
    if ((number.data[1] ^ mask) == 1) {
        pair_exponent--;
        at++;
    }
    unsigned pair = (unsigned)((number.data[at++] ^ mask) >> 1);
    *exponent = 2 * pair_exponent + (pair >= 10);
    if (pair >= 10)
        to[count++] = (char)('0' + pair / 10);
    to[count++] = (char)('0' + pair % 10);
    for (; at < number.size; at++) {
        pair = (unsigned)((number.data[at] ^ mask) >> 1);
        to[count++] = (char)('0' + pair / 10);
        to[count++] = (char)('0' + pair % 10);
    }
    return to[count - 1] == '0' ? count - 1 : count;
}

static size_t text_fraction(char *to, const char *digits, int count, int exponent) {
    size_t zeros = (size_t)(-exponent - 1);
    memcpy(to, "0.", 2);
    memset(to + 2, '0', zeros);
    memcpy(to + 2 + zeros, digits, (size_t)count);
    return 2 + zeros + (size_t)count;
}

size_t number_text(struct bytes number, char *to) {
    char digits[2 * NUMBER_MAX_SIZE];
    char *start = to;
    int exponent, count, whole;
    if (is_zero(number)) {
        *to = '0';
        return 1;
    }
    count = number_digits(number, digits, &exponent);
    if (sign_mask(number) != 0)
        *to++ = '-';
    if (exponent < 0)
        return (size_t)(to - start) + text_fraction(to, digits, count, exponent);
    whole = exponent + 1;
    if (whole >= count) {
        memcpy(to, digits, (size_t)count);
        memset(to + count, '0', (size_t)(whole - count));
        return (size_t)(to - start) + (size_t)whole;
    }
    memcpy(to, digits, (size_t)whole);
    to[whole] = '.';
    memcpy(to + whole + 1, digits + whole, (size_t)(count - whole));
    return (size_t)(to - start) + (size_t)count + 1;
}

void number_write(struct buf *buf, struct bytes number) {
    buf->size += number_text(number, (char *)buf_reserve(buf, NUMBER_MAX_TEXT));
}

/* ---- arithmetic ---- */

/* A number as base-100 pairs: pair i of `count` stands for 100^(exponent - i). */
struct pairs {
    int exponent;
    int count;
    bool negative;
    uint8_t pair[PAIRS_MAX];
};

static void pairs_of(struct bytes number, struct pairs *to) {
    uint8_t mask = sign_mask(number);
    size_t at = 1;
    to->negative = mask != 0;
    to->count = 0;
    to->exponent = (number.data[0] ^ mask) - FIRST_BIAS;
    if (number.size > 1 && (number.data[1] ^ mask) == 1) {
        to->exponent--;
        at++;
    }
    for (; at < number.size; at++)
        to->pair[to->count++] = (uint8_t)((number.data[at] ^ mask) >> 1);
}

/* Wide enough for any two numbers side by side, and a carry. */
enum { WIDE = PAIR_EXPONENT_MAX + 1 - (PAIR_EXPONENT_MIN - 1) + PAIRS_MAX + 1 };

/* A sum under way: wide[i] stands for 100^(exponent - i). */
struct sum {
    int exponent;
    int count;
    bool negative;
    int wide[WIDE];
};

static void sum_put(struct sum *sum, const struct pairs *pairs, int sign) {
    int offset = sum->exponent - pairs->exponent;
    for (int i = 0; i < pairs->count; i++)
        sum->wide[offset + i] += sign * pairs->pair[i];
}

/* Brings every place into 0..99, least significant first; the top place keeps the sign. */
static void sum_carry(struct sum *sum) {
    for (int i = sum->count - 1; i > 0; i--) {
        int carry = sum->wide[i] < 0 ? -1 : sum->wide[i] / 100;
        sum->wide[i] -= 100 * carry;
        sum->wide[i - 1] += carry;
    }
}

static void sum_of(const struct pairs *a, const struct pairs *b, struct sum *sum) {
    int top = a->exponent > b->exponent ? a->exponent : b->exponent;
    int a_end = a->exponent - a->count, b_end = b->exponent - b->count;
    sum->exponent = top + 1;
    sum->count = sum->exponent - (a_end < b_end ? a_end : b_end);
    assert(sum->count <= WIDE);
    memset(sum->wide, 0, sizeof(int) * (size_t)sum->count);
    sum_put(sum, a, 1);
    sum_put(sum, b, a->negative == b->negative ? 1 : -1);
    sum_carry(sum);
    sum->negative = a->negative;
    if (sum->wide[0] < 0) {
        for (int i = 0; i < sum->count; i++)
            sum->wide[i] = -sum->wide[i];
        sum_carry(sum);
        sum->negative = !sum->negative;
    }
}

static enum number_fault sum_encode(const struct sum *sum, uint8_t *to, size_t *size) {
    int first = 0, last = sum->count - 1;
    while (first <= last && sum->wide[first] == 0)
        first++;
    if (first > last) {
        *size = encode_zero(to);
        return NUMBER_OK;
    }
    while (sum->wide[last] == 0)
        last--;
    int exponent = sum->exponent - first;
    if (exponent > PAIR_EXPONENT_MAX)
        return NUMBER_OVERFLOW;
    if (exponent < PAIR_EXPONENT_MIN - 1)
        return NUMBER_UNDERFLOW;
    int digits = 2 * (last - first + 1) - (sum->wide[first] < 10) - (sum->wide[last] % 10 == 0);
    if (digits > LIMIT_DIGITS)
        return NUMBER_PRECISION;
    size_t at = encode_start(to, exponent);
    for (int i = first; i <= last; i++)
        to[at++] = (uint8_t)(2 * sum->wide[i] + 1);
    *size = encode_finish(to, at, sum->negative);
    return NUMBER_OK;
}

static enum number_fault add(struct arena *arena, struct bytes a, struct bytes b, bool negate_b,
                             struct bytes *out) {
    struct pairs left, right;
    struct sum sum;
    uint8_t encoded[NUMBER_MAX_SIZE];
    size_t size;
    if (is_zero(b)) {
        *out = a;
        return NUMBER_OK;
    }
    pairs_of(b, &right);
    right.negative ^= negate_b;
    if (is_zero(a))
        left = (struct pairs){.exponent = right.exponent, .negative = right.negative};
    else
        pairs_of(a, &left);
    sum_of(&left, &right, &sum);
    enum number_fault fault = sum_encode(&sum, encoded, &size);
    if (fault == NUMBER_OK)
        *out = arena_copy(arena, bytes_of(encoded, size));
    return fault;
}

enum number_fault number_add(struct arena *arena, struct bytes a, struct bytes b,
                             struct bytes *out) {
    return add(arena, a, b, false, out);
}

enum number_fault number_subtract(struct arena *arena, struct bytes a, struct bytes b,
                                  struct bytes *out) {
    return add(arena, a, b, true, out);
}

/* ---- machine numbers ---- */

struct bytes number_from_int(struct arena *arena, int64_t number) {
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    uint8_t encoded[NUMBER_MAX_SIZE];
    return arena_copy(arena, bytes_of(encoded, encode_whole(magnitude, number < 0, encoded)));
}

bool number_to_int(struct bytes number, int64_t *out) {
    struct pairs pairs;
    unsigned __int128 sum = 0;
    if (is_zero(number)) {
        *out = 0;
        return true;
    }
    pairs_of(number, &pairs);
    if (pairs.exponent < 0 || pairs.exponent > 9 || pairs.count > pairs.exponent + 1)
        return false;
    for (int i = 0; i <= pairs.exponent; i++)
        sum = sum * 100 + (i < pairs.count ? pairs.pair[i] : 0);
    if (sum > (uint64_t)INT64_MAX + (pairs.negative ? 1 : 0))
        return false;
    *out = (int64_t)(pairs.negative ? 0 - (uint64_t)sum : (uint64_t)sum);
    return true;
}

double number_to_double(struct bytes number) {
    char text[NUMBER_MAX_TEXT + 1];
    int64_t whole;
    if (number_to_int(number, &whole))
        return (double)whole;
    text[number_text(number, text)] = 0;
    return strtod(text, NULL);
}
