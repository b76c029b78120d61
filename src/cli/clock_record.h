/* What a data folder remembers of the time, so that a start does not believe any clock it meets.
 *
 * DIR/clock is one line: the believed time, the steady clock's at that moment (both in
 * milliseconds), and which start of the machine that was counted from:
 *
 *     1790000000000 86400000 5c1b6c5e-1df2-4c0a-9d6e-7a0f3b0c8e11
 *
 * While the machine has not been restarted since, the steady clock tells exactly how long the
 * server was away, and so what the wall clock should say. After a restart it should be later, by
 * LIMIT_CLOCK_AWAY_S at most. A wall clock that says anything else has jumped, and proves itself
 * as any jump does (base/time_belief.h). Whoever knows better removes the file.
 *
 * The main thread calls all of this.
 */
#ifndef GT_CLI_CLOCK_RECORD_H
#define GT_CLI_CLOCK_RECORD_H

/* Goes on from what the folder remembers, and logs from now on what happens to the believed time.
 * `folder` NULL: there is none. Before other threads start. */
void clock_record_begin(const char *folder);
/* Writes down the present time. Nothing is said if the disk refuses: the next one may do. */
void clock_record_put(const char *folder);

#endif
