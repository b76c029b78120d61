/* Who is there: a connection is an item of the table, and a seat says whether one of its player's
 * is open. Both are written without anybody waiting for it; the going always after the coming. */
#ifndef GT_API_LIVE_PRESENCE_H
#define GT_API_LIVE_PRESENCE_H

#include "api/live/live.h"

struct presence;

/* On a loop. Somebody is there, over a connection with an id of its own. */
struct presence *presence_here(struct live *live, struct bytes code, struct bytes player);
/* And is gone again, on the same loop. Frees it, when that is written. */
void presence_gone(struct presence *presence);
/* Others took this server for gone and cleared its connections away: all are written again. Any
 * thread. */
void presence_rewrite(struct live *live);

#endif
