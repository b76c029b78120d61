#include "table/local/reclaimer.h"

#include "base/mem.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdbool.h>

struct reclaimed {
    struct reclaimed *next;
    void (*release)(void *what);
    void *what;
};

struct reclaimer {
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* under lock */
    struct reclaimed *first, **last;
    size_t waiting; /* with the one that is being freed */
    bool ending;
};

/* The next thing; NULL when there is none and none will come. */
static struct reclaimed *take(struct reclaimer *reclaimer) {
    pthread_mutex_lock(&reclaimer->lock);
    while (reclaimer->first == NULL && !reclaimer->ending)
        pthread_cond_wait(&reclaimer->wake, &reclaimer->lock);
    struct reclaimed *taken = reclaimer->first;
    if (taken != NULL)
        reclaimer->first = taken->next;
    if (reclaimer->first == NULL)
        reclaimer->last = &reclaimer->first;
    pthread_mutex_unlock(&reclaimer->lock);
    return taken;
}

static void *reclaimer_main(void *argument) {
    pthread_setname_np(pthread_self(), "reclaimer");
    struct reclaimer *reclaimer = argument;
    for (struct reclaimed *taken; (taken = take(reclaimer)) != NULL;) {
        taken->release(taken->what);
        mem_free(taken);
        pthread_mutex_lock(&reclaimer->lock);
        reclaimer->waiting--;
        pthread_mutex_unlock(&reclaimer->lock);
    }
    return NULL;
}

struct reclaimer *reclaimer_new(void) {
    struct reclaimer *reclaimer = mem_zalloc(sizeof(*reclaimer));
    pthread_mutex_init(&reclaimer->lock, NULL);
    pthread_cond_init(&reclaimer->wake, NULL);
    reclaimer->last = &reclaimer->first;
    reclaimer->started = thread_start(&reclaimer->thread, reclaimer_main, reclaimer) == 0;
    return reclaimer;
}

void reclaimer_give(struct reclaimer *reclaimer, void (*release)(void *what), void *what) {
    if (reclaimer == NULL || !reclaimer->started) {
        release(what);
        return;
    }
    struct reclaimed *given = mem_alloc(sizeof(*given));
    *given = (struct reclaimed){.release = release, .what = what};
    pthread_mutex_lock(&reclaimer->lock);
    *reclaimer->last = given;
    reclaimer->last = &given->next;
    reclaimer->waiting++;
    pthread_cond_signal(&reclaimer->wake);
    pthread_mutex_unlock(&reclaimer->lock);
}

size_t reclaimer_waiting(struct reclaimer *reclaimer) {
    pthread_mutex_lock(&reclaimer->lock);
    size_t waiting = reclaimer->waiting;
    pthread_mutex_unlock(&reclaimer->lock);
    return waiting;
}

void reclaimer_free(struct reclaimer *reclaimer) {
    if (reclaimer == NULL)
        return;
    pthread_mutex_lock(&reclaimer->lock);
    reclaimer->ending = true;
    pthread_cond_signal(&reclaimer->wake);
    pthread_mutex_unlock(&reclaimer->lock);
    if (reclaimer->started)
        pthread_join(reclaimer->thread, NULL);
    pthread_cond_destroy(&reclaimer->wake);
    pthread_mutex_destroy(&reclaimer->lock);
    mem_free(reclaimer);
}
