/* Batches requests of one command that follow one another in a client's pipeline. They are
 * collected as they are parsed and become one call: what they share is looked up once, and the rest
 * together, which hides cache misses.
 *
 * Reads may be of one key and different members (COMMAND_BATCHED), of different keys
 * (COMMAND_BATCHED_KEYS), of different keys with a field of each (COMMAND_BATCHED_PAIRS), or of one
 * key and different ranges (the first and the last flag).
 *
 * Writes are of a value each to different members of one key, which are their last arguments (the
 * first and the last flag as well; write_batch.h).
 *
 * Only requests that could be run at once are batched, and the batch is run before any other
 * request of the client is begun. All on the loop's thread. */
#ifndef GT_API_REDIS_REQUEST_BATCH_H
#define GT_API_REDIS_REQUEST_BATCH_H

#include "api/redis/redis_command.h"

enum { REQUEST_BATCH_MAX = 32 };

struct request_batch {
    const struct redis_command *command;
    size_t count;                                 /* requests */
    size_t shared;                                /* arguments that are the same, */
    size_t differs;                               /* and how many follow that are not: 1 or 2 */
    struct bytes args[2 + 2 * REQUEST_BATCH_MAX]; /* those, then the last arguments of each */
};

/* Begins a batch with the request; false if it cannot be batched. */
bool request_batch_begin(struct request_batch *batch, const struct redis_command *command,
                         const struct resp_parser *request);
/* Adds the request to the batch; false if it does not fit. */
bool request_batch_add(struct request_batch *batch, const struct resp_parser *request);
/* The number of arguments of one request; and puts those of the request `index` in the first one's
 * place. */
static inline size_t request_batch_args(const struct request_batch *batch) {
    return batch->shared + batch->differs;
}
void request_batch_show(struct request_batch *batch, size_t index);

#endif
