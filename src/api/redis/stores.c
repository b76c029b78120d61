/* ZRANGESTORE: a range becomes a set of its own. */
#include "api/redis/pairs.h"
#include "api/redis/range_args.h"

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

const struct redis_command redis_store_commands[] = {
    {"zrangestore",
     -5,
     COMMAND_WRITE | COMMAND_DENYOOM,
     {1, 2, 1, 0},
     run_zrangestore,
     NULL,
     GROUP_SORTED_SET,
     "6.2.0",
     "Keeps a range of a sorted set as one of its own",
     NULL},
    {0},
};
