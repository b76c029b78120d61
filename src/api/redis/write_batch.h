/* Writes of one command to different members of one key that follow one another in a client's
 * pipeline (request_batch.h), as one call with one change: the arguments are checked and copied,
 * the board is looked up, and the change is admitted, queued and brought back once for all of them.
 *
 * The command's `start` is given the arguments of all requests, and makes one action of each, in
 * their order. The actions are `apart` (change.h), so that each request succeeds or fails by
 * itself. After the commit `then` is called for each request, with its own arguments, and each is
 * counted and logged as a call of its own. So nobody can tell a batch from requests that shared a
 * commit by chance.
 *
 * If the `start` does not come to such actions, nothing has happened yet: the requests are parsed
 * again and begun by themselves (redis_client.c). If the change is refused on the engine's thread
 * (call_refuse_start), each request becomes a call of its own, in the batch's place.
 *
 * All on the client's loop. Private to this folder. */
#ifndef GT_API_REDIS_WRITE_BATCH_H
#define GT_API_REDIS_WRITE_BATCH_H

#include "api/redis/redis_call.h"

/* Whether the request that the client's parser has ready may begin a batch: nobody looks on who
 * would be told of single commands, and the client was not found to write what cannot be batched.
 */
bool write_batch_may_begin(struct redis_client *client, const struct redis_command *command);
/* Starts the call, which was checked as its first request. False if that is not possible; then it
 * is to be given back, and its requests begun by themselves. */
bool write_batch_start(struct redis_call *call, const struct request_batch *batch, size_t count);
/* Makes the call the request `index` of its batch, with nothing said yet. */
void write_batch_show(struct redis_call *call, size_t index);
/* Makes the call its batch's first request, and each of the others a call behind it. */
void write_batch_split(struct redis_call *call);

#endif
