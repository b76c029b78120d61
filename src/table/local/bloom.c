#include "table/local/bloom.h"

#include "base/mem.h"

enum {
    GROWTH = 4,
    KEY_BITS = 16,
    BLOCK_BITS = 512,
    BLOCK_WORDS = BLOCK_BITS / 64,
    PROBES = 6,
    PROBE_BITS = 9, /* of the hash, that say which bit of a block */
};

static atomic_uint_fast64_t *block_of(const struct bloom_part *part, uint64_t hash) {
    return part->words + ((hash >> 32) * part->blocks >> 32) * BLOCK_WORDS;
}

/* The bits of a key in its block, PROBE_BITS for each. */
static uint64_t bits_of(uint64_t hash) {
    return hash * 0x9e3779b97f4a7c15u;
}

static bool block_has(const atomic_uint_fast64_t *block, uint64_t bits) {
    for (unsigned i = 0; i < PROBES; i++, bits >>= PROBE_BITS) {
        uint64_t word =
            atomic_load_explicit(&block[bits >> 6 & (BLOCK_WORDS - 1)], memory_order_relaxed);
        if ((word >> (bits & 63) & 1) == 0)
            return false;
    }
    return true;
}

/* Only the thread that adds writes, so that setting a bit need not be one step. */
static void block_add(atomic_uint_fast64_t *block, uint64_t bits) {
    for (unsigned i = 0; i < PROBES; i++, bits >>= PROBE_BITS) {
        atomic_uint_fast64_t *word = &block[bits >> 6 & (BLOCK_WORDS - 1)];
        uint64_t now = atomic_load_explicit(word, memory_order_relaxed);
        atomic_store_explicit(word, now | UINT64_C(1) << (bits & 63), memory_order_relaxed);
    }
}

static void add_part(struct bloom *bloom, unsigned at, size_t room) {
    size_t blocks = (room * KEY_BITS + BLOCK_BITS - 1) / BLOCK_BITS;
    bloom->parts[at] = (struct bloom_part){
        .words = mem_zalloc(blocks * BLOCK_WORDS * sizeof(atomic_uint_fast64_t)),
        .blocks = blocks,
        .room = room,
    };
    atomic_store_explicit(&bloom->part_count, at + 1, memory_order_release);
}

/* The part that takes the next key, or NULL if there may be no more. */
static struct bloom_part *part_with_room(struct bloom *bloom) {
    unsigned count = atomic_load_explicit(&bloom->part_count, memory_order_relaxed);
    size_t added = bloom_count(bloom), room = BLOOM_PART_MIN;
    if (count != 0) {
        struct bloom_part *last = &bloom->parts[count - 1];
        if (last->count < last->room)
            return last;
        room = last->room * GROWTH;
    }
    if (count == BLOOM_PARTS_MAX || added >= BLOOM_KEYS_MAX)
        return NULL;
    add_part(bloom, count, room < BLOOM_KEYS_MAX - added ? room : BLOOM_KEYS_MAX - added);
    return &bloom->parts[count];
}

void bloom_reserve(struct bloom *bloom, size_t keys) {
    add_part(bloom, 0, keys < BLOOM_PART_MIN ? BLOOM_PART_MIN : keys);
}

void bloom_release(struct bloom *bloom) {
    for (unsigned i = 0; i < atomic_load(&bloom->part_count); i++)
        mem_free(bloom->parts[i].words);
    *bloom = (struct bloom){0};
}

bool bloom_has(const struct bloom *bloom, uint64_t hash) {
    uint64_t bits = bits_of(hash);
    for (unsigned i = atomic_load_explicit(&bloom->part_count, memory_order_acquire); i-- > 0;)
        if (block_has(block_of(&bloom->parts[i], hash), bits))
            return true;
    return false;
}

bool bloom_add(struct bloom *bloom, uint64_t hash) {
    if (bloom_has(bloom, hash))
        return true;
    struct bloom_part *part = part_with_room(bloom);
    if (part == NULL)
        return false;
    block_add(block_of(part, hash), bits_of(hash));
    part->count++;
    return true;
}

void bloom_prefetch(const struct bloom *bloom, uint64_t hash) {
    for (unsigned i = atomic_load_explicit(&bloom->part_count, memory_order_acquire); i-- > 0;)
        __builtin_prefetch((const void *)block_of(&bloom->parts[i], hash));
}

size_t bloom_count(const struct bloom *bloom) {
    size_t count = 0;
    for (unsigned i = 0; i < atomic_load_explicit(&bloom->part_count, memory_order_relaxed); i++)
        count += bloom->parts[i].count;
    return count;
}
