/* Removing members from either end: ZPOPMIN, ZPOPMAX, ZMPOP, and their blocking variants. */
#include "api/redis/zset_txn.h"
#include "base/clock.h"

#include <math.h>

/* The form of the reply. */
enum shape {
    SHAPE_PAIRS,      /* ZPOPMIN: member and score, or a list of such */
    SHAPE_KEY_MEMBER, /* BZPOPMIN: key, member, score */
    SHAPE_KEY_PAIRS,  /* ZMPOP: key, then a list of pairs, in RESP 2 as well */
};

struct pop {
    const struct bytes *keys;
    size_t key_count;
    bool highest;
    int64_t count;
    enum shape shape;
};

static void reply_popped(struct redis_call *call, const struct pop *pop, struct bytes key,
                         const struct zset_entries *popped) {
    struct resp *out = &call->out;
    if (pop->shape == SHAPE_KEY_MEMBER) {
        resp_array(out, 3);
        resp_bulk(out, key);
        resp_bulk(out, popped->list[0].member);
        resp_double(out, popped->list[0].score);
        return;
    }
    resp_array(out, 2);
    resp_bulk(out, key);
    resp_array(out, popped->count);
    for (size_t i = 0; i < popped->count; i++) {
        resp_array(out, 2);
        resp_bulk(out, popped->list[i].member);
        resp_double(out, popped->list[i].score);
    }
}

/* Removes up to pop->count members from one end of the key's set, and lists them. */
static enum status pop_entries(struct redis_call *call, const struct pop *pop, struct bytes key,
                               struct zset_entries *out) {
    struct zset_range range = {.by = RANGE_RANK, .stop = pop->count - 1, .reverse = pop->highest};
    struct zset *zset;
    enum status status = zset_open(call, key, &zset);
    *out = (struct zset_entries){0};
    if (status == OK && pop->count > 0)
        status = zset_list(call, zset, &range, out);
    if (status == OK)
        status = zset_remove_all(call, zset, out);
    if (status == OK && out->count != 0)
        status = zset_notify_removed(call, zset, pop->highest ? "zpopmax" : "zpopmin", key);
    return status;
}

/* Pops from the first of the keys that has members. */
static enum status pop_first(struct redis_call *call, const struct pop *pop, bool *found) {
    *found = false;
    for (size_t i = 0; i < pop->key_count && !*found; i++) {
        struct zset_entries popped;
        enum status status = pop_entries(call, pop, pop->keys[i], &popped);
        if (status != OK)
            return status;
        *found = popped.count != 0;
        if (*found)
            reply_popped(call, pop, pop->keys[i], &popped);
    }
    return OK;
}

static enum status pop_here(struct redis_call *call, bool highest) {
    struct pop pop = {.highest = highest, .count = 1};
    struct int_bounds bounds = {0, INT64_MAX, ERROR_NOT_POSITIVE};
    struct zset_entries popped;
    if (call->count > 3)
        return call_error(call, ERROR_SYNTAX);
    if (call->count == 3 && call_int_between(call, 2, bounds, &pop.count) != OK)
        return INVALID;
    enum status status = pop_entries(call, &pop, call->args[1], &popped);
    if (status != OK)
        return status;
    if (call->count == 3 || popped.count == 0)
        reply_entries(call, &popped, true);
    else {
        resp_array(&call->out, 2);
        resp_bulk(&call->out, popped.list[0].member);
        resp_double(&call->out, popped.list[0].score);
    }
    return OK;
}

static enum status run_zpopmin(struct redis_call *call) {
    return pop_here(call, false);
}

static enum status run_zpopmax(struct redis_call *call) {
    return pop_here(call, true);
}

/* ---- ZMPOP ---- */

/* numkeys key [key ...] MIN|MAX [COUNT count], from the argument `at` on. */
static enum status read_mpop(struct redis_call *call, size_t at, struct pop *pop) {
    struct int_bounds numkeys = {1, INT64_MAX, "ERR numkeys should be greater than 0"};
    struct int_bounds count = {1, INT64_MAX, "ERR count should be greater than 0"};
    int64_t number;
    enum status status = call_int_between(call, at, numkeys, &number);
    if (status != OK)
        return status;
    if ((uint64_t)number >= call->count - at - 1)
        return call_error(call, ERROR_SYNTAX);
    *pop = (struct pop){.keys = call->args + at + 1,
                        .key_count = (size_t)number,
                        .shape = SHAPE_KEY_PAIRS,
                        .count = -1};
    size_t where = at + 1 + (size_t)number;
    pop->highest = call_arg_is(call, where, "MAX");
    if (!pop->highest && !call_arg_is(call, where, "MIN"))
        return call_error(call, ERROR_SYNTAX);
    for (size_t i = where + 1; i < call->count; i += 2) {
        if (pop->count != -1 || i + 1 == call->count || !call_arg_is(call, i, "COUNT"))
            return call_error(call, ERROR_SYNTAX);
        if (call_int_between(call, i + 1, count, &pop->count) != OK)
            return INVALID;
    }
    if (pop->count == -1)
        pop->count = 1;
    return OK;
}

static enum status run_zmpop(struct redis_call *call) {
    struct pop pop;
    bool found = false;
    enum status status = read_mpop(call, 1, &pop);
    if (status == OK)
        status = pop_first(call, &pop, &found);
    if (status == OK && !found)
        resp_null_array(&call->out);
    return status;
}

/* ---- the blocking ones ---- */

static enum status read_timeout(struct redis_call *call, size_t index, double *out) {
    double seconds = 0;
    if (!redis_read_double(call->args[index], &seconds))
        return call_error(call, "ERR timeout is not a float or out of range");
    /* Redis calls what does not fit into 64 bits negative, too. */
    if (seconds * 1000 >= 0x1p63 || ceil(seconds * 1000) < 0)
        return call_error(call, "ERR timeout is negative");
    if (seconds * 1000 > 0x1p63 - (double)clock_now_ms())
        return call_error(call, "ERR timeout is out of range");
    *out = seconds;
    return OK;
}

static enum status pop_or_wait(struct redis_call *call, const struct pop *pop, size_t timeout) {
    struct key_wait wait = {.keys = pop->keys, .count = pop->key_count};
    bool found = false;
    enum status status = read_timeout(call, timeout, &wait.timeout_s);
    if (status == OK && call_may_wait(call) && wait.count > LIMIT_AWAITED_KEYS)
        return call_error(call, "ERR a command that waits takes at most %d keys",
                          LIMIT_AWAITED_KEYS);
    if (status == OK)
        status = pop_first(call, pop, &found);
    if (status != OK || found)
        return status;
    if (call_may_wait(call))
        return call_wait(call, &wait);
    resp_null_array(&call->out);
    return OK;
}

static enum status run_bzpop(struct redis_call *call, bool highest) {
    struct pop pop = {.keys = call->args + 1,
                      .key_count = call->count - 2,
                      .highest = highest,
                      .count = 1,
                      .shape = SHAPE_KEY_MEMBER};
    return pop_or_wait(call, &pop, call->count - 1);
}

static enum status run_bzpopmin(struct redis_call *call) {
    return run_bzpop(call, false);
}

static enum status run_bzpopmax(struct redis_call *call) {
    return run_bzpop(call, true);
}

static enum status run_bzmpop(struct redis_call *call) {
    struct pop pop;
    enum status status = read_mpop(call, 2, &pop);
    return status == OK ? pop_or_wait(call, &pop, 1) : status;
}

enum { WAITS = COMMAND_WRITE | COMMAND_BLOCKING | COMMAND_EXCLUSIVE };

const struct redis_command redis_pop_commands[] = {
    {"zpopmin",
     -2,
     COMMAND_WRITE | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_zpopmin,
     NULL,
     GROUP_SORTED_SET,
     "5.0.0",
     "Takes the lowest out of a sorted set"},
    {"zpopmax",
     -2,
     COMMAND_WRITE | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, 1, 1, 0},
     run_zpopmax,
     NULL,
     GROUP_SORTED_SET,
     "5.0.0",
     "Takes the highest out of a sorted set"},
    {"zmpop",
     -4,
     COMMAND_WRITE | COMMAND_MOVABLE_KEYS,
     TOUCHES_PARTITION,
     {0, 0, 0, 1},
     run_zmpop,
     NULL,
     GROUP_SORTED_SET,
     "7.0.0",
     "Takes the lowest or highest out of the first set that has any"},
    {"bzpopmin",
     -3,
     WAITS | COMMAND_NOSCRIPT | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, -2, 1, 0},
     run_bzpopmin,
     NULL,
     GROUP_SORTED_SET,
     "5.0.0",
     "Takes the lowest of the first set that has one, and waits for it"},
    {"bzpopmax",
     -3,
     WAITS | COMMAND_NOSCRIPT | COMMAND_FAST,
     TOUCHES_PARTITION,
     {1, -2, 1, 0},
     run_bzpopmax,
     NULL,
     GROUP_SORTED_SET,
     "5.0.0",
     "Takes the highest of the first set that has one, and waits for it"},
    {"bzmpop",
     -5,
     WAITS | COMMAND_MOVABLE_KEYS,
     TOUCHES_PARTITION,
     {0, 0, 0, 2},
     run_bzmpop,
     NULL,
     GROUP_SORTED_SET,
     "7.0.0",
     "Takes several from an end of the first set that has any, and waits for it"},
    {0},
};
