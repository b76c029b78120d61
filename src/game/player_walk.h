/* All entries of a player, in pages: first those that say whose they are (GSI1), then, board by
 * board, those that were written without saying so. Private to this folder. */
#ifndef GT_GAME_PLAYER_WALK_H
#define GT_GAME_PLAYER_WALK_H

#include "game/player.h"

/* Where a walk goes on. Zero: at the beginning. Borrowed from the arena of the page before. */
struct player_place {
    bool by_board;         /* the first half is done */
    struct item after;     /* of the first half: the key of the last entry; count 0: none yet */
    struct bytes instance; /* of the second: the last board looked at */
    bool ended;
};

struct player_page {
    struct item *items; /* the entries, whole */
    size_t count;
    /* Of the second half: the boards looked at, and where the player has an entry. */
    struct instance_list boards;
};

/* The next page; may be empty while there is more. *place moves on. */
enum status player_walk(struct game *game, struct bytes id, struct player_place *place,
                        struct arena *arena, struct failure *failure, struct player_page *out);

#endif
