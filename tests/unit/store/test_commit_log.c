/* The commit log against an array of what was appended: reopened, torn, damaged, reused, with
 * operations that fail. */
#include "store/log_test.h"

#include <pthread.h>
#include <stdatomic.h>

static bool failure_names(struct log_model *m, uint64_t segment) {
    char name[32];
    snprintf(name, sizeof(name), "log/%012llu", (unsigned long long)segment);
    return bytes_find(m->t->failure.text, bytes_str(name)) != SIZE_MAX;
}

static void append_many(struct log_model *m, int count, uint32_t size) {
    for (int i = 0; i < count; i++)
        assert_int_equal(model_append(m, size), OK);
}

/* Files whose names end so; "": all. */
static unsigned count_files(const struct log_model *m, const char *suffix) {
    unsigned count = 0;
    size_t size = strlen(suffix);
    DIR *dir = opendir(m->path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        size_t name = strlen(entry->d_name);
        count += entry->d_name[0] != '.' && name >= size &&
                 strcmp(entry->d_name + name - size, suffix) == 0;
    }
    closedir(dir);
    return count;
}

/* --- plain use --- */

static void test_append(void **state) {
    struct log_model *m = model_new(state);
    struct bytes got;
    model_open(m);
    append_many(m, 1, 0);
    append_many(m, 100, 3000);
    append_many(m, 1, 3 * SEGMENT); /* a segment of its own */
    append_many(m, 100, 1);
    for (uint32_t number = 2; number < m->end; number++) {
        uint32_t size = m->sizes[number], from = size / 4;
        struct log_place place = model_place(m, number, from, size - from);
        assert_int_equal(commit_log_read(m->log, &place, &m->t->arena, &got), OK);
        assert_bytes_equal(got, bytes_skip(model_payload(m, number), from));
    }
    assert_true(m->groups[m->end - 1].segment > 5);
    model_close(m);
    model_open(m);
    append_many(m, 5, 100);
    model_crash(m);
    model_open(m);
    m->from = 50; /* only from there on */
    model_close(m);
    model_open(m);
    model_free(m);
}

static void test_needs_replay(void **state) {
    struct log_model *m = model_new(state);
    assert_int_equal(commit_log_open(&m->settings, model_scope(m), &m->log), OK);
    assert_int_equal(model_append(m, 10), IO_FAILED);
    model_close(m);
    m->settings.must_exist = true;
    assert_int_equal(model_try_open(m), DAMAGED);
    m->settings.must_exist = false;
    model_open(m);
    append_many(m, 1, 10);
    model_close(m);
    m->settings.read_only = true;
    model_open(m);
    assert_int_equal(model_append(m, 10), IO_FAILED);
    model_free(m);
}

/* A store that has groups which the log has lost goes on with the next number. */
static void test_behind_the_store(void **state) {
    struct log_model *m = model_new(state);
    model_open(m);
    append_many(m, 3, 10);
    model_close(m);
    m->end = m->from = 10;
    for (int i = 0; i < 2; i++) {
        model_open(m);
        append_many(m, 2, 10);
        model_close(m);
    }
    model_free(m);
}

/* Segments that nobody needs become new ones, and what is left in them is never taken for new. */
static void test_reuse(void **state) {
    struct log_model *m = model_new(state);
    model_open(m);
    for (int i = 0; i < 60; i++) {
        append_many(m, 20, 3000);
        m->from = m->end - 5;
        commit_log_release(m->log, m->from, UINT64_MAX);
        if (i % 10 == 9) {
            model_crash(m);
            model_open(m);
        }
    }
    assert_true(m->groups[m->end - 1].segment > 60);
    commit_log_release(m->log, m->from, UINT64_MAX);
    while (count_files(m, "") > 6) /* the helper is at it */
        usleep(100);
    model_close(m);
    model_open(m);
    model_free(m);
}

/* Released by recovery and by readers, both: then reading says that it is gone. */
static void test_release(void **state) {
    struct log_model *m = model_new(state);
    struct bytes got;
    model_open(m);
    append_many(m, 100, 3000);
    struct log_place first = model_place(m, 1, 0, 100), last = model_place(m, 99, 0, 100);
    commit_log_release(m->log, m->end, 0);
    commit_log_release(m->log, 0, 1);
    assert_int_equal(commit_log_read(m->log, &first, &m->t->arena, &got), OK);
    commit_log_release(m->log, 0, m->groups[99].segment);
    enum status status;
    while ((status = commit_log_read(m->log, &first, &m->t->arena, &got)) == OK)
        usleep(100);
    assert_int_equal(status, NOT_FOUND);
    assert_int_equal(commit_log_read(m->log, &last, &m->t->arena, &got), OK);
    m->from = m->end;
    model_close(m);
    model_open(m);
    m->from = 2; /* which is gone */
    model_close(m);
    assert_int_equal(model_try_open(m), DAMAGED);
    model_free(m);
}

static void test_later(void **state) {
    struct log_model *m = model_new(state);
    static const uint8_t zeros[LOG_BLOCK];
    m->settings.sync = COMMIT_LOG_LATER;
    model_open(m);
    append_many(m, 3, 100);
    assert_int_equal(commit_log_sync(m->log), OK);
    append_many(m, 3, 100);
    model_crash(m);
    /* The fifth did not reach the disk, the sixth did. */
    struct bytes none = bytes_of(zeros, sizeof(zeros));
    model_change(m, m->groups[5].segment, m->groups[5].offset - LOG_HEAD_SIZE, none);
    m->end = 5;
    model_open(m);
    append_many(m, 1, 200); /* another fifth */
    model_crash(m);
    model_open(m);
    append_many(m, 1, 200);
    model_close(m);
    /* The third was synced. */
    model_change(m, m->groups[3].segment, m->groups[3].offset - LOG_HEAD_SIZE, none);
    assert_int_equal(model_try_open(m), DAMAGED);
    assert_true(failure_names(m, m->groups[3].segment));
    model_free(m);
}

/* --- damage --- */

static void test_lost_files(void **state) {
    struct log_model *m = model_new(state);
    char path[192], away[192];
    model_open(m);
    append_many(m, 100, 3000);
    model_close(m);
    uint64_t last = m->groups[m->end - 1].segment;
    snprintf(away, sizeof(away), "%s/away", m->t->root);
    for (uint64_t segment = 1; segment <= last; segment++) {
        model_file(m, segment, path);
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(model_try_open(m), DAMAGED);
        assert_int_equal(segment == 1, !failure_names(m, segment));
        run("head -c 40000 %s > %s", away, path);
        assert_int_equal(model_try_open(m), DAMAGED);
        assert_true(failure_names(m, segment));
        assert_int_equal(rename(away, path), 0);
        for (uint64_t at = 0; at < 56; at += 5) {
            model_change(m, segment, at, BYTES("\x10"));
            assert_int_equal(model_try_open(m), DAMAGED);
            assert_true(failure_names(m, segment));
            model_change(m, segment, at, BYTES("\x10"));
        }
    }
    model_open(m);
    model_free(m);
}

/* A byte that changes anywhere in a group that is needed is told, unless the group is the last one
 * and the log was not closed: then it counts as torn. */
static void change_byte(struct log_model *m, struct random *random, bool closed) {
    uint64_t number = m->from + random_below(random, m->end - m->from);
    uint64_t at = m->groups[number].offset - LOG_HEAD_SIZE +
                  random_below(random, LOG_HEAD_SIZE + m->sizes[number]);
    uint8_t with = (uint8_t)(1 + random_below(random, 255));
    model_change(m, m->groups[number].segment, at, bytes_of(&with, 1));
    enum status status = model_try_open(m);
    if (number + 1 == m->end && !closed && status == OK) {
        assert_int_equal(m->expected, number);
    } else {
        assert_int_equal(status, DAMAGED);
        assert_true(failure_names(m, m->groups[number].segment));
    }
    model_close(m);
    model_change(m, m->groups[number].segment, at, bytes_of(&with, 1));
}

/* What a recovery does not need may be damaged: then only those who read it are told. */
static void test_damage_before(void **state) {
    struct log_model *m = model_new(state);
    struct bytes got;
    model_open(m);
    append_many(m, 12, 100); /* all in one segment */
    for (int i = 0; i < 2; i++) {
        i == 0 ? model_crash(m) : model_close(m);
        m->from = 8;
        for (uint64_t number = 1; number < 12; number += 2) {
            model_change(m, 1, m->groups[number].offset - LOG_HEAD_SIZE + 20, BYTES("\x01"));
            if (number < m->from) {
                model_open(m);
                model_close(m);
            } else {
                assert_int_equal(model_try_open(m), DAMAGED);
            }
            model_change(m, 1, m->groups[number].offset - LOG_HEAD_SIZE + 20, BYTES("\x01"));
        }
        model_open(m);
    }
    model_change(m, 1, m->groups[7].offset, BYTES("\x01"));
    struct log_place place = model_place(m, 7, 0, 50);
    assert_int_equal(commit_log_read(m->log, &place, &m->t->arena, &got), DAMAGED);
    model_free(m);
}

/* What a write that was cut off may leave where the log ends. */
static void tear(struct log_model *m, struct random *random) {
    uint64_t last = m->end - 1, segment = m->groups[last].segment;
    uint64_t at = m->groups[last].offset - LOG_HEAD_SIZE + log_padded(m->sizes[last], LOG_BLOCK);
    uint8_t noise[2 * LOG_BLOCK];
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)random_next(random);
    if (at + LOG_BLOCK <= SEGMENT) {
        size_t size = at + sizeof(noise) <= SEGMENT ? sizeof(noise) : LOG_BLOCK;
        model_change(m, segment, at, bytes_of(noise, size / 512 * (1 + random_below(random, 512))));
    }
}

static uint32_t random_size(struct random *random) {
    static const uint32_t most[] = {10, 300, 5000, PAYLOAD_MAX};
    return (uint32_t)random_below(random, most[random_below(random, 4)]);
}

static void read_some(struct log_model *m, struct random *random) {
    uint64_t number = m->from + random_below(random, m->end - m->from);
    uint32_t size = m->sizes[number];
    uint32_t from = size == 0 ? 0 : (uint32_t)random_below(random, size);
    struct log_place place = model_place(m, number, from, size - from);
    struct bytes got;
    assert_int_equal(commit_log_read(m->log, &place, &m->t->arena, &got), OK);
    assert_bytes_equal(got, bytes_skip(model_payload(m, number), from));
    place.crc++;
    assert_int_equal(commit_log_read(m->log, &place, &m->t->arena, &got), DAMAGED);
    place.salt++; /* a segment of another log */
    assert_int_equal(commit_log_read(m->log, &place, &m->t->arena, &got), NOT_FOUND);
    arena_reset(&m->t->arena);
}

static void test_model(void **state) {
    struct log_model *m = model_new(state);
    struct random random;
    random_seed(&random, test_seed());
    model_open(m);
    for (int i = 0; i < 40; i++) {
        int count = 1 + (int)random_below(&random, 12);
        for (int j = 0; j < count; j++)
            assert_int_equal(model_append(m, random_size(&random)), OK);
        read_some(m, &random);
        bool closed = random_below(&random, 2) == 0;
        closed ? model_close(m) : model_crash(m);
        if (random_below(&random, 2) == 0)
            change_byte(m, &random, closed);
        else if (!closed)
            tear(m, &random);
        model_open(m);
        if (random_below(&random, 4) == 0) {
            m->from = m->from + random_below(&random, m->end - m->from);
            commit_log_release(m->log, m->from, UINT64_MAX);
        }
    }
    model_free(m);
}

/* --- compressed segments --- */

/* Groups 1 to 200 in segments that are compressed but for the last one; closed. */
static struct log_model *cold_model(void **state) {
    struct log_model *m = model_new(state);
    m->settings.cold_after_ms = -60000; /* at once */
    model_open(m);
    append_many(m, 200, 3000);
    m->from = m->end;
    commit_log_release(m->log, m->end, 0);
    while (count_files(m, ".cold") + 1 < m->groups[200].segment)
        usleep(100); /* the helper is at it */
    model_close(m);
    m->settings.cold_after_ms = 60000;
    return m;
}

/* Reads all; those of that segment may be DAMAGED, but never wrong. */
static unsigned read_all(struct log_model *m, uint64_t damaged) {
    unsigned count = 0;
    for (uint64_t number = 1; number < m->end; number++) {
        struct log_place place = model_place(m, number, 100, m->sizes[number] - 100);
        struct bytes got;
        enum status status = commit_log_read(m->log, &place, &m->t->arena, &got);
        if (status == OK)
            assert_bytes_equal(got, bytes_skip(model_payload(m, number), 100));
        else
            assert_int_equal(place.segment == damaged ? status : OK, DAMAGED);
        count += status != OK;
        arena_reset(&m->t->arena);
    }
    return count;
}

static void test_cold(void **state) {
    struct log_model *m = cold_model(state);
    model_open(m);
    assert_int_equal(read_all(m, 0), 0);
    append_many(m, 20, 3000);
    assert_int_equal(read_all(m, 0), 0);
    uint64_t usage = commit_log_usage(m->log);
    commit_log_release(m->log, m->end, 5);
    while (count_files(m, ".cold") != m->groups[200].segment - 5)
        usleep(100);
    assert_true(commit_log_usage(m->log) < usage);
    model_crash(m);
    m->from = m->end - 20;
    model_open(m);
    model_free(m);
}

/* A crash between the two leaves both files. */
static void test_cold_twins(void **state) {
    struct log_model *m = cold_model(state);
    char path[192];
    for (int i = 0; i < 2; i++) {
        model_file(m, 3, path);
        run("head -c %d /dev/zero > %s", SEGMENT, path);
        model_open(m);
        assert_int_equal(read_all(m, 0), 0);
        assert_int_equal(access(path, F_OK), -1);
        model_close(m);
    }
    model_free(m);
}

static void test_cold_damage(void **state) {
    struct log_model *m = cold_model(state);
    struct random random;
    char path[192];
    random_seed(&random, test_seed());
    for (int i = 0; i < 100; i++) {
        struct stat info;
        uint64_t segment = 1 + random_below(&random, m->groups[200].segment - 1);
        snprintf(path, sizeof(path), "%s/%012llu.cold", m->path, (unsigned long long)segment);
        assert_int_equal(stat(path, &info), 0);
        uint64_t at = random_below(&random, i % 2 == 0 ? 60 : (uint64_t)info.st_size);
        uint8_t byte, other;
        int file = open(path, O_RDWR);
        assert_true(file >= 0);
        assert_int_equal(pread(file, &byte, 1, (off_t)at), 1);
        other = (uint8_t)(byte ^ (1 + random_below(&random, 255)));
        assert_int_equal(pwrite(file, &other, 1, (off_t)at), 1);
        model_open(m);
        assert_true(read_all(m, segment) != 0);
        model_close(m);
        assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
        close(file);
    }
    model_open(m);
    assert_int_equal(read_all(m, 0), 0);
    model_free(m);
}

/* A head that could not be read when the log was opened, and can be now. */
static void test_unreadable_once(void **state) {
    struct log_model *m = cold_model(state);
    char path[192];
    snprintf(path, sizeof(path), "%s/%012d.cold", m->path, 2);
    uint8_t zero = 0, byte = 0;
    int file = open(path, O_RDWR);
    assert_int_equal(pread(file, &byte, 1, 0), 1);
    assert_int_equal(pwrite(file, &zero, 1, 0), 1);
    model_open(m);
    assert_true(read_all(m, 2) != 0);
    assert_int_equal(pwrite(file, &byte, 1, 0), 1);
    assert_int_equal(read_all(m, 0), 0);
    close(file);
    model_free(m);
}

/* --- operations that fail --- */

/* Appends until something fails; true if that was an append. */
static bool append_until_fault(struct log_model *m, int most) {
    for (int i = 0; i < most; i++)
        if (model_append(m, 3000) != OK)
            return true;
    return false;
}

/* After a failed append the group may be there, whole, or not. */
static void reopen_after_fault(struct log_model *m, bool failed) {
    enum status status;
    model_close(m);
    while ((status = model_try_open(m)) == IO_FAILED)
        ; /* the fault is yet to come */
    assert_int_equal(status, OK);
    if (failed && m->expected == m->end + 1)
        m->end++;
    assert_int_equal(m->expected, m->end);
}

static void test_faults(void **state) {
    static const int errors[] = {EIO, ENOSPC};
    for (int n = 1; n < 60; n++) {
        struct log_model *m = model_new(state);
        m->settings.sync = n % 2 == 0 ? COMMIT_LOG_LATER : COMMIT_LOG_SYNC;
        m->settings.cold_after_ms = -60000;
        model_open(m);
        model_fault(m, n / 2, errors[n % 2], false);
        bool failed = append_until_fault(m, 40);
        if (failed)
            assert_int_equal(model_append(m, 10), IO_FAILED); /* until it was opened again */
        reopen_after_fault(m, failed);
        commit_log_release(m->log, m->end / 2, 0);
        append_many(m, 40, 3000);
        model_close(m);
        m->faults = (struct log_faults){0};
        model_open(m);
        model_free(m);
        run("rm -rf %s/log", ((struct store_test *)*state)->root);
    }
}

/* --- verifying --- */

static void count_fault(void *user, struct bytes sentence) {
    assert_true(sentence.size > 10);
    ++*(unsigned *)user;
}

static unsigned verify_log(struct log_model *m, struct log_verify *verify) {
    unsigned faults = 0;
    struct commit_log *log;
    struct commit_log_settings settings = m->settings;
    settings.read_only = true;
    *verify = (struct log_verify){.fault = count_fault, .user = &faults};
    assert_int_equal(commit_log_open(&settings, model_scope(m), &log), OK);
    commit_log_verify(log, verify, model_scope(m));
    commit_log_close(log);
    return faults;
}

static void test_verify(void **state) {
    struct log_model *m = model_new(state);
    struct log_verify verify;
    model_open(m);
    append_many(m, 100, 3000);
    model_crash(m);
    assert_int_equal(verify_log(m, &verify), 0);
    assert_int_equal(verify.groups, 100);
    assert_int_equal(verify.segments, m->groups[100].segment);
    model_change(m, m->groups[10].segment, m->groups[10].offset + 100, BYTES("\x01"));
    model_change(m, m->groups[60].segment, m->groups[60].offset, BYTES("\x01"));
    assert_int_equal(verify_log(m, &verify), 2);
    model_free(m);
    run("rm -rf %s/log", ((struct store_test *)*state)->root);
    m = cold_model(state);
    assert_int_equal(verify_log(m, &verify), 0);
    assert_int_equal(verify.groups, 200);
    model_free(m);
}

/* --- threads --- */

struct reader_test {
    struct log_model *m;
    atomic_uint_fast64_t end;
    atomic_bool stop;
};

static struct log_place model_place_of(const struct log_model *m, uint64_t number) {
    const struct log_group *group = &m->groups[number];
    return (struct log_place){group->segment, group->salt, group->offset, 8, 0};
}

static void *read_always(void *argument) {
    struct reader_test *test = argument;
    struct log_model *m = test->m;
    struct arena arena;
    struct bytes got;
    arena_init(&arena);
    for (uint64_t i = 1; !atomic_load(&test->stop); i++) {
        uint64_t number = 1 + i % atomic_load(&test->end);
        struct log_place place = model_place_of(m, number);
        enum status status = commit_log_read(m->log, &place, &arena, &got);
        if (status != DAMAGED && status != NOT_FOUND) /* the checksum is not right */
            abort();
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

static void test_threads(void **state) {
    struct log_model *m = model_new(state);
    struct reader_test test = {.m = m};
    pthread_t threads[2];
    m->settings.cold_after_ms = -60000;
    model_open(m);
    append_many(m, 1, 3000);
    atomic_store(&test.end, 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_always, &test), 0);
    for (int i = 0; i < 400; i++) {
        append_many(m, 1, 3000);
        atomic_store(&test.end, m->end - 1);
        if (i % 50 == 49)
            commit_log_release(m->log, m->end - 20, m->groups[m->end / 2].segment);
    }
    atomic_store(&test.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    m->from = m->end - 20;
    model_close(m);
    model_open(m);
    model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_store, teardown_store)
        TEST(test_append),        TEST(test_needs_replay),    TEST(test_behind_the_store),
        TEST(test_reuse),         TEST(test_release),         TEST(test_later),
        TEST(test_lost_files),    TEST(test_model),           TEST(test_faults),
        TEST(test_damage_before), TEST(test_verify),          TEST(test_cold),
        TEST(test_cold_twins),    TEST(test_unreadable_once), TEST(test_cold_damage),
        TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
