/* Counts of several loops added up, reasons that are told once, the text they become, and readers
 * beside the loops. */
#include "test.h"

#include "api/metrics/capacity.h"
#include "api/metrics/exposition.h"
#include "api/metrics/metrics.h"
#include "api/metrics/request_log.h"
#include "base/buf.h"
#include "base/mem.h"

#include <pthread.h>

struct told {
    unsigned count;
    uint64_t busy, other;
};

static void tell(const struct metrics_reason *reason, void *user) {
    struct told *told = user;
    told->count++;
    if (strcmp(reason->reason, "busy") == 0 && reason->front == METRICS_REST)
        told->busy = reason->count;
    if (strcmp(reason->reason, "other") == 0)
        told->other = reason->count;
}

static void test_reasons_are_added_up_by_their_words(void **state) {
    struct metrics *metrics = metrics_new(3);
    struct told told = {0};
    char again[] = "busy"; /* the same word at another address */
    (void)state;
    metrics_refused(metrics, 0, METRICS_REST, "busy");
    metrics_refused(metrics, 2, METRICS_REST, again);
    metrics_refused(metrics, 2, METRICS_REST, again);
    metrics_refused(metrics, 1, METRICS_REDIS, "busy");
    metrics_reasons(metrics, tell, &told);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.busy, 3);
    metrics_free(metrics);
}

static void test_reasons_have_a_bound(void **state) {
    enum { MANY = 1000 };
    static char words[MANY][8];
    struct metrics *metrics = metrics_new(1);
    struct told told = {0};
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(words[i], sizeof words[i], "w%u", i);
        metrics_refused(metrics, 0, METRICS_REST, words[i]);
    }
    metrics_reasons(metrics, tell, &told);
    assert_int_equal(told.count + told.other, MANY + 1);
    metrics_free(metrics);
}

static void test_nothing_was_asked_for(void **state) {
    struct metrics *metrics = metrics_new(2);
    struct metrics_sums sums = {0};
    (void)state;
    assert_false(metrics_sum(metrics, METRICS_DYNAMODB, 1, &sums));
    metrics_sum_front(metrics, METRICS_DYNAMODB, &sums);
    assert_int_equal(sums.requests, 0);
    assert_int_equal(metrics_operation_name(metrics, METRICS_DYNAMODB, 1).size, 0);
    metrics_free(metrics);
}

static void test_labels_are_escaped(void **state) {
    struct buf labels = {0}, text = {0};
    (void)state;
    exposition_label(&labels, "a", BYTES("x\"y\\z\n\x01"));
    exposition_label(&labels, "b", BYTES("plain"));
    exposition_uint(&text, "n", buf_bytes(&labels), 7);
    assert_bytes_equal(buf_bytes(&text), BYTES("n{a=\"x\\\"y\\\\z\\n?\",b=\"plain\"} 7\n"));
    buf_release(&labels);
    buf_release(&text);
}

/* --- loops that count while others read --- */

enum { LOOPS = 3, ROUNDS = 2000 };

struct counted {
    struct metrics *metrics;
    struct capacity *capacity;
    struct request_log log;
    atomic_uint numbers, ended;
};

static void *run_loop(void *user) {
    static const char *const words[] = {"busy", "limit", "forbidden"};
    struct counted *counted = user;
    unsigned loop = atomic_fetch_add(&counted->numbers, 1);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct capacity_use use = {BYTES("game"), 1 + i % 50, 0.5, 1};
        struct request_record record = {.us = i};
        metrics_refused(counted->metrics, loop, METRICS_REST, words[i % 3]);
        capacity_add(counted->capacity, loop, &use);
        request_log_add(&counted->log, &record);
    }
    atomic_fetch_add(&counted->ended, 1);
    return NULL;
}

static void sum_reasons(const struct metrics_reason *reason, void *user) {
    *(uint64_t *)user += reason->count;
}

static void sum_writes(const struct capacity_use *use, void *user) {
    assert_bytes_equal(use->table, BYTES("game"));
    *(double *)user += use->write;
}

/* Reads all there is; returns how many requests the tail had. */
static uint64_t read_all(struct counted *counted, uint64_t *refused, double *writes) {
    struct request_record *records, slow[8];
    uint64_t dropped;
    *refused = 0;
    *writes = 0;
    metrics_reasons(counted->metrics, sum_reasons, refused);
    capacity_each(counted->capacity, sum_writes, writes);
    assert_true(request_log_slow(&counted->log, slow, 8) <= 8);
    size_t count = request_log_take(&counted->log, &records, &dropped);
    mem_free(records);
    return count + dropped;
}

static void test_loops_count_while_others_read(void **state) {
    struct counted counted = {.metrics = metrics_new(LOOPS), .capacity = capacity_new(LOOPS)};
    pthread_t threads[LOOPS];
    uint64_t refused, tail = 0;
    double writes;
    (void)state;
    request_log_init(&counted.log, ROUNDS / 2, 16);
    atomic_store(&counted.log.watchers, 1);
    for (unsigned i = 0; i < LOOPS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_loop, &counted), 0);
    while (atomic_load(&counted.ended) != LOOPS)
        tail += read_all(&counted, &refused, &writes);
    for (unsigned i = 0; i < LOOPS; i++)
        pthread_join(threads[i], NULL);
    tail += read_all(&counted, &refused, &writes);
    assert_int_equal(refused, LOOPS * ROUNDS);
    assert_int_equal((uint64_t)writes, LOOPS * ROUNDS);
    assert_int_equal(tail, LOOPS * ROUNDS);
    request_log_release(&counted.log);
    capacity_free(counted.capacity);
    metrics_free(counted.metrics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons_are_added_up_by_their_words),
        cmocka_unit_test(test_reasons_have_a_bound),
        cmocka_unit_test(test_nothing_was_asked_for),
        cmocka_unit_test(test_labels_are_escaped),
        cmocka_unit_test(test_loops_count_while_others_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
