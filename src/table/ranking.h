/* Where items stand in an index: what a counted tree or a sorted set can tell in O(log n).
 *
 * Only of an engine that says ENGINE_RANKING (engine.h). Pages by rank are the queries of items.h
 * with `low`, `high`, `skip`, `skip_end` or `whole` set; they need the same. Calls answer before
 * they return, for any thread, unless engine_may_block(). Replies live in the arena of the request.
 */
#ifndef GT_TABLE_RANKING_H
#define GT_TABLE_RANKING_H

#include "table/items.h"

/* Asks for the ranks of some items. Each costs a few walks of the index's tree; all are as of the
 * same commit. */
struct rank_request {
    struct bytes table;
    struct bytes index;
    const struct item *keys; /* keys of the table; `as_if`: with the index's keys as well */
    size_t count;
    bool entries_only;    /* only what is there: the counts stay 0, which costs less */
    bool as_if;           /* where such an entry would stand, whether or not it is there */
    unsigned group_parts; /* entries whose first so many sort attributes are equal are a group: */
    bool groups;          /* count them, too. 0: no groups. */
    bool nonblocking; /* rather than wait until groups have been counted first, be WOULD_BLOCK */
};

struct rank_reply {
    bool found;                         /* the item is there and in the index; as_if: just so */
    struct item entry;                  /* its keys: the index's and the table's */
    uint64_t before, after;             /* entries of its partition on either side */
    uint64_t group_before, group_after; /* those outside of its group */
    uint64_t groups_before, groups_after;
};

/* replies[i] answers keys[i]. An item that is not there, or not in the index, is OK with found
 * false and counts of 0 (as_if: with the counts). NO_TABLE, INVALID, IO_FAILED, DAMAGED,
 * WOULD_BLOCK (only if `nonblocking`; ask again from where one may wait). */
enum status engine_rank_lookup(struct engine *engine, const struct rank_request *request,
                               struct scope in, struct rank_reply *replies);

/* Asked with an action (change.h): where its item stands right before and right after it, as of the
 * commit. What other changes of the same commit do counts for those after them only, so all answers
 * together are those of one serial order. Costs a few walks of the tree while the commit is made
 * visible, for those who ask; a dense count of many groups is made by an engine_rank_lookup()
 * before it, or not told. Only of an engine that says ENGINE_RANKED. */
struct action_ranks {
    struct bytes index;
    unsigned group_parts; /* as in struct rank_request */
    bool groups;
    /* filled in when the change is done */
    bool counted; /* the ranks are filled in. False if the change failed, was a repeat, or the
                     engine could not: ask engine_rank_lookup() then */
    struct rank_reply before, after; /* without `entry`; found false: not in the index */
    uint64_t total;                  /* entries of the partition after it */
};

/* --- names of partitions ---
 *
 * The partitions of an index that have entries, as a counted list in the order of their names: how
 * many there are between two names is a walk of a tree, however many entries they have. The first
 * to ask waits until the list was made, which is one look at each partition and holds up nobody
 * else; afterwards each commit keeps it right. An engine that has not this is UNSUPPORTED, and so
 * is one that has no memory for the list at present: who asks counts otherwise then.
 */

/* Which partitions. All attributes that are named here are strings. */
struct partition_names {
    struct bytes table, index;
    struct bytes prefix;           /* the partition's key begins so, and what follows is its name */
    struct bytes list_index, list; /* only those whose name is the first sort attribute of an entry
                                      in the partition `list` of that index; empty: all */
    bool nonblocking;              /* rather than wait until the list was made be WOULD_BLOCK */
};

/* The names from `low` on that stand before `high`. */
struct name_span {
    struct bytes low, high; /* empty: no bound */
    uint64_t count;         /* filled in: how many there are */
};

struct partition_list {
    struct bytes *names;
    size_t count;
    bool more; /* there are some after the last one */
};

/* Counts the names of each span; all are as of the same commit. NO_TABLE, INVALID, BEING_BUILT,
 * WOULD_BLOCK, UNSUPPORTED. */
enum status engine_partitions_count(struct engine *engine, const struct partition_names *which,
                                    struct scope in, struct name_span *spans, size_t count);
/* The first `limit` names of a span, whose count is not filled in. */
enum status engine_partitions_list(struct engine *engine, const struct partition_names *which,
                                   const struct name_span *span, size_t limit, struct scope in,
                                   struct partition_list *out);

struct ranking_ops {
    enum status (*rank_lookup)(struct engine *, const struct rank_request *, struct scope,
                               struct rank_reply *);
    /* NULL: it cannot tell */
    enum status (*partitions_count)(struct engine *, const struct partition_names *, struct scope,
                                    struct name_span *, size_t);
    enum status (*partitions_list)(struct engine *, const struct partition_names *,
                                   const struct name_span *, size_t, struct scope,
                                   struct partition_list *);
};

#endif
