/* The things that the caller of Kauwa Udd names: items of the table, so that a game may add its
 * own.
 *
 *   PK OBJ#<id>  SK META   GSI1 OBJECTS / <id>   flies, emoji, en, hi
 */
#ifndef GT_GAME_CONTENT_H
#define GT_GAME_CONTENT_H

#include "game/game.h"

struct content {
    struct bytes id, emoji, en, hi;
    bool flies;
};

struct content_list {
    struct content *objects;
    size_t count;
};

/* Puts the list that comes with the program where there is none yet. Blocks. */
enum status content_seed(struct game *game, struct arena *arena, struct failure *failure);
/* All there are, at most CONTENT_MAX. */
enum { CONTENT_MAX = 1000 };
enum status content_load(struct game *game, struct arena *arena, struct failure *failure,
                         struct content_list *out);
enum status content_get(struct game *game, struct bytes id, struct arena *arena,
                        struct failure *failure, struct content *out);
/* Whether a thing of the list that comes with the program flies; -1 if it is not in it. */
int content_flies(struct bytes id);

#endif
