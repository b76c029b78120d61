/* The simulated clock: the machine's, moved. The linker puts it before clock_gettime() and
 * pthread_cond_timedwait() of everything that is linked in (--wrap); shared libraries keep the real
 * one, but no long sleeps. Moved by one thread, read by any. */
#ifndef GT_TEST_SIM_CLOCK_H
#define GT_TEST_SIM_CLOCK_H

#include <stdint.h>

/* Time passes: all clocks go forward. Who is already asleep is not woken by it. */
void sim_clock_pass(int64_t ms);
/* The wall clock is set, by so much, either way. */
void sim_clock_set_wall(int64_t by_ms);
/* What a wall clock would say that was never set. */
int64_t sim_clock_true_ms(void);

#endif
