/* Which partitions are counted is remembered: over a restart, a crash, a strange record and a
 * failed write. */
#include "table/local/count_index_test.h"

static void wait_counted(const struct fixture *f, uint64_t want) {
    for (unsigned i = 0; i < 60000 && figures_of(f).count_index != want; i++)
        usleep(1000);
    assert_int_equal(figures_of(f).count_index, want);
}

/* Until the store knows which partitions are counted. */
static void wait_saved(const struct fixture *f) {
    struct count_index_set *set = local_of(f->engine)->count_index;
    bool unsaved = true;
    pthread_mutex_lock(&set->lock);
    set->save_every_us = 0;
    pthread_mutex_unlock(&set->lock);
    for (unsigned i = 0; i < 60000 && unsaved; i++) {
        usleep(1000);
        pthread_mutex_lock(&set->lock);
        unsaved = set->unsaved;
        pthread_mutex_unlock(&set->lock);
    }
    assert_false(unsaved);
}

static void reopen(struct fixture *f, const struct local_settings *settings) {
    engine_close(f->engine);
    f->engine = engine_open(settings);
}

static void test_restart(void **state) {
    (void)state;
    struct fixture f;
    char *path = folder_make();
    struct local_settings settings = {.store = {.path = path, .sync = STORE_SYNC_NONE},
                                      .threads = 1};
    open_with(&f, &settings);
    random_seed(&f.random, test_seed());
    fill(&f, 0, NAMES);
    fill(&f, 1, NAMES);
    fill(&f, 2, 10);
    assert_int_equal(count_whole(&f, 0), NAMES);
    assert_int_equal(count_whole(&f, 2), 10);
    reopen(&f, &settings);
    wait_counted(&f, 1);
    assert_true(has_tree(&f, 0));
    for (unsigned i = 0; i < 30; i++) {
        write_some(&f, 10);
        check_count(&f);
    }
    /* What was sent away is not made again, whether or not it was written down before. */
    assert_int_equal(count_whole(&f, 1), model_whole(&f, 1));
    wait_saved(&f);
    send_away(&f);
    reopen(&f, &settings);
    assert_int_equal(local_of(f.engine)->count_index->wanted_count, 0);
    assert_int_equal(count_whole(&f, 0), model_whole(&f, 0));
    send_away(&f);
    assert_int_equal(count_whole(&f, 1), model_whole(&f, 1));
    reopen(&f, &settings);
    wait_counted(&f, 1);
    assert_true(has_tree(&f, 1) && !has_tree(&f, 0));
    /* Nor is that of a table that went. */
    struct change drop = {.kind = CHANGE_DELETE_TABLE, .arena = &f.arena, .table = BYTES("game")};
    engine_do(f.engine, &drop);
    assert_status(&drop, OK);
    reopen(&f, &settings);
    assert_int_equal(figures_of(&f).count_index, 0);
    assert_int_equal(local_of(f.engine)->count_index->wanted_count, 0);
    teardown(&f);
    folder_remove(path);
}

/* A copy of the folder as it is at some moment is what a crash leaves. */
static void test_crash(void **state) {
    (void)state;
    struct fixture f;
    char *path = folder_make(), copy[160], command[512];
    struct local_settings settings = {.store = {.path = path, .sync = STORE_SYNC_NONE},
                                      .threads = 1};
    snprintf(copy, sizeof(copy), "%s.copy", path);
    open_with(&f, &settings);
    random_seed(&f.random, test_seed());
    fill(&f, 0, NAMES);
    assert_int_equal(count_whole(&f, 0), NAMES);
    wait_saved(&f);
    write_some(&f, 50);
    snprintf(command, sizeof(command), "cp -r %s %s", path, copy);
    assert_int_equal(system(command), 0);
    engine_close(f.engine);
    settings.store.path = copy;
    f.engine = engine_open(&settings);
    wait_counted(&f, 1);
    for (unsigned i = 0; i < 30; i++) {
        check_count(&f);
        write_some(&f, 5);
    }
    teardown(&f);
    folder_remove(strdup(copy));
    folder_remove(path);
}

/* A record that makes no sense is taken away. */
static void test_strange_record(void **state) {
    (void)state;
    struct fixture f;
    char *path = folder_make();
    struct local_settings settings = {.store = {.path = path, .sync = STORE_SYNC_NONE},
                                      .threads = 1};
    open_with(&f, &settings);
    engine_close(f.engine);
    struct store *store;
    struct failure failure = {0};
    static const struct bytes keys[] = {BYTES("r"), BYTES("r\0\0\0\1"),
                                        BYTES("r\0\0\0\1hashno end"), BYTES("r\0\0\0\x7fhashp\0")};
    assert_int_equal(store_open(&settings.store, (struct scope){&f.arena, &failure}, &store), OK);
    struct store_batch *batch = store_batch_new(store);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        store_put(batch, STORE_META, keys[i], (struct bytes){0});
    assert_int_equal(store_write(store, batch, (struct scope){&f.arena, &failure}), OK);
    store_batch_free(batch);
    store_close(store);
    f.engine = engine_open(&settings);
    assert_int_equal(local_of(f.engine)->count_index->wanted_count, 4);
    while (local_of(f.engine)->count_index->started && figures_of(&f).count_index == 0 &&
           pthread_tryjoin_np(local_of(f.engine)->count_index->thread, NULL) != 0)
        usleep(1000);
    local_of(f.engine)->count_index->started = false;
    reopen(&f, &settings);
    assert_int_equal(local_of(f.engine)->count_index->wanted_count, 0);
    assert_int_equal(count_whole(&f, 0), 0);
    teardown(&f);
    folder_remove(path);
}

/* After a write that failed all is made anew, and counts are right. */
static void test_recovery(void **state) {
    (void)state;
    struct fixture f;
    struct store_faults faults = {0};
    char *path = folder_make();
    struct local_settings settings = {
        .store = {.path = path, .sync = STORE_SYNC_COMMIT, .faults = &faults}, .threads = 1};
    open_with(&f, &settings);
    fill(&f, 0, 1000);
    assert_int_equal(count_whole(&f, 0), 1000);
    for (unsigned round = 0; round < 3; round++) {
        __atomic_store_n(&faults.write_in, 1, __ATOMIC_SEQ_CST);
        struct action action = {
            .kind = ACTION_PUT, .table = BYTES("game"), .item = key_of(&f.arena, 0, 1500)};
        struct change change = write_of(&f.arena, &action, 1);
        assert_int_equal(engine_do(f.engine, &change), IO_FAILED);
        assert_int_equal(count_whole(&f, 0), 1000 + round);
        action.item = key_of(&f.arena, 0, 1000 + round);
        for (unsigned i = 0; i < 3000; i++) {
            change = write_of(&f.arena, &action, 1);
            if (engine_do(f.engine, &change) == OK)
                break;
            usleep(20 * 1000);
        }
        assert_status(&change, OK);
        assert_int_equal(figures_of(&f).count_index, 0);
        assert_int_equal(count_whole(&f, 0), 1001 + round);
        assert_int_equal(figures_of(&f).count_index, 1);
    }
    check_engine(f.engine);
    teardown(&f);
    folder_remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_strange_record),
        cmocka_unit_test(test_recovery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
