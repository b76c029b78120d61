/* Several writes to one entry in one commit, one after the other.
 *
 * A change may write an item only once, so a member on many lines of a load has one action, whose
 * function applies its writes in turn: each sees the item that the one before made, and the last
 * item is written. Two arenas are used alternately for the steps, so that fifty thousand lines of
 * one member take no more memory than two. */
#ifndef GT_GAME_BOARD_ENTRY_RUN_H
#define GT_GAME_BOARD_ENTRY_RUN_H

#include "game/board/entry.h"

struct entry_run {
    struct entry_write write; /* of what is filled in, only the outcome is kept */
    action_compute *compute;  /* entry_write_by_rules or entry_write_by_flags */
    struct entry_run *next;   /* to the same entry, or NULL */
};

/* For ACTION_COMPUTE, with the first `struct entry_run` of the entry as action->user. */
action_compute entry_run_write;
/* The action of all of them, as entry_action() fills it in. `member_key` is entry_key_of() the
 * member. */
struct action entry_run_action(struct game *game, struct bytes member_key, struct entry_run *first,
                               struct arena *arena);

#endif
