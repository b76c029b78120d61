/* What the tests of the store share: a fresh folder for each, and short ways to write and look. */
#ifndef GT_STORE_TEST_H
#define GT_STORE_TEST_H

#include "store/store.h"
#include "test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

struct store_test {
    struct arena arena;
    struct failure failure;
    char root[64];  /* removed afterwards */
    char path[128]; /* root/data: the data folder, not yet made */
};

/* Runs a shell command that must succeed; the tests' folders have plain names. */
static inline void run(const char *format, ...) {
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

static inline int setup_store(void **state) {
    struct store_test *t = calloc(1, sizeof(*t));
    arena_init(&t->arena);
    const char *base = getenv("TMPDIR");
    snprintf(t->root, sizeof(t->root), "%s/gt-store-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(t->root) == NULL)
        return -1;
    snprintf(t->path, sizeof(t->path), "%s/data", t->root);
    *state = t;
    return 0;
}

static inline int teardown_store(void **state) {
    struct store_test *t = *state;
    run("rm -rf %s", t->root);
    arena_release(&t->arena);
    free(t);
    return 0;
}

/* Opens the test's folder; settings NULL: the default ones. */
static inline struct store *open_store(struct store_test *t, const struct store_settings *given) {
    struct store_settings settings = given != NULL ? *given : (struct store_settings){0};
    struct store *store = NULL;
    if (settings.path == NULL)
        settings.path = t->path;
    enum status status = store_open(&settings, (struct scope){&t->arena, &t->failure}, &store);
    if (status != OK)
        fail_msg("%.*s", BYTES_ARG(t->failure.text));
    return store;
}

static inline enum status try_put(struct store_test *t, struct store *store, const char *key,
                                  const char *value) {
    struct store_batch *batch = store_batch_new(store);
    store_put(batch, STORE_ITEMS, bytes_str(key), bytes_str(value));
    enum status status = store_write(store, batch, (struct scope){&t->arena, &t->failure});
    store_batch_free(batch);
    return status;
}

static inline void put_one(struct store_test *t, struct store *store, const char *key,
                           const char *value) {
    assert_int_equal(try_put(t, store, key, value), OK);
}

/* value NULL: not there. */
static inline void assert_value(struct store_test *t, struct store *store, enum store_family family,
                                const char *key, const char *value) {
    struct bytes got;
    enum status status =
        store_get(store, &(struct store_key){family, bytes_str(key)}, &t->arena, &got);
    assert_int_equal(status, value != NULL ? OK : NOT_FOUND);
    if (value != NULL)
        assert_bytes_equal(got, bytes_str(value));
}

enum { WIDTH = 12 };

/* Batch `number`: WIDTH keys over both families, some of 10 kB, all with the number in front. */
static inline void fill_batch(struct store_batch *batch, uint32_t number) {
    static uint8_t value[10000];
    memcpy(value, &number, sizeof(number));
    for (int i = 0; i < WIDTH; i++) {
        char key[16];
        snprintf(key, sizeof(key), "key %d", i);
        store_put(batch, i % 3 == 0 ? STORE_META : STORE_ITEMS, bytes_str(key),
                  bytes_of(value, i % 4 == 0 ? sizeof(value) : 300));
    }
}

#endif
