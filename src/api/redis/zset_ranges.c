/* Commands about ranges: ZRANGE in all its forms, its older spellings, ZCOUNT, ZLEXCOUNT;
 * ZRANGESTORE; ZREMRANGEBYRANK, ZREMRANGEBYSCORE, ZREMRANGEBYLEX. */
#include "api/redis/zset_range_args.h"

/* ---- arguments ---- */

static enum status read_range_options(struct redis_call *call, size_t at, struct range_args *args) {
    for (; at < call->count; at++) {
        if (!args->store && call_arg_is(call, at, "withscores"))
            args->scores = true;
        else if (call_arg_is(call, at, "limit") && call->count - at > 2) {
            enum status status = call_int(call, at + 1, &args->range.offset);
            if (status == OK)
                status = call_int(call, at + 2, &args->range.limit);
            if (status != OK)
                return status;
            args->range.counted = true;
            at += 2;
        } else if (!args->directed && call_arg_is(call, at, "rev"))
            args->directed = args->range.reverse = true;
        else if (!args->kinded && call_arg_is(call, at, "bylex")) {
            args->kinded = true;
            args->range.by = RANGE_MEMBER;
        } else if (!args->kinded && call_arg_is(call, at, "byscore")) {
            args->kinded = true;
            args->range.by = RANGE_SCORE;
        } else
            return call_error(call, ERROR_SYNTAX);
    }
    return OK;
}

static enum status read_ends(struct redis_call *call, size_t at, struct zset_range *range) {
    size_t low = at, high = at + 1;
    if (range->by == RANGE_RANK) {
        enum status status = call_int(call, at, &range->start);
        return status == OK ? call_int(call, at + 1, &range->stop) : status;
    }
    if (range->reverse) {
        low = at + 1;
        high = at;
    }
    return range->by == RANGE_SCORE ? range_read_scores(call, low, high, range)
                                    : range_read_members(call, low, high, range);
}

enum status range_args_read(struct redis_call *call, size_t at, struct range_args *args) {
    struct zset_range *range = &args->range;
    range->limit = -1;
    enum status status = read_range_options(call, at + 2, args);
    if (status != OK)
        return status;
    if (range->limit != -1 && range->by == RANGE_RANK)
        return call_error(call, "ERR syntax error, LIMIT is only supported in combination with "
                                "either BYSCORE or BYLEX");
    if (args->scores && range->by == RANGE_MEMBER)
        return call_error(call, "ERR syntax error, WITHSCORES not supported in combination with "
                                "BYLEX");
    return read_ends(call, at, range);
}

/* ---- listing and counting ---- */

static enum status run_range(struct redis_call *call, struct range_args *args) {
    struct zset *zset;
    struct zset_entries entries;
    enum status status = range_args_read(call, 2, args);
    if (status == OK)
        status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_list(call, zset, &args->range, &entries);
    if (status == OK)
        reply_entries(call, &entries, args->scores);
    return status;
}

static enum status run_zrange(struct redis_call *call) {
    struct range_args args = {0};
    return run_range(call, &args);
}

static enum status run_older(struct redis_call *call, enum range_by by, bool reverse) {
    struct range_args args = {
        .directed = true, .kinded = true, .range = {.by = by, .reverse = reverse}};
    return run_range(call, &args);
}

static enum status run_zrevrange(struct redis_call *call) {
    return run_older(call, RANGE_RANK, true);
}

static enum status run_zrangebyscore(struct redis_call *call) {
    return run_older(call, RANGE_SCORE, false);
}

static enum status run_zrevrangebyscore(struct redis_call *call) {
    return run_older(call, RANGE_SCORE, true);
}

static enum status run_zrangebylex(struct redis_call *call) {
    return run_older(call, RANGE_MEMBER, false);
}

static enum status run_zrevrangebylex(struct redis_call *call) {
    return run_older(call, RANGE_MEMBER, true);
}

static enum status count_ranges(struct redis_call *call, const struct zset_range *ranges,
                                size_t count) {
    struct zset *zset;
    uint64_t members;
    enum status status = zset_open(call, call->args[1], &zset);
    for (size_t i = 0; i < count && status == OK; i++) {
        status = zset_count(call, zset, &ranges[i], &members);
        if (status == OK)
            resp_int(&call->out, (int64_t)members);
    }
    return status;
}

/* In a batch (COMMAND_BATCHED_PAIRS) there are several ranges. */
static enum status run_zcount(struct redis_call *call) {
    size_t count = (call->count - 2) / 2;
    struct zset_range *ranges = ARENA_ARRAY(call->arena, struct zset_range, count);
    enum status status = OK;
    for (size_t i = 0; i < count && status == OK; i++)
        status = range_read_scores(call, 2 + 2 * i, 3 + 2 * i, &ranges[i]);
    return status == OK ? count_ranges(call, ranges, count) : status;
}

static enum status run_zlexcount(struct redis_call *call) {
    struct zset_range range = {0};
    enum status status = range_read_members(call, 2, 3, &range);
    return status == OK ? count_ranges(call, &range, 1) : status;
}

/* ---- storing and removing ---- */

static enum status run_zrangestore(struct redis_call *call) {
    struct range_args args = {.store = true};
    struct zset_entries found = {0};
    struct zset *from;
    enum status status = range_args_read(call, 3, &args);
    if (status == OK)
        status = zset_open(call, call->args[2], &from);
    if (status == OK)
        status = zset_list(call, from, &args.range, &found);
    return status == OK ? zset_store(call, call->args[1], &found) : status;
}

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
        status = zset_clear(call, zset); /* which can do it at any size */
    else if (status == OK && count != 0) {
        status = zset_list(call, zset, range, &found);
        if (status == OK)
            status = zset_remove_all(call, zset, &found);
    }
    if (status == OK && count != 0)
        status = zset_notify_removed(call, zset, call->command->name, call->args[1]);
    if (status == OK)
        resp_int(&call->out, (int64_t)count);
    return status;
}

static enum status run_zremrangebyrank(struct redis_call *call) {
    struct zset_range range = {.by = RANGE_RANK};
    if (call_int(call, 2, &range.start) != OK || call_int(call, 3, &range.stop) != OK)
        return INVALID;
    return remove_range(call, &range);
}

static enum status run_zremrangebyscore(struct redis_call *call) {
    struct zset_range range = {.by = RANGE_SCORE};
    enum status status = range_read_scores(call, 2, 3, &range);
    return status == OK ? remove_range(call, &range) : status;
}

static enum status run_zremrangebylex(struct redis_call *call) {
    struct zset_range range = {.by = RANGE_MEMBER};
    enum status status = range_read_members(call, 2, 3, &range);
    return status == OK ? remove_range(call, &range) : status;
}

#define ONE_KEY \
    { 1, 1, 1, 0 }
#define TWO_KEYS \
    { 1, 2, 1, 0 }

const struct redis_command redis_range_commands[] = {
    {"zrange", -4, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_zrange, NULL, GROUP_SORTED_SET,
     "1.2.0", "Lists members in a range of ranks, scores or names", NULL},
    {"zrevrange", -4, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_zrevrange, NULL,
     GROUP_SORTED_SET, "1.2.0", "Lists members in a range of ranks, the highest score first", NULL},
    {"zrangebyscore", -4, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_zrangebyscore, NULL,
     GROUP_SORTED_SET, "1.0.5", "Lists members in a range of scores", NULL},
    {"zrevrangebyscore", -4, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_zrevrangebyscore, NULL,
     GROUP_SORTED_SET, "2.2.0", "Lists members in a range of scores, the highest first", NULL},
    {"zrangebylex", -4, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_zrangebylex, NULL,
     GROUP_SORTED_SET, "2.8.9", "Lists members in a range of names", NULL},
    {"zrevrangebylex", -4, COMMAND_READ, TOUCHES_PARTITION, ONE_KEY, run_zrevrangebylex, NULL,
     GROUP_SORTED_SET, "2.8.9", "Lists members in a range of names, the last first", NULL},
    {"zcount", 4, COMMAND_READ | COMMAND_FAST | COMMAND_BATCHED | COMMAND_BATCHED_PAIRS,
     TOUCHES_PARTITION, ONE_KEY, run_zcount, NULL, GROUP_SORTED_SET, "2.0.0",
     "Counts members in a range of scores", NULL},
    {"zlexcount", 4, COMMAND_READ | COMMAND_FAST, TOUCHES_PARTITION, ONE_KEY, run_zlexcount, NULL,
     GROUP_SORTED_SET, "2.8.9", "Counts members in a range of names", NULL},
    {"zrangestore", -5, COMMAND_WRITE | COMMAND_DENYOOM, TOUCHES_PARTITION, TWO_KEYS,
     run_zrangestore, NULL, GROUP_SORTED_SET, "6.2.0",
     "Keeps a range of a sorted set as one of its own", NULL},
    {"zremrangebyrank", 4, COMMAND_WRITE, TOUCHES_PARTITION, ONE_KEY, run_zremrangebyrank, NULL,
     GROUP_SORTED_SET, "2.0.0", "Removes those between two ranks", NULL},
    {"zremrangebyscore", 4, COMMAND_WRITE, TOUCHES_PARTITION, ONE_KEY, run_zremrangebyscore, NULL,
     GROUP_SORTED_SET, "1.2.0", "Removes those between two scores", NULL},
    {"zremrangebylex", 4, COMMAND_WRITE, TOUCHES_PARTITION, ONE_KEY, run_zremrangebylex, NULL,
     GROUP_SORTED_SET, "2.8.9", "Removes those between two members of one score", NULL},
    {0},
};
