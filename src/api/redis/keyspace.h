/* All keys there are. Private to this folder. */
#ifndef GT_API_REDIS_KEYSPACE_H
#define GT_API_REDIS_KEYSPACE_H

#include "api/redis/space.h"

/* Called with each key that has members, in no order that means something; `call` has the sorted
 * set. Returns OK to go on. */
typedef enum status key_visit(struct redis_call *call, struct bytes key, struct zset *zset,
                              void *user);

/* Visits all keys, as the call sees them. Costs a look at each. */
enum status keyspace_each(struct redis_call *call, key_visit *visit, void *user);
/* The keys among the `count` names that follow `after` (empty: from the start); *last is the name
 * to go on after, empty at the end. */
enum status keyspace_page(struct redis_call *call, struct bytes after, size_t count,
                          key_visit *visit, void *user, struct bytes *last);
/* How many names there are, with those of sets that have been emptied. Costs little. */
enum status keyspace_names(struct redis_call *call, uint64_t *out);

#endif
