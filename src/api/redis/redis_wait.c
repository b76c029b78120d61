/* The list of waiting calls, the thread that polls for them, and the steps of each wait. */
#include "api/redis/redis_wait.h"

#include "api/redis/free_calls.h"
#include "api/redis/redis_call.h"
#include "api/redis/write_calls.h"
#include "api/redis/zset_txn_int.h"
#include "base/clock.h"
#include "base/thread.h"
#include "table/inprocess.h"

#include <math.h>
#include <time.h>

enum { POLL_MS = 20, RETRY_MS = 5 };

struct awaited {
    struct bytes board; /* its name in full */
    struct bytes pk;    /* the partition of its entries, which may become another */
    uint64_t version;   /* the partition's, when the board was last found empty */
};

struct waiter {
    struct redis_call *call;
    struct waiter *next, *prev; /* in the list, if `listed` */
    struct awaited *keys;
    size_t count;
    int64_t until_us; /* INT64_MAX: for ever */
    bool null_bulk;
    bool retries; /* it waits for no key, only until `until_us` (call_retry) */
    /* guarded by the mutex */
    enum { TRYING, WAITING, WOKEN } state;
    bool listed;
    bool again;     /* a board was written to while it was TRYING: it is run once more */
    bool expired;   /* its time is up */
    bool cancelled; /* its client has gone: it is freed by its task */
    bool ends, ends_with_error; /* wait_end() was called while it was not WAITING */
};

/* ---- the list, under the mutex ---- */

static void link_waiter(struct waiting *waiting, struct waiter *waiter) {
    waiter->prev = waiting->last;
    waiter->next = NULL;
    if (waiting->last != NULL)
        waiting->last->next = waiter;
    else
        waiting->first = waiter;
    waiting->last = waiter;
    waiter->listed = true;
    atomic_fetch_add(&waiting->count, 1);
}

static void unlink_waiter(struct waiting *waiting, struct waiter *waiter) {
    if (!waiter->listed)
        return;
    *(waiter->prev != NULL ? &waiter->prev->next : &waiting->first) = waiter->next;
    *(waiter->next != NULL ? &waiter->next->prev : &waiting->last) = waiter->prev;
    waiter->listed = false;
    atomic_fetch_sub(&waiting->count, 1);
}

static bool waits_for(const struct waiter *waiter, struct bytes board) {
    for (size_t i = 0; i < waiter->count; i++)
        if (bytes_equal(waiter->keys[i].board, board))
            return true;
    return false;
}

/* ---- waking ---- */

static void run_woken(struct task *task);

/* Under the mutex. */
static void wake_waiter(struct waiter *waiter) {
    struct redis_call *call = waiter->call;
    waiter->state = WOKEN;
    call->task.run = run_woken;
    loop_post(call->client->stream->loop, &call->task);
}

/* Has the oldest waiter of the board run again; once more, if it is running. Under the mutex. */
static void wake_first(struct waiting *waiting, struct bytes board) {
    struct waiter *waiter = waiting->first;
    while (waiter != NULL && !waits_for(waiter, board))
        waiter = waiter->next;
    if (waiter == NULL)
        return;
    if (waiter->state == WAITING)
        wake_waiter(waiter);
    else if (waiter->state == TRYING)
        waiter->again = true;
}

void wait_wake(struct waiting *waiting, struct bytes board) {
    if (atomic_load_explicit(&waiting->count, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&waiting->mutex);
    wake_first(waiting, board);
    pthread_mutex_unlock(&waiting->mutex);
}

bool wait_is_waiting(struct waiting *waiting, const struct redis_client *client) {
    pthread_mutex_lock(&waiting->mutex);
    const struct waiter *waiter = waiting->first;
    while (waiter != NULL && waiter->call->client != client)
        waiter = waiter->next;
    pthread_mutex_unlock(&waiting->mutex);
    return waiter != NULL;
}

/* ---- on the loop ---- */

/* The reply of a call that was not served: its time is up, or it was unblocked. */
static void answer_nothing(struct redis_call *call, bool with_error) {
    buf_clear(&call->reply);
    if (with_error)
        resp_error(&call->out, BYTES("UNBLOCKED client unblocked via CLIENT UNBLOCK"));
    else if (call->waiter->null_bulk)
        resp_null(&call->out);
    else
        resp_null_array(&call->out);
    call->done = true;
}

static void run_woken(struct task *task) {
    struct redis_call *call =
        (struct redis_call *)((char *)task - offsetof(struct redis_call, task));
    struct waiting *waiting = &call->frontend->waiting;
    struct waiter *waiter = call->waiter;
    pthread_mutex_lock(&waiting->mutex);
    bool cancelled = waiter->cancelled, expired = waiter->expired && !waiter->retries;
    waiter->state = TRYING;
    waiter->again = false;
    if (expired)
        unlink_waiter(waiting, waiter);
    pthread_mutex_unlock(&waiting->mutex);
    if (cancelled) {
        call_free(call);
        return;
    }
    stream_hold(call->client->stream); /* a waiting call does not hold its stream */
    if (!expired) {
        call_submit(call);
        return;
    }
    answer_nothing(call, false);
    client_drain(call->client);
}

/* Whether a board was written to since the waiter looked. Under the mutex. */
static bool written_since(struct waiting *waiting, struct waiter *waiter) {
    bool written = false;
    for (size_t i = 0; i < waiter->count; i++) {
        struct value pk = value_string(waiter->keys[i].pk);
        uint64_t now = engine_partition_version(waiting->game->engine, waiting->game->table, &pk);
        written = written || now != waiter->keys[i].version;
        waiter->keys[i].version = now;
    }
    return written;
}

static void *wait_main(void *argument);

bool wait_ran(struct redis_call *call, bool served) {
    struct waiting *waiting = &call->frontend->waiting;
    struct waiter *waiter = call->waiter;
    pthread_mutex_lock(&waiting->mutex);
    if (served) {
        unlink_waiter(waiting, waiter);
        for (size_t i = 0; i < waiter->count; i++) /* entries may be left for the next one */
            wake_first(waiting, waiter->keys[i].board);
        pthread_mutex_unlock(&waiting->mutex);
        return true;
    }
    if (waiter->ends) {
        unlink_waiter(waiting, waiter);
        pthread_mutex_unlock(&waiting->mutex);
        answer_nothing(call, waiter->ends_with_error);
        return true;
    }
    if (!waiter->listed)
        link_waiter(waiting, waiter);
    if (!waiting->running) /* if it cannot be started, the next wait tries again */
        waiting->running = thread_start(&waiting->thread, wait_main, waiting) == 0;
    waiter->state = WAITING;
    if (waiter->again || written_since(waiting, waiter))
        wake_waiter(waiter);
    pthread_cond_signal(&waiting->changed);
    pthread_mutex_unlock(&waiting->mutex);
    stream_release(call->client->stream);
    return false;
}

void wait_cancel(struct redis_call *call) {
    struct waiting *waiting = &call->frontend->waiting;
    pthread_mutex_lock(&waiting->mutex);
    bool woken = call->waiter->state == WOKEN; /* then its task is on its way to the loop */
    unlink_waiter(waiting, call->waiter);
    call->waiter->cancelled = true;
    pthread_mutex_unlock(&waiting->mutex);
    if (call->txn != NULL)
        zset_txn_release(call->txn);
    call->txn = NULL;
    if (!woken)
        call_free(call);
}

void wait_end(struct redis_call *call, bool with_error) {
    struct waiting *waiting = &call->frontend->waiting;
    struct waiter *waiter = call->waiter;
    bool ended = false;
    if (waiter == NULL)
        return;
    pthread_mutex_lock(&waiting->mutex);
    if (waiter->state == WAITING && waiter->listed && !waiter->retries) {
        unlink_waiter(waiting, waiter);
        waiter->state = TRYING;
        ended = true;
    } else if (waiter->listed && !waiter->retries) {
        waiter->ends = true;
        waiter->ends_with_error = with_error;
    }
    pthread_mutex_unlock(&waiting->mutex);
    if (!ended)
        return;
    stream_hold(call->client->stream);
    answer_nothing(call, with_error);
    client_drain(call->client);
}

/* ---- the thread that polls ---- */

/* Under the mutex. */
static void check_waiter(struct waiting *waiting, struct waiter *waiter, int64_t now_us) {
    if (waiter->state != WAITING)
        return;
    waiter->expired = now_us >= waiter->until_us;
    if (waiter->expired)
        wake_waiter(waiter);
    else
        for (size_t i = 0; i < waiter->count; i++) {
            struct awaited *key = &waiter->keys[i];
            struct value pk = value_string(key->pk);
            uint64_t now =
                engine_partition_version(waiting->game->engine, waiting->game->table, &pk);
            if (now != key->version)
                wake_first(waiting, key->board);
            key->version = now;
        }
}

static void *wait_main(void *argument) {
    struct waiting *waiting = argument;
    pthread_mutex_lock(&waiting->mutex);
    while (!waiting->stopping) {
        if (waiting->first == NULL) {
            pthread_cond_wait(&waiting->changed, &waiting->mutex);
            continue;
        }
        int64_t now_us = clock_ticks_us();
        for (struct waiter *waiter = waiting->first; waiter != NULL; waiter = waiter->next)
            check_waiter(waiting, waiter, now_us);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POLL_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&waiting->changed, &waiting->mutex, &until);
    }
    pthread_mutex_unlock(&waiting->mutex);
    return NULL;
}

void waiting_init(struct waiting *waiting, struct game *game) {
    pthread_condattr_t steady;
    waiting->game = game;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&waiting->mutex, NULL);
    pthread_cond_init(&waiting->changed, &steady);
    pthread_condattr_destroy(&steady);
}

void waiting_stop(struct waiting *waiting) {
    pthread_mutex_lock(&waiting->mutex);
    waiting->stopping = true;
    bool running = waiting->running;
    waiting->running = false;
    pthread_cond_signal(&waiting->changed);
    pthread_mutex_unlock(&waiting->mutex);
    if (running)
        pthread_join(waiting->thread, NULL);
}

void waiting_release(struct waiting *waiting) {
    waiting_stop(waiting);
    pthread_cond_destroy(&waiting->changed);
    pthread_mutex_destroy(&waiting->mutex);
}

/* ---- for commands; on the engine's thread ---- */

static int64_t wait_deadline(double timeout_s) {
    if (timeout_s <= 0 || timeout_s > 1e9)
        return INT64_MAX;
    return clock_ticks_us() + (int64_t)ceil(timeout_s * 1e6);
}

/* The call's waiter, which is made when it first waits. */
static struct waiter *waiter_of(struct redis_call *call) {
    call->waits = true;
    if (call->waiter == NULL) {
        call->waiter = ARENA_NEW(call->arena, struct waiter);
        call->waiter->call = call;
        call->waiter->until_us = -1;
    }
    return call->waiter;
}

void call_retry(struct redis_call *call) {
    struct waiter *waiter = waiter_of(call);
    pthread_mutex_lock(&call->frontend->waiting.mutex);
    waiter->retries = true;
    waiter->until_us = clock_ticks_us() + RETRY_MS * 1000;
    pthread_mutex_unlock(&call->frontend->waiting.mutex);
}

enum status call_wait(struct redis_call *call, const struct key_wait *wait) {
    const struct game *game = call->frontend->game;
    struct awaited *awaited = ARENA_ARRAY(call->arena, struct awaited, wait->count);
    for (size_t i = 0; i < wait->count; i++) {
        struct zset *zset;
        enum status status = zset_open(call, wait->keys[i], &zset);
        if (status != OK)
            return status;
        awaited[i].board = arena_copy(call->arena, zset_board(zset)->instance);
        awaited[i].pk = arena_copy(call->arena, zset_board(zset)->pk);
        struct value pk = value_string(awaited[i].pk);
        awaited[i].version = engine_partition_version(game->engine, game->table, &pk);
    }
    struct waiter *waiter = waiter_of(call);
    pthread_mutex_lock(&call->frontend->waiting.mutex); /* it may be in the list already */
    if (waiter->until_us < 0 || waiter->retries)
        waiter->until_us = wait_deadline(wait->timeout_s);
    waiter->retries = false;
    waiter->null_bulk = wait->null_bulk;
    waiter->keys = awaited;
    waiter->count = wait->count;
    pthread_mutex_unlock(&call->frontend->waiting.mutex);
    return OK;
}
