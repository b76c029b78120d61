/* How fast guests may sit down: a bound for each room and one for all, so that a link that got
 * around cannot fill rooms and tables. Leaky buckets, kept in memory; rooms share a bucket if their
 * hashes do, which makes the bound tighter and never looser. Any thread. */
#ifndef GT_API_GUEST_RATE_H
#define GT_API_GUEST_RATE_H

#include "base/bytes.h"
#include "base/limits.h"

#include <stdatomic.h>

/* Zero: nobody has come yet. */
struct guest_rate {
    _Atomic int64_t all_ms, rooms_ms[LIMIT_GUEST_BUCKETS]; /* when the bucket will be empty */
};

/* Whether another guest may sit down in the room now, and counts it if so. */
bool guest_rate_admits(struct guest_rate *rate, struct bytes room, int64_t now_ms);

#endif
