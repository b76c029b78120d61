/* The numbers of INCRBYFLOAT and HINCRBYFLOAT, which Redis keeps as text and adds up in long
 * double. Any thread. */
#ifndef GT_API_REDIS_REDIS_FLOAT_H
#define GT_API_REDIS_REDIS_FLOAT_H

#include "base/arena.h"

/* Reads a number such as "1.5", "5.0e3", "inf": no blanks around it, no NaN. */
bool float_read(struct bytes text, long double *out);
/* The number in digits without an exponent, at most 17 of them behind the point and no zeros at
 * their end, in the arena. It is finite. */
struct bytes float_text(long double number, struct arena *arena);

#endif
