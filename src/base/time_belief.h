/* The believed time: the wall clock, as far as it has earned it.
 *
 * A wall clock can be set: by an operator, by a time server, by a machine that was resumed from a
 * copy. What follows from the time cannot be undone (an item expires, a season is sealed, a round
 * ends), so a jump is not followed at once. Between readings the believed time goes on by the
 * steady clock, which counts real time and cannot be set:
 *
 *     apart by                     the believed time
 *     up to LIMIT_CLOCK_TRUST_MS   is the wall clock's
 *     more                         goes on as before for LIMIT_CLOCK_PROOF_MS of real time. If the
 *                                  wall clock is still there then (and has not jumped again):
 *       ahead, or far behind         moves by LIMIT_CLOCK_STEP_MS, and after each further
 *                                    LIMIT_CLOCK_PROOF_MS by twice the step before, until they
 *                                    agree: an hour, two, four
 *       behind by at most a step     runs an eighth slower until they agree, so that it does not
 *                                    go back: rounds of a game go on
 *
 * So a clock that is wrong for seconds changes nothing, and one that was wrong for years is
 * followed within minutes. Plain memory without a lock; clock.h has the one that the process
 * shares. It reads no clock itself, so tests can give it any.
 */
#ifndef GT_BASE_TIME_BELIEF_H
#define GT_BASE_TIME_BELIEF_H

#include <stdbool.h>
#include <stdint.h>

/* Both clocks, read together. */
struct time_reading {
    int64_t wall_ms;   /* since 1970 */
    int64_t steady_ms; /* since the machine started, time asleep included */
};

/* Zero knows nothing yet, and believes the first reading. */
struct time_belief {
    bool known;
    int64_t offset_ms; /* the believed time less the steady clock */
    bool apart;        /* the wall clock has jumped, and is not followed yet */
    int64_t target_ms; /* that jump's wall clock, less the steady clock */
    int64_t since_ms;  /* by the steady clock: when it was seen, or last moved towards */
    int64_t step_ms;   /* how far the next step may go */
    bool slowing;      /* runs slower, until the wall clock has caught up */
};

enum time_event {
    TIME_AS_BEFORE,
    TIME_JUMPED, /* the wall clock is apart from now on */
    TIME_MOVED,  /* the believed time went a step */
    TIME_AGREES, /* they agree again */
};

struct time_news {
    enum time_event event;
    int64_t apart_ms; /* the wall clock less the believed time, after the event */
    int64_t moved_ms; /* how far TIME_MOVED went */
};

/* Believes that it is `now_ms` at that reading, whatever its wall clock says. */
void time_belief_start(struct time_belief *belief, struct time_reading reading, int64_t now_ms);
/* The believed time at a reading, which is not before the last one's; *news is what has happened.
 */
int64_t time_belief_at(struct time_belief *belief, struct time_reading reading,
                       struct time_news *news);

#endif
