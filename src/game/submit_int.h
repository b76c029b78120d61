/* Private to this folder: which boards a submission counts for. */
#ifndef GT_GAME_SUBMIT_INT_H
#define GT_GAME_SUBMIT_INT_H

#include "game/submit.h"

struct submit_target {
    const struct board *board; /* with a reference */
    struct bytes *sources;     /* of a cross-game board: those that feed it, by id */
    size_t source_count;
};

struct submit_targets {
    struct submit_target *all; /* room for SUBMIT_BOARDS_MAX */
    size_t count;
};

/* All boards it counts for, each once. Those found are in *out even if it fails. */
enum status submit_find_boards(struct game *game, const struct submission *submission,
                               struct arena *arena, struct failure *failure,
                               struct submit_targets *out);

/* Whether the boards take such a score, and whether it was come by fairly. `play` is what the token
 * says, or NULL. */
struct play;
enum status submit_check(const struct submission *submission, const struct submit_targets *targets,
                         const struct play *play, int64_t now_ms, struct arena *arena,
                         struct failure *failure);
/* What can be seen without the boards. */
enum status submit_check_form(const struct submission *submission, struct arena *arena,
                              struct failure *failure);

#endif
