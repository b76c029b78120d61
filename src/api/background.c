#include "api/background.h"

#include "base/limits.h"
#include "base/mem.h"

#include <pthread.h>

struct background {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    unsigned running; /* under lock */
    bool stopping;
};

struct piece {
    struct background *background;
    void (*work)(void *argument);
    void *argument;
};

struct background *background_new(void) {
    struct background *background = mem_zalloc(sizeof(*background));
    pthread_mutex_init(&background->lock, NULL);
    pthread_cond_init(&background->ended, NULL);
    return background;
}

static bool enter(struct background *background) {
    pthread_mutex_lock(&background->lock);
    bool may = !background->stopping && background->running < LIMIT_BACKGROUND;
    background->running += may;
    pthread_mutex_unlock(&background->lock);
    return may;
}

static void leave(struct background *background) {
    pthread_mutex_lock(&background->lock);
    background->running--;
    pthread_cond_broadcast(&background->ended);
    pthread_mutex_unlock(&background->lock);
}

static void *piece_main(void *memory) {
    struct piece piece = *(struct piece *)memory;
    mem_free(memory);
    piece.work(piece.argument);
    leave(piece.background);
    return NULL;
}

bool background_run(struct background *background, void (*work)(void *argument), void *argument) {
    if (!enter(background))
        return false;
    struct piece *piece = mem_alloc(sizeof(*piece));
    *piece = (struct piece){background, work, argument};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = pthread_create(&thread, &attributes, piece_main, piece) == 0;
    pthread_attr_destroy(&attributes);
    if (!started) {
        mem_free(piece);
        leave(background);
    }
    return started;
}

void background_stop(struct background *background) {
    pthread_mutex_lock(&background->lock);
    background->stopping = true;
    while (background->running != 0)
        pthread_cond_wait(&background->ended, &background->lock);
    pthread_mutex_unlock(&background->lock);
}

void background_free(struct background *background) {
    background_stop(background);
    pthread_cond_destroy(&background->ended);
    pthread_mutex_destroy(&background->lock);
    mem_free(background);
}
