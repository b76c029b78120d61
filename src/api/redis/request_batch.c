#include "api/redis/request_batch.h"

enum { WRITE_MAX = 2048 }; /* bytes of a write: those of all are copied */

/* The words of an inline request lie in the parser, which reuses them for the next one. */
static bool is_batchable(const struct redis_command *command, const struct resp_parser *request,
                         size_t args) {
    return request->count == args && request->words.size == 0 &&
           (!command_writes(command) || request->used <= WRITE_MAX);
}

bool request_batch_begin(struct request_batch *batch, const struct redis_command *command,
                         const struct resp_parser *request) {
    unsigned kinds = COMMAND_BATCHED | COMMAND_BATCHED_KEYS | COMMAND_BATCHED_PAIRS;
    if (command == NULL || (command->flags & kinds) == 0)
        return false;
    size_t shared = (command->flags & COMMAND_BATCHED) != 0 ? 2 : 1;
    size_t differs = (command->flags & COMMAND_BATCHED_PAIRS) != 0 ? 2 : 1;
    if (!is_batchable(command, request, shared + differs))
        return false;
    batch->command = command;
    batch->shared = shared;
    batch->differs = differs;
    batch->count = 1;
    memcpy(batch->args, request->args, (shared + differs) * sizeof(batch->args[0]));
    return true;
}

/* Whether one of the batch ends with this argument: the member that it writes to. Two writes to one
 * member are two changes, one after the other. */
static bool names_member(const struct request_batch *batch, struct bytes member) {
    const struct bytes *at = batch->args + batch->shared + batch->differs - 1;
    for (size_t i = 0; i < batch->count; i++, at += batch->differs)
        if (bytes_equal(*at, member))
            return true;
    return false;
}

bool request_batch_add(struct request_batch *batch, const struct resp_parser *request) {
    if (batch->count == 0 || batch->count == REQUEST_BATCH_MAX ||
        !is_batchable(batch->command, request, request_batch_args(batch)))
        return false;
    for (size_t i = 0; i < batch->shared; i++)
        if (!bytes_equal(request->args[i], batch->args[i]))
            return false;
    if (command_writes(batch->command) && names_member(batch, request->args[request->count - 1]))
        return false;
    memcpy(batch->args + batch->shared + batch->differs * batch->count++,
           request->args + batch->shared, batch->differs * sizeof(batch->args[0]));
    return true;
}

void request_batch_show(struct request_batch *batch, size_t index) {
    struct bytes *first = batch->args + batch->shared;
    memmove(first, first + batch->differs * index, batch->differs * sizeof(*first));
}
