/* A finder: from an item to its entry in an index, without reading the item.
 *
 * For an index of the table's own partitions an entry is
 *
 *   head    hash and partition      known from the item's key
 *   middle  the sort attributes     what the finder keeps
 *   tail    the table's sort key    known from the item's key
 *
 * The finder maps a hash of head and tail to the middle. Two items may have the same hash, so what
 * it finds are candidates: the entry made with one of them is the item's if it is in the index's
 * tree. If none is, the item is not in the index.
 *
 * It costs some 15 bytes an entry. As the tree it belongs to: any number of readers, or one writer.
 */
#ifndef GT_TABLE_LOCAL_FINDER_H
#define GT_TABLE_LOCAL_FINDER_H

#include "base/bytes.h"

struct finder;

/* With room for so many entries; more make it grow. */
struct finder *finder_new(uint64_t expected);
void finder_free(struct finder *finder);
/* Bytes of memory it holds, as asked of the allocator. O(1). */
size_t finder_memory(const struct finder *finder);
uint64_t finder_count(const struct finder *finder);

/* A hash of both, in one or two steps. */
static inline uint64_t finder_hash_head(struct bytes head) {
    return bytes_hash(head, 2);
}
static inline uint64_t finder_hash_tail(uint64_t head_hash, struct bytes tail) {
    return bytes_hash(tail, head_hash);
}
static inline uint64_t finder_hash(struct bytes head, struct bytes tail) {
    return finder_hash_tail(finder_hash_head(head), tail);
}
/* The middle is not empty. */
void finder_put(struct finder *finder, uint64_t hash, struct bytes middle);
/* False if there is no such. */
bool finder_del(struct finder *finder, uint64_t hash, struct bytes middle);

/* Longer middles are not kept, only that there is one. */
enum { FINDER_MIDDLE_MAX = 64 };

/* A walk over the candidates of a hash. */
struct finder_walk {
    const struct finder *finder;
    uint64_t hash;
    size_t at;
    /* of the candidate */
    bool told; /* false: its middle is too long, the item must be read */
    size_t size;
    uint8_t middle[FINDER_MIDDLE_MAX];
};
/* Asks the memory for what a walk will look at first; and, a little sooner, for what tells where
 * that is. */
void finder_soon(const struct finder *finder, uint64_t hash);
void finder_prefetch(const struct finder *finder, uint64_t hash);
void finder_seek(struct finder_walk *walk, const struct finder *finder, uint64_t hash);
/* Moves on to the next candidate; false: there is none. */
bool finder_next(struct finder_walk *walk);

/* Asserts what holds for each finder. For tests. */
void finder_check(const struct finder *finder);

#endif
