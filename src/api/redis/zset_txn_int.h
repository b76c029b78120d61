/* The inside of a sorted-set transaction. Private to this folder.
 *
 * An entry's *place* is the byte string that orders it: the encodings of score, subscore, tie and
 * sort key, one after the other. The encodings of numbers are prefix-free, so places compare by
 * their bytes, and the places of one score are those that begin with its encoding.
 */
#ifndef GT_API_REDIS_ZSET_TXN_INT_H
#define GT_API_REDIS_ZSET_TXN_INT_H

#include "api/redis/redis_frontend_int.h"
#include "api/redis/seen_versions.h"
#include "api/redis/zset_txn.h"
#include "base/map.h"
#include "game/board/entry_removals.h"
#include "game/board/standings_index.h"

/* A member that the call has written to: how the table has it, and how it is now. */
struct zset_write {
    struct bytes member, key;
    bool had, has;           /* whether it is there: in the table, and now */
    struct bytes old, place; /* its place in the table, and now */
    bool sets_end;           /* the call has set when it goes by itself: */
    int64_t end_s;           /* in this second; 0: never */
    double score;            /* from here on: as it is now */
    struct points points;
    struct bytes tie;
};

struct zset {
    struct bytes key; /* the name of its board (key_board_name()) */
    const struct board *board;
    const struct board *borrowed; /* the board before it was looked up again, from which the actions
                                     of a `start` borrow their keys; or NULL */
    struct zset *next;
    bool watched;                /* EXEC has asked whether it has changed */
    struct partition_seen seen;  /* the entries, when it was opened, if the call runs ahead */
    bool empty;                  /* the board has no entries, whatever the index may still show */
    struct map by_member;        /* of `written` */
    struct zset_write **written; /* in no order */
    size_t count, room;
    int64_t size_delta; /* how many members more than the table has */
    bool dropped;       /* it is too large to be removed in one commit: its entries go afterwards */
    bool cleared;       /* zset_clear() was called: nothing of what the table has stays */
    bool had_entries;   /* the index has shown entries of it */
    struct bytes fresh; /* the generation (game/board/board_generation.h) that the set has from the
                           commit on, in place of what was dropped; or empty: it cannot have one */
    struct bytes fresh_pk;             /* and its partition */
    const struct zset_entries *listed; /* all entries of `fresh`, written before the commit
                                          (set_staging.h); or NULL: they are `written` */
    bool listed_later;                 /* what is `written` in the end becomes `listed` */
    bool expires;                      /* zset_expire() was called */
    int64_t expires_ms;
};

struct zset_txn {
    struct arena *arena; /* where the sets are, and what was written to them */
    struct zset *sets;   /* all that were opened; a list */
    size_t count;
    struct map by_key;      /* finds them once there are many; empty before */
    struct redis_key *keys; /* those that were opened (key_txn.h); a list */
    size_t key_count;
    struct map keys_by_pk; /* finds them once there are many; empty before */
    int64_t now_ms;        /* the call's time; 0: not asked for yet */
    bool busy; /* one of the boards is being cleared: the call has to be run again later */
    struct entry_removals removals; /* while the change's actions are made */
    bool switches;           /* a board gets another generation (game/board/board_generation.h) */
    bool staged;             /* a list was written before the commit (set_staging.h), */
    uint64_t hidden_version; /* when that was hidden_players_version() */
    struct zset_entries sorted; /* that list in the order of zset_entry_compare() */
    struct failure refusal;     /* a board does not take a score: nothing of the call is written */
};

/* The call's transaction, made in its arena when first asked for. */
struct zset_txn *zset_txn_of(struct redis_call *call);
/* Drops the references to the boards; the transaction and its sets are not used any more. */
void zset_txn_release(struct zset_txn *txn);
/* Makes the actions of the call's change out of its writes. On the engine's thread. */
enum status zset_txn_actions(struct redis_call *call);
/* On the engine's thread, for a change that will be carried out with these actions: announces the
 * boards that get another generation; and on the loop, when the change has come back, their end. */
void zset_txn_announce(struct redis_call *call);
void zset_txn_announce_end(struct redis_call *call);
/* After the commit of a `start`: a board that it wrote to may have been deleted since the `start`
 * looked, and then needs its item again. Returns the change that makes it, or NULL. */
struct change *zset_txn_repair(struct redis_call *call);
/* After the commit: wakes the calls that wait for these keys, and has large sets emptied. */
void zset_txn_committed(struct redis_call *call);

/* Why a score is refused; for the board's name. */
#define OUT_OF_RANGE_TEXT "the score is outside of what board %.*s takes"

/* For ACTION_COMPUTE: entry_write_by_flags(), but a score that the board refuses is a failure. */
action_compute zset_txn_write_entry;

const struct board *zset_board(const struct zset *zset);
static inline bool zset_has_writes(const struct zset *zset) {
    return zset->count != 0;
}
/* The partition of the entries that the call writes. */
static inline struct bytes zset_partition(const struct zset *zset) {
    return zset->fresh.size != 0 ? zset->fresh_pk : zset->board->pk;
}
static inline bool zset_is_written(const struct zset *zset) {
    return zset->count != 0 || zset->dropped || zset->expires;
}
/* The version of a partition of the game's table. */
struct partition_seen zset_txn_see(struct redis_call *call, struct bytes pk);
/* Of a call that has run ahead: adds what it has seen of its sets and keys; `strict` of all, or
 * else of those that are written or watched. */
void zset_txn_seen(struct redis_call *call, bool strict, struct seen_versions *seen);
/* Of a call whose actions are made: forgets sets and keys that it has only read. */
void zset_txn_forget_read(struct zset_txn *txn);
/* Fails if the board is closed to writes. A set that has expired is emptied by this call first,
 * which is for `run` alone: a `start` falls back to it before. */
enum status zset_check_writable(struct redis_call *call, struct zset *zset);
/* The call's write to the member, or NULL. */
struct zset_write *zset_find_write(const struct zset *zset, struct bytes member);

/* ---- reading the table, without the call's writes (zset_txn_read.c) ---- */

/* Whether an entry with that place stands before the edge. */
bool edge_is_after(const struct rank_edge *edge, struct bytes place, struct arena *arena);

enum status stored_count(struct redis_call *call, const struct zset *zset,
                         const struct rank_window *window, uint64_t *out);
enum status stored_list(struct redis_call *call, const struct zset *zset,
                        const struct rank_window *window, struct ranked_list *out);

/* Likewise, of each entry its member and score alone: for lists of any length. */
enum status stored_entries(struct redis_call *call, const struct zset *zset,
                           const struct rank_window *window, struct zset_entries *out);

/* What the table has of one member: who asks fills in `member`, the rest is the answer. */
struct stored_rank {
    struct bytes member;
    bool found; /* else what follows is not set */
    struct ranked_entry entry;
    uint64_t before, after; /* how many entries (of a dense rank: scores) are before and after it */
};
/* Members to look up together. */
struct stored_lookup {
    struct stored_rank *list;
    size_t count;
    bool entries_only; /* `before` and `after` are not needed, which is cheaper */
    enum ranking ties; /* what counts as before and after */
};
enum status stored_ranks(struct redis_call *call, const struct zset *zset,
                         const struct stored_lookup *lookup);
struct bytes ranked_place(const struct ranked_entry *entry, struct arena *arena);
static inline struct ranked_entry ranked_of_write(const struct zset_write *written) {
    return (struct ranked_entry){
        .key = written->key, .points = written->points, .tie = written->tie};
}
static inline double ranked_score(const struct ranked_entry *entry) {
    return points_to_double(&entry->points);
}

/* ---- reading both (zset_txn_merged.c); only if zset_has_writes() ---- */

enum status merged_size(struct redis_call *call, struct zset *zset, uint64_t *out);
/* The number of entries before the edge. */
enum status merged_before(struct redis_call *call, struct zset *zset, const struct rank_edge *edge,
                          uint64_t *out);
/* The entries whose ranks are in the span, in rising order. */
struct rank_span {
    uint64_t first, last;
};
enum status merged_list(struct redis_call *call, struct zset *zset, struct rank_span span,
                        struct ranked_list *out);

#endif
