/* Submissions as JSON: reading them, and telling what came of them. */
#ifndef GT_API_REST_REST_SCORES_H
#define GT_API_REST_REST_SCORES_H

#include "api/rest/rest_call.h"
#include "game/board/submit.h"

/* Score, name, meta, scopes, the play's token. The body has been checked against its form. */
enum status rest_score_read(struct rest_call *call, const struct json *body, struct arena *arena,
                            struct submission *out);
/* Whose: the body's `player`, or the player whose token came along. DENIED, INVALID. */
enum status rest_score_player(struct rest_call *call, const struct json *body, struct bytes *out);
/* Appends the object of a submission that went through. */
void rest_score_put(struct rest_call *call, const struct submission *submission,
                    const struct submit *submit);

#endif
