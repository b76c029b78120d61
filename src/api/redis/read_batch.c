#include "api/redis/read_batch.h"

/* The words of an inline request lie in the parser, which reuses them for the next one. */
static bool is_batchable(const struct resp_parser *request, size_t args) {
    return request->count == args && request->words.size == 0;
}

bool read_batch_begin(struct read_batch *batch, const struct redis_command *command,
                      const struct resp_parser *request) {
    unsigned kinds = COMMAND_BATCHED | COMMAND_BATCHED_KEYS | COMMAND_BATCHED_PAIRS;
    if (command == NULL || (command->flags & kinds) == 0)
        return false;
    size_t shared = (command->flags & COMMAND_BATCHED) != 0 ? 2 : 1;
    size_t differs = (command->flags & COMMAND_BATCHED_PAIRS) != 0 ? 2 : 1;
    if (!is_batchable(request, shared + differs))
        return false;
    batch->command = command;
    batch->shared = shared;
    batch->differs = differs;
    batch->count = 1;
    memcpy(batch->args, request->args, (shared + differs) * sizeof(batch->args[0]));
    return true;
}

bool read_batch_add(struct read_batch *batch, const struct resp_parser *request) {
    if (batch->count == 0 || batch->count == READ_BATCH_MAX ||
        !is_batchable(request, read_batch_args(batch)))
        return false;
    for (size_t i = 0; i < batch->shared; i++)
        if (!bytes_equal(request->args[i], batch->args[i]))
            return false;
    memcpy(batch->args + batch->shared + batch->differs * batch->count++,
           request->args + batch->shared, batch->differs * sizeof(batch->args[0]));
    return true;
}

void read_batch_show(struct read_batch *batch, size_t index) {
    struct bytes *first = batch->args + batch->shared;
    memmove(first, first + batch->differs * index, batch->differs * sizeof(*first));
}
