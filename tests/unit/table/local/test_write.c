/* Single writes, conditions, batches and transactions through the whole engine. */
#include "engine.h"
#include "table/inprocess.h"

#include <pthread.h>
#include <stdatomic.h>

struct fixture {
    struct engine *engine;
    struct arena arena;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    f->engine = engine_open_memory();
    struct table_schema schema = game_schema(&f->arena, "game");
    create_table(f->engine, &f->arena, &schema);
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

static struct action action_of(enum action_kind kind, struct item item) {
    return (struct action){.kind = kind, .table = BYTES("game"), .item = item};
}

static struct item key_of(struct fixture *f, const char *pk) {
    return item_of(&f->arena, pk, "sk=S:0", NULL);
}

static const struct table *the_table(struct fixture *f) {
    return map_get(&local_of(f->engine)->tables, BYTES("game"));
}

static void test_put_get_delete(void **state) {
    struct fixture *f = *state;
    struct item item = item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:7", NULL), got;
    put_item(f->engine, &f->arena, "game", item);
    assert_true(get_item(f->engine, &f->arena, "game", key_of(f, "pk=S:a"), &got));
    assert_true(item_equal(&item, &got));
    assert_int_equal(the_table(f)->item_count, 1);
    assert_int_equal(the_table(f)->size, item_size(&item));
    check_engine(f->engine);

    struct action action = action_of(ACTION_DELETE, key_of(f, "pk=S:a"));
    struct change change = write_of(&f->arena, &action, 1);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_true(action.had_old);
    assert_true(item_equal(&action.old, &item));
    assert_false(get_item(f->engine, &f->arena, "game", key_of(f, "pk=S:a"), &got));
    assert_int_equal(the_table(f)->item_count, 0);

    engine_do(f->engine, &change); /* an absent item is deleted without a fault */
    assert_status(&change, OK);
    assert_false(action.had_old);
}

static void test_replace_moves_entries(void **state) {
    struct fixture *f = *state;
    put_item(f->engine, &f->arena, "game",
             item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:7", NULL));
    assert_int_equal(tree_count(the_table(f)->indexes[0]->tree), 1);
    put_item(f->engine, &f->arena, "game",
             item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:9", "nick=S:x", NULL));
    assert_int_equal(tree_count(the_table(f)->indexes[0]->tree), 1);
    assert_int_equal(tree_count(the_table(f)->indexes[1]->tree), 1);
    check_engine(f->engine);
    put_item(f->engine, &f->arena, "game", item_of(&f->arena, "pk=S:a", "sk=S:0", NULL));
    assert_int_equal(tree_count(the_table(f)->indexes[0]->tree), 0);
    assert_int_equal(the_table(f)->indexes[1]->size, 0);
}

static void test_condition(void **state) {
    struct fixture *f = *state;
    struct item item = item_of(&f->arena, "pk=S:a", "sk=S:0", "score=N:7", NULL), got;
    struct action action = action_of(ACTION_PUT, item);
    action.condition = condition_of(&f->arena, "attribute_not_exists(pk)", NULL);
    struct change change = write_of(&f->arena, &action, 1);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    action.item = item_of(&f->arena, "pk=S:a", "sk=S:0", "score=N:8", NULL);
    engine_do(f->engine, &change);
    assert_status(&change, CONDITION_FAILED);
    assert_text(change.failure.text, "The conditional request failed");
    assert_true(action.had_old);
    assert_true(item_equal(&action.old, &item));
    get_item(f->engine, &f->arena, "game", key_of(f, "pk=S:a"), &got);
    assert_true(item_equal(&got, &item));
}

static void test_update(void **state) {
    struct fixture *f = *state;
    struct item values = item_of(&f->arena, ":n=N:5", NULL), got;
    struct action action = action_of(ACTION_UPDATE, key_of(f, "pk=S:a"));
    action.update = update_of(&f->arena, "ADD score :n", &values);
    struct change change = write_of(&f->arena, &action, 1);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_false(action.had_old);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_true(action.had_old);
    struct item want = item_of(&f->arena, "pk=S:a", "sk=S:0", "score=N:10", NULL);
    assert_true(item_equal(&action.new, &want));
    get_item(f->engine, &f->arena, "game", key_of(f, "pk=S:a"), &got);
    assert_true(item_equal(&got, &want));

    struct action touch = action_of(ACTION_UPDATE, key_of(f, "pk=S:b"));
    change.actions = &touch;
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_true(get_item(f->engine, &f->arena, "game", key_of(f, "pk=S:b"), &got));
    assert_int_equal(got.count, 2);
}

static void test_faults(void **state) {
    struct fixture *f = *state;
    struct action action = action_of(ACTION_PUT, item_of(&f->arena, "pk=S:a", NULL));
    struct change change = write_of(&f->arena, &action, 1);
    engine_do(f->engine, &change);
    assert_status(&change, INVALID);

    action = action_of(ACTION_PUT, key_of(f, "pk=S:a"));
    action.table = BYTES("nowhere");
    engine_do(f->engine, &change);
    assert_status(&change, NO_TABLE);
    assert_text(change.failure.text, "Requested resource not found");

    struct item values = item_of(&f->arena, ":n=S:x", NULL);
    action = action_of(ACTION_UPDATE, key_of(f, "pk=S:a"));
    action.update = update_of(&f->arena, "SET score = :n", &values);
    engine_do(f->engine, &change);
    assert_status(&change, INVALID); /* an index key of the wrong type */
    assert_int_equal(the_table(f)->item_count, 0);
}

static void test_usage(void **state) {
    struct fixture *f = *state;
    struct action action = action_of(ACTION_PUT, item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b",
                                                         "score=N:7", "nick=S:n", NULL));
    struct change change = write_of(&f->arena, &action, 1);
    engine_do(f->engine, &change);
    assert_int_equal((int)action.usage.table, 1);
    assert_int_equal(action.usage.index_count, 2);
    /* Another score: the entry of one index moves, which is a deletion and an insertion. */
    action.item =
        item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:8", "nick=S:n", NULL);
    engine_do(f->engine, &change);
    assert_int_equal(action.usage.index_count, 1);
    assert_text(action.usage.indexes[0].name, "byscore");
    assert_int_equal((int)action.usage.indexes[0].units, 2);
    /* Another attribute: the index that shows it is written once. */
    action.item =
        item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:8", "nick=S:n", "x=S:y", NULL);
    engine_do(f->engine, &change);
    assert_int_equal(action.usage.index_count, 1);
    assert_int_equal((int)action.usage.indexes[0].units, 1);
    action.item =
        item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:8", "nick=S:n", "x=S:z", NULL);
    engine_do(f->engine, &change);
    assert_int_equal(action.usage.index_count, 1);
    assert_text(action.usage.indexes[0].name, "byscore");
    assert_int_equal((int)action.usage.indexes[0].units, 1);
    /* The same again touches nothing but the table. */
    uint64_t commits = atomic_load(&local_of(f->engine)->commits);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_int_equal((int)action.usage.table, 1);
    assert_int_equal(action.usage.index_count, 0);
    assert_int_equal(atomic_load(&local_of(f->engine)->commits), commits);
}

static void test_batch(void **state) {
    struct fixture *f = *state;
    struct action actions[3] = {
        action_of(ACTION_PUT, item_of(&f->arena, "pk=S:a", "sk=S:0", NULL)),
        action_of(ACTION_PUT, item_of(&f->arena, "pk=S:b", "sk=S:0", NULL)),
        action_of(ACTION_DELETE, item_of(&f->arena, "pk=S:c", "sk=S:0", NULL))};
    struct change change = write_of(&f->arena, actions, 3);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_int_equal(the_table(f)->item_count, 2);

    actions[2].item = item_of(&f->arena, "pk=S:c", NULL);
    engine_do(f->engine, &change);
    assert_status(&change, INVALID);
    actions[2].item = actions[1].item;
    engine_do(f->engine, &change);
    assert_status(&change, INVALID);
    assert_text(change.failure.text, "Provided list of item keys contains duplicates");
}

static void test_transaction(void **state) {
    struct fixture *f = *state;
    struct item got;
    put_item(f->engine, &f->arena, "game", item_of(&f->arena, "pk=S:a", "sk=S:0", NULL));
    struct action actions[3] = {action_of(ACTION_PUT, item_of(&f->arena, "pk=S:b", "sk=S:0",
                                                              "board=S:b", "score=N:1", NULL)),
                                action_of(ACTION_CHECK, key_of(f, "pk=S:a")),
                                action_of(ACTION_DELETE, key_of(f, "pk=S:c"))};
    actions[1].condition = condition_of(&f->arena, "attribute_not_exists(pk)", NULL);
    actions[2].condition = condition_of(&f->arena, "attribute_exists(pk)", NULL);
    struct change change = write_of(&f->arena, actions, 3);
    change.all_or_nothing = true;
    engine_do(f->engine, &change);
    assert_status(&change, CANCELLED);
    assert_int_equal(actions[0].failure.status, OK);
    assert_int_equal(actions[1].failure.status, CONDITION_FAILED);
    assert_true(actions[1].had_old);
    assert_int_equal(actions[2].failure.status, CONDITION_FAILED);
    assert_false(get_item(f->engine, &f->arena, "game", key_of(f, "pk=S:b"), &got));
    assert_int_equal(tree_count(the_table(f)->indexes[0]->tree), 0);

    actions[1].condition = condition_of(&f->arena, "attribute_exists(pk)", NULL);
    actions[2].condition = NULL;
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_int_equal(the_table(f)->item_count, 2);

    actions[2].item = key_of(f, "pk=S:b");
    engine_do(f->engine, &change);
    assert_status(&change, INVALID);
    assert_text(change.failure.text,
                "Transaction request cannot include multiple operations on one item");
}

static void test_local_index(void **state) {
    struct fixture *f = *state;
    struct table_schema schema = game_schema(&f->arena, "local");
    schema.indexes[0] =
        (struct index_schema){.name = BYTES("bylevel"),
                              .local = true,
                              .keys = {.parts = {schema.attributes[0], {BYTES("score"), VALUE_N}},
                                       .partition_count = 1,
                                       .sort_count = 1},
                              .projected = PROJECTED_KEYS};
    schema.attributes[2] = schema.attributes[4];
    schema.attribute_count = 4;
    create_table(f->engine, &f->arena, &schema);
    struct action action = {.kind = ACTION_PUT,
                            .table = BYTES("local"),
                            .item = item_of(&f->arena, "pk=S:a", "sk=S:0", "score=N:1", NULL)};
    struct change change = write_of(&f->arena, &action, 1);
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    assert_text(action.collection_key, "pk");
    assert_int_equal(action.usage.index_count, 1);
    assert_true(action.usage.indexes[0].local);
    /* What the index does not show does not touch it. */
    action.item = item_of(&f->arena, "pk=S:a", "sk=S:0", "score=N:1", "x=S:y", NULL);
    engine_do(f->engine, &change);
    assert_int_equal(action.usage.index_count, 0);
}

/* Changes that wait together are one group: later ones see earlier ones. */
static void test_overlay(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 200 };
    struct item values = item_of(&f->arena, ":n=N:1", NULL), got;
    struct update *update =
        update_of(&f->arena, "SET board = if_not_exists(board, sk) ADD score :n", &values);
    struct action actions[COUNT];
    struct change changes[COUNT];
    struct arena arenas[COUNT];
    struct stall stall;
    sem_t done;
    sem_init(&done, 0, 0);
    for (int i = 0; i < COUNT; i++) {
        arena_init(&arenas[i]);
        actions[i] = action_of(ACTION_UPDATE, key_of(f, "pk=S:a"));
        actions[i].update = update;
        changes[i] = write_of(&arenas[i], &actions[i], 1);
        changes[i].done = engine_done;
        changes[i].user = &done;
    }
    stall_start(&stall, f->engine); /* so that they do wait together */
    for (int i = 0; i < COUNT; i++)
        engine_submit(f->engine, &changes[i]);
    stall_end(&stall);
    for (int i = 0; i < COUNT; i++)
        sem_wait(&done);
    for (int i = 0; i < COUNT; i++) {
        assert_status(&changes[i], OK);
        arena_release(&arenas[i]);
    }
    sem_destroy(&done);
    get_item(f->engine, &f->arena, "game", key_of(f, "pk=S:a"), &got);
    int64_t score = 0;
    assert_true(number_to_int(item_get(&got, BYTES("score"))->bytes, &score));
    assert_int_equal(score, COUNT);
    assert_int_equal(tree_count(the_table(f)->indexes[0]->tree), 1);
    assert_true(atomic_load(&local_of(f->engine)->commits) < COUNT / 10);
}

struct submitter {
    struct engine *engine;
    struct change *change;
    sem_t submitted, done;
};

static void post_done(struct change *change) {
    sem_post(&((struct submitter *)change->user)->done);
}

static void *submit_one(void *argument) {
    struct submitter *submitter = argument;
    engine_submit(submitter->engine, submitter->change);
    sem_post(&submitter->submitted);
    return NULL;
}

/* Who submits does not wait for a commit that is being made visible. */
static void test_admits_meanwhile(void **state) {
    struct fixture *f = *state;
    struct local *local = local_of(f->engine);
    struct action action = action_of(ACTION_PUT, item_of(&f->arena, "pk=S:a", "sk=S:0", NULL));
    struct change change = write_of(&f->arena, &action, 1);
    struct submitter submitter = {.engine = f->engine, .change = &change};
    struct timespec until;
    pthread_t thread;
    change.done = post_done;
    change.user = &submitter;
    sem_init(&submitter.submitted, 0, 0);
    sem_init(&submitter.done, 0, 0);
    pthread_rwlock_wrlock(&local->state_lock);
    pthread_create(&thread, NULL, submit_one, &submitter);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    bool submitted = sem_timedwait(&submitter.submitted, &until) == 0;
    pthread_rwlock_unlock(&local->state_lock);
    pthread_join(thread, NULL);
    assert_true(submitted);
    while (sem_wait(&submitter.done) != 0)
        ;
    assert_status(&change, OK);
    sem_destroy(&submitter.submitted);
    sem_destroy(&submitter.done);
}

static void count_done(struct change *change) {
    atomic_fetch_add((atomic_int *)change->user, 1);
}

/* More than may wait: refused at once; the others go through. */
static void test_busy(void **state) {
    struct fixture *f = *state;
    enum { COUNT = LIMIT_WRITES_WAITING + 10 };
    struct stall stall;
    atomic_int done = 0;
    struct change *changes = calloc(COUNT, sizeof(*changes));
    struct action *actions = calloc(COUNT, sizeof(*actions));
    struct item item = item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:1", NULL);
    stall_start(&stall, f->engine);
    for (int i = 0; i < COUNT; i++) {
        actions[i] = action_of(ACTION_PUT, item);
        changes[i] = write_of(&f->arena, &actions[i], 1);
        changes[i].done = count_done;
        changes[i].user = &done;
        engine_submit(f->engine, &changes[i]);
    }
    assert_int_equal(atomic_load(&done), 10);
    assert_status(&changes[COUNT - 1], BUSY);
    stall_end(&stall);
    while (atomic_load(&done) < COUNT)
        usleep(1000);
    assert_status(&changes[0], OK);
    assert_status(&changes[COUNT - 11], OK);
    free(changes);
    free(actions);
}

/* A thread that batches: nothing of its goes before it flushes, save when there is much. */
struct gathering {
    struct fixture *f;
    struct arena arenas[40];
    struct action actions[40];
    struct change changes[40];
    atomic_uint done;
    struct change_batch batch;
};

static void one_done(struct change *change) {
    atomic_fetch_add((atomic_uint *)change->user, 1);
}

static void gather(struct gathering *g, unsigned count) {
    atomic_store(&g->done, 0);
    for (unsigned i = 0; i < count; i++) {
        arena_init(&g->arenas[i]);
        const char *pk = arena_str(&g->arenas[i], arena_printf(&g->arenas[i], "pk=S:%u", i));
        g->actions[i] = action_of(ACTION_PUT, item_of(&g->arenas[i], pk, "sk=S:0", NULL));
        g->changes[i] = write_of(&g->arenas[i], &g->actions[i], 1);
        g->changes[i].done = one_done;
        g->changes[i].user = &g->done;
        g->changes[i].batch = &g->batch;
        engine_submit(g->f->engine, &g->changes[i]);
    }
}

static void release_gathered(struct gathering *g, unsigned count) {
    while (atomic_load(&g->done) < count)
        usleep(1000);
    for (unsigned i = 0; i < count; i++) {
        require(g->changes[i].failure.status == OK);
        arena_release(&g->arenas[i]);
    }
}

static void *gather_and_hand_over(void *argument) {
    struct gathering *g = argument;
    gather(g, 5);
    usleep(20000);
    require(atomic_load(&g->done) == 0);
    engine_batch_flush(&g->batch);
    release_gathered(g, 5);
    gather(g, 40); /* more than are kept: the first 32 go by themselves */
    while (atomic_load(&g->done) < 32)
        usleep(1000);
    usleep(20000);
    require(atomic_load(&g->done) == 32);
    engine_batch_flush(&g->batch);
    release_gathered(g, 40);
    engine_batch_flush(&g->batch); /* there is nothing */
    return NULL;
}

static void test_gathered(void **state) {
    struct gathering *g = test_calloc(1, sizeof(*g));
    pthread_t thread;
    g->f = *state;
    assert_int_equal(pthread_create(&thread, NULL, gather_and_hand_over, g), 0);
    pthread_join(thread, NULL);
    assert_int_equal(the_table(g->f)->item_count, 40);
    test_free(g);
}

/* A table that is deleted and made again between preparing and executing. */
static void test_prepared_for_another(void **state) {
    struct fixture *f = *state;
    struct stall stall;
    sem_t done;
    struct item item = item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:1", NULL), got;
    struct table_schema schema = plain_schema(&f->arena, "game");
    struct action actions[2] = {action_of(ACTION_PUT, item), action_of(ACTION_PUT, item)};
    struct change changes[4] = {
        {.kind = CHANGE_DELETE_TABLE, .arena = &f->arena, .table = BYTES("game")},
        write_of(&f->arena, &actions[0], 1),
        {.kind = CHANGE_CREATE_TABLE, .arena = &f->arena, .schema = &schema},
        write_of(&f->arena, &actions[1], 1)};
    sem_init(&done, 0, 0);
    stall_start(&stall, f->engine);
    for (int i = 0; i < 4; i++) {
        changes[i].done = engine_done;
        changes[i].user = &done;
        engine_submit(f->engine, &changes[i]);
    }
    stall_end(&stall);
    for (int i = 0; i < 4; i++)
        sem_wait(&done);
    assert_status(&changes[0], OK);
    assert_status(&changes[1], NO_TABLE);
    assert_status(&changes[2], OK);
    assert_status(&changes[3], OK);
    assert_true(get_item(f->engine, &f->arena, "game", key_of(f, "pk=S:a"), &got));
    assert_int_equal(the_table(f)->item_count, 1);
    assert_int_equal(the_table(f)->index_count, 0);
    sem_destroy(&done);
}

static void test_memory_full(void **state) {
    struct fixture *f = *state;
    struct local *local = local_of(f->engine);
    struct item item = item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:7", NULL);
    put_item(f->engine, &f->arena, "game", item);
    size_t most = local->settings.index_memory;
    local->settings.index_memory = 1; /* the writer is at rest */
    struct action action = action_of(
        ACTION_PUT, item_of(&f->arena, "pk=S:b", "sk=S:0", "board=S:b", "score=N:7", NULL));
    struct change change = write_of(&f->arena, &action, 1);
    engine_do(f->engine, &change);
    assert_status(&change, MEMORY_FULL);
    action.item = item_of(&f->arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:8", NULL);
    engine_do(f->engine, &change);
    assert_status(&change, OK); /* nothing grows */
    action = action_of(ACTION_DELETE, key_of(f, "pk=S:a"));
    engine_do(f->engine, &change);
    assert_status(&change, OK);
    local->settings.index_memory = most;
}

/* Indexes that take more than their memory come back at a start, and go on being kept; what would
 * make them larger is refused. */
static void test_starts_past_memory(void **state) {
    (void)state;
    char *path = folder_make();
    struct arena arena;
    arena_init(&arena);
    struct local_settings settings = {.store.path = path, .threads = 1};
    struct engine *engine = engine_open(&settings);
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    for (int i = 0; i < 3000; i++) {
        char pk[24];
        snprintf(pk, sizeof(pk), "pk=S:%d", i);
        put_item(engine, &arena, "game",
                 item_of(&arena, pk, "sk=S:0", "board=S:b", "score=N:7", NULL));
    }
    engine_close(engine);
    settings.index_memory = 1000;
    engine = engine_open(&settings);
    struct engine_figures figures;
    engine_figures(engine, &figures);
    assert_int_equal(figures.items, 3000);
    assert_true(figures.index_memory > settings.index_memory);
    struct action action =
        action_of(ACTION_PUT, item_of(&arena, "pk=S:x", "sk=S:0", "board=S:b", "score=N:7", NULL));
    struct change change = write_of(&arena, &action, 1);
    engine_do(engine, &change);
    assert_status(&change, MEMORY_FULL);
    action.item = item_of(&arena, "pk=S:1", "sk=S:0", "board=S:b", "score=N:8", NULL);
    engine_do(engine, &change);
    assert_status(&change, OK);
    engine_close(engine);
    arena_release(&arena);
    folder_remove(path);
}

static void test_survives_restart(void **state) {
    (void)state;
    char *path = folder_make();
    struct arena arena;
    arena_init(&arena);
    struct local_settings settings = {.store.path = path, .threads = 1};
    struct engine *engine = engine_open(&settings);
    struct table_schema schema = game_schema(&arena, "game");
    create_table(engine, &arena, &schema);
    struct item item =
                    item_of(&arena, "pk=S:a", "sk=S:0", "board=S:b", "score=N:7", "odd=S:x", NULL),
                got;
    put_item(engine, &arena, "game", item);
    engine_close(engine);
    engine = engine_open(&settings);
    assert_true(get_item(engine, &arena, "game", item_of(&arena, "pk=S:a", "sk=S:0", NULL), &got));
    assert_true(item_equal(&got, &item));
    check_engine(engine);
    struct engine_figures figures;
    engine_figures(engine, &figures);
    assert_int_equal(figures.items, 1);
    assert_int_equal(figures.index_entries, 1);
    engine_close(engine);
    arena_release(&arena);
    folder_remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_put_get_delete, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replace_moves_entries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_condition, setup, teardown),
        cmocka_unit_test_setup_teardown(test_update, setup, teardown),
        cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_usage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_transaction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_local_index, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overlay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_admits_meanwhile, setup, teardown),
        cmocka_unit_test_setup_teardown(test_busy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_gathered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_prepared_for_another, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_full, setup, teardown),
        cmocka_unit_test(test_starts_past_memory),
        cmocka_unit_test(test_survives_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
