/* Players: profiles, found by id or e-mail; stats; hiding, exporting, erasing.
 *
 *   profile   PK PLAYER#<id>  SK PROFILE   GSI1 EMAIL#<e-mail> / PLAYER#<id>
 *   stats     PK PLAYER#<id>  SK STATS                  added up from plays by housekeeping
 *   plays     PK PLAYER#<id>  SK PLAY#<ulid>            (play_session.h)
 *   entries   GSI1 PLAYER#<id> / BOARD#<instance>       (entry.h)
 *   seats     GSI1 PLAYER#<id> / ROOM#<joined>#<code>   (room_seats.h)
 */
#ifndef GT_GAME_PLAYER_PLAYER_H
#define GT_GAME_PLAYER_PLAYER_H

#include "base/limits.h"
#include "game/board/standings.h"

enum { PLAYER_ID_MAX = LIMIT_PLAYER_ID };

struct player {
    struct bytes id;          /* 1 to PLAYER_ID_MAX bytes of text without control characters */
    struct bytes name;        /* shown; empty: none */
    struct bytes email;       /* lower case; empty: none */
    const struct value *meta; /* M, or NULL */
    bool hidden;
    int64_t created_ms, changed_ms;
};

/* Whether the id can be that of a player who has a profile, opens plays or sits in rooms. INVALID
 * with a sentence if not. Reading, hiding, exporting and erasing work for all members of boards:
 * those calls take every name that entry_key_of() takes. */
enum status player_check_id(struct bytes id, struct scope in);

/* Prepares the change that makes or replaces the profile. Two players cannot have one e-mail: the
 * change then fails with DUPLICATE, by an item of its own (PK EMAIL#<e-mail> SK OWNER) in the same
 * commit; and with CONFLICT if somebody else has changed the profile's e-mail meanwhile. */
enum status player_put_prepare(struct game *game, const struct player *player,
                               struct change *change, struct failure *failure);
/* Like player_put_prepare(), but the change fails with DUPLICATE if there is a profile already. */
enum status player_create_prepare(struct game *game, const struct player *player,
                                  struct change *change, struct failure *failure);
enum status player_get(struct game *game, struct bytes id, struct scope in, struct player *out);
enum status player_by_email(struct game *game, struct bytes email, struct scope in,
                            struct player *out);
/* The player's stats as an item: plays, total score, best score by game, time played, last played.
 * NOT_FOUND if no play of the player has been counted yet. */
enum status player_stats(struct game *game, struct bytes id, struct scope in, struct item *out);
/* The entries of a player on all boards, with ranks, in pages: first those that say whose they are
 * (GSI1), by instance name; then those that do not, such as ZADD makes, which are looked for board
 * by board. A page may have less than `limit`, or nothing, while there is more. */
struct player_boards_request {
    struct bytes id;
    struct bytes after; /* `next` of the page before; empty: the first page */
    size_t limit;
};
struct player_boards {
    const struct board **boards; /* give back with player_boards_release() */
    struct standing *standings;
    uint64_t *totals;
    size_t count;
    bool more;
    struct bytes next; /* where it goes on, in the arena; empty: that was all */
};
enum status player_boards(struct game *game, const struct player_boards_request *request,
                          struct scope in, struct player_boards *out);
void player_boards_release(struct player_boards *boards);
/* Hides the player from all boards, or shows it again: the entries stay, but are not ranked. Blocks
 * for several commits. */
enum status player_hide(struct game *game, struct bytes id, bool hidden, struct scope in);
/* An action that writes nothing: on the writer's thread it sets *hidden to what the profile says in
 * that commit, for the actions after it in the same change. */
struct action player_hidden_action(struct game *game, struct bytes id, bool *hidden,
                                   struct arena *arena);
/* What a profile's item says, for functions of ACTION_COMPUTE; false and empty if there is none. */
bool player_profile_hidden(const struct item *profile);
struct bytes player_profile_name(const struct item *profile);
/* All items that are about the player, in pages: profile, stats, plays, seats, entries. */
struct player_export_request {
    struct bytes id;
    const struct item *after; /* `last_key` of the page before; NULL: the first page */
};
enum status player_export(struct game *game, const struct player_export_request *request,
                          struct scope in, struct page_reply *out);
/* Leaves the rooms that the player sits in and deletes all of its items. *count is how many items
 * were deleted. Blocks for many commits; after a failure it can be called again. */
enum status player_erase(struct game *game, struct bytes id, struct scope in, uint64_t *count);

/* --- tokens by which a player's own client is recognised --- */

/* Appends a signed token for the player that is good until expires_ms. */
void player_token(const struct game *game, struct bytes id, int64_t expires_ms, struct buf *to);
struct player_token_request {
    struct bytes token;
    int64_t now_ms; /* by which it must not have ended */
};
/* The player of a token, in the arena. DENIED with a sentence if it is not ours or has ended. */
enum status player_token_read(const struct game *game, const struct player_token_request *request,
                              struct scope in, struct bytes *id);

#endif
