#include "table/local/bloom.h"

#include "base/mem.h"

#include <string.h>

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

static size_t words_of(size_t room) {
    return (room * KEY_BITS + BLOCK_BITS - 1) / BLOCK_BITS * BLOCK_WORDS;
}

/* Adds a part with room for so many keys; its words are zeros. */
static void add_part(struct bloom *bloom, unsigned at, size_t room, atomic_uint_fast64_t *words) {
    bloom->parts[at] =
        (struct bloom_part){.words = words, .blocks = words_of(room) / BLOCK_WORDS, .room = room};
    atomic_store_explicit(&bloom->part_count, at + 1, memory_order_release);
}

/* For how many keys the part behind the last one has room; 0: there may be none. */
static size_t next_room(const struct bloom *bloom) {
    unsigned count = atomic_load_explicit(&bloom->part_count, memory_order_relaxed);
    size_t all = 0, room = BLOOM_PART_MIN;
    for (unsigned i = 0; i < count; i++)
        all += bloom->parts[i].room;
    if (count != 0)
        room = bloom->parts[count - 1].room * GROWTH;
    if (count == BLOOM_PARTS_MAX || all >= BLOOM_KEYS_MAX)
        return 0;
    return room < BLOOM_KEYS_MAX - all ? room : BLOOM_KEYS_MAX - all;
}

/* Clears the next part's memory up to that word. */
static void clear_until(struct bloom_ahead *ahead, size_t end) {
    if (end > ahead->cleared)
        memset(ahead->words + ahead->cleared, 0, (end - ahead->cleared) * sizeof(*ahead->words));
    ahead->cleared = end > ahead->cleared ? end : ahead->cleared;
}

/* While the second half of a part is filled the next one is cleared, a page or so at a time. */
static void clear_ahead(struct bloom *bloom, const struct bloom_part *last) {
    enum { STEP = 1024 }; /* words */
    struct bloom_ahead *ahead = &bloom->ahead;
    size_t half = last->room / 2;
    if (last->count <= half)
        return;
    if (ahead->words == NULL) {
        size_t room = next_room(bloom);
        if (room == 0)
            return;
        *ahead = (struct bloom_ahead){.room = room};
        ahead->words = mem_alloc(words_of(room) * sizeof(*ahead->words));
    }
    size_t all = words_of(ahead->room);
    size_t due = (size_t)((double)all * (double)(last->count - half) / (double)half);
    if (due >= ahead->cleared + STEP)
        clear_until(ahead, due < all ? due : all);
}

/* The part that takes the next key, or NULL if there may be no more. */
static struct bloom_part *part_with_room(struct bloom *bloom) {
    unsigned count = atomic_load_explicit(&bloom->part_count, memory_order_relaxed);
    if (count != 0 && bloom->parts[count - 1].count < bloom->parts[count - 1].room)
        return &bloom->parts[count - 1];
    size_t room = next_room(bloom);
    if (room == 0)
        return NULL;
    if (bloom->ahead.words == NULL) {
        bloom->ahead.room = room;
        bloom->ahead.words = mem_alloc(words_of(room) * sizeof(*bloom->ahead.words));
    }
    clear_until(&bloom->ahead, words_of(room));
    add_part(bloom, count, room, bloom->ahead.words);
    bloom->ahead = (struct bloom_ahead){0};
    return &bloom->parts[count];
}

void bloom_reserve(struct bloom *bloom, size_t keys) {
    size_t room = keys < BLOOM_PART_MIN ? BLOOM_PART_MIN : keys;
    add_part(bloom, 0, room, mem_zalloc(words_of(room) * sizeof(atomic_uint_fast64_t)));
}

void bloom_release(struct bloom *bloom) {
    for (unsigned i = 0; i < atomic_load(&bloom->part_count); i++)
        mem_free(bloom->parts[i].words);
    mem_free(bloom->ahead.words);
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
    clear_ahead(bloom, part);
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
