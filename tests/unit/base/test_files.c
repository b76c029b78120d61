/* Files put in place, moved and removed as wholes. */
#include "base/files.h"
#include "base/mem.h"
#include "test.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static int setup(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%s/gt-files-XXXXXX", base != NULL ? base : "/tmp");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int teardown(void **state) {
    (void)state;
    return files_remove(root);
}

static char *in_root(const char *name) {
    return files_join(root, name);
}

static void assert_file(const char *path, const char *text) {
    struct arena arena;
    struct bytes got;
    arena_init(&arena);
    assert_int_equal(files_get(path, 100, &arena, &got), 0);
    assert_bytes_equal(got, bytes_str(text));
    arena_release(&arena);
}

static void test_put_get(void **state) {
    (void)state;
    char *path = in_root("a");
    struct arena arena;
    struct bytes got;
    arena_init(&arena);
    assert_int_equal(files_put(path, BYTES("one")), 0);
    assert_file(path, "one");
    assert_int_equal(files_put(path, BYTES("two!")), 0);
    assert_file(path, "two!");
    assert_int_equal(files_get(path, 3, &arena, &got), -1);
    assert_int_equal(errno, EFBIG);
    assert_int_equal(files_remove(path), 0);
    assert_int_equal(files_get(path, 3, &arena, &got), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(files_remove(path), 0);
    arena_release(&arena);
    mem_free(path);
}

static void test_folders(void **state) {
    (void)state;
    char *deep = in_root("x/y/z"), *file = in_root("x/y/z/f"), *top = in_root("x");
    char *other = in_root("other"), *link = in_root("x/link"), *kept = in_root("other/f");
    assert_int_equal(files_make_path(deep), 0);
    assert_int_equal(files_make_path(deep), 0);
    assert_int_equal(files_put(file, BYTES("f")), 0);
    assert_int_equal(files_make_path(other), 0);
    assert_int_equal(files_put(kept, BYTES("kept")), 0);
    assert_int_equal(files_sync_all(top), 0);
    assert_int_equal(symlink(other, link), 0);
    assert_int_equal(files_move(top, other), -1);
    assert_int_equal(errno, EEXIST);
    assert_file(file, "f");
    /* A link inside goes, what it points at stays. */
    assert_int_equal(files_remove(top), 0);
    assert_int_equal(access(top, F_OK), -1);
    assert_file(kept, "kept");
    assert_int_equal(files_move(other, top), 0);
    assert_int_equal(access(other, F_OK), -1);
    mem_free(deep), mem_free(file), mem_free(top), mem_free(other), mem_free(link), mem_free(kept);
}

/* A folder below a link to another is made, too: what is synced is the folder, not the link. */
static void test_make_path(void **state) {
    (void)state;
    char *real = in_root("real"), *link_path = in_root("link"), *deep = in_root("link/a/b");
    struct stat info;
    assert_int_equal(files_make_path(real), 0);
    assert_int_equal(symlink(real, link_path), 0);
    assert_int_equal(files_make_path(deep), 0);
    assert_int_equal(files_make_path(deep), 0);
    assert_int_equal(stat(deep, &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(info.st_mode & 0777, 0700);
    mem_free(real);
    mem_free(link_path);
    mem_free(deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_make_path),
        cmocka_unit_test(test_put_get),
        cmocka_unit_test(test_folders),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
