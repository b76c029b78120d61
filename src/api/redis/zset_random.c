/* ZRANDMEMBER: members at random, each with the same probability. */
#include "api/redis/random_draw.h"
#include "api/redis/zset_txn.h"
#include "base/limits.h"

enum {
    SPARSE = 16, /* one of so many, and fewer, are looked up by rank; more are taken out of all */
    DRAWN_SIZE = 96, /* bytes of a member that is drawn */
};

static enum status draw_from_all(struct redis_call *call, struct zset *zset, int64_t count,
                                 struct zset_entries *out) {
    struct zset_entries all;
    enum status status = zset_all(call, zset, &all);
    if (status != OK || all.count == 0)
        return status;
    uint64_t wanted = count < 0 ? (uint64_t)-count : (uint64_t)count;
    if (count > 0 && wanted > all.count)
        wanted = all.count; /* it has lost some since it was measured */
    uint64_t *ranks = count < 0 ? draw_any(call->arena, all.count, wanted)
                                : draw_different(call->arena, all.count, wanted);
    out->list = arena_alloc(call->arena, (size_t)wanted * sizeof(*out->list));
    for (uint64_t i = 0; i < wanted; i++)
        out->list[out->count++] = all.list[ranks[i]];
    return OK;
}

static enum status draw_members(struct redis_call *call, int64_t count, struct zset_entries *out) {
    struct zset *zset;
    uint64_t size = 0, wanted = count < 0 ? (uint64_t)-count : (uint64_t)count;
    enum status status = zset_open(call, call->args[1], &zset);
    *out = (struct zset_entries){0};
    if (status == OK)
        status = zset_size(call, zset, &size);
    if (status != OK || size == 0 || count == 0)
        return status;
    if (count < 0 && wanted > LIMIT_RANDOM_MEMBERS)
        return call_error(call, "ERR value is out of range");
    status = call_spend(call, WORK_MEMBER * (wanted < size || count < 0 ? wanted : size));
    if (status == OK)
        status = call_need(call, wanted < size || count < 0 ? wanted * DRAWN_SIZE : 0);
    if (status != OK)
        return status;
    if (count > 0 && wanted >= size)
        return zset_all(call, zset, out);
    if (wanted >= size / SPARSE)
        return draw_from_all(call, zset, count, out);
    uint64_t *ranks =
        count < 0 ? draw_any(call->arena, size, wanted) : draw_different(call->arena, size, wanted);
    out->list = arena_alloc(call->arena, (size_t)wanted * sizeof(*out->list));
    for (uint64_t i = 0; i < wanted && status == OK; i++)
        status = zset_at_rank(call, zset, ranks[i], out);
    return status;
}

static enum status run_zrandmember(struct redis_call *call) {
    struct zset_entries found;
    int64_t count = 1;
    if (call->count > 2 && call_int(call, 2, &count) != OK)
        return INVALID;
    if (count == INT64_MIN)
        return call_error(call, "ERR value is out of range, value must between %lld and %lld",
                          (long long)-INT64_MAX, (long long)INT64_MAX);
    bool scores = call->count == 4 && call_arg_is(call, 3, "WITHSCORES");
    if (call->count > 4 || (call->count == 4 && !scores))
        return call_error(call, ERROR_SYNTAX);
    if (scores && (count < -INT64_MAX / 2 || count > INT64_MAX / 2))
        return call_error(call, "ERR value is out of range");
    enum status status = draw_members(call, count, &found);
    if (status != OK)
        return status;
    if (call->count > 2)
        reply_entries(call, &found, scores);
    else if (found.count == 0)
        resp_null(&call->out);
    else
        resp_bulk(&call->out, found.list[0].member);
    return OK;
}

const struct redis_command redis_random_commands[] = {
    {"zrandmember",
     -2,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_zrandmember,
     NULL,
     GROUP_SORTED_SET,
     "6.2.0",
     "Members of a sorted set by chance"},
    {0},
};
