/* Calls that take long, on threads of their own, so that neither a loop nor the writer waits.
 *
 * A command does not know that it is long before it has looked at its sets. So it begins where all
 * do, with a bounded budget (call_budget.h), and is taken from there when it passes the bound:
 *
 *     a read      is run once more on the pool; its reply goes back to the loop
 *     a write     is run ahead on the pool: its reply and its actions are worked out from what the
 *                 table has, and each set that it opens notes the version of its partition. On the
 *                 writer's thread the versions are compared, which is short, and the actions are
 *                 committed. If others have written meanwhile it is run ahead again, a few times;
 *                 then only the sets that it writes to, and those that are watched, have to be as
 *                 they were (it has read a snapshot a little older than its commit), unless it is
 *                 or has a script, whose reads are of several moments then; and if that does not
 *                 help either, it is run on the writer's thread, unless it is known to be too long
 *                 for that by how much it has done ahead (LIMIT_WRITER_LONG); what writes
 * a large key is tried again while others may not write to it (key_holds.h).
 *
 * Order. Of one client's writes the later ones that reach the writer behind a call which left for
 * the pool are deferred: they come back undone, and are submitted again one after the other.
 */
#ifndef GT_API_REDIS_SLOW_CALLS_H
#define GT_API_REDIS_SLOW_CALLS_H

#include "api/redis/redis_call.h"

/* What a call may do where it runs first: on the loop, and on the writer's thread. */
void slow_set_loop_budget(struct redis_call *call);
void slow_set_writer_budget(struct redis_call *call);
/* Whether the call has passed the bound. */
static inline bool slow_is_over(const struct redis_call *call) {
    return call->own_budget.work_max != 0 && call->own_budget.work > call->own_budget.work_max;
}
/* Whether it has so many arguments that it goes to the pool at once. */
bool slow_has_many_args(const struct redis_call *call);

/* On the engine's thread, before and after `run`: whether the call is left undone for now. */
bool slow_defers(struct redis_call *call);
bool slow_leaves(struct redis_call *call);

/* Whether what a call that has run ahead was worked out from is still so: of all that it has read,
 * or (not `strict`) of what it writes and what is watched. Any thread. */
bool slow_is_current(struct redis_call *call, bool strict);

/* On the loop, when the change has come back: true if the call is not done yet. */
bool slow_goes_on(struct redis_call *call);
/* On the loop: runs the write ahead of the writer. */
void slow_run_ahead(struct redis_call *call);
/* On the loop, when a call of the client is done: submits the first that was deferred. */
void slow_resume_deferred(struct redis_client *client);
/* Frees a large arena on the pool: giving back hundreds of megabytes takes a while. */
void slow_release_arena(struct redis_frontend *frontend, struct arena *arena);

#endif
