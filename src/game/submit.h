/* Submitting a score: one call, one commit, all the boards it counts for. */
#ifndef GT_GAME_SUBMIT_H
#define GT_GAME_SUBMIT_H

#include "game/standings.h"

enum {
    SUBMIT_BOARDS_MAX = 100,
    SUBMIT_SCOPES_MAX = 20,
    SUBMIT_NAME_MAX = 256,  /* bytes */
    SUBMIT_META_MAX = 4096, /* as items are measured */
    SUBMIT_TOKEN_MAX = 255,
};

struct submission {
    struct bytes game;   /* all boards of the game, in their present periods; or */
    struct bytes board;  /* this one (and what is made of it), by its id, */
    struct bytes period; /* in this period (must be the present one); empty: the present one */
    const struct bytes *scopes; /* besides global: "room:AB12" */
    size_t scope_count;
    struct bytes player;
    struct bytes score, subscore; /* encoded numbers; subscore empty: 0 */
    struct bytes name;            /* shown; empty: as it is */
    const struct value *meta;     /* a map, or NULL: as it is */
    struct bytes play;            /* the token of a play session (play.h), or empty */
    struct bytes token;           /* an idempotency key, or empty */
};

struct submit_result {
    const struct board *board;
    bool accepted;
    const char *reason; /* why not: "not better", "already has one", ... */
    bool had_old;
    struct points before, after;
    uint64_t rank_before, rank_after; /* 0: not on the board */
    uint64_t total;
};

struct submit {
    struct game *game;
    struct change change; /* filled in but for done and user */
    struct submit_result *results;
    size_t result_count;
    bool repeated; /* the same idempotency key was done before: results are of now */
    /* submit.c's own */
    struct entry_write *writes;
    void *own;
};

/* Finds the boards, checks the score against each and fills in the change. INVALID, NOT_FOUND (no
 * such board), DENIED (fair play: the text says why), BUSY (a board is being cleared). Everything
 * lives in the arena. Once it is OK, the change is submitted and submit_finish() and
 * submit_release() follow; if it is not, there is nothing to give back. */
enum status submit_prepare(struct game *game, const struct submission *submission,
                           struct arena *arena, struct failure *failure, struct submit *out);
/* After the change: results, or why nothing was written. */
enum status submit_finish(struct submit *submit, struct failure *failure);
/* Gives the boards back; twice does no harm. */
void submit_release(struct submit *submit);

#endif
