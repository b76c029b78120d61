/* An engine that has the least there is: what it has not is told, and nothing falls over. */
#include "test.h"

#include "table/backup.h"
#include "table/engine.h"
#include "table/inprocess.h"
#include "table/ranking.h"
#include "table/table_stream.h"

static struct arena arena;
static unsigned submitted, done;

static void take(struct engine *engine, struct change *change) {
    (void)engine;
    submitted++;
    change->failure = (struct failure){0};
    change->done(change);
}

static void count_done(struct change *change) {
    (void)change;
    done++;
}

static const struct change_ops changes = {.submit = take};
static struct engine least = {.changes = &changes};

static int begin(void **state) {
    (void)state;
    arena_init(&arena);
    submitted = done = 0;
    return 0;
}

static int end(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

static void test_parts(void **state) {
    (void)state;
    struct failure failure = {0};
    struct rank_reply ranks;
    struct stream_id id = {BYTES("t"), 1};
    struct stream_info stream;
    struct stream_list streams;
    struct backup_list backups;
    struct table_reader *reader;
    assert_false(engine_can(&least, ENGINE_RANKING));
    assert_int_equal(engine_rank_lookup(&least, &(struct rank_request){0},
                                        (struct scope){&arena, &failure}, &ranks),
                     UNSUPPORTED);
    assert_bytes_equal(failure.text, BYTES("This server's engine has no ranks."));
    assert_int_equal(engine_stream(&least, &id, (struct scope){&arena, &failure}, &stream),
                     UNSUPPORTED);
    assert_int_equal(engine_streams(&least, &(struct stream_list_request){0}, &arena, &streams),
                     UNSUPPORTED);
    assert_int_equal(engine_backup_list(&least, &(struct backup_filter){0},
                                        (struct scope){&arena, &failure}, &backups),
                     UNSUPPORTED);
    assert_int_equal(engine_read_table(&least, &(struct reader_request){0},
                                       (struct scope){&arena, &failure}, &reader),
                     UNSUPPORTED);
    assert_bytes_equal(failure.text, BYTES("This server's engine has no copies of tables."));
}

/* Nobody takes what was read before for what is there now. */
static void test_versions(void **state) {
    (void)state;
    struct value partition = value_string(BYTES("p"));
    uint32_t slot = 0;
    uint64_t first = engine_partition_version(&least, BYTES("t"), &partition);
    uint64_t second = engine_partition_version_slot(&least, BYTES("t"), &partition, &slot);
    assert_true(second > first);
    assert_true(engine_partition_version_at(&least, slot) > second);
}

static enum status never(struct change *change) {
    (void)change;
    fail();
    return OK;
}

static void test_changes(void **state) {
    (void)state;
    struct change plain = {.arena = &arena, .done = count_done};
    struct change prepared = {.arena = &arena, .done = count_done, .prepare = never};
    struct change loading = {.arena = &arena, .done = count_done, .loading = true};
    engine_submit(&least, &plain);
    engine_submit(&least, &prepared);
    engine_submit(&least, &loading);
    assert_int_equal(done, 3);
    assert_int_equal(submitted, 1);
    assert_int_equal(plain.failure.status, OK);
    assert_int_equal(prepared.failure.status, UNSUPPORTED);
    assert_int_equal(loading.failure.status, UNSUPPORTED);
    assert_int_equal(engine_submit_wait(&least, &prepared), UNSUPPORTED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_parts), TEST(test_versions), TEST(test_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
