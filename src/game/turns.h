/* Two arenas by turns, for work in pages: what a page leaves for the next outlives it, and memory
 * does not grow with the pages. */
#ifndef GT_GAME_TURNS_H
#define GT_GAME_TURNS_H

#include "base/arena.h"

struct turns {
    struct arena arenas[2];
    unsigned at;
};

static inline void turns_init(struct turns *turns) {
    turns->at = 0;
    arena_init(&turns->arenas[0]);
    arena_init(&turns->arenas[1]);
}

static inline void turns_release(struct turns *turns) {
    arena_release(&turns->arenas[0]);
    arena_release(&turns->arenas[1]);
}

/* The arena of the next page, emptied; that of the last one stays until the turn after. */
static inline struct arena *turns_next(struct turns *turns) {
    turns->at ^= 1;
    arena_reset(&turns->arenas[turns->at]);
    return &turns->arenas[turns->at];
}

#endif
