#include "base/bytes.h"

size_t bytes_find(struct bytes whole, struct bytes part) {
    if (part.size == 0)
        return 0;
    if (whole.size < part.size) /* also keeps memmem() from the empty run's NULL */
        return SIZE_MAX;
    const uint8_t *at = memmem(whole.data, whole.size, part.data, part.size);
    return at == NULL ? SIZE_MAX : (size_t)(at - whole.data);
}

/* The lowest byte first, whatever the processor's own order is. */
static inline uint64_t load64(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t load32(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/* 1 to 7 bytes as such a number. Pieces that overlap agree where they do. */
static inline uint64_t load_tail(const uint8_t *p, size_t size) {
    if (size >= 4)
        return load32(p) | load32(p + size - 4) << (8 * (size - 4));
    return p[0] | (uint64_t)p[size / 2] << (8 * (size / 2)) |
           (uint64_t)p[size - 1] << (8 * (size - 1));
}

/* Folds the full 128-bit product onto 64 bits: each input bit reaches each output bit. */
static inline uint64_t mix(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t bytes_hash(struct bytes b, uint64_t seed) {
    const uint64_t k0 = 0x9e3779b97f4a7c15, k1 = 0xd1b54a32d192ed03, k2 = 0x8cb92ba72f3d8dd7;
    uint64_t h = mix(seed ^ k0, (uint64_t)b.size ^ k1);
    size_t at = 0;
    for (; at + 16 <= b.size; at += 16)
        h = mix(load64(b.data + at) ^ h, load64(b.data + at + 8) ^ k1);
    if (at + 8 <= b.size) {
        h = mix(load64(b.data + at) ^ h, k2);
        at += 8;
    }
    if (at < b.size)
        h = mix(load_tail(b.data + at, b.size - at) ^ h, k1);
    return mix(h ^ k2, k0);
}
