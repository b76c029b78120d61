#include "api/act.h"

#include <assert.h>

static void try_it(struct act *act);

/* On the loop: how did it go? */
static void run_done(struct task *task) {
    struct act *act = (struct act *)((char *)task - offsetof(struct act, task));
    enum status status = room_saved(&act->change, &act->failure);
    if (status == CONFLICT && act->tries < ACT_TRIES_MAX)
        try_it(act);
    else
        act->finished(act);
}

/* On the engine's thread. */
static void on_done(struct change *change) {
    struct act *act = change->user;
    loop_post(act->loop, &act->task);
}

static enum status work_out(struct act *act) {
    enum status status = OK;
    if (act->code.size != 0)
        status = room_load(act->game, act->code, &act->arena, &act->failure, &act->room);
    return status == OK ? act->apply(act) : status;
}

static void try_it(struct act *act) {
    room_release(&act->room);
    arena_reset(&act->arena);
    act->room = (struct room){0};
    act->failure = (struct failure){0};
    act->tries++;
    if (work_out(act) != OK) {
        act->finished(act);
        return;
    }
    act->change = (struct change){.arena = &act->arena, .done = on_done, .user = act};
    act->task.run = run_done;
    room_save_prepare(&act->room, &act->change);
    engine_submit(act->game->engine, &act->change);
}

void act_start(struct act *act) {
    act->loop = loop_current();
    assert(act->loop != NULL);
    arena_init(&act->arena);
    act->tries = 0;
    try_it(act);
}

void act_release(struct act *act) {
    room_release(&act->room);
    arena_release(&act->arena);
}
