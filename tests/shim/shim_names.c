/* Names below the folder: which paths are, and the operations that change them. */
#include "shim_faults.h"
#include "shim_int.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX];
static size_t folder_size; /* 0: no folder is followed */

/* --- paths --- */

bool shim_names_follow(const char *path) {
    folder_size = 0;
    if (path == NULL)
        return true;
    if (realpath(path, folder) == NULL)
        return false;
    folder_size = strlen(folder);
    return true;
}

static bool path_absolute(int at, const char *path, char *out) {
    char base[PATH_MAX], link[64];
    if (path[0] == '/')
        return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    if (at == AT_FDCWD)
        return getcwd(base, sizeof(base)) != NULL &&
               snprintf(out, PATH_MAX, "%s/%s", base, path) < PATH_MAX;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
    ssize_t size = readlink(link, base, sizeof(base) - 1);
    if (size < 0)
        return false;
    base[size] = '\0';
    return snprintf(out, PATH_MAX, "%s/%s", base, path) < PATH_MAX;
}

/* Without double and trailing slashes and single dots. */
static void path_tidy(char *path) {
    char *to = path;
    for (const char *from = path; *from != '\0';) {
        while (*from == '/')
            from++;
        size_t size = strcspn(from, "/");
        if (size == 0 || (size == 1 && *from == '.')) {
            from += size;
            continue;
        }
        *to++ = '/';
        memmove(to, from, size);
        to += size;
        from += size;
    }
    *to = '\0';
}

bool shim_below(int at, const char *path, char *out) {
    char whole[PATH_MAX];
    if (folder_size == 0 || path == NULL || !path_absolute(at, path, whole))
        return false;
    path_tidy(whole);
    if (strncmp(whole, folder, folder_size) != 0 ||
        (whole[folder_size] != '/' && whole[folder_size] != '\0'))
        return false;
    snprintf(out, PATH_MAX, "%s", whole + folder_size + (whole[folder_size] == '/'));
    return true;
}

/* --- changes of names --- */

static int rename_any(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    char old[PATH_MAX], new[PATH_MAX];
    bool ours = shim_below(from_at, from, old);
    if (shim_below(to_at, to, new) != ours || (ours && (flags & ~(unsigned)RENAME_NOREPLACE) != 0))
        abort(); /* in or out of the folder: not followed */
    if (!ours)
        return flags == 0 ? REAL(renameat)(from_at, from, to_at, to)
                          : REAL(renameat2)(from_at, from, to_at, to, flags);
    shim_be_late();
    pthread_mutex_lock(&shim_lock);
    int result = -1;
    if (!shim_fails(FAULT_RENAME)) {
        shim_room_freed(to);
        result = flags == 0 ? REAL(renameat)(from_at, from, to_at, to)
                            : REAL(renameat2)(from_at, from, to_at, to, flags);
    }
    if (result == 0)
        shim_note_paths(SHIM_RENAME, old, new);
    pthread_mutex_unlock(&shim_lock);
    return result;
}

int rename(const char *from, const char *to) {
    return rename_any(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
    return rename_any(from_at, from, to_at, to, 0);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    return rename_any(from_at, from, to_at, to, flags);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
    char old[PATH_MAX], new[PATH_MAX];
    bool ours = shim_below(from_at, from, old);
    if (shim_below(to_at, to, new) != ours)
        abort();
    if (!ours)
        return REAL(linkat)(from_at, from, to_at, to, flags);
    pthread_mutex_lock(&shim_lock);
    int result = shim_fails(FAULT_RENAME) ? -1 : REAL(linkat)(from_at, from, to_at, to, flags);
    if (result == 0)
        shim_note_paths(SHIM_LINK, old, new);
    pthread_mutex_unlock(&shim_lock);
    return result;
}

int link(const char *from, const char *to) {
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int at, const char *path, int flags) {
    char name[PATH_MAX];
    if (!shim_below(at, path, name))
        return REAL(unlinkat)(at, path, flags);
    pthread_mutex_lock(&shim_lock);
    int result = -1;
    if (!shim_fails(FAULT_UNLINK)) {
        if (at == AT_FDCWD || path[0] == '/')
            shim_room_freed(path);
        result = REAL(unlinkat)(at, path, flags);
    }
    if (result == 0)
        shim_note_path((flags & AT_REMOVEDIR) != 0 ? SHIM_RMDIR : SHIM_UNLINK, name);
    pthread_mutex_unlock(&shim_lock);
    return result;
}

int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path) {
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int remove(const char *path) {
    struct stat info;
    return unlinkat(AT_FDCWD, path,
                    lstat(path, &info) == 0 && S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0);
}

int mkdirat(int at, const char *path, mode_t mode) {
    char name[PATH_MAX];
    if (!shim_below(at, path, name))
        return REAL(mkdirat)(at, path, mode);
    pthread_mutex_lock(&shim_lock);
    int result = shim_fails(FAULT_MKDIR) ? -1 : REAL(mkdirat)(at, path, mode);
    if (result == 0)
        shim_note_path(SHIM_MKDIR, name);
    pthread_mutex_unlock(&shim_lock);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    return mkdirat(AT_FDCWD, path, mode);
}
