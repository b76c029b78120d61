/* Changes that yield: others go before them, and few go with one commit. */
#include "engine.h"

#include "table/inprocess.h"
#include "table/local/writer.h"

enum { PART = LIMIT_GROUP_YIELDED / 2, PARTS = 5, ALL = 16 };

struct fixture {
    struct engine *engine;
    struct arena arena;
    struct stall stall;
    struct change changes[ALL];
    struct arena arenas[ALL];
    struct change_batch *batch;      /* of what is submitted; or NULL */
    int count, finished, order[ALL]; /* order[i]: which one was done as the i-th */
    bool joins;                      /* one that does not yield comes when the first is done */
    sem_t done;
};

struct one {
    struct fixture *fixture;
    int number;
};

/* All of it happens on the writer's thread: no group is for the commit thread. */
static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    struct local_settings settings = {
        .store.memory = true, .threads = 1, .commit_thread_from = 1000 * 1000};
    arena_init(&f->arena);
    sem_init(&f->done, 0, 0);
    f->engine = engine_open(&settings);
    struct table_schema schema = game_schema(&f->arena, "game");
    create_table(f->engine, &f->arena, &schema);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    check_engine(f->engine);
    engine_close(f->engine);
    for (int i = 0; i < f->count; i++)
        arena_release(&f->arenas[i]);
    arena_release(&f->arena);
    sem_destroy(&f->done);
    free(f);
    return 0;
}

static int submit(struct fixture *f, size_t count, bool yields);

static void note_done(struct change *change) {
    const struct one *one = change->user;
    struct fixture *f = one->fixture;
    f->order[f->finished++] = one->number;
    if (f->joins && f->finished == 1)
        submit(f, 1, false);
    sem_post(&f->done);
}

static struct action *puts_of(struct fixture *f, size_t count) {
    struct action *actions = ARENA_ARRAY(&f->arena, struct action, count);
    for (size_t i = 0; i < count; i++) {
        char *pk = arena_alloc(&f->arena, 32), *sk = arena_alloc(&f->arena, 32);
        snprintf(pk, 32, "pk=S:%d", f->count);
        snprintf(sk, 32, "sk=S:%zu", i);
        actions[i] = (struct action){
            .kind = ACTION_PUT, .table = BYTES("game"), .item = item_of(&f->arena, pk, sk, NULL)};
    }
    return actions;
}

static enum status prepare_nothing(struct change *change) {
    change->action_count = 0;
    return OK;
}

/* Submits one that puts so many items. Returns its number. */
static int submit(struct fixture *f, size_t count, bool yields) {
    int number = f->count;
    struct one *one = ARENA_NEW(&f->arena, struct one);
    *one = (struct one){f, number};
    arena_init(&f->arenas[number]);
    f->changes[number] = (struct change){.kind = CHANGE_WRITE,
                                         .arena = &f->arenas[number],
                                         .done = note_done,
                                         .user = one,
                                         .yields = yields,
                                         .batch = f->batch,
                                         .actions = count == 0 ? NULL : puts_of(f, count),
                                         .action_count = count,
                                         .prepare = count == 0 ? prepare_nothing : NULL};
    f->count++;
    engine_submit(f->engine, &f->changes[number]);
    return number;
}

static void finish(struct fixture *f) {
    stall_end(&f->stall);
    for (int i = 0; i < f->count; i++)
        while (sem_wait(&f->done) != 0)
            ;
    for (int i = 0; i < f->count; i++)
        assert_status(&f->changes[i], OK);
}

static int place_of(const struct fixture *f, int number) {
    int at = 0;
    while (f->order[at] != number)
        at++;
    return at;
}

/* What comes behind five of them is done with the first, and each of the others by itself. */
static void test_others_go_first(void **state) {
    struct fixture *f = *state;
    uint64_t before = atomic_load(&local_of(f->engine)->commits);
    stall_start(&f->stall, f->engine);
    for (int i = 0; i < PARTS; i++)
        submit(f, PART, true);
    int other = submit(f, 1, false);
    finish(f);
    assert_int_equal(place_of(f, other), 1);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(place_of(f, i), i < 1 ? i : i + 1);
    assert_int_equal(atomic_load(&local_of(f->engine)->commits) - before, PARTS);
}

/* Two go with one commit when nobody else has written for a while. */
static void test_quiet(void **state) {
    struct fixture *f = *state;
    uint64_t before = atomic_load(&local_of(f->engine)->commits);
    stall_start(&f->stall, f->engine);
    local_of(f->engine)->writer->others_us = 0; /* the writer's, which stands still */
    for (int i = 0; i < PARTS; i++)
        submit(f, PART, true);
    finish(f);
    assert_int_equal(atomic_load(&local_of(f->engine)->commits) - before, (PARTS + 1) / 2);
}

/* One that is larger than they may be together goes by itself. */
static void test_large(void **state) {
    struct fixture *f = *state;
    uint64_t before = atomic_load(&local_of(f->engine)->commits);
    stall_start(&f->stall, f->engine);
    submit(f, 2 * LIMIT_GROUP_YIELDED, true);
    submit(f, PART, true);
    finish(f);
    assert_int_equal(atomic_load(&local_of(f->engine)->commits) - before, 2);
}

/* They and what goes alone take turns, so that neither waits for all of the others. The table was
 * made alone: it is their turn. */
static void test_turns(void **state) {
    struct fixture *f = *state;
    enum { EACH = 3 };
    int alone[EACH], parts[EACH];
    stall_start(&f->stall, f->engine);
    for (int i = 0; i < EACH; i++)
        parts[i] = submit(f, LIMIT_GROUP_YIELDED, true);
    for (int i = 0; i < EACH; i++)
        alone[i] = submit(f, 0, false);
    finish(f);
    for (int i = 0; i < EACH; i++) {
        assert_int_equal(place_of(f, parts[i]), 2 * i);
        assert_int_equal(place_of(f, alone[i]), 2 * i + 1);
    }
}

/* Others do not wait for all that yields and was taken already. */
static void test_joins(void **state) {
    struct fixture *f = *state;
    f->joins = true;
    stall_start(&f->stall, f->engine);
    for (int i = 0; i < PARTS; i++)
        submit(f, LIMIT_GROUP_YIELDED, true);
    stall_end(&f->stall);
    for (int i = 0; i < PARTS + 1; i++)
        while (sem_wait(&f->done) != 0)
            ;
    assert_int_equal(place_of(f, PARTS), 2);
}

/* Those of a batch stay together, behind those that came before; what does not yield is sent first
 * where it is submitted in between. */
static void test_batches(void **state) {
    struct fixture *f = *state;
    struct change_batch one = {0}, other = {0};
    stall_start(&f->stall, f->engine);
    f->batch = &one;
    int first = submit(f, PART, true), second = submit(f, PART, true);
    f->batch = &other;
    int third = submit(f, PART, true), fourth = submit(f, PART, true);
    int plain = submit(f, 1, false);
    engine_batch_flush(&other);
    engine_batch_flush(&one);
    finish(f);
    const int order[] = {third, plain, fourth, first, second};
    for (int i = 0; i < 5; i++)
        assert_int_equal(f->order[i], order[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_others_go_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_quiet, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_batches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_joins, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
