/* Arithmetic on numbers, by base-100 pairs, and conversion to and from machine numbers. */
#include "value/number.h"

#include "value/number_form.h"

#include <assert.h>
#include <stdlib.h>

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
    uint8_t mask = sign_mask(number);
    const uint8_t *at = number.data + 1, *end = number.data + number.size;
    int exponent = (number.data[0] ^ mask) - FIRST_BIAS;
    uint64_t sum = 0;
    if (is_zero(number)) {
        *out = 0;
        return true;
    }
    if (at < end && (*at ^ mask) == 1) {
        exponent--;
        at++;
    }
    if (exponent < 0 || exponent > 9 || end - at > exponent + 1)
        return false;
    for (; exponent > 0; exponent--) /* nine pairs at most */
        sum = sum * 100 + (at < end ? (uint8_t)(*at++ ^ mask) >> 1 : 0);
    uint8_t last = at < end ? (uint8_t)(*at ^ mask) >> 1 : 0;
    if (__builtin_mul_overflow(sum, 100, &sum) || __builtin_add_overflow(sum, last, &sum))
        return false;
    if (sum > (uint64_t)INT64_MAX + (mask != 0))
        return false;
    *out = (int64_t)(mask != 0 ? 0 - sum : sum);
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
