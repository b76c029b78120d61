/* Counted partitions: against an array of what is there, while trees are made, sent away and made
 * again; with threads; within their memory. */
#include "table/local/count_index_test.h"

static void test_model(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    uint64_t most = 0;
    for (unsigned round = 0; round < 1500; round++) {
        write_some(&f, 1 + (unsigned)random_below(&f.random, round < 60 ? 100 : 10));
        check_count(&f);
        if (random_below(&f.random, 100) == 0)
            send_away(&f);
        if (figures_of(&f).count_index > most)
            most = figures_of(&f).count_index;
        arena_reset(&f.arena);
    }
    assert_int_equal(most, PARTITIONS);
    check_engine(f.engine);
    teardown(&f);
}

/* The pages of a partition that leave out items are those of an array of its names, with a tree and
 * without. */
static void check_skip(struct fixture *f, unsigned partition, uint64_t skip) {
    struct value *names = ARENA_ARRAY(&f->arena, struct value, NAMES);
    uint64_t count = 0;
    for (int part = 0; part < 2; part++) /* those that begin with \1 come first */
        for (unsigned name = 0; name < NAMES; name++)
            if (f->present[partition][name] && (name % 3 == 0) == (part == 0))
                names[count++] = sort_name(&f->arena, name);
    struct key_condition condition = whole_of(partition);
    struct page_request request = {
        .table = BYTES("game"), .keys = &condition, .skip = skip, .limit = 3};
    struct page_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_page(f->engine, &request, (struct scope){&f->arena, &failure}, &reply),
                     OK);
    uint64_t left = count > skip ? count - skip : 0;
    assert_int_equal(reply.count, left < 3 ? left : 3);
    for (uint64_t i = 0; i < reply.count; i++)
        assert_true(
            bytes_equal(item_get(&reply.items[i], BYTES("sk"))->bytes, names[skip + i].bytes));
    arena_reset(&f->arena);
}

static void test_skip(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, 0, NAMES);
    fill(&f, 1, COUNT_INDEX_FEW / 2);
    for (unsigned round = 0; round < 300; round++) {
        check_skip(&f, (unsigned)random_below(&f.random, PARTITIONS),
                   random_below(&f.random, round % 2 == 0 ? NAMES + 100 : 40));
        if (random_below(&f.random, 50) == 0)
            send_away(&f);
        write_some(&f, 5);
    }
    check_skip(&f, 0, UINT64_MAX);
    struct key_condition condition = whole_of(0);
    struct page_request request = {
        .table = BYTES("game"), .keys = &condition, .skip = 1, .backward = true};
    struct page_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_page(f.engine, &request, (struct scope){&f.arena, &failure}, &reply),
                     INVALID);
    teardown(&f);
}

/* Few are counted one by one: no tree is made for them, nor for a few of many. */
static void test_few(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, 0, COUNT_INDEX_FEW);
    assert_int_equal(count_whole(&f, 0), COUNT_INDEX_FEW);
    assert_int_equal(figures_of(&f).count_index, 0);
    fill(&f, 1, NAMES);
    struct key_condition condition = whole_of(1);
    condition.count = 2;
    condition.tests[1] = (struct key_test){.name = BYTES("sk"),
                                           .op = KEY_LT,
                                           .low = value_string(BYTES("\1"
                                                                     "0030"))};
    assert_int_equal(count_of(f.engine, &f.arena, &condition, false, NULL), 10);
    assert_int_equal(figures_of(&f).count_index, 0);
    assert_int_equal(count_whole(&f, 1), NAMES);
    assert_int_equal(figures_of(&f).count_index, 1);
    assert_true(figures_of(&f).count_index_memory > NAMES * 6);
    teardown(&f);
}

/* Large items, few of them: a megabyte is the end of reading, not of the count. */
static void test_large_items(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct value large = {.type = VALUE_S};
    large.bytes = bytes_of(memset(arena_alloc(&f.arena, 300000), 'x', 300000), 300000);
    for (unsigned name = 0; name < 12; name++) {
        struct item item = key_of(&f.arena, 0, name);
        put_item(f.engine, &f.arena, "game", item_with(&f.arena, &item, BYTES("x"), &large));
    }
    for (unsigned round = 0; round < 2; round++)
        assert_int_equal(count_whole(&f, 0), 12);
    struct key_condition condition = whole_of(0);
    struct page_request request = {
        .table = BYTES("game"), .keys = &condition, .select = SELECT_COUNT, .strict_paging = true};
    struct page_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_page(f.engine, &request, (struct scope){&f.arena, &failure}, &reply),
                     OK);
    assert_int_equal(reply.count, 4); /* as the service pages it */
    assert_true(reply.more);
    teardown(&f);
}

/* Who may not wait is told so, and nothing is made for it. */
static void test_prompt(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, 0, NAMES);
    struct key_condition condition = whole_of(0);
    struct page_request request = {
        .table = BYTES("game"), .keys = &condition, .select = SELECT_COUNT, .nonblocking = true};
    struct page_reply reply;
    struct failure failure = {0};
    assert_int_equal(engine_page(f.engine, &request, (struct scope){&f.arena, &failure}, &reply),
                     WOULD_BLOCK);
    assert_int_equal(reply.count, 0);
    assert_int_equal(figures_of(&f).count_index, 0);
    assert_int_equal(count_whole(&f, 0), NAMES);
    assert_int_equal(engine_page(f.engine, &request, (struct scope){&f.arena, &failure}, &reply),
                     OK);
    assert_int_equal(reply.count, NAMES);
    teardown(&f);
}

/* --- memory --- */

static void test_memory(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct local *local = local_of(f.engine);
    for (unsigned partition = 0; partition < PARTITIONS; partition++)
        fill(&f, partition, NAMES);
    assert_int_equal(count_whole(&f, 0), NAMES);
    size_t one = figures_of(&f).count_index_memory, indexes = figures_of(&f).index_memory;
    local->settings.index_memory = indexes + 2 * one + one / 2; /* room for two */
    assert_int_equal(count_whole(&f, 1), NAMES);
    assert_int_equal(count_whole(&f, 0), NAMES); /* so that 1 is the oldest */
    assert_int_equal(count_whole(&f, 2), NAMES);
    assert_true(has_tree(&f, 0) && !has_tree(&f, 1) && has_tree(&f, 2));
    assert_int_equal(figures_of(&f).count_index, 2);
    assert_true(figures_of(&f).count_index_memory <= 2 * one + one / 2);
    assert_int_equal(count_whole(&f, 1), NAMES);
    assert_true(!has_tree(&f, 0) && has_tree(&f, 1) && has_tree(&f, 2));
    /* None fits: everything is walked, and nothing is tried again at once. */
    local->settings.index_memory = indexes + one / 2;
    for (unsigned round = 0; round < 3; round++)
        assert_int_equal(count_whole(&f, 0), NAMES);
    assert_int_equal(figures_of(&f).count_index, 0);
    assert_int_equal(figures_of(&f).count_index_memory, 0);
    /* An index needs the room: the next commit sends trees away, and is not refused. */
    local->settings.index_memory = indexes + 2 * one;
    local->count_index->again_us = 0;
    memset(local->count_index->refused, 0, sizeof(local->count_index->refused));
    assert_int_equal(count_whole(&f, 0), NAMES);
    assert_true(has_tree(&f, 0));
    local->settings.index_memory = indexes + one;
    for (unsigned i = 0; i < 20; i++)
        put_item(f.engine, &f.arena, "game",
                 item_of(&f.arena, "pk=S:q", arena_printf(&f.arena, "sk=S:%u%c", i, 0).data,
                         "board=S:b", "score=N:1", NULL));
    assert_false(has_tree(&f, 0));
    assert_int_equal(count_whole(&f, 0), NAMES);
    check_engine(f.engine);
    teardown(&f);
}

static void test_forgotten(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    fill(&f, 0, NAMES);
    assert_int_equal(count_whole(&f, 0), NAMES);
    struct change drop = {.kind = CHANGE_DELETE_TABLE, .arena = &f.arena, .table = BYTES("game")};
    engine_do(f.engine, &drop);
    assert_status(&drop, OK);
    assert_int_equal(figures_of(&f).count_index, 0);
    struct table_schema schema = game_schema(&f.arena, "game");
    create_table(f.engine, &f.arena, &schema);
    assert_int_equal(count_whole(&f, 0), 0);
    teardown(&f);
}

/* --- threads --- */

/* Each change takes one item away and puts another: the number in each half of the partition goes
 * up and down, that of the whole never. Trees are sent away meanwhile, so that they are built while
 * writes go on. */
enum { RACE_ITEMS = 1500 };

static void *count_on(void *context) {
    struct race *race = context;
    struct arena arena;
    struct key_condition condition = whole_of(0);
    arena_init(&arena);
    while (!atomic_load(&race->stop)) {
        require(count_of(race->f->engine, &arena, &condition, false, NULL) == RACE_ITEMS);
        atomic_fetch_add(&race->answers, 1);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

static void swap_one(struct fixture *f) {
    struct action actions[2];
    unsigned out, in;
    do
        out = (unsigned)random_below(&f->random, NAMES);
    while (!f->present[0][out]);
    do
        in = (unsigned)random_below(&f->random, NAMES);
    while (f->present[0][in]);
    set_present(f, &actions[0], 0, out, false);
    set_present(f, &actions[1], 0, in, true);
    write_all(f, actions, 2);
    arena_reset(&f->arena);
}

static void test_threads(void **state) {
    (void)state;
    struct fixture f;
    struct race race = {.f = &f};
    pthread_t threads[READERS];
    setup(&f);
    fill(&f, 0, RACE_ITEMS);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_on, &race), 0);
    for (unsigned i = 0; i < RACE_ROUNDS || atomic_load(&race.answers) < RACE_ROUNDS; i++) {
        swap_one(&f);
        if (i % 10 == 0)
            send_away(&f);
        if (i % 50 == 0)
            check_count(&f);
    }
    atomic_store(&race.stop, true);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < 20; i++)
        check_count(&f);
    assert_int_equal(count_whole(&f, 0), model_whole(&f, 0));
    teardown(&f);
}

/* A build that takes as long as it likes: whatever is written between its view and its end is in
 * the tree. */
static void test_slow_build(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct local *local = local_of(f.engine);
    fill(&f, 0, RACE_ITEMS);
    for (unsigned round = 0; round < 20; round++) {
        struct buf prefix = {0};
        struct value name = partition_name(0);
        keys_put_partition(&prefix, table_of(&f), &name);
        struct count_index_target what = {.table = table_of(&f), .prefix = buf_bytes(&prefix)};
        pthread_rwlock_rdlock(&local->state_lock);
        pthread_mutex_lock(&local->count_index->lock);
        struct count_index *count_index = count_index_add(local->count_index, &what);
        pthread_mutex_unlock(&local->count_index->lock);
        struct snapshot *snapshot = snapshot_hold(local);
        pthread_rwlock_unlock(&local->state_lock);
        for (unsigned i = 0; i < 20; i++) {
            write_some(&f, 1 + (unsigned)random_below(&f.random, 30));
            assert_null(count_index_find(local, &what));
        }
        assert_true(count_index_build_items(local, count_index, snapshot));
        assert_non_null(count_index_find(local, &what));
        assert_int_equal(count_whole(&f, 0), model_whole(&f, 0));
        for (unsigned i = 0; i < 20; i++)
            check_count(&f);
        send_away(&f);
        assert_null(count_index_find(local, &what));
        buf_release(&prefix);
        arena_reset(&f.arena);
    }
    teardown(&f);
}

/* A build whose table goes meanwhile comes to nothing. */
static void test_build_of_nothing(void **state) {
    (void)state;
    struct fixture f;
    setup(&f);
    struct local *local = local_of(f.engine);
    fill(&f, 0, RACE_ITEMS);
    struct buf prefix = {0};
    struct value name = partition_name(0);
    struct table *table = table_of(&f);
    keys_put_partition(&prefix, table, &name);
    struct count_index_target what = {.table = table, .prefix = buf_bytes(&prefix)};
    table_ref(table);
    pthread_mutex_lock(&local->count_index->lock);
    struct count_index *count_index = count_index_add(local->count_index, &what);
    pthread_mutex_unlock(&local->count_index->lock);
    pthread_rwlock_rdlock(&local->state_lock);
    struct snapshot *snapshot = snapshot_hold(local);
    pthread_rwlock_unlock(&local->state_lock);
    struct change drop = {.kind = CHANGE_DELETE_TABLE, .arena = &f.arena, .table = BYTES("game")};
    engine_do(f.engine, &drop);
    assert_status(&drop, OK);
    assert_false(count_index_build_items(local, count_index, snapshot));
    assert_true(count_index->gone);
    count_index_delete(local->count_index, count_index);
    assert_int_equal(figures_of(&f).count_index_memory, 0);
    assert_false(count_index_make(local, &what)); /* nor is it tried */
    table_unref(table);
    buf_release(&prefix);
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),      cmocka_unit_test(test_skip),
        cmocka_unit_test(test_few),        cmocka_unit_test(test_large_items),
        cmocka_unit_test(test_prompt),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_forgotten),  cmocka_unit_test(test_threads),
        cmocka_unit_test(test_slow_build), cmocka_unit_test(test_build_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
