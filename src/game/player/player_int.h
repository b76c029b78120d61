/* Attributes, keys and functions that the files of players and plays share; private to this folder.
 */
#ifndef GT_GAME_PLAYER_PLAYER_INT_H
#define GT_GAME_PLAYER_PLAYER_INT_H

#include "base/buf.h"
#include "game/player/play_session.h"
#include "game/player/player.h"

/* Attributes of a play. */
#define PLAY_GAME     BYTES("game")
#define PLAY_STARTED  BYTES("startedAt")
#define PLAY_ENDED    BYTES("endedAt")
#define PLAY_STATUS   BYTES("status")
#define PLAY_SCORE    BYTES("score")
#define PLAY_DURATION BYTES("durationMs")
#define PLAY_META     BYTES("meta")
#define PLAY_IS_OPEN  BYTES("open")
#define PLAY_IS_ENDED BYTES("ended")

/* Sort keys and attributes of a player. */
#define PROFILE_SK      BYTES("PROFILE")
#define PROFILE_NAME    BYTES("name")
#define PROFILE_EMAIL   BYTES("email")
#define PROFILE_META    BYTES("meta")
#define PROFILE_HIDDEN  BYTES("hidden")
#define PROFILE_CREATED BYTES("createdAt") /* absent: the item only says that it is hidden */
#define PROFILE_CHANGED BYTES("changedAt")
#define STATS_SK        BYTES("STATS")

/* The partition "PLAYER#<key>", in the arena. The key is entry_key_of() the id, which for whoever
 * passes player_check_id() is the id itself; the id must pass player_check_member(). */
struct bytes player_pk(struct arena *arena, struct bytes id);
/* Whether the id can be that of a member of a board. INVALID with a sentence if not. */
enum status player_check_member(struct bytes id, struct scope in);
/* What a profile's item says, borrowing it. */
void player_read(const struct item *item, struct player *out);
/* The key of the claim on an e-mail address, {EMAIL#<e-mail>, OWNER}, in the arena. */
struct item player_email_key(struct arena *arena, struct bytes email);
/* The sort key "PLAY#<ulid>", in the arena. */
struct bytes play_sk(struct arena *arena, struct bytes id);
/* Whether the id can be that of a game. INVALID with a sentence if not. */
enum status play_check_game(struct bytes id, struct scope in);

/* The action that takes an entry out of the ranking or puts it back, as *hidden says when the
 * commit is prepared on the writer's thread. (player_hide.c) */
struct action player_hide_entry_action(struct game *game, const struct item *entry,
                                       const bool *hidden, struct arena *arena);

/* Appends the signed token of a play. */
void play_token_put(const struct game *game, const struct play *play, struct buf *to);
/* Reads a play from its item, borrowing it. DAMAGED if the item is not one of a play. */
enum status play_read(const struct item *item, struct play *out);

#endif
