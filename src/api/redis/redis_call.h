/* Calls on their way from a request to its reply. Private to this folder; all functions are called
 * on the client's loop. */
#ifndef GT_API_REDIS_REDIS_CALL_H
#define GT_API_REDIS_REDIS_CALL_H

#include "api/redis/redis_frontend_int.h"

enum call_begun {
    CALL_BEGUN,
    CALL_WAITS,       /* for the client's earlier ones: try again when they are done */
    CALL_BATCH_AGAIN, /* call_flush_batch() was false */
};
/* Takes the request that the client's parser has ready (RESP_READY), and answers or starts it, or
 * adds it to a batch. */
enum call_begun call_begin(struct redis_client *client);
/* Replaces call->command by its subcommand, if it has any. False, with the error reply made, if
 * there is no such command. (redis_check.c) */
bool call_find_subcommand(struct redis_call *call);
/* Whether the call may run, by its arity, the caller's rights, and MULTI; sets call->allowed.
 * (redis_check.c) */
enum status call_check(struct redis_call *call);
/* enum denied_partitions of the call's keys. Where the call runs. (redis_check.c) */
unsigned call_denied_partitions(struct redis_call *call);
/* Whether the caller of `outer` may run the command as a part of it. Wherever it runs.
 * (redis_check.c) */
enum denial call_decide_nested(const struct redis_call *outer, const struct redis_request *request);
/* Answers the reads that were batched, or starts the writes (request_batch.h). Called when all
 * received bytes are parsed, and before any other request is begun. False if nothing was done, and
 * the batch's requests are to be parsed and begun again: they will not be batched. */
bool call_flush_batch(struct redis_client *client);
/* Copies the arguments, since the bytes that were received are reused before the call ends. Of a
 * large request it takes over the bytes themselves, and sets client->gave. (redis_args.c) */
void call_keep_args(struct redis_call *call);
/* Frees what was taken over. */
void call_drop_taken(struct redis_call *call);
/* Where the reply goes: to the stream, or nowhere (CLIENT REPLY). (call_reply.c) */
struct buf *call_reply_target(struct redis_call *call);
/* Puts the call at the end of the client's queue: its reply is sent after those before it.
 * (call_reply.c) */
void call_queue(struct redis_client *client, struct redis_call *call);
/* Sends the reply of a call that is done, and gives the call back to its loop's free list.
 * (call_reply.c) */
void call_finish(struct redis_call *call);

#endif
