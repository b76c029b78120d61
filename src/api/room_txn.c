#include "api/room_txn.h"

#include "api/offload.h"

static void attempt(struct room_txn *txn);

static void run_finished(struct task *task) {
    struct room_txn *txn = (struct room_txn *)((char *)task - offsetof(struct room_txn, task));
    txn->finished(txn);
}

/* Where it was started: on its loop, or, if that was no loop's thread, right here. */
static void finish(struct room_txn *txn) {
    if (loop_current() == txn->loop) {
        txn->finished(txn);
        return;
    }
    txn->task.run = run_finished;
    loop_post(txn->loop, &txn->task);
}

/* The commit is done: finishes, or tries again if somebody else was faster. */
static void saved(struct change_submit *submit) {
    struct room_txn *txn = (struct room_txn *)((char *)submit - offsetof(struct room_txn, submit));
    enum status status = room_save_result(&txn->change, &txn->failure);
    if (status == CONFLICT && txn->tries < ROOM_TXN_TRIES_MAX)
        attempt(txn);
    else
        finish(txn);
}

static enum status load_and_apply(struct room_txn *txn) {
    enum status status = OK;
    if (txn->code.size != 0)
        status =
            room_load(txn->game, txn->code, (struct scope){&txn->arena, &txn->failure}, &txn->room);
    return status == OK ? txn->apply(txn) : status;
}

static void run_attempt(void *argument) {
    attempt(argument);
}

/* Runs the next try on the pool, where it may wait. */
static void offload_attempt(struct room_txn *txn) {
    if (background_run(txn->pool, run_attempt, txn))
        return;
    failure_set(&txn->failure, &txn->arena, BUSY, "%s", OFFLOAD_BUSY);
    finish(txn);
}

static void attempt(struct room_txn *txn) {
    room_release(&txn->room);
    arena_reset(&txn->arena);
    txn->room = (struct room){0};
    txn->failure = (struct failure){0};
    txn->tries++;
    enum status status = load_and_apply(txn);
    if (status == WOULD_BLOCK && txn->pool != NULL && !offload_may_wait()) {
        offload_attempt(txn);
        return;
    }
    if (status != OK) {
        finish(txn);
        return;
    }
    txn->change = (struct change){.arena = &txn->arena};
    txn->submit.back = saved;
    room_save_prepare(&txn->room, &txn->change);
    change_submit(txn->game->engine, &txn->change, &txn->submit);
}

void room_txn_start(struct room_txn *txn) {
    txn->loop = loop_current();
    arena_init(&txn->arena);
    txn->tries = 0;
    if (txn->pool != NULL && offload_needed(txn->game->engine))
        offload_attempt(txn);
    else
        attempt(txn);
}

void room_txn_release(struct room_txn *txn) {
    room_release(&txn->room);
    arena_release(&txn->arena);
}
