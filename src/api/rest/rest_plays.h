/* Plays as JSON, for those who tell of them. */
#ifndef GT_API_REST_REST_PLAYS_H
#define GT_API_REST_REST_PLAYS_H

#include "api/rest/rest_call.h"
#include "game/player/play_session.h"

/* Appends the members of a play, without the braces. */
void play_put(struct rest_call *call, const struct play *play);
/* The whole answer of a list that one more was asked for than `limit`. */
void plays_put(struct rest_call *call, const struct play_list *list, size_t limit);
/* The `meta` of a body; NULL if there is none. INVALID. */
enum status meta_read(struct rest_call *call, const struct value **out);

#endif
