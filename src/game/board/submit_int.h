/* Private to game/board: the steps of a submission. */
#ifndef GT_GAME_BOARD_SUBMIT_INT_H
#define GT_GAME_BOARD_SUBMIT_INT_H

#include "game/board/submit.h"

struct submit_target {
    const struct board *board; /* with a reference, given up by submit_release() */
    struct bytes *sources;     /* of a cross-game board: ids of the boards that feed it here */
    size_t source_count;
};

struct submit_targets {
    struct submit_target *all; /* room for LIMIT_SUBMIT_BOARDS */
    size_t count;
};

/* Finds all boards that the score counts for, each once. Those found are in *out even if it fails,
 * for submit_release(). */
enum status submit_find_targets(struct game *game, const struct submission *submission,
                                struct scope in, struct submit_targets *out);

/* A submission as it is held against the rules of its boards. */
struct play;
struct submit_attempt {
    struct game *game;
    const struct submission *submission;
    const struct play *play; /* what the token of the play session says; NULL: it has none */
    int64_t now_ms;
};
/* Whether each board takes the score: who submits may, it is open, the score is within its limits,
 * and the play session is what the board asks for. INVALID, BUSY, DENIED. */
enum status submit_check(const struct submit_attempt *attempt, const struct submit_targets *targets,
                         struct scope in);
/* Checks what can be checked without knowing the boards: sizes, names, numbers. INVALID. */
enum status submit_check_form(const struct submission *submission, struct scope in);

#endif
