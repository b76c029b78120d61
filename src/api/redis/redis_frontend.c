#include "api/redis/redis_frontend_int.h"

#include "api/redis/free_calls.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "table/engine.h"
#include "table/inprocess.h"

#include <stdio.h>

static void make_run_id(char id[41]) {
    uint8_t random[20];
    random_secure(random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(id + 2 * i, 3, "%02x", random[i]);
}

void redis_frontend_ask_engine(struct redis_frontend *frontend) {
    const struct game *game = frontend->game;
    bool knows = engine_partitions_absent(game->engine, game->table, NULL, 0);
    atomic_store_explicit(&frontend->knows_absent, knows, memory_order_relaxed);
}

struct redis_frontend *redis_frontend_new(struct game *game,
                                          const struct redis_settings *settings) {
    struct redis_frontend *frontend = mem_zalloc(sizeof(*frontend));
    frontend->game = game;
    frontend->settings = *settings;
    frontend->blocks = settings->pool != NULL && engine_may_block(game->engine);
    frontend->loops = mem_zalloc(settings->loops * sizeof(*frontend->loops));
    for (unsigned i = 0; i < settings->loops; i++) {
        frontend->loops[i].under_way_max = 1 + LIMIT_WRITES_WAITING / 2 / settings->loops;
        frontend->loops[i].last_throttled = &frontend->loops[i].throttled;
    }
    redis_frontend_ask_engine(frontend);
    frontend->started_us = clock_ticks_us();
    make_run_id(frontend->run_id);
    pthread_mutex_init(&frontend->mutex, NULL);
    waiting_init(&frontend->waiting, game);
    scan_cursors_init(&frontend->cursors);
    lazyfree_init(&frontend->lazyfree, game);
    scripts_init(&frontend->scripts);
    pubsub_init(&frontend->pubsub);
    slowlog_init(&frontend->slowlog);
    expired_events_init(&frontend->expired, frontend);
    pause_init(&frontend->pause);
    key_holds_init(&frontend->holds);
    frontend->slow = background_pool_new(LIMIT_SLOW_THREADS, LIMIT_SLOW_WAITING);
    return frontend;
}

void redis_frontend_stop(struct redis_frontend *frontend) {
    atomic_store(&frontend->stopping, true);
    waiting_stop(&frontend->waiting);
    lazyfree_stop(&frontend->lazyfree);
    expired_events_stop(&frontend->expired);
    scripts_kill(&frontend->scripts);
    pause_stop(&frontend->pause);
    background_stop(frontend->slow);
}

void redis_frontend_free(struct redis_frontend *frontend) {
    waiting_release(&frontend->waiting);
    scan_cursors_release(&frontend->cursors);
    lazyfree_release(&frontend->lazyfree);
    expired_events_release(&frontend->expired);
    scripts_release(&frontend->scripts);
    pubsub_release(&frontend->pubsub);
    slowlog_release(&frontend->slowlog);
    pause_release(&frontend->pause);
    key_holds_release(&frontend->holds);
    background_free(frontend->slow);
    for (unsigned i = 0; i < frontend->settings.loops; i++) {
        map_release(&frontend->loops[i].subscribers);
        while (frontend->loops[i].pool != NULL) {
            struct redis_call *call = frontend->loops[i].pool;
            frontend->loops[i].pool = call->next;
            call_free(call);
        }
    }
    for (unsigned i = 0; i < frontend->settings.loops; i++)
        command_stats_release(&frontend->loops[i].counts);
    pthread_mutex_destroy(&frontend->mutex);
    mem_free(frontend->loops);
    mem_free(frontend);
}

void redis_frontend_listens(struct redis_frontend *frontend, int port) {
    atomic_store(&frontend->port, port);
}

void redis_frontend_figures(struct redis_frontend *frontend, struct redis_figures *out) {
    *out = (struct redis_figures){.blocked = atomic_load(&frontend->waiting.count)};
    pthread_mutex_lock(&frontend->mutex);
    out->clients = frontend->client_count;
    pthread_mutex_unlock(&frontend->mutex);
    for (unsigned i = 0; i < frontend->settings.loops; i++)
        out->commands += atomic_load_explicit(&frontend->loops[i].commands, memory_order_relaxed);
}

struct bytes redis_full(void) {
    return BYTES("-ERR max number of clients reached\r\n");
}
