/* An entry hash: a hash table from items to their entries in an index, so that an entry is found
 * without reading the item.
 *
 * For an index of the table's own partitions an entry is
 *
 *   head    hash and partition      known from the item's key
 *   middle  the sort attributes     what the table keeps
 *   tail    the table's sort key    known from the item's key
 *
 * It maps a hash of head and tail to the middle. Two items may have the same hash, so what it finds
 * are candidates: the entry made with one of them is the item's if it is in the index's tree. If
 * none is, the item is not in the index.
 *
 * An entry *covers* its item if the item has no attributes but those that the entry is made of:
 * then the entry says all there is of the item (covering.h). The table keeps that as a bit of each
 * entry.
 *
 * It costs some 15 bytes an entry. It has no lock: any number of readers or one writer, under the
 * lock of the tree it belongs to (state_lock).
 */
#ifndef GT_TABLE_LOCAL_ENTRY_HASH_H
#define GT_TABLE_LOCAL_ENTRY_HASH_H

#include "base/hash.h"

struct entry_hash;

/* A table with room for so many entries; it grows when there are more. */
struct entry_hash *entry_hash_new(uint64_t expected);
void entry_hash_free(struct entry_hash *entry_hash);
/* Bytes of memory it holds, as asked of the allocator. O(1). */
size_t entry_hash_memory(const struct entry_hash *entry_hash);
uint64_t entry_hash_count(const struct entry_hash *entry_hash);

/* The hash of head and tail, which can be had in two steps: neighbours often share the head. */
static inline uint64_t entry_hash_of_head(struct bytes head) {
    return hash_keyed(head, 2);
}
static inline uint64_t entry_hash_of_tail(uint64_t head_hash, struct bytes tail) {
    return hash_keyed(tail, head_hash);
}
static inline uint64_t entry_hash_of(struct bytes head, struct bytes tail) {
    return entry_hash_of_tail(entry_hash_of_head(head), tail);
}
/* What is kept of an entry. */
struct entry_middle {
    struct bytes bytes; /* not empty */
    bool covers;        /* the entry covers its item */
};
void entry_hash_put(struct entry_hash *entry_hash, uint64_t hash, struct entry_middle middle);

/* For several threads that fill a table which nobody reads yet: the same, but two whose hashes
 * share their first ENTRY_HASH_APART_BITS bits must not be put at the same time. What was added is
 * summed up in *sums, zero to begin with, which one thread after the other gives to
 * entry_hash_sum(). */
enum { ENTRY_HASH_APART_BITS = 12 };
struct entry_hash_sums {
    uint64_t count;
    size_t memory;
};
void entry_hash_put_apart(struct entry_hash *entry_hash, uint64_t hash, struct entry_middle middle,
                          struct entry_hash_sums *sums);
void entry_hash_sum(struct entry_hash *entry_hash, const struct entry_hash_sums *sums);
/* False if the hash has no such middle. */
bool entry_hash_del(struct entry_hash *entry_hash, uint64_t hash, struct bytes middle);

/* Puts `to` in the place of `from`, as deleting and putting would do; false, having done nothing,
 * if the hash has no such middle, or the other is the same or does not fit there. */
bool entry_hash_replace(struct entry_hash *entry_hash, uint64_t hash, struct bytes from,
                        struct entry_middle to);

/* Longer middles are not kept, only that there is one. */
enum { ENTRY_HASH_MIDDLE_MAX = 64 };

/* A walk over the candidates of a hash. */
struct entry_hash_walk {
    const struct entry_hash *entry_hash;
    uint64_t hash;
    size_t at;
    /* of the candidate */
    bool has_middle; /* false: its middle is too long, the item must be read */
    bool covers;     /* the entry covers its item; false if its middle is too long */
    size_t size;
    uint8_t middle[ENTRY_HASH_MIDDLE_MAX];
};
/* Prefetch what a walk of the hash will read: first the header of its part of the table, and a
 * little later, when that has arrived, the slots. */
void entry_hash_prefetch_part(const struct entry_hash *entry_hash, uint64_t hash);
void entry_hash_prefetch(const struct entry_hash *entry_hash, uint64_t hash);
void entry_hash_seek(struct entry_hash_walk *walk, const struct entry_hash *entry_hash,
                     uint64_t hash);
/* Moves on to the next candidate; false: there is none. */
bool entry_hash_next(struct entry_hash_walk *walk);

/* Asserts the invariants of the table. For tests. */
void entry_hash_check(const struct entry_hash *entry_hash);

#endif
