/* The keeper's thread: does what is due, then sleeps until the next boundary it knows of, at most
 * SLEEP_MAX_MS: the table may be written by others, and in tests its clock moved. */
#include "base/clock.h"
#include "base/mem.h"
#include "game/keeper_int.h"

#include <time.h>

enum { SLEEP_MAX_MS = 1000, SLEEP_MIN_MS = 20 };

void keeper_run(struct keeper *keeper) {
    pthread_mutex_lock(&keeper->work);
    keeper_read(keeper);
    keeper_boards(keeper);
    pthread_mutex_unlock(&keeper->work);
}

static int64_t sleep_ms(struct keeper *keeper) {
    pthread_mutex_lock(&keeper->work);
    int64_t next_ms = dues_next(&keeper->dues), now_ms = clock_now_ms();
    pthread_mutex_unlock(&keeper->work);
    int64_t wait_ms = next_ms > now_ms + SLEEP_MAX_MS ? SLEEP_MAX_MS : next_ms - now_ms;
    return wait_ms < SLEEP_MIN_MS ? SLEEP_MIN_MS : wait_ms;
}

static void nap(struct keeper *keeper, int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms * 1000 * 1000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_mutex_lock(&keeper->lock);
    int waited = 0;
    while (!keeper_stopping(keeper) && waited == 0)
        waited = pthread_cond_timedwait(&keeper->wake, &keeper->lock, &until);
    pthread_mutex_unlock(&keeper->lock);
}

static void *keep(void *context) {
    struct keeper *keeper = context;
    while (!keeper_stopping(keeper)) {
        keeper_run(keeper);
        nap(keeper, sleep_ms(keeper));
    }
    return NULL;
}

struct keeper *keeper_new(struct game *game) {
    struct keeper *keeper = mem_zalloc(sizeof(*keeper));
    pthread_condattr_t monotonic;
    keeper->game = game;
    keeper->walk = true;
    arena_init(&keeper->arena);
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_mutex_init(&keeper->work, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&keeper->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return keeper;
}

void keeper_free(struct keeper *keeper) {
    dues_release(&keeper->dues);
    keeper_forget_clearing(keeper);
    arena_release(&keeper->arena);
    pthread_cond_destroy(&keeper->wake);
    pthread_mutex_destroy(&keeper->work);
    pthread_mutex_destroy(&keeper->lock);
    mem_free(keeper);
}

struct keeper *keeper_start(struct game *game) {
    struct keeper *keeper = keeper_new(game);
    if (pthread_create(&keeper->thread, NULL, keep, keeper) != 0) {
        keeper_free(keeper);
        return NULL;
    }
    return keeper;
}

void keeper_stop(struct keeper *keeper) {
    if (keeper == NULL)
        return;
    pthread_mutex_lock(&keeper->lock);
    atomic_store(&keeper->stopping, true);
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    keeper_free(keeper);
}

void keeper_figures(struct keeper *keeper, struct keeper_figures *out) {
    pthread_mutex_lock(&keeper->work);
    *out = keeper->figures;
    pthread_mutex_unlock(&keeper->work);
}
