#include "base/machine.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_SIZE = 1024 }; /* of a group's line; one that is longer is passed over */

/* The number in the file; UINT64_MAX if it is not there, holds the word "max" or begins with -1. */
static uint64_t read_limit(const char *path) {
    uint64_t limit = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return limit;
    if (fscanf(file, "%" SCNu64, &limit) != 1)
        limit = UINT64_MAX;
    fclose(file);
    return limit;
}

bool machine_unused_us(int64_t *out) {
    int64_t seconds, hundredths;
    FILE *file = fopen("/proc/uptime", "re");
    if (file == NULL)
        return false;
    bool told = fscanf(file, "%*s %" SCNd64 ".%" SCNd64, &seconds, &hundredths) == 2;
    fclose(file);
    *out = told ? seconds * 1000000 + hundredths * 10000 : 0;
    return told;
}

/* Where the limits of a hierarchy of groups are. */
struct hierarchy {
    const char *root;
    const char *folder; /* in it */
    const char *file;   /* of each group */
};

/* What is limited: the controller's name, and its file in either version of groups. */
struct resource {
    const char *controller, *file_1, *file_2;
};
static const struct resource memory = {"memory", "memory.limit_in_bytes", "memory.max"};
static const struct resource processor = {"cpu", "cpu.cfs_quota_us", "cpu.max"};

/* The least limit of the group and of those above it. In a container the system may show its groups
 * under other names; the outermost one is what it sees there of its own. */
static uint64_t least_limit(const struct hierarchy *of, char *group) {
    uint64_t least = UINT64_MAX;
    for (;;) {
        char path[PATH_MAX];
        int size = snprintf(path, sizeof(path), "%s%s%s/%s", of->root, of->folder, group, of->file);
        uint64_t limit = size < (int)sizeof(path) ? read_limit(path) : UINT64_MAX;
        if (limit < least)
            least = limit;
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

static bool lists(struct bytes controllers, const char *name) {
    while (controllers.size != 0) {
        size_t comma = bytes_find(controllers, BYTES(","));
        size_t size = comma == SIZE_MAX ? controllers.size : comma;
        if (bytes_equal(bytes_of(controllers.data, size), bytes_str(name)))
            return true;
        controllers = bytes_skip(controllers, comma == SIZE_MAX ? size : size + 1);
    }
    return false;
}

/* Of a line "number:controllers:group"; that of version 2 names no controllers. */
static uint64_t limit_of_line(const struct resource *of, char *line, const char *root) {
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL)
        return UINT64_MAX;
    size_t size = (size_t)(group - controllers) - 1;
    group++;
    group[strcspn(group, "\n")] = '\0';
    if (size == 0)
        return least_limit(&(struct hierarchy){root, "", of->file_2}, group);
    if (!lists(bytes_of(controllers + 1, size), of->controller))
        return UINT64_MAX;
    char folder[16];
    snprintf(folder, sizeof(folder), "/%s", of->controller);
    return least_limit(&(struct hierarchy){root, folder, of->file_1}, group);
}

static uint64_t group_limit(const struct resource *of, const char *groups, const char *root) {
    char line[LINE_MAX_SIZE];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen(groups, "re");
    if (file == NULL)
        return least;
    while (fgets(line, sizeof(line), file) != NULL) {
        uint64_t limit = strchr(line, '\n') != NULL ? limit_of_line(of, line, root) : UINT64_MAX;
        if (limit < least)
            least = limit;
    }
    fclose(file);
    return least;
}

uint64_t machine_group_memory(const char *groups, const char *root) {
    return group_limit(&memory, groups, root);
}

bool machine_group_rations(const char *groups, const char *root) {
    return group_limit(&processor, groups, root) != UINT64_MAX;
}

bool machine_is_rationed(void) {
    return machine_group_rations("/proc/self/cgroup", "/sys/fs/cgroup");
}

uint64_t machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)2 << 30;
    uint64_t limit = machine_group_memory("/proc/self/cgroup", "/sys/fs/cgroup");
    return limit < all ? limit : all;
}

/* The main thread's processors are the process's: other threads may be bound to one of them. */
unsigned machine_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t usable;
    if (sched_getaffinity(getpid(), sizeof(usable), &usable) == 0)
        cores = CPU_COUNT(&usable);
#endif
    return cores < 1 ? 1 : (unsigned)cores;
}

bool machine_has_few_cores(void) {
    return machine_cores() <= 2;
}
