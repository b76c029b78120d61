#include "base/clock.h"

#include "base/limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_int_fast64_t shift_ms;

/* The belief of this process. While the wall clock agrees with it, readers need only its offset;
 * everything else happens under the lock. */
static struct time_belief belief;
static pthread_mutex_t belief_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int_fast64_t offset_ms;
static atomic_bool agrees; /* false at first: the first reader begins the belief */
static bool stopped; /* with the lock; `agrees` stays false then, so that every reader looks here */
static int64_t stopped_ms;
static void (*report_to)(const struct time_news *news);

static int64_t read_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct time_reading clock_read(void) {
    return (struct time_reading){.wall_ms = read_ms(CLOCK_REALTIME),
                                 .steady_ms = read_ms(CLOCK_BOOTTIME)};
}

/* With the lock. */
static void publish(void) {
    atomic_store_explicit(&offset_ms, belief.offset_ms, memory_order_relaxed);
    atomic_store_explicit(&agrees, !belief.apart, memory_order_relaxed);
}

/* What the time is believed to be, and what the wall clock showed then; 0: time stands still. */
struct belief_now {
    int64_t ms, wall_ms;
};

static struct belief_now believe(void) {
    struct time_news news;
    pthread_mutex_lock(&belief_lock);
    if (stopped) {
        int64_t at_ms = stopped_ms;
        pthread_mutex_unlock(&belief_lock);
        return (struct belief_now){at_ms, 0};
    }
    struct time_reading reading = clock_read();
    int64_t now_ms = time_belief_at(&belief, reading, &news);
    publish();
    pthread_mutex_unlock(&belief_lock);
    if (news.event != TIME_AS_BEFORE && report_to != NULL)
        report_to(&news);
    return (struct belief_now){now_ms, reading.wall_ms};
}

/* The offset of the reading is taken over when it has drifted by more than the rounding of two
 * clocks, so that a drift never adds up to a jump. */
static struct belief_now belief_now(void) {
    static _Thread_local int64_t checked_ms; /* by the wall clock: once a millisecond is enough */
    struct time_reading reading = {.wall_ms = read_ms(CLOCK_REALTIME)};
    bool agreed = atomic_load_explicit(&agrees, memory_order_relaxed);
    if (agreed && reading.wall_ms == checked_ms)
        return (struct belief_now){reading.wall_ms, reading.wall_ms};
    reading.steady_ms = read_ms(CLOCK_BOOTTIME);
    int64_t drift_ms = reading.wall_ms - reading.steady_ms -
                       atomic_load_explicit(&offset_ms, memory_order_relaxed);
    if (!agreed || llabs(drift_ms) > 2)
        return believe();
    checked_ms = reading.wall_ms;
    return (struct belief_now){checked_ms, checked_ms};
}

int64_t clock_now_ms(void) {
    return belief_now().ms + atomic_load_explicit(&shift_ms, memory_order_relaxed);
}

int64_t clock_from_wall(int64_t wall_ms, int64_t most_ms) {
    struct belief_now now = belief_now();
    int64_t ago_ms = now.wall_ms - wall_ms;
    if (ago_ms > most_ms)
        ago_ms = most_ms;
    return now.ms + atomic_load_explicit(&shift_ms, memory_order_relaxed) -
           (ago_ms > 0 ? ago_ms : 0);
}

struct time_reading clock_believed(void) {
    int64_t now_ms = belief_now().ms;
    return (struct time_reading){.wall_ms = now_ms, .steady_ms = read_ms(CLOCK_BOOTTIME)};
}

void clock_continue_from(int64_t now_ms) {
    pthread_mutex_lock(&belief_lock);
    time_belief_start(&belief, clock_read(), now_ms);
    publish();
    pthread_mutex_unlock(&belief_lock);
}

void clock_report_to(void (*report)(const struct time_news *news)) {
    report_to = report;
}

int64_t clock_shift_ms(int64_t forward_ms) {
    return atomic_fetch_add(&shift_ms, forward_ms) + forward_ms;
}

void clock_stop(int64_t now_ms) {
    pthread_mutex_lock(&belief_lock);
    stopped = true;
    stopped_ms = now_ms;
    atomic_store(&shift_ms, 0);
    atomic_store(&agrees, false);
    pthread_mutex_unlock(&belief_lock);
}

int64_t clock_ticks_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void clock_give_way(int64_t begun_us) {
    int64_t us = clock_ticks_us() - begun_us;
    if (us > LIMIT_GIVE_WAY_US)
        us = LIMIT_GIVE_WAY_US;
    if (us > 0)
        nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}
