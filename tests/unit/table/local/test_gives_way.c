/* Large changes: others go before them, few go with one commit, and those of one source stay in
 * order. */
#include "engine.h"

enum { LARGE = 300 * 1000, ALL = 8 }; /* bytes, of which a group takes one */

struct fixture {
    struct engine *engine;
    struct arena arena;
    struct stall stall;
    struct change changes[ALL];
    struct arena arenas[ALL];
    struct change_source order, *source;
    int count, finished, places[ALL]; /* places[i]: as the how-manieth the i-th was done */
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
    f->source = &f->order;
    f->engine = engine_open(&settings);
    struct table_schema schema = game_schema(&f->arena, "game");
    create_table(f->engine, &f->arena, &schema);
    *state = f;
    return 0;
}

static void begin_again(struct fixture *f) {
    for (int i = 0; i < f->count; i++)
        arena_release(&f->arenas[i]);
    f->count = f->finished = 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    assert_int_equal(f->order.behind, 0);
    check_engine(f->engine);
    engine_close(f->engine);
    begin_again(f);
    arena_release(&f->arena);
    sem_destroy(&f->done);
    free(f);
    return 0;
}

static void note_done(struct change *change) {
    const struct one *one = change->user;
    struct fixture *f = one->fixture;
    f->places[one->number] = f->finished++;
    sem_post(&f->done);
}

static struct item item_with_bytes(struct fixture *f, const char *pk, size_t size) {
    struct item item = item_of(&f->arena, pk, "sk=S:1", NULL);
    struct value value =
        value_string(bytes_of(memset(arena_alloc(&f->arena, size), 'x', size), size));
    return item_with(&f->arena, &item, BYTES("v"), &value);
}

static struct action *put_of(struct fixture *f, const char *pk, size_t size) {
    struct action *action = ARENA_NEW(&f->arena, struct action);
    *action = (struct action){
        .kind = ACTION_PUT, .table = BYTES("game"), .item = item_with_bytes(f, pk, size)};
    return action;
}

static enum status prepare_nothing(struct change *change) {
    change->action_count = 0;
    return OK;
}

/* Submits one that is like this. Returns its number. */
static int submit(struct fixture *f, struct change like) {
    int number = f->count++;
    struct one *one = ARENA_NEW(&f->arena, struct one);
    *one = (struct one){f, number};
    arena_init(&f->arenas[number]);
    like.kind = CHANGE_WRITE;
    like.arena = &f->arenas[number];
    like.done = note_done;
    like.user = one;
    f->changes[number] = like;
    engine_submit(f->engine, &f->changes[number]);
    return number;
}

static int put(struct fixture *f, const char *pk, size_t size, struct change like) {
    like.actions = put_of(f, pk, size);
    like.action_count = 1;
    return submit(f, like);
}

static void finish(struct fixture *f) {
    stall_end(&f->stall);
    for (int i = 0; i < f->count; i++)
        while (sem_wait(&f->done) != 0)
            ;
    for (int i = 0; i < f->count; i++)
        assert_status(&f->changes[i], OK);
}

/* The places in which they were done, in the order in which they were submitted. */
static void check_places(const struct fixture *f, const int *expected) {
    for (int i = 0; i < f->count; i++)
        assert_int_equal(f->places[i], expected[i]);
}

static void test_unordered(void **state) {
    struct fixture *f = *state;
    stall_start(&f->stall, f->engine);
    put(f, "pk=S:a", LARGE, (struct change){.unordered = true});
    put(f, "pk=S:b", 10, (struct change){.unordered = true});
    put(f, "pk=S:c", LARGE, (struct change){.unordered = false}); /* keeps its place */
    put(f, "pk=S:d", 10, (struct change){.unordered = false});
    finish(f);
    check_places(f, (int[]){3, 0, 1, 2});
}

/* What follows on a large one of the same source stays behind it, whatever it is. */
static void test_source(void **state) {
    struct fixture *f = *state;
    struct change of = {.sources = &f->source, .source_count = 1};
    stall_start(&f->stall, f->engine);
    put(f, "pk=S:a", 10, of);
    put(f, "pk=S:a", LARGE, of);
    put(f, "pk=S:a", 20, of);
    of.prepare = prepare_nothing;
    submit(f, of);
    of.prepare = NULL;
    put(f, "pk=S:a", 30, of);
    put(f, "pk=S:b", 10, (struct change){.unordered = true});
    finish(f);
    check_places(f, (int[]){0, 2, 3, 4, 5, 1});
}

static void test_few_at_once(void **state) {
    struct fixture *f = *state;
    uint64_t before = atomic_load(&local_of(f->engine)->commits);
    stall_start(&f->stall, f->engine);
    put(f, "pk=S:a", LARGE, (struct change){.unordered = true});
    put(f, "pk=S:b", LARGE, (struct change){.unordered = true});
    put(f, "pk=S:c", LARGE, (struct change){.unordered = true});
    put(f, "pk=S:d", 10, (struct change){.unordered = true});
    finish(f);
    check_places(f, (int[]){1, 2, 3, 0});
    assert_int_equal(atomic_load(&local_of(f->engine)->commits) - before, 3 + 1);
}

/* A change that does not say how much it moves is known by the item that it meets. */
static void test_known_item(void **state) {
    struct fixture *f = *state;
    put_item(f->engine, &f->arena, "game", item_with_bytes(f, "pk=S:a", LARGE));
    struct action delete = {.kind = ACTION_DELETE,
                            .table = BYTES("game"),
                            .item = item_of(&f->arena, "pk=S:a", "sk=S:1", NULL)};
    struct change change = {.unordered = true, .actions = &delete, .action_count = 1};
    stall_start(&f->stall, f->engine);
    submit(f, change);
    put(f, "pk=S:b", 10, (struct change){.unordered = true});
    finish(f);
    check_places(f, (int[]){1, 0});
    begin_again(f);
    stall_start(&f->stall, f->engine); /* it is gone: nothing large is met */
    submit(f, change);
    put(f, "pk=S:b", 10, (struct change){.unordered = true});
    finish(f);
    check_places(f, (int[]){0, 1});
}

static enum status prepare_large(struct change *change) {
    struct fixture *f = ((const struct one *)change->user)->fixture;
    change->actions = put_of(f, "pk=S:p", LARGE);
    change->action_count = 1;
    return OK;
}

/* One with `prepare` says how many bytes it has; or is as those before it were. */
static void test_prepare(void **state) {
    struct fixture *f = *state;
    struct change of = {.sources = &f->source, .source_count = 1, .prepare = prepare_large};
    stall_start(&f->stall, f->engine);
    submit(f, of);
    put(f, "pk=S:b", 10, (struct change){.unordered = true});
    finish(f);
    check_places(f, (int[]){0, 1});
    assert_true(f->order.heavy);
    begin_again(f);
    stall_start(&f->stall, f->engine);
    of.prepare = prepare_nothing;
    submit(f, of);
    put(f, "pk=S:b", 20, (struct change){.unordered = true});
    finish(f);
    check_places(f, (int[]){1, 0});
    assert_false(f->order.heavy);
    begin_again(f);
    stall_start(&f->stall, f->engine);
    of.bytes = LARGE;
    submit(f, of);
    put(f, "pk=S:b", 30, (struct change){.unordered = true});
    finish(f);
    check_places(f, (int[]){1, 0});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unordered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_source, setup, teardown),
        cmocka_unit_test_setup_teardown(test_few_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_known_item, setup, teardown),
        cmocka_unit_test_setup_teardown(test_prepare, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
