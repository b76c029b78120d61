/* What commands on sorted sets have in common: lists of members and scores. Private to this folder.
 */
#ifndef GT_API_REDIS_PAIRS_H
#define GT_API_REDIS_PAIRS_H

#include "api/redis/space.h"

#define ERROR_NOT_POSITIVE "ERR value is out of range, must be positive"

/* A reply of members, or of members and scores: pairs in version 3, one after the other in 2. */
void reply_entries(struct redis_call *call, const struct zset_entries *entries, bool scores);

/* Removes all that are listed. */
enum status zset_remove_all(struct redis_call *call, struct zset *zset,
                            const struct zset_entries *entries);
/* The set becomes what is listed, and has no time to live. The reply is how many. */
enum status zset_store(struct redis_call *call, struct bytes key,
                       const struct zset_entries *entries);
/* By score, then member: the order of a sorted set. */
void entries_sort(struct zset_entries *entries);

#endif
