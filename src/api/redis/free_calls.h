/* The calls that a loop keeps for reuse: making one anew would cost more than most commands do.
 * Private to this folder; all functions are called on the client's loop. */
#ifndef GT_API_REDIS_FREE_CALLS_H
#define GT_API_REDIS_FREE_CALLS_H

#include "api/redis/redis_frontend_int.h"

/* The memory that a finished call keeps at most: of its arena, and of its reply. */
enum { FREE_CALL_KEEP = 64 * 1024 };

/* A call of the client, with nothing of an earlier one left in it. */
struct redis_call *call_take_free(struct redis_client *client);
/* Releases what the call has used, and keeps or frees it. */
void call_give_back(struct redis_call *call);
/* Frees a call that is in no list. */
void call_free(struct redis_call *call);

#endif
