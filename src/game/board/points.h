/* Points: a score and a subscore, compared in this order. Both are exact decimal numbers as the
 * table encodes them (value/number.h), so 64-bit integers and 38 digits keep every digit.
 *
 * Any double can be stored as points and read back unchanged: as the shortest decimal that reads
 * back as the same double. A double that the table's numbers cannot hold (infinities, magnitudes
 * past 1e125 or under 1e-130) gets the nearest score, and its order among such in the subscore:
 *
 *   |x| >= 1e125   score +-9.99..e125 (38 nines), subscore +-(the bits of |x|)
 *   |x| < 1e-130   score 0, subscore +-(the bits of |x|) * 1e100; of zero 0. -0 is 0.
 *
 * Order is kept: comparing points compares the doubles. A subscore that a client gave to a score of
 * 0 stands between the doubles on either side of zero, whose subscores are past any that a game
 * uses, and reads as 0.
 */
#ifndef GT_GAME_BOARD_POINTS_H
#define GT_GAME_BOARD_POINTS_H

#include "base/arena.h"
#include "value/number.h"

struct points {
    struct bytes score, subscore; /* encoded; never empty once made */
};

/* x is not a NaN. */
struct points points_of_double(struct arena *arena, double x);
/* The double that made them, or the one nearest to the score. */
double points_to_double(const struct points *points);
int points_compare(const struct points *a, const struct points *b);
/* Compares the doubles of both, as Redis clients see them: subscores, and digits beyond a double's
 * precision, make no difference. Fast where both are short numbers. */
int points_compare_doubles(const struct points *a, const struct points *b);
/* The encoding of 0, and of the least number there is. */
struct bytes points_zero(void);
struct bytes points_least(void);

#endif
