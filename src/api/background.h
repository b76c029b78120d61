/* A bounded pool of threads for work that may wait, so that no loop does.
 *
 * Work is taken in order. Threads are started when there is work for them and stay until the pool
 * is stopped; a pool that is never used has none. What it takes is bounded: as many pieces as it
 * has threads, and as many that wait; who comes with more is refused and tells its client to come
 * again.
 *
 * A server has two: one for the jobs of api/transfer, which run for minutes, and one for requests
 * that an engine may block on (offload.h). */
#ifndef GT_API_BACKGROUND_H
#define GT_API_BACKGROUND_H

#include <stdbool.h>

struct background;

/* For jobs: LIMIT_BACKGROUND of them run at once, none waits. */
struct background *background_new(void);
/* With so many threads at most, and so many pieces of work that wait for one. */
struct background *background_pool_new(unsigned threads, unsigned waiting);
/* Runs `work(argument)` soon. False, and nothing runs, if too much is under way or it is being
 * stopped. Any thread. */
bool background_run(struct background *background, void (*work)(void *argument), void *argument);
/* Takes no more, and waits until all that was taken has run. */
void background_stop(struct background *background);
/* Stops, then frees. */
void background_free(struct background *background);

#endif
