/* What a write does to an entry: the one place where it is decided.
 *
 * Redis commands (alone, and within MULTI), REST, loads, the end of a match and items written by
 * DynamoDB clients all fill in a `struct entry_write` (entry.h) with the board, the request and the
 * entry as it is, call one of these, and write the outcome. Each is pure: it reads and fills in the
 * entry_write and allocates in the arena, nothing else, so any thread may call it.
 *
 * They read the board, the request (flags, delta, points, now_ms, sources) and the entry there is
 * (had_old, before, tie_before, parts_before), and fill in outcome, after, tie and parts. When
 * nothing is to be written, `after` and `tie` are those of before. Callers that do not look at the
 * tie after entry_decide_by_flags() unless it is written may leave out tie_before.
 */
#ifndef GT_GAME_BOARD_ENTRY_RULES_H
#define GT_GAME_BOARD_ENTRY_RULES_H

#include "game/board/entry.h"

/* Decides by the flags, whatever the board's `keep`; its limits hold. Written if the outcome is
 * ENTRY_ADDED or ENTRY_CHANGED. A score that is the same double as the one there changes nothing,
 * neither subscore nor tie, unless ENTRY_EXACT. */
void entry_decide_by_flags(struct entry_write *write, struct arena *arena);
/* Decides by the board's `keep` and, of a cross-game board, its sources. Written if the outcome is
 * one of those or ENTRY_SAME: then the play counts, and its name and metadata are stored. */
void entry_decide_by_rules(struct entry_write *write, struct arena *arena);

/* The attribute `tie` of an entry that is written now (entry.h). */
struct bytes entry_tie(const struct board_rules *rules, int64_t now_ms, struct arena *arena);

#endif
