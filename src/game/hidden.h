/* Who is hidden, for writes that do not look at profiles: entries by score alone.
 *
 *   hidden    PK HIDDEN   SK <player, as entry_key_of()>     beside the flag of the profile
 *
 * The list is in memory as well, and changes in the very commits that write it: a function for
 * ACTION_COMPUTE that comes after sees it. While nobody is hidden, asking is one look at a number.
 */
#ifndef GT_GAME_HIDDEN_H
#define GT_GAME_HIDDEN_H

#include "game/game.h"

struct hidden;

/* Reads the list from the table. */
enum status hidden_open(struct game *game, struct arena *arena, struct failure *failure);
void hidden_close(struct hidden *hidden);

/* Whether the member of that key is hidden, as of the commit that is being worked out. */
bool hidden_has(struct game *game, struct bytes key);
/* Puts the player on the list, or takes it off. If the change fails: hidden_again(). */
void hidden_action(struct game *game, struct bytes key, bool is_hidden, struct arena *arena,
                   struct action *out);
/* As the table has it: what was worked out did not come to be. */
void hidden_again(struct game *game);

#endif
