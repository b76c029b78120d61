/* The memory and processor time that a process may have, by its control groups. */
#include "base/files.h"
#include "base/machine.h"
#include "base/mem.h"
#include "test.h"

#include <sched.h>
#include <unistd.h>

static char root[64];

static int setup(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof(root), "%s/gt-machine-XXXXXX", base != NULL ? base : "/tmp");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int teardown(void **state) {
    (void)state;
    return files_remove(root);
}

/* Puts a file there, and the folders above it. */
static void put(const char *folder, const char *name, const char *text) {
    char *path = files_join(root, folder), *file = files_join(path, name);
    assert_int_equal(files_make_path(path), 0);
    assert_int_equal(files_put(file, bytes_str(text)), 0);
    mem_free(file);
    mem_free(path);
}

static uint64_t limit_of(const char *groups) {
    put("proc", "cgroup", groups);
    char *list = files_join(root, "proc/cgroup"), *system = files_join(root, "sys");
    uint64_t limit = machine_group_memory(list, system);
    mem_free(system);
    mem_free(list);
    return limit;
}

static void test_version_2(void **state) {
    (void)state;
    put("sys/a/b", "memory.max", "max\n");
    put("sys/a", "memory.max", "3000\n");
    assert_true(limit_of("0::/a/b\n") == 3000); /* the group above has one */
    assert_true(limit_of("0::/elsewhere\n") == UINT64_MAX);
    put("sys/a/b", "memory.max", "2000\n");
    assert_true(limit_of("0::/a/b\n") == 2000);
    put("sys", "memory.max", "1000\n"); /* all that a container sees */
    assert_true(limit_of("0::/\n") == 1000);
    assert_true(limit_of("0::/../../elsewhere/b\n") == 1000);
}

static void test_version_1(void **state) {
    (void)state;
    put("sys/memory/c", "memory.limit_in_bytes", "5000\n");
    put("sys/memory", "memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(limit_of("4:cpu,memory:/c\n3:cpuset:/c\n") == 5000);
    assert_true(limit_of("3:cpuset,memoryless:/c\n") == UINT64_MAX);
    assert_true(limit_of("4:memory:/d\n") == 9223372036854771712u);
}

static void test_what_is_not_understood_is_no_limit(void **state) {
    char longest[5000];
    (void)state;
    put("sys/a", "memory.max", "few\n");
    assert_true(limit_of("0::/a\n") == UINT64_MAX);
    put("sys/a", "memory.max", "7\n");
    assert_true(limit_of("0:/a\nnothing\n\n::\n") == UINT64_MAX);
    memset(longest, 'x', sizeof(longest));
    memcpy(longest, "0::/", 4);
    memcpy(longest + sizeof(longest) - 9, "\n0::/a\n", 8);
    assert_true(limit_of(longest) == 7);
    assert_true(machine_group_memory("/nonexistent", root) == UINT64_MAX);
}

static bool rations(const char *groups) {
    put("proc", "cgroup", groups);
    char *list = files_join(root, "proc/cgroup"), *system = files_join(root, "sys");
    bool rations = machine_group_rations(list, system);
    mem_free(system);
    mem_free(list);
    return rations;
}

static void test_processor_time(void **state) {
    (void)state;
    put("sys/a/b", "cpu.max", "max 100000\n");
    assert_false(rations("0::/a/b\n"));
    put("sys/a", "cpu.max", "150000 100000\n");
    assert_true(rations("0::/a/b\n"));
    assert_false(rations("0::/c\n"));
    put("sys/cpu/c", "cpu.cfs_quota_us", "-1\n");
    assert_false(rations("4:cpuset:/a\n5:cpu,cpuacct:/c\n"));
    put("sys/cpu/c", "cpu.cfs_quota_us", "50000\n");
    assert_true(rations("4:cpuset:/a\n5:cpu,cpuacct:/c\n"));
    assert_false(rations("4:memory:/c\n"));
}

/* One that may run on one core has one, whatever the machine has. */
static void test_cores(void **state) {
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(getpid(), sizeof(before), &before), 0);
    assert_int_equal(machine_cores(), CPU_COUNT(&before));
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(getpid(), sizeof(one), &one), 0);
    assert_int_equal(machine_cores(), 1);
    assert_true(machine_has_few_cores());
    assert_int_equal(sched_setaffinity(getpid(), sizeof(before), &before), 0);
}

static void test_of_this_machine(void **state) {
    (void)state;
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(machine_memory() > 0 && machine_memory() <= all);
}

/* Idle time only grows. */
static void test_unused(void **state) {
    (void)state;
    int64_t before, after;
    assert_true(machine_unused_us(&before));
    assert_true(machine_unused_us(&after));
    assert_true(before > 0 && after >= before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_version_2, setup, teardown),
        cmocka_unit_test_setup_teardown(test_version_1, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_understood_is_no_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_processor_time, setup, teardown),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_of_this_machine),
        cmocka_unit_test(test_unused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
