/* The things that the caller of Kauwa Udd names. They are items of the table, so that others can be
 * added.
 *
 *   PK OBJ#<id>  SK META   GSI1 OBJECTS / <id>   flies, emoji, en, hi
 */
#ifndef GT_GAME_KINDS_KAUWA_UDD_OBJECTS_H
#define GT_GAME_KINDS_KAUWA_UDD_OBJECTS_H

#include "base/limits.h"
#include "game/game.h"

struct kauwa_object {
    struct bytes id, emoji, en, hi;
    bool flies;
};

struct kauwa_object_list {
    struct kauwa_object *objects;
    size_t count;
};

/* Writes the program's own list, if there are no things in the table. Blocks. */
enum status kauwa_objects_seed(struct game *game, struct scope in);
/* Reads all things from the table, at most KAUWA_OBJECTS_MAX, into the arena. */
enum { KAUWA_OBJECTS_MAX = LIMIT_KAUWA_OBJECTS };
enum status kauwa_objects_load(struct game *game, struct scope in, struct kauwa_object_list *out);
enum status kauwa_object_get(struct game *game, struct bytes id, struct scope in,
                             struct kauwa_object *out);
/* Whether a thing of the program's own list flies: 1, 0, or -1 if it is not in that list. */
int kauwa_object_flies(struct bytes id);

#endif
