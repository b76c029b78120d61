/* Play sessions: one play of a game by a player, opened by the server.
 *
 *   PK PLAYER#<id>  SK PLAY#<ulid>   GSI2 PLAYGAME#<game> / PLAY#<ulid>
 *   game, startedAt, endedAt, status (open, ended), score, durationMs, meta
 *
 * Opening one gives a signed token. A board may demand it: a submission then ends the play in the
 * same commit, so a token serves once. The ULID begins with the time: newest first is the order of
 * the key read from its end.
 */
#ifndef GT_GAME_PLAY_H
#define GT_GAME_PLAY_H

#include "game/game.h"

struct play {
    struct bytes id; /* ULID */
    struct bytes player, game;
    int64_t started_ms, ended_ms; /* 0: still open */
    struct bytes score;           /* encoded; empty: none told */
    const struct value *meta;
};

/* Opens a play; `token` gets the signed token, in change->arena. The rest is in *out at once. */
enum status play_open_prepare(struct game *game, struct bytes player, struct bytes game_id,
                              const struct value *meta, struct change *change,
                              struct failure *failure, struct play *out, struct bytes *token);
/* What a token says. DENIED with a sentence if it is not ours. */
enum status play_token_read(const struct game *game, struct bytes token, struct arena *arena,
                            struct failure *failure, struct play *out);
/* The action that ends the play, with its score: fails with DENIED ("was already used") if it is
 * not open. For all_or_nothing changes. */
void play_end_action(struct game *game, const struct play *play, struct bytes score, int64_t now_ms,
                     struct arena *arena, struct action *out);
/* Ends a play by itself (a session without a board). */
enum status play_end_prepare(struct game *game, struct bytes player, struct bytes id,
                             struct bytes score, const struct value *meta, struct change *change,
                             struct failure *failure);
enum status play_get(struct game *game, struct bytes player, struct bytes id, struct arena *arena,
                     struct failure *failure, struct play *out);
/* Newest first, those older than `before` (empty: from the newest): of a player, or of a game. */
struct play_list {
    struct play *plays;
    size_t count;
    bool more;
};
enum status play_list_player(struct game *game, struct bytes player, struct bytes before,
                             size_t limit, struct arena *arena, struct failure *failure,
                             struct play_list *out);
enum status play_list_game(struct game *game, struct bytes game_id, struct bytes before,
                           size_t limit, struct arena *arena, struct failure *failure,
                           struct play_list *out);

#endif
