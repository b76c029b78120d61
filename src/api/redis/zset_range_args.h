/* The arguments of ZRANGE and its relatives: MIN MAX [BYSCORE|BYLEX] [REV] [LIMIT offset count]
 * [WITHSCORES]. Private to this folder. */
#ifndef GT_API_REDIS_ZSET_RANGE_ARGS_H
#define GT_API_REDIS_ZSET_RANGE_ARGS_H

#include "api/redis/zset_txn.h"

struct range_args {
    struct zset_range range;
    bool scores;   /* WITHSCORES */
    bool store;    /* of ZRANGESTORE, which has no WITHSCORES */
    bool directed; /* the direction is known, by the command or by REV: no REV may follow */
    bool kinded;   /* the kind is known: neither BYSCORE nor BYLEX may follow */
};

/* Reads the arguments from MIN on, which is the argument `at`. What the command's name implies is
 * filled in already. */
enum status range_args_read(struct redis_call *call, size_t at, struct range_args *args);

#endif
