/* ZRANDMEMBER: members by chance, each as likely as any other. */
#include "base/random.h"
#include "api/redis/pairs.h"
#include "base/limits.h"
#include "base/map.h"

#include <stdlib.h>

static struct random fresh(void) {
    struct random random;
    uint64_t seed;
    random_secure(&seed, sizeof(seed));
    random_seed(&random, seed);
    return random;
}

/* `count` different ranks out of `size`: each new one is either itself or, where that was drawn
 * already, the last that may come (Floyd). Then in an order by chance. */
static uint64_t *draw_different(struct redis_call *call, uint64_t size, uint64_t count) {
    struct random random = fresh();
    struct map seen = {0};
    uint64_t *ranks = arena_alloc(call->arena, (size_t)count * sizeof(*ranks));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t top = size - count + i;
        ranks[i] = random_below(&random, top + 1);
        if (map_get(&seen, bytes_of(&ranks[i], sizeof(*ranks))) != NULL)
            ranks[i] = top;
        map_put(&seen, bytes_of(&ranks[i], sizeof(*ranks)), &ranks[i]);
    }
    map_release(&seen);
    for (uint64_t i = count; i > 1; i--) {
        uint64_t other = random_below(&random, i), rank = ranks[i - 1];
        ranks[i - 1] = ranks[other];
        ranks[other] = rank;
    }
    return ranks;
}

static uint64_t *draw_any(struct redis_call *call, uint64_t size, uint64_t count) {
    struct random random = fresh();
    uint64_t *ranks = arena_alloc(call->arena, (size_t)count * sizeof(*ranks));
    for (uint64_t i = 0; i < count; i++)
        ranks[i] = random_below(&random, size);
    return ranks;
}

static enum status draw(struct redis_call *call, int64_t count, struct zset_entries *out) {
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
    if (count > 0 && wanted >= size)
        return zset_all(call, zset, out);
    uint64_t *ranks = count < 0 ? draw_any(call, size, wanted) : draw_different(call, size, wanted);
    return zset_at_ranks(call, zset, ranks, (size_t)wanted, out);
}

static enum status run_zrandmember(struct redis_call *call) {
    struct zset_entries found;
    int64_t count = 1;
    if (call->count > 2 && call_int_between(call, 2, INT64_MIN, INT64_MAX, NULL, &count) != OK)
        return INVALID;
    if (count == INT64_MIN)
        return call_error(call, "ERR value is out of range, value must between %lld and %lld",
                          (long long)-INT64_MAX, (long long)INT64_MAX);
    bool scores = call->count == 4 && call_arg_is(call, 3, "WITHSCORES");
    if (call->count > 4 || (call->count == 4 && !scores))
        return call_error(call, ERROR_SYNTAX);
    if (scores && (count < -INT64_MAX / 2 || count > INT64_MAX / 2))
        return call_error(call, "ERR value is out of range");
    enum status status = draw(call, count, &found);
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
     {1, 1, 1, 0},
     run_zrandmember,
     NULL,
     GROUP_SORTED_SET,
     "6.2.0",
     "Members of a sorted set by chance"},
    {0},
};
