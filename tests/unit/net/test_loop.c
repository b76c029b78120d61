#include "test.h"

#include "net/loop.h"

#include <pthread.h>
#include <stdatomic.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_never_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
