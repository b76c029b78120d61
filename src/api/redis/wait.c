#include "api/redis/wait.h"

#include "api/redis/call.h"
#include "api/redis/space_int.h"
#include "base/clock.h"

#include <math.h>
#include <time.h>

enum { LOOK_EVERY_MS = 20, RETRY_MS = 5 };

struct awaited {
    struct bytes pk;  /* the board's partition */
    uint64_t touched; /* as it was when it was found empty */
};

struct waiter {
    struct redis_call *call;
    struct waiter *next, *prev; /* in the list, unless `listed` is false */
    struct awaited *keys;
    size_t count;
    int64_t until_us; /* INT64_MAX: for ever */
    bool null_bulk;
    bool retries; /* it waits for no key, only for a while */
    /* guarded by the mutex */
    enum { TRYING, WAITING, WOKEN } state;
    bool listed, again, expired, cancelled;
    bool ends, ends_with_error; /* wait_end() came while it was not WAITING */
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

static bool waits_for(const struct waiter *waiter, struct bytes pk) {
    for (size_t i = 0; i < waiter->count; i++)
        if (bytes_equal(waiter->keys[i].pk, pk))
            return true;
    return false;
}

/* ---- waking ---- */

static void run_woken(struct task *task);

/* Under the mutex. */
static void wake(struct waiter *waiter) {
    struct redis_call *call = waiter->call;
    waiter->state = WOKEN;
    call->task.run = run_woken;
    loop_post(call->client->stream->loop, &call->task);
}

/* The oldest that waits for the board is run again; if it is at it already, once more. */
static void wake_first(struct waiting *waiting, struct bytes pk) {
    struct waiter *waiter = waiting->first;
    while (waiter != NULL && !waits_for(waiter, pk))
        waiter = waiter->next;
    if (waiter == NULL)
        return;
    if (waiter->state == WAITING)
        wake(waiter);
    else if (waiter->state == TRYING)
        waiter->again = true;
}

void wait_wake(struct waiting *waiting, struct bytes pk) {
    if (atomic_load_explicit(&waiting->count, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&waiting->mutex);
    wake_first(waiting, pk);
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
    struct waiting *waiting = &call->face->waiting;
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
    stream_hold(call->client->stream); /* while it waits nothing is under way */
    if (!expired) {
        call_submit(call);
        return;
    }
    answer_nothing(call, false);
    client_drain(call->client);
}

static bool touched_since(struct waiting *waiting, struct waiter *waiter) {
    bool touched = false;
    for (size_t i = 0; i < waiter->count; i++) {
        struct value pk = value_string(waiter->keys[i].pk);
        uint64_t now = engine_touched(waiting->game->engine, waiting->game->table, &pk);
        touched = touched || now != waiter->keys[i].touched;
        waiter->keys[i].touched = now;
    }
    return touched;
}

static void *look(void *argument);

bool wait_tried(struct redis_call *call, bool served) {
    struct waiting *waiting = &call->face->waiting;
    struct waiter *waiter = call->waiter;
    pthread_mutex_lock(&waiting->mutex);
    if (served) {
        unlink_waiter(waiting, waiter);
        for (size_t i = 0; i < waiter->count; i++) /* there may be some left for the next */
            wake_first(waiting, waiter->keys[i].pk);
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
    if (!waiting->running) /* if it cannot be now, then with the next that waits */
        waiting->running = pthread_create(&waiting->thread, NULL, look, waiting) == 0;
    waiter->state = WAITING;
    if (waiter->again || touched_since(waiting, waiter))
        wake(waiter);
    pthread_cond_signal(&waiting->changed);
    pthread_mutex_unlock(&waiting->mutex);
    stream_release(call->client->stream);
    return false;
}

void wait_cancel(struct redis_call *call) {
    struct waiting *waiting = &call->face->waiting;
    pthread_mutex_lock(&waiting->mutex);
    bool woken = call->waiter->state == WOKEN; /* then its task is on its way to the loop */
    unlink_waiter(waiting, call->waiter);
    call->waiter->cancelled = true;
    pthread_mutex_unlock(&waiting->mutex);
    if (call->space != NULL)
        space_release(call->space);
    call->space = NULL;
    if (!woken)
        call_free(call);
}

void wait_end(struct redis_call *call, bool with_error) {
    struct waiting *waiting = &call->face->waiting;
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

/* ---- the thread that looks ---- */

static void look_at(struct waiting *waiting, struct waiter *waiter, int64_t now_us) {
    if (waiter->state != WAITING)
        return;
    waiter->expired = now_us >= waiter->until_us;
    if (waiter->expired)
        wake(waiter);
    else
        for (size_t i = 0; i < waiter->count; i++) {
            struct awaited *key = &waiter->keys[i];
            struct value pk = value_string(key->pk);
            uint64_t now = engine_touched(waiting->game->engine, waiting->game->table, &pk);
            if (now != key->touched)
                wake_first(waiting, key->pk);
            key->touched = now;
        }
}

static void *look(void *argument) {
    struct waiting *waiting = argument;
    pthread_mutex_lock(&waiting->mutex);
    while (!waiting->stopping) {
        if (waiting->first == NULL) {
            pthread_cond_wait(&waiting->changed, &waiting->mutex);
            continue;
        }
        int64_t now_us = clock_ticks_us();
        for (struct waiter *waiter = waiting->first; waiter != NULL; waiter = waiter->next)
            look_at(waiting, waiter, now_us);
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_EVERY_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&waiting->changed, &waiting->mutex, &until);
    }
    pthread_mutex_unlock(&waiting->mutex);
    return NULL;
}

void waiting_init(struct waiting *waiting, struct game *game) {
    waiting->game = game;
    pthread_mutex_init(&waiting->mutex, NULL);
    pthread_cond_init(&waiting->changed, NULL);
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

static int64_t wait_until(double timeout_s) {
    if (timeout_s <= 0 || timeout_s > 1e9)
        return INT64_MAX;
    return clock_ticks_us() + (int64_t)ceil(timeout_s * 1e6);
}

/* The call's waiter, new or as it was. */
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
    pthread_mutex_lock(&call->face->waiting.mutex);
    waiter->retries = true;
    waiter->until_us = clock_ticks_us() + RETRY_MS * 1000;
    pthread_mutex_unlock(&call->face->waiting.mutex);
}

enum status call_wait(struct redis_call *call, const struct bytes *keys, size_t count,
                      double timeout_s, bool null_bulk) {
    const struct game *game = call->face->game;
    struct awaited *awaited = ARENA_ARRAY(call->arena, struct awaited, count);
    for (size_t i = 0; i < count; i++) {
        struct zset *zset;
        enum status status = zset_open(call, keys[i], &zset);
        if (status != OK)
            return status;
        awaited[i].pk = arena_copy(call->arena, zset_board(zset)->pk);
        struct value pk = value_string(awaited[i].pk);
        awaited[i].touched = engine_touched(game->engine, game->table, &pk);
    }
    struct waiter *waiter = waiter_of(call);
    pthread_mutex_lock(&call->face->waiting.mutex); /* it may be in the list already */
    if (waiter->until_us < 0 || waiter->retries)
        waiter->until_us = wait_until(timeout_s);
    waiter->retries = false;
    waiter->null_bulk = null_bulk;
    waiter->keys = awaited;
    waiter->count = count;
    pthread_mutex_unlock(&call->face->waiting.mutex);
    return OK;
}
