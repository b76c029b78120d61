/* Reads of single fields or members outside of MULTI, without a transaction: HGET, SISMEMBER. */
#ifndef GT_API_REDIS_FIELD_LOOKUP_H
#define GT_API_REDIS_FIELD_LOOKUP_H

#include "api/redis/key_txn.h"

struct field_lookup {
    struct bytes key, field;
    /* filled in */
    bool found;
    struct bytes value; /* of a hash */
};

/* Looks up one field for each request that is in the call's arguments: a key and a field, one after
 * the other (COMMAND_BATCHED_PAIRS). All heads are read together, and so are the fields of large
 * keys, which hides cache misses. WRONGTYPE if one of the keys is of another type. Between MULTI
 * and EXEC it reads by the transaction instead. */
struct field_lookups {
    struct field_lookup *list;
    size_t count;
};
enum status field_lookup(struct redis_call *call, enum key_type type, struct field_lookups *out);

#endif
