/* How often each command was called, for INFO commandstats. A loop counts in a table of its own, so
 * that no two threads write to the same place; whoever asks adds them up. */
#ifndef GT_API_REDIS_COUNTS_H
#define GT_API_REDIS_COUNTS_H

#include "api/redis/command.h"

#include <stdatomic.h>

enum { COUNT_SLOTS = 512 }; /* several times as many as there are commands */

struct command_count {
    _Atomic(const struct redis_command *) command; /* NULL: nobody's yet */
    _Atomic(uint64_t) calls, usec, rejected, failed;
};

struct command_counts {
    struct command_count slots[COUNT_SLOTS]; /* by a hash of the command's address */
};

/* The command's place, made if need be. Only on the thread that owns the table. */
struct command_count *counts_of(struct command_counts *counts, const struct redis_command *command);

/* It was called and answered: it took so long (of our own time, not of waiting for the disk). */
void counts_called(struct command_counts *counts, const struct redis_command *command,
                   uint64_t usec, bool failed);

/* From now on the loop's time is that command's; up to now it was that of the one before. One look
 * at the clock for all of a pipeline that are the same. NULL: nobody's. */
struct redis_loop;
void counts_time(struct redis_loop *loop, const struct redis_command *command);

/* The lines of INFO, and their beginning again. Any thread. */
void counts_put(struct redis_face *face, struct arena *arena, struct buf *to);
void counts_reset(struct redis_face *face);

#endif
