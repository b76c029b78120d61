#include "base/files.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *files_join(const char *folder, const char *name) {
    size_t size = strlen(folder) + 1 + strlen(name) + 1;
    char *path = mem_alloc(size);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Frees and keeps errno. */
static void drop(char *path) {
    int reason = errno;
    mem_free(path);
    errno = reason;
}

static void shut(int file) {
    int reason = errno;
    close(file);
    errno = reason;
}

static int sync_parent(const char *path);

/* A folder that is made here is on the disk before anything is put into it: else a power cut could
 * take what was synced inside along with its name. */
static int make_one(const char *path) {
    if (mkdir(path, 0700) == 0)
        return sync_parent(path);
    return errno == EEXIST ? 0 : -1;
}

int files_make_path(const char *path) {
    char *copy = mem_str(path);
    int result = 0;
    for (char *at = copy + 1; result == 0 && at[0] != '\0' && copy[0] != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        result = make_one(copy);
        *at = '/';
    }
    if (result == 0)
        result = make_one(copy);
    drop(copy);
    return result;
}

/* --- walking --- */

static bool is_dots(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Calls `with` for each entry of a folder; 0 for one that is not there. */
static int each_entry(const char *path, int (*with)(const char *path)) {
    DIR *dir = opendir(path);
    if (dir == NULL)
        return errno == ENOENT ? 0 : -1;
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(dir)) != NULL;) {
        if (is_dots(entry->d_name))
            continue;
        char *inner = files_join(path, entry->d_name);
        result = with(inner);
        drop(inner);
    }
    int reason = errno;
    closedir(dir);
    errno = reason;
    return result;
}

static bool is_folder(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int files_remove(const char *path) {
    if (is_folder(path)) {
        if (each_entry(path, files_remove) != 0)
            return -1;
        return rmdir(path);
    }
    return unlink(path) == 0 || errno == ENOENT ? 0 : -1;
}

/* --- syncing --- */

int files_sync(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return -1;
    int result = fsync(file);
    shut(file);
    return result;
}

int files_sync_all(const char *path) {
    if (is_folder(path) && each_entry(path, files_sync_all) != 0)
        return -1;
    return files_sync(path);
}

static int sync_parent(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return files_sync(".");
    /* "folder/." rather than "folder": that may be a link, which is not followed by itself. */
    size_t size = (size_t)(slash - path) + 1;
    char *parent = mem_alloc(size + 2);
    memcpy(parent, path, size);
    memcpy(parent + size, ".", 2);
    int result = files_sync(parent);
    drop(parent);
    return result;
}

int files_move(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) != 0) {
        if (errno != EINVAL && errno != ENOSYS)
            return -1;
        /* a file system without that kind of rename */
        if (access(to, F_OK) == 0) {
            errno = EEXIST;
            return -1;
        }
        if (rename(from, to) != 0)
            return -1;
    }
    return sync_parent(to);
}

/* --- whole files --- */

int files_write(int file, struct bytes bytes) {
    while (bytes.size != 0) {
        ssize_t done = write(file, bytes.data, bytes.size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        bytes = bytes_skip(bytes, (size_t)done);
    }
    return 0;
}

int files_put(const char *path, struct bytes bytes) {
    size_t size = strlen(path) + sizeof(".draft");
    char *draft = mem_alloc(size);
    snprintf(draft, size, "%s.draft", path);
    int result = -1, file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file >= 0) {
        result = files_write(file, bytes);
        if (result == 0)
            result = fsync(file);
        shut(file);
    }
    if (result == 0)
        result = rename(draft, path);
    if (result == 0)
        result = sync_parent(path);
    else {
        int reason = errno;
        unlink(draft);
        errno = reason;
    }
    drop(draft);
    return result;
}

static int read_all(int file, uint8_t *to, size_t size, size_t *got) {
    *got = 0;
    while (*got < size) {
        ssize_t done = read(file, to + *got, size - *got);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -1;
        if (done == 0)
            break;
        *got += (size_t)done;
    }
    return 0;
}

int files_get(const char *path, size_t most, struct arena *arena, struct bytes *out) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    struct stat info;
    int result = fstat(file, &info);
    size_t size = result == 0 ? (size_t)info.st_size : 0;
    if (result == 0 && size > most) {
        errno = EFBIG;
        result = -1;
    }
    if (result == 0) {
        uint8_t *data = arena_alloc(arena, size + 1);
        result = read_all(file, data, size, &size);
        *out = bytes_of(data, size);
    }
    shut(file);
    return result;
}
