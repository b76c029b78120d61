/* Two engines in one process, used by the same threads: nothing of one is the other's. */
#include "table/inprocess.h"
#include "table/local/engine.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ENGINES = 2, THREADS = 3, WRITES = 200 };

struct world {
    struct engine *engines[ENGINES];
};

/* One write of a thread to one of the engines. */
struct write {
    struct arena arena;
    struct action action;
    struct change change;
};

static int begin(void **state) {
    struct world *world = test_calloc(1, sizeof(*world));
    struct arena arena;
    arena_init(&arena);
    for (unsigned i = 0; i < ENGINES; i++) {
        world->engines[i] = engine_open_memory();
        struct table_schema schema = plain_schema(&arena, "game");
        struct change create = {.kind = CHANGE_CREATE_TABLE, .arena = &arena, .schema = &schema};
        assert_int_equal(engine_do(world->engines[i], &create), OK);
    }
    arena_release(&arena);
    *state = world;
    return 0;
}

static int end(void **state) {
    struct world *world = *state;
    for (unsigned i = 0; i < ENGINES; i++)
        engine_close(world->engines[i]);
    test_free(world);
    return 0;
}

static uint64_t items_of(struct engine *engine) {
    struct engine_figures figures;
    engine_figures(engine, &figures);
    return figures.items;
}

static void count_done(struct change *change) {
    atomic_fetch_add((atomic_uint *)change->user, 1);
}

static void write_to(struct engine *engine, struct write *write, const char *pk) {
    struct arena *arena = &write->arena;
    write->action = (struct action){
        .kind = ACTION_PUT, .table = BYTES("game"), .item = item_of(arena, pk, "sk=S:0", NULL)};
    write->change.kind = CHANGE_WRITE;
    write->change.arena = arena;
    write->change.actions = &write->action;
    write->change.action_count = 1;
    engine_submit(engine, &write->change);
}

static void wait_until(const atomic_uint *count, unsigned want) {
    while (atomic_load(count) < want)
        usleep(1000);
}

/* What waits in the batch of one engine is neither sent with, nor counted by, the other. */
static void test_batches_are_apart(void **state) {
    struct world *world = *state;
    struct change_batch batches[ENGINES] = {0};
    struct write writes[ENGINES] = {0};
    atomic_uint done[ENGINES] = {0};
    for (unsigned i = 0; i < ENGINES; i++) {
        arena_init(&writes[i].arena);
        writes[i].change =
            (struct change){.done = count_done, .user = &done[i], .batch = &batches[i]};
        write_to(world->engines[i], &writes[i], "pk=S:a");
    }
    engine_batch_flush(&batches[1]);
    wait_until(&done[1], 1);
    assert_int_equal(atomic_load(&done[0]), 0);
    assert_int_equal(items_of(world->engines[0]), 0);
    assert_int_equal(items_of(world->engines[1]), 1);
    engine_batch_flush(&batches[0]);
    wait_until(&done[0], 1);
    assert_int_equal(items_of(world->engines[0]), 1);
    for (unsigned i = 0; i < ENGINES; i++)
        arena_release(&writes[i].arena);
}

struct worker {
    struct world *world;
    unsigned number;
    pthread_t thread;
    struct change_batch batch; /* one for both: it is sent whenever the engine changes */
    struct write writes[ENGINES * WRITES];
    atomic_uint done;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    for (unsigned i = 0; i < ENGINES * WRITES; i++) {
        struct write *write = &worker->writes[i];
        struct arena *arena = &write->arena;
        arena_init(arena);
        /* runs of either, of one to four */
        unsigned engine = i / (1 + i % 4) % ENGINES;
        const char *pk = arena_str(arena, arena_printf(arena, "pk=S:%u.%u", worker->number, i));
        write->change =
            (struct change){.done = count_done, .user = &worker->done, .batch = &worker->batch};
        write_to(worker->world->engines[engine], write, pk);
    }
    engine_batch_flush(&worker->batch);
    wait_until(&worker->done, ENGINES * WRITES);
    for (unsigned i = 0; i < ENGINES * WRITES; i++) {
        require(worker->writes[i].change.failure.status == OK);
        arena_release(&worker->writes[i].arena);
    }
    return NULL;
}

static void test_same_threads(void **state) {
    struct world *world = *state;
    struct worker *workers = test_calloc(THREADS, sizeof(*workers));
    uint64_t first = 0;
    for (unsigned i = 0; i < ENGINES * WRITES; i++)
        first += i / (1 + i % 4) % ENGINES == 0;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].world = world;
        workers[i].number = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    assert_int_equal(items_of(world->engines[0]), THREADS * first);
    assert_int_equal(items_of(world->engines[1]), THREADS * (ENGINES * WRITES - first));
    test_free(workers);
}

/* One is closed while the other goes on. */
static void test_one_closes(void **state) {
    struct world *world = *state;
    struct change_batch batch = {0};
    struct write writes[2] = {0};
    atomic_uint done = 0;
    engine_close(world->engines[1]);
    world->engines[1] = engine_open_memory();
    for (unsigned i = 0; i < 2; i++) {
        arena_init(&writes[i].arena);
        writes[i].change = (struct change){.done = count_done, .user = &done, .batch = &batch};
        write_to(world->engines[0], &writes[i], i == 0 ? "pk=S:a" : "pk=S:b");
        engine_batch_flush(&batch);
    }
    wait_until(&done, 2);
    assert_int_equal(items_of(world->engines[0]), 2);
    for (unsigned i = 0; i < 2; i++)
        arena_release(&writes[i].arena);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_batches_are_apart), TEST(test_same_threads),
                                       TEST(test_one_closes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
