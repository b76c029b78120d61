/* Memory for nodes of one tree, taken from the system and given back in small pieces.
 *
 *   region: 4 MB of addresses; pages are behind them only where slabs are taken.
 *   slab: 64 KB of a region, at a multiple of that size, so a block's address tells its slab.
 *   block: what one node has, units of 64 bytes side by side in one slab.
 *   gap: free units side by side, with blocks or the slab's ends on both sides, never gaps.
 *
 * A block has no header: who gives it back says how large it is. Where gaps begin and end is in a
 * bitmap of the slab, so a block that is given back becomes one gap with those beside it. Gaps of
 * one size are in one list. A block is cut from a gap of its very size; else from the smallest
 * that leaves something of use; else from the smallest that is large enough.
 *
 * A slab with no block goes back to the system, but for a few in reserve: 16 pages, some
 * microseconds. The C library would give back tens of megabytes in one call, when the last block at
 * the end of one of its heaps is freed; who frees that is a commit, for which all others wait.
 *
 * Nodes that come and go leave gaps in all slabs and none without a block. So when more than an
 * eighth of all slabs is gaps, the owner has a slab emptied (node_memory_empty_slab()): its nodes
 * move to gaps elsewhere. So do those of a tree that has become small.
 *
 * What a small tree has (NODE_MEMORY_SMALL), and each block of more than NODE_MEMORY_BLOCK_MAX
 * bytes, is the C library's: an empty tree has no slab. Such blocks lie at multiples of 16 and
 * those in slabs 8 bytes beside one, which tells them apart.
 *
 * Not thread-safe: it belongs to the tree's writer, as the tree does. Under AddressSanitizer gaps
 * are poisoned. */
#ifndef GT_RANK_NODE_MEMORY_H
#define GT_RANK_NODE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NODE_MEMORY_UNIT = 64,
    NODE_MEMORY_SLAB = 64 * 1024,
    NODE_MEMORY_REGION = 64 * NODE_MEMORY_SLAB,
    NODE_MEMORY_SMALL = 64 * 1024,
    NODE_MEMORY_BLOCK_MAX = 8 * 1024,
    NODE_MEMORY_RESERVE = 4 /* slabs without a block that are kept, as long as others have some */
};

/* All zeros: nothing is taken. */
struct node_memory {
    struct slabs *slabs; /* NULL: none */
    size_t used;         /* bytes in blocks */
    size_t separate;     /* of them, in blocks of the C library */
};

/* A block of at least `bytes` bytes, at a multiple of 8; *size is how many it has. */
void *node_memory_take(struct node_memory *memory, size_t bytes, size_t *size);
/* Gives back a block of that size. At most NODE_MEMORY_RESERVE slabs and one go to the system. */
void node_memory_give(struct node_memory *memory, void *block, size_t size);
/* Makes a block of `size` bytes one of at least `bytes` where it lies, if there is a gap behind it
 * for that. Returns what it has then: `size`, if there is not. */
size_t node_memory_extend(struct node_memory *memory, void *block, size_t size, size_t bytes);
/* Whether a block is the C library's. */
static inline bool node_memory_is_separate(const void *block) {
    return (uintptr_t)block % 16 == 0;
}
/* Whether more than an eighth of the slabs, but for one, is gaps; or the tree has become small. */
bool node_memory_is_sparse(const struct node_memory *memory);
/* Moves a block elsewhere: takes another, copies, and tells who points at it. Does not give the old
 * one back. Returns the size of that. */
typedef size_t node_memory_move(void *owner, void *block);
/* Looks at the slabs of a region, each time of the next, and has the blocks of the one moved that
 * has the fewest, if that is worth it; then gives it back. */
void node_memory_empty_slab(struct node_memory *memory, node_memory_move *move, void *owner);
/* Gives all slabs back with the blocks in them, a region at a time. Separate blocks must have been
 * given back before. */
void node_memory_release(struct node_memory *memory);
/* Bytes that were taken from the system and the C library for all this. */
size_t node_memory_held(const struct node_memory *memory);
/* Asserts that slabs, gaps and lists agree. For tests. */
void node_memory_check(const struct node_memory *memory);

#endif
