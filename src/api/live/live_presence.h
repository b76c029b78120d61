/* Presence: which players of a room are connected. A connection is an item of the table, and a seat
 * says whether its player has one open. Both are written in the background, while the subscription
 * is served; the removal always after the insertion. */
#ifndef GT_API_LIVE_LIVE_PRESENCE_H
#define GT_API_LIVE_LIVE_PRESENCE_H

#include "api/live/live.h"

struct presence;

/* A player has connected: writes a connection with a new id. On a loop. */
struct presence *presence_open(struct live *live, struct bytes code, struct bytes player);
/* The player has disconnected, and was last heard from so long ago. On the same loop. It frees
 * itself when that is written. */
void presence_close(struct presence *presence, int64_t silent_ms);
/* Other servers took this one for dead and removed its connections: writes all of them again. Any
 * thread. */
void presence_rewrite(struct live *live);

#endif
