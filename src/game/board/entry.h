/* An entry: the score of one member on a board, as an item of the table.
 *
 *   PK BOARD#<instance>  SK <member>  score N  subscore N  tie N
 *   optional: name S, meta M, at N (ms of the last improvement), plays N, ttl N, parts M
 *   (cross-game), GSI1PK PLAYER#<member>, GSI1SK BOARD#<instance>; of a hidden member the three
 *   numbers are in `hidden` L instead, so that no index ranks it.
 *
 * The index `ranks` holds the entries in ascending order of score, subscore, tie, member. A board
 * with the highest first is read backward. `tie` is 0 where equal points are ordered by member;
 * where the earliest is first it is the time of the improvement, negated if the board is read
 * backward.
 *
 * A member is at most ENTRY_MEMBER_MAX bytes of any kind. The sort key must be text and not empty,
 * so members that are not UTF-8 are escaped there (entry_key.c); text is its own key.
 */
#ifndef GT_GAME_BOARD_ENTRY_H
#define GT_GAME_BOARD_ENTRY_H

#include "base/limits.h"
#include "game/board/board.h"
#include "game/board/points.h"

enum { ENTRY_MEMBER_MAX = LIMIT_MEMBER };

/* The sort key of a member, and back; both may borrow from what they are given. Keys sort as
 * members do, but that members which are not UTF-8 come last. INVALID if too long. */
enum status entry_key_of(struct bytes member, struct scope in, struct bytes *out);
struct bytes entry_member_of(struct bytes key, struct arena *arena);

/* The keys of all members that begin with some text: two ranges, since members that are not UTF-8
 * come last. From `low` on and before `high`. */
struct entry_key_range {
    struct bytes low, high;
};
enum { ENTRY_KEY_RANGES = 2 };
/* The text is ASCII and neither empty nor begins with 0x00. */
void entry_keys_beginning(struct bytes text, struct arena *arena,
                          struct entry_key_range out[ENTRY_KEY_RANGES]);

struct entry {
    struct bytes member;
    struct points points;
    struct bytes tie; /* encoded; with points and member it is the key in the index `ranks` */
    int64_t at_ms;    /* of the last improvement; 0: not known */
    struct bytes name;
    const struct value *meta; /* M, or NULL */
    int64_t plays;
    int64_t ends_ms; /* when it goes by itself; 0: never */
    bool hidden;
};
/* Reads an entry's item, or what the index has of it. It borrows the item. DAMAGED if it is no
 * entry. */
enum status entry_read(const struct item *item, struct arena *arena, struct entry *out);

/* Whether a score is within the board's limits, with no more decimals than it has. */
bool entry_score_fits(const struct board_rules *rules, struct bytes score);
/* How many digits of a number are after the point. */
int entry_decimals(struct bytes number);
/* <0 if a is ranked before b on the board, 0 if only the tie decides. */
int entry_order(const struct board_rules *rules, const struct points *a, const struct points *b);

/* --- writing: functions for ACTION_COMPUTE, with a `struct entry_write` as action->user --- */

/* The attribute of an entry that goes by itself: in which second since 1970. It is the table's own
 * (game.c), so the table removes the item. */
#define ENTRY_TTL BYTES("ttl")

enum entry_flags {
    ENTRY_NEW_ONLY = 1,     /* only if the member has no entry */
    ENTRY_OLD_ONLY = 2,     /* only if it has */
    ENTRY_GREATER_ONLY = 4, /* an entry that is there changes only upwards, */
    ENTRY_LESS_ONLY = 8,    /* or only downwards */
    ENTRY_ADD = 16,         /* add `delta` to the score that is there, as doubles */
    ENTRY_EXACT = 32,       /* the points are exact: equal doubles are not enough to be the same */
};

enum entry_outcome {
    ENTRY_ADDED,
    ENTRY_CHANGED,
    ENTRY_SAME,         /* accepted, and nothing differs */
    ENTRY_NOT_DONE,     /* the flags or the board's `keep` leave the entry as it is */
    ENTRY_NAN,          /* the sum of two infinities */
    ENTRY_OUT_OF_RANGE, /* the score or sum exceeds the board's limits, or what a number can hold */
};

struct entry_write {
    struct game *game;
    const struct board *board;
    unsigned flags; /* for entry_write_by_flags() */
    double delta;   /* with ENTRY_ADD */
    struct points points;
    int64_t now_ms;
    struct bytes name;           /* for entry_write_by_rules(); empty leaves it */
    const struct value *meta;    /* NULL leaves it */
    const struct bytes *sources; /* of a cross-game board: the boards the score comes from */
    size_t source_count;
    bool sets_end;    /* for entry_write_by_flags(): when the entry goes by itself is set, */
    int64_t end_s;    /* to this second; 0: never */
    const bool *hide; /* whether a new entry is hidden, read in the commit; NULL: no. Members on the
                         list of hidden_players.h are hidden in any case */
    /* Filled in by the write, in the change's arena. */
    enum entry_outcome outcome;
    bool had_old;
    struct points before, after; /* `after` is `before` where nothing is written */
    bool hidden;
    struct bytes tie_before, tie;
    const struct value *parts_before; /* of a cross-game board, the score by source: M, or NULL; */
    struct value parts;               /* and those after the write: M */
};

/* Writes as the flags say, whatever the board's `keep`: the score given becomes the score, within
 * the board's limits. Other attributes, such as name and meta, stay. */
action_compute entry_write_by_flags;
/* Writes as the board's rules say: keep, tie, the entry's life, sources. */
action_compute entry_write_by_rules;
/* Fills in the action that calls `compute`, one of these two or a function around them, with
 * `write`, which stays the caller's. `key` is game_key() of the board's pk and entry_key_of() the
 * member. */
void entry_action(struct entry_write *write, struct item key, action_compute *compute,
                  struct action *out);

#endif
