/* Time. Any thread.
 *
 * clock_now_ms() is for what is said about the world: when something was made, when it expires.
 * It is the believed time (time_belief.h): the wall clock, except that a jump of it must prove
 * itself first. clock_ticks_us() is for how long something takes: rates, time-outs, deadlines.
 */
#ifndef GT_BASE_CLOCK_H
#define GT_BASE_CLOCK_H

#include "base/time_belief.h"

/* Milliseconds since 1970 as believed, plus what clock_shift_ms() has added. */
int64_t clock_now_ms(void);
/* What clock_now_ms() was when the wall clock showed `wall_ms` (milliseconds since 1970), as the
 * system stamps what arrives: never later than now, nor more than `most_ms` before it, however the
 * wall clock may have jumped since. */
int64_t clock_from_wall(int64_t wall_ms, int64_t most_ms);
/* Moves the clock of this process forward, for tests of what time does. Returns the sum of all
 * shifts. */
int64_t clock_shift_ms(int64_t forward_ms);
/* From now on the time of this process stands still at `now_ms`, and only clock_shift_ms() moves
 * it; clock_ticks_us() goes on. For tests, which take as long as the machine lets them. */
void clock_stop(int64_t now_ms);
/* Microseconds that only go forward, from an arbitrary start: for measuring and time-outs. */
int64_t clock_ticks_us(void);

/* Sleeps for as long as it is since `begun_us`, by clock_ticks_us(), but for LIMIT_GIVE_WAY_US at
 * most. For a thread that does much in steps and for which nobody waits, after each step: it and
 * what it sets off (handovers, merges) would otherwise take all processors there are, and what
 * others ask for would wait for one. On a busy machine a step takes longer, and so does this. */
void clock_give_way(int64_t begun_us);

/* Both clocks of the system as they are. */
struct time_reading clock_read(void);
/* The believed time without shifts, and the steady clock's with it: what a later process can go on
 * from. */
struct time_reading clock_believed(void);
/* It is `now_ms` now, whatever the wall clock says; that has to prove itself. Before other threads
 * start. */
void clock_continue_from(int64_t now_ms);
/* Is told what happens to the believed time, on whichever thread has asked for it. NULL: nobody is.
 * Before other threads start. */
void clock_report_to(void (*report)(const struct time_news *news));

#endif
