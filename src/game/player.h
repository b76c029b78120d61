/* Players: a profile, found by id or e-mail; what they have done; hiding, exporting, erasing.
 *
 *   profile   PK PLAYER#<id>  SK PROFILE   GSI1 EMAIL#<e-mail> / PLAYER#<id>
 *   stats     PK PLAYER#<id>  SK STATS                  kept by the keeper from play sessions
 *   plays     PK PLAYER#<id>  SK PLAY#<ulid>            (play.h)
 *   entries   GSI1 PLAYER#<id> / BOARD#<instance>       (entry.h)
 */
#ifndef GT_GAME_PLAYER_H
#define GT_GAME_PLAYER_H

#include "game/standings.h"

enum { PLAYER_ID_MAX = 128 };

struct player {
    struct bytes id;          /* 1 to PLAYER_ID_MAX bytes of text without control characters */
    struct bytes name;        /* shown; empty: none */
    struct bytes email;       /* lower case; empty: none */
    const struct value *meta; /* M, or NULL */
    bool hidden;
    int64_t created_ms, changed_ms;
};

/* Whether a player can be called that. INVALID with a sentence. */
enum status player_check_id(struct bytes id, struct arena *arena, struct failure *failure);

/* Makes or replaces the profile (`create`: DUPLICATE if there). Two players cannot have one e-mail:
 * DUPLICATE, by an item of its own (PK EMAIL#<e-mail> SK OWNER) in the same commit. */
enum status player_put_prepare(struct game *game, const struct player *player, bool create,
                               struct change *change, struct failure *failure);
enum status player_get(struct game *game, struct bytes id, struct arena *arena,
                       struct failure *failure, struct player *out);
enum status player_by_email(struct game *game, struct bytes email, struct arena *arena,
                            struct failure *failure, struct player *out);
/* What play sessions added up to: an item (plays, total score, best by game, time played, last
 * played). NOT_FOUND if there were none yet. */
enum status player_stats(struct game *game, struct bytes id, struct arena *arena,
                         struct failure *failure, struct item *out);
/* The entries of a player on all boards it was submitted to, with ranks; by instance name after
 * `after`. */
struct player_boards {
    const struct board **boards; /* give back with player_boards_release() */
    struct standing *standings;
    uint64_t *totals;
    size_t count;
    bool more;
};
enum status player_boards(struct game *game, struct bytes id, struct bytes after, size_t limit,
                          struct arena *arena, struct failure *failure, struct player_boards *out);
void player_boards_release(struct player_boards *boards);
/* Hides the player from all boards (or shows it again): the entries stay, and stand in no ranking.
 * Blocks: as many commits as it takes. */
enum status player_hide(struct game *game, struct bytes id, bool hidden, struct arena *arena,
                        struct failure *failure);
/* An action that writes nothing: it sets *hidden to what the profile says at the moment of the
 * commit, for the actions after it in the same change. */
void player_hidden_action(struct game *game, struct bytes id, struct arena *arena, bool *hidden,
                          struct action *out);
/* All items that are about the player, in pages: profile, stats, plays, entries. */
enum status player_export(struct game *game, struct bytes id, const struct item *after,
                          struct arena *arena, struct failure *failure, struct page_reply *out);
/* Takes all of that away. *count: how many items went. Blocks. */
enum status player_erase(struct game *game, struct bytes id, struct arena *arena,
                         struct failure *failure, uint64_t *count);

/* --- tokens that let a player speak for itself --- */

/* Appends a signed token that says "this is player <id> until then". */
void player_token(const struct game *game, struct bytes id, int64_t expires_ms, struct buf *to);
/* The player of a token, in the arena. DENIED with a sentence if it is not ours or has ended. */
enum status player_token_read(const struct game *game, struct bytes token, int64_t now_ms,
                              struct arena *arena, struct failure *failure, struct bytes *id);

#endif
