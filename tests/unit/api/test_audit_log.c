/* What operators did, kept in the game's table. */
#include "game/world.h"

#include "api/audit_log.h"
#include "base/clock.h"
#include "base/limits.h"
#include "game/audit_trail.h"

#include <semaphore.h>

static struct request_record record_of(const char *operation, const char *subject) {
    struct request_record record = {
        .at_ms = clock_now_ms(), .us = 1500, .status = 201, .front = METRICS_REST};
    request_record_set(&record, &(struct request_texts){.operation = bytes_str(operation),
                                                        .subject = bytes_str(subject),
                                                        .who = BYTES("boss")});
    return record;
}

static void add(struct audit_log *log, const char *operation, const char *subject) {
    struct request_record record = record_of(operation, subject);
    audit_log_add(log, &record, NULL);
}

static struct audit_log_page list(struct world *world, struct audit_log *log, size_t limit,
                                  struct bytes before) {
    struct audit_log_page page;
    assert_ok(audit_log_list(log, &(struct audit_log_request){before, limit},
                             (struct scope){&world->arena, &world->failure}, &page),
              world->failure);
    return page;
}

static void test_listed_and_kept(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct audit_log *log = audit_log_new(world.game);
    for (int i = 0; i < 25; i++)
        add(log, "createBoard",
            arena_str(&world.arena, arena_printf(&world.arena, "/v1/boards/%d", i)));
    /* At once, whether they are durable yet or not, each once and in order. */
    struct audit_log_page page = list(&world, log, 100, (struct bytes){0});
    assert_int_equal(page.count, 25);
    assert_int_equal(page.next.size, 0);
    for (int i = 0; i < 25; i++)
        assert_bytes_equal(bytes_str(page.records[i].subject),
                           arena_printf(&world.arena, "/v1/boards/%d", 24 - i));
    audit_log_stop(log);
    audit_log_free(log);
    /* By another process, in pages. */
    log = audit_log_new(world.game);
    size_t seen = 0;
    struct bytes before = {0};
    do {
        page = list(&world, log, 4, before);
        for (size_t i = 0; i < page.count; i++)
            assert_bytes_equal(bytes_str(page.records[i].subject),
                               arena_printf(&world.arena, "/v1/boards/%zu", 24 - (seen + i)));
        seen += page.count;
        before = page.next;
    } while (before.size != 0);
    assert_int_equal(seen, 25);
    assert_int_equal(page.records[0].status, 201);
    assert_int_equal(page.records[0].us, 1500);
    assert_int_equal(page.records[0].front, METRICS_REST);
    assert_string_equal(page.records[0].who, "boss");
    assert_string_equal(page.records[0].operation, "createBoard");
    audit_log_stop(log);
    audit_log_free(log);
    world_close(&world);
}

/* Months are partitions: a list goes on into those before, and no further than entries are kept. */
static void test_months(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct audit_log *log = audit_log_new(world.game);
    int64_t day_ms = INT64_C(24) * 60 * 60 * 1000;
    static const int ago[] = {200, 85, 50, 20, 0}; /* days */
    for (size_t i = 0; i < sizeof ago / sizeof ago[0]; i++) {
        struct request_record record =
            record_of("act", arena_str(&world.arena, arena_printf(&world.arena, "%d", ago[i])));
        record.at_ms -= ago[i] * day_ms;
        audit_log_add(log, &record, NULL);
        audit_log_stop(log); /* durable before the next */
        audit_log_free(log);
        log = audit_log_new(world.game);
    }
    for (size_t limit = 1; limit < 6; limit++) {
        struct bytes before = {0};
        struct buf seen = {0};
        do {
            struct audit_log_page page = list(&world, log, limit, before);
            for (size_t i = 0; i < page.count; i++)
                buf_printf(&seen, "%s ", page.records[i].subject);
            before = page.next;
        } while (before.size != 0);
        assert_bytes_equal(buf_bytes(&seen), BYTES("0 20 50 85 "));
        buf_release(&seen);
    }
    audit_log_stop(log);
    audit_log_free(log);
    world_close(&world);
}

/* A flood is cut off; what is left out is in the log only. */
static void test_flood(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct audit_log *log = audit_log_new(world.game);
    for (int i = 0; i < 3 * LIMIT_AUDIT_A_MINUTE; i++)
        add(log, "deleteEntry", "x");
    assert_int_equal(list(&world, log, 2 * LIMIT_AUDIT_A_MINUTE, (struct bytes){0}).count,
                     LIMIT_AUDIT_A_MINUTE);
    audit_log_stop(log);
    audit_log_free(log);
    world_close(&world);
}

/* Who waits for a record is told when it is in the table, not before. */
struct told {
    struct audit_wait wait; /* first */
    sem_t sem;
};

static void note_told(struct audit_wait *wait) {
    sem_post(&((struct told *)wait)->sem);
}

static void test_waits_until_durable(void **state) {
    struct world world;
    struct told told = {.wait = {note_told}};
    struct audit_trail_page page;
    struct request_record record = record_of("createBoard", "/v1/boards");
    (void)state;
    world_open(&world);
    sem_init(&told.sem, 0, 0);
    struct audit_log *log = audit_log_new(world.game);
    struct scope in = {&world.arena, &world.failure};
    for (size_t i = 1; i <= 20; i++) {
        assert_true(audit_log_add(log, &record, &told.wait));
        sem_wait(&told.sem);
        assert_ok(
            audit_trail_list(world.game, &(struct audit_trail_request){.limit = 100}, in, &page),
            world.failure);
        assert_int_equal(page.count, i);
    }
    audit_log_stop(log);
    assert_false(audit_log_add(log, &record, &told.wait)); /* nobody would tell */
    audit_log_free(log);
    sem_destroy(&told.sem);
    world_close(&world);
}

static void test_cursor(void **state) {
    struct world world;
    struct audit_log_page page;
    (void)state;
    world_open(&world);
    struct audit_log *log = audit_log_new(world.game);
    struct scope in = {&world.arena, &world.failure};
    assert_int_equal(
        audit_log_list(log, &(struct audit_log_request){BYTES("nonsense"), 5}, in, &page), INVALID);
    audit_log_stop(log);
    audit_log_free(log);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed_and_kept), cmocka_unit_test(test_months),
        cmocka_unit_test(test_flood),           cmocka_unit_test(test_waits_until_durable),
        cmocka_unit_test(test_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
