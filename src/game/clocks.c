/* The thread that steps rooms.
 *
 * Due times are an index of the table, so nothing has to be remembered or rebuilt here: the thread
 * asks what is due, submits a step for each room, waits for all of them (they share commits), and
 * sleeps until the next one is due. A step that lost a race, or failed, is found due again.
 *
 * Now and then it renews this server's lease, if it holds connections, and clears rooms of the
 * connections of servers that are gone; those are found in an index as well.
 */
#include "game/clocks.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "game/connection.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    STEPS_MAX = 64, /* a turn: a round begins when it is worked out, and is shown after the turn */
    SLEEP_MAX_MS = 50, /* another server, or somebody at the table itself, may have made one due */
    FAILED_MS = 200,   /* after a turn in which nothing could be done */
    CLEAR_MS = 500,    /* between two looks for servers that are gone, */
    CLEARED_MAX = 32,  /* and rooms cleared in a turn */
};

struct clocks {
    struct game *game;
    char owner[ULID_SIZE];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping, woken;
    unsigned running; /* steps under way */
    struct clocks_listener listener;
    atomic_uint held;              /* connections of this server, */
    atomic_bool has_held;          /* and whether there were any */
    int64_t renewed_us, looked_us; /* its lease, and for others'; the thread's own */
};

struct step {
    struct room room;
    struct change change;
    struct arena arena;
    struct failure failure;
};

static void step_done(struct change *change) {
    struct clocks *clocks = change->user;
    pthread_mutex_lock(&clocks->lock);
    if (--clocks->running == 0) /* all of them: each alone would only wake it to wait on */
        pthread_cond_signal(&clocks->changed);
    pthread_mutex_unlock(&clocks->lock);
}

static enum status work_out(struct clocks *clocks, struct step *step, struct bytes code,
                            bool unscored) {
    struct bytes owner = bytes_of(clocks->owner, ULID_SIZE);
    enum status status = room_load(clocks->game, code, &step->arena, &step->failure, &step->room);
    step->room.unscored = unscored;
    return status == OK ? room_step(&step->room, owner, &step->failure) : status;
}

static void submit(struct clocks *clocks, struct step *step) {
    step->change.arena = &step->arena;
    step->change.done = step_done;
    step->change.user = clocks;
    pthread_mutex_lock(&clocks->lock);
    clocks->running++;
    pthread_mutex_unlock(&clocks->lock);
    engine_submit(clocks->game->engine, &step->change);
}

/* Works the step out and submits it, if there is one to be made. */
static void begin_step(struct clocks *clocks, struct step *step, struct bytes code, bool unscored) {
    enum status status = work_out(clocks, step, code, unscored);
    if (room_refused(status) && !unscored) {
        room_release(&step->room);
        status = work_out(clocks, step, code, true);
    }
    if (status != OK)
        return;
    room_save_prepare(&step->room, &step->change);
    submit(clocks, step);
}

static void wait_for_steps(struct clocks *clocks) {
    engine_hand_over();
    pthread_mutex_lock(&clocks->lock);
    while (clocks->running != 0)
        pthread_cond_wait(&clocks->changed, &clocks->lock);
    pthread_mutex_unlock(&clocks->lock);
}

static void tell(struct clocks *clocks, struct bytes code, const struct room *room) {
    pthread_mutex_lock(&clocks->lock); /* so that it is not called after it was taken back */
    if (clocks->listener.stepped != NULL)
        clocks->listener.stepped(clocks->listener.user, code, room);
    pthread_mutex_unlock(&clocks->lock);
}

/* Whether it was made. One that boards refused at the commit is made again without them. */
static bool end_step(struct clocks *clocks, struct step *step, struct bytes code) {
    struct failure failure = {0};
    bool made = step->change.done != NULL && room_saved(&step->change, &failure) == OK;
    if (room_refused(failure.status)) {
        room_release(&step->room);
        step->change = (struct change){0};
        begin_step(clocks, step, code, true);
        wait_for_steps(clocks);
        made = step->change.done != NULL && room_saved(&step->change, &failure) == OK;
    }
    if (made) {
        room_written(&step->room);
        tell(clocks, code, &step->room);
    }
    room_release(&step->room);
    arena_release(&step->arena);
    return made;
}

/* All that is due; returns how many steps were made. */
static size_t run_steps(struct clocks *clocks, const struct due_list *due) {
    struct step *steps = mem_zalloc(sizeof(*steps) * (due->count + 1));
    size_t made = 0;
    for (size_t i = 0; i < due->count; i++) {
        arena_init(&steps[i].arena);
        begin_step(clocks, &steps[i], due->codes[i], false);
    }
    wait_for_steps(clocks);
    for (size_t i = 0; i < due->count; i++)
        made += end_step(clocks, &steps[i], due->codes[i]);
    mem_free(steps);
    return made;
}

/* --- connections --- */

static void renew(struct clocks *clocks, struct arena *arena) {
    int64_t now_us = clock_ticks_us();
    struct failure failure = {0};
    bool cleared = false;
    if (atomic_load(&clocks->held) == 0 ||
        (clocks->renewed_us != 0 && now_us - clocks->renewed_us < SERVER_RENEW_MS * 1000))
        return;
    if (server_renew(clocks->game, bytes_of(clocks->owner, ULID_SIZE), arena, &failure, &cleared) !=
        OK)
        return; /* tried again in the next turn */
    clocks->renewed_us = now_us;
    pthread_mutex_lock(&clocks->lock);
    if (cleared && clocks->listener.cleared != NULL)
        clocks->listener.cleared(clocks->listener.user);
    pthread_mutex_unlock(&clocks->lock);
}

static void clear_all(struct clocks *clocks, const struct lapsed_list *list) {
    struct step *steps = mem_zalloc(sizeof(*steps) * list->count);
    for (size_t i = 0; i < list->count; i++) {
        struct step *step = &steps[i];
        arena_init(&step->arena);
        if (lapsed_prepare(clocks->game, &list->entries[i], &step->arena, &step->failure,
                           &step->room, &step->change) == OK)
            submit(clocks, step);
    }
    wait_for_steps(clocks);
    for (size_t i = 0; i < list->count; i++) {
        struct failure failure = {0};
        if (steps[i].change.done != NULL && room_saved(&steps[i].change, &failure) == OK &&
            list->entries[i].code.size != 0)
            tell(clocks, list->entries[i].code, NULL);
        room_release(&steps[i].room);
        arena_release(&steps[i].arena);
    }
    mem_free(steps);
}

static void clear_lapsed(struct clocks *clocks, struct arena *arena) {
    struct failure failure = {0};
    struct lapsed_list list;
    int64_t now_us = clock_ticks_us();
    if (now_us - clocks->looked_us < CLEAR_MS * 1000)
        return;
    clocks->looked_us = now_us;
    if (lapsed_find(clocks->game, bytes_of(clocks->owner, ULID_SIZE), CLEARED_MAX, arena, &failure,
                    &list) != OK ||
        list.count == 0)
        return;
    clear_all(clocks, &list);
    if (list.count == CLEARED_MAX)
        clocks->looked_us = 0; /* there may be more: in the next turn, after what is due */
}

/* One turn; returns how long to sleep. */
static int64_t turn(struct clocks *clocks) {
    struct arena arena;
    struct failure failure = {0};
    struct due_list due;
    int64_t sleep_ms = SLEEP_MAX_MS;
    arena_init(&arena);
    int64_t now_ms = clock_now_ms();
    if (room_due(clocks->game, now_ms, STEPS_MAX, &arena, &failure, &due) != OK)
        sleep_ms = FAILED_MS;
    else if (due.count != 0)
        sleep_ms = run_steps(clocks, &due) != 0 ? 0 : SLEEP_MAX_MS;
    else if (due.next_ms != 0 && due.next_ms - now_ms < sleep_ms)
        sleep_ms = due.next_ms - now_ms;
    renew(clocks, &arena);
    clear_lapsed(clocks, &arena);
    arena_release(&arena);
    return sleep_ms;
}

static bool sleep_for(struct clocks *clocks, int64_t sleep_ms) {
    int64_t until_us = clock_ticks_us() + sleep_ms * 1000;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_mutex_lock(&clocks->lock);
    while (!clocks->stopping && !clocks->woken && clock_ticks_us() < until_us)
        pthread_cond_timedwait(&clocks->changed, &clocks->lock, &until);
    clocks->woken = false;
    bool go_on = !clocks->stopping;
    pthread_mutex_unlock(&clocks->lock);
    return go_on;
}

static void *clocks_main(void *argument) {
    struct clocks *clocks = argument;
    engine_gather();
    while (sleep_for(clocks, turn(clocks)))
        ;
    return NULL;
}

struct clocks *clocks_start(struct game *game) {
    struct clocks *clocks = mem_zalloc(sizeof(*clocks));
    pthread_condattr_t attributes;
    clocks->game = game;
    ulid_make(clock_now_ms(), clocks->owner);
    pthread_mutex_init(&clocks->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&clocks->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&clocks->thread, NULL, clocks_main, clocks) == 0)
        return clocks;
    pthread_cond_destroy(&clocks->changed);
    pthread_mutex_destroy(&clocks->lock);
    mem_free(clocks);
    return NULL;
}

void clocks_tell(struct clocks *clocks, const struct clocks_listener *listener) {
    pthread_mutex_lock(&clocks->lock);
    clocks->listener = listener != NULL ? *listener : (struct clocks_listener){0};
    pthread_mutex_unlock(&clocks->lock);
}

struct bytes clocks_owner(const struct clocks *clocks) {
    return bytes_of(clocks->owner, ULID_SIZE);
}

void clocks_hold(struct clocks *clocks, int more) {
    atomic_store(&clocks->has_held, true);
    atomic_fetch_add(&clocks->held, (unsigned)more);
}

void clocks_wake(struct clocks *clocks) {
    pthread_mutex_lock(&clocks->lock);
    clocks->woken = true;
    pthread_cond_signal(&clocks->changed);
    pthread_mutex_unlock(&clocks->lock);
}

/* What is still held (somebody's going could not be written) is cleared when the lease lapses. */
static void leave(struct clocks *clocks) {
    struct failure failure = {0};
    struct arena arena;
    if (!atomic_load(&clocks->has_held))
        return;
    arena_init(&arena);
    server_leave(clocks->game, bytes_of(clocks->owner, ULID_SIZE), &arena, &failure);
    arena_release(&arena);
}

void clocks_stop(struct clocks *clocks) {
    pthread_mutex_lock(&clocks->lock);
    clocks->stopping = true;
    pthread_cond_signal(&clocks->changed);
    pthread_mutex_unlock(&clocks->lock);
    pthread_join(clocks->thread, NULL);
    leave(clocks);
    pthread_cond_destroy(&clocks->changed);
    pthread_mutex_destroy(&clocks->lock);
    mem_free(clocks);
}
