/* Something done to a room: load it, work it out, write it, and if somebody else was faster do it
 * again on what that left. On a loop; comes back to it when it is done. */
#ifndef GT_API_ACT_H
#define GT_API_ACT_H

#include "game/room.h"
#include "net/loop.h"

enum { ACT_TRIES_MAX = 200 }; /* each time somebody else got something done */

struct act {
    /* filled in by who starts it */
    struct game *game;
    struct bytes code; /* lives as long as the act. Empty: `apply` makes the room */
    /* What is done: on a loaded room, or (without a code) one to be made in act->room. It may run
     * several times. Anything but OK, with the text in act->failure, ends the act. */
    enum status (*apply)(struct act *act);
    /* On the loop: act->failure says how it went; act->room is what was written. The act may be
     * freed here, after act_release(). */
    void (*finished)(struct act *act);
    void *user;

    struct room room;
    struct failure failure;

    /* its own */
    struct arena arena; /* emptied before each try */
    struct change change;
    struct task task;
    struct loop *loop;
    unsigned tries;
};

/* On a loop's thread. `finished` may come before it returns. */
void act_start(struct act *act);
void act_release(struct act *act);

#endif
