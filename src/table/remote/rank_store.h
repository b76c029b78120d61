/* The ranking of a board's partition, in Redis: entries under order-preserving keys.
 *
 * An entry is a member (the item's sort key), a version that rises with each change of the item,
 * and an index key (value/key.h): score, subscore, tie, member. rank_scripts.c says how they are
 * kept. Every call is one step in Redis, safe to repeat, and costs one round trip and O(log n) for
 * each entry.
 *
 * A ranking that is not whole (it is new, or Redis has lost it) is BEING_BUILT to who asks for
 * ranks: no rank rather than a wrong one. It takes moves all the same. IO_FAILED: Redis does not
 * answer.
 *
 * Any thread that may wait.
 */
#ifndef GT_TABLE_REMOTE_RANK_STORE_H
#define GT_TABLE_REMOTE_RANK_STORE_H

#include "base/limits.h"
#include "table/ranking.h"
#include "table/remote/rank_redis.h"
#include "table/remote/rank_scripts.h"

struct rank_store {
    struct rank_redis *redis; /* borrowed */
    struct bytes table;       /* begins the names of all keys; borrowed */
    struct rank_scripts scripts;
};
void rank_store_init(struct rank_store *store, struct rank_redis *redis, struct bytes table);

/* Versions: microseconds, doubled, and one more for a removal, so that it wins over what it
 * removed. Scripts count in doubles, which are exact up to 2^53: until the year 2112. */
static inline uint64_t rank_version(uint64_t written_us, bool removed) {
    return written_us * 2 + removed;
}

struct rank_move {
    struct bytes member;
    uint64_t version;
    struct bytes key; /* its index key; empty: it is not ranked, or not there any more */
    /* filled in */
    enum rank_moved {
        RANK_OLD,   /* it has this version already, or a newer one */
        RANK_MOVED, /* now it is there */
        RANK_DOUBT, /* a removal is newer, but came from another clock: see rank_store_forget() */
    } moved;
};

/* Moves entries of one partition, each member once; `token`: of who builds it, or empty. Any number
 * of entries. *whole: the ranking is whole. CONFLICT: the token is not that of who builds it (any
 * more). */
struct rank_moves {
    struct bytes partition;
    struct rank_move *moves;
    size_t count;
    struct bytes token;
    bool whole;   /* filled in */
    size_t known; /* likewise, by rank_store_fill() */
};
enum status rank_store_move(struct rank_store *store, struct rank_moves *moves, struct scope in);

/* The same for who builds it, and at half the price for members that the ranking does not have yet.
 * `known` counts those that were moved one by one since it has them, or others of their chunk. */
enum status rank_store_fill(struct rank_store *store, struct rank_moves *moves, struct scope in);

/* Moves one and tells where it stood and stands, as of that step. `was`: its index key before, as
 * the caller knows it, or empty: for when somebody else has moved it already. `ranks` says what to
 * count; it is `counted` unless the ranking is not whole or has gone on since. */
struct rank_ranked_move {
    struct bytes partition;
    struct rank_move move;
    struct bytes was;
    struct action_ranks *ranks;
};
enum status rank_store_move_ranked(struct rank_store *store, struct rank_ranked_move *move,
                                   struct scope in);
/* Of a RANK_DOUBT: the item was looked at since and is there, in that version. Then move again. */
enum status rank_store_forget(struct rank_store *store, struct bytes partition,
                              const struct rank_move *move, struct scope in);

/* Where some stand: members, or index keys as if they were there. */
struct rank_look {
    struct bytes partition;
    const struct bytes *names; /* members or keys */
    size_t count;
    bool as_if;
    unsigned group_parts;
    bool groups;
    /* filled in: count of each */
    struct bytes *keys; /* empty: no such entry */
    struct rank_reply *places;
};
enum status rank_store_look(struct rank_store *store, struct rank_look *look, struct scope in);

/* Entries of a range, by rank. */
struct rank_range {
    struct bytes partition;
    struct bytes low;        /* the least key; empty: from the first */
    struct bytes high;       /* the least key beyond the range; empty: to the last */
    uint64_t skip, skip_end; /* entries left out at the end it begins at, and at the other */
    uint32_t limit;          /* at most RANK_RANGE_MAX */
    bool backward, count_only;
    /* filled in */
    uint64_t total;     /* in the range, without those left out */
    struct bytes *keys; /* in the order asked for */
    size_t count;
};
enum { RANK_RANGE_MAX = LIMIT_RANK_RANGE };
enum status rank_store_range(struct rank_store *store, struct rank_range *range, struct scope in);

/* Building one: who begins gives a token of its own, moves all entries there are with it, and
 * finishes. What others move meanwhile counts as ever. The lease lasts 30 seconds from the last
 * move. *began: RANK_BEGIN_WHOLE (nothing to do), RANK_BEGIN_MINE or RANK_BEGIN_OTHER. */
enum rank_begin { RANK_BEGIN_WHOLE, RANK_BEGIN_MINE, RANK_BEGIN_OTHER };
enum status rank_store_begin(struct rank_store *store, struct bytes partition, struct bytes token,
                             struct scope in, enum rank_begin *began);
/* `whole`: all entries were moved. CONFLICT if it was lost meanwhile: begin again. */
struct rank_finish {
    struct bytes partition, token;
    bool whole;
};
enum status rank_store_finish(struct rank_store *store, const struct rank_finish *finish,
                              struct scope in);

/* Whether the server lets this user do what the scripts do; IO_FAILED with a sentence if not.
 * Leaves nothing behind. In a cluster one server is asked for all. */
enum status rank_store_try(struct rank_store *store, struct scope in);

/* Says of all rankings of the table on one server that they are not whole. */
enum status rank_store_doubt_server(struct rank_store *store, const struct redis_address *address,
                                    struct scope in);

#endif
