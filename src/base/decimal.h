/* Whole numbers as text, without a format. */
#ifndef GT_BASE_DECIMAL_H
#define GT_BASE_DECIMAL_H

#include "base/arena.h"

enum { DECIMAL_MAX = 20 }; /* characters of the longest: -9223372036854775808 */

/* Writes the digits backwards from before `end`, before which there is room for DECIMAL_MAX
 * characters; returns where they begin. */
char *decimal_put(int64_t number, char *end);
/* "<prefix><number>" in the arena; the prefix has at most DECIMAL_PREFIX bytes. */
enum { DECIMAL_PREFIX = 32 };
struct bytes decimal_text(struct arena *arena, struct bytes prefix, int64_t number);

#endif
