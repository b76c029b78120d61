/* Private to game/board: the steps that reads of a board's ranking are made of. */
#ifndef GT_GAME_BOARD_STANDINGS_INT_H
#define GT_GAME_BOARD_STANDINGS_INT_H

#include "game/board/standings.h"
#include "game/board/standings_index.h"

/* Whether the board is gone (board_is_gone()), and is to be read as empty. */
bool standings_query_is_empty(const struct standings_query *query);
/* The version of the partition that the board's entries are in. */
uint64_t standings_query_version(const struct standings_query *query);

/* How many entries the board has. */
enum status standings_query_count(const struct standings_query *query, uint64_t *out);
/* Whether the index is read from its greatest key down, to read in the board's order or backward.
 */
static inline bool standings_query_falls(const struct standings_query *query, bool backward) {
    return (query->board->rules.order == ORDER_HIGH) != backward;
}
/* The rank that an entry of this key has or would have. */
enum status standings_query_rank_of(const struct standings_query *query,
                                    const struct ranked_entry *entry, struct rank_reply *reply);
/* What is ahead of an entry in the board's order. */
struct ahead {
    uint64_t entries; /* all entries */
    uint64_t better;  /* those with other points */
    uint64_t groups;  /* how many different points those have */
};
struct ahead standings_query_ahead(const struct standings_query *query,
                                   const struct rank_reply *rank_reply);
/* Fills in rank, position and percentile of the row of an entry that has so much ahead. */
void standings_query_set_rank(const struct standings_query *query, const struct ahead *ahead,
                              uint64_t total, struct standing *row);
/* Reads the items of the rows found, and fills in name, meta, time and plays. */
enum status standings_query_details(const struct standings_query *query, struct standing *rows,
                                    size_t count);

/* Calls `once` until the board's version is the same before and after, or a few times at most. */
enum status standings_query_retry(const struct standings_query *query, enum status (*once)(void *),
                                  void *context);

/* Reads the rows of a page and their ranks, without details; for `once` of the retry. */
enum status standings_query_rows(const struct standings_query *query,
                                 const struct standings_request *request, struct standings *out);

#endif
