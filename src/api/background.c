#include "api/background.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/thread.h"

#include <pthread.h>

struct job {
    struct job *next;
    void (*work)(void *argument);
    void *argument;
};

struct background {
    unsigned threads_max, waiting_max;
    pthread_t *threads; /* threads_max of them */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there is work, or it is to stop */
    /* under lock */
    struct job *first, **last;
    unsigned queued;
    unsigned started; /* threads that were started, */
    unsigned running; /* and how many of them run a job */
    bool stopping, joined;
};

struct background *background_pool_new(unsigned threads, unsigned waiting) {
    struct background *background = mem_zalloc(sizeof(*background));
    background->threads_max = threads;
    background->waiting_max = waiting;
    background->threads = mem_zalloc(threads * sizeof(background->threads[0]));
    background->last = &background->first;
    pthread_mutex_init(&background->lock, NULL);
    pthread_cond_init(&background->changed, NULL);
    return background;
}

struct background *background_new(void) {
    return background_pool_new(LIMIT_BACKGROUND, 0);
}

/* The next piece of work, or NULL when there is to be no more. Under the lock. */
static struct job *take_job(struct background *background) {
    while (background->first == NULL && !background->stopping)
        pthread_cond_wait(&background->changed, &background->lock);
    struct job *job = background->first;
    if (job == NULL)
        return NULL;
    background->first = job->next;
    if (background->first == NULL)
        background->last = &background->first;
    background->queued--;
    background->running++;
    return job;
}

static void *background_main(void *argument) {
    struct background *background = argument;
    struct job *job;
    pthread_setname_np(pthread_self(), "background");
    pthread_mutex_lock(&background->lock);
    while ((job = take_job(background)) != NULL) {
        pthread_mutex_unlock(&background->lock);
        job->work(job->argument);
        mem_free(job);
        pthread_mutex_lock(&background->lock);
        background->running--;
    }
    pthread_mutex_unlock(&background->lock);
    return NULL;
}

/* Sees to it that there is a thread for one more piece of work, or that it may wait for one. Under
 * the lock. */
static bool admit_job(struct background *background) {
    unsigned taken = background->running + background->queued;
    if (background->stopping || taken >= background->threads_max + background->waiting_max)
        return false;
    if (taken >= background->started && background->started < background->threads_max &&
        thread_start(&background->threads[background->started], background_main, background) == 0)
        background->started++;
    return background->started != 0;
}

bool background_run(struct background *background, void (*work)(void *argument), void *argument) {
    struct job *job = mem_alloc(sizeof(*job));
    *job = (struct job){.work = work, .argument = argument};
    pthread_mutex_lock(&background->lock);
    bool taken = admit_job(background);
    if (taken) {
        *background->last = job;
        background->last = &job->next;
        background->queued++;
        pthread_cond_signal(&background->changed);
    }
    pthread_mutex_unlock(&background->lock);
    if (!taken)
        mem_free(job);
    return taken;
}

void background_stop(struct background *background) {
    pthread_mutex_lock(&background->lock);
    background->stopping = true;
    bool join = !background->joined;
    background->joined = true;
    pthread_cond_broadcast(&background->changed);
    pthread_mutex_unlock(&background->lock);
    for (unsigned i = 0; join && i < background->started; i++)
        pthread_join(background->threads[i], NULL);
}

void background_free(struct background *background) {
    background_stop(background);
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->lock);
    mem_free(background->threads);
    mem_free(background);
}
