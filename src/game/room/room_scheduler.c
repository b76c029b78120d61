/* The thread that steps rooms.
 *
 * Due times are an index of the table, so nothing has to be kept or rebuilt in memory: the thread
 * queries what is due, waits until what players said in time for those steps has been submitted,
 * submits a step for each room, waits for all of them (they share commits), and sleeps until the
 * next one is due. A step that conflicted or failed is still due the next time.
 *
 * Now and then it renews this server's lease, if it holds connections, and clears rooms of the
 * connections of servers that are gone; those are found in an index as well.
 */
#include "game/room/room_scheduler.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/ulid.h"
#include "game/room/room_connection.h"
#include "table/inprocess.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    STEPS_MAX = LIMIT_ROOM_STEPS, /* a turn: the first room's step is published after all of them
                                     are done */
    SLEEP_MAX_MS = 50, /* another server, or a client of the table, may have set a timer */
    FAILED_MS = 200,   /* after a turn in which nothing could be done */
    CLEAR_MS = 500,    /* between two looks for servers that are gone, */
    CLEARED_MAX = 32,  /* and rooms cleared in a turn */
};

struct room_scheduler {
    struct game *game;
    char owner[ULID_SIZE]; /* the server's id */
    pthread_t thread;
    pthread_mutex_t lock; /* guards stopping, woken, awaiting, running and listener */
    pthread_cond_t changed;
    pthread_cond_t returned; /* a call of listener.await_players */
    bool stopping, woken, awaiting;
    unsigned running;          /* steps submitted and not done */
    struct change_batch batch; /* steps not yet handed to the engine; only the thread uses it */
    struct room_scheduler_listener listener;
    atomic_uint held;     /* connections of this server */
    atomic_bool has_held; /* whether there have been any */
    /* When the lease was renewed, and when others' were looked at; only the thread uses them. */
    int64_t renewed_us, looked_us;
};

/* One room's step, from its preparation to its commit. */
struct step {
    struct room room;
    struct change change;
    struct arena arena;
    struct failure failure;
    enum status loaded;
};

/* Called by the engine on its own thread. */
static void step_done(struct change *change) {
    struct room_scheduler *scheduler = change->user;
    pthread_mutex_lock(&scheduler->lock);
    if (--scheduler->running == 0) /* waking it for each would only make it wait again */
        pthread_cond_signal(&scheduler->changed);
    pthread_mutex_unlock(&scheduler->lock);
}

static void load_step(struct room_scheduler *scheduler, struct step *step, struct bytes code) {
    step->loaded =
        room_load(scheduler->game, code, (struct scope){&step->arena, &step->failure}, &step->room);
}

static enum status make_step(struct room_scheduler *scheduler, struct step *step) {
    struct bytes owner = bytes_of(scheduler->owner, ULID_SIZE);
    return step->loaded == OK ? room_step(&step->room, owner, &step->failure) : step->loaded;
}

static enum status make_step_unscored(struct room_scheduler *scheduler, struct step *step,
                                      struct bytes code) {
    room_release(&step->room);
    load_step(scheduler, step, code);
    step->room.unscored = true;
    return make_step(scheduler, step);
}

static void submit_step(struct room_scheduler *scheduler, struct step *step) {
    step->change.arena = &step->arena;
    step->change.done = step_done;
    step->change.user = scheduler;
    step->change.batch = &scheduler->batch;
    pthread_mutex_lock(&scheduler->lock);
    scheduler->running++;
    pthread_mutex_unlock(&scheduler->lock);
    engine_submit(scheduler->game->engine, &step->change);
}

static void submit_made(struct room_scheduler *scheduler, struct step *step, enum status made) {
    if (made != OK)
        return;
    room_save_prepare(&step->room, &step->change);
    submit_step(scheduler, step);
}

/* Makes the step of the room that was loaded and submits it, if something is due. */
static void begin_step(struct room_scheduler *scheduler, struct step *step, struct bytes code) {
    step->room.now_ms = clock_now_ms(); /* of which step it is: there was a wait since */
    enum status status = make_step(scheduler, step);
    if (room_scores_refused(status))
        status = make_step_unscored(scheduler, step, code);
    submit_made(scheduler, step, status);
}
static void wait_for_steps(struct room_scheduler *scheduler) {
    engine_batch_flush(&scheduler->batch);
    pthread_mutex_lock(&scheduler->lock);
    while (scheduler->running != 0)
        pthread_cond_wait(&scheduler->changed, &scheduler->lock);
    pthread_mutex_unlock(&scheduler->lock);
}

static void notify_listener(struct room_scheduler *scheduler, struct bytes code,
                            const struct room *room) {
    pthread_mutex_lock(&scheduler->lock); /* so that it is not called after it was taken away */
    if (scheduler->listener.stepped != NULL)
        scheduler->listener.stepped(scheduler->listener.user, code, room);
    pthread_mutex_unlock(&scheduler->lock);
}

/* Whether the step was committed. One whose scores were refused in the commit is made again without
 * them. */
static bool end_step(struct room_scheduler *scheduler, struct step *step, struct bytes code) {
    struct failure failure = {0};
    bool made = step->change.done != NULL && room_save_result(&step->change, &failure) == OK;
    if (room_scores_refused(failure.status)) {
        step->change = (struct change){0};
        submit_made(scheduler, step, make_step_unscored(scheduler, step, code));
        wait_for_steps(scheduler);
        made = step->change.done != NULL && room_save_result(&step->change, &failure) == OK;
    }
    if (made) {
        room_after_save(&step->room);
        notify_listener(scheduler, code, &step->room);
    }
    room_release(&step->room);
    arena_release(&step->arena);
    return made;
}

/* Waits for what came in time for the steps: once for all of them. The listener is not taken away
 * meanwhile. */
static void await_players(struct room_scheduler *scheduler, int64_t by_ms) {
    pthread_mutex_lock(&scheduler->lock);
    struct room_scheduler_listener listener = scheduler->listener;
    scheduler->awaiting = listener.await_players != NULL;
    pthread_mutex_unlock(&scheduler->lock);
    if (listener.await_players == NULL)
        return;
    listener.await_players(listener.user, by_ms);
    pthread_mutex_lock(&scheduler->lock);
    scheduler->awaiting = false;
    pthread_cond_broadcast(&scheduler->returned);
    pthread_mutex_unlock(&scheduler->lock);
}

/* Loads the rooms that are due and waits for their players. */
static void load_steps(struct room_scheduler *scheduler, const struct due_list *due,
                       struct step *steps) {
    int64_t until_ms = 0, now_ms = clock_now_ms();
    for (size_t i = 0; i < due->count; i++) {
        arena_init(&steps[i].arena);
        load_step(scheduler, &steps[i], due->codes[i]);
        int64_t counts_ms = steps[i].loaded == OK ? room_counts_until(&steps[i].room, now_ms) : 0;
        if (counts_ms > until_ms)
            until_ms = counts_ms;
    }
    if (until_ms != 0)
        await_players(scheduler, until_ms);
}

/* Runs a step of each room that is due; returns how many were committed. */
static size_t run_steps(struct room_scheduler *scheduler, const struct due_list *due) {
    struct step *steps = mem_zalloc(sizeof(*steps) * (due->count + 1));
    size_t made = 0;
    load_steps(scheduler, due, steps);
    for (size_t i = 0; i < due->count; i++)
        begin_step(scheduler, &steps[i], due->codes[i]);
    wait_for_steps(scheduler);
    for (size_t i = 0; i < due->count; i++)
        made += end_step(scheduler, &steps[i], due->codes[i]);
    mem_free(steps);
    return made;
}

/* --- connections --- */

static void renew_lease(struct room_scheduler *scheduler, struct arena *arena) {
    int64_t now_us = clock_ticks_us();
    struct failure failure = {0};
    bool cleared = false;
    if (atomic_load(&scheduler->held) == 0 ||
        (scheduler->renewed_us != 0 && now_us - scheduler->renewed_us < SERVER_RENEW_MS * 1000))
        return;
    if (server_lease_renew(scheduler->game, bytes_of(scheduler->owner, ULID_SIZE),
                           (struct scope){arena, &failure}, &cleared) != OK)
        return; /* tried again in the next turn */
    scheduler->renewed_us = now_us;
    pthread_mutex_lock(&scheduler->lock);
    if (cleared && scheduler->listener.cleared != NULL)
        scheduler->listener.cleared(scheduler->listener.user);
    pthread_mutex_unlock(&scheduler->lock);
}

static void clear_lapsed_leases(struct room_scheduler *scheduler,
                                const struct lapsed_lease_list *list) {
    struct step *steps = mem_zalloc(sizeof(*steps) * list->count);
    for (size_t i = 0; i < list->count; i++) {
        struct step *step = &steps[i];
        arena_init(&step->arena);
        struct lapsed_lease_clearing clearing = {scheduler->game, &list->entries[i], &step->room,
                                                 &step->change};
        if (lapsed_lease_clear_prepare(&clearing, (struct scope){&step->arena, &step->failure}) ==
            OK)
            submit_step(scheduler, step);
    }
    wait_for_steps(scheduler);
    for (size_t i = 0; i < list->count; i++) {
        struct failure failure = {0};
        if (steps[i].change.done != NULL && room_save_result(&steps[i].change, &failure) == OK &&
            list->entries[i].code.size != 0)
            notify_listener(scheduler, list->entries[i].code, NULL);
        room_release(&steps[i].room);
        arena_release(&steps[i].arena);
    }
    mem_free(steps);
}

static void clear_lapsed(struct room_scheduler *scheduler, struct arena *arena) {
    struct failure failure = {0};
    struct lapsed_lease_list list = {.own = bytes_of(scheduler->owner, ULID_SIZE),
                                     .limit = CLEARED_MAX};
    int64_t now_us = clock_ticks_us();
    if (now_us - scheduler->looked_us < CLEAR_MS * 1000)
        return;
    scheduler->looked_us = now_us;
    if (lapsed_lease_find(scheduler->game, (struct scope){arena, &failure}, &list) != OK ||
        list.count == 0)
        return;
    clear_lapsed_leases(scheduler, &list);
    if (list.count == CLEARED_MAX)
        scheduler->looked_us = 0; /* there may be more: in the next turn, after what is due */
}

/* One turn; returns how long to sleep. */
static int64_t run_once(struct room_scheduler *scheduler) {
    struct arena arena;
    struct failure failure = {0};
    struct due_list due;
    int64_t sleep_ms = SLEEP_MAX_MS;
    arena_init(&arena);
    int64_t now_ms = clock_now_ms();
    if (room_due(scheduler->game, (struct due_request){now_ms, STEPS_MAX},
                 (struct scope){&arena, &failure}, &due) != OK)
        sleep_ms = FAILED_MS;
    else if (due.count != 0)
        sleep_ms = run_steps(scheduler, &due) != 0 ? 0 : SLEEP_MAX_MS;
    else if (due.next_ms != 0 && due.next_ms - now_ms < sleep_ms)
        sleep_ms = due.next_ms - now_ms;
    renew_lease(scheduler, &arena);
    clear_lapsed(scheduler, &arena);
    arena_release(&arena);
    return sleep_ms;
}

static bool sleep_for(struct room_scheduler *scheduler, int64_t sleep_ms) {
    int64_t until_us = clock_ticks_us() + sleep_ms * 1000;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_mutex_lock(&scheduler->lock);
    while (!scheduler->stopping && !scheduler->woken && clock_ticks_us() < until_us)
        pthread_cond_timedwait(&scheduler->changed, &scheduler->lock, &until);
    scheduler->woken = false;
    bool go_on = !scheduler->stopping;
    pthread_mutex_unlock(&scheduler->lock);
    return go_on;
}

static void *room_scheduler_main(void *argument) {
    struct room_scheduler *scheduler = argument;
    while (sleep_for(scheduler, run_once(scheduler)))
        ;
    return NULL;
}

struct room_scheduler *room_scheduler_start(struct game *game) {
    struct room_scheduler *scheduler = mem_zalloc(sizeof(*scheduler));
    pthread_condattr_t attributes;
    scheduler->game = game;
    ulid_make(clock_now_ms(), scheduler->owner);
    pthread_mutex_init(&scheduler->lock, NULL);
    pthread_cond_init(&scheduler->returned, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&scheduler->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (thread_start(&scheduler->thread, room_scheduler_main, scheduler) == 0)
        return scheduler;
    pthread_cond_destroy(&scheduler->returned);
    pthread_cond_destroy(&scheduler->changed);
    pthread_mutex_destroy(&scheduler->lock);
    mem_free(scheduler);
    return NULL;
}

void room_scheduler_set_listener(struct room_scheduler *scheduler,
                                 const struct room_scheduler_listener *listener) {
    pthread_mutex_lock(&scheduler->lock);
    while (scheduler->awaiting)
        pthread_cond_wait(&scheduler->returned, &scheduler->lock);
    scheduler->listener = listener != NULL ? *listener : (struct room_scheduler_listener){0};
    pthread_mutex_unlock(&scheduler->lock);
}

struct bytes room_scheduler_server_id(const struct room_scheduler *scheduler) {
    return bytes_of(scheduler->owner, ULID_SIZE);
}

void room_scheduler_count_connections(struct room_scheduler *scheduler, int more) {
    atomic_store(&scheduler->has_held, true);
    atomic_fetch_add(&scheduler->held, (unsigned)more);
}

void room_scheduler_wake(struct room_scheduler *scheduler) {
    pthread_mutex_lock(&scheduler->lock);
    scheduler->woken = true;
    pthread_cond_signal(&scheduler->changed);
    pthread_mutex_unlock(&scheduler->lock);
}

/* Connections whose end could not be written are cleared by others when the lease has lapsed. */
static void release_lease(struct room_scheduler *scheduler) {
    struct failure failure = {0};
    struct arena arena;
    if (!atomic_load(&scheduler->has_held))
        return;
    arena_init(&arena);
    server_lease_release(scheduler->game, bytes_of(scheduler->owner, ULID_SIZE),
                         (struct scope){&arena, &failure});
    arena_release(&arena);
}

void room_scheduler_stop(struct room_scheduler *scheduler) {
    pthread_mutex_lock(&scheduler->lock);
    scheduler->stopping = true;
    pthread_cond_signal(&scheduler->changed);
    pthread_mutex_unlock(&scheduler->lock);
    pthread_join(scheduler->thread, NULL);
    release_lease(scheduler);
    pthread_cond_destroy(&scheduler->returned);
    pthread_cond_destroy(&scheduler->changed);
    pthread_mutex_destroy(&scheduler->lock);
    mem_free(scheduler);
}
