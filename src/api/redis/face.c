#include "api/redis/face_int.h"

#include "api/redis/call.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"

#include <stdio.h>

static void make_run_id(char id[41]) {
    uint8_t random[20];
    random_secure(random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++)
        snprintf(id + 2 * i, 3, "%02x", random[i]);
}

struct redis_face *redis_face_new(struct game *game, const struct redis_settings *settings) {
    struct redis_face *face = mem_zalloc(sizeof(*face));
    face->game = game;
    face->settings = *settings;
    face->loops = mem_zalloc(settings->loops * sizeof(*face->loops));
    for (unsigned i = 0; i < settings->loops; i++) {
        face->loops[i].under_way_max = 1 + LIMIT_WRITES_WAITING / 2 / settings->loops;
        face->loops[i].last_starved = &face->loops[i].starved;
    }
    face->started_ms = clock_now_ms();
    make_run_id(face->run_id);
    pthread_mutex_init(&face->mutex, NULL);
    waiting_init(&face->waiting, game);
    cursors_init(&face->cursors);
    clearer_init(&face->clearer, game);
    return face;
}

void redis_face_stop(struct redis_face *face) {
    waiting_stop(&face->waiting);
    clearer_stop(&face->clearer);
}

void redis_face_free(struct redis_face *face) {
    waiting_release(&face->waiting);
    cursors_release(&face->cursors);
    clearer_release(&face->clearer);
    for (unsigned i = 0; i < face->settings.loops; i++)
        while (face->loops[i].pool != NULL) {
            struct redis_call *call = face->loops[i].pool;
            face->loops[i].pool = call->next;
            call_free(call);
        }
    pthread_mutex_destroy(&face->mutex);
    mem_free(face->loops);
    mem_free(face);
}

void redis_face_listens(struct redis_face *face, int port) {
    atomic_store(&face->port, port);
}

struct bytes redis_full(void) {
    return BYTES("-ERR max number of clients reached\r\n");
}
