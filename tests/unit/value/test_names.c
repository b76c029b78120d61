#include "test.h"

#include "base/limits.h"
#include "value/names.h"

#include <pthread.h>

static struct bytes name_of(char *to, int number) {
    int size = sprintf(to, "name-%d", number);
    return bytes_of(to, (size_t)size);
}

static void gives_codes_in_order(void **state) {
    (void)state;
    struct names *names = names_new();
    assert_int_equal(names_count(names), 0);
    assert_int_equal(names_intern(names, BYTES("PK")), 0);
    assert_int_equal(names_intern(names, BYTES("SK")), 1);
    assert_int_equal(names_intern(names, BYTES("PK")), 0);
    assert_int_equal(names_intern(names, BYTES("")), 2);
    assert_int_equal(names_count(names), 3);
    assert_int_equal(names_find(names, BYTES("SK")), 1);
    assert_int_equal(names_find(names, BYTES("none")), NAMES_FULL);
    assert_int_equal(names_count(names), 3);
    assert_bytes_equal(names_get(names, 1), BYTES("SK"));
    assert_non_null(names_get(names, 2).data);
    assert_null(names_get(names, 3).data);
    assert_null(names_get(names, -1).data);
    assert_null(names_get(names, LIMIT_NAME_CODES).data);
    names_free(names);
    names_free(NULL);
}

/* Whatever followed before, a name gets the code that is its own. */
static void follows_on_names(void **state) {
    (void)state;
    static const char *const items[][4] = {
        {"PK", "SK", "a", "b"}, {"PK", "SK", "a", "b"}, {"PK", "SK", "b", ""},
        {"PK", "a", "SK", "b"}, {"b", "b", "b", "b"},   {"PK", "SK", "a", "b"},
        {"", "SK", "", "SK"},
    };
    struct names *names = names_new();
    char text[NAMES_SIZE_MAX + 1];
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        int code = NAMES_FULL;
        for (size_t j = 0; j < 4; j++) {
            struct bytes name = bytes_str(items[i][j]);
            code = names_intern_after(names, code, name);
            assert_int_equal(code, names_find(names, name));
            assert_bytes_equal(names_get(names, code), name);
        }
        assert_int_equal(names_intern_after(names, code, bytes_of(text, sizeof(text))), NAMES_FULL);
    }
    assert_int_equal(names_count(names), 5);
    names_free(names);
}

static void refuses_long_names(void **state) {
    (void)state;
    struct names *names = names_new();
    char text[NAMES_SIZE_MAX + 1];
    memset(text, 'x', sizeof(text));
    assert_int_equal(names_intern(names, bytes_of(text, NAMES_SIZE_MAX + 1)), NAMES_FULL);
    assert_int_equal(names_find(names, bytes_of(text, NAMES_SIZE_MAX + 1)), NAMES_FULL);
    assert_false(names_restore(names, 0, bytes_of(text, NAMES_SIZE_MAX + 1)));
    assert_int_equal(names_intern(names, bytes_of(text, NAMES_SIZE_MAX)), 0);
    names_free(names);
}

static void is_full_at_its_limit(void **state) {
    (void)state;
    struct names *names = names_new();
    char text[32];
    for (int i = 0; i < LIMIT_NAME_CODES; i++)
        assert_int_equal(names_intern(names, name_of(text, i)), i);
    assert_int_equal(names_intern(names, BYTES("one more")), NAMES_FULL);
    for (int i = 0; i < LIMIT_NAME_CODES; i++) {
        assert_int_equal(names_intern(names, name_of(text, i)), i);
        assert_bytes_equal(names_get(names, i), name_of(text, i));
    }
    names_free(names);
}

static void restores_in_order(void **state) {
    (void)state;
    struct names *names = names_new();
    assert_false(names_restore(names, 1, BYTES("b")));
    assert_true(names_restore(names, 0, BYTES("a")));
    assert_false(names_restore(names, 0, BYTES("b")));
    assert_false(names_restore(names, 1, BYTES("a")));
    assert_true(names_restore(names, 1, BYTES("b")));
    assert_int_equal(names_intern(names, BYTES("b")), 1);
    assert_int_equal(names_count(names), 2);
    names_free(names);
}

/* Threads intern the same names in different orders and look up whatever is there. */
enum { THREADS = 4, SHARED = 1000 };

struct worker {
    struct names *names;
    int step;
    int codes[SHARED];
    bool wrong;
};

static void *work(void *given) {
    struct worker *worker = given;
    char text[32];
    int last = NAMES_FULL;
    for (int i = 0; i < SHARED; i++) {
        int number = i * worker->step % SHARED;
        struct bytes name = name_of(text, number);
        int code = names_intern(worker->names, name);
        worker->codes[number] = code;
        worker->wrong |= !bytes_equal(names_get(worker->names, code), name);
        worker->wrong |= names_find(worker->names, name) != code;
        worker->wrong |= names_intern_after(worker->names, last, name) != code;
        last = code;
        int latest = names_count(worker->names) - 1;
        worker->wrong |= names_get(worker->names, latest).data == NULL;
    }
    return NULL;
}

static void serves_threads(void **state) {
    (void)state;
    static const int steps[THREADS] = {1, 3, 7, 999}; /* none shares a factor with SHARED */
    struct names *names = names_new();
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.names = names, .step = steps[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(workers[i].wrong);
        assert_memory_equal(workers[i].codes, workers[0].codes, sizeof(workers[0].codes));
    }
    assert_int_equal(names_count(names), SHARED);
    names_free(names);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_codes_in_order), cmocka_unit_test(follows_on_names),
        cmocka_unit_test(refuses_long_names),   cmocka_unit_test(is_full_at_its_limit),
        cmocka_unit_test(restores_in_order),    cmocka_unit_test(serves_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
