/* Blocking calls (BZPOPMIN, BZMPOP): they wait until a key has entries.
 *
 * All waiting calls are in one list, oldest first. When a board may have got entries, the oldest
 * call that waits for it is run again; if it was served, the next one is. So the longest wait is
 * served first, and a write that leaves a board empty costs one run.
 *
 * Writes of this front end wake the waiters of their board (wait_wake). For writes of other front
 * ends a thread polls the partition versions of the boards waited for, every 20 ms, and the
 * timeouts with them.
 *
 *     WAITING --woken--> WOKEN --on its loop--> TRYING --found nothing--> WAITING
 *                                                  \--served---> (gone)
 */
#ifndef GT_API_REDIS_REDIS_WAIT_H
#define GT_API_REDIS_REDIS_WAIT_H

#include "api/redis/redis_command.h"

#include <pthread.h>
#include <stdatomic.h>

struct waiting {
    struct game *game;
    pthread_mutex_t mutex;  /* guards what follows, and the state of each waiter */
    pthread_cond_t changed; /* a call waits, or the thread has to stop */
    pthread_t thread;       /* polls; started by the first wait */
    bool running, stopping;
    struct waiter *first, *last;
    atomic_uint count; /* of waiters; read without the mutex, since mostly there are none */
};

void waiting_init(struct waiting *waiting, struct game *game);
/* Ends the thread. Call it before the engine is closed; nothing is woken afterwards. */
void waiting_stop(struct waiting *waiting);
void waiting_release(struct waiting *waiting);

/* Has the call run again in a few milliseconds, because a board it writes to is being cleared. On
 * the engine's thread. */
void call_retry(struct redis_call *call);
/* The call has run: it has its reply (`served`), or found nothing and waits on. True if it is over.
 * On its loop. */
bool wait_ran(struct redis_call *call, bool served);
/* The client has gone: frees the call, now or when its task arrives at the loop. On its loop. */
void wait_cancel(struct redis_call *call);
/* CLIENT UNBLOCK: ends a wait as if its time was up, or with an error. On its loop. */
void wait_end(struct redis_call *call, bool with_error);

/* Whether a call of the client waits. Any thread. */
bool wait_is_waiting(struct waiting *waiting, const struct redis_client *client);
/* The board of that name in full may have got entries: wakes its oldest waiter. Any thread. */
void wait_wake(struct waiting *waiting, struct bytes board);

#endif
