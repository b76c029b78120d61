/* Private to game/board: what the files about definitions and instances share. */
#ifndef GT_GAME_BOARD_BOARD_INT_H
#define GT_GAME_BOARD_BOARD_INT_H

#include "game/board/board.h"

/* Prefixes of partition and sort keys (board.h). */
#define BOARDDEF "BOARDDEF#"
#define INSTANCE "INSTANCE#"
#define BOARD    "BOARD#"
/* of the partitions of generations (board_generation.h) */
#define GENERATION "BOARD~"
#define FEEDS      "FEEDS#"

/* --- names (board_instance.c) --- */

/* Takes a name apart, and puts one together. The parts borrow the name; what is joined is in the
 * arena. */
struct board_name board_name_of(struct bytes name);
struct bytes board_name_join(const struct board_name *name, struct arena *arena);
/* Whether the text can be the id of a definition, or a scope. */
bool board_is_id(struct bytes text);
/* A scope's kind: the part before the first ':', and "global" for the empty scope. Borrowed. */
struct bytes board_scope_kind(struct bytes scope);
/* Whether the rules' scopes include this one (empty: global). */
bool board_has_scope(const struct board_rules *rules, struct bytes scope);

/* --- definitions (board_definition.c) --- */

/* What period_at() needs of the rules. INVALID if this machine has no such time zone. */
enum status board_timing(const struct game *game, const struct board_rules *rules, struct scope in,
                         struct timing *out);

/* Reads the definition as board_rules_get() does, with `feeds`. */
enum status board_definition_read(struct game *game, struct bytes id, struct scope in,
                                  struct board_rules *out);

/* Whether the definition `old` of a board that has instances may become `new`: CONFLICT with a
 * sentence in change->failure if not. Called on the engine's thread, by the prepare function of the
 * change that replaces the definition. (board_redefine.c) */
enum status board_redefine_check(struct game *game, const struct board_rules *old,
                                 const struct board_rules *new, struct change *change);

/* Whether rules that were read from the definition of that id can be used. An item that a client
 * put there may name another id, or a time zone that this machine does not have. */
bool board_definition_usable(const struct game *game, struct bytes id,
                             const struct board_rules *rules, struct arena *arena);

/* --- pages of items (board_list.c) --- */

/* A query of one partition of the game's table or of an index of it. */
struct listing {
    struct bytes index;                     /* empty: the table, read consistently */
    struct bytes partition_name, partition; /* the key attribute, and the partition */
    struct bytes sort_name;                 /* the sort key's attribute; for the bounds below */
    /* Only items whose sort key is one of these; at most one is given, with none all are read. */
    struct bytes after;                  /* greater than this */
    struct bytes before;                 /* less than this */
    struct bytes begins;                 /* beginning with this */
    size_t limit;                        /* items; 0: as many as a page holds */
    const struct projection *projection; /* NULL: whole items */
};
enum status board_page(struct game *game, const struct listing *listing, struct scope in,
                       struct page_reply *out);

/* Adds the keys of GSI2 to an instance's item: by its board, or of a plain board that expires by
 * when it does. (board_instance.c) */
struct record;
void board_put_index_keys(struct record *record, const struct board *board, int64_t expires_ms);
/* The instance's item with that end (0: none), a new item if `old` is none. In the arena. */
struct item board_state_expiring(const struct board *board, const struct item *old,
                                 int64_t expires_ms, struct arena *arena);

/* --- the cache of boards (board_cache.c); one for each game, made and freed by game.c --- */

struct board_cache *board_cache_new(void);
void board_cache_free(struct board_cache *boards);

/* Whether the board's entries are still in the partition that they were in when it was found, as of
 * the last commit that is visible. */
bool board_is_where_it_was(struct game *game, const struct board *board, struct scope in);
/* Finds the instance of that name as if it were plain, without reading a definition, which may be
 * gone or unusable. Not cached. */
enum status board_find_instance(struct game *game, struct bytes instance, struct scope in,
                                const struct board **out);

#endif
