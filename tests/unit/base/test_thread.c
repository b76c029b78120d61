/* Threads and the processors that they run on. */
#include "base/thread.h"

#include "test.h"

#include <sched.h>
#include <stdint.h>
#include <unistd.h>

static int processors_of(int number) {
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(number, sizeof(set), &set), 0);
    return CPU_COUNT(&set);
}

static void *count_processors(void *argument) {
    *(int *)argument = processors_of(0);
    return NULL;
}

static int started_with(void) {
    pthread_t thread;
    int count = 0;
    assert_int_equal(thread_start(&thread, count_processors, &count), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return count;
}

/* Who is started by a thread that is bound is not. */
static void test_bound(void **state) {
    (void)state;
    int all = processors_of(0);
    assert_int_equal(started_with(), all);
    if (all < 2) {
        assert_false(thread_bind(thread_number(), 0));
        skip();
    }
    int here = thread_processor();
    assert_true(here >= 0);
    assert_true(thread_bind(thread_number(), here));
    assert_int_equal(processors_of(0), 1);
    assert_int_equal(thread_processor(), here);
    assert_int_equal(started_with(), all);
    assert_true(thread_bind(thread_number(), -1));
    assert_int_equal(processors_of(0), all);
}

static void *tell_number(void *argument) {
    *(int *)argument = thread_number();
    return NULL;
}

static void test_numbers(void **state) {
    (void)state;
    pthread_t thread;
    int number = 0;
    assert_int_equal(thread_number(), getpid()); /* of the first thread */
    assert_int_equal(thread_start(&thread, tell_number, &number), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(number > 0);
    assert_int_not_equal(number, thread_number());
    assert_false(thread_bind(INT32_MAX, -1)); /* there is none */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
