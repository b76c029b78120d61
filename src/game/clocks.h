/* The clocks of the rooms: a thread that steps each room whose time has come, found in the table's
 * own index of due times. Several servers may do so on one table: a lease item settles who. It also
 * keeps this server's lease while it holds connections (connection.h), and clears rooms of those of
 * servers that are gone. */
#ifndef GT_GAME_CLOCKS_H
#define GT_GAME_CLOCKS_H

#include "game/room.h"

struct clocks;
struct clocks *clocks_start(struct game *game);
/* Something was written that may be due sooner than what it waits for. Any thread. */
void clocks_wake(struct clocks *clocks);
/* Called on the clocks' thread; quick. */
struct clocks_listener {
    /* A step was written (`room` is what was), or a room cleared (NULL). */
    void (*stepped)(void *user, struct bytes code, const struct room *room);
    void (*cleared)(void *user); /* others took this server for gone: open its connections again */
    void *user;
};
/* NULL: nobody any more. */
void clocks_tell(struct clocks *clocks, const struct clocks_listener *listener);

/* Who this server is: what its connections carry. */
struct bytes clocks_owner(const struct clocks *clocks);
/* So many connections more (or fewer) are held here. Before they are written, after they are
 * closed. Any thread. */
void clocks_hold(struct clocks *clocks, int more);

/* Gives up the server's lease, if no connection is left. */
void clocks_stop(struct clocks *clocks);

#endif
