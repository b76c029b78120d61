/* The pool: bounded, in order, and nothing that it took is lost. */
#include "test.h"

#include "api/background.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { THREADS = 2, WAITING = 3 };

struct piece {
    sem_t *begun, *go;
    atomic_uint *ran;
    unsigned order;
};

static void run_piece(void *argument) {
    struct piece *piece = argument;
    sem_post(piece->begun);
    while (sem_wait(piece->go) != 0)
        ;
    piece->order = atomic_fetch_add(piece->ran, 1);
}

static void wait_for(sem_t *sem) {
    while (sem_wait(sem) != 0)
        ;
}

static void test_bound(void **state) {
    (void)state;
    struct background *pool = background_pool_new(THREADS, WAITING);
    struct piece pieces[THREADS + WAITING + 1];
    sem_t begun, go;
    atomic_uint ran = 0;
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
    for (unsigned i = 0; i < THREADS + WAITING; i++) {
        pieces[i] = (struct piece){&begun, &go, &ran, 0};
        assert_true(background_run(pool, run_piece, &pieces[i]));
        if (i < THREADS)
            wait_for(&begun);
    }
    pieces[THREADS + WAITING] = pieces[0];
    assert_false(background_run(pool, run_piece, &pieces[THREADS + WAITING]));
    sem_post(&go); /* one ends, and one that waited begins: there is room again */
    wait_for(&begun);
    assert_true(background_run(pool, run_piece, &pieces[THREADS + WAITING]));
    for (unsigned i = 0; i < THREADS + WAITING; i++)
        sem_post(&go);
    background_stop(pool);
    assert_int_equal(ran, THREADS + WAITING + 1);
    assert_true(pieces[THREADS + WAITING].order >= WAITING);
    assert_false(background_run(pool, run_piece, &pieces[0]));
    background_free(pool);
    sem_destroy(&begun);
    sem_destroy(&go);
}

/* One thread: in the order of coming; and a stop waits for those that have not begun. */
static void test_order(void **state) {
    (void)state;
    struct background *pool = background_pool_new(1, WAITING);
    struct piece pieces[1 + WAITING];
    sem_t begun, go;
    atomic_uint ran = 0;
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 1 + WAITING);
    for (unsigned i = 0; i < 1 + WAITING; i++) {
        pieces[i] = (struct piece){&begun, &go, &ran, 0};
        assert_true(background_run(pool, run_piece, &pieces[i]));
    }
    background_free(pool);
    for (unsigned i = 0; i < 1 + WAITING; i++)
        assert_int_equal(pieces[i].order, i);
    sem_destroy(&begun);
    sem_destroy(&go);
}

static void test_never_used(void **state) {
    (void)state;
    background_free(background_pool_new(THREADS, WAITING));
    background_free(background_new());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bound), cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_never_used)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
