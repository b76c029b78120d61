/* The inside of a key in a transaction. Private to key_txn.c and its neighbours. */
#ifndef GT_API_REDIS_KEY_TXN_INT_H
#define GT_API_REDIS_KEY_TXN_INT_H

#include "api/redis/key_txn.h"
#include "api/redis/zset_txn_int.h"

/* A field of a large hash or set that the call has written to. */
struct field_write {
    struct key_field field;
    bool had, has; /* whether it is there: in the table, and now */
};

struct redis_key {
    struct bytes name; /* as the client named it */
    struct key_address address;
    struct redis_key *next;
    enum key_type as; /* what key_open_as() asked for: what a field or value makes of it */
    bool had;         /* the table has a head, which may have expired */
    bool written;     /* the head has to be written, or removed */
    bool watched;     /* EXEC has asked whether it has changed */
    struct partition_seen seen; /* when it was opened, if the call runs ahead */
    int64_t expired_ms;         /* when what was read expires; 0: never */
    struct key_head head;       /* as it is now */
    struct bytes stored; /* the generation of the head that was read, while it still is; or empty */
    struct bytes garbage; /* the generation that the call has removed from the key; or empty */
    const struct hash_fields *listed; /* all fields of a large key that the call makes, written
                                         before the commit (set_staging.h); or NULL */
    bool listed_later;                /* `writes` become that in the end */
    struct map by_field;              /* of `writes`; only of a large key */
    struct field_write **writes;
    size_t write_count, write_room;
    struct zset *zset; /* the sorted set of that name, once it was asked for */
};

/* The sorted set of the board of that name; the key's type is not looked at. (zset_txn.c) */
enum status zset_open_board(struct redis_call *call, struct bytes board, struct zset **out);
/* The time of the call. */
int64_t zset_txn_now(struct redis_call *call);
/* A large key that was just read: if all of its fields have expired there is no such key, and a
 * call that writes removes what the table has of it. (key_txn_fields.c) */
enum status key_drop_if_expired(struct redis_call *call, struct redis_key *key);
/* Counts the key as one that this call makes or changes. */
void key_set_written(struct redis_key *key);

#endif
