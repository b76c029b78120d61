/* The arguments of ZRANGE and its relatives: MIN MAX [BYSCORE|BYLEX] [REV] [LIMIT offset count]
 * [WITHSCORES]. Private to this folder. */
#ifndef GT_API_REDIS_RANGE_ARGS_H
#define GT_API_REDIS_RANGE_ARGS_H

#include "api/redis/space.h"

struct range_args {
    struct zset_range range;
    bool scores;   /* WITHSCORES */
    bool store;    /* for ZRANGESTORE: which knows no WITHSCORES */
    bool directed; /* the direction is given: no REV (any more) */
    bool kinded;   /* likewise BYSCORE and BYLEX */
};

/* From the argument MIN on; with what the command's name says filled in. */
enum status range_args_read(struct redis_call *call, size_t at, struct range_args *args);

#endif
