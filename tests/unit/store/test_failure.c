/* Processes that are killed, writes that fail, disks that are full: nothing acknowledged is lost.
 */
#include "base/random.h"
#include "store/store_test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* --- kills --- */

/* The child of the test below: writes batches and says so on standard output, until killed. */
static int write_forever(const char *path, uint32_t number) {
    struct arena arena;
    struct failure failure;
    struct store *store;
    arena_init(&arena);
    /* Buffers are handed over all the time, or now and then. */
    struct store_settings settings = {.path = path, .buffer_size = number % 2 == 0 ? 1 : 1000000};
    if (store_open(&settings, (struct scope){&arena, &failure}, &store) != OK)
        return 1;
    struct store_batch *batch = store_batch_new(store);
    for (;; number++) {
        store_batch_clear(batch);
        fill_batch(batch, number);
        if (store_write(store, batch, (struct scope){&arena, &failure}) != OK ||
            write(STDOUT_FILENO, &number, sizeof(number)) != sizeof(number))
            return 1;
    }
}

/* All keys have one number, and it is at least the acknowledged one. */
static uint32_t check_batches(struct store_test *t, struct store *store, uint32_t acknowledged) {
    uint32_t number = 0, each;
    for (int i = 0; i < WIDTH; i++) {
        char key[16];
        struct bytes value;
        snprintf(key, sizeof(key), "key %d", i);
        enum status status = store_get(
            store, &(struct store_key){i % 3 == 0 ? STORE_META : STORE_ITEMS, bytes_str(key)},
            &t->arena, &value);
        if (status == NOT_FOUND)
            each = 0;
        else {
            assert_int_equal(status, OK);
            memcpy(&each, value.data, sizeof(each));
        }
        if (i == 0)
            number = each;
        assert_int_equal(each, number);
    }
    assert_true(number >= acknowledged && number <= acknowledged + 1);
    return number;
}

static pid_t start_writer(const struct store_test *t, uint32_t number, int *from) {
    int ends[2];
    char text[16];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    snprintf(text, sizeof(text), "%u", number);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    char *arguments[] = {(char *)"test_failure", (char *)"write", (char *)t->path, text, NULL};
    pid_t child;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *from = ends[0];
    return child;
}

static void test_kill(void **state) {
    struct store_test *t = *state;
    struct random random;
    random_seed(&random, test_seed());
    uint32_t acknowledged = 0;
    for (int round = 0; round < 8; round++) {
        int from, how;
        pid_t child = start_writer(t, acknowledged + 1, &from);
        /* Sometimes during the very first start, else after some writes. */
        if (round % 4 != 0)
            assert_int_equal(poll(&(struct pollfd){from, POLLIN, 0}, 1, 120000), 1);
        usleep((useconds_t)random_below(&random, 60000));
        kill(child, SIGKILL);
        waitpid(child, &how, 0);
        assert_true(WIFSIGNALED(how));
        for (uint32_t number; read(from, &number, sizeof(number)) == sizeof(number);)
            acknowledged = number;
        close(from);
        struct store *store = open_store(t, NULL);
        acknowledged = check_batches(t, store, acknowledged);
        store_close(store);
    }
    assert_true(acknowledged > 0);
}

/* --- failures --- */

static void try_faults(struct store_test *t, int n, bool sync) {
    struct store_faults faults = {0};
    struct store *store =
        open_store(t, &(struct store_settings){.memory = true, .faults = &faults});
    *(sync ? &faults.sync_in : &faults.write_in) = n;
    char key[16];
    for (int i = 1; i < n; i++) {
        snprintf(key, sizeof(key), "%d", i);
        put_one(t, store, key, "x");
    }
    assert_false(store_is_broken(store));
    assert_int_equal(try_put(t, store, "last", "x"), IO_FAILED);
    assert_true(t->failure.text.size > 0);
    assert_true(store_is_broken(store));
    assert_int_equal(try_put(t, store, "later", "x"), IO_FAILED);
    assert_int_equal(store_sync(store), IO_FAILED);
    assert_value(t, store, STORE_ITEMS, "1", n > 1 ? "x" : NULL);
    assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
    assert_false(store_is_broken(store));
    assert_value(t, store, STORE_ITEMS, "last", sync ? "x" : NULL);
    assert_value(t, store, STORE_ITEMS, "later", NULL);
    for (int i = 1; i < n; i++) {
        snprintf(key, sizeof(key), "%d", i);
        assert_value(t, store, STORE_ITEMS, key, "x");
    }
    put_one(t, store, "new", "x");
    store_close(store);
}

static void test_faults(void **state) {
    for (int n = 1; n < 12; n++) {
        try_faults(*state, n, false);
        try_faults(*state, n, true);
    }
}

static void test_read_faults(void **state) {
    struct store_test *t = *state;
    struct store_faults faults = {0};
    struct store *store =
        open_store(t, &(struct store_settings){.memory = true, .faults = &faults});
    struct bytes out;
    faults.read_in = 2;
    assert_int_equal(store_get(store, &(struct store_key){STORE_META, BYTES("a")}, &t->arena, &out),
                     NOT_FOUND);
    assert_int_equal(store_get(store, &(struct store_key){STORE_META, BYTES("a")}, &t->arena, &out),
                     IO_FAILED);
    assert_int_equal(store_get(store, &(struct store_key){STORE_META, BYTES("a")}, &t->arena, &out),
                     NOT_FOUND);
    faults = (struct store_faults){.write_in = 1, .sticky = true};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(try_put(t, store, "a", "x"), IO_FAILED);
        assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
    }
    faults.sticky = false;
    assert_int_equal(try_put(t, store, "a", "x"), IO_FAILED);
    assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
    put_one(t, store, "a", "x");
    store_close(store);
}

/* The Nth handover fails: what was acknowledged is there, then, and after each way to come back. */
static void try_handover_faults(struct store_test *t, int n, bool memory) {
    struct store_faults faults = {.handover_in = n};
    struct store *store = open_store(
        t, &(struct store_settings){.memory = memory, .faults = &faults, .buffer_size = 1});
    char key[16];
    int count = 0;
    do
        snprintf(key, sizeof(key), "%06d", count);
    while (try_put(t, store, key, "x") == OK && ++count < 10000);
    assert_true(store_is_broken(store) && count >= n);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < count; i++) {
            snprintf(key, sizeof(key), "%06d", i);
            assert_value(t, store, STORE_ITEMS, key, "x");
        }
        snprintf(key, sizeof(key), "%06d", count);
        assert_value(t, store, STORE_ITEMS, key, NULL);
        if (again == 0 && !memory && n % 2 == 0) {
            store_close(store);
            store = open_store(t, NULL);
        } else if (again == 0)
            assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
    }
    put_one(t, store, "new", "x");
    store_close(store);
    run("rm -rf %s", t->path);
}

static void test_handover_faults(void **state) {
    for (int n = 1; n < 5; n++) {
        try_handover_faults(*state, n, false);
        try_handover_faults(*state, n, true);
    }
}

static void limit_files(rlim_t size) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int teardown_limit(void **state) {
    limit_files(RLIM_INFINITY);
    return teardown_store(state);
}

/* Writes 1000-byte values until one fails; returns how many were acknowledged. */
static int write_till_failure(struct store_test *t, struct store *store, int from) {
    char key[16], value[1001];
    memset(value, 'v', 1000);
    value[1000] = '\0';
    for (int i = from; i < from + 10000; i++) {
        snprintf(key, sizeof(key), "%06d", i);
        if (try_put(t, store, key, value) != OK)
            return i;
    }
    fail_msg("nothing failed");
    return 0;
}

static void check_written(struct store_test *t, struct store *store, int count) {
    char key[16];
    struct bytes value;
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "%06d", i);
        assert_int_equal(
            store_get(store, &(struct store_key){STORE_ITEMS, bytes_str(key)}, &t->arena, &value),
            OK);
        assert_int_equal(value.size, 1000);
    }
}

/* A disk that takes no more, by a limit on the size of files: real errors from the system. */
static void test_full_disk(void **state) {
    struct store_test *t = *state;
    signal(SIGXFSZ, SIG_IGN);
    struct store *store = open_store(t, NULL);
    int count = 0;
    for (int round = 0; round < 3; round++) {
        limit_files(400000 + 31111 * (rlim_t)round); /* a commit takes a block of the log */
        count = write_till_failure(t, store, count);
        assert_true(count > 50);
        assert_true(store_is_broken(store));
        check_written(t, store, count);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}),
                             IO_FAILED);
            assert_true(bytes_find(t->failure.text, BYTES("File too large")) != SIZE_MAX);
            check_written(t, store, count);
            assert_int_equal(try_put(t, store, "no", "x"), IO_FAILED);
        }
        limit_files(RLIM_INFINITY);
        assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
        check_written(t, store, count);
        put_one(t, store, "yes", "x");
    }
    limit_files(200000);
    assert_true(write_till_failure(t, store, count) > 0);
    limit_files(RLIM_INFINITY);
    store_close(store);
    store = open_store(t, NULL);
    check_written(t, store, count);
    assert_value(t, store, STORE_ITEMS, "yes", "x");
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_store, teardown_store)

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "write") == 0)
        return write_forever(arguments[2], (uint32_t)strtoul(arguments[3], NULL, 10));
    const struct CMUnitTest tests[] = {
        TEST(test_kill),
        TEST(test_faults),
        TEST(test_read_faults),
        TEST(test_handover_faults),
        cmocka_unit_test_setup_teardown(test_full_disk, setup_store, teardown_limit),
    };
    return cmocka_run_group_tests_name("store failures", tests, NULL, NULL);
}
