#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

static atomic_int_fast64_t shift_ms;

int64_t clock_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 +
           atomic_load_explicit(&shift_ms, memory_order_relaxed);
}

int64_t clock_shift_ms(int64_t forward_ms) {
    return atomic_fetch_add(&shift_ms, forward_ms) + forward_ms;
}

int64_t clock_ticks_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
