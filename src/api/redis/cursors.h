/* Where scans go on.
 *
 * A cursor is a number, and the place to go on from is a name, so that what is there all the while
 * is told, whatever comes and goes around it. The latest CURSORS_KEPT places are remembered; a
 * number that is not known (any more) begins again from the start, which tells some things twice
 * but leaves nothing out.
 */
#ifndef GT_API_REDIS_CURSORS_H
#define GT_API_REDIS_CURSORS_H

#include "base/arena.h"

#include <pthread.h>

enum { CURSORS_KEPT = 16384 };

struct cursor {
    uint64_t number;
    struct bytes owner, place; /* owned, in one piece */
};

struct cursors {
    pthread_mutex_t mutex;
    struct cursor *ring; /* made when first needed */
    uint64_t last;       /* number given; the first is not 1, so that other lives' are not ours */
};

void cursors_init(struct cursors *cursors);
void cursors_release(struct cursors *cursors);
/* A number, never 0, for the place in the owner. Any thread. */
uint64_t cursors_keep(struct cursors *cursors, struct bytes owner, struct bytes place);
/* The place, copied to the arena; empty if the number is not known. Any thread. */
struct bytes cursors_find(struct cursors *cursors, uint64_t number, struct bytes owner,
                          struct arena *arena);

#endif
