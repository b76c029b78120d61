/* Deleting entries, and what follows from it in the same commit: the member's entry on a cross-game
 * board loses the part of that source (`parts` of its item, by the source's id), and is deleted
 * with its last part.
 *
 * Only entries of a source's present period count: the parts of an earlier period stay when that
 * period is removed, and so does the part of an entry that has expired.
 *
 * For callers that fill in a change, on the submitter's thread or in change->prepare: begin with
 * the first three members set, let entry_removals_add() fill in the action of each entry, then let
 * entry_removals_finish() fill in the others, which also frees what was allocated. */
#ifndef GT_GAME_BOARD_ENTRY_REMOVALS_H
#define GT_GAME_BOARD_ENTRY_REMOVALS_H

#include "base/map.h"
#include "game/board/board.h"

struct entry_removals {
    struct game *game;
    struct arena *arena; /* the change's */
    struct failure *failure;
    /* private */
    const struct board *source; /* whose cross-game boards are in `fed` */
    struct fed_board *fed;
    size_t fed_count;
    struct part_removal *first, **end;
    size_t count;
    struct map by_entry; /* no two actions may be about one item */
};

/* Fills in the action that deletes the entry of that key. If the board is no source of another,
 * that is all there is to do. */
enum status entry_removals_add(struct entry_removals *removals, const struct board *board,
                               struct bytes key, struct action *out);
/* How many actions entry_removals_finish() fills in. */
size_t entry_removals_count(const struct entry_removals *removals);
/* Fills in the actions that take the parts off, to stand after those of entry_removals_add() in the
 * change, and frees. With `out` NULL it only frees. */
void entry_removals_finish(struct entry_removals *removals, struct action *out);

#endif
