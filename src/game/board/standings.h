/* Reading boards: ranks and pages. Each answer is of one snapshot and costs a few walks of a tree,
 * however large the board is. Ranks begin at 1 with the first in the board's order. Sealed boards
 * read like live ones; a board that board_is_gone() reads as empty.
 *
 * An answer that takes two reads is tried again until the board did not change between them; on a
 * board that changes too fast for that, the last try is the answer.
 *
 * All calls are for any thread. Answers live in the arena of the query or scope. */
#ifndef GT_GAME_BOARD_STANDINGS_H
#define GT_GAME_BOARD_STANDINGS_H

#include "base/limits.h"
#include "game/board/entry.h"
#include "game/board/standings_index.h"

struct standing {
    bool found;
    struct entry entry;
    uint64_t rank;     /* as the board ranks ties */
    uint64_t position; /* 1, 2, 3, ... whatever the ties */
    double percentile; /* share of the other entries that it is ahead of or ties with, 0 to 100 */
};

struct standings {
    struct standing *rows;
    size_t count;
    uint64_t total; /* entries on the board */
    bool more;      /* there are entries after the last row, within the bounds */
    bool before;    /* there are entries before the first row */
};

/* How much of each entry is read: what the index has, or the whole item. */
enum standings_detail { DETAIL_RANKS, DETAIL_FULL /* name, meta, times */ };

struct standings_request {
    const struct board *board;
    uint64_t from;  /* first position, from 1, among those within the bounds; 0: by cursor */
    uint32_t limit; /* at most STANDINGS_MAX */
    /* A page by cursor: the entries after (or, backward, before) the position that an entry of
     * these points, tie and member has or would have. */
    const struct entry *cursor;
    bool backward;
    /* Only scores within these bounds, both included; empty: no bound. */
    struct bytes score_low, score_high;
    enum standings_detail detail;
};
enum {
    STANDINGS_MAX = LIMIT_STANDINGS,
    STANDINGS_MEMBERS_MAX = LIMIT_STANDINGS_MEMBERS,
    HISTOGRAM_MAX = LIMIT_HISTOGRAM
};

/* A page of the board, in its order. */
enum status standings_page(struct game *game, const struct standings_request *request,
                           struct scope in, struct standings *out);
/* The member's row with up to `each` rows on either side. NOT_FOUND if it is not on the board. */
enum status standings_around(const struct standings_query *query, struct bytes member,
                             uint32_t each, struct standings *out);
/* Members to look up; at most STANDINGS_MEMBERS_MAX. */
struct standings_lookup {
    const struct bytes *members;
    size_t count;
    enum standings_detail detail;
    bool unranked; /* while the ranking is being built: entries without ranks rather than a failure
                      (rank, position and total are 0) */
};
/* A row for each of the members, in the order given; found is false for those without an entry. */
enum status standings_members(const struct standings_query *query,
                              const struct standings_lookup *lookup, struct standings *out);
/* The same members ranked among themselves: rows in that order, each member once, without those not
 * found. *among is an array of each row's rank among these members. */
enum status standings_friends(const struct standings_query *query,
                              const struct standings_lookup *lookup, struct standings *out,
                              uint64_t **among);
/* The rank that a new entry of these points would get now, which is after its equals; and how many
 * entries there are. */
enum status standings_rank_for_points(const struct standings_query *query,
                                      const struct points *points, uint64_t *rank, uint64_t *total);
/* The last entry whose percentile by position is at least that (0 to 100; 100 is the first).
 * NOT_FOUND on an empty board. */
enum status standings_percentile(const struct standings_query *query, double percentile,
                                 struct standing *out);
/* How many entries there are. */
enum status standings_total(struct game *game, const struct board *board, struct scope in,
                            uint64_t *total);

/* How many entries are in each of `buckets` equal buckets from the least score to the greatest:
 * bucket i has those from edges[i] to before edges[i + 1], the last one the greatest score, too.
 * Edges are whole numbers where scores are and their range is wide enough. One bucket if all scores
 * are equal, none on an empty board. */
struct histogram {
    struct bytes low, high; /* the least and the greatest score */
    struct bytes *edges;    /* count + 1 */
    uint64_t *counts;
    size_t count;
    uint64_t total;
};
enum status standings_histogram(const struct standings_query *query, unsigned buckets,
                                struct histogram *out);

#endif
