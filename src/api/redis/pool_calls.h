/* Calls on a pool of threads: what takes long, and, where the engine may block, all commands; one
 * of a client at a time. Private to this folder; all functions are called on the client's loop. */
#ifndef GT_API_REDIS_POOL_CALLS_H
#define GT_API_REDIS_POOL_CALLS_H

#include "api/redis/redis_frontend_int.h"

/* Whether the call begins there. Commands about the connection alone do not use the engine, and run
 * on the loop. */
bool call_goes_to_pool(const struct redis_call *call);
/* Puts the call into the client's queue and has it run there. */
void call_start_on_pool(struct redis_client *client, struct redis_call *call);
/* Likewise a call that is in the client's queue already. */
void call_run_on_pool(struct redis_client *client, struct redis_call *call);

#endif
