/* The sorted sets as one call sees them: boards of the table, and over them what the call (or the
 * transaction it is part of) has written so far.
 *
 * What is read without own writes comes straight from the engine. Writes are kept as a list of
 * members and their new scores, which later reads of the same call take into account, and become
 * actions of one change in the end. A set that has no members is no key.
 *
 * All functions: OK, or the engine's fault in call->failure, or an error told by call_error(); pass
 * it on. Results live in the call's arena.
 */
#ifndef GT_API_REDIS_SPACE_H
#define GT_API_REDIS_SPACE_H

#include "api/redis/command.h"
#include "game/entry.h"

struct zset; /* a key's sorted set, in one call; good until that ends */

/* Finds the sorted set, whether or not there is such a key. */
enum status zset_open(struct redis_call *call, struct bytes key, struct zset **out);
/* How many members; 0: there is no such key. */
enum status zset_size(struct redis_call *call, struct zset *zset, uint64_t *out);

struct zset_entry {
    struct bytes member;
    double score;
    bool found; /* zset_scores() only */
};

struct zset_entries {
    struct zset_entry *list;
    size_t count;
};

/* Fills in score and found of entries whose member is given. */
enum status zset_scores(struct redis_call *call, struct zset *zset, struct zset_entry *entries,
                        size_t count);
struct zset_rank {
    struct bytes member;
    bool found; /* else the rest is not set */
    uint64_t rank;
    double score;
};
/* Fills in how many stand before the members that are given (`reverse`: after them). */
enum status zset_ranks(struct redis_call *call, struct zset *zset, bool reverse,
                       struct zset_rank *ranks, size_t count);

/* A range: by rank (start and stop, negative from the end), by score, or by member among equal
 * scores; then from the other end if `reverse`; then without the first `offset`, at most `limit`.
 */
enum range_by { RANGE_RANK, RANGE_SCORE, RANGE_MEMBER };

struct range_end {
    double score;
    struct bytes member;
    bool exclusive;
    int infinite; /* RANGE_MEMBER: -1 before all, 1 after all, 0 at the member */
};

struct zset_range {
    enum range_by by;
    int64_t start, stop; /* RANGE_RANK; as seen from the end that `reverse` chooses */
    struct range_end low, high;
    bool reverse;
    int64_t offset; /* negative: the range is empty */
    int64_t limit;  /* negative: all */
    bool counted;   /* offset and limit count; else they are not looked at */
};

/* "(5", "-inf", "7": "ERR min or max is not a float". */
enum status range_read_scores(struct redis_call *call, size_t low, size_t high,
                              struct zset_range *range);
/* "[a", "(a", "-", "+": "ERR min or max not valid string range item". */
enum status range_read_members(struct redis_call *call, size_t low, size_t high,
                               struct zset_range *range);

/* The entries of the range, in its order. */
enum status zset_list(struct redis_call *call, struct zset *zset, const struct zset_range *range,
                      struct zset_entries *out);
/* Only how many there are. */
enum status zset_count(struct redis_call *call, struct zset *zset, const struct zset_range *range,
                       uint64_t *out);
/* All, in rising order. */
enum status zset_all(struct redis_call *call, struct zset *zset, struct zset_entries *out);
/* Those with the given ranks (rising order), in the order given. */
enum status zset_at_ranks(struct redis_call *call, struct zset *zset, const uint64_t *ranks,
                          size_t count, struct zset_entries *out);

/* ---- writing; only in a command with COMMAND_WRITE ---- */

/* The member has this score from now on; it was there or it is made. */
enum status zset_put(struct redis_call *call, struct zset *zset, struct bytes member, double score);
/* The member is not there from now on. */
enum status zset_remove(struct redis_call *call, struct zset *zset, struct bytes member);
/* Nor is any. */
enum status zset_clear(struct redis_call *call, struct zset *zset);
/* When the key ends, in milliseconds since 1970; 0: not. */
enum status zset_expires(struct redis_call *call, struct zset *zset, int64_t *out_ms);
enum status zset_expire(struct redis_call *call, struct zset *zset, int64_t at_ms);

#endif
