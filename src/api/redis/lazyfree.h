/* Empties sets that are too large to be removed in one commit.
 *
 * The commit that removed such a set has marked its board, which reads as empty from then on. One
 * thread removes the entries, some in each commit, and finally the mark. What it does
 * not get to (after a failure or a stop, or if the queue is full) is left to the game's
 * housekeeping. */
#ifndef GT_API_REDIS_LAZYFREE_H
#define GT_API_REDIS_LAZYFREE_H

#include "game/board/board.h"

#include <pthread.h>

struct lazyfree_key;

struct lazyfree {
    struct game *game;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct lazyfree_key *first, **last;
    size_t count;
    bool running, stopping;
    pthread_t thread; /* while running */
};

void lazyfree_init(struct lazyfree *lazyfree, struct game *game);
/* Ends the thread after the commit that is under way. */
void lazyfree_stop(struct lazyfree *lazyfree);
/* Stops it, and frees what is still queued. */
void lazyfree_release(struct lazyfree *lazyfree);
/* Queues the board of that name, which has been marked; the name is copied. Any thread. */
void lazyfree_add(struct lazyfree *lazyfree, struct bytes name);
/* Queues the deletion of the items that large hashes and sets have left (key_garbage_step()). Any
 * thread. */
void lazyfree_collect(struct lazyfree *lazyfree);

#endif
