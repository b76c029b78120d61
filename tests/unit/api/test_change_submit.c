/* Changes submitted from a loop come back to it, together; from another thread they are waited for,
 * several of them as one batch.
 */
#include "test.h"

#include "api/change_submit.h"
#include "table/engine.h"
#include "table/inprocess.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { SEVERAL = 5 };

/* An engine that notes in which batch each change came and is done with it at once. */
struct noting {
    struct engine engine; /* first */
    struct change_batch *batches[SEVERAL];
    unsigned count, flushes;
};

static void note_submit(struct engine *engine, struct change *change) {
    struct noting *noting = (struct noting *)engine;
    noting->batches[noting->count++] = change->batch;
    if (change->batch != NULL)
        change->batch->engine = engine;
    change->done(change);
}

static void note_flush(struct engine *engine, struct change_batch *batch) {
    struct noting *noting = (struct noting *)engine;
    noting->flushes++;
    batch->engine = NULL;
}

static const struct change_ops noting_changes = {.submit = note_submit};
static const struct inprocess_ops noting_inprocess = {.batch_flush = note_flush};

struct world {
    struct noting noting;
    struct task task;
    struct change changes[SEVERAL];
    struct change_submit submit;
    struct loop *began, *came_back;
    pthread_t thread;
    unsigned backs, backs_before;
    sem_t done;
};

static int begin(void **state) {
    struct world *world = test_calloc(1, sizeof(*world));
    world->noting.engine =
        (struct engine){.changes = &noting_changes, .inprocess = &noting_inprocess};
    sem_init(&world->done, 0, 0);
    *state = world;
    return 0;
}

static int end(void **state) {
    struct world *world = *state;
    sem_destroy(&world->done);
    test_free(world);
    return 0;
}

static void back(struct change_submit *submit) {
    struct world *world = (struct world *)((char *)submit - offsetof(struct world, submit));
    world->came_back = loop_current();
    world->thread = pthread_self();
    world->backs++;
    sem_post(&world->done);
}

static void submit_one(struct task *task) {
    struct world *world = (struct world *)((char *)task - offsetof(struct world, task));
    world->began = loop_current();
    world->submit.back = back;
    change_submit(&world->noting.engine, &world->changes[0], &world->submit);
}

/* Not before change_submit_end(). */
static void require_none_back(const struct world *world) {
    if (world->backs_before != world->backs)
        abort();
}

static void submit_several(struct task *task) {
    struct world *world = (struct world *)((char *)task - offsetof(struct world, task));
    world->began = loop_current();
    world->submit.back = back;
    world->backs_before = world->backs;
    change_submit_begin(&world->submit);
    for (unsigned i = 0; i < SEVERAL; i++)
        change_submit_add(&world->noting.engine, &world->changes[i], &world->submit);
    require_none_back(world);
    change_submit_end(&world->submit);
}

static void run_on_loop(struct world *world, void (*run)(struct task *task)) {
    struct loops *loops = loops_new(1);
    change_submit_attach(loops);
    loops_start(loops);
    world->task.run = run;
    loop_post(loops_get(loops, 0), &world->task);
    while (sem_wait(&world->done) != 0)
        ;
    assert_ptr_equal(world->came_back, loops_get(loops, 0));
    loops_free(loops);
}

static void test_on_a_loop(void **state) {
    struct world *world = *state;
    run_on_loop(world, submit_one);
    assert_int_equal(world->backs, 1);
    assert_ptr_equal(world->came_back, world->began);
    assert_non_null(world->noting.batches[0]);
    assert_int_equal(world->noting.flushes, 1);
}

static void test_several_are_one_batch(void **state) {
    struct world *world = *state;
    run_on_loop(world, submit_several);
    assert_int_equal(world->backs, 1);
    assert_int_equal(world->noting.count, SEVERAL);
    for (unsigned i = 1; i < SEVERAL; i++)
        assert_ptr_equal(world->noting.batches[i], world->noting.batches[0]);
    assert_int_equal(world->noting.flushes, 1);
}

static void test_elsewhere(void **state) {
    struct world *world = *state;
    submit_one(&world->task);
    assert_int_equal(world->backs, 1);
    assert_true(pthread_equal(world->thread, pthread_self()));
    assert_null(world->came_back);
    assert_null(world->noting.batches[0]);
    world->noting.count = 0;
    submit_several(&world->task);
    assert_int_equal(world->backs, 2);
    assert_int_equal(world->noting.count, SEVERAL);
    for (unsigned i = 0; i < SEVERAL; i++)
        assert_ptr_equal(world->noting.batches[i], &world->submit.batch);
    assert_int_equal(world->noting.flushes, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_on_a_loop), TEST(test_several_are_one_batch),
                                       TEST(test_elsewhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
