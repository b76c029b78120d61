/* Time. Any thread. */
#ifndef GT_BASE_CLOCK_H
#define GT_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since 1970, by the wall clock. */
int64_t clock_now_ms(void);
/* Microseconds that only go forward, from an arbitrary start: for measuring and time-outs. */
int64_t clock_ticks_us(void);

#endif
