/* Private to value/: the parts of a number's encoding (number.h) that reading and arithmetic share.
 */
#ifndef GT_VALUE_NUMBER_FORM_H
#define GT_VALUE_NUMBER_FORM_H

#include "base/limits.h"
#include "value/number.h"

enum {
    PAIR_EXPONENT_MAX = 62,
    PAIR_EXPONENT_MIN = -64, /* one below it is written with a leading pair of zero */
    PAIRS_MAX = LIMIT_DIGITS / 2 + 1,
    ZERO = 0x80,
    PAIR_BYTE_MAX = 2 * 99 + 1, /* 99, with others behind it */
    FIRST_BIAS = 0x81 - PAIR_EXPONENT_MIN,
};

/* What turns the bytes into those of the magnitude: xor each with it. */
static inline uint8_t sign_mask(struct bytes number) {
    return number.data[0] < ZERO ? 0xff : 0;
}

static inline bool is_zero(struct bytes number) {
    return number.data[0] == ZERO;
}

static inline size_t encode_zero(uint8_t *to) {
    to[0] = ZERO;
    return 1;
}

/* Where the sign is applied and the last pair marked. */
static inline size_t encode_finish(uint8_t *to, size_t size, bool negative) {
    to[size - 1] &= 0xfe;
    if (negative)
        for (size_t i = 0; i < size; i++)
            to[i] = (uint8_t)~to[i];
    return size;
}

/* Writes the first byte, and the zero pair that the smallest magnitudes begin with. */
static inline size_t encode_start(uint8_t *to, int pair_exponent) {
    if (pair_exponent < PAIR_EXPONENT_MIN) {
        to[0] = 0x81;
        to[1] = 1;
        return 2;
    }
    to[0] = (uint8_t)(pair_exponent + FIRST_BIAS);
    return 1;
}

static inline size_t encode_whole(uint64_t magnitude, bool negative, uint8_t *to) {
    uint8_t pairs[10];
    int count = 0, skip = 0;
    for (; magnitude != 0; magnitude /= 100)
        pairs[count++] = (uint8_t)(magnitude % 100);
    if (count == 0)
        return encode_zero(to);
    while (skip + 1 < count && pairs[skip] == 0)
        skip++;
    size_t size = encode_start(to, count - 1);
    for (int i = count - 1; i >= skip; i--)
        to[size++] = (uint8_t)(2 * pairs[i] + 1);
    return encode_finish(to, size, negative);
}

#endif
