/* The clocks of the rooms: a thread that steps each room whose time has come, found in the table's
 * own index of due times. Several servers may do so on one table: a lease item settles who. */
#ifndef GT_GAME_CLOCKS_H
#define GT_GAME_CLOCKS_H

#include "game/room.h"

struct clocks;
struct clocks *clocks_start(struct game *game);
/* Something was written that may be due sooner than what it waits for. Any thread. */
void clocks_wake(struct clocks *clocks);
/* Has `stepped` called after each step that is written, on the clocks' thread; NULL: no more. */
void clocks_tell(struct clocks *clocks, void (*stepped)(void *user, struct bytes code), void *user);
void clocks_stop(struct clocks *clocks);

#endif
