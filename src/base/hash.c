#include "base/hash.h"

#include "base/random.h"

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

/* --- SipHash-1-3: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, with one round
 * a word and three at the end, as the tables of Rust and Python have it --- */

static inline uint64_t rotate_left(uint64_t word, int by) {
    return word << by | word >> (64 - by);
}

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline struct sip sip_round(struct sip s) {
    s.v0 += s.v1;
    s.v1 = rotate_left(s.v1, 13) ^ s.v0;
    s.v0 = rotate_left(s.v0, 32);
    s.v2 += s.v3;
    s.v3 = rotate_left(s.v3, 16) ^ s.v2;
    s.v0 += s.v3;
    s.v3 = rotate_left(s.v3, 21) ^ s.v0;
    s.v2 += s.v1;
    s.v1 = rotate_left(s.v1, 17) ^ s.v2;
    s.v2 = rotate_left(s.v2, 32);
    return s;
}

static inline struct sip sip_word(struct sip s, uint64_t word) {
    s.v3 ^= word;
    s = sip_round(s);
    s.v0 ^= word;
    return s;
}

static inline uint64_t sip_hash(struct hash_key key, struct bytes b) {
    struct sip s = {key.k0 ^ 0x736f6d6570736575, key.k1 ^ 0x646f72616e646f6d,
                    key.k0 ^ 0x6c7967656e657261, key.k1 ^ 0x7465646279746573};
    const uint8_t *at = b.data;
    size_t left = b.size;
    for (; left >= 8; left -= 8, at += 8)
        s = sip_word(s, load64(at));
    uint64_t tail = left != 0 ? load_tail(at, left) : 0;
    s = sip_word(s, tail | (uint64_t)b.size << 56);
    s.v2 ^= 0xff;
    s = sip_round(sip_round(sip_round(s)));
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t hash_siphash13(struct hash_key key, struct bytes b) {
    return sip_hash(key, b);
}

static struct hash_key process_key;

/* Before main(), so that no reader has to ask whether there is a key. */
__attribute__((constructor)) static void draw_process_key(void) {
    random_secure(&process_key, sizeof(process_key));
}

uint64_t hash_keyed(struct bytes b, uint64_t seed) {
    return sip_hash((struct hash_key){process_key.k0 ^ seed, process_key.k1}, b);
}

/* --- the stable one --- */

/* Folds the full 128-bit product onto 64 bits: each input bit reaches each output bit. */
static inline uint64_t mix(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static const uint64_t k0 = 0x9e3779b97f4a7c15, k1 = 0xd1b54a32d192ed03, k2 = 0x8cb92ba72f3d8dd7;

uint64_t hash_stable(struct bytes b, uint64_t seed) {
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

/* Mixes the same word into both lanes. */
static inline struct hash_two mix_two(struct hash_two h, uint64_t word, uint64_t with) {
    return (struct hash_two){{mix(word ^ h.at[0], with), mix(word ^ h.at[1], with)}};
}

struct hash_two hash_stable_two(struct bytes b, struct hash_two seeds) {
    struct hash_two h = mix_two(seeds, k0, (uint64_t)b.size ^ k1);
    size_t at = 0;
    for (; at + 16 <= b.size; at += 16)
        h = mix_two(h, load64(b.data + at), load64(b.data + at + 8) ^ k1);
    if (at + 8 <= b.size) {
        h = mix_two(h, load64(b.data + at), k2);
        at += 8;
    }
    if (at < b.size)
        h = mix_two(h, load_tail(b.data + at, b.size - at), k1);
    return mix_two(h, k2, k0);
}

static inline uint64_t hash_words(uint64_t a, uint64_t b, uint64_t seed) {
    uint64_t h = mix(seed ^ k0, 16 ^ k1);
    return mix(mix(a ^ h, b ^ k1) ^ k2, k0);
}

struct hash_two hash_stable_words(struct hash_two a, struct hash_two b, struct hash_two seeds) {
    return (struct hash_two){
        {hash_words(a.at[0], b.at[0], seeds.at[0]), hash_words(a.at[1], b.at[1], seeds.at[1])}};
}
