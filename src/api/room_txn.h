/* An optimistic transaction on a room: load it, work it out, write it, and if somebody else was
 * faster do it again on what that left. It is started on a loop and comes back to it when it is
 * done; where the engine may block, it runs on the pool in between. On a thread that may wait it is
 * over before room_txn_start() returns. */
#ifndef GT_API_ROOM_TXN_H
#define GT_API_ROOM_TXN_H

#include "api/background.h"
#include "api/change_submit.h"
#include "base/limits.h"
#include "game/room/room.h"

enum { ROOM_TXN_TRIES_MAX = LIMIT_ROOM_TRIES }; /* each time somebody else got something done */

struct room_txn {
    /* filled in by who starts it */
    struct game *game;
    struct background *pool; /* where it may wait; NULL: nowhere */
    struct bytes code; /* of the room; must outlive the transaction. Empty: `apply` makes it */
    /* Changes the loaded txn->room, or (without a code) fills in a new one. It may run several
     * times. Anything but OK, with the text in txn->failure, ends the transaction. */
    enum status (*apply)(struct room_txn *txn);
    /* Called on the thread that started it: txn->failure says how it went, txn->room is what was
     * written. The struct may be freed here, after room_txn_release(). */
    void (*finished)(struct room_txn *txn);
    void *user;

    struct room room;
    struct failure failure;

    /* the rest is room_txn.c's */
    struct arena arena; /* emptied before each try */
    struct change change;
    struct change_submit submit;
    struct loop *loop; /* where it was started; NULL: on a thread that may wait */
    struct task task;
    unsigned tries;
};

/* `finished` may be called before it returns. */
void room_txn_start(struct room_txn *txn);
void room_txn_release(struct room_txn *txn);

#endif
