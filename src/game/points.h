/* What a member has: a score and a subscore, compared as one. Both are exact decimal numbers in the
 * table's own form (value/number.h), so that 64-bit integers and 38 digits keep every digit.
 *
 * Any double can be told as points, too, and comes back as it was: the shortest decimal that reads
 * back as the same double. What a number of the table cannot hold (infinities, magnitudes past
 * 1e125 or under 1e-130) has the nearest score it can and the rest of its order as subscore:
 *
 *   |x| >= 1e125   score +-9.99..e125 (38 nines), subscore +-(the bits of |x|)
 *   |x| < 1e-130   score 0, subscore +-(the bits of |x|); of zero 0. -0 is 0.
 *
 * Order is kept: comparing points compares the doubles.
 */
#ifndef GT_GAME_POINTS_H
#define GT_GAME_POINTS_H

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
/* The encoding of 0, and of the least number there is. */
struct bytes points_zero(void);
struct bytes points_least(void);

#endif
