/* Empties sets that are too large to go in one commit.
 *
 * The commit that removed such a set has marked its board, which reads as empty since. One thread
 * takes the entries away, some a commit, and the mark at last. What it does not get to (a failure,
 * a stop, too many of them) the game's keeper finishes. */
#ifndef GT_API_REDIS_CLEARER_H
#define GT_API_REDIS_CLEARER_H

#include "game/board.h"

#include <pthread.h>

struct clearing_key;

struct clearer {
    struct game *game;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct clearing_key *first, **last;
    size_t count;
    bool running, stopping;
    pthread_t thread; /* while running */
};

void clearer_init(struct clearer *clearer, struct game *game);
/* Ends after the commit that is under way. */
void clearer_stop(struct clearer *clearer);
void clearer_release(struct clearer *clearer);
/* The board of that name is marked. Any thread. */
void clearer_add(struct clearer *clearer, struct bytes name);

#endif
