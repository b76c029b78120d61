/* Private to this folder: what the entry's files share. */
#ifndef GT_GAME_ENTRY_INT_H
#define GT_GAME_ENTRY_INT_H

#include "game/entry.h"

#define ENTRY_HIDDEN BYTES("hidden")
#define ENTRY_PARTS  BYTES("parts")

/* The points of an item, shown or hidden. False: it has none. */
bool entry_points(const struct item *item, struct points *out, bool *hidden);

/* Whether the board's period has ended while the write was on its way. Asked on the engine's
 * thread, where periods are sealed too, so that nothing is written to one that is. */
bool entry_is_late(const struct board *board);
enum status entry_refuse_late(struct action *action, const struct board *board,
                              struct arena *arena);

/* --- entry_item.c: items with points in them --- */

/* The number that decides between equal points: see entry.h. */
struct bytes entry_tie(const struct board_rules *rules, int64_t now_ms, struct arena *arena);
/* Whether an entry that is made is hidden from the start; `key` is the item's. On the engine's
 * thread. */
bool entry_hides(const struct entry_write *write, const struct item *key);
/* What an item has of it, shown or hidden; 0 if it has none. */
struct bytes entry_tie_in(const struct item *item);
/* The item with other points (and tie, unless empty: as it is), in the same place: shown or hidden.
 */
struct item entry_with_points(const struct item *item, const struct points *points,
                              struct bytes tie, bool hidden, struct arena *arena);
/* A new one with nothing but its key and these. */
struct item entry_new(const struct item *key, const struct points *points, struct bytes tie,
                      bool hidden, struct arena *arena);
/* With the second it ends at, if the board's entries end. */
struct item entry_with_life(const struct item *item, const struct board_rules *rules,
                            int64_t now_ms, struct arena *arena);

#endif
