/* The sorted-set transaction of a call: boards as sorted sets, with the call's uncommitted writes
 * (or those of the MULTI it is part of) laid over them.
 *
 * A set that the call has not written to is read straight from the engine's index. Writes are kept
 * as a list of members with their new scores; later reads of the same call are corrected by it, and
 * in the end it becomes the actions of one change. A key exists while its set has members.
 *
 * All functions return OK, or another status with the reason in call->failure or set by
 * call_error(), which the command passes on. Results live in the call's arena. They run wherever
 * the command runs (redis_command.h).
 */
#ifndef GT_API_REDIS_ZSET_TXN_H
#define GT_API_REDIS_ZSET_TXN_H

#include "api/redis/redis_command.h"
#include "game/board/entry.h"

struct zset; /* a key's sorted set in one call; valid until the call ends */

/* Opens the key's sorted set, which is empty if there is no such key. */
enum status zset_open(struct redis_call *call, struct bytes key, struct zset **out);
/* The number of members; 0 means that there is no such key. */
enum status zset_size(struct redis_call *call, struct zset *zset, uint64_t *out);

struct zset_entry {
    struct bytes member;
    double score;
    bool found; /* set by zset_scores() only */
};

struct zset_entries {
    struct zset_entry *list;
    size_t count;
};

/* Fills in the score of each entry, whose member is given, and whether it is there. */
enum status zset_scores(struct redis_call *call, struct zset *zset, struct zset_entry *entries,
                        size_t count);
struct zset_rank {
    struct bytes member;
    bool found; /* else the rest means nothing */
    uint64_t rank;
    double score;
};
struct zset_ranks {
    struct zset_rank *list;
    size_t count;
    bool reverse;      /* the highest score has rank 0, as ZREVRANK counts */
    enum ranking ties; /* ordinal is what Redis has: equal scores have different ranks */
};
/* Fills in the ranks and scores of members that are given. A dense rank may have to wait until the
 * scores were counted, once: it is WOULD_BLOCK where that may not be. In a transaction that has
 * written to the set a dense rank costs a walk over it. */
enum status zset_ranks(struct redis_call *call, struct zset *zset, const struct zset_ranks *ranks);

/* A range: by rank (start and stop; negative numbers count from the end), by score, or by member
 * among equal scores. With `reverse` it is listed from its high end. Then the first `offset`
 * entries are left out, and at most `limit` are listed. */
enum range_by { RANGE_RANK, RANGE_SCORE, RANGE_MEMBER };

struct range_end {
    double score;
    struct bytes member;
    bool exclusive;
    int infinite; /* RANGE_MEMBER: -1 before all, 1 after all, 0 at the member */
};

struct zset_range {
    enum range_by by;
    int64_t start, stop; /* RANGE_RANK: ranks, counted from the high end if `reverse` */
    struct range_end low, high;
    bool reverse;
    int64_t offset; /* negative: the range is empty */
    int64_t limit;  /* negative: all */
    bool counted;   /* LIMIT was given; else offset and limit are ignored */
};

/* Reads two arguments such as "(5", "-inf" and "7" into a range by score; or the error is "ERR min
 * or max is not a float". */
enum status range_read_scores(struct redis_call *call, size_t low, size_t high,
                              struct zset_range *range);
/* Reads two arguments such as "[a", "(a", "-" and "+" into a range by member; or the error is "ERR
 * min or max not valid string range item". */
enum status range_read_members(struct redis_call *call, size_t low, size_t high,
                               struct zset_range *range);

/* The entries of the range, in its order. */
enum status zset_list(struct redis_call *call, struct zset *zset, const struct zset_range *range,
                      struct zset_entries *out);
/* Counts the entries of the range, whatever its offset and limit are. */
enum status zset_count(struct redis_call *call, struct zset *zset, const struct zset_range *range,
                       uint64_t *out);
/* All entries, in rising order. */
enum status zset_all(struct redis_call *call, struct zset *zset, struct zset_entries *out);
/* Appends the entry that has this rank in rising order, if there is one; the list has room. */
enum status zset_at_rank(struct redis_call *call, struct zset *zset, uint64_t rank,
                         struct zset_entries *to);

/* ---- writing; only in a command with COMMAND_WRITE ---- */

/* Applies the flags, points and delta of `write` to the member as the call sees it, by the rules of
 * entry_rules.h; fills in `outcome` and `after`. A score outside of the board's limits makes the
 * whole call fail. */
enum status zset_update(struct redis_call *call, struct zset *zset, struct bytes member,
                        struct entry_write *write);
/* Sets the member's score; the member is added if need be. */
enum status zset_put(struct redis_call *call, struct zset *zset, struct bytes member, double score);
/* In which second the member goes by itself, 0: never; fills in `found` and the score of the entry,
 * whose member is given. zset_set_end() sets it, of a member that is there. */
enum status zset_end(struct redis_call *call, struct zset *zset, struct zset_entry *entry,
                     int64_t *out_s);
enum status zset_set_end(struct redis_call *call, struct zset *zset, struct bytes member,
                         int64_t end_s);
/* Removes the member, if it is there. */
enum status zset_remove(struct redis_call *call, struct zset *zset, struct bytes member);
/* Adds the members that are listed, each once, to a set that the call has emptied or found empty.
 * The list is borrowed until the call ends: if it is long it is written before the commit
 * (set_staging.h), and the call must not read or write the set after that. */
enum status zset_fill(struct redis_call *call, struct zset *zset,
                      const struct zset_entries *entries);
/* Removes all members, and with them the time to live. */
enum status zset_clear(struct redis_call *call, struct zset *zset);
/* When the key expires, in milliseconds since 1970; 0: never. */
enum status zset_expires(struct redis_call *call, struct zset *zset, int64_t *out_ms);
enum status zset_expire(struct redis_call *call, struct zset *zset, int64_t at_ms);

/* ---- lists of members and scores (zset_entries.c) ---- */

#define ERROR_NOT_POSITIVE "ERR value is out of range, must be positive"

/* Replies with the members, or with members and scores: as pairs in RESP 3, one after the other in
 * RESP 2. */
void reply_entries(struct redis_call *call, const struct zset_entries *entries, bool scores);
/* Removes all members that are listed. */
enum status zset_remove_all(struct redis_call *call, struct zset *zset,
                            const struct zset_entries *entries);
/* Replaces the key, whatever it holds, by the set that is listed, without a time to live, and
 * replies with its size. */
enum status zset_store(struct redis_call *call, struct bytes key,
                       const struct zset_entries *entries);
/* Whether a set of that many members can be written by the call in one commit, without
 * set_staging.h; else the error is set. */
enum status zset_check_stored(struct redis_call *call, uint64_t members);
/* Tells of `event` that has removed members of the key's set, and of the key's end if there are
 * none left (notifications.h). */
enum status zset_notify_removed(struct redis_call *call, struct zset *zset, const char *event,
                                struct bytes key);
/* By score, then by member: the order of a sorted set. And sorts so. */
int zset_entry_compare(const struct zset_entry *a, const struct zset_entry *b);
void zset_entries_sort(struct zset_entries *entries);

#endif
