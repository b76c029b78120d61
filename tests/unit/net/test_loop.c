#include "test.h"

#include "net/loop.h"

#include "base/clock.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>
#include <uv.h>

enum { THREADS = 4, TASKS = 20000 };

struct job {
    struct task task;
    struct loop *loop;
    unsigned thread, number;
    unsigned *last; /* the number of the thread's task that ran before, plus one */
    atomic_uint *ran;
};

static void run(struct task *task) {
    struct job *job = (struct job *)task;
    assert_ptr_equal(loop_current(), job->loop);
    if (*job->last != job->number)
        fail_msg("task %u ran when %u was due", job->number, *job->last);
    *job->last = job->number + 1;
    atomic_fetch_add(job->ran, 1);
}

static void *post_all(void *argument) {
    struct job *jobs = argument;
    for (unsigned i = 0; i < TASKS; i++)
        loop_post(jobs[i].loop, &jobs[i].task);
    return NULL;
}

/* Every task runs once, on its loop, in the order its thread posted; all before the end. */
static void test_post(void **state) {
    (void)state;
    static struct job jobs[THREADS][TASKS];
    static unsigned last[THREADS][2];
    atomic_uint ran = 0;
    struct loops *loops = loops_new(2);
    assert_int_equal(loops_count(loops), 2);
    assert_null(loop_current());
    loops_start(loops);
    pthread_t threads[THREADS];
    for (unsigned t = 0; t < THREADS; t++) {
        for (unsigned i = 0; i < TASKS; i++)
            jobs[t][i] =
                (struct job){{NULL, run}, loops_get(loops, i % 2), t, i / 2, &last[t][i % 2], &ran};
        pthread_create(&threads[t], NULL, post_all, jobs[t]);
    }
    for (unsigned t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    loops_free(loops);
    assert_int_equal(atomic_load(&ran), THREADS * TASKS);
}

static void run_simple(struct task *task) {
    ((struct job *)task)->number++;
}

static void test_never_started(void **state) {
    (void)state;
    struct job job = {.task.run = run_simple};
    struct loops *loops = loops_new(1);
    loop_post(loops_get(loops, 0), &job.task);
    loops_free(loops);
    assert_int_equal(job.number, 1);
}

/* What is to be done later, and by whom it was asked for. */
struct deferred {
    struct task task, after;
    struct loop *loop;
    unsigned *posted, *ran, seen;
};

static void run_after(struct task *task) {
    struct deferred *deferred =
        (struct deferred *)((char *)task - offsetof(struct deferred, after));
    assert_ptr_equal(loop_current(), deferred->loop);
    deferred->seen = *deferred->posted;
    ++*deferred->ran;
}

static void run_and_defer(struct task *task) {
    struct deferred *deferred = (struct deferred *)task;
    ++*deferred->posted;
    deferred->after.run = run_after;
    loop_after(deferred->loop, &deferred->after);
}

/* It comes after all tasks that were there already, and also when the loop ends. */
static void test_after(void **state) {
    (void)state;
    enum { COUNT = 50 };
    struct deferred deferred[COUNT];
    unsigned posted = 0, ran = 0;
    struct loops *loops = loops_new(1);
    for (unsigned i = 0; i < COUNT; i++) {
        deferred[i] = (struct deferred){
            .task.run = run_and_defer, .loop = loops_get(loops, 0), .posted = &posted, .ran = &ran};
        loop_post(deferred[i].loop, &deferred[i].task);
    }
    assert_int_equal(loop_index(loops_get(loops, 0)), 0);
    loops_start(loops);
    loops_free(loops);
    assert_int_equal(ran, COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(deferred[i].seen, COUNT);
}

struct turns {
    unsigned count;
    bool noted;
};
static atomic_uint ended; /* turns of the loop that noted them */

static void count_turn(void *slot) {
    struct turns *turns = slot;
    turns->count++;
    if (turns->noted)
        atomic_fetch_add(&ended, 1);
}

static void note_turns(struct task *task) {
    struct turns *turns = loop_slot(loop_current());
    ((struct job *)task)->number = turns->count;
    turns->noted = true;
}

/* Each loop has a slot of its own, and a turn ends after each time it did something. */
static void test_slots(void **state) {
    (void)state;
    struct job first = {.task.run = note_turns}, second = first;
    struct loops *loops = loops_new(2);
    assert_null(loop_slot(loops_get(loops, 0)));
    loops_set_slots(loops, sizeof(struct turns), count_turn);
    assert_true(loop_slot(loops_get(loops, 0)) != loop_slot(loops_get(loops, 1)));
    loop_post(loops_get(loops, 1), &first.task);
    loops_start(loops);
    while (atomic_load(&ended) == 0)
        usleep(1000);
    loop_post(loops_get(loops, 1), &second.task);
    loops_free(loops);
    assert_true(second.number > first.number);
}

/* ---- settling ---- */

static int pipe_ends[2];
static atomic_uint read_bytes;
static uv_poll_t pipe_poll;

static void on_readable(uv_poll_t *poll, int status, int events) {
    char in[64];
    (void)poll, (void)status, (void)events;
    ssize_t got = read(pipe_ends[0], in, sizeof(in));
    assert_true(got > 0);
    usleep(100); /* settled is what was read and dealt with */
    atomic_fetch_add(&read_bytes, (unsigned)got);
}

static void run_listen(struct task *task) {
    (void)task;
    uv_poll_init(loop_uv(loop_current()), &pipe_poll, pipe_ends[0]);
    uv_poll_start(&pipe_poll, UV_READABLE, on_readable);
}

static void run_unlisten(struct task *task) {
    (void)task;
    uv_close((uv_handle_t *)&pipe_poll, NULL);
}

static bool settle_now(struct loops *loops) {
    struct loop *both[] = {loops_get(loops, 0), loops_get(loops, 1)};
    int64_t now_us = clock_ticks_us();
    return loops_settle(both, 2, now_us, now_us + 60 * 1000 * 1000);
}

/* What had come is read, whether the loop waits or works. */
static void test_settle(void **state) {
    enum { TIMES = 2000 };
    struct task listen = {.run = run_listen}, unlisten = {.run = run_unlisten};
    struct loops *loops = loops_new(2);
    (void)state;
    assert_int_equal(pipe(pipe_ends), 0);
    loops_start(loops);
    loop_post(loops_get(loops, 1), &listen);
    assert_true(settle_now(loops));
    for (unsigned i = 1; i <= TIMES; i++) {
        assert_int_equal(write(pipe_ends[1], "x", 1), 1);
        assert_true(settle_now(loops));
        assert_int_equal(atomic_load(&read_bytes), i);
    }
    loop_post(loops_get(loops, 1), &unlisten);
    loops_free(loops);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static sem_t held, let_go;

static void run_hold(struct task *task) {
    (void)task;
    sem_post(&held);
    sem_wait(&let_go);
}

/* A loop that is held settles nothing new; what it has settled it has settled. */
static void test_held(void **state) {
    struct task hold = {.run = run_hold};
    struct loops *loops = loops_new(1);
    struct loop *loop = loops_get(loops, 0);
    (void)state;
    sem_init(&held, 0, 0);
    sem_init(&let_go, 0, 0);
    assert_int_equal(loop_settled_us(loop), 0);
    loops_start(loops);
    int64_t before_us = clock_ticks_us();
    assert_true(loops_settle(&loop, 1, before_us, before_us + 60 * 1000 * 1000));
    assert_true(loop_settled_us(loop) >= before_us);
    loop_post(loop, &hold);
    sem_wait(&held);
    assert_true(loops_settle(&loop, 1, before_us, 0));
    int64_t now_us = clock_ticks_us();
    assert_false(loops_settle(&loop, 1, now_us, now_us + 20000));
    assert_true(clock_ticks_us() >= now_us + 20000);
    assert_true(loop_settled_us(loop) < now_us);
    sem_post(&let_go);
    assert_true(loops_settle(&loop, 1, now_us, now_us + 60 * 1000 * 1000));
    assert_true(loop_settled_us(loop) >= now_us);
    loops_free(loops);
    sem_destroy(&held);
    sem_destroy(&let_go);
}

/* ---- looking before it sleeps ---- */

/* A loop that may look does what a loop does, for tasks that come at once and later, and stops. */
static void test_busy_poll(void **state) {
    enum { TIMES = 500 };
    struct job job = {.task.run = run_simple};
    struct loops *loops = loops_new(2);
    (void)state;
    loops_set_busy_poll(loops, 1000, 2);
    loops_start(loops);
    for (unsigned posted = 0; posted < TIMES; posted++) {
        loop_post(loops_get(loops, 1), &job.task);
        assert_true(settle_now(loops));
        if (posted % 10 == 0)
            usleep(2000);
    }
    loops_free(loops);
    assert_int_equal(job.number, TIMES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post),      cmocka_unit_test(test_never_started),
        cmocka_unit_test(test_after),     cmocka_unit_test(test_slots),
        cmocka_unit_test(test_settle),    cmocka_unit_test(test_held),
        cmocka_unit_test(test_busy_poll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
