/* How often each command was called, for INFO commandstats. Each loop counts in a table of its own,
 * which only its thread writes to; readers add the tables up. */
#ifndef GT_API_REDIS_COMMAND_STATS_H
#define GT_API_REDIS_COMMAND_STATS_H

#include "api/redis/redis_command.h"

#include "base/durations.h"

#include <stdatomic.h>

enum { COMMAND_STAT_SLOTS = 512 }; /* several times the number of commands; a power of two */

struct command_stat {
    _Atomic(const struct redis_command *) command; /* NULL: the slot is free */
    _Atomic(uint64_t) calls, usec, rejected, failed;
    _Atomic(struct durations *) latency; /* NULL: nothing was measured yet */
};

struct command_stats {
    struct command_stat
        slots[COMMAND_STAT_SLOTS]; /* open addressing, by a hash of the command's address */
};

/* The command's slot, taken if it has none. Only on the thread that owns the table. */
struct command_stat *command_stats_of(struct command_stats *counts,
                                      const struct redis_command *command);

/* Counts a call that has its reply; `usec` is the time it ran, without waiting for the commit.
 * Returns the command's slot. */
struct command_stat *command_stats_called(struct command_stats *counts,
                                          const struct redis_command *command, uint64_t usec,
                                          bool failed);
/* Counts `times` calls whose replies are ready that long after their bytes were there. Only on the
 * thread that owns the table. */
void command_stats_took(struct command_stat *count, int64_t us, uint64_t times);
/* Frees what the table holds. */
void command_stats_release(struct command_stats *counts);

/* From now on the loop's time is counted for this command (NULL: for none); what has passed is
 * added to the one before, and the reads that ran in it (loop->timed_reads) took the time since the
 * turn began: their replies leave together. So a run of equal commands in a pipeline reads the
 * clock once. */
struct redis_loop;
void command_stats_time(struct redis_loop *loop, const struct redis_command *command);

/* Appends the lines of INFO commandstats. Takes the front end's mutex. Any thread. */
void command_stats_put(struct redis_frontend *frontend, struct arena *arena, struct buf *to);
/* CONFIG RESETSTAT: counts from 0 again. Takes the front end's mutex. Any thread. */
void command_stats_reset(struct redis_frontend *frontend);

#endif
