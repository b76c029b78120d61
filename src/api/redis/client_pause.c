#include "api/redis/client_pause.h"

#include "api/redis/redis_frontend_int.h"
#include "base/clock.h"

#include <string.h>
#include <time.h>

void pause_init(struct client_pause *pause) {
    pthread_condattr_t attributes;
    *pause = (struct client_pause){.until_us = 0};
    pthread_mutex_init(&pause->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pause->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void pause_stop(struct client_pause *pause) {
    pthread_mutex_lock(&pause->mutex);
    pause->stopping = true;
    pthread_cond_broadcast(&pause->changed);
    pthread_mutex_unlock(&pause->mutex);
}

void pause_release(struct client_pause *pause) {
    pthread_cond_destroy(&pause->changed);
    pthread_mutex_destroy(&pause->mutex);
}

/* On the loop: those that were held go on, or are held again. */
static void run_resume(struct task *task) {
    struct redis_loop *loop =
        (struct redis_loop *)((char *)task - offsetof(struct redis_loop, resume));
    atomic_store(&loop->resuming, false);
    client_resume_throttled(loop);
}

void pause_resume_all(struct redis_frontend *frontend) {
    for (unsigned i = 0; i < frontend->settings.loops; i++) {
        struct redis_loop *loop = &frontend->loops[i];
        struct loop *own = atomic_load(&loop->own);
        if (own == NULL || atomic_exchange(&loop->resuming, true))
            continue;
        loop->resume.run = run_resume;
        loop_post(own, &loop->resume);
    }
}

/* On a thread of the pool. */
static void wait_for_end(void *argument) {
    struct redis_frontend *frontend = argument;
    struct client_pause *pause = &frontend->pause;
    pthread_mutex_lock(&pause->mutex);
    while (!pause->stopping && clock_ticks_us() < pause->until_us) {
        struct timespec until = {pause->until_us / 1000000, pause->until_us % 1000000 * 1000};
        pthread_cond_timedwait(&pause->changed, &pause->mutex, &until);
    }
    pause->timed = false;
    atomic_store(&pause->mode, PAUSE_NONE);
    bool stopping = pause->stopping;
    pthread_mutex_unlock(&pause->mutex);
    if (!stopping)
        pause_resume_all(frontend);
}

bool pause_begin(struct redis_frontend *frontend, enum pause_mode mode, int64_t ms) {
    struct client_pause *pause = &frontend->pause;
    pthread_mutex_lock(&pause->mutex);
    bool runs = pause->timed || background_run(frontend->slow, wait_for_end, frontend);
    if (runs) {
        pause->timed = true;
        pause->until_us = clock_ticks_us() + ms * 1000;
        atomic_store(&pause->mode, (int)mode);
        pthread_cond_broadcast(&pause->changed);
    }
    pthread_mutex_unlock(&pause->mutex);
    return runs;
}

void pause_end(struct redis_frontend *frontend) {
    struct client_pause *pause = &frontend->pause;
    pthread_mutex_lock(&pause->mutex);
    pause->until_us = 0;
    atomic_store(&pause->mode, PAUSE_NONE);
    pthread_cond_broadcast(&pause->changed);
    pthread_mutex_unlock(&pause->mutex);
    pause_resume_all(frontend);
}

bool pause_holds(const struct redis_client *client, const struct redis_command *command) {
    int mode = atomic_load_explicit(&client->frontend->pause.mode, memory_order_relaxed);
    if (mode == PAUSE_NONE || command == NULL || strcmp(command->name, "client") == 0)
        return false;
    unsigned writes = COMMAND_WRITE | COMMAND_COMMITS | COMMAND_SENDS | COMMAND_EXCLUSIVE;
    return mode == PAUSE_ALL || (command->flags & writes) != 0;
}
