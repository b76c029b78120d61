#include "base/base64.h"

#define SHARED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
/* The six bits of each letter plus one, so that 0 marks what is none. */
#define L(letter, bits) [letter] = (bits) + 1
#define SHARED_LETTERS                                                                      \
    L('A', 0), L('B', 1), L('C', 2), L('D', 3), L('E', 4), L('F', 5), L('G', 6), L('H', 7), \
        L('I', 8), L('J', 9), L('K', 10), L('L', 11), L('M', 12), L('N', 13), L('O', 14),   \
        L('P', 15), L('Q', 16), L('R', 17), L('S', 18), L('T', 19), L('U', 20), L('V', 21), \
        L('W', 22), L('X', 23), L('Y', 24), L('Z', 25), L('a', 26), L('b', 27), L('c', 28), \
        L('d', 29), L('e', 30), L('f', 31), L('g', 32), L('h', 33), L('i', 34), L('j', 35), \
        L('k', 36), L('l', 37), L('m', 38), L('n', 39), L('o', 40), L('p', 41), L('q', 42), \
        L('r', 43), L('s', 44), L('t', 45), L('u', 46), L('v', 47), L('w', 48), L('x', 49), \
        L('y', 50), L('z', 51), L('0', 52), L('1', 53), L('2', 54), L('3', 55), L('4', 56), \
        L('5', 57), L('6', 58), L('7', 59), L('8', 60), L('9', 61)

struct alphabet {
    const char *letters;
    uint8_t bits_of[256];
};

static const struct alphabet plain = {SHARED "+/", {SHARED_LETTERS, L('+', 62), L('/', 63)}};
static const struct alphabet url = {SHARED "-_", {SHARED_LETTERS, L('-', 62), L('_', 63)}};

/* --- writing --- */

static inline void put_letters(uint8_t *to, const char *letters, uint32_t bits, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)letters[bits >> (18 - 6 * i) & 63];
}

/* Into room for a whole number of groups of four; how many letters that were. */
static inline size_t encode(uint8_t *to, const char *letters, struct bytes bytes) {
    const uint8_t *at = bytes.data;
    uint8_t *out = to;
    size_t left = bytes.size;
    for (; left >= 3; left -= 3, at += 3, out += 4)
        put_letters(out, letters, (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2], 4);
    if (left == 0)
        return (size_t)(out - to);
    uint32_t bits = (uint32_t)at[0] << 16 | (left == 2 ? (uint32_t)at[1] << 8 : 0);
    put_letters(out, letters, bits, left + 1);
    return (size_t)(out - to) + left + 1;
}

void base64_put(struct buf *to, struct bytes bytes) {
    size_t whole = (bytes.size + 2) / 3 * 4;
    if (whole == 0)
        return;
    uint8_t *out = buf_reserve(to, whole);
    for (size_t size = encode(out, plain.letters, bytes); size < whole; size++)
        out[size] = '=';
    to->size += whole;
}

void base64url_put(struct buf *to, struct bytes bytes) {
    if (bytes.size == 0)
        return;
    uint8_t *out = buf_reserve(to, (bytes.size + 2) / 3 * 4);
    to->size += encode(out, url.letters, bytes);
}

/* --- reading --- */

/* Up to four letters as 24 bits, left-aligned; false if one is no letter. */
static inline bool take_letters(const uint8_t *at, const uint8_t *bits_of, size_t count,
                                uint32_t *out) {
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

static inline uint8_t *put_bytes(uint8_t *to, uint32_t bits, size_t count) {
    for (size_t i = 0; to != NULL && i < count; i++)
        *to++ = (uint8_t)(bits >> (16 - 8 * i));
    return to;
}

/* Letters without padding into `to`, which has room for `decoded_size()`; just a check when it is
 * NULL. */
static inline bool decode(struct bytes text, const uint8_t *bits_of, uint8_t *to) {
    uint32_t bits;
    for (; text.size >= 4; text = bytes_skip(text, 4)) {
        if (!take_letters(text.data, bits_of, 4, &bits))
            return false;
        to = put_bytes(to, bits, 3);
    }
    if (text.size == 0)
        return true;
    if (text.size == 1 || !take_letters(text.data, bits_of, text.size, &bits))
        return false;
    put_bytes(to, bits, text.size - 1);
    return (bits & ((1u << (8 * (4 - text.size))) - 1)) == 0;
}

static size_t decoded_size(struct bytes text) {
    return text.size / 4 * 3 + (text.size % 4 > 1 ? text.size % 4 - 1 : 0);
}

static bool read_letters(struct bytes text, const uint8_t *bits_of, struct arena *arena,
                         struct bytes *out) {
    size_t size = decoded_size(text);
    *out = (struct bytes){0};
    if (text.size == 0)
        return true;
    uint8_t *to = arena_alloc(arena, size + 1);
    if (!decode(text, bits_of, to))
        return false;
    *out = bytes_of(to, size);
    return true;
}

/* Takes the padding off. False if the size cannot be. */
static bool take_padding(struct bytes *text) {
    if (text->size % 4 != 0)
        return false;
    for (int i = 0; i < 2 && text->size != 0 && text->data[text->size - 1] == '='; i++)
        text->size--;
    return true;
}

bool base64_valid(struct bytes text) {
    return take_padding(&text) && decode(text, plain.bits_of, NULL);
}

bool base64_read(struct bytes text, struct arena *arena, struct bytes *out) {
    return take_padding(&text) && read_letters(text, plain.bits_of, arena, out);
}

bool base64url_read(struct bytes text, struct arena *arena, struct bytes *out) {
    return read_letters(text, url.bits_of, arena, out);
}
