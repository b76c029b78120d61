/* Which items are large, as far as is known: how many bytes a change moves that does not say so
 * itself, such as one that appends to an item or deletes it.
 *
 * A slot for each of 65,536 hashes holds the size of the large item of such a hash that was written
 * last, and 24 other bits of its hash. So it is a hint: of an item that was not written since the
 * start, or whose slot another one has taken, nothing is known. Written on the writer's thread,
 * read on any. */
#ifndef GT_TABLE_LOCAL_LARGE_ITEMS_H
#define GT_TABLE_LOCAL_LARGE_ITEMS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { LARGE_ITEMS_SLOTS = 65536, LARGE_ITEMS_UNIT = 4096, LARGE_ITEMS_FROM = 32 * 1024 };

/* Zero: nothing is known. */
struct large_items {
    _Atomic(uint32_t) slots[LARGE_ITEMS_SLOTS]; /* bits of the hash * 256 + LARGE_ITEMS_UNITs */
};

static inline uint32_t large_items_tag(uint64_t hash) {
    return (uint32_t)(hash >> 40) << 8;
}

static inline void large_items_note(struct large_items *items, uint64_t hash, size_t size) {
    _Atomic(uint32_t) *slot = &items->slots[hash % LARGE_ITEMS_SLOTS];
    uint32_t tag = large_items_tag(hash), is = atomic_load_explicit(slot, memory_order_relaxed);
    size_t units = size / LARGE_ITEMS_UNIT;
    if (size >= LARGE_ITEMS_FROM)
        atomic_store_explicit(slot, tag | (uint32_t)(units < 255 ? units : 255),
                              memory_order_relaxed);
    else if (is != 0 && (is & ~255u) == tag)
        atomic_store_explicit(slot, 0, memory_order_relaxed);
}

/* The bytes of the item of that hash, rounded down; 0 of most. */
static inline size_t large_items_size(const struct large_items *items, uint64_t hash) {
    uint32_t is =
        atomic_load_explicit(&items->slots[hash % LARGE_ITEMS_SLOTS], memory_order_relaxed);
    return (is & ~255u) == large_items_tag(hash) ? (size_t)LARGE_ITEMS_UNIT * (is & 255) : 0;
}

#endif
