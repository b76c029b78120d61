/* Freeing what is large, on a thread that nobody waits for.
 *
 * The trees of a dropped index or a deleted table are hundreds of megabytes, and giving these back
 * takes tens of milliseconds. Who drops them holds `state_lock`, or is the writer, or is whoever
 * let go of a table last. So what they are to free is only taken out of its place there, and given
 * to the engine's reclaimer, which frees one thing after the other. */
#ifndef GT_TABLE_LOCAL_RECLAIMER_H
#define GT_TABLE_LOCAL_RECLAIMER_H

#include <stddef.h>

struct reclaimer;

/* Starts the thread. If it cannot be started, things are freed by who gives them. */
struct reclaimer *reclaimer_new(void);
/* Has `release(what)` called soon, on the reclaimer's thread. Any thread, under any lock: it takes
 * no longer than waking a thread. Without a reclaimer (NULL), calls it now. */
void reclaimer_give(struct reclaimer *reclaimer, void (*release)(void *what), void *what);
/* How many things were given that are not freed yet. For tests. */
size_t reclaimer_waiting(struct reclaimer *reclaimer);
/* Frees what there still is, ends the thread, and frees the reclaimer. Nobody gives any more. */
void reclaimer_free(struct reclaimer *reclaimer);

#endif
