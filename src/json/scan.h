/* Private to json/: finding the bytes of a string that need a look, many at a time. */
#ifndef GT_JSON_SCAN_H
#define GT_JSON_SCAN_H

#include "base/utf8.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

/* The high bit of each byte that is a quote, a backslash, a control character or not ASCII. The
 * lowest bit set is exact; borrows may set bits above it that mean nothing. */
static inline uint64_t scan_special(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
    uint64_t hits = ((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
                    ((word - ones * 0x20) & ~word) | word;
    return hits & highs;
}

static inline uint64_t scan_load(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

#ifdef __SSE2__
/* The same for 16 bytes, exactly, one bit a byte. As signed numbers, bytes that are not ASCII are
 * less than a blank too. */
static inline unsigned scan_special16(__m128i bytes) {
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    __m128i control = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), control));
}

static inline __m128i scan_load16(const uint8_t *at) {
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}
#endif

static inline bool scan_is_plain(uint8_t byte) {
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* The first byte from `at` on that is not plain, or `end`. */
static inline const uint8_t *scan_plain(const uint8_t *at, const uint8_t *end) {
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        unsigned special = scan_special16(scan_load16(at));
        if (special != 0)
            return at + __builtin_ctz(special);
    }
#endif
    for (; end - at >= 8; at += 8) {
        uint64_t special = scan_special(scan_load(at));
        if (special != 0)
            return at + (__builtin_ctzll(special) >> 3);
    }
    while (at < end && scan_is_plain(*at))
        at++;
    return at;
}

/* Where a special byte is that was found at `at` in two pieces, of half as many bytes each as
 * `both`, of which the first is the beginning of `size` bytes and the second their end. */
static inline size_t scan_place(size_t at, size_t both, size_t size) {
    return at < both / 2 ? at : size - both + at;
}

/* Copies 8 to 15 bytes, as two words that overlap. */
static inline size_t scan_copy_words(uint8_t *to, const uint8_t *at, size_t size) {
    uint64_t head = scan_load(at), tail = scan_load(at + size - 8);
    memcpy(to, &head, 8);
    memcpy(to + size - 8, &tail, 8);
#ifdef __SSE2__
    unsigned special = scan_special16(_mm_set_epi64x((long long)tail, (long long)head));
    return special == 0 ? size : scan_place((size_t)__builtin_ctz(special), 16, size);
#else
    size_t first = 0;
    uint64_t special = scan_special(head);
    if (special == 0) {
        special = scan_special(tail);
        first = 8;
    }
    return special == 0 ? size
                        : scan_place(first + ((size_t)__builtin_ctzll(special) >> 3), 16, size);
#endif
}

/* Copies fewer than 8, from 4 on as two halves of a word that overlap. */
static inline size_t scan_copy_few(uint8_t *to, const uint8_t *at, size_t size) {
    size_t done = 0;
    if (size >= 4) {
        uint32_t head, tail;
        memcpy(&head, at, 4);
        memcpy(&tail, at + size - 4, 4);
        memcpy(to, &head, 4);
        memcpy(to + size - 4, &tail, 4);
        uint64_t special = scan_special(head | (uint64_t)tail << 32);
        return special == 0 ? size : scan_place((size_t)__builtin_ctzll(special) >> 3, 8, size);
    }
    for (; done < size && scan_is_plain(at[done]); done++)
        to[done] = at[done];
    return done;
}

/* Copies bytes as long as they are plain and says how many are. `to` has room for all of them; what
 * stands there past the plain ones means nothing. */
static inline size_t scan_copy(uint8_t *to, const uint8_t *at, size_t size) {
    size_t done = 0;
    if (size == 0) /* `at` may be NULL then */
        return 0;
#ifdef __SSE2__
    for (; size - done >= 16; done += 16) {
        __m128i bytes = scan_load16(at + done);
        unsigned special = scan_special16(bytes);
        _mm_storeu_si128((__m128i *)(void *)(to + done), bytes);
        if (special != 0)
            return done + (size_t)__builtin_ctz(special);
    }
#else
    for (; size - done >= 16; done += 8) {
        uint64_t word = scan_load(at + done), special = scan_special(word);
        memcpy(to + done, &word, 8);
        if (special != 0)
            return done + ((size_t)__builtin_ctzll(special) >> 3);
    }
#endif
    size_t left = size - done;
    return done + (left >= 8 ? scan_copy_words(to + done, at + done, left)
                             : scan_copy_few(to + done, at + done, left));
}

#endif
