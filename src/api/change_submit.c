#include "api/change_submit.h"

static void flush_slot(void *slot) {
    engine_batch_flush(slot);
}

void change_submit_attach(struct loops *loops) {
    loops_set_slots(loops, sizeof(struct change_batch), flush_slot);
}

/* On the loop that submitted. */
static void run_back(struct task *task) {
    struct change_submit *submit =
        (struct change_submit *)((char *)task - offsetof(struct change_submit, task));
    submit->back(submit);
}

static void post_back(struct change_submit *submit) {
    submit->task.run = run_back;
    loop_post(submit->loop, &submit->task);
}

/* On the engine's thread, mostly. */
static void change_done(struct change *change) {
    post_back(change->user);
}

void change_submit(struct engine *engine, struct change *change, struct change_submit *submit) {
    submit->loop = loop_current();
    if (submit->loop == NULL) {
        engine_submit_wait(engine, change);
        submit->back(submit);
        return;
    }
    change->done = change_done;
    change->user = submit;
    change->batch = loop_slot(submit->loop);
    engine_submit(engine, change);
}

/* --- several --- */

void change_submit_begin(struct change_submit *submit) {
    submit->loop = loop_current();
    submit->batch = (struct change_batch){0};
    atomic_init(&submit->left, 1); /* for change_submit_end() */
    if (submit->loop == NULL)
        sem_init(&submit->all_done, 0, 0);
}

static void drop_one(struct change_submit *submit) {
    if (atomic_fetch_sub(&submit->left, 1) != 1)
        return;
    if (submit->loop != NULL)
        post_back(submit);
    else
        sem_post(&submit->all_done);
}

static void one_done(struct change *change) {
    drop_one(change->user);
}

void change_submit_add(struct engine *engine, struct change *change, struct change_submit *submit) {
    atomic_fetch_add(&submit->left, 1);
    change->done = one_done;
    change->user = submit;
    change->batch = submit->loop != NULL ? loop_slot(submit->loop) : &submit->batch;
    engine_submit(engine, change);
}

void change_submit_end(struct change_submit *submit) {
    bool waits = submit->loop == NULL;
    if (waits)
        engine_batch_flush(&submit->batch);
    drop_one(submit);
    if (!waits)
        return; /* it may be gone */
    while (sem_wait(&submit->all_done) != 0)
        ;
    sem_destroy(&submit->all_done);
    submit->back(submit);
}
