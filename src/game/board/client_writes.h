/* Items that clients write straight into the partitions of boards, by DynamoDB's API, PartiQL or an
 * import: they meet the rules that all other writes to boards meet, in the same commit.
 *
 *   BOARD#<instance>     An item with a score, or one that had one, is an entry. Its board must be
 *                        open: a sealed period refuses it, its deletion too. Its score must be
 *                        within the board's limits. Attributes that it leaves out are filled in
 *                        (subscore, tie, ttl, its player), a hidden member's entry is stored
 * hidden, and its board's instance item is made if there is none. The score given becomes the
 * score, as with ZADD, whatever the board keeps. An item without a score is not an entry, and is
 * written as it is. INSTANCE#<instance>  The item of a board that is sealed, or being cleared,
 * cannot be changed. AUDIT#<month> (audit_trail.h) takes nothing from clients.
 */
#ifndef GT_GAME_BOARD_CLIENT_WRITES_H
#define GT_GAME_BOARD_CLIENT_WRITES_H

#include "game/game.h"
#include "table/write_rule.h"

/* The rules of the game's table, for CHANGE_ADD_RULES. */
struct write_rules client_write_rules(struct game *game);

#endif
