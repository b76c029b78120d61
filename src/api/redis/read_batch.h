/* Batches reads of one command that follow one another in a client's pipeline: of one key and
 * different members (COMMAND_BATCHED), of different keys (COMMAND_BATCHED_KEYS), of different
 * keys with a field of each (COMMAND_BATCHED_PAIRS), or of one key and different ranges (the first
 * and the last). They are collected as they are parsed and run
 * as one call: what they share is looked up once, and the rest together, which hides cache misses.
 *
 * Only requests that could be run at once are batched, and the batch is run before any other
 * request of the client is begun. All on the loop's thread. */
#ifndef GT_API_REDIS_READ_BATCH_H
#define GT_API_REDIS_READ_BATCH_H

#include "api/redis/redis_command.h"

enum { READ_BATCH_MAX = 32 };

struct read_batch {
    const struct redis_command *command;
    size_t count;                              /* requests */
    size_t shared;                             /* arguments that are the same, */
    size_t differs;                            /* and how many follow that are not: 1 or 2 */
    struct bytes args[2 + 2 * READ_BATCH_MAX]; /* those, then the last arguments of each */
};

/* Begins a batch with the request; false if it cannot be batched. */
bool read_batch_begin(struct read_batch *batch, const struct redis_command *command,
                      const struct resp_parser *request);
/* Adds the request to the batch; false if it does not fit. */
bool read_batch_add(struct read_batch *batch, const struct resp_parser *request);
/* The number of arguments of one request; and puts those of the request `index` in the first one's
 * place. */
static inline size_t read_batch_args(const struct read_batch *batch) {
    return batch->shared + batch->differs;
}
void read_batch_show(struct read_batch *batch, size_t index);

#endif
