/* What is large is freed by a thread that nobody waits for. */
#include "engine.h"

/* Keeps the reclaimer busy until it is let go: what is given meanwhile waits. */
struct held {
    sem_t begun, go;
};

static void hold(void *what) {
    struct held *held = what;
    sem_post(&held->begun);
    while (sem_wait(&held->go) != 0)
        ;
}

static void hold_begin(struct held *held, struct reclaimer *reclaimer) {
    sem_init(&held->begun, 0, 0);
    sem_init(&held->go, 0, 0);
    reclaimer_give(reclaimer, hold, held);
    while (sem_wait(&held->begun) != 0)
        ;
}

struct noted {
    pthread_t by;
    int at, *next;
};

static void note(void *what) {
    struct noted *noted = what;
    noted->by = pthread_self();
    noted->at = (*noted->next)++;
}

/* Everything that was given is freed, in order, on another thread, also if it ends meanwhile. */
static void test_all_is_freed(void **state) {
    (void)state;
    enum { COUNT = 100 };
    struct noted noted[COUNT];
    struct held held;
    int next = 0;
    struct reclaimer *reclaimer = reclaimer_new();
    hold_begin(&held, reclaimer);
    for (int i = 0; i < COUNT; i++) {
        noted[i] = (struct noted){.at = -1, .next = &next};
        reclaimer_give(reclaimer, note, &noted[i]);
    }
    assert_int_equal(reclaimer_waiting(reclaimer), COUNT + 1);
    assert_int_equal(noted[0].at, -1);
    sem_post(&held.go);
    reclaimer_free(reclaimer);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(noted[i].at, i);
        assert_false(pthread_equal(noted[i].by, pthread_self()));
    }
}

/* Without one, things are freed at once. */
static void test_none(void **state) {
    (void)state;
    int next = 0;
    struct noted noted = {.at = -1, .next = &next};
    reclaimer_give(NULL, note, &noted);
    assert_int_equal(noted.at, 0);
    assert_true(pthread_equal(noted.by, pthread_self()));
    reclaimer_free(NULL);
}

static void put_some(struct engine *engine, struct arena *arena) {
    for (int i = 0; i < 300; i++) {
        char sk[32], score[32];
        snprintf(sk, sizeof(sk), "sk=S:%d", i);
        snprintf(score, sizeof(score), "score=N:%d", i % 7);
        put_item(engine, arena, "game",
                 item_of(arena, "pk=S:p", sk, "board=S:b", score, "nick=S:n", "ends=N:9999999999",
                         NULL));
    }
}

static void do_change(struct engine *engine, struct change change) {
    engine_do(engine, &change);
    assert_status(&change, OK);
}

/* Dropping an index, turning expiry off and deleting the table are over while nothing of them is
 * freed yet. */
static void test_tables_do_not_wait(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct engine *engine = engine_open_memory();
    struct reclaimer *reclaimer = local_of(engine)->reclaimer;
    struct table_schema schema = game_schema(&arena, "game");
    schema.expiry = BYTES("ends");
    create_table(engine, &arena, &schema);
    put_some(engine, &arena);
    struct held held;
    hold_begin(&held, reclaimer);
    do_change(engine,
              (struct change){.kind = CHANGE_UPDATE_TABLE,
                              .arena = &arena,
                              .table = schema.name,
                              .alteration = &(struct alteration){.drop_index = BYTES("byscore")}});
    assert_int_equal(reclaimer_waiting(reclaimer), 2);
    do_change(engine, (struct change){.kind = CHANGE_EXPIRY,
                                      .arena = &arena,
                                      .table = schema.name,
                                      .expiry = schema.expiry});
    assert_int_equal(reclaimer_waiting(reclaimer), 3);
    check_engine(engine);
    do_change(engine,
              (struct change){.kind = CHANGE_DELETE_TABLE, .arena = &arena, .table = schema.name});
    assert_int_equal(reclaimer_waiting(reclaimer), 4);
    assert_int_equal(atomic_load(&local_of(engine)->index_memory), 0);
    sem_post(&held.go);
    engine_close(engine);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_freed),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_tables_do_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
