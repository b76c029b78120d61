/* The game on its table: what every part of this folder works with.
 *
 * Everything a game keeps is an item of one table (README.md lists the keys). This layer sees only
 * the table interface. Reads answer at once. A write comes in two halves around a change that its
 * caller submits: x_prepare() checks and fills in the change, x_finish() makes the answer when it
 * is done; whoever may block uses game_wait() in between. All calls are for any thread.
 */
#ifndef GT_GAME_GAME_H
#define GT_GAME_GAME_H

#include "table/table.h"

struct boards; /* the boards' cache: board.c's own */
struct hidden; /* hidden.h */

struct game_settings {
    struct bytes table; /* its name; empty: "gametable" */
    struct bytes zones; /* the folder of time zones; empty: the system's */
    /* Signs play sessions and the tokens of players; at least 32 bytes. */
    struct bytes secret;
};

struct game {
    struct engine *engine;
    struct bytes table;
    struct game_settings settings;
    struct boards *boards;
    struct hidden *hidden;
};

/* Makes the table if it is not there; one that is there must have our keys. Borrows the engine. */
enum status game_open(struct engine *engine, const struct game_settings *settings,
                      struct arena *arena, struct failure *failure, struct game **out);
void game_close(struct game *game);

/* Submits the change and waits for it. Not on a loop's or the engine's thread. */
enum status game_wait(struct game *game, struct change *change);

/* The names of the table's attributes and its indexes. */
#define GAME_PK       BYTES("PK")
#define GAME_SK       BYTES("SK")
#define GAME_SCORE    BYTES("score")
#define GAME_SUBSCORE BYTES("subscore")
#define GAME_TIE      BYTES("tie")
#define GAME_RANKS    BYTES("ranks") /* index: PK; score, subscore, tie. Keys only. */
#define GAME_GSI1     BYTES("GSI1")  /* index: GSI1PK; GSI1SK. Everything. */
#define GAME_GSI2     BYTES("GSI2")  /* index: GSI2PK; GSI2SK. Everything. */

/* {PK, SK}, borrowing both. */
struct item game_key(struct arena *arena, struct bytes pk, struct bytes sk);

#endif
