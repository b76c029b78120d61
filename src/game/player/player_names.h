/* Copies of a player's name in its entries.
 *
 * An entry has the name that is shown beside it: that of the submission, or the profile's if there
 * was none. When a profile's name changes, it is written into all entries of the player that are in
 * GSI1, on past periods and in their final standings, too. So reading a page of a board reads no
 * profiles, subscribers and caches of the board see the change, and so do clients that read entries
 * by another protocol. Housekeeping does it from the table's stream, so no change of a name is lost
 * when the program stops, whoever wrote it. */
#ifndef GT_GAME_PLAYER_PLAYER_NAMES_H
#define GT_GAME_PLAYER_PLAYER_NAMES_H

#include "game/game.h"
#include "table/table_stream.h"

/* Whether the stream's record is a change of a profile's name. */
bool player_names_changed(const struct stream_record *record);
/* Writes the profile's name, as each commit finds it, into the player's entries, or deletes theirs
 * if the profile has none any more. `partition` is the player's, PLAYER#<key>. Blocks for a commit
 * for every 200 entries. Writes nothing where the names are right already. */
enum status player_names_follow(struct game *game, struct bytes partition, struct scope in);

#endif
