#include "json/json.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The six bits of each letter plus one, so that 0 marks what is none. */
static const uint8_t bits_of[256] = {
#define L(letter, bits) [letter] = (bits) + 1
    L('A', 0),  L('B', 1),  L('C', 2),  L('D', 3),  L('E', 4),  L('F', 5),  L('G', 6),  L('H', 7),
    L('I', 8),  L('J', 9),  L('K', 10), L('L', 11), L('M', 12), L('N', 13), L('O', 14), L('P', 15),
    L('Q', 16), L('R', 17), L('S', 18), L('T', 19), L('U', 20), L('V', 21), L('W', 22), L('X', 23),
    L('Y', 24), L('Z', 25), L('a', 26), L('b', 27), L('c', 28), L('d', 29), L('e', 30), L('f', 31),
    L('g', 32), L('h', 33), L('i', 34), L('j', 35), L('k', 36), L('l', 37), L('m', 38), L('n', 39),
    L('o', 40), L('p', 41), L('q', 42), L('r', 43), L('s', 44), L('t', 45), L('u', 46), L('v', 47),
    L('w', 48), L('x', 49), L('y', 50), L('z', 51), L('0', 52), L('1', 53), L('2', 54), L('3', 55),
    L('4', 56), L('5', 57), L('6', 58), L('7', 59), L('8', 60), L('9', 61), L('+', 62), L('/', 63),
#undef L
};

static inline void put_letters(uint8_t *to, uint32_t bits, int count) {
    for (int i = 0; i < count; i++)
        to[i] = (uint8_t)letters[bits >> (18 - 6 * i) & 63];
}

void base64_put(struct buf *to, struct bytes bytes) {
    if (bytes.size == 0)
        return;
    uint8_t *out = buf_reserve(to, (bytes.size + 2) / 3 * 4);
    const uint8_t *at = bytes.data;
    size_t left = bytes.size;
    to->size += (bytes.size + 2) / 3 * 4;
    for (; left >= 3; left -= 3, at += 3, out += 4)
        put_letters(out, (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2], 4);
    if (left == 0)
        return;
    memset(out, '=', 4);
    put_letters(out, (uint32_t)at[0] << 16 | (left == 2 ? (uint32_t)at[1] << 8 : 0), (int)left + 1);
}

/* Up to four letters as 24 bits, left-aligned; false if one is no letter. */
static inline bool take_letters(const uint8_t *at, size_t count, uint32_t *out) {
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t six = bits_of[at[i]];
        if (six == 0)
            return false;
        bits |= (uint32_t)(six - 1) << (18 - 6 * i);
    }
    *out = bits;
    return true;
}

static size_t padding(struct bytes text) {
    if (text.data[text.size - 1] != '=')
        return 0;
    return text.data[text.size - 2] == '=' ? 2 : 1;
}

/* Decodes into `to`, or just checks when it is NULL. */
static bool decode(struct bytes text, uint8_t *to, size_t *size) {
    size_t pad = padding(text);
    const uint8_t *at = text.data, *last = at + text.size - 4;
    uint32_t bits;
    for (; at < last; at += 4) {
        if (!take_letters(at, 4, &bits))
            return false;
        if (to != NULL) {
            *to++ = (uint8_t)(bits >> 16);
            *to++ = (uint8_t)(bits >> 8);
            *to++ = (uint8_t)bits;
        }
    }
    /* The bits that no byte takes must be zero, so that each value has one spelling. */
    if (!take_letters(last, 4 - pad, &bits) || (bits & ((1u << (8 * pad)) - 1)) != 0)
        return false;
    for (size_t i = 0; to != NULL && i < 3 - pad; i++)
        *to++ = (uint8_t)(bits >> (16 - 8 * i));
    *size = text.size / 4 * 3 - pad;
    return true;
}

bool base64_valid(struct bytes text) {
    size_t size;
    return text.size % 4 == 0 && (text.size == 0 || decode(text, NULL, &size));
}

bool base64_read(struct bytes text, struct arena *arena, struct bytes *out) {
    size_t size;
    if (text.size % 4 != 0)
        return false;
    if (text.size == 0) {
        *out = (struct bytes){0};
        return true;
    }
    uint8_t *to = arena_alloc(arena, text.size / 4 * 3);
    if (!decode(text, to, &size))
        return false;
    *out = bytes_of(to, size);
    return true;
}
