/* Which processor the writer's thread runs on: that of the one thread that submits, or any.
 *
 * With few writes under way a commit is mostly threads that wake one another: the loop the writer,
 * the writer the loop. On a machine of two processors each such wake-up is an interrupt of the
 * other one, where a client was at work. So where nearly all changes come from one thread and
 * commits are small, both are bound to one processor, and the other one is left to the clients;
 * where commits are large, both have work at the same time and run where the system puts them.
 * Whether it is of use is measured: if fewer changes are committed than before, it ends, and is not
 * tried again for a while.
 *
 * All of it is the writer's thread's. Only where there are at most two processors. */
#ifndef GT_TABLE_LOCAL_WRITER_PLACE_H
#define GT_TABLE_LOCAL_WRITER_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* What was submitted since the last look. Counted under the writer's lock. */
struct submissions {
    int thread;       /* thread_number() of the last submitter; 0: none yet */
    unsigned batches; /* all, */
    unsigned same;    /* and those of the thread that had submitted the one before */
};

struct writer_place {
    bool possible, together;
    int thread; /* that submits; the one that is bound, while together */
    /* this window */
    int64_t since_us;
    unsigned commits, changes;
    struct submissions submitted;
    /* windows before, one behind the other, that were as they have to be */
    unsigned windows, slow; /* and how many were of seldom commits */
    int64_t seen_changes, seen_us;
    double apart_rate; /* changes a microsecond before it was tried */
    int64_t retry_at_us;
};

void writer_place_init(struct writer_place *place, bool possible, int64_t now_us);
/* Adds what was submitted since the last call. */
void writer_place_submitted(struct writer_place *place, const struct submissions *some);
/* After each commit of so many changes. */
void writer_place_committed(struct writer_place *place, unsigned changes, int64_t now_us);
/* Now and then, for when nothing is committed any more. */
void writer_place_review(struct writer_place *place, int64_t now_us);
/* At once: before the writer does what has others start threads, or takes long. */
void writer_place_end(struct writer_place *place);

#endif
