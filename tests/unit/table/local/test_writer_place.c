/* Where the writer runs: when it joins who submits, and when it leaves. */
#include "engine.h"

#include "base/thread.h"
#include "table/local/writer_place.h"

#include <pthread.h>
#include <sched.h>

/* Commits of so many changes each, `apart_us` apart, one batch each from this thread. */
static void commit(struct writer_place *place, int commits, unsigned changes, int64_t apart_us,
                   int64_t *now_us) {
    for (int i = 0; i < commits; i++) {
        struct submissions some = {thread_number(), 1, 1};
        writer_place_submitted(place, &some);
        *now_us += apart_us;
        writer_place_committed(place, changes, *now_us);
    }
}

static int processors_of(int thread) {
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(thread, sizeof(set), &set), 0);
    return CPU_COUNT(&set);
}

static void test_small_commits_of_one_thread(void **state) {
    (void)state;
    struct writer_place place;
    int64_t now_us = 1000;
    int all = processors_of(0);
    if (all < 2)
        skip();
    writer_place_init(&place, true, now_us);
    commit(&place, 5000, 20, 200, &now_us);
    assert_true(place.together);
    assert_int_equal(processors_of(0), 1);
    /* Larger commits end it. */
    commit(&place, 200, 200, 200, &now_us);
    assert_false(place.together);
    assert_int_equal(processors_of(0), all);
    /* They were of use; so with small ones it begins again. */
    commit(&place, 5000, 20, 200, &now_us);
    assert_true(place.together);
    /* A pause is no reason, seldom commits are. */
    now_us += 1000 * 1000;
    commit(&place, 1000, 20, 200, &now_us);
    assert_true(place.together);
    commit(&place, 64 * 5, 20, 2000, &now_us);
    assert_false(place.together);
    commit(&place, 5000, 20, 200, &now_us);
    assert_true(place.together);
    /* Nothing happens for long. */
    writer_place_review(&place, now_us += 1000 * 1000);
    assert_true(place.together);
    writer_place_review(&place, now_us += 2000 * 1000);
    assert_false(place.together);
    assert_int_equal(processors_of(0), all);
}

static void test_not_together(void **state) {
    (void)state;
    struct writer_place place;
    int64_t now_us = 1000;
    writer_place_init(&place, true, now_us);
    commit(&place, 5000, 100, 200, &now_us); /* large */
    assert_false(place.together);
    commit(&place, 5000, 20, 2000, &now_us); /* seldom */
    assert_false(place.together);
    for (int i = 0; i < 5000; i++) { /* of two threads in turn */
        struct submissions some = {1 + i % 2, 1, 0};
        writer_place_submitted(&place, &some);
        writer_place_committed(&place, 20, now_us += 200);
    }
    assert_false(place.together);
    writer_place_init(&place, false, now_us); /* many processors */
    commit(&place, 5000, 20, 200, &now_us);
    assert_false(place.together);
}

/* Together they are slower: it ends, and is tried again later. */
static void test_of_no_use(void **state) {
    (void)state;
    struct writer_place place;
    int64_t now_us = 1000, begun_us = 0;
    if (processors_of(0) < 2)
        skip();
    writer_place_init(&place, true, now_us);
    while (!place.together)
        commit(&place, 1, 20, 200, &now_us);
    begun_us = now_us;
    commit(&place, 64 * 66, 20, 300, &now_us);
    assert_false(place.together);
    while (!place.together)
        commit(&place, 1, 20, 200, &now_us);
    assert_true(now_us - begun_us > 10 * 1000 * 1000);
    /* A little slower may be chance. */
    commit(&place, 64 * 300, 20, 210, &now_us);
    assert_true(place.together);
    writer_place_review(&place, now_us += 5000 * 1000);
    assert_false(place.together);
}

/* A submitter that has ended by then: nothing is bound, and others may be. */
static void test_submitter_is_gone(void **state) {
    (void)state;
    struct writer_place place;
    int64_t now_us = 1000;
    int all = processors_of(0);
    writer_place_init(&place, true, now_us);
    for (int i = 0; i < 5000; i++) {
        struct submissions some = {INT32_MAX, 1, 1};
        writer_place_submitted(&place, &some);
        writer_place_committed(&place, 20, now_us += 200);
    }
    assert_false(place.together);
    assert_int_equal(processors_of(0), all);
    if (all < 2)
        skip();
    commit(&place, 5000, 20, 200, &now_us);
    assert_true(place.together);
    writer_place_end(&place);
    assert_false(place.together);
    assert_int_equal(processors_of(0), all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_commits_of_one_thread),
        cmocka_unit_test(test_not_together),
        cmocka_unit_test(test_of_no_use),
        cmocka_unit_test(test_submitter_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
