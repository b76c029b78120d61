/* Walks over all keys of a database. Private to this folder. */
#ifndef GT_API_REDIS_REDIS_KEYSPACE_H
#define GT_API_REDIS_REDIS_KEYSPACE_H

#include "api/redis/key_txn.h"
#include "api/redis/zset_txn.h"

/* A key that a walk has come to. */
struct visited_key {
    struct bytes name;
    enum key_type type;
    struct redis_key *key; /* of a string, hash or set; NULL of a sorted set, */
    struct zset *zset;     /* which this is */
};

/* Called with each key, in no particular order; it was opened by `call`. Any status but OK ends the
 * walk, which returns it. */
typedef enum status key_visit(struct redis_call *call, const struct visited_key *key, void *user);

/* A walk over the keys of a database in pages. */
struct key_walk {
    key_visit *visit;
    void *user;
    unsigned db;
    size_t count;               /* names that a page looks at */
    struct bytes after;         /* the place that the next page follows; empty: from the start */
    bool boards_only;           /* visit sorted sets only */
    const struct bytes *boards; /* a page of its own: `count` names of boards; or NULL */
};

/* Visits all keys of the database, those that the call itself has made too. Looks each of them up.
 */
enum status keyspace_each(struct redis_call *call, struct key_walk *walk);
/* Visits the keys among the names of the next page, and moves `after`, which is empty again when
 * that was the last one. */
enum status keyspace_page(struct redis_call *call, struct key_walk *walk);
/* The number of names in all databases, those of emptied sets included, which is cheap to tell. */
enum status keyspace_names(struct redis_call *call, uint64_t *out);

#endif
