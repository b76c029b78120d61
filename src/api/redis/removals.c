/* ZREMRANGEBYRANK, -SCORE, -LEX: whole ranges go. */
#include "api/redis/pairs.h"

static enum status remove_range(struct redis_call *call, const struct zset_range *range) {
    struct zset *zset;
    struct zset_entries found = {0};
    uint64_t size = 0, count = 0;
    enum status status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_size(call, zset, &size);
    if (status == OK)
        status = zset_count(call, zset, range, &count);
    if (status == OK && count != 0 && count == size)
        status = zset_clear(call, zset); /* whatever its size */
    else if (status == OK && count != 0) {
        status = zset_list(call, zset, range, &found);
        if (status == OK)
            status = zset_remove_all(call, zset, &found);
    }
    if (status == OK)
        resp_int(&call->out, (int64_t)count);
    return status;
}

static enum status run_by_rank(struct redis_call *call) {
    struct zset_range range = {.by = RANGE_RANK};
    if (call_int(call, 2, &range.start) != OK || call_int(call, 3, &range.stop) != OK)
        return INVALID;
    return remove_range(call, &range);
}

static enum status run_by_score(struct redis_call *call) {
    struct zset_range range = {.by = RANGE_SCORE};
    enum status status = range_read_scores(call, 2, 3, &range);
    return status == OK ? remove_range(call, &range) : status;
}

static enum status run_by_member(struct redis_call *call) {
    struct zset_range range = {.by = RANGE_MEMBER};
    enum status status = range_read_members(call, 2, 3, &range);
    return status == OK ? remove_range(call, &range) : status;
}

const struct redis_command redis_removal_commands[] = {
    {"zremrangebyrank",
     4,
     COMMAND_WRITE,
     {1, 1, 1, 0},
     run_by_rank,
     NULL,
     GROUP_SORTED_SET,
     "2.0.0",
     "Removes those between two ranks"},
    {"zremrangebyscore",
     4,
     COMMAND_WRITE,
     {1, 1, 1, 0},
     run_by_score,
     NULL,
     GROUP_SORTED_SET,
     "1.2.0",
     "Removes those between two scores"},
    {"zremrangebylex",
     4,
     COMMAND_WRITE,
     {1, 1, 1, 0},
     run_by_member,
     NULL,
     GROUP_SORTED_SET,
     "2.8.9",
     "Removes those between two members of one score"},
    {0},
};
