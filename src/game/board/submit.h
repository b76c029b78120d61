/* Submitting a score: one commit writes it to all the boards it counts for.
 *
 * The caller prepares, submits the change itself and, when that is done, finishes and releases; on
 * any thread, but none of these while the change is under way. */
#ifndef GT_GAME_BOARD_SUBMIT_H
#define GT_GAME_BOARD_SUBMIT_H

#include "base/limits.h"
#include "game/board/standings.h"

enum {
    SUBMIT_SCOPES_MAX = LIMIT_SUBMIT_SCOPES,
    SUBMIT_NAME_MAX = LIMIT_ENTRY_NAME, /* bytes */
    SUBMIT_META_MAX = LIMIT_ENTRY_META, /* as items are measured */
    SUBMIT_TOKEN_MAX = LIMIT_SUBMIT_TOKEN,
};

struct submission {
    struct bytes game;   /* all boards of the game, in their present periods; or */
    struct bytes board;  /* this board (and the cross-game boards it feeds), by its id, */
    struct bytes period; /* in this period (must be the present one); empty: the present one */
    bool existing_only;  /* a plain board that does not exist is NOT_FOUND, instead of made */
    struct bytes scope;  /* of the board, this scope alone and those of `scopes`; empty: global */
    const struct bytes *scopes; /* further scopes: "room:AB12" */
    size_t scope_count;
    struct bytes player;
    /* Encoded numbers. A subscore (empty: 0) that is submitted to a game is ignored by those of its
     * boards that have no subscores; submitted to one board, that board must have them. */
    struct bytes score, subscore;
    struct bytes name;        /* shown on boards; empty: that of the profile, if any */
    const struct value *meta; /* a map; NULL: what the entry has stays */
    /* The player itself submits, by its token: DENIED for boards that rooms feed, whose scores come
     * from matches, and for scopes that the player is not in. */
    bool by_player;
    struct bytes play;  /* the token of a play session (play_session.h), or empty */
    struct bytes token; /* an idempotency key, or empty */
    /* Part of a larger change, such as a match's end, that must not fail because a sum exceeds the
     * limit of one board: that board is left as it is. Ranks are not looked up. */
    bool part;
};

struct submit_result {
    const struct board *board;
    bool accepted;
    const char *reason; /* why not: "not better", "already has one", ... */
    bool had_old;
    struct points before, after;
    uint64_t rank_before, rank_after; /* right before this write and right after it, in the order of
                                         commits; 0: not on the board */
    uint64_t total;                   /* entries on the board after it */
    bool unranked; /* the board's ranking is being built: ranks and total are not known */
};

struct submit {
    struct game *game;
    struct change change; /* filled in but for done and user */
    struct submit_result *results;
    size_t result_count;
    bool
        repeated; /* the idempotency key was used before: nothing was written, results are of now */
    /* submit.c's own */
    struct entry_write *writes;
    void *state;
};

/* Finds the boards, checks the score against each and fills in the change. INVALID, NOT_FOUND (no
 * such board), LIMIT_EXCEEDED (more than LIMIT_SUBMIT_BOARDS of them), DENIED (fair play: the text
 * says why), BUSY (a board is being cleared). Everything lives in the arena. Once it is OK, the
 * change is submitted and submit_finish() and submit_release() follow; if it is not, there is
 * nothing to give back. */
enum status submit_prepare(struct game *game, const struct submission *submission, struct scope in,
                           struct submit *out);
/* After the change: results, or why nothing was written. */
enum status submit_finish(struct submit *submit, struct failure *failure);
/* A hash of what a submission asks for, without its token; the same after a restart. */
uint64_t submit_digest(const struct submission *submission, uint64_t seed);
/* Gives the boards back; a second call does nothing. */
void submit_release(struct submit *submit);

#endif
