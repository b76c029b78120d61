/* The data folder: whose it is, what it holds, and what is said when something is wrong. */
#include "base/random.h"
#include "store/store_test.h"

#include <fcntl.h>
#include <rocksdb/c.h>

static void assert_refused(struct store_test *t, const struct store_settings *given,
                           enum status expected, const char *part) {
    struct store_settings settings = given != NULL ? *given : (struct store_settings){0};
    struct store *store = NULL;
    if (settings.path == NULL)
        settings.path = t->path;
    assert_int_equal(store_open(&settings, (struct scope){&t->arena, &t->failure}, &store),
                     expected);
    assert_int_equal(t->failure.status, expected);
    if (bytes_find(t->failure.text, bytes_str(part)) == SIZE_MAX)
        fail_msg("no \"%s\" in: %.*s", part, BYTES_ARG(t->failure.text));
}

enum { COUNT = 1000 };

static struct store *fill_store(struct store_test *t) {
    struct store *store = open_store(t, NULL);
    char key[16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof(key), "%04d", i);
        put_one(t, store, key, "a value that is not too short to notice");
    }
    return store;
}

/* After an orderly close all is in tables, and the logs are empty. */
static void make_store(struct store_test *t) {
    store_close(fill_store(t));
}

static void test_in_use(void **state) {
    struct store_test *t = *state;
    struct store *store = open_store(t, NULL);
    char holder[32];
    snprintf(holder, sizeof(holder), "another process (%ld)", (long)getpid());
    assert_refused(t, NULL, IN_USE, t->path);
    assert_refused(t, NULL, IN_USE, holder);
    assert_refused(t, NULL, IN_USE, "--data");
    assert_refused(t, &(struct store_settings){.read_only = true}, IN_USE, "in use");
    store_close(store);
    store_close(open_store(t, NULL));
}

static void test_format(void **state) {
    struct store_test *t = *state;
    make_store(t);
    run("echo 'gametable 5' > %s/FORMAT", t->path);
    assert_refused(t, NULL, NEWER_FORMAT, "format 5, this one reads up to 4");
    assert_refused(t, NULL, NEWER_FORMAT, "upgrade");
    static const char *const bad[] = {
        "gametable", "gametable 0\\n", "gametable 1",    "gametable x\\n",
        "",          "\\0\\0\\0\\0",   "gametable -1\\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        run("printf '%s' > %s/FORMAT", bad[i], t->path);
        assert_refused(t, NULL, DAMAGED, "gametable verify --data");
    }
    run("rm %s/FORMAT", t->path);
    assert_refused(t, NULL, DAMAGED, "no FORMAT file");
    run("echo 'gametable 4' > %s/FORMAT", t->path);
    struct store *store = open_store(t, NULL);
    assert_value(t, store, STORE_ITEMS, "0999", "a value that is not too short to notice");
    store_close(store);
}

/* An older folder can be read as it is; one that is opened for writing is refused by older programs
 * from then on. */
static void test_older_format(void **state) {
    struct store_test *t = *state;
    make_store(t);
    run("echo 'gametable 1' > %s/FORMAT", t->path);
    for (int writable = 0; writable < 2; writable++) {
        struct store *store = open_store(t, &(struct store_settings){.read_only = !writable});
        assert_value(t, store, STORE_ITEMS, "0999", "a value that is not too short to notice");
        run("test \"$(cat %s/FORMAT)\" = 'gametable %d'", t->path, writable ? 4 : 1);
        store_close(store);
    }
    run("echo 'gametable 1' > %s/FORMAT; mkdir %s/DRAFT", t->path, t->path);
    assert_refused(t, NULL, IO_FAILED, "Cannot write to the data folder");
    run("rmdir %s/DRAFT; test \"$(cat %s/FORMAT)\" = 'gametable 1'", t->path, t->path);
    store_close(open_store(t, NULL));
}

static void test_wrong_place(void **state) {
    struct store_test *t = *state;
    run("mkdir %s && touch %s/letter.txt", t->path, t->path);
    assert_refused(t, NULL, DAMAGED, "choose an empty folder");
    run("test ! -e %s/FORMAT", t->path);
    char path[192];
    snprintf(path, sizeof(path), "%s/letter.txt", t->path);
    assert_refused(t, &(struct store_settings){.path = path}, IO_FAILED, "not a folder");
    snprintf(path, sizeof(path), "%s/letter.txt/data", t->path);
    assert_refused(t, &(struct store_settings){.path = path}, IO_FAILED, "Not a directory");
    assert_refused(t, &(struct store_settings){.path = "/proc/none"}, IO_FAILED, "/proc/none");
    snprintf(path, sizeof(path), "%s/a/b/c/", t->root);
    store_close(open_store(t, &(struct store_settings){.path = path}));
    run("test -e %s/a/b/c/FORMAT", t->root);
}

static void test_must_exist(void **state) {
    struct store_test *t = *state;
    struct store_settings settings = {.must_exist = true};
    assert_refused(t, &settings, IO_FAILED, "no gametable data");
    run("mkdir %s", t->path);
    assert_refused(t, &settings, IO_FAILED, "no gametable data");
    settings.read_only = true;
    assert_refused(t, &settings, IO_FAILED, "no gametable data");
    make_store(t);
    settings.read_only = false;
    store_close(open_store(t, &settings));
}

/* Each state an interrupted first start can leave is a start again. */
static void test_first_start(void **state) {
    struct store_test *t = *state;
    static const char *const left[] = {
        "true",
        "touch LOCK",
        "touch LOCK DRAFT",
        "touch LOCK MAKING",
        "touch LOCK MAKING; printf game > DRAFT",
        "touch LOCK MAKING; echo gametable 1 > FORMAT",
        "touch LOCK MAKING; echo gametable 1 > FORMAT; mkdir db",
        "touch LOCK MAKING; echo gametable 1 > FORMAT; mkdir db; echo MANIFEST-000001 > db/CURRENT",
    };
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        run("rm -rf %s; mkdir %s; cd %s; %s", t->path, t->path, t->path, left[i]);
        make_store(t);
        run("test ! -e %s/MAKING -a ! -e %s/DRAFT", t->path, t->path);
    }
}

static void test_read_only(void **state) {
    struct store_test *t = *state;
    make_store(t);
    run("cd %s; rm LOCK; find . -type f | sort | xargs sha256sum > ../before", t->path);
    struct store *store = open_store(t, &(struct store_settings){.read_only = true});
    assert_value(t, store, STORE_ITEMS, "0000", "a value that is not too short to notice");
    assert_int_equal(try_put(t, store, "a", "x"), IO_FAILED);
    assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), IO_FAILED);
    assert_value(t, store, STORE_ITEMS, "a", NULL);
    store_close(store);
    run("cd %s; rm LOCK; find . -type f | sort | xargs sha256sum | diff - ../before", t->path);
}

/* --- reopening when the folder is in the way --- */

static void test_reopen_fails(void **state) {
    struct store_test *t = *state;
    struct store_faults faults = {0};
    struct store *store = open_store(t, &(struct store_settings){.faults = &faults});
    put_one(t, store, "a", "1");
    faults.write_in = 1;
    assert_int_equal(try_put(t, store, "b", "2"), IO_FAILED);

    /* Not for writing, but for reading. */
    run("cd %s/db; mv LOCK ../lock; mkdir LOCK", t->path);
    assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), IO_FAILED);
    assert_int_equal(try_put(t, store, "b", "2"), IO_FAILED);
    assert_value(t, store, STORE_ITEMS, "a", "1");

    /* Not at all. */
    run("cd %s; mv db gone", t->path);
    assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), DAMAGED);
    assert_true(store_is_broken(store));
    assert_int_equal(try_put(t, store, "b", "2"), IO_FAILED);
    struct bytes out;
    assert_int_equal(
        store_get(store, &(struct store_key){STORE_ITEMS, BYTES("a")}, &t->arena, &out), IO_FAILED);
    struct store_snapshot *snapshot = store_snapshot_take(store);
    struct store_range range = {.family = STORE_ITEMS, .snapshot = snapshot};
    struct store_iter *iter = store_iter_open(store, &range);
    assert_false(store_iter_first(iter));
    assert_false(store_iter_next(iter));
    assert_int_equal(store_iter_status(iter), IO_FAILED);
    store_iter_close(iter);
    store_snapshot_release(store, snapshot);
    assert_int_equal(store_usage(store).memory, 0);

    run("cd %s; rm -rf db; mv gone db; rmdir db/LOCK; mv lock db/LOCK", t->path);
    assert_int_equal(store_reopen(store, (struct scope){&t->arena, &t->failure}), OK);
    assert_value(t, store, STORE_ITEMS, "a", "1");
    assert_value(t, store, STORE_ITEMS, "b", NULL);
    put_one(t, store, "b", "2");
    store_close(store);
}

/* --- damage --- */

static const char *find_file(const char *path, const char *prefix, const char *suffix,
                             char out[512]) {
    DIR *dir = opendir(path);
    assert_non_null(dir);
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(dir)) != NULL;) {
        size_t size = strlen(entry->d_name), end = strlen(suffix);
        found = strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && size >= end &&
                strcmp(entry->d_name + size - end, suffix) == 0;
        if (found)
            snprintf(out, 512, "%s/%s", path, entry->d_name);
    }
    closedir(dir);
    assert_true(found);
    return out;
}

static void flip(const char *path, off_t at) {
    int file = open(path, O_RDWR);
    uint8_t byte;
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x55;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static off_t size_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* Reads all; a damaged store may be refused, or found out, but nothing wrong may come from it.
 * *count: what was read, the first so many. */
static enum status read_all(struct store_test *t, int *count) {
    struct store *store;
    struct store_settings settings = {.path = t->path};
    enum status status = store_open(&settings, (struct scope){&t->arena, &t->failure}, &store);
    if (status != OK) {
        assert_true(t->failure.text.size > 40);
        return status;
    }
    struct store_iter *iter = store_iter_open(store, &(struct store_range){.family = STORE_ITEMS});
    *count = 0;
    char key[16];
    for (bool there = store_iter_first(iter); there; there = store_iter_next(iter)) {
        snprintf(key, sizeof(key), "%04d", (*count)++);
        assert_bytes_equal(store_iter_key(iter), bytes_str(key));
        assert_bytes_equal(store_iter_value(iter),
                           BYTES("a value that is not too short to notice"));
    }
    status = store_iter_status(iter);
    store_iter_close(iter);
    store_close(store);
    return status;
}

/* Flips bytes of one kind of file, each in a fresh copy; how many times it was noticed. */
static int damage(struct store_test *t, const char *prefix, const char *suffix, int times) {
    char path[512], db[160];
    int noticed = 0;
    struct random random;
    random_seed(&random, test_seed());
    snprintf(db, sizeof(db), "%s/db", t->path);
    for (int i = 0; i < times; i++) {
        run("rm -rf %s; cp -r %s/good %s", t->path, t->root, t->path);
        find_file(db, prefix, suffix, path);
        flip(path, (off_t)random_below(&random, (uint64_t)size_of(path)));
        int count;
        enum status status = read_all(t, &count);
        assert_int_equal(status, status == OK ? OK : DAMAGED);
        assert_true(status == DAMAGED || count == COUNT);
        noticed += status != OK;
        arena_reset(&t->arena);
    }
    return noticed;
}

static void test_damage(void **state) {
    struct store_test *t = *state;
    make_store(t);
    run("mv %s %s/good", t->path, t->root);
    assert_int_equal(damage(t, "CURRENT", "", 16), 16);
    assert_int_equal(damage(t, "MANIFEST-", "", 20), 20);
    assert_true(damage(t, "", ".sst", 30) > 10); /* some bytes of a table say nothing */
    static const char *const lost[] = {"CURRENT", "MANIFEST-*", "*.sst"};
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
        run("rm -rf %s; cp -r %s/good %s; rm %s/db/%s", t->path, t->root, t->path, t->path,
            lost[i]);
        assert_refused(t, NULL, DAMAGED, "gametable verify --data");
        assert_refused(t, &(struct store_settings){.read_only = true}, DAMAGED, "backup");
    }
    run("rm -rf %s; cp -r %s/good %s; rm -r %s/db", t->path, t->root, t->path, t->path);
    assert_refused(t, NULL, DAMAGED, "backup");
}

struct raw_db {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_column_family_handle_t *families[4];
};

/* The folder's database, as an older program opened it. */
static struct raw_db open_raw(struct store_test *t) {
    static const char *const names[] = {"default", "meta", "items", "stream"};
    struct raw_db raw = {.options = rocksdb_options_create()};
    const rocksdb_options_t *each[] = {raw.options, raw.options, raw.options, raw.options};
    char path[160], *error = NULL;
    snprintf(path, sizeof(path), "%s/db", t->path);
    raw.db = rocksdb_open_column_families(raw.options, path, 4, names, each, raw.families, &error);
    assert_null(error);
    return raw;
}

static void close_raw(struct raw_db *raw) {
    for (int i = 0; i < 4; i++)
        rocksdb_column_family_handle_destroy(raw->families[i]);
    rocksdb_close(raw->db);
    rocksdb_options_destroy(raw->options);
}

/* Leaves root/good as an older program that was killed left its folder: without a commit log, with
 * what was written in the database's own. */
static void make_killed(struct store_test *t) {
    static const char value[] = "a value that is not too short to notice";
    store_close(open_store(t, NULL));
    run("rm -r %s/log; echo gametable 3 > %s/FORMAT", t->path, t->path);
    struct raw_db raw = open_raw(t);
    rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
    char *error = NULL, key[16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof(key), "%04d", i);
        rocksdb_put_cf(raw.db, options, raw.families[2], key, 4, value, sizeof(value) - 1, &error);
        assert_null(error);
    }
    run("cp -r %s %s/good", t->path, t->root);
    rocksdb_writeoptions_destroy(options);
    close_raw(&raw);
}

/* The good folder's only log that is not empty, in a fresh copy. */
static void copy_log(struct store_test *t, char out[512]) {
    char db[160];
    run("rm -rf %s; cp -r %s/good %s; cd %s/db; find . -name '*.log' -size 0 -delete", t->path,
        t->root, t->path, t->path);
    snprintf(db, sizeof(db), "%s/db", t->path);
    find_file(db, "", ".log", out);
}

static void test_damaged_log(void **state) {
    struct store_test *t = *state;
    make_killed(t);
    struct random random;
    random_seed(&random, test_seed());
    char path[512];
    for (int i = 0; i < 40; i++) {
        copy_log(t, path);
        off_t size = size_of(path);
        assert_true(size > 2 * 32768);
        off_t back = (off_t)random_below(&random, i % 2 == 0 ? 300 : (uint64_t)size);
        flip(path, size - 1 - back);
        assert_refused(t, NULL, DAMAGED, ".log has changed at byte");
        arena_reset(&t->arena);
    }
}

/* What the power may do to the end of a log is no damage: what was before it is there. */
static void test_torn_log(void **state) {
    struct store_test *t = *state;
    make_killed(t);
    struct random random;
    random_seed(&random, test_seed());
    char path[512];
    for (int i = 0; i < 30; i++) {
        copy_log(t, path);
        uint64_t size = (uint64_t)size_of(path), cut = random_below(&random, size);
        int count, least = 0;
        assert_int_equal(truncate(path, (off_t)cut), 0);
        if (i % 2 != 0) { /* the file's size came to the disk and its last pages did not */
            cut = cut / 4096 * 4096;
            assert_int_equal(truncate(path, (off_t)cut), 0);
            assert_int_equal(truncate(path, (off_t)size), 0);
        }
        least = (int)((int64_t)cut * COUNT / (int64_t)size) - 2;
        assert_int_equal(read_all(t, &count), OK);
        assert_true(count >= least && count < COUNT);
        arena_reset(&t->arena);
    }
}

/* A folder of a program that did not have the last family: read, it is empty; opened for writing,
 * it is made. */
static void test_older_folder(void **state) {
    struct store_test *t = *state;
    store_close(open_store(t, NULL));
    struct raw_db raw = open_raw(t);
    char *error = NULL;
    rocksdb_drop_column_family(raw.db, raw.families[3], &error);
    assert_null(error);
    close_raw(&raw);

    struct bytes value;
    struct store_settings settings = {.read_only = true};
    struct store *store = open_store(t, &settings);
    struct store_range range = {.family = STORE_STREAM};
    struct store_iter *iter = store_iter_open(store, &range);
    assert_false(store_iter_first(iter));
    assert_int_equal(store_iter_status(iter), OK);
    store_iter_close(iter);
    assert_int_equal(
        store_get(store, &(struct store_key){STORE_STREAM, BYTES("a")}, &t->arena, &value),
        NOT_FOUND);
    store_close(store);

    store = open_store(t, NULL);
    struct store_batch *batch = store_batch_new(store);
    store_put(batch, STORE_STREAM, BYTES("a"), BYTES("b"));
    assert_int_equal(store_write(store, batch, (struct scope){&t->arena, &t->failure}), OK);
    store_batch_free(batch);
    assert_int_equal(
        store_get(store, &(struct store_key){STORE_STREAM, BYTES("a")}, &t->arena, &value), OK);
    store_close(store);
}

/* --- from one format to the next, and the log --- */

static void assert_all(struct store_test *t, const struct store_settings *settings) {
    struct store *store = open_store(t, settings);
    struct store_iter *iter = store_iter_open(store, &(struct store_range){.family = STORE_ITEMS});
    int count = 0;
    for (bool there = store_iter_first(iter); there; there = store_iter_next(iter))
        count++;
    assert_int_equal(count, COUNT);
    store_iter_close(iter);
    store_close(store);
}

/* An older folder is read as it is. Opened for writing it gets a log, and the format says so last:
 * each state that an interrupted upgrade can leave is an upgrade again. */
static void test_upgrade(void **state) {
    struct store_test *t = *state;
    make_killed(t);
    static const char *const left[] = {
        "true",
        "mkdir log",
        "mkdir log; head -c 1048576 /dev/zero > log/spare-0",
        "mkdir log; head -c 1048576 /dev/urandom > log/000000000001",
        "touch DRAFT",
    };
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        run("rm -rf %s; cp -r %s/good %s; cd %s; %s", t->path, t->root, t->path, t->path, left[i]);
        assert_all(t, &(struct store_settings){.read_only = true});
        run("test \"$(cat %s/FORMAT)\" = 'gametable 3'", t->path);
        assert_all(t, NULL);
        run("cd %s; test \"$(cat FORMAT)\" = 'gametable 4' -a -e log/000000000001", t->path);
        assert_all(t, NULL);
    }
}

/* A folder of this format that lost its log is damaged; a checkpoint has none until it is
 * written to. */
static void test_log_is_needed(void **state) {
    struct store_test *t = *state;
    char path[160];
    make_store(t);
    run("mv %s/log %s/log", t->path, t->root);
    assert_refused(t, NULL, DAMAGED, "log");
    assert_refused(t, &(struct store_settings){.read_only = true}, DAMAGED, "log");
    run("mkdir -p %s/log", t->path);
    assert_refused(t, NULL, DAMAGED, "log");
    run("rm -r %s/log; mv %s/log %s/log", t->path, t->root, t->path);
    struct store *store = open_store(t, NULL);
    snprintf(path, sizeof(path), "%s/copy", t->root);
    assert_int_equal(store_checkpoint(store, path, (struct scope){&t->arena, &t->failure}), OK);
    store_close(store);
    run("cd %s; test -e SEALED -a ! -e log", path);
    assert_all(t, &(struct store_settings){.path = path, .read_only = true});
    run("cd %s; test -e SEALED -a ! -e log", path);
    run("mkdir %s/log; touch %s/log/spare-0", path, path); /* an interrupted opening */
    assert_all(t, &(struct store_settings){.path = path});
    run("cd %s; test ! -e SEALED -a -e log/000000000001", path);
    assert_all(t, &(struct store_settings){.path = path});
}

/* A byte of the log that changed is told, by its file, unless it is of the very last commit, which
 * might have been torn; nothing wrong is read. */
static void test_damaged_commit_log(void **state) {
    struct store_test *t = *state;
    struct store *store = fill_store(t);
    run("cp -r %s %s/good", t->path, t->root);
    store_close(store);
    struct random random;
    random_seed(&random, test_seed());
    char path[192];
    int noticed = 0;
    for (int i = 0; i < 20; i++) {
        run("rm -rf %s; cp -r %s/good %s", t->path, t->root, t->path);
        snprintf(path, sizeof(path), "%s/log/000000000001", t->path);
        uint64_t blocks = (uint64_t)size_of(path) / 4096;
        flip(path, (off_t)(4096 * random_below(&random, blocks) + random_below(&random, 56)));
        int count;
        enum status status = read_all(t, &count);
        if (status == OK)
            assert_true(count == COUNT);
        else
            assert_true(bytes_find(t->failure.text, BYTES("log/000000000001")) != SIZE_MAX);
        noticed += status == DAMAGED;
        arena_reset(&t->arena);
    }
    assert_true(noticed > 15);
}

/* What the power may do to the end of the log is no damage: what was before it is there. */
static void test_torn_commit_log(void **state) {
    struct store_test *t = *state;
    struct store *store = fill_store(t);
    run("cp -r %s %s/good", t->path, t->root);
    store_close(store);
    struct random random;
    random_seed(&random, test_seed());
    char last[256], log[160];
    for (int i = 0; i < 20; i++) {
        run("rm -rf %s; cp -r %s/good %s; rm -f %s/log/spare-*", t->path, t->root, t->path,
            t->path);
        snprintf(log, sizeof(log), "%s/log", t->path);
        snprintf(last, sizeof(last), "%s/000000000003", log);
        off_t size = size_of(last);
        off_t cut = 4096 + (off_t)random_below(&random, 300 * 4096);
        assert_int_equal(truncate(last, cut), 0);
        assert_int_equal(truncate(last, size), 0);
        int count;
        assert_int_equal(read_all(t, &count), OK);
        assert_true(count > COUNT / 2 && count <= COUNT);
        arena_reset(&t->arena);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_store, teardown_store)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_in_use),          TEST(test_format),        TEST(test_older_format),
        TEST(test_wrong_place),     TEST(test_must_exist),    TEST(test_first_start),
        TEST(test_read_only),       TEST(test_reopen_fails),  TEST(test_damage),
        TEST(test_damaged_log),     TEST(test_torn_log),      TEST(test_older_folder),
        TEST(test_upgrade),         TEST(test_log_is_needed), TEST(test_damaged_commit_log),
        TEST(test_torn_commit_log),
    };
    return cmocka_run_group_tests_name("folder", tests, NULL, NULL);
}
