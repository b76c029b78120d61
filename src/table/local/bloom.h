/* A blocked Bloom filter that grows: whether a key was never added.
 *
 * It has parts, each four times as large as the one before. A part is blocks of a cache line, and a
 * key sets a few bits of one block, so that a look-up costs one cache miss a part at most. It takes
 * 16 bits for each key that it has room for, and of a full part about one key in four hundred that
 * was never added seems to have been. Nothing can be removed.
 *
 * One thread adds; others may ask at the same time without a lock. They see all that was added
 * before something made them wait for the adding thread. Zero is empty, and has no parts. */
#ifndef GT_TABLE_LOCAL_BLOOM_H
#define GT_TABLE_LOCAL_BLOOM_H

#include "base/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BLOOM_PARTS_MAX = 8,
    BLOOM_PART_MIN = 4096,              /* keys that the first part has room for */
    BLOOM_KEYS_MAX = LIMIT_FILTER_KEYS, /* in all parts together: 48 MB */
};

struct bloom_part {
    atomic_uint_fast64_t *words;
    size_t blocks, count, room;
};

/* Memory of the next part, which the thread that adds clears bit by bit: fresh memory that is read
 * before it is written to, as most of a filter is, is mapped twice, the second time with a word to
 * all other processors. */
struct bloom_ahead {
    atomic_uint_fast64_t *words; /* NULL: not begun */
    size_t room;                 /* keys */
    size_t cleared;              /* words */
};

struct bloom {
    struct bloom_part parts[BLOOM_PARTS_MAX];
    atomic_uint part_count;
    struct bloom_ahead ahead;
};

/* Gives an empty filter a first part with room for so many keys. */
void bloom_reserve(struct bloom *bloom, size_t keys);
void bloom_release(struct bloom *bloom);
/* Whether a key of that hash may have been added. The high half of the hash says which block: keys
 * that are added in its order go through the memory from the front to the end. */
bool bloom_has(const struct bloom *bloom, uint64_t hash);
/* Adds a key; false if there are too many already. */
bool bloom_add(struct bloom *bloom, uint64_t hash);
/* Prefetches what bloom_has() will read. */
void bloom_prefetch(const struct bloom *bloom, uint64_t hash);
/* How many keys were added that did not seem to be there. By the thread that adds. */
size_t bloom_count(const struct bloom *bloom);

#endif
