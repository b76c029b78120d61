/* Play sessions: one play of a game by a player, opened by the server.
 *
 *   PK PLAYER#<id>  SK PLAY#<ulid>   GSI2 PLAYGAME#<game> / PLAY#<ulid>
 *   game, startedAt, endedAt, status (open, ended), score, durationMs, meta
 *
 * Opening one gives a signed token. A board may demand it: a submission then ends the play in the
 * submission's commit, so a token can be used once. A ULID begins with the time, so a backward
 * query of the key lists the newest first.
 */
#ifndef GT_GAME_PLAYER_PLAY_SESSION_H
#define GT_GAME_PLAYER_PLAY_SESSION_H

#include "game/game.h"

struct play {
    struct bytes id; /* ULID */
    struct bytes player, game;
    int64_t started_ms, ended_ms; /* 0: still open */
    struct bytes score;           /* as value/number.h encodes it; empty: none */
    const struct value *meta;     /* M, or NULL */
    struct bytes token;           /* of one that was just opened; else empty */
};

/* Prepares the opening of a play: the caller has filled in player, game and meta, and gets the id,
 * the start and the signed token, in change->arena. */
enum status play_open_prepare(struct game *game, struct play *play, struct change *change,
                              struct failure *failure);
/* What a token says. DENIED with a sentence if it is not ours. */
enum status play_token_read(const struct game *game, struct bytes token, struct scope in,
                            struct play *out);
/* The action that ends a play for whoever has shown its token. `ended` says which one it is (player
 * and id) and how it ended (ended_ms; score and meta, if there are any). The change fails with
 * DENIED ("was already used") if the play is not open, so it has to be an all_or_nothing one. */
struct action play_end_action(struct game *game, const struct play *ended, struct arena *arena);
/* Prepares the end of a play that no board asked for: as above, but the play ends now, and the
 * change fails with NOT_FOUND or DUPLICATE. */
enum status play_end_prepare(struct game *game, const struct play *ended, struct change *change,
                             struct failure *failure);

struct play_key {
    struct bytes player, id;
};
enum status play_get(struct game *game, struct play_key key, struct scope in, struct play *out);

struct play_list_request {
    struct bytes of;     /* the player, or the game, whose plays are wanted */
    struct bytes before; /* only plays older than this id; empty: from the newest on */
    size_t limit;
};
struct play_list {
    struct play *plays; /* newest first, in the arena */
    size_t count;
    bool more;
};
enum status play_list_player(struct game *game, const struct play_list_request *request,
                             struct scope in, struct play_list *out);
enum status play_list_game(struct game *game, const struct play_list_request *request,
                           struct scope in, struct play_list *out);

#endif
