/* Calls that wait until a key has entries.
 *
 * A waiting call stands in one list, oldest first. When a board may have got entries, the oldest
 * call that waits for it is run again; if it got something, the next one is. So who waits longest
 * is served first, and a board that stays empty costs one look.
 *
 * Writes of this face say which board they wrote to. For those of others a thread looks at the
 * boards waited for many times a second (engine_touched() costs little), and at the time.
 *
 *     WAITING --woken--> WOKEN --on its loop--> TRYING --found nothing--> WAITING
 *                                                  \--served---> (gone)
 */
#ifndef GT_API_REDIS_WAIT_H
#define GT_API_REDIS_WAIT_H

#include "api/redis/command.h"

#include <pthread.h>
#include <stdatomic.h>

struct waiting {
    struct game *game;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread; /* runs from the first wait on */
    bool running, stopping;
    struct waiter *first, *last;
    atomic_uint count; /* read without the mutex: mostly nobody waits */
};

void waiting_init(struct waiting *waiting, struct game *game);
/* Before the engine is closed: nobody is woken any more. */
void waiting_stop(struct waiting *waiting);
void waiting_release(struct waiting *waiting);

/* What the call writes to is being cleared: it is run again soon. On the engine's thread. */
void call_retry(struct redis_call *call);
/* The call has been run: it has its reply (`served`), or it found nothing. True if it is over. On
 * its loop. */
bool wait_tried(struct redis_call *call, bool served);
/* The client has gone: the call is freed, now or soon. On its loop. */
void wait_cancel(struct redis_call *call);
/* Ends a wait as if its time was up, or with an error. On its loop. */
void wait_end(struct redis_call *call, bool with_error);

/* Whether a call of the client waits. Any thread. */
bool wait_is_waiting(struct waiting *waiting, const struct redis_client *client);
/* The board may have got entries. Any thread. */
void wait_wake(struct waiting *waiting, struct bytes pk);

#endif
