#include "table/local/recovery_bases.h"

#include "base/files.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { TIME_DIGITS = 14, SEGMENT_DIGITS = 12, NAME_SIZE = TIME_DIGITS + 1 + SEGMENT_DIGITS };

/* --- names --- */

static bool take_digits(const char *from, size_t count, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (from[i] < '0' || from[i] > '9')
            return false;
        *out = *out * 10 + (uint64_t)(from[i] - '0');
    }
    return true;
}

static bool take_name(const char *name, struct recovery_base *out) {
    uint64_t time_ms;
    if (strlen(name) != NAME_SIZE || name[TIME_DIGITS] != '-' ||
        !take_digits(name, TIME_DIGITS, &time_ms) ||
        !take_digits(name + TIME_DIGITS + 1, SEGMENT_DIGITS, &out->segment))
        return false;
    out->time_ms = (int64_t)time_ms;
    return true;
}

char *bases_path(const char *path, const struct recovery_base *base, const char *suffix) {
    char name[64];
    snprintf(name, sizeof(name), "%0*lld-%0*llu%s", TIME_DIGITS, (long long)base->time_ms,
             SEGMENT_DIGITS, (unsigned long long)base->segment, suffix);
    return files_join(path, name);
}

/* --- the list --- */

static int compare_times(const void *a, const void *b) {
    const struct recovery_base *left = a, *right = b;
    return (left->time_ms > right->time_ms) - (left->time_ms < right->time_ms);
}

void bases_add(struct recovery_bases *bases, const struct recovery_base *base) {
    if (bases->count == LIMIT_RECOVERY_BASES) {
        if (base->time_ms < bases->at[0].time_ms)
            return;
        bases->at[0] = *base;
    } else
        bases->at[bases->count++] = *base;
    qsort(bases->at, bases->count, sizeof(bases->at[0]), compare_times);
}

void bases_list(const char *path, struct recovery_bases *out) {
    struct recovery_base base;
    DIR *dir = opendir(path);
    out->count = 0;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;)
        if (take_name(entry->d_name, &base))
            bases_add(out, &base);
    if (dir != NULL)
        closedir(dir);
}

uint64_t bases_log_from(const struct recovery_bases *bases) {
    uint64_t from = UINT64_MAX;
    for (size_t i = 0; i < bases->count; i++)
        if (bases->at[i].segment < from)
            from = bases->at[i].segment;
    return from;
}

const struct recovery_base *bases_before(const struct recovery_bases *bases, int64_t time_ms) {
    const struct recovery_base *found = NULL;
    for (size_t i = 0; i < bases->count && bases->at[i].time_ms <= time_ms; i++)
        found = &bases->at[i];
    return found;
}

/* --- the disk --- */

/* Files that the store still has, and those that several bases have, are counted by parts. */
static uint64_t folder_parts(const char *folder) {
    uint64_t total = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        char *path = files_join(folder, entry->d_name);
        struct stat info;
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink != 0)
            total += (uint64_t)info.st_size / (uint64_t)info.st_nlink;
        mem_free(path);
    }
    if (dir != NULL)
        closedir(dir);
    return total;
}

uint64_t bases_usage(const char *path, const struct recovery_bases *bases) {
    uint64_t total = 0;
    for (size_t i = 0; i < bases->count; i++) {
        char *db = bases_path(path, &bases->at[i], "/db");
        total += folder_parts(db);
        mem_free(db);
    }
    return total;
}

void bases_clean(const char *path) {
    static const char suffix[] = ".partial";
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        size_t size = strlen(entry->d_name), end = sizeof(suffix) - 1;
        if (size < end || strcmp(entry->d_name + size - end, suffix) != 0)
            continue;
        char *partial = files_join(path, entry->d_name);
        files_remove(partial);
        mem_free(partial);
    }
    if (dir != NULL)
        closedir(dir);
}
