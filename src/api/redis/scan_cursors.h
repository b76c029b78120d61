/* Cursors of SCAN and ZSCAN.
 *
 * A cursor is a number that stands for the name to go on after, so that a scan returns everything
 * that is there all the while, whatever comes and goes meanwhile. The latest SCAN_CURSORS_KEPT
 * names are remembered; an unknown or forgotten number begins again from the start, which returns
 * some names twice but leaves none out.
 */
#ifndef GT_API_REDIS_SCAN_CURSORS_H
#define GT_API_REDIS_SCAN_CURSORS_H

#include "base/arena.h"

#include <pthread.h>

enum { SCAN_CURSORS_KEPT = 16384 };

struct scan_cursor {
    uint64_t number;
    struct bytes owner; /* the key that is scanned by ZSCAN; empty: SCAN */
    struct bytes place; /* the name to go on after; one allocation with `owner` */
};

struct scan_cursors {
    pthread_mutex_t mutex;
    struct scan_cursor *ring; /* made when first needed */
    /* The last number given out. It begins at random, so that cursors from before a restart are
     * unknown. */
    uint64_t last;
};

void scan_cursors_init(struct scan_cursors *cursors);
void scan_cursors_release(struct scan_cursors *cursors);
/* Remembers the place and returns its number, which is never 0. Any thread. */
uint64_t scan_cursors_keep(struct scan_cursors *cursors, struct bytes owner, struct bytes place);
/* The place, copied to the arena; empty if the number is unknown, or another owner's. Any thread.
 */
struct bytes scan_cursors_find(struct scan_cursors *cursors, uint64_t number, struct bytes owner,
                               struct arena *arena);

#endif
