/* Reading boards: who stands where. Each answer is of one moment and costs a few walks of a tree,
 * however large the board is. Ranks begin at 1, the first in the board's own order. Works on sealed
 * boards as on live ones. A board that is gone is empty.
 *
 * Where it takes two looks at the board, they are repeated until nothing changed in between; on a
 * board that changes faster than it can be looked at, the last two are taken as they are. */
#ifndef GT_GAME_STANDINGS_H
#define GT_GAME_STANDINGS_H

#include "game/entry.h"

struct standing {
    bool found;
    struct entry entry;
    uint64_t rank;     /* as the board ranks ties */
    uint64_t position; /* 1, 2, 3, ... whatever the ties */
    double percentile; /* share of the others that it is ahead of or equal to, 0 to 100 */
};

struct standings {
    struct standing *rows;
    size_t count;
    uint64_t total; /* entries on the board */
    bool more;      /* after the last row (between the bounds), */
    bool before;    /* and before the first */
};

/* What of the items to read besides what ranks them. */
enum standings_detail { DETAIL_RANKS, DETAIL_FULL /* name, meta, times */ };

struct standings_request {
    const struct board *board;
    uint64_t from;  /* position, 1 the first, among those between the bounds; 0: see the others */
    uint32_t limit; /* at most STANDINGS_MAX */
    /* A page by cursor: what stands after (or, backward, before) the place of this entry, which is
     * its points, tie and member; whether or not it is still there. */
    const struct entry *cursor;
    bool backward;
    /* Only scores between these, both included; empty: no bound. */
    struct bytes score_low, score_high;
    enum standings_detail detail;
};
enum { STANDINGS_MAX = 1000, STANDINGS_MEMBERS_MAX = 500, HISTOGRAM_MAX = 200 };

enum status standings_page(struct game *game, const struct standings_request *request,
                           struct arena *arena, struct failure *failure, struct standings *out);
/* The member with up to `each` on either side. NOT_FOUND if it is not on the board. */
enum status standings_around(struct game *game, const struct board *board, struct bytes member,
                             uint32_t each, struct arena *arena, struct failure *failure,
                             struct standings *out);
/* Each of the members, in the order given; found false where there is none. */
enum status standings_members(struct game *game, const struct board *board,
                              const struct bytes *members, size_t count,
                              enum standings_detail detail, struct arena *arena,
                              struct failure *failure, struct standings *out);
/* The same ranked among themselves: rows in order, without those not found; `among` is each row's
 * rank in this company. */
enum status standings_friends(struct game *game, const struct board *board,
                              const struct bytes *members, size_t count, struct arena *arena,
                              struct failure *failure, struct standings *out, uint64_t **among);
/* What rank the points would get, submitted now by nobody in particular: behind its equals. */
enum status standings_if(struct game *game, const struct board *board, const struct points *points,
                         struct arena *arena, struct failure *failure, uint64_t *rank,
                         uint64_t *total);
/* The last entry whose percentile by position is at least that (0 to 100; 100 is the first).
 * NOT_FOUND on an empty board. */
enum status standings_percentile(struct game *game, const struct board *board, double percentile,
                                 struct arena *arena, struct failure *failure,
                                 struct standing *out);
enum status standings_total(struct game *game, const struct board *board, struct arena *arena,
                            struct failure *failure, uint64_t *total);

/* How many stand in each of `buckets` equal steps from the least score to the greatest: in step i
 * those from edges[i] to before edges[i + 1], in the last the greatest, too. Edges are whole where
 * scores are and there are enough of them. One step if all have the same score, none on an empty
 * board. */
struct histogram {
    struct bytes low, high; /* of the whole */
    struct bytes *edges;    /* count + 1 */
    uint64_t *counts;
    size_t count;
    uint64_t total;
};
enum status standings_histogram(struct game *game, const struct board *board, unsigned buckets,
                                struct arena *arena, struct failure *failure,
                                struct histogram *out);

#endif
