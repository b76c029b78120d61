/* Sorted sets from the inside. Private to this folder.
 *
 * An entry's *place* is what orders it: score, subscore, tie and sort key, each in its encoding,
 * one after the other. Numbers' encodings know their end, so places compare by their bytes, and
 * what begins with a score is that score's.
 */
#ifndef GT_API_REDIS_SPACE_INT_H
#define GT_API_REDIS_SPACE_INT_H

#include "api/redis/face_int.h"
#include "api/redis/space.h"
#include "base/map.h"

/* A member that the call has written to. */
struct moved {
    struct bytes member, key;
    bool had, has;           /* in the table, and now */
    struct bytes old, place; /* where it stands there, and now */
    double score;
    struct points points;
    struct bytes tie;
};

struct zset {
    struct bytes key;
    const struct board *board;
    struct zset *next;
    bool empty; /* the board has no entries, whatever the index may still show */
    struct map by_member;
    struct moved **moved; /* in no order */
    size_t count, room;
    int64_t more; /* members than the table has */
    bool dropped; /* all that the table has goes, bit by bit once it is committed */
    bool expires; /* zset_expire() was called */
    int64_t expires_ms;
};

struct space {
    struct zset *sets; /* that were opened */
    size_t count;
    struct map by_key; /* the same, once there are many */
    int64_t now_ms;
    bool busy; /* one of them is being cleared: all of the call has to be tried again later */
};

/* The call's, made when first asked for. */
struct space *space_of(struct redis_call *call);
/* Gives the boards back. */
void space_release(struct space *space);
/* Makes the change's actions of what was written. On the engine's thread. */
enum status space_actions(struct redis_call *call);
/* A `start` found a board and wrote to it; if the board was taken away in between, its item has to
 * be made again: the change that does it, or NULL. */
struct change *space_repair(struct redis_call *call);
/* What was written is committed. */
void space_written(struct redis_call *call);

/* For ACTION_COMPUTE: as entry_write_plain(), but what the board does not take is a fault. */
action_compute space_write_entry;

const struct board *zset_board(const struct zset *zset);
static inline bool zset_is_moved(const struct zset *zset) {
    return zset->count != 0;
}
/* Whether it may be written to. A set whose time is up is emptied for good first. In `run`. */
enum status zset_check_writable(struct redis_call *call, struct zset *zset);
struct moved *zset_moved(const struct zset *zset, struct bytes member);

/* ---- reading the table, without what was written (space_read.c) ---- */

/* Before all places that begin with `place`, or after them. */
struct edge {
    struct points points;  /* score, and subscore if it matters; score empty: no edge */
    struct bytes tie, key; /* only with both of them */
    bool after;
};
/* Whether an entry of that place stands before the edge. */
bool edge_is_after(const struct edge *edge, struct bytes place, struct arena *arena);

struct window {
    const struct edge *low, *high; /* NULL: none */
    bool reverse;
    uint64_t skip, skip_end, limit; /* limit 0: all */
};
/* An entry as it stands in the ranks. */
struct ranked {
    struct bytes key;
    struct points points;
    struct bytes tie;
};
enum status table_count(struct redis_call *call, const struct zset *zset,
                        const struct window *window, uint64_t *out);
enum status table_list(struct redis_call *call, const struct zset *zset,
                       const struct window *window, struct ranked **out, size_t *count);
/* Where the members stand; without `ranks` only what they have. */
struct standing_at {
    bool found;
    struct ranked entry;
    uint64_t before, after;
};
enum status table_places(struct redis_call *call, const struct zset *zset,
                         const struct bytes *members, size_t count, bool ranks,
                         struct standing_at *out);
struct bytes ranked_place(const struct ranked *entry, struct arena *arena);
static inline double ranked_score(const struct ranked *entry) {
    return points_to_double(&entry->points);
}

/* ---- with it (space_over.c); only if zset_is_moved() ---- */

enum status over_size(struct redis_call *call, struct zset *zset, uint64_t *out);
/* How many stand before the edge. */
enum status over_before(struct redis_call *call, struct zset *zset, const struct edge *edge,
                        uint64_t *out);
/* Those with ranks from `first` to `last`. */
enum status over_list(struct redis_call *call, struct zset *zset, uint64_t first, uint64_t last,
                      struct ranked **out, size_t *count);

#endif
