/* Private to this folder: what the board's files share. */
#ifndef GT_GAME_BOARD_INT_H
#define GT_GAME_BOARD_INT_H

#include "game/board.h"

/* How keys begin. */
#define BOARDDEF "BOARDDEF#"
#define INSTANCE "INSTANCE#"
#define BOARD    "BOARD#"
#define FEEDS    "FEEDS#"

/* --- names (board_name.c) --- */

/* ID[/SCOPE][@PERIOD] taken apart; whether there is a period at all. Borrowed. */
struct board_name {
    struct bytes id, scope, period;
    bool has_scope, has_period;
};
struct board_name board_name_of(struct bytes name);
struct bytes board_name_join(const struct board_name *name, struct arena *arena);
/* Whether it can be the id of a definition, or a scope's name. */
bool board_is_id(struct bytes text);
/* The part of a scope before the first ':'; of the empty one "global". */
struct bytes board_scope_kind(struct bytes scope);
/* Whether the board is kept for the scope (empty: global). */
bool board_has_scope(const struct board_rules *rules, struct bytes scope);

/* The timing of the rules. INVALID if the zone is not there. */
enum status board_timing(const struct game *game, const struct board_rules *rules,
                         struct arena *arena, struct failure *failure, struct timing *out);

/* The definition's item with what it feeds; NOT_FOUND without a text. */
enum status board_definition_read(struct game *game, struct bytes id, struct arena *arena,
                                  struct failure *failure, struct board_rules *out);

/* --- reading what is listed (board_list.c) --- */

struct listing {
    struct bytes index; /* empty: the table */
    struct bytes partition_name, partition;
    struct bytes sort_name, after; /* after: only what is greater; empty: all */
    struct bytes begins;           /* only what begins so; not with `after` */
    size_t limit;
    const struct projection *projection;
};
enum status board_page(struct game *game, const struct listing *listing, struct arena *arena,
                       struct failure *failure, struct page_reply *out);

/* Puts where an instance's item stands in the second index: by its board; a plain one by when it
 * ends, if it does. (board_state.c) */
struct record;
void board_put_place(struct record *record, const struct board *board, int64_t expires_ms);

/* --- the boards' cache (board_find.c) --- */

struct boards *boards_new(void);
void boards_free(struct boards *boards);

/* The instance of that name as if it were plain: whatever its definition says, or said. */
enum status board_find_bare(struct game *game, struct bytes instance, struct arena *arena,
                            struct failure *failure, const struct board **out);

#endif
