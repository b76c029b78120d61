/* ZRANK, ZREVRANK and ZMRANK: where members stand.
 *
 * Redis gives equal scores different ranks, in the order of the members' names. With TIES they
 * share one: SHARED leaves out the ranks that the others would have had (0, 1, 1, 3), DENSE does
 * not (0, 1, 1, 2). That, and ZMRANK, Redis does not have.
 */
#include "api/redis/zset_txn.h"
#include "base/limits.h"

/* How ranks are told. */
struct rank_form {
    bool reverse, with_score;
    enum ranking ties;
};

/* Reads the option at *at and moves *at behind it; false if there is none. */
static bool read_rank_option(const struct redis_call *call, size_t *at, struct rank_form *form) {
    bool more = *at + 1 < call->count;
    if (call_arg_is(call, *at, "WITHSCORE")) {
        form->with_score = true;
        *at += 1;
        return true;
    }
    if (!more || !call_arg_is(call, *at, "TIES"))
        return false;
    if (call_arg_is(call, *at + 1, "SHARED"))
        form->ties = RANK_COMPETITION;
    else if (call_arg_is(call, *at + 1, "DENSE"))
        form->ties = RANK_DENSE;
    else
        return false;
    *at += 2;
    return true;
}

static void reply_rank(struct redis_call *call, const struct zset_rank *rank, bool with_score) {
    if (!rank->found && with_score)
        resp_null_array(&call->out);
    else if (!rank->found)
        resp_null(&call->out);
    else if (with_score) {
        resp_array(&call->out, 2);
        resp_int(&call->out, (int64_t)rank->rank);
        resp_double(&call->out, rank->score);
    } else
        resp_int(&call->out, (int64_t)rank->rank);
}

/* Replies with the ranks of the members that are the arguments from `first` on. */
static enum status reply_ranks(struct redis_call *call, const struct rank_form *form, size_t first,
                               size_t count) {
    struct zset_ranks ranks = {.list = ARENA_ARRAY(call->arena, struct zset_rank, count),
                               .count = count,
                               .reverse = form->reverse,
                               .ties = form->ties};
    struct zset *zset;
    for (size_t i = 0; i < count; i++)
        ranks.list[i].member = call->args[first + i];
    enum status status = zset_open(call, call->args[1], &zset);
    if (status == OK)
        status = zset_ranks(call, zset, &ranks);
    for (size_t i = 0; i < count && status == OK; i++)
        reply_rank(call, &ranks.list[i], form->with_score);
    return status;
}

/* In a batch (COMMAND_BATCHED) there are several members, and no options. */
static enum status run_rank(struct redis_call *call, bool reverse) {
    struct rank_form form = {.reverse = reverse};
    size_t at = 3;
    if (call->batched)
        return reply_ranks(call, &form, 2, call->count - 2);
    while (at < call->count)
        if (!read_rank_option(call, &at, &form))
            return call_error(call, "ERR wrong number of arguments for '%s' command",
                              call->command->name);
    return reply_ranks(call, &form, 2, 1);
}

static enum status run_zrank(struct redis_call *call) {
    return run_rank(call, false);
}

static enum status run_zrevrank(struct redis_call *call) {
    return run_rank(call, true);
}

/* ZMRANK key [REV] [WITHSCORE] [TIES SHARED|DENSE] MEMBERS nummembers member [member ...] */
static enum status run_zmrank(struct redis_call *call) {
    struct rank_form form = {0};
    struct int_bounds bounds = {1, INT64_MAX, "ERR nummembers should be greater than 0"};
    int64_t number;
    size_t at = 2;
    while (at < call->count && !call_arg_is(call, at, "MEMBERS")) {
        if (call_arg_is(call, at, "REV")) {
            form.reverse = true;
            at++;
        } else if (!read_rank_option(call, &at, &form))
            return call_error(call, ERROR_SYNTAX);
    }
    if (at + 1 >= call->count)
        return call_error(call, ERROR_SYNTAX);
    if (call_int_between(call, at + 1, bounds, &number) != OK)
        return INVALID;
    if ((uint64_t)number != call->count - at - 2)
        return call_error(call, "ERR The `nummembers` parameter must match the number of "
                                "arguments");
    resp_array(&call->out, (size_t)number);
    return reply_ranks(call, &form, at + 2, (size_t)number);
}

enum { READS = COMMAND_READ | COMMAND_FAST, READS_MEMBER = READS | COMMAND_BATCHED };
#define ONE_KEY \
    { 1, 1, 1, 0 }

const struct redis_command redis_rank_commands[] = {
    {"zrank", -3, READS_MEMBER, TOUCHES_PARTITION, ONE_KEY, run_zrank, NULL, GROUP_SORTED_SET,
     "2.0.0", "Tells how many members stand before one, the lowest score first", NULL},
    {"zrevrank", -3, READS_MEMBER, TOUCHES_PARTITION, ONE_KEY, run_zrevrank, NULL, GROUP_SORTED_SET,
     "2.0.0", "Tells how many members stand before one, the highest score first", NULL},
    {"zmrank", -5, READS, TOUCHES_PARTITION, ONE_KEY, run_zmrank, NULL, GROUP_SORTED_SET, "7.0.0",
     "Tells how many members stand before each of several", NULL},
    {0},
};
