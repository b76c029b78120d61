/* Submitting changes and coming back: the one way from a front end to the engine and back to where
 * the request is handled.
 *
 * On a loop's thread change_submit() only hands the change over. What a loop submits in one turn is
 * sent as one batch before it waits, and `back` runs on that loop when the change is done. On any
 * other thread, which may wait (a request that runs on a pool, because the engine blocks or because
 * it would take long), it waits for the change, and `back` runs there before change_submit()
 * returns. So a handler is written once, and where it began it goes on.
 *
 * The struct is the caller's, and is not touched any more once `back` runs.
 */
#ifndef GT_API_CHANGE_SUBMIT_H
#define GT_API_CHANGE_SUBMIT_H

#include "net/loop.h"
#include "table/inprocess.h"

#include <semaphore.h>
#include <stdatomic.h>

struct change_submit {
    void (*back)(struct change_submit *submit); /* the caller's; set before anything is submitted */
    struct loop *loop;                          /* the rest is change_submit.c's */
    struct task task;
    atomic_size_t left;        /* of several */
    sem_t all_done;            /* of several, on a thread that waits, */
    struct change_batch batch; /* where they wait for change_submit_end() */
};

/* Has the loops of a server batch what they submit. Before loops_start(). */
void change_submit_attach(struct loops *loops);

/* Submits the change; `done`, `user` and `batch` of it are taken. */
void change_submit(struct engine *engine, struct change *change, struct change_submit *submit);

/* Several that are under way at once: begin, add each, end; `back` runs once, after all are done,
 * and not before change_submit_end() is called. What one call of these submits reaches the engine
 * as a batch, one behind the other, as far as an engine has a use for batches. */
void change_submit_begin(struct change_submit *submit);
void change_submit_add(struct engine *engine, struct change *change, struct change_submit *submit);
void change_submit_end(struct change_submit *submit);

#endif
