/* A table of some thousand parts, each a small hash table of its own (open addresses, linear
 * probes, deletion by shifting back), so that growing stops nobody for long. The first bits of the
 * hash say which part, 31 others are the slot's tag, and where a slot would like to be follows
 * from its tag alone: a part grows and shrinks without knowing the items.
 *
 *   slot   tag u31, covers u1 (the lowest bit), size u8, middle[width]
 *
 * `width` is a part's own, as wide as its longest middle needs. Numbers that are zero end most
 * middles; their encoding is one byte, 0x80, so these are left out and counted:
 *
 *   size   0: free    1..: bytes kept, plus one, in the lower six bits; 0x80s left out above
 *          0xff: too long to be kept
 */
#include "table/local/entry_hash.h"

#include "base/mem.h"

#include <assert.h>

enum {
    PART_BITS = ENTRY_HASH_APART_BITS,
    PARTS = 1 << PART_BITS,
    ROOM_LEAST = 4,
    SLOT_HEAD = 5,
    KEPT_MAX = 61, /* bytes of a middle */
    KEPT_BITS = 6,
    ZERO = 0x80,
    ZEROS_MAX = 3,
    TOO_LONG = 0xff,
    COVERS = 1, /* the bit beside the tag */
};

struct part {
    uint8_t *slots;
    uint32_t count, room;
    uint32_t width;
};

struct entry_hash {
    struct entry_hash_sums sums; /* entries, and bytes of memory */
    struct part parts[PARTS];
};

/* A middle as it is kept. */
struct kept {
    uint8_t size;
    uint32_t width; /* bytes that must be kept */
    const uint8_t *data;
};

static struct kept kept_of(struct bytes middle) {
    size_t size = middle.size, zeros = 0;
    assert(size != 0);
    while (zeros < ZEROS_MAX && size > 0 && middle.data[size - 1] == ZERO) {
        size--;
        zeros++;
    }
    if (size > KEPT_MAX)
        return (struct kept){.size = TOO_LONG};
    return (struct kept){(uint8_t)(zeros << KEPT_BITS | (size + 1)), (uint32_t)size, middle.data};
}

/* --- slots --- */

static inline uint8_t *slot_of(const struct part *part, size_t at) {
    return part->slots + at * (SLOT_HEAD + part->width);
}

/* The tag and the bit beside it. */
static inline uint32_t word_of(const uint8_t *slot) {
    uint32_t word;
    memcpy(&word, slot, sizeof word);
    return word;
}

static inline uint32_t tag_of(const uint8_t *slot) {
    return word_of(slot) & ~(uint32_t)COVERS;
}

static inline uint32_t tag_of_hash(uint64_t hash) {
    return (uint32_t)hash & ~(uint32_t)COVERS;
}

static inline uint32_t width_of(const uint8_t *slot) {
    return slot[4] == TOO_LONG ? 0 : (slot[4] & ((1u << KEPT_BITS) - 1)) - 1;
}

static inline size_t home_of(const struct part *part, uint32_t tag) {
    return (size_t)(((uint64_t)tag * part->room) >> 32);
}

static inline size_t after(const struct part *part, size_t at) {
    return at + 1 == part->room ? 0 : at + 1;
}

static void slot_fill(uint8_t *slot, uint32_t word, const struct kept *kept) {
    memcpy(slot, &word, sizeof word);
    slot[4] = kept->size;
    if (kept->width != 0)
        memcpy(slot + SLOT_HEAD, kept->data, kept->width);
}

static void part_add(struct part *part, uint32_t word, const struct kept *kept) {
    size_t at = home_of(part, word & ~(uint32_t)COVERS);
    while (slot_of(part, at)[4] != 0)
        at = after(part, at);
    slot_fill(slot_of(part, at), word, kept);
    part->count++;
}

/* --- parts --- */

static size_t part_memory(const struct part *part) {
    return (size_t)part->room * (SLOT_HEAD + part->width);
}

/* Gives the part other sizes. There is room for what is in it. */
static void part_remake(struct entry_hash_sums *sums, struct part *part, uint32_t room,
                        uint32_t width) {
    struct part old = *part;
    *part = (struct part){.room = room, .width = width};
    /* Written now: a slot is read before it is written, and fresh memory that is only read is
     * mapped twice, the second time with a word to the other processors. */
    part->slots = memset(mem_alloc(part_memory(part)), 0, part_memory(part));
    for (size_t i = 0; i < old.room; i++) {
        const uint8_t *slot = slot_of(&old, i);
        struct kept kept = {slot[4], slot[4] == 0 ? 0 : width_of(slot), slot + SLOT_HEAD};
        if (kept.size != 0)
            part_add(part, word_of(slot), &kept);
    }
    sums->memory += part_memory(part) - part_memory(&old);
    mem_free(old.slots);
}

/* Slots for so many entries: four fifths are used at most. */
static uint32_t room_for(uint64_t count) {
    return (uint32_t)(count + count / 4 + ROOM_LEAST);
}

static struct part *part_of(const struct entry_hash *entry_hash, uint64_t hash) {
    return (struct part *)&entry_hash->parts[hash >> (64 - PART_BITS)];
}

/* --- the whole --- */

struct entry_hash *entry_hash_new(uint64_t expected) {
    struct entry_hash *entry_hash = mem_zalloc(sizeof *entry_hash);
    entry_hash->sums.memory = sizeof *entry_hash;
    /* A part of a random share: most of them will not have to grow. */
    uint64_t share = expected / PARTS;
    for (size_t i = 0; share >= ROOM_LEAST && i < PARTS; i++)
        entry_hash->parts[i].room = room_for(share + share / 32);
    return entry_hash;
}

void entry_hash_free(struct entry_hash *entry_hash) {
    if (entry_hash == NULL)
        return;
    for (size_t i = 0; i < PARTS; i++)
        mem_free(entry_hash->parts[i].slots);
    mem_free(entry_hash);
}

size_t entry_hash_memory(const struct entry_hash *entry_hash) {
    return entry_hash->sums.memory;
}

uint64_t entry_hash_count(const struct entry_hash *entry_hash) {
    return entry_hash->sums.count;
}

/* Where the tag is from `at` on, or where a free slot ends the search: then false. */
static bool part_find(const struct part *part, uint32_t tag, size_t *at) {
    for (;; *at = after(part, *at)) {
        const uint8_t *slot = slot_of(part, *at);
        if (slot[4] == 0)
            return false;
        if (tag_of(slot) == tag)
            return true;
    }
}

static bool slot_keeps(const uint8_t *slot, const struct kept *kept) {
    return slot[4] == kept->size &&
           (kept->width == 0 || memcmp(slot + SLOT_HEAD, kept->data, kept->width) == 0);
}

/* Two items whose hashes are the same and whose middles are cannot be told apart here. So all slots
 * that are alike say that they cover their items, or none does. Returns what a new one says. */
static bool part_agree(struct part *part, uint32_t tag, const struct kept *kept, bool covers) {
    for (size_t at = home_of(part, tag); part_find(part, tag, &at); at = after(part, at)) {
        uint8_t *slot = slot_of(part, at);
        if (!slot_keeps(slot, kept))
            continue;
        if (!covers)
            memcpy(slot, &tag, sizeof tag);
        covers = (word_of(slot) & COVERS) != 0;
    }
    return covers;
}

void entry_hash_put(struct entry_hash *entry_hash, uint64_t hash, struct entry_middle middle) {
    entry_hash_put_apart(entry_hash, hash, middle, &entry_hash->sums);
}

void entry_hash_sum(struct entry_hash *entry_hash, const struct entry_hash_sums *sums) {
    entry_hash->sums.count += sums->count;
    entry_hash->sums.memory += sums->memory;
}

void entry_hash_put_apart(struct entry_hash *entry_hash, uint64_t hash, struct entry_middle middle,
                          struct entry_hash_sums *sums) {
    struct part *part = part_of(entry_hash, hash);
    struct kept kept = kept_of(middle.bytes);
    uint32_t width = kept.width > part->width ? kept.width : part->width;
    if (part->slots == NULL) { /* `room` is what is expected of it */
        uint32_t room = part->room > ROOM_LEAST ? part->room : ROOM_LEAST;
        *part = (struct part){0};
        part_remake(sums, part, room, width);
    } else if (part->count + part->count / 4 + 1 >= part->room) /* one stays free */
        part_remake(sums, part, room_for(part->count + part->count / 4), width);
    else if (width != part->width)
        part_remake(sums, part, part->room, width);
    uint32_t tag = tag_of_hash(hash);
    bool covers = part_agree(part, tag, &kept, middle.covers);
    part_add(part, tag | (covers ? COVERS : 0), &kept);
    sums->count++;
}

/* Frees a slot and closes the gap that probes would trip over. */
static void part_remove(struct part *part, size_t gap) {
    size_t stride = SLOT_HEAD + part->width;
    for (size_t next = after(part, gap); slot_of(part, next)[4] != 0; next = after(part, next)) {
        size_t home = home_of(part, tag_of(slot_of(part, next)));
        size_t from_home = next >= home ? next - home : next + part->room - home;
        size_t from_gap = next >= gap ? next - gap : next + part->room - gap;
        if (from_home < from_gap)
            continue;
        memcpy(slot_of(part, gap), slot_of(part, next), stride);
        gap = next;
    }
    slot_of(part, gap)[4] = 0;
    part->count--;
}

/* The first slot of the tag that keeps that; false: none does. */
static bool part_seek(const struct part *part, uint32_t tag, const struct kept *kept, size_t *at) {
    if (part->slots == NULL)
        return false;
    for (*at = home_of(part, tag); part_find(part, tag, at); *at = after(part, *at))
        if (slot_keeps(slot_of(part, *at), kept))
            return true;
    return false;
}

bool entry_hash_del(struct entry_hash *entry_hash, uint64_t hash, struct bytes middle) {
    struct part *part = part_of(entry_hash, hash);
    struct kept kept = kept_of(middle);
    size_t at;
    if (!part_seek(part, tag_of_hash(hash), &kept, &at))
        return false;
    part_remove(part, at);
    entry_hash->sums.count--;
    if (part->room > 4 * ROOM_LEAST && part->count < part->room / 4)
        part_remake(&entry_hash->sums, part, room_for(part->count + part->count / 4), part->width);
    return true;
}

bool entry_hash_replace(struct entry_hash *entry_hash, uint64_t hash, struct bytes from,
                        struct entry_middle to) {
    struct part *part = part_of(entry_hash, hash);
    struct kept old = kept_of(from), new = kept_of(to.bytes);
    uint32_t tag = tag_of_hash(hash);
    size_t at;
    if (new.width > part->width || !part_seek(part, tag, &old, &at) ||
        slot_keeps(slot_of(part, at), &new))
        return false;
    bool covers = part_agree(part, tag, &new, to.covers);
    slot_fill(slot_of(part, at), tag | (covers ? COVERS : 0), &new);
    return true;
}

void entry_hash_prefetch_part(const struct entry_hash *entry_hash, uint64_t hash) {
    __builtin_prefetch(part_of(entry_hash, hash));
}

void entry_hash_prefetch(const struct entry_hash *entry_hash, uint64_t hash) {
    const struct part *part = part_of(entry_hash, hash);
    if (part->slots != NULL)
        __builtin_prefetch(slot_of(part, home_of(part, tag_of_hash(hash))));
}

void entry_hash_seek(struct entry_hash_walk *walk, const struct entry_hash *entry_hash,
                     uint64_t hash) {
    const struct part *part = part_of(entry_hash, hash);
    walk->entry_hash = entry_hash;
    walk->hash = hash;
    walk->at = part->slots == NULL ? 0 : home_of(part, tag_of_hash(hash));
}

bool entry_hash_next(struct entry_hash_walk *walk) {
    const struct part *part = part_of(walk->entry_hash, walk->hash);
    if (part->slots == NULL || !part_find(part, tag_of_hash(walk->hash), &walk->at))
        return false;
    const uint8_t *slot = slot_of(part, walk->at);
    walk->at = after(part, walk->at);
    walk->has_middle = slot[4] != TOO_LONG;
    walk->covers = walk->has_middle && (word_of(slot) & COVERS) != 0;
    walk->size = width_of(slot);
    memcpy(walk->middle, slot + SLOT_HEAD, walk->size);
    if (walk->has_middle)
        for (unsigned zeros = slot[4] >> KEPT_BITS; zeros > 0; zeros--)
            walk->middle[walk->size++] = ZERO;
    return true;
}

void entry_hash_check(const struct entry_hash *entry_hash) {
    uint64_t count = 0;
    size_t memory = sizeof *entry_hash;
    for (size_t i = 0; i < PARTS; i++) {
        const struct part *part = &entry_hash->parts[i];
        if (part->slots == NULL)
            continue;
        uint32_t used = 0;
        for (size_t at = 0; at < part->room; at++) {
            const uint8_t *slot = slot_of(part, at);
            if (slot[4] == 0)
                continue;
            used++;
            assert(width_of(slot) <= part->width);
            for (size_t on = home_of(part, tag_of(slot)); on != at; on = after(part, on))
                assert(slot_of(part, on)[4] != 0);
        }
        assert(used == part->count && used < part->room);
        count += used;
        memory += part_memory(part);
    }
    assert(count == entry_hash->sums.count && memory == entry_hash->sums.memory);
}
