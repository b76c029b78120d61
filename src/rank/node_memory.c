#include "rank/node_memory.h"

#include "base/asan.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

enum {
    UNIT = NODE_MEMORY_UNIT,
    SLAB_HEADER = 200, /* 8 beside a multiple of 64, where blocks begin then */
    UNITS = (NODE_MEMORY_SLAB - SLAB_HEADER) / UNIT,
    REGION_SLABS = NODE_MEMORY_REGION / NODE_MEMORY_SLAB,
    EXACT = 64,                  /* gaps of fewer units have a list for each size, */
    LISTS = EXACT + 4,           /* and others one for each power of two, */
    TRIES = 8,                   /* of which so many are looked at */
    USEFUL = 8,                  /* units that half of a full leaf takes */
    POPULATE_FROM = REGION_SLABS /* slabs from which on pages are asked for at once */
};

struct region {
    struct region *prev, *next;
    uint8_t *base;
    uint64_t taken; /* slabs, a bit each */
};

struct slab {
    struct region *region;
    size_t used;                    /* units in blocks */
    uint64_t edges[UNITS / 64 + 1]; /* bit 1 + i: unit i is the first or the last of a gap */
};

static_assert(sizeof(struct slab) <= SLAB_HEADER, "the header has room");
static_assert(UNITS + 2 <= sizeof(((struct slab *)NULL)->edges) * 8, "so have the edges");
static_assert(REGION_SLABS == 64, "a bit for each slab");

/* Stands in the first unit of a gap. The last four bytes of the last one are its units, too. */
struct gap {
    struct gap *prev, *next;
    uint32_t units;
};

struct slabs {
    size_t taken, empty;           /* slabs; of them, those without a block */
    struct region *regions, *last; /* those with slabs to take come first */
    struct region *looked_at;      /* by node_memory_empty_slab(); NULL: it begins anew */
    uint64_t filled;               /* lists below EXACT that are not empty, a bit each */
    struct gap *gaps[LISTS];
};

static inline struct slab *slab_of(const void *block) {
    return (struct slab *)((uintptr_t)block & ~(uintptr_t)(NODE_MEMORY_SLAB - 1));
}

static inline unsigned unit_of(const struct slab *slab, const void *block) {
    return (unsigned)((size_t)((const uint8_t *)block - (const uint8_t *)slab) - SLAB_HEADER) /
           UNIT;
}

static inline void *unit_at(const struct slab *slab, unsigned unit) {
    return (uint8_t *)slab + SLAB_HEADER + (size_t)unit * UNIT;
}

static inline unsigned units_for(size_t bytes) {
    return (unsigned)((bytes + UNIT - 1) / UNIT);
}

/* --- gaps --- */

static inline bool edge_at(const struct slab *slab, unsigned bit) {
    return slab->edges[bit / 64] >> bit % 64 & 1;
}

static inline void edge_set(struct slab *slab, unsigned bit) {
    slab->edges[bit / 64] |= (uint64_t)1 << bit % 64;
}

static inline void edge_clear(struct slab *slab, unsigned bit) {
    slab->edges[bit / 64] &= ~((uint64_t)1 << bit % 64);
}

static inline uint32_t *gap_end(struct gap *gap, uint32_t units) {
    return (uint32_t *)(void *)((uint8_t *)gap + (size_t)units * UNIT) - 1;
}

static inline unsigned list_of(unsigned units) {
    return units < EXACT ? units : EXACT - 6 + 31 - (unsigned)__builtin_clz(units);
}

ASAN_LEFT_OUT static void gap_add(struct slabs *slabs, struct slab *slab, unsigned unit,
                                  unsigned units) {
    struct gap *gap = unit_at(slab, unit);
    unsigned list = list_of(units);
    gap->prev = NULL;
    gap->next = slabs->gaps[list];
    gap->units = *gap_end(gap, units) = units;
    if (gap->next != NULL)
        gap->next->prev = gap;
    slabs->gaps[list] = gap;
    if (list < EXACT)
        slabs->filled |= (uint64_t)1 << list;
    edge_set(slab, 1 + unit);
    edge_set(slab, unit + units);
    ASAN_POISON_MEMORY_REGION(gap, (size_t)units * UNIT);
}

ASAN_LEFT_OUT static void gap_unlist(struct slabs *slabs, struct gap *gap) {
    unsigned list = list_of(gap->units);
    if (gap->next != NULL)
        gap->next->prev = gap->prev;
    if (gap->prev != NULL)
        gap->prev->next = gap->next;
    else if ((slabs->gaps[list] = gap->next) == NULL && list < EXACT)
        slabs->filled &= ~((uint64_t)1 << list);
}

ASAN_LEFT_OUT static void gap_remove(struct slabs *slabs, struct slab *slab, struct gap *gap) {
    unsigned unit = unit_of(slab, gap);
    edge_clear(slab, 1 + unit);
    edge_clear(slab, unit + gap->units);
    gap_unlist(slabs, gap);
}

/* The first list, from `units` on, that has a gap; 0: none below EXACT has. */
static inline unsigned list_from(const struct slabs *slabs, unsigned units) {
    uint64_t lists = units < EXACT ? slabs->filled >> units << units : 0;
    return lists != 0 ? (unsigned)__builtin_ctzll(lists) : 0;
}

ASAN_LEFT_OUT static struct gap *gap_find(const struct slabs *slabs, unsigned units) {
    unsigned list = list_of(units), next = EXACT;
    if (list < EXACT) {
        unsigned smallest = list_from(slabs, units), useful = list_from(slabs, units + USEFUL);
        if (smallest != 0)
            return slabs->gaps[smallest == units || useful == 0 ? smallest : useful];
    } else {
        struct gap *gap = slabs->gaps[list];
        for (unsigned i = 0; i < TRIES && gap != NULL; i++, gap = gap->next)
            if (gap->units >= units)
                return gap;
        next = list + 1;
    }
    while (next < LISTS && slabs->gaps[next] == NULL)
        next++;
    return next < LISTS ? slabs->gaps[next] : NULL;
}

/* Cuts a block from the front of a gap. */
ASAN_LEFT_OUT static void gap_cut(struct slabs *slabs, struct slab *slab, struct gap *gap,
                                  unsigned units) {
    unsigned unit = unit_of(slab, gap), left = gap->units - units;
    gap_remove(slabs, slab, gap);
    ASAN_UNPOISON_MEMORY_REGION(gap, (size_t)units * UNIT);
    if (left != 0)
        gap_add(slabs, slab, unit + units, left);
    if (slab->used == 0)
        slabs->empty--;
    slab->used += units;
}

/* --- regions and slabs --- */

static void region_unlink(struct slabs *slabs, struct region *region) {
    *(region->prev != NULL ? &region->prev->next : &slabs->regions) = region->next;
    *(region->next != NULL ? &region->next->prev : &slabs->last) = region->prev;
}

static void region_link(struct slabs *slabs, struct region *region, struct region *prev,
                        struct region *next) {
    region->prev = prev;
    region->next = next;
    *(prev != NULL ? &prev->next : &slabs->regions) = region;
    *(next != NULL ? &next->prev : &slabs->last) = region;
}

static struct region *region_new(struct slabs *slabs) {
    struct region *region = mem_zalloc(sizeof(*region));
    region->base = mem_small_pages(NODE_MEMORY_REGION);
    region_link(slabs, region, NULL, slabs->regions);
    return region;
}

static void region_free(struct slabs *slabs, struct region *region) {
    if (slabs->looked_at == region)
        slabs->looked_at = NULL;
    region_unlink(slabs, region);
    ASAN_UNPOISON_MEMORY_REGION(region->base, NODE_MEMORY_REGION);
    mem_large(region->base, NODE_MEMORY_REGION, 0);
    mem_free(region);
}

static void slab_new(struct slabs *slabs) {
    struct region *region = slabs->regions;
    if (region == NULL || ~region->taken == 0)
        region = region_new(slabs);
    unsigned at = (unsigned)__builtin_ctzll(~region->taken);
    region->taken |= (uint64_t)1 << at;
    if (~region->taken == 0) {
        region_unlink(slabs, region);
        region_link(slabs, region, slabs->last, NULL);
    }
    struct slab *slab = (struct slab *)(void *)(region->base + (size_t)at * NODE_MEMORY_SLAB);
    if (slabs->taken >= POPULATE_FROM)
        mem_populate(slab, NODE_MEMORY_SLAB);
    slab->region = region; /* all else is zeros, as the system's pages are */
    slabs->taken++;
    slabs->empty++;
    gap_add(slabs, slab, 0, UNITS);
}

/* Gives back a slab without a block; its region, too, when no other slab of that is taken. */
static void slab_free(struct slabs *slabs, struct slab *slab) {
    struct region *region = slab->region;
    unsigned at = (unsigned)((size_t)((uint8_t *)slab - region->base) / NODE_MEMORY_SLAB);
    bool was_full = ~region->taken == 0;
    gap_remove(slabs, slab, unit_at(slab, 0));
    ASAN_UNPOISON_MEMORY_REGION(slab, NODE_MEMORY_SLAB);
    mem_discard(slab, NODE_MEMORY_SLAB);
    slabs->taken--;
    slabs->empty--;
    region->taken &= ~((uint64_t)1 << at);
    if (region->taken == 0)
        region_free(slabs, region);
    else if (was_full) {
        region_unlink(slabs, region);
        region_link(slabs, region, NULL, slabs->regions);
    }
}

/* Gives back slabs without a block that are more than a reserve, which is less for few slabs. The
 * one that came to be so last is the first in its list. */
ASAN_LEFT_OUT static void slabs_trim(struct slabs *slabs) {
    const struct gap *gap;
    while ((gap = slabs->gaps[LISTS - 1]) != NULL && gap->units == UNITS &&
           (slabs->empty > NODE_MEMORY_RESERVE || slabs->empty > slabs->taken / 4))
        slab_free(slabs, slab_of(gap));
}

static void slabs_free(struct node_memory *memory) {
    struct slabs *slabs = memory->slabs;
    while (slabs != NULL && slabs->regions != NULL)
        region_free(slabs, slabs->regions);
    mem_free(slabs);
    memory->slabs = NULL;
}

/* --- blocks --- */

/* Sizes are units here as well, less the 8 bytes that the C library has beside each block. */
static void *take_separate(struct node_memory *memory, size_t bytes, size_t *size) {
    *size = (size_t)units_for(bytes + 8) * UNIT - 8;
    memory->used += *size;
    memory->separate += *size;
    return mem_alloc(*size);
}

void *node_memory_take(struct node_memory *memory, size_t bytes, size_t *size) {
    if (bytes > NODE_MEMORY_BLOCK_MAX || memory->used + bytes <= NODE_MEMORY_SMALL)
        return take_separate(memory, bytes, size);
    struct slabs *slabs = memory->slabs;
    if (slabs == NULL)
        slabs = memory->slabs = mem_zalloc(sizeof(*slabs));
    unsigned units = units_for(bytes);
    struct gap *gap = gap_find(slabs, units);
    if (gap == NULL) {
        slab_new(slabs);
        gap = gap_find(slabs, units);
    }
    gap_cut(slabs, slab_of(gap), gap, units);
    *size = (size_t)units * UNIT;
    memory->used += *size;
    return gap;
}

/* Makes units that a block had one gap with those beside them. */
ASAN_LEFT_OUT static void give_units(struct slabs *slabs, struct slab *slab, unsigned unit,
                                     unsigned units) {
    if (edge_at(slab, 1 + unit + units)) {
        struct gap *after = unit_at(slab, unit + units);
        units += after->units;
        gap_remove(slabs, slab, after);
    }
    if (edge_at(slab, unit)) {
        unsigned before = ((const uint32_t *)unit_at(slab, unit))[-1];
        unit -= before;
        units += before;
        gap_remove(slabs, slab, unit_at(slab, unit));
    }
    gap_add(slabs, slab, unit, units);
}

void node_memory_give(struct node_memory *memory, void *block, size_t size) {
    memory->used -= size;
    if (node_memory_is_separate(block)) {
        memory->separate -= size;
        mem_free(block);
        return;
    }
    struct slabs *slabs = memory->slabs;
    struct slab *slab = slab_of(block);
    unsigned units = (unsigned)(size / UNIT);
    give_units(slabs, slab, unit_of(slab, block), units);
    slab->used -= units;
    if (slab->used == 0)
        slabs->empty++;
    if (memory->used == memory->separate)
        slabs_free(memory);
    else if (slab->used == 0)
        slabs_trim(slabs);
}

ASAN_LEFT_OUT size_t node_memory_extend(struct node_memory *memory, void *block, size_t size,
                                        size_t bytes) {
    if (node_memory_is_separate(block) || bytes > NODE_MEMORY_BLOCK_MAX)
        return size;
    struct slab *slab = slab_of(block);
    unsigned end = unit_of(slab, block) + (unsigned)(size / UNIT);
    unsigned more = units_for(bytes - size);
    struct gap *gap = unit_at(slab, end);
    if (!edge_at(slab, 1 + end) || gap->units < more)
        return size;
    gap_cut(memory->slabs, slab, gap, more);
    memory->used += (size_t)more * UNIT;
    return size + (size_t)more * UNIT;
}

/* --- emptying slabs --- */

bool node_memory_is_sparse(const struct node_memory *memory) {
    const struct slabs *slabs = memory->slabs;
    if (slabs == NULL)
        return false;
    size_t most = (slabs->taken - 1) * (NODE_MEMORY_SLAB / 8) * 7;
    return memory->used - memory->separate < most || memory->used <= NODE_MEMORY_SMALL / 2;
}

/* The slab of a region that has the least in blocks, but has some; NULL if that is much. */
static struct slab *sparsest_slab(const struct region *region) {
    struct slab *best = NULL;
    for (uint64_t taken = region->taken; taken != 0; taken &= taken - 1) {
        size_t at = (size_t)__builtin_ctzll(taken);
        struct slab *slab = (struct slab *)(void *)(region->base + at * NODE_MEMORY_SLAB);
        if (slab->used != 0 && (best == NULL || slab->used < best->used))
            best = slab;
    }
    return best != NULL && best->used < UNITS / 8 * 7 ? best : NULL;
}

/* The gap that begins at that unit has so many; 0: a block begins there. */
ASAN_LEFT_OUT static unsigned gap_units(const struct slab *slab, unsigned unit) {
    return edge_at(slab, 1 + unit) ? ((const struct gap *)unit_at(slab, unit))->units : 0;
}

/* Takes the gaps of a slab out of the lists, so that no block is cut from them. Where they are can
 * still be seen. */
static void close_slab(struct slabs *slabs, struct slab *slab) {
    for (unsigned unit = 0, gap; unit < UNITS; unit += gap != 0 ? gap : 1)
        if ((gap = gap_units(slab, unit)) != 0)
            gap_unlist(slabs, unit_at(slab, unit));
}

void node_memory_empty_slab(struct node_memory *memory, node_memory_move *move, void *owner) {
    struct slabs *slabs = memory->slabs;
    struct region *region = slabs->looked_at != NULL ? slabs->looked_at : slabs->regions;
    struct slab *slab = sparsest_slab(region);
    slabs->looked_at = region->next;
    if (slab == NULL)
        return;
    close_slab(slabs, slab);
    for (unsigned unit = 0; unit < UNITS;) {
        unsigned gap = gap_units(slab, unit);
        unit += gap != 0 ? gap : (unsigned)(move(owner, unit_at(slab, unit)) / UNIT);
    }
    memory->used -= slab->used * UNIT;
    slab->used = 0;
    slabs->empty++;
    memset(slab->edges, 0, sizeof(slab->edges));
    gap_add(slabs, slab, 0, UNITS);
    if (memory->used == memory->separate)
        slabs_free(memory);
    else
        slabs_trim(slabs);
}

void node_memory_release(struct node_memory *memory) {
    assert(memory->separate == 0);
    slabs_free(memory);
    memory->used = 0;
}

size_t node_memory_held(const struct node_memory *memory) {
    const struct slabs *slabs = memory->slabs;
    return memory->separate +
           (slabs == NULL ? 0 : sizeof(*slabs) + slabs->taken * NODE_MEMORY_SLAB);
}

/* --- for tests --- */

/* Walks the gaps of a slab by its edges; returns how many there are. */
ASAN_LEFT_OUT static size_t check_slab(const struct slab *slab) {
    size_t gaps = 0, units = 0;
    for (unsigned unit = 0; unit < UNITS;) {
        if (!edge_at(slab, 1 + unit)) {
            unit++;
            continue;
        }
        struct gap *gap = unit_at(slab, unit);
        assert(gap->units != 0 && unit + gap->units <= UNITS);
        assert(*gap_end(gap, gap->units) == gap->units);
        for (unsigned i = 1; i + 1 < gap->units; i++)
            assert(!edge_at(slab, 1 + unit + i));
        unit += gap->units;
        assert(edge_at(slab, unit));
        assert(unit == UNITS || !edge_at(slab, 1 + unit)); /* no gap beside a gap */
        units += gap->units;
        gaps++;
    }
    assert(slab->used + units == UNITS);
    return gaps;
}

/* Each gap is in the list of its size; returns how many there are. */
ASAN_LEFT_OUT static size_t check_lists(const struct slabs *slabs) {
    size_t gaps = 0;
    for (unsigned list = 0; list < LISTS; list++) {
        const struct gap *prev = NULL;
        assert(list >= EXACT || (slabs->filled >> list & 1) == (slabs->gaps[list] != NULL));
        for (const struct gap *gap = slabs->gaps[list]; gap != NULL; gap = gap->next) {
            const struct slab *slab = slab_of(gap);
            assert(gap->prev == prev && list_of(gap->units) == list);
            assert(edge_at(slab, 1 + unit_of(slab, gap)));
            prev = gap;
            gaps++;
        }
    }
    return gaps;
}

void node_memory_check(const struct node_memory *memory) {
    const struct slabs *slabs = memory->slabs;
    size_t gaps = 0, taken = 0, empty = 0, used = 0;
    bool full = false;
    for (const struct region *region = slabs == NULL ? NULL : slabs->regions; region != NULL;
         region = region->next) {
        assert(region->taken != 0);
        assert(!full || ~region->taken == 0); /* those with slabs to take come first */
        full = ~region->taken == 0;
        for (unsigned at = 0; at < REGION_SLABS; at++) {
            if ((region->taken >> at & 1) == 0)
                continue;
            const struct slab *slab = (const void *)(region->base + (size_t)at * NODE_MEMORY_SLAB);
            assert(slab->region == region);
            gaps += check_slab(slab);
            taken++;
            empty += slab->used == 0;
            used += slab->used * UNIT;
        }
    }
    assert(used + memory->separate == memory->used);
    if (slabs == NULL)
        return;
    assert(taken == slabs->taken && empty == slabs->empty && empty <= NODE_MEMORY_RESERVE + 1);
    assert(gaps == check_lists(slabs));
}
