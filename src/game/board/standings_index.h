/* Queries of the index `ranks`, for all code that reads ranks: standings.h and the Redis commands.
 *
 * The index holds a board's entries in ascending order of score, subscore, tie and key (entry.h).
 * Each query reads one snapshot of it and costs a few walks of a counted tree, however large the
 * board is. Expiry and clearing are not looked at: callers ask board_is_gone() first.
 *
 * All calls are for any thread. Answers live in the query's arena, failures are told in its
 * failure.
 */
#ifndef GT_GAME_BOARD_STANDINGS_INDEX_H
#define GT_GAME_BOARD_STANDINGS_INDEX_H

#include "game/board/entry.h"
#include "table/items.h"
#include "table/ranking.h"

/* Which board is read, and where the answer goes. */
struct standings_query {
    struct game *game;
    const struct board *board;
    struct arena *arena;
    struct failure *failure;
};

/* An entry's key in the index. */
struct ranked_entry {
    struct bytes key; /* entry_key_of() its member */
    struct points points;
    struct bytes tie;
};

/* A bound between entries: before all entries that begin with what is given, or after them. */
struct rank_edge {
    struct points points;  /* the score, and the subscore unless empty; score empty: no bound */
    struct bytes tie, key; /* only with score and subscore */
    bool after;
};

/* A range of the board's part of the index. */
struct rank_window {
    const struct rank_edge *low, *high; /* NULL: none */
    bool reverse;                       /* from the greatest down */
    uint64_t skip, skip_end;            /* entries left out at the start and the end of the range */
    uint64_t limit;                     /* 0: all */
};

struct ranked_list {
    struct ranked_entry *list;
    size_t count;
};

/* Counts the entries of a range, and lists them. */
enum status standings_index_count(const struct standings_query *query,
                                  const struct rank_window *window, uint64_t *out);
enum status standings_index_list(const struct standings_query *query,
                                 const struct rank_window *window, struct ranked_list *out);

/* Shows each of them instead, which is good until the visitor returns: for lists that are too long
 * to be kept so. */
struct ranked_visitor {
    void (*visit)(void *user, const struct ranked_entry *entry);
    void *user;
};
enum status standings_index_each(const struct standings_query *query,
                                 const struct rank_window *window,
                                 const struct ranked_visitor *visitor);

/* Which entries' ranks are asked for: by their keys in the table, which are game_key() of the
 * board's pk and the entry's key; or with `as_if`, whether or not there are such entries, by their
 * keys in the index, which are standings_index_key(). */
struct rank_question {
    const struct item *keys;
    size_t count;
    bool as_if;
    bool entries_only; /* read the entries without counting ranks, which is cheaper */
    bool as_board;     /* also count what the board's ranking of ties needs */
    enum ranking ties; /* and what this one needs, whatever the board's is */
    bool nonblocking;  /* rather than wait until scores were counted, be WOULD_BLOCK; else that
                          depends on the thread (game_may_wait()) */
};
enum status standings_index_ranks(const struct standings_query *query,
                                  const struct rank_question *question, struct rank_reply *replies);
/* The key of an entry in the index, as an item. */
struct item standings_index_key(const struct standings_query *query,
                                const struct ranked_entry *entry);
/* An entry out of an item of the index; borrowed. */
struct ranked_entry ranked_entry_of(const struct item *item);

#endif
