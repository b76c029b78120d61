/* Two arenas used by turns, for work that reads a table page by page: the cursor that one page
 * leaves is still there while the next one is read, and memory does not grow with the number of
 * pages. The owner uses it on one thread and releases it. */
#ifndef GT_GAME_ARENA_PAIR_H
#define GT_GAME_ARENA_PAIR_H

#include "base/arena.h"

struct arena_pair {
    struct arena arenas[2];
    unsigned at;
};

static inline void arena_pair_init(struct arena_pair *arenas) {
    arenas->at = 0;
    arena_init(&arenas->arenas[0]);
    arena_init(&arenas->arenas[1]);
}

static inline void arena_pair_release(struct arena_pair *arenas) {
    arena_release(&arenas->arenas[0]);
    arena_release(&arenas->arenas[1]);
}

/* The arena for the next page, emptied. What is in the other one stays until the call after. */
static inline struct arena *arena_pair_next(struct arena_pair *arenas) {
    arenas->at ^= 1;
    arena_reset(&arenas->arenas[arenas->at]);
    return &arenas->arenas[arenas->at];
}

#endif
