/* The housekeeping thread: does what is due, then sleeps until the next due time it knows of. It
 * sleeps SLEEP_MAX_MS at most, since others may write to the table and tests may move the clock. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/thread.h"
#include "game/housekeeping_int.h"
#include "game/keyspace/key_ends.h"
#include "game/keyspace/key_garbage.h"
#include "game/player/hidden_players.h"
#include "game/player/player_finders.h"

#include <time.h>

enum {
    SLEEP_MAX_MS = 1000,
    SLEEP_MIN_MS = 20,
    GARBAGE_US = 200 * 1000, /* that are spent on garbage before other things are looked at again */
};

/* Removes large keys of the Redis protocol that have expired, and for garbage_us what removed ones
 * have left. */
static void run_keys(struct housekeeping *housekeeping, int64_t garbage_us) {
    struct failure failure = {0};
    struct scope in = {&housekeeping->arena, &failure};
    enum status status = OK;
    bool more = true;
    while (more && status == OK && !housekeeping_is_stopping(housekeeping)) {
        status = key_ends_step(housekeeping->game, clock_now_ms(), in, &more);
        arena_reset(&housekeeping->arena);
    }
    more = true;
    int64_t begin_us = clock_ticks_us();
    while (more && status == OK && clock_ticks_us() - begin_us < garbage_us &&
           !housekeeping_is_stopping(housekeeping)) {
        int64_t step_us = clock_ticks_us();
        status = key_garbage_step(housekeeping->game, in, &more);
        arena_reset(&housekeeping->arena);
        if (more)
            clock_give_way(step_us);
    }
    housekeeping->has_garbage = more && status == OK;
    housekeeping->counters.failures += status != OK;
}

/* Makes players of earlier versions findable, a step each time. Another server may be at it, so it
 * is asked again until all is said to be done. */
static void run_finders(struct housekeeping *housekeeping) {
    struct failure failure = {0};
    enum status status = OK;
    if (!housekeeping->finders_filled)
        status = player_finders_fill(housekeeping->game, housekeeping->number,
                                     (struct scope){&housekeeping->arena, &failure},
                                     &housekeeping->finders_filled);
    arena_reset(&housekeeping->arena);
    housekeeping->counters.failures += status != OK;
}

static void run_due(struct housekeeping *housekeeping, int64_t garbage_us) {
    pthread_mutex_lock(&housekeeping->work);
    housekeeping_read_stream(housekeeping);
    housekeeping_run_boards(housekeeping);
    run_keys(housekeeping, garbage_us);
    run_finders(housekeeping);
    hidden_players_refresh(housekeeping->game);
    pthread_mutex_unlock(&housekeeping->work);
}

void housekeeping_run(struct housekeeping *housekeeping) {
    run_due(housekeeping, INT64_MAX);
}

static int64_t sleep_ms(struct housekeeping *housekeeping) {
    pthread_mutex_lock(&housekeeping->work);
    int64_t next_ms = due_heap_next_ms(&housekeeping->dues), now_ms = clock_now_ms();
    bool has_garbage = housekeeping->has_garbage;
    pthread_mutex_unlock(&housekeeping->work);
    int64_t wait_ms = next_ms > now_ms + SLEEP_MAX_MS ? SLEEP_MAX_MS : next_ms - now_ms;
    return wait_ms < SLEEP_MIN_MS || has_garbage ? SLEEP_MIN_MS : wait_ms;
}

static void wait_for_work(struct housekeeping *housekeeping, int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms * 1000 * 1000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_mutex_lock(&housekeeping->lock);
    int waited = 0;
    while (!housekeeping_is_stopping(housekeeping) && waited == 0)
        waited = pthread_cond_timedwait(&housekeeping->wake, &housekeeping->lock, &until);
    pthread_mutex_unlock(&housekeeping->lock);
}

static void *housekeeping_main(void *context) {
    struct housekeeping *housekeeping = context;
    while (!housekeeping_is_stopping(housekeeping)) {
        run_due(housekeeping, GARBAGE_US);
        wait_for_work(housekeeping, sleep_ms(housekeeping));
    }
    return NULL;
}

struct housekeeping *housekeeping_new(struct game *game) {
    struct housekeeping *housekeeping = mem_zalloc(sizeof(*housekeeping));
    pthread_condattr_t monotonic;
    housekeeping->game = game;
    housekeeping->rescan = true;
    random_secure(&housekeeping->number, sizeof(housekeeping->number));
    arena_init(&housekeeping->arena);
    pthread_mutex_init(&housekeeping->lock, NULL);
    pthread_mutex_init(&housekeeping->work, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&housekeeping->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return housekeeping;
}

void housekeeping_free(struct housekeeping *housekeeping) {
    due_heap_release(&housekeeping->dues);
    housekeeping_free_clearing(housekeeping);
    arena_release(&housekeeping->arena);
    pthread_cond_destroy(&housekeeping->wake);
    pthread_mutex_destroy(&housekeeping->work);
    pthread_mutex_destroy(&housekeeping->lock);
    mem_free(housekeeping);
}

struct housekeeping *housekeeping_start(struct game *game) {
    struct housekeeping *housekeeping = housekeeping_new(game);
    if (thread_start(&housekeeping->thread, housekeeping_main, housekeeping) != 0) {
        housekeeping_free(housekeeping);
        return NULL;
    }
    return housekeeping;
}

void housekeeping_stop(struct housekeeping *housekeeping) {
    if (housekeeping == NULL)
        return;
    pthread_mutex_lock(&housekeeping->lock);
    atomic_store(&housekeeping->stopping, true);
    pthread_cond_signal(&housekeeping->wake);
    pthread_mutex_unlock(&housekeeping->lock);
    pthread_join(housekeeping->thread, NULL);
    housekeeping_free(housekeeping);
}

void housekeeping_counters(struct housekeeping *housekeeping, struct housekeeping_counters *out) {
    pthread_mutex_lock(&housekeeping->work);
    *out = housekeeping->counters;
    pthread_mutex_unlock(&housekeeping->work);
}
