/* By what players are found: items in the partition of each player who has a profile.
 *
 *   PK PLAYER#<key>  SK FIND#ID        GSI2 PLAYERS / ID#<id>
 *                    SK FIND#NAME#<n>  GSI2 PLAYERS / NAME#<name from its n-th word on>
 *                    SK FIND#EMAIL     GSI2 PLAYERS / EMAIL#<e-mail>
 *
 * The sort keys of GSI2 are in lower case, so a search by a beginning is one Query of the index
 * (player_search.h). Housekeeping writes the items from the table's stream, whoever wrote the
 * profile, and once for the profiles of tables that earlier versions made, by a scan in steps whose
 * position is an item (KEEPER / FINDERS).
 */
#ifndef GT_GAME_PLAYER_PLAYER_FINDERS_H
#define GT_GAME_PLAYER_PLAYER_FINDERS_H

#include "base/limits.h"
#include "game/game.h"
#include "table/table_stream.h"

#define FINDERS_PARTITION BYTES("PLAYERS") /* GSI2PK of all of them */

/* The items by which one player is found. Fewer than FINDERS_MAX: the others are not there. */
enum { FINDERS_MAX = 2 + LIMIT_PLAYER_NAME_WORDS };
struct finder {
    struct bytes sk;  /* FIND#... */
    struct bytes key; /* GSI2SK; empty: there is none of this kind */
};
/* All FINDERS_MAX that a profile can have, in the order in which searches look: id, names, e-mail;
 * in the arena. */
void player_finders(const struct item *profile, struct arena *arena,
                    struct finder out[FINDERS_MAX]);

/* Whether the item is one of these: they say nothing that the profile does not say. */
bool player_finders_has(const struct item *item);

/* Whether the stream's record is a change of what a player is found by. */
bool player_finders_changed(const struct stream_record *record);
/* Makes the items of the players of these partitions (PLAYER#<key>) what their profiles say, as
 * each commit finds them; where they are right already nothing is written. Blocks. */
enum status player_finders_follow(struct game *game, const struct bytes *partitions, size_t count,
                                  struct scope in);

/* One step of the scan for profiles that were there before: about a tenth of a second. *done:
 * all of them have been found, by this server or another. `by` is a number that tells this server
 * from others: only one is at it. Blocks. */
enum status player_finders_fill(struct game *game, int64_t by, struct scope in, bool *done);
/* Has the scan made again, since records of the stream were lost before they were read. Blocks. */
enum status player_finders_refill(struct game *game, struct scope in);

#endif
