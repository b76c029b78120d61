/* Many keys, gathered and then sorted: what an index is built from. */
#ifndef GT_TABLE_LOCAL_SORT_H
#define GT_TABLE_LOCAL_SORT_H

#include "base/bytes.h"

/* A run of keys in memory of its own. Zero is empty. Keys are at most 65535 bytes; one costs its
 * bytes and 18 more. Not thread-safe. */
struct run_key {
    uint64_t word;       /* eight bytes of the key, where the sort is looking */
    const uint8_t *data; /* the key; its size stands in the two bytes before it */
};

enum { RUN_LINE = 64 }; /* bytes of memory that come together */

struct run_block;

struct run {
    struct run_key *keys;
    size_t count, room;
    struct run_block *blocks;
    uint8_t *at, *end; /* free space in the first block */
    size_t memory;     /* bytes asked of the allocator */
};

void run_add(struct run *run, struct bytes key);
void run_release(struct run *run);
/* Sorts by bytes; keys should be distinct. Multikey quicksort: what keys share is looked at once,
 * not at each comparison. */
void run_sort(struct run *run);

/* A walk over all keys as they lie in memory, which is quicker than in their order. Zero but for
 * `run` to begin; false at the end. */
struct run_walk {
    const struct run *run;
    const struct run_block *block;
    const uint8_t *at, *end;
};
bool run_walk_next(struct run_walk *walk, struct bytes *key);

static inline struct bytes run_get(const struct run *run, size_t at) {
    const uint8_t *data = run->keys[at].data;
    return bytes_of(data, (size_t)(data[-2] << 8 | data[-1]));
}

/* Asks for a key that will be wanted soon: sorted keys are scattered in memory. One with its size
 * is mostly on two lines of it. (gcc takes a call of a function that only does that for one that
 * does nothing, unless it is inlined in any case.)
 */
__attribute__((always_inline)) static inline void run_prefetch(const struct run *run, size_t at) {
    if (at < run->count) {
        __builtin_prefetch(run->keys[at].data - 2);
        __builtin_prefetch(run->keys[at].data + RUN_LINE - 2);
    }
}

#endif
