#include "api/redis/gather.h"

/* Words of an inline request do not stay. */
static bool fits(const struct resp_parser *request) {
    return request->count == GATHER_MEMBER + 1 && request->words.size == 0;
}

bool gather_begin(struct gather *gather, const struct redis_command *command,
                  const struct resp_parser *request) {
    if (command == NULL || (command->flags & COMMAND_TOGETHER) == 0 || !fits(request))
        return false;
    gather->command = command;
    gather->count = 1;
    memcpy(gather->args, request->args, (GATHER_MEMBER + 1) * sizeof(gather->args[0]));
    return true;
}

bool gather_add(struct gather *gather, const struct resp_parser *request) {
    if (gather->count == 0 || gather->count == GATHER_MAX || !fits(request))
        return false;
    for (size_t i = 0; i < GATHER_MEMBER; i++)
        if (!bytes_equal(request->args[i], gather->args[i]))
            return false;
    gather->args[GATHER_MEMBER + gather->count++] = request->args[GATHER_MEMBER];
    return true;
}
