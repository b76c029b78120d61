#include "api/redis/clearer.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"

struct clearing_key {
    struct clearing_key *next;
    size_t size;
    uint8_t name[];
};

void clearer_init(struct clearer *clearer, struct game *game) {
    *clearer = (struct clearer){.game = game};
    clearer->last = &clearer->first;
    pthread_mutex_init(&clearer->mutex, NULL);
    pthread_cond_init(&clearer->changed, NULL);
}

void clearer_stop(struct clearer *clearer) {
    pthread_mutex_lock(&clearer->mutex);
    bool running = clearer->running;
    clearer->stopping = true;
    clearer->running = false;
    pthread_cond_signal(&clearer->changed);
    pthread_mutex_unlock(&clearer->mutex);
    if (running)
        pthread_join(clearer->thread, NULL);
}

void clearer_release(struct clearer *clearer) {
    clearer_stop(clearer);
    while (clearer->first != NULL) {
        struct clearing_key *key = clearer->first;
        clearer->first = key->next;
        mem_free(key);
    }
    pthread_cond_destroy(&clearer->changed);
    pthread_mutex_destroy(&clearer->mutex);
}

/* The next one; NULL when there is to be no more. */
static struct clearing_key *take(struct clearer *clearer) {
    pthread_mutex_lock(&clearer->mutex);
    while (clearer->first == NULL && !clearer->stopping)
        pthread_cond_wait(&clearer->changed, &clearer->mutex);
    struct clearing_key *key = clearer->stopping ? NULL : clearer->first;
    if (key != NULL) {
        clearer->first = key->next;
        clearer->count--;
        if (clearer->first == NULL)
            clearer->last = &clearer->first;
    }
    pthread_mutex_unlock(&clearer->mutex);
    return key;
}

static bool is_stopping(struct clearer *clearer) {
    pthread_mutex_lock(&clearer->mutex);
    bool stopping = clearer->stopping;
    pthread_mutex_unlock(&clearer->mutex);
    return stopping;
}

static void clear(struct clearer *clearer, struct bytes name, struct arena *arena) {
    struct failure failure = {0};
    const struct board *board;
    struct arena work;
    struct buf after = {0};
    bool more = true;
    if (board_find(clearer->game, name, arena, &failure, &board) != OK)
        return;
    arena_init(&work);
    while (board->clearing && more && !is_stopping(clearer)) {
        if (board_clear_step(clearer->game, board, &after, &work, &failure, &more) != OK)
            break;
        arena_reset(&work);
    }
    arena_release(&work);
    buf_release(&after);
    board_drop(board);
}

static void *clear_all(void *argument) {
    struct clearer *clearer = argument;
    struct clearing_key *key;
    struct arena arena;
    arena_init(&arena);
    while ((key = take(clearer)) != NULL) {
        clear(clearer, bytes_of(key->name, key->size), &arena);
        mem_free(key);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

void clearer_add(struct clearer *clearer, struct bytes name) {
    struct clearing_key *key = mem_alloc(sizeof(*key) + name.size);
    *key = (struct clearing_key){.size = name.size};
    memcpy(key->name, name.data, name.size);
    pthread_mutex_lock(&clearer->mutex);
    bool taken = !clearer->stopping && clearer->count < LIMIT_CLEARING;
    if (taken) {
        *clearer->last = key;
        clearer->last = &key->next;
        clearer->count++;
        if (!clearer->running)
            clearer->running = pthread_create(&clearer->thread, NULL, clear_all, clearer) == 0;
        pthread_cond_signal(&clearer->changed);
    }
    pthread_mutex_unlock(&clearer->mutex);
    if (!taken)
        mem_free(key);
}
