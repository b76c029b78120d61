/* Decimal text to encoded numbers and back, and checking what claims to be one. */
#include "value/number.h"

#include "base/limits.h"
#include "value/number_form.h"

enum {
    EXPONENT_MAX = 125, /* of the leading digit */
    EXPONENT_MIN = -130,
    EXPONENT_FAR = 1 << 30,
    WHOLE_PAIRS = 9, /* of number_text_whole() */
};

/* digits[0] . digits[1] digits[2] ... times 10^exponent; neither the first nor the last digit is
 * zero. No digits: zero, whose exponent is 0 whatever was written. */
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
    to->exponent = to->count == 0 ? 0 : exponent + (scan.whole > 0 ? scan.whole : -scan.lost) - 1;
    return at == end;
}

/* ---- the encoding ---- */

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

/* Whether the pairs from first to last are such, and only the last one is marked as that. */
static inline bool are_pairs(const uint8_t *first, const uint8_t *last, uint8_t mask) {
    unsigned pair = (uint8_t)(*last ^ mask), odd = 1, highest = pair;
    if ((pair & 1) != 0)
        return false;
    for (const uint8_t *at = first; at < last; at++) {
        pair = (uint8_t)(*at ^ mask);
        odd &= pair;
        highest = pair > highest ? pair : highest;
    }
    return odd != 0 && highest <= PAIR_BYTE_MAX;
}

/* Whether the first byte, and pairs of which `last` is the last, are the only form of a number. */
static inline bool is_canonical(const uint8_t *head, const uint8_t *last, uint8_t mask) {
    const uint8_t *first = head + 1;
    bool smallest = (*head ^ mask) == 0x81;
    if (*head == 0x7f)
        return false;
    if ((*first ^ mask) == 1 && smallest)
        first++;
    if ((*first ^ mask) <= 1 || (*last ^ mask) == 0)
        return false;
    return last - first < LIMIT_DIGITS / 2 || count_digits(first, last, mask) <= LIMIT_DIGITS;
}

size_t number_span(struct bytes bytes) {
    if (bytes.size == 0)
        return 0;
    if (is_zero(bytes))
        return 1;
    uint8_t mask = sign_mask(bytes);
    size_t most = bytes.size < NUMBER_MAX_SIZE ? bytes.size : NUMBER_MAX_SIZE;
    for (size_t i = 1; i < most; i++) {
        uint8_t pair = bytes.data[i] ^ mask;
        if (pair > PAIR_BYTE_MAX)
            return 0;
        if ((pair & 1) == 0)
            return is_canonical(bytes.data, bytes.data + i, mask) ? i + 1 : 0;
    }
    return 0;
}

bool number_valid(struct bytes bytes) {
    if (bytes.size < 2)
        return bytes.size == 1 && is_zero(bytes);
    uint8_t mask = sign_mask(bytes);
    const uint8_t *last = bytes.data + bytes.size - 1;
    return !is_zero(bytes) && are_pairs(bytes.data + 1, last, mask) &&
           is_canonical(bytes.data, last, mask);
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

/* Two digits of each pair, one behind the other. */
static const char pair_digits[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

/* The digits as characters, and the exponent of the first of them. Returns how many. */
static inline int number_digits(struct bytes number, char *to, int *exponent) {
    uint8_t mask = sign_mask(number);
    const uint8_t *at = number.data + 1, *end = number.data + number.size;
    int pair_exponent = (number.data[0] ^ mask) - FIRST_BIAS;
    char *start = to;
    if ((*at ^ mask) == 1) {
        pair_exponent--;
        at++;
    }
    unsigned pair = (unsigned)(*at++ ^ mask) >> 1;
    *exponent = 2 * pair_exponent + (pair >= 10);
    if (pair >= 10)
        *to++ = pair_digits[2 * pair];
    *to++ = pair_digits[2 * pair + 1];
    for (; at < end; at++, to += 2)
        memcpy(to, &pair_digits[(*at ^ mask) & 0xfe], 2);
    return (int)(to - start) - (to[-1] == '0');
}

/* Moves the digits that stand at `to` behind "0." and zeros. */
static size_t text_fraction(char *to, int count, int exponent) {
    size_t zeros = (size_t)(-exponent - 1);
    memmove(to + 2 + zeros, to, (size_t)count);
    memcpy(to, "0.", 2);
    memset(to + 2, '0', zeros);
    return 2 + zeros + (size_t)count;
}

/* The digits are written where they belong in a whole number, and moved if it is none. */
size_t number_text(struct bytes number, char *to) {
    char *start = to;
    int exponent, count, whole;
    if (is_zero(number)) {
        *to = '0';
        return 1;
    }
    if (sign_mask(number) != 0)
        *to++ = '-';
    count = number_digits(number, to, &exponent);
    if (exponent < 0)
        return (size_t)(to - start) + text_fraction(to, count, exponent);
    whole = exponent + 1;
    for (; count < whole; count++)
        to[count] = '0';
    if (whole == count)
        return (size_t)(to - start) + (size_t)whole;
    memmove(to + whole + 1, to + whole, (size_t)(count - whole));
    to[whole] = '.';
    return (size_t)(to - start) + (size_t)count + 1;
}

size_t number_text_whole(struct bytes bytes, char *to) {
    if (bytes.size < 2) {
        *to = '0';
        return bytes.size == 1 && is_zero(bytes);
    }
    const uint8_t *at = bytes.data + 1, *last = bytes.data + bytes.size - 1;
    /* Pairs that a number has before its point: one that is not whole has more in all. */
    unsigned whole = bytes.data[0] - (FIRST_BIAS - 1u), few = *at < 2 * 10;
    if (bytes.data[0] < FIRST_BIAS || whole > WHOLE_PAIRS || bytes.size - 1 > whole || *at <= 1 ||
        *last == 0)
        return 0;
    char *out = to;
    for (unsigned skip = few; at <= last; at++, skip = 0) {
        if ((*at & 1) == (at == last) || *at > PAIR_BYTE_MAX) /* the last one is even */
            return 0;
        out[0] = pair_digits[(*at & 0xfe) + skip]; /* a first pair under 10 is one digit */
        out[1] = pair_digits[*at | 1];
        out += 2 - skip;
    }
    size_t size = 2 * (size_t)whole - few;
    for (; out < to + size; out += 2)
        memcpy(out, "00", 2);
    return size;
}

void number_write(struct buf *buf, struct bytes number) {
    buf->size += number_text(number, (char *)buf_reserve(buf, NUMBER_MAX_TEXT));
}
