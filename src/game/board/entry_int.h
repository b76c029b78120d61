/* Private to game/board: what the files about entries share. */
#ifndef GT_GAME_BOARD_ENTRY_INT_H
#define GT_GAME_BOARD_ENTRY_INT_H

#include "game/board/entry.h"

#define ENTRY_HIDDEN BYTES("hidden")
#define ENTRY_PARTS  BYTES("parts")

/* The points of an entry's item, and whether it is hidden. Borrowed. False: it is no entry. */
bool entry_points(const struct item *item, struct points *out, bool *hidden);

/* Whether the board's period has ended while the write was queued. Asked on the engine's thread,
 * where periods are sealed too, so nothing is written to a sealed one. */
bool entry_period_ended(const struct board *board);
/* INVALID, with a sentence in the action. */
enum status entry_refuse_ended(struct action *action, const struct board *board,
                               struct arena *arena);

/* The points of an entry of a cross-game board, joined from its parts. False: a number cannot hold
 * the sum. (entry_rules.c) */
bool entry_combine_parts(const struct board_rules *rules, const struct value *parts,
                         struct arena *arena, struct points *out);

/* --- attributes of an entry's item (entry.c) --- */

/* Whether a new entry is hidden; `key` is its item's. On the engine's thread. */
bool entry_starts_hidden(const struct entry_write *write, const struct item *key);
/* The tie of an item, shown or hidden; 0 if it has none. */
struct bytes entry_tie_of(const struct item *item);
/* What an entry is ranked by. Of a hidden entry it is in the attribute `hidden`, which no index
 * has. */
struct entry_ranking {
    struct points points;
    struct bytes tie;
    bool hidden;
};
/* The item with other points and tie, for an item that is hidden already if `ranking` is, and shown
 * if it is not. */
struct item entry_with_points(const struct item *item, const struct entry_ranking *ranking,
                              struct arena *arena);
/* The tie of an item, shown or hidden; empty if it has none. */
struct bytes entry_tie_given(const struct item *item);
/* The same for an item of which that is not known: what it was ranked by before is taken out. */
struct item entry_with_ranking(const struct item *item, const struct entry_ranking *ranking,
                               struct arena *arena);
/* A new entry's item: the key, which is all that `key` has, and what it is ranked by. */
struct item entry_new(const struct item *key, const struct entry_ranking *ranking,
                      struct arena *arena);
/* The item with its player in GSI1, unless it has a GSI1PK already. */
struct item entry_with_player(const struct item *item, const struct board *board,
                              struct arena *arena);
/* The item that goes by itself in that second; 0: never. */
struct item entry_with_end(const struct item *item, int64_t end_s, struct arena *arena);
/* The item with its `ttl`, if the board's entries expire. */
struct item entry_with_ttl(const struct item *item, const struct board_rules *rules, int64_t now_ms,
                           struct arena *arena);

#endif
