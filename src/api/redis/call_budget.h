/* What a call may use up: work where others wait for it, and memory.
 *
 * Commands count their work before they do it, in units of about a quarter of a microsecond: two
 * for an entry that is listed, three for a member that is looked up, four for a set that is opened.
 * On a loop and on the writer's thread there is a bound. A call that would pass it fails with
 * WOULD_BLOCK, has nobody wait, and is run once more on a thread of its own (slow_calls.h), where
 * it may do any amount. Its memory is bounded there, alone and together with that of all others.
 */
#ifndef GT_API_REDIS_CALL_BUDGET_H
#define GT_API_REDIS_CALL_BUDGET_H

#include "base/arena.h"
#include "base/status.h"

struct redis_call;
struct redis_frontend;

struct call_budget {
    uint64_t work;     /* done so far */
    uint64_t work_max; /* 0: any amount */
    size_t elsewhere;  /* bytes that the call holds in arenas besides call->arena */
    size_t charged;    /* its part of frontend->calls_memory */
    bool exhausted;    /* there was not enough memory */
    bool ahead;        /* it runs before the writer does: sets note their versions (slow_calls.h) */
    bool strict;       /* and all that it reads has to be of the moment of its commit: a script */
};

enum { WORK_SET = 4, WORK_ENTRY = 2, WORK_MEMBER = 3, WORK_BYTES = 512 /* for one unit */ };

/* Counts so many units of work that are about to be done. OK, or WOULD_BLOCK. A call without a
 * budget may do any amount. */
enum status call_spend(struct redis_call *call, uint64_t units);
/* Counts that so many bytes of values were read or are written. As call_spend(). */
enum status call_spend_bytes(struct redis_call *call, uint64_t bytes);
/* Whether there is a bound: others wait for the call where it runs. */
bool call_is_bounded(const struct redis_call *call);
/* The call would have to wait for something, which it may not where it runs: as if it had passed
 * the bound. Returns WOULD_BLOCK. */
enum status call_spend_all(struct redis_call *call);
/* Why a call that would hold the writer for too long is not done: WOULD_BLOCK. */
enum status call_refuse_long(struct failure *out);
/* So many more bytes are about to be needed. OK; INVALID with an error reply if that is more than a
 * command may have; BUSY if all commands together have too much. */
enum status call_need(struct redis_call *call, uint64_t bytes);
/* Gives back what was charged. */
void call_budget_release(struct redis_frontend *frontend, struct call_budget *budget);

/* A part of a call that needs memory only until it ends: call->arena is another one meanwhile. */
struct call_scratch {
    struct arena arena, *own;
    size_t elsewhere; /* what budget->elsewhere was before */
};
void call_scratch_begin(struct redis_call *call, struct call_scratch *scratch);
/* Frees it; texts of errors are kept. */
void call_scratch_end(struct redis_call *call, struct call_scratch *scratch);

#endif
