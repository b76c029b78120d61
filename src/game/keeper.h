/* What the game does by itself: a thread that
 *   - seals periods that have ended, once, durably: the instance's item gets sealedAt, the total
 *     and the first ten, which the table's stream tells as the final standings;
 *   - takes away instances whose life has ended, and goes on clearing what was begun;
 *   - adds play sessions that ended to their players' stats, from the table's stream, each once:
 *     how far it has come is an item written with what it added.
 * Several servers may keep one table: what each does is conditional, so that it happens once. */
#ifndef GT_GAME_KEEPER_H
#define GT_GAME_KEEPER_H

#include "game/game.h"

struct keeper;
/* NULL if there can be no thread. Borrows the game. */
struct keeper *keeper_start(struct game *game);
/* Does now what is due, before it returns: for tests with a moved clock. Any thread but a loop's.
 */
void keeper_run(struct keeper *keeper);
void keeper_stop(struct keeper *keeper);

/* What it did since it was started. Any thread; waits for what it is at. */
struct keeper_figures {
    uint64_t sealed, removed; /* instances */
    uint64_t plays;           /* added to stats */
    uint64_t plays_skipped;   /* that could not be */
    uint64_t gaps;            /* times records had passed their day before they were read */
    uint64_t failures;        /* of the engine; what failed is tried again */
};
void keeper_figures(struct keeper *keeper, struct keeper_figures *out);

#endif
