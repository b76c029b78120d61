/* An entry: what a member has on a board.
 *
 *   PK BOARD#<instance>  SK <member>  score N  subscore N  tie N
 *   and if told: name S, meta M, at N (ms of the last improvement), plays N, ttl N, parts M
 *   (cross-game), GSI1PK PLAYER#<member>, GSI1SK BOARD#<instance>; of a hidden member the three
 *   numbers are in `hidden` L instead, so that it stands in no ranking.
 *
 * The index `ranks` holds them in rising order of score, subscore, tie, member. A board with the
 * highest first is read from its end. `tie` is 0 where the member decides; where the earliest does
 * it is the time of the improvement, negative if the board is read from its end.
 *
 * A member is any bytes, at most ENTRY_MEMBER_MAX; as the sort key, which is text and not empty,
 * what is not UTF-8 is escaped, so that every member comes back as it was and plain text is itself.
 */
#ifndef GT_GAME_ENTRY_H
#define GT_GAME_ENTRY_H

#include "game/board.h"
#include "game/points.h"

enum { ENTRY_MEMBER_MAX = 1000 };

/* The sort key of a member, and back. The key is the member itself where it can be. Order of keys
 * is order of members, but for bytes that are not UTF-8, which come last. INVALID if too long. */
enum status entry_key_of(struct bytes member, struct arena *arena, struct failure *failure,
                         struct bytes *out);
struct bytes entry_member_of(struct bytes key, struct arena *arena);

struct entry {
    struct bytes member;
    struct points points;
    struct bytes tie; /* encoded; with the points and the member it is the entry's place */
    int64_t at_ms;    /* 0: not told */
    struct bytes name;
    const struct value *meta; /* M, or NULL */
    int64_t plays;
    bool hidden;
};
/* Out of an entry's item, or of what the index shows of it. DAMAGED if it is none. */
enum status entry_read(const struct item *item, struct arena *arena, struct entry *out);

/* Whether a score is within the board's limits, with no more decimals than it has. */
bool entry_score_fits(const struct board_rules *rules, struct bytes score);
/* How many digits of a number are after the point. */
int entry_decimals(struct bytes number);
/* <0 if a stands before b on the board, whatever the tie. */
int entry_order(const struct board_rules *rules, const struct points *a, const struct points *b);

/* --- writing: functions for ACTION_COMPUTE, with a `struct entry_write` as action->user --- */

enum entry_flags {
    ENTRY_NEW_ONLY = 1,     /* only if the member has no entry */
    ENTRY_OLD_ONLY = 2,     /* only if it has */
    ENTRY_GREATER_ONLY = 4, /* an entry that is there changes only upwards, */
    ENTRY_LESS_ONLY = 8,    /* or only downwards */
    ENTRY_ADD = 16,         /* add to the score that is there, as doubles do */
};

enum entry_outcome {
    ENTRY_ADDED,
    ENTRY_CHANGED,
    ENTRY_SAME,         /* accepted, and nothing differs */
    ENTRY_NOT_DONE,     /* the flags or the board's `keep` forbid it */
    ENTRY_NAN,          /* the sum of two infinities */
    ENTRY_OUT_OF_RANGE, /* it or the sum is past the board's limits, or of what a number can be */
};

struct entry_write {
    const struct board *board;
    unsigned flags; /* entry_write_plain() */
    double delta;   /* with ENTRY_ADD */
    struct points points;
    int64_t now_ms;
    struct bytes name;           /* entry_write_kept(): empty leaves it */
    const struct value *meta;    /* NULL leaves it */
    const struct bytes *sources; /* for a cross-game board: the boards it comes from */
    size_t source_count;
    const bool *hide; /* NULL, or whether the member is hidden: an entry that is made is, too. So is
                         one of a member that is on the list (hidden.h) */
    struct game *game; /* filled in by entry_action() */
    /* filled in */
    enum entry_outcome outcome;
    bool had_old;
    struct points before, after; /* in the change's arena; `after` also when not done: what stays */
    bool hidden;
};

/* Writes as the flags say, whatever the board keeps: the score given becomes the score, within the
 * board's limits. Leaves name, meta and the like as they are. */
action_compute entry_write_plain;
/* Writes as the board's rules say (keep, tie, life, cross-game). */
action_compute entry_write_kept;
/* Fills in the action: key, function, user. `member_key` is entry_key_of() the member. */
void entry_action(struct game *game, const struct board *board, struct bytes member_key,
                  action_compute *compute, struct entry_write *write, struct arena *arena,
                  struct action *out);

#endif
