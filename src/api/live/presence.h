/* Who is there: a connection is an item of the table, and a seat says whether one of its player's
 * is open. Both are written without anybody waiting for it. */
#ifndef GT_API_LIVE_PRESENCE_H
#define GT_API_LIVE_PRESENCE_H

#include "api/live/live.h"

enum { PRESENCE_ID_SIZE = 26 };

/* On a loop. Gives the connection its id. */
void presence_here(struct live *live, struct bytes code, struct bytes player,
                   char connection[PRESENCE_ID_SIZE]);
void presence_gone(struct live *live, struct bytes code, struct bytes player,
                   const char connection[PRESENCE_ID_SIZE]);

#endif
