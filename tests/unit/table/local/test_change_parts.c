/* Divisible changes of very many bytes: several commits, and one answer. */
#include "engine.h"

enum { SIZE = 300 * 1000, ITEMS = 6 }; /* bytes of each: a part has one */

static const char *const names[ITEMS] = {"pk=S:0", "pk=S:1", "pk=S:2",
                                         "pk=S:3", "pk=S:4", "pk=S:5"};

struct fixture {
    struct engine *engine;
    struct arena arena;
    struct action actions[ITEMS];
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    f->engine = engine_open_memory();
    struct table_schema schema = game_schema(&f->arena, "game");
    create_table(f->engine, &f->arena, &schema);
    struct value value =
        value_string(bytes_of(memset(arena_alloc(&f->arena, SIZE), 'x', SIZE), SIZE));
    for (int i = 0; i < ITEMS; i++) {
        struct item item = item_of(&f->arena, names[i], "sk=S:1", NULL);
        f->actions[i] = (struct action){.kind = ACTION_PUT,
                                        .table = BYTES("game"),
                                        .item = item_with(&f->arena, &item, BYTES("v"), &value)};
    }
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    check_engine(f->engine);
    engine_close(f->engine);
    arena_release(&f->arena);
    free(f);
    return 0;
}

/* Does it; returns how many commits it was. */
static uint64_t do_all(struct fixture *f, struct change *change) {
    uint64_t before = atomic_load(&local_of(f->engine)->commits);
    change->kind = CHANGE_WRITE;
    change->arena = &f->arena;
    change->actions = f->actions;
    change->action_count = ITEMS;
    engine_do(f->engine, change);
    return atomic_load(&local_of(f->engine)->commits) - before;
}

static void check_there(struct fixture *f, int count) {
    for (int i = 0; i < ITEMS; i++) {
        struct item got, key = item_of(&f->arena, names[i], "sk=S:1", NULL);
        assert_int_equal(get_item(f->engine, &f->arena, "game", key, &got), i < count);
    }
}

static void test_parts(void **state) {
    struct fixture *f = *state;
    struct change change = {.divisible = true};
    assert_int_equal(do_all(f, &change), ITEMS);
    assert_status(&change, OK);
    check_there(f, ITEMS);
    assert_true(f->actions[ITEMS - 1].usage.table > 1); /* each action is told what became of it */
}

static void test_one_step(void **state) {
    struct fixture *f = *state;
    struct change change = {.divisible = false};
    assert_int_equal(do_all(f, &change), 1);
    assert_status(&change, OK);
    check_there(f, ITEMS);
}

/* Small ones are not divided. */
static void test_small(void **state) {
    struct fixture *f = *state;
    struct change change = {.divisible = true};
    for (int i = 0; i < ITEMS; i++)
        f->actions[i].item.count--; /* the value is the last attribute */
    assert_int_equal(do_all(f, &change), 1);
    assert_status(&change, OK);
}

/* What is seen to be wrong before it begins changes nothing. */
static void test_wrong(void **state) {
    struct fixture *f = *state;
    struct change change = {.divisible = true};
    f->actions[ITEMS - 1].table = BYTES("none");
    assert_int_equal(do_all(f, &change), 0);
    assert_status(&change, NO_TABLE);
    check_there(f, 0);
}

/* The first fault ends it, and what came before stays. */
static void test_fault(void **state) {
    struct fixture *f = *state;
    struct change change = {.divisible = true};
    f->actions[2].condition = condition_of(&f->arena, "attribute_exists(pk)", NULL);
    assert_int_equal(do_all(f, &change), 2);
    assert_status(&change, CONDITION_FAILED);
    assert_int_equal(f->actions[2].failure.status, CONDITION_FAILED);
    check_there(f, 2);
}

/* The table may go while there are parts to come. */
static void test_table_deleted(void **state) {
    struct fixture *f = *state;
    struct stall stall;
    struct arena arena;
    sem_t done;
    arena_init(&arena);
    sem_init(&done, 0, 0);
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = &f->arena,
                            .divisible = true,
                            .actions = f->actions,
                            .action_count = ITEMS,
                            .done = engine_done,
                            .user = &done};
    struct change drop = {.kind = CHANGE_DELETE_TABLE,
                          .arena = &arena,
                          .table = BYTES("game"),
                          .done = engine_done,
                          .user = &done};
    stall_start(&stall, f->engine);
    engine_submit(f->engine, &change);
    engine_submit(f->engine, &drop);
    stall_end(&stall);
    for (int i = 0; i < 2; i++)
        while (sem_wait(&done) != 0)
            ;
    assert_status(&drop, OK);
    assert_status(&change, NO_TABLE);
    sem_destroy(&done);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_step, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fault, setup, teardown),
        cmocka_unit_test_setup_teardown(test_table_deleted, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
