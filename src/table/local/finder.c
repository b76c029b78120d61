/* A table of some thousand parts, each a small hash table of its own (open addresses, linear
 * probes, deletion by shifting back), so that growing stops nobody for long. The first bits of the
 * hash say which part, 32 others are the slot's tag, and where a slot would like to be follows
 * from its tag alone: a part grows and shrinks without knowing the items.
 *
 *   slot   tag u32, size u8, middle[width]
 *
 * `width` is a part's own, as wide as its longest middle needs. Numbers that are zero end most
 * middles; their encoding is one byte, 0x80, so these are left out and counted:
 *
 *   size   0: free    1..: bytes kept, plus one, in the lower six bits; 0x80s left out above
 *          0xff: too long to be kept
 */
#include "table/local/finder.h"

#include "base/mem.h"

#include <assert.h>

enum {
    PART_BITS = 12,
    PARTS = 1 << PART_BITS,
    ROOM_LEAST = 4,
    SLOT_HEAD = 5,
    KEPT_MAX = 61, /* bytes of a middle */
    KEPT_BITS = 6,
    ZERO = 0x80,
    ZEROS_MAX = 3,
    TOO_LONG = 0xff,
};

struct part {
    uint8_t *slots;
    uint32_t count, room;
    uint32_t width;
};

struct finder {
    uint64_t count;
    size_t memory;
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

static inline uint32_t tag_of(const uint8_t *slot) {
    uint32_t tag;
    memcpy(&tag, slot, sizeof tag);
    return tag;
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

static void part_add(struct part *part, uint32_t tag, const struct kept *kept) {
    size_t at = home_of(part, tag);
    while (slot_of(part, at)[4] != 0)
        at = after(part, at);
    uint8_t *slot = slot_of(part, at);
    memcpy(slot, &tag, sizeof tag);
    slot[4] = kept->size;
    if (kept->width != 0)
        memcpy(slot + SLOT_HEAD, kept->data, kept->width);
    part->count++;
}

/* --- parts --- */

static size_t part_memory(const struct part *part) {
    return (size_t)part->room * (SLOT_HEAD + part->width);
}

/* Gives the part other sizes. There is room for what is in it. */
static void part_remake(struct finder *finder, struct part *part, uint32_t room, uint32_t width) {
    struct part old = *part;
    *part = (struct part){.room = room, .width = width};
    /* Written now: a slot is read before it is written, and fresh memory that is only read is
     * mapped twice, the second time with a word to the other processors. */
    part->slots = memset(mem_alloc(part_memory(part)), 0, part_memory(part));
    for (size_t i = 0; i < old.room; i++) {
        const uint8_t *slot = slot_of(&old, i);
        struct kept kept = {slot[4], slot[4] == 0 ? 0 : width_of(slot), slot + SLOT_HEAD};
        if (kept.size != 0)
            part_add(part, tag_of(slot), &kept);
    }
    finder->memory += part_memory(part) - part_memory(&old);
    mem_free(old.slots);
}

/* Slots for so many entries: four fifths are used at most. */
static uint32_t room_for(uint64_t count) {
    return (uint32_t)(count + count / 4 + ROOM_LEAST);
}

static struct part *part_of(const struct finder *finder, uint64_t hash) {
    return (struct part *)&finder->parts[hash >> (64 - PART_BITS)];
}

/* --- the whole --- */

struct finder *finder_new(uint64_t expected) {
    struct finder *finder = mem_zalloc(sizeof *finder);
    finder->memory = sizeof *finder;
    /* A part of a random share: most of them will not have to grow. */
    uint64_t share = expected / PARTS;
    for (size_t i = 0; share >= ROOM_LEAST && i < PARTS; i++)
        finder->parts[i].room = room_for(share + share / 32);
    return finder;
}

void finder_free(struct finder *finder) {
    if (finder == NULL)
        return;
    for (size_t i = 0; i < PARTS; i++)
        mem_free(finder->parts[i].slots);
    mem_free(finder);
}

size_t finder_memory(const struct finder *finder) {
    return finder->memory;
}

uint64_t finder_count(const struct finder *finder) {
    return finder->count;
}

void finder_put(struct finder *finder, uint64_t hash, struct bytes middle) {
    struct part *part = part_of(finder, hash);
    struct kept kept = kept_of(middle);
    uint32_t width = kept.width > part->width ? kept.width : part->width;
    if (part->slots == NULL) { /* `room` is what is expected of it */
        uint32_t room = part->room > ROOM_LEAST ? part->room : ROOM_LEAST;
        *part = (struct part){0};
        part_remake(finder, part, room, width);
    } else if (part->count + part->count / 4 + 1 >= part->room) /* one stays free */
        part_remake(finder, part, room_for(part->count + part->count / 4), width);
    else if (width != part->width)
        part_remake(finder, part, part->room, width);
    part_add(part, (uint32_t)hash, &kept);
    finder->count++;
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

bool finder_del(struct finder *finder, uint64_t hash, struct bytes middle) {
    struct part *part = part_of(finder, hash);
    struct kept kept = kept_of(middle);
    if (part->slots == NULL)
        return false;
    for (size_t at = home_of(part, (uint32_t)hash); part_find(part, (uint32_t)hash, &at);
         at = after(part, at)) {
        const uint8_t *slot = slot_of(part, at);
        if (slot[4] != kept.size ||
            (kept.width != 0 && memcmp(slot + SLOT_HEAD, kept.data, kept.width) != 0))
            continue;
        part_remove(part, at);
        finder->count--;
        if (part->room > 4 * ROOM_LEAST && part->count < part->room / 4)
            part_remake(finder, part, room_for(part->count + part->count / 4), part->width);
        return true;
    }
    return false;
}

void finder_soon(const struct finder *finder, uint64_t hash) {
    __builtin_prefetch(part_of(finder, hash));
}

void finder_prefetch(const struct finder *finder, uint64_t hash) {
    const struct part *part = part_of(finder, hash);
    if (part->slots != NULL)
        __builtin_prefetch(slot_of(part, home_of(part, (uint32_t)hash)));
}

void finder_seek(struct finder_walk *walk, const struct finder *finder, uint64_t hash) {
    const struct part *part = part_of(finder, hash);
    walk->finder = finder;
    walk->hash = hash;
    walk->at = part->slots == NULL ? 0 : home_of(part, (uint32_t)hash);
}

bool finder_next(struct finder_walk *walk) {
    const struct part *part = part_of(walk->finder, walk->hash);
    if (part->slots == NULL || !part_find(part, (uint32_t)walk->hash, &walk->at))
        return false;
    const uint8_t *slot = slot_of(part, walk->at);
    walk->at = after(part, walk->at);
    walk->told = slot[4] != TOO_LONG;
    walk->size = width_of(slot);
    memcpy(walk->middle, slot + SLOT_HEAD, walk->size);
    if (walk->told)
        for (unsigned zeros = slot[4] >> KEPT_BITS; zeros > 0; zeros--)
            walk->middle[walk->size++] = ZERO;
    return true;
}

void finder_check(const struct finder *finder) {
    uint64_t count = 0;
    size_t memory = sizeof *finder;
    for (size_t i = 0; i < PARTS; i++) {
        const struct part *part = &finder->parts[i];
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
    assert(count == finder->count && memory == finder->memory);
}
