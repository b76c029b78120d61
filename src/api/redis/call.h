/* Calls: from a request to its reply. Private to this folder; all on the client's loop. */
#ifndef GT_API_REDIS_CALL_H
#define GT_API_REDIS_CALL_H

#include "api/redis/face_int.h"

/* The request that the client's parser has READY: answered, or under way. False if it has to wait
 * for earlier ones: ask again when they are done. */
bool call_take_up(struct redis_client *client);
/* In a family of commands the one meant takes the place of call->command. False, with the reply, if
 * there is no such command. (check.c) */
bool call_meant(struct redis_call *call);
/* Whether the call may run: its arity, the client's key, MULTI. (check.c) */
enum status call_check(struct redis_call *call);
/* What was gathered of the client's requests is answered. At the end of what has arrived, and
 * before anything else is told. */
void call_gathered(struct redis_client *client);
/* Gives the call's change to the engine. */
void call_submit(struct redis_call *call);
/* The reply of a call that is done goes to the client, and the call to the pool. */
void call_finish(struct redis_call *call);
void call_free(struct redis_call *call);

#endif
