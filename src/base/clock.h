/* Time. Any thread. */
#ifndef GT_BASE_CLOCK_H
#define GT_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since 1970, by the wall clock, plus what clock_shift_ms() has added. */
int64_t clock_now_ms(void);
/* Moves the clock of this process forward, for tests of what time does. Returns the sum of all
 * shifts. */
int64_t clock_shift_ms(int64_t forward_ms);
/* Microseconds that only go forward, from an arbitrary start: for measuring and time-outs. */
int64_t clock_ticks_us(void);

#endif
