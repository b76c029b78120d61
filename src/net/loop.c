/* Loops: a libuv loop, its thread, and the queue of tasks posted to it.
 *
 * The queue is a stack that any thread pushes onto with one compare-and-swap. The loop takes the
 * whole stack at once and turns it round, so tasks run in order of posting. Who pushes onto an
 * empty stack wakes the loop; everybody after that knows it is already waking.
 */
#include "net/loop.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/busy_poll.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_prepare_t before_waiting;
    struct busy_poll busy;
    struct task *after; /* what loop_after() was given, newest first */
    uv_thread_t thread;
    struct task stop;
    void *slot; /* owned, or NULL */
    void (*turn)(void *slot);
    unsigned index;
    bool stopping;
    int64_t polled_us; /* when it began to look at its sockets last */
    uv_mutex_t settle_lock;
    uv_cond_t settled;
    /* The last moment that somebody waits for it to settle; 0: nobody does. Changed with the lock.
     */
    _Atomic(int64_t) awaited_us;
    _Atomic(int64_t) settled_us; /* set by its thread */
    /* The other threads' side, on a cache line of its own. */
    _Alignas(64) _Atomic(struct task *) posted;
};

struct loops {
    unsigned count;
    bool started;
    struct loop **loops;
    struct busy_polls busy;
};

static _Thread_local struct loop *current;

static void must(int result, const char *what) {
    if (result == 0)
        return;
    log_error("%s: %s", what, uv_strerror(result));
    abort();
}

static struct task *take_posted(struct loop *loop) {
    struct task *newest = atomic_exchange_explicit(&loop->posted, NULL, memory_order_acquire);
    struct task *oldest = NULL;
    while (newest != NULL) {
        struct task *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

static void run_posted(uv_async_t *wake) {
    struct loop *loop = wake->data;
    struct task *task = take_posted(loop);
    while (task != NULL) {
        struct task *next = task->next; /* running a task may free it or post it again */
        task->run(task);
        task = next;
    }
    if (loop->stopping)
        uv_stop(&loop->uv);
}

void loop_post(struct loop *loop, struct task *task) {
    struct task *head = atomic_load_explicit(&loop->posted, memory_order_relaxed);
    do
        task->next = head;
    while (!atomic_compare_exchange_weak_explicit(&loop->posted, &head, task, memory_order_release,
                                                  memory_order_relaxed));
    if (head == NULL)
        uv_async_send(&loop->wake);
}

void loop_after(struct loop *loop, struct task *task) {
    assert(current == loop);
    task->next = loop->after;
    loop->after = task;
}

/* It is about to look at its sockets again. What had come when it did so before has been read
 * since. If that is not enough for who waits, it comes round at once. */
static void settle(struct loop *loop) {
    int64_t awaited_us = atomic_load(&loop->awaited_us), settled_us = loop->polled_us;
    atomic_store(&loop->settled_us, settled_us);
    loop->polled_us = clock_ticks_us();
    if (awaited_us == 0)
        return;
    if (settled_us < awaited_us) {
        uv_async_send(&loop->wake);
        return;
    }
    uv_mutex_lock(&loop->settle_lock);
    if (atomic_load(&loop->awaited_us) <= settled_us)
        atomic_store(&loop->awaited_us, 0);
    uv_cond_broadcast(&loop->settled);
    uv_mutex_unlock(&loop->settle_lock);
}

static void run_after(uv_prepare_t *before_waiting) {
    struct loop *loop = before_waiting->data;
    while (loop->after != NULL) {
        struct task *task = loop->after;
        loop->after = task->next;
        task->run(task);
    }
    if (loop->slot != NULL)
        loop->turn(loop->slot);
    settle(loop);
    busy_poll_look(&loop->busy, uv_backend_timeout(&loop->uv), loop->polled_us);
}

int64_t loop_looked_us(const struct loop *loop) {
    return busy_poll_spent_us(&loop->busy);
}

int64_t loop_settled_us(const struct loop *loop) {
    return atomic_load(&loop->settled_us);
}

static void ask_to_settle(struct loop *loop, int64_t moment_us) {
    if (loop_settled_us(loop) >= moment_us)
        return;
    uv_mutex_lock(&loop->settle_lock);
    if (atomic_load(&loop->awaited_us) < moment_us)
        atomic_store(&loop->awaited_us, moment_us);
    uv_mutex_unlock(&loop->settle_lock);
    uv_async_send(&loop->wake);
}

static bool await_settled(struct loop *loop, int64_t moment_us, int64_t until_us) {
    int64_t now_us = 0;
    if (loop_settled_us(loop) >= moment_us)
        return true;
    uv_mutex_lock(&loop->settle_lock);
    while (loop_settled_us(loop) < moment_us && (now_us = clock_ticks_us()) < until_us)
        uv_cond_timedwait(&loop->settled, &loop->settle_lock, (uint64_t)(until_us - now_us) * 1000);
    uv_mutex_unlock(&loop->settle_lock);
    return loop_settled_us(loop) >= moment_us;
}

bool loops_settle(struct loop *const *loops, size_t count, int64_t moment_us, int64_t until_us) {
    bool settled = true;
    for (size_t i = 0; i < count; i++)
        ask_to_settle(loops[i], moment_us);
    for (size_t i = 0; i < count; i++)
        settled &= await_settled(loops[i], moment_us, until_us);
    return settled;
}

int64_t loop_now_ms(struct loop *loop) {
    return (int64_t)uv_now(&loop->uv);
}

unsigned loop_index(const struct loop *loop) {
    return loop->index;
}

struct loop *loop_current(void) {
    return current;
}

void *loop_slot(struct loop *loop) {
    return loop->slot;
}

struct uv_loop_s *loop_uv(struct loop *loop) {
    return &loop->uv;
}

static void run_loop(void *argument) {
    struct loop *loop = argument;
    current = loop;
#ifdef __linux__
    char name[16];
    snprintf(name, sizeof(name), "loop-%u", loop->index % 1000);
    pthread_setname_np(pthread_self(), name);
#endif
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    run_after(&loop->before_waiting); /* it does not wait any more */
    current = NULL;
}

static struct loop *loop_new(unsigned index) {
    struct loop *loop = aligned_alloc(_Alignof(struct loop), sizeof(struct loop));
    if (loop == NULL)
        abort();
    memset(loop, 0, sizeof(*loop));
    loop->index = index;
    must(uv_loop_init(&loop->uv), "cannot make an event loop");
    must(uv_async_init(&loop->uv, &loop->wake, run_posted), "cannot make an event loop");
    must(uv_mutex_init(&loop->settle_lock), "cannot make an event loop");
    must(uv_cond_init(&loop->settled), "cannot make an event loop");
    loop->wake.data = loop;
    uv_prepare_init(&loop->uv, &loop->before_waiting); /* these two cannot fail */
    uv_prepare_start(&loop->before_waiting, run_after);
    loop->before_waiting.data = loop;
    return loop;
}

struct loops *loops_new(unsigned count) {
    assert(count > 0);
    struct loops *loops = mem_zalloc(sizeof(*loops));
    loops->count = count;
    loops->loops = mem_zalloc(count * sizeof(struct loop *));
    for (unsigned i = 0; i < count; i++)
        loops->loops[i] = loop_new(i);
    return loops;
}

void loops_set_slots(struct loops *loops, size_t size, void (*turn)(void *slot)) {
    for (unsigned i = 0; i < loops->count; i++) {
        loops->loops[i]->slot = mem_zalloc(size);
        loops->loops[i]->turn = turn;
    }
}

void loops_set_busy_poll(struct loops *loops, unsigned most_us, unsigned busy_most) {
    loops->busy = (struct busy_polls){.most_us = most_us, .busy_most = busy_most};
    for (unsigned i = 0; i < loops->count; i++)
        busy_poll_init(&loops->loops[i]->busy, &loops->busy, uv_backend_fd(&loops->loops[i]->uv));
}

void loops_start(struct loops *loops) {
    assert(!loops->started);
    loops->started = true;
    /* A signal is for the thread that waits for it, never for a loop. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < loops->count; i++)
        must(uv_thread_create(&loops->loops[i]->thread, run_loop, loops->loops[i]),
             "cannot start a thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_loop(struct task *task) {
    struct loop *loop = (struct loop *)((char *)task - offsetof(struct loop, stop));
    loop->stopping = true;
}

static void loop_free(struct loop *loop, bool started) {
    if (started)
        uv_thread_join(&loop->thread);
    else
        run_loop(loop); /* what was posted runs all the same, here */
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_close((uv_handle_t *)&loop->before_waiting, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    must(uv_loop_close(&loop->uv), "a loop ended while something still used it");
    uv_cond_destroy(&loop->settled);
    uv_mutex_destroy(&loop->settle_lock);
    mem_free(loop->slot);
    free(loop);
}

void loops_free(struct loops *loops) {
    for (unsigned i = 0; i < loops->count; i++) {
        loops->loops[i]->stop.run = stop_loop;
        loop_post(loops->loops[i], &loops->loops[i]->stop);
    }
    for (unsigned i = 0; i < loops->count; i++)
        loop_free(loops->loops[i], loops->started);
    mem_free(loops->loops);
    mem_free(loops);
}

unsigned loops_count(const struct loops *loops) {
    return loops->count;
}

struct loop *loops_get(struct loops *loops, unsigned index) {
    assert(index < loops->count);
    return loops->loops[index];
}
