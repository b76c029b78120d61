/* Keys of any type in a call, with the call's uncommitted writes (or those of the MULTI or script
 * it is part of) laid over what the table has.
 *
 * A key of type string, hash or set is opened with key_open_as(), read and written by the functions
 * below; a sorted set by zset_open() (zset_txn.h), which opens the same key. Each of them fails
 * with WRONGTYPE if the key holds another type, by what the call sees. Commands on keys of any type
 * use key_open() and key_type_of(). In the end all writes become the actions of one change.
 *
 * Functions return OK, or another status with the reason in call->failure or set by call_error(),
 * which the command passes on. Results live in the call's arena. They run wherever the command runs
 * (redis_command.h). Writing functions are only for commands with COMMAND_WRITE.
 */
#ifndef GT_API_REDIS_KEY_TXN_H
#define GT_API_REDIS_KEY_TXN_H

#include "api/redis/redis_command.h"
#include "game/keyspace/key_fields.h"

#define ERROR_WRONG_TYPE "WRONGTYPE Operation against a key holding the wrong kind of value"
/* A value is an item, of at most KEY_VALUE_MAX bytes. */
#define ERROR_STRING_SIZE "ERR string exceeds maximum allowed size (396 KB)"

struct redis_key; /* a key in one call; valid until the call ends */
struct zset;

/* Opens the key of the call's database (call->db), or of another one. */
enum status key_open(struct redis_call *call, struct bytes name, struct redis_key **out);
enum status key_open_in(struct redis_call *call, unsigned db, struct bytes name,
                        struct redis_key **out);
/* Opens it for commands of one type, KEY_STRING, KEY_HASH or KEY_SET: it is of that type or not
 * there. Else WRONGTYPE. key_is_there() tells which. */
enum status key_open_as(struct redis_call *call, struct bytes name, enum key_type type,
                        struct redis_key **out);
/* Whether a key opened by key_open_as() is there. */
bool key_is_there(const struct redis_key *key);
/* What the key holds; KEY_NONE: there is no such key. Looks for a sorted set, too. */
enum status key_type_of(struct redis_call *call, struct redis_key *key, enum key_type *out);
/* Whether the call's keys are looked at and no more, so that it need not remember them: it writes
 * nothing, and is no part of EXEC or a script, which check in their commit what they have opened.
 */
bool key_is_only_read(const struct redis_call *call);
/* The key's sorted set, empty if there is none, whatever type the key has. */
enum status key_zset(struct redis_call *call, struct redis_key *key, struct zset **out);

/* ---- keys of any type ---- */

/* Removes the key, whatever it holds, and with it its time to live. */
enum status key_remove(struct redis_call *call, struct redis_key *key);
/* When the key expires, in milliseconds since 1970; 0: never, or there is no such key. */
enum status key_expires(struct redis_call *call, struct redis_key *key, int64_t *out_ms);
enum status key_expire(struct redis_call *call, struct redis_key *key, int64_t at_ms);
/* Replaces `to` by a copy of `from`, which is there, with its time to live. */
enum status key_copy(struct redis_call *call, struct redis_key *from, struct redis_key *to);
/* A number that changes when anything about the key is committed, for WATCH. */
uint64_t key_version(struct redis_call *call, const struct redis_key *key);
/* Notes that EXEC has asked for it: the key must not change before the commit. */
void key_set_watched(struct redis_key *key);

/* ---- strings; after key_open_as(KEY_STRING) ---- */

/* The value; empty if the key is not there. */
struct bytes key_string(const struct redis_key *key);
/* Sets the value, which is borrowed, and makes the key if need be. The time to live stays.
 * key_overwrite() first replaces a key of any other type, and drops the time to live. An error if
 * the value is larger than KEY_VALUE_MAX. */
enum status key_set_string(struct redis_call *call, struct redis_key *key, struct bytes value);
enum status key_overwrite(struct redis_call *call, struct redis_key *key, struct bytes value);

/* ---- fields of hashes and members of sets; after key_open_as(KEY_HASH or KEY_SET) ---- */

struct hash_field {
    struct bytes name, value; /* a member of a set has no value */
    int64_t expires_ms;       /* of a field alone; 0: with the key */
    bool found;               /* set by key_fields() */
};
struct hash_fields {
    struct hash_field *list;
    size_t count;
};

/* The number of fields; 0 if there is no such key. */
enum status key_field_count(struct redis_call *call, struct redis_key *key, uint64_t *out);
/* Fills in value, end and `found` of the fields, whose names are given. */
enum status key_fields(struct redis_call *call, struct redis_key *key, struct hash_field *list,
                       size_t count);
/* All fields: in the order of their names as the table has them, unless the call has written to a
 * large key. */
enum status key_all_fields(struct redis_call *call, struct redis_key *key, struct hash_fields *out);
/* Whether key_field_at() can be asked: the key is large, and the call has not written to it. */
bool key_has_ranks(const struct redis_key *key);
/* Appends the field that `rank` others stand before in the order of names, if there is such a one
 * and it has not expired; the list has room. Costs about what a look-up does; the first one waits
 * until the fields were counted, or is WOULD_BLOCK where that may not be. */
enum status key_field_at(struct redis_call *call, struct redis_key *key, uint64_t rank,
                         struct hash_fields *to);
/* A part of a large key's fields in the order of their names, for scans: those after the place
 * `after` (empty: from the first; else what an earlier page has put into `next`), about `limit` of
 * them. `next` is empty after the last ones. Only what is committed is paged through; a key that
 * the call has written to, or that is small, is listed whole. */
struct field_page {
    struct bytes after, next;
    size_t limit;
    struct hash_fields fields;
};
enum status key_page_fields(struct redis_call *call, struct redis_key *key,
                            struct field_page *page);
/* Adds the field or replaces its value and end, which are borrowed; makes the key if it is not
 * there. *added (or NULL): it was not there. An error if the name is longer than LIMIT_KEY_FIELD or
 * the value than KEY_VALUE_MAX. */
enum status key_put_field(struct redis_call *call, struct redis_key *key,
                          const struct hash_field *field, bool *added);
/* Adds the fields that are listed, each once, to a key that is not there or that the call has
 * removed. The list is borrowed until the call ends: if it is long it is written before the commit
 * (set_staging.h), and the call must not read or write the fields after that. */
enum status key_fill_fields(struct redis_call *call, struct redis_key *key,
                            const struct hash_fields *fields);
/* Removes the field; the key goes with its last one. *removed (or NULL): it was there. */
enum status key_remove_field(struct redis_call *call, struct redis_key *key, struct bytes name,
                             bool *removed);

/* ---- for a `start` (redis_command.h): one action on the key's head ---- */

/* A change to one key that needs its head alone. `apply` runs on the engine's thread, maybe more
 * than once, with the head as it is then: it changes the head (key_head.h) and sets `changed`, or
 * leaves both alone, and notes in `user` what the reply needs. It must be pure otherwise. What it
 * puts into the head may borrow the call's arguments. */
struct key_edit {
    enum key_type type; /* what the key must be if it is there; KEY_NONE: any */
    enum status (*apply)(struct key_edit *edit, struct key_head *head, struct arena *arena);
    /* Called instead by key_start_edit() if the key is large, with its generation: fills in the
     * change; false, or NULL, to fall back. */
    bool (*start_large)(struct redis_call *call, struct key_edit *edit, struct bytes generation);
    void *user;
    int64_t now_ms; /* filled in: the time of the call */
    bool is_zset; /* filled in: the key is a sorted set (and `type` is KEY_NONE), of which the head
                     says only when it expires; a change replaces it. Never in a `start`. */
    /* filled in on the engine's thread */
    bool changed;
    bool absent;       /* there was no such key */
    const char *error; /* by `apply` too: the reply is this error, and nothing is written */
    bool too_much;     /* by `apply`: this needs `run` (a large hash); nothing is written */
    /* private */
    struct redis_call *call;
    struct key_address address;
    bool checked; /* the change also checks that there is no board of the name */
    bool unread;  /* the head was not looked at before: the change may have to check that */
};
/* Fills in the call's change for the key args[1], and call->then, which is called after the commit
 * unless edit->error is set; or has the command fall back to its `run` where the head is not
 * enough: a sorted set or a large hash has that name, for instance. `edit` lives in the call's
 * arena. */
enum status key_start_edit(struct redis_call *call, struct key_edit *edit, redis_run *then);

/* The same as a command's `run`: applies the edit to the key args[1] as the call sees it, and makes
 * the reply. Of a large hash `apply` gets a head without fields, and may only replace it. */
enum status key_run_edit(struct redis_call *call, struct key_edit *edit, redis_run *then);

/* ---- reads of heads that need no transaction: GET, HGET ---- */

/* Reads the heads of keys outside of MULTI, all at one snapshot. A key without a head whose name is
 * a board's with entries is KEY_ZSET. */
enum status key_read_heads(struct redis_call *call, const struct bytes *names, size_t count,
                           struct key_head *heads);

/* ---- private to the transaction (key_txn.c, zset_txn.c) ---- */

struct zset_txn;
struct seen_versions;
/* Whether the key of that name holds something else than a sorted set: WRONGTYPE. */
enum status key_check_zset(struct redis_call *call, struct bytes name);
/* Forgets the keys of the transaction. */
void key_txn_release(struct zset_txn *txn);
/* How many actions there are at most, and appends them. On the engine's thread. */
size_t key_txn_room(const struct zset_txn *txn);
enum status key_txn_actions(struct redis_call *call, struct action *to, size_t *count);
/* The keys' part of zset_txn_seen() and zset_txn_forget_read(). */
void key_txn_seen(struct redis_call *call, bool strict, struct seen_versions *seen);
void key_txn_forget_read(struct zset_txn *txn);
/* After the commit: has the items of large keys that were removed deleted. */
void key_txn_committed(struct redis_call *call);

#endif
