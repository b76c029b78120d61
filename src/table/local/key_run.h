/* Many keys, gathered and then sorted: what an index is built from. */
#ifndef GT_TABLE_LOCAL_KEY_RUN_H
#define GT_TABLE_LOCAL_KEY_RUN_H

#include "base/bytes.h"

/* A run of keys in memory of its own. Zero is empty. Keys are at most KEY_RUN_KEY_MAX bytes; one
 * costs its bytes and 18 more. Not thread-safe. */
struct key_run_key {
    uint64_t word;       /* eight bytes of the key, where the sort is looking */
    const uint8_t *data; /* the key; its size stands in the two bytes before it, with its mark
                            in the highest bit */
};
enum { KEY_RUN_KEY_MAX = 0x7fff, KEY_RUN_MARK = 0x80 };

enum { KEY_RUN_LINE = 64 }; /* bytes of memory that come together */

struct key_run_block;

struct key_run {
    struct key_run_key *keys;
    size_t count, room;
    struct key_run_block *blocks;
    uint8_t *at, *end; /* free space in the first block */
    size_t memory;     /* bytes asked of the allocator */
};

/* A marked key is like any other, but a walk tells of the mark. */
void key_run_add(struct key_run *key_run, struct bytes key, bool marked);
void key_run_release(struct key_run *key_run);
/* Sorts by bytes; keys should be distinct. Multikey quicksort: what keys share is looked at once,
 * not at each comparison. */
void key_run_sort(struct key_run *key_run);

/* A walk over the keys as they lie in memory, which is quicker than in their order, block by block.
 * Zero but for `key_run` to begin. */
struct key_run_walk {
    const struct key_run *key_run;
    const struct key_run_block *block;
    const uint8_t *at, *end;
    bool marked; /* the key */
};
/* To the beginning of the next block; false: there is none. A copy of the walk then walks that
 * block. */
bool key_run_walk_block(struct key_run_walk *walk);
/* The next key of the block; false at its end. */
bool key_run_walk_next(struct key_run_walk *walk, struct bytes *key);

static inline struct bytes key_run_get(const struct key_run *key_run, size_t at) {
    const uint8_t *data = key_run->keys[at].data;
    return bytes_of(data, (size_t)((data[-2] & ~KEY_RUN_MARK) << 8 | data[-1]));
}

/* Asks for a key that will be wanted soon: sorted keys are scattered in memory. One with its size
 * is mostly on two lines of it. (gcc takes a call of a function that only does that for one that
 * does nothing, unless it is inlined in any case.)
 */
__attribute__((always_inline)) static inline void key_run_prefetch(const struct key_run *key_run,
                                                                   size_t at) {
    if (at < key_run->count) {
        __builtin_prefetch(key_run->keys[at].data - 2);
        __builtin_prefetch(key_run->keys[at].data + KEY_RUN_LINE - 2);
    }
}

#endif
