/* What the parts of plays and players share; private to this folder. */
#ifndef GT_GAME_PLAY_INT_H
#define GT_GAME_PLAY_INT_H

#include "base/buf.h"
#include "game/play.h"
#include "game/player.h"

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
#define PROFILE_CREATED BYTES("createdAt") /* absent: only hidden so far, not made */
#define PROFILE_CHANGED BYTES("changedAt")
#define STATS_SK        BYTES("STATS")

/* "PLAYER#<id>" and "PLAY#<ulid>" in the arena. */
struct bytes player_pk(struct arena *arena, struct bytes id);
struct bytes play_sk(struct arena *arena, struct bytes id);
/* Whether a game can be called that. INVALID with a sentence. */
enum status play_check_game(struct bytes id, struct arena *arena, struct failure *failure);

void play_token_put(const struct game *game, const struct play *play, struct buf *to);
/* Out of its item. DAMAGED if it is none. */
enum status play_read(const struct item *item, struct play *out);

#endif
