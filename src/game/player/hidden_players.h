/* The set of hidden players, for writes that do not read profiles: those by ZADD and the like.
 *
 *   hidden    PK HIDDEN   SK <player, as entry_key_of()>     in addition to the profile's flag
 *
 * The partition is kept in memory as a set of keys together with the partition's version
 * (engine_partition_version) at which it was read. While the partition has that version, the set is
 * up to date. After a change (somebody was hidden or shown, by whichever client of this engine, or
 * the engine recovered from a failing disk) look-ups read the item itself until the set has been
 * loaded again. So the set never says what is not on disk, and nothing has to be undone when a
 * commit fails. While nobody is hidden, a look-up compares two numbers.
 *
 * A write that was prepared before a commit to this partition became visible does not see it.
 * Whoever hides or shows a player therefore waits for one more commit (player_hide) before it
 * updates the player's entries: by then all such writes are among them.
 */
#ifndef GT_GAME_PLAYER_HIDDEN_PLAYERS_H
#define GT_GAME_PLAYER_HIDDEN_PLAYERS_H

#include "game/game.h"

struct hidden_players;

/* Makes game->hidden and loads the set from the table. Blocks. */
enum status hidden_players_open(struct game *game, struct scope in);
void hidden_players_close(struct hidden_players *hidden);

/* Whether the member of that key is hidden, as of the last visible commit. Any thread; meant for
 * functions of ACTION_COMPUTE on the writer's thread. Takes the set's mutex for a short time. If
 * the table cannot be read the answer is yes: an entry that was hidden by mistake comes back when
 * the player is shown. */
bool hidden_players_has(struct game *game, struct bytes key);
/* The action that adds the player's item, or deletes it. */
struct action hidden_players_action(struct game *game, struct bytes key, bool is_hidden,
                                    struct arena *arena);
/* A number that changes when somebody is hidden or shown. Any thread. */
uint64_t hidden_players_version(const struct game *game);
/* Loads the set again if the partition has changed. Reads as many items as players are hidden, so
 * it is not for the engine's threads or an event loop's. */
void hidden_players_refresh(struct game *game);

#endif
