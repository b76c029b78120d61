/* Housekeeping: a background thread that
 *   - seals the instances of boards whose period has ended: the instance's item gets sealedAt, the
 *     total and the first ten, so consumers of the table's stream get the final standings;
 *   - removes instances whose lifetime has ended, and resumes clearing that was interrupted;
 *   - adds play sessions that ended to their players' stats. It reads them from the table's stream,
 *     and stores its position in the commit that adds them, so each counts once;
 *   - writes a player's new name into its entries, from the stream as well (player_names.h);
 *   - makes players findable by id, name and e-mail, from the stream too (player_finders.h);
 *   - reloads the list of hidden players after others have changed it.
 * Several servers may run it on one table: all its writes are conditional, so each happens once. */
#ifndef GT_GAME_HOUSEKEEPING_H
#define GT_GAME_HOUSEKEEPING_H

#include "game/game.h"

struct housekeeping;
/* Starts the thread; NULL if there can be none. Borrows the game until housekeeping_stop(). */
struct housekeeping *housekeeping_start(struct game *game);
/* Does all that is due and returns: for tests that have moved the clock. Blocks; any thread but an
 * event loop's. */
void housekeeping_run(struct housekeeping *housekeeping);
/* Waits for the thread and frees everything. NULL is allowed. */
void housekeeping_stop(struct housekeeping *housekeeping);

/* Counts since the start. */
struct housekeeping_counters {
    uint64_t sealed, removed; /* instances */
    uint64_t plays;           /* added to stats */
    uint64_t plays_skipped;   /* whose stats could not be written */
    uint64_t gaps;            /* times that stream records were trimmed before they were read */
    uint64_t failures;        /* of the engine; what failed is tried again */
};
/* Any thread; blocks while housekeeping is at work. */
void housekeeping_counters(struct housekeeping *housekeeping, struct housekeeping_counters *out);

#endif
