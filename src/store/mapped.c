/* The pages of mapped tables that the process has looked at. They are the system's cache, counted
 * as the process's own for as long as it has them at hand. */
#include "store/store_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static bool is_table(const char *path, const char *folder) {
    size_t size = strlen(folder), whole = strlen(path);
    return strncmp(path, folder, size) == 0 && path[size] == '/' && whole > size + 4 &&
           strcmp(path + whole - 4, ".sst") == 0;
}

/* "low-high rights offset device inode path" */
static void let_go(const char *line, const char *folder) {
    unsigned long low, high;
    int path = 0;
    if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &low, &high, &path) < 2 || path == 0)
        return;
    char name[4096];
    snprintf(name, sizeof(name), "%s", line + path);
    name[strcspn(name, "\n")] = '\0';
    if (is_table(name, folder))
        madvise((void *)low, high - low,
                MADV_DONTNEED); /* a wish; they are read again if need be */
}

void store_let_go(struct store *store) {
    char folder[4096], line[4352];
    if (store->settings.memory || realpath(store->folder.db_path, folder) == NULL)
        return;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL)
        return;
    while (fgets(line, sizeof(line), maps) != NULL)
        let_go(line, folder);
    fclose(maps);
}
