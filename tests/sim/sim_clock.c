#include "sim_clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int_fast64_t passed_ms, wall_ms;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
                                  const struct timespec *until);

static void time_add(struct timespec *time, int64_t ms) {
    int64_t ns = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + ms * 1000000;
    *time = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out) {
    int result = __real_clock_gettime(clock, out);
    if (result != 0)
        return result;
    time_add(out, atomic_load(&passed_ms));
    if (clock == CLOCK_REALTIME)
        time_add(out, atomic_load(&wall_ms));
    return 0;
}

/* All who wait until a time wait by the steady clock. The kernel knows only the real one. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
                                  const struct timespec *until) {
    struct timespec real = *until;
    time_add(&real, -atomic_load(&passed_ms));
    if (real.tv_sec < 0 || real.tv_nsec < 0)
        real = (struct timespec){0};
    return __real_pthread_cond_timedwait(cond, lock, &real);
}

/* RocksDB sleeps a second after a failure. Here nobody sleeps longer than a millisecond; this one
 * comes before the C library's, for shared libraries too. */
int usleep(useconds_t us) {
    struct timespec time = {.tv_nsec = (us < 1000 ? (long)us : 1000) * 1000};
    return nanosleep(&time, NULL);
}

void sim_clock_pass(int64_t ms) {
    atomic_fetch_add(&passed_ms, ms);
}

void sim_clock_set_wall(int64_t by_ms) {
    atomic_fetch_add(&wall_ms, by_ms);
}

int64_t sim_clock_true_ms(void) {
    struct timespec now;
    __real_clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + atomic_load(&passed_ms);
}
