#include "api/redis/lazyfree.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/thread.h"
#include "game/keyspace/key_garbage.h"

struct lazyfree_key {
    struct lazyfree_key *next;
    bool garbage; /* no board: the items of removed keys (game/keyspace/key_fields.h) */
    size_t size;
    uint8_t name[];
};

void lazyfree_init(struct lazyfree *lazyfree, struct game *game) {
    *lazyfree = (struct lazyfree){.game = game};
    lazyfree->last = &lazyfree->first;
    pthread_mutex_init(&lazyfree->mutex, NULL);
    pthread_cond_init(&lazyfree->changed, NULL);
}

void lazyfree_stop(struct lazyfree *lazyfree) {
    pthread_mutex_lock(&lazyfree->mutex);
    bool running = lazyfree->running;
    lazyfree->stopping = true;
    lazyfree->running = false;
    pthread_cond_signal(&lazyfree->changed);
    pthread_mutex_unlock(&lazyfree->mutex);
    if (running)
        pthread_join(lazyfree->thread, NULL);
}

void lazyfree_release(struct lazyfree *lazyfree) {
    lazyfree_stop(lazyfree);
    while (lazyfree->first != NULL) {
        struct lazyfree_key *key = lazyfree->first;
        lazyfree->first = key->next;
        mem_free(key);
    }
    pthread_cond_destroy(&lazyfree->changed);
    pthread_mutex_destroy(&lazyfree->mutex);
}

/* Waits for the next key in the queue; NULL when the thread has to stop. */
static struct lazyfree_key *next_key(struct lazyfree *lazyfree) {
    pthread_mutex_lock(&lazyfree->mutex);
    while (lazyfree->first == NULL && !lazyfree->stopping)
        pthread_cond_wait(&lazyfree->changed, &lazyfree->mutex);
    struct lazyfree_key *key = lazyfree->stopping ? NULL : lazyfree->first;
    if (key != NULL) {
        lazyfree->first = key->next;
        lazyfree->count--;
        if (lazyfree->first == NULL)
            lazyfree->last = &lazyfree->first;
    }
    pthread_mutex_unlock(&lazyfree->mutex);
    return key;
}

static bool is_stopping(struct lazyfree *lazyfree) {
    pthread_mutex_lock(&lazyfree->mutex);
    bool stopping = lazyfree->stopping;
    pthread_mutex_unlock(&lazyfree->mutex);
    return stopping;
}

static void free_key(struct lazyfree *lazyfree, struct bytes name, struct arena *arena) {
    struct failure failure = {0};
    const struct board *board;
    struct arena work;
    struct board_clear_progress progress = {0};
    if (board_find(lazyfree->game, name, (struct scope){arena, &failure}, &board) != OK)
        return;
    arena_init(&work);
    while (board->clearing && !progress.done && !is_stopping(lazyfree)) {
        int64_t begun_us = clock_ticks_us();
        if (board_clear_step(lazyfree->game, board, &progress, (struct scope){&work, &failure}) !=
            OK)
            break;
        arena_reset(&work);
        clock_give_way(begun_us);
    }
    arena_release(&work);
    buf_release(&progress.after);
    board_drop(board);
}

static void free_garbage(struct lazyfree *lazyfree, struct arena *arena) {
    struct failure failure = {0};
    enum status status = OK;
    for (bool more = true; more && status == OK && !is_stopping(lazyfree);) {
        int64_t begun_us = clock_ticks_us();
        status = key_garbage_step(lazyfree->game, (struct scope){arena, &failure}, &more);
        arena_reset(arena);
        clock_give_way(begun_us);
    }
}

static void *lazyfree_main(void *argument) {
    struct lazyfree *lazyfree = argument;
    struct lazyfree_key *key;
    struct arena arena;
    arena_init(&arena);
    while ((key = next_key(lazyfree)) != NULL) {
        if (key->garbage)
            free_garbage(lazyfree, &arena);
        else
            free_key(lazyfree, bytes_of(key->name, key->size), &arena);
        mem_free(key);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

/* Takes over the key. */
static void add_key(struct lazyfree *lazyfree, struct lazyfree_key *key) {
    pthread_mutex_lock(&lazyfree->mutex);
    bool taken = !lazyfree->stopping && lazyfree->count < LIMIT_CLEARING;
    if (taken) {
        *lazyfree->last = key;
        lazyfree->last = &key->next;
        lazyfree->count++;
        if (!lazyfree->running)
            lazyfree->running = thread_start(&lazyfree->thread, lazyfree_main, lazyfree) == 0;
        pthread_cond_signal(&lazyfree->changed);
    }
    pthread_mutex_unlock(&lazyfree->mutex);
    if (!taken)
        mem_free(key);
}

void lazyfree_add(struct lazyfree *lazyfree, struct bytes name) {
    struct lazyfree_key *key = mem_alloc(sizeof(*key) + name.size);
    *key = (struct lazyfree_key){.size = name.size};
    memcpy(key->name, name.data, name.size);
    add_key(lazyfree, key);
}

void lazyfree_collect(struct lazyfree *lazyfree) {
    struct lazyfree_key *key = mem_alloc(sizeof(*key));
    *key = (struct lazyfree_key){.garbage = true};
    add_key(lazyfree, key);
}
