/* The thread that brings the log to the disk every so often, for STORE_SYNC_INTERVAL. */
#include "store/store_int.h"

#include "base/thread.h"

#include <time.h>

static void add_ms(struct timespec *at, int ms) {
    at->tv_sec += ms / 1000;
    at->tv_nsec += (long)(ms % 1000) * 1000000;
    if (at->tv_nsec >= 1000000000) {
        at->tv_sec++;
        at->tv_nsec -= 1000000000;
    }
}

/* Sleeps an interval; false when it is time to stop. */
static bool syncer_sleep(struct syncer *syncer, int ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    add_ms(&until, ms);
    pthread_mutex_lock(&syncer->lock);
    int late = 0;
    while (!syncer->stop && late == 0)
        late = pthread_cond_timedwait(&syncer->wake, &syncer->lock, &until);
    bool stop = syncer->stop;
    pthread_mutex_unlock(&syncer->lock);
    return !stop;
}

static void *syncer_run(void *argument) {
    struct store *store = argument;
    while (syncer_sleep(&store->syncer, store->settings.interval_ms))
        store_sync(store);
    return NULL;
}

void syncer_start(struct store *store) {
    struct syncer *syncer = &store->syncer;
    if (store->settings.sync != STORE_SYNC_INTERVAL)
        return;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&syncer->wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&syncer->lock, NULL);
    syncer->stop = false;
    syncer->running = thread_start(&syncer->thread, syncer_run, store) == 0;
    if (!syncer->running)
        store_break(store, "cannot start the thread that syncs");
}

void syncer_stop(struct store *store) {
    struct syncer *syncer = &store->syncer;
    if (!syncer->running)
        return;
    pthread_mutex_lock(&syncer->lock);
    syncer->stop = true;
    pthread_cond_signal(&syncer->wake);
    pthread_mutex_unlock(&syncer->lock);
    pthread_join(syncer->thread, NULL);
    pthread_cond_destroy(&syncer->wake);
    pthread_mutex_destroy(&syncer->lock);
    syncer->running = false;
}
