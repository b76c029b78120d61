/* Private to this folder: looking at a board's ranking. */
#ifndef GT_GAME_STANDINGS_INT_H
#define GT_GAME_STANDINGS_INT_H

#include "game/standings.h"

/* A look at a board, and what it needs. */
struct look {
    struct game *game;
    const struct board *board;
    struct arena *arena;
    struct failure *failure;
};

/* Whether there is nothing to look at. */
bool look_is_empty(const struct look *look);
uint64_t look_touched(const struct look *look);

/* The key of an entry in the ranking: PK, score, subscore, tie, SK; `parts` of them (2 to 5). */
struct item look_key(const struct look *look, const struct points *points, struct bytes tie,
                     struct bytes key, unsigned parts);
/* Part of the ranking in the board's order, or backward. `page` has bounds, skip and limit. */
enum status look_page(const struct look *look, struct page_request *page, bool backward,
                      struct page_reply *out);
enum status look_count(const struct look *look, uint64_t *out);
/* Places of items by key, or as if; with what the board's way of ranking needs. */
enum status look_places(const struct look *look, const struct item *keys, size_t count, bool as_if,
                        struct place *places);
/* How many stand before a place in the board's order: all, those with other points, their groups.
 */
struct ahead {
    uint64_t entries, better, groups;
};
struct ahead look_ahead(const struct look *look, const struct place *place);
/* Fills in rank, position and percentile. */
void look_rank(const struct look *look, const struct ahead *ahead, uint64_t total,
               struct standing *row);
/* Names, meta and times of the rows found, out of their items. */
enum status look_details(const struct look *look, struct standing *rows, size_t count);

/* Does it again until nothing changed meanwhile. */
enum status look_steadily(const struct look *look, enum status (*once)(void *), void *context);

/* Rows of a page with their ranks; one look. */
enum status look_rows(const struct look *look, const struct standings_request *request,
                      struct standings *out);

#endif
