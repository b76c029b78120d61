#include "store/data_folder.h"

#include "base/files.h"
#include "base/limits.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- sentences --- */

enum status folder_damaged(const struct folder *folder, const char *what, struct scope in) {
    return failure_set(in.failure, in.arena, DAMAGED,
                       "The data folder %s is damaged: %s. Look at it with `gametable verify "
                       "--data %s`; if that cannot read it, restore it from a backup.",
                       folder->path, what, folder->path);
}

enum status folder_newer(const struct folder *folder, const char *what, struct scope in) {
    return failure_set(in.failure, in.arena, NEWER_FORMAT,
                       "The data folder %s was written by a newer gametable (%s): upgrade "
                       "gametable, or choose another folder with --data.",
                       folder->path, what);
}

enum status folder_full(const struct folder *folder, struct scope in) {
    enum { MEGABYTE = 1000000 };
    return failure_set(in.failure, in.arena, IO_FAILED,
                       "Cannot write to the data folder %s: the disk is full. A start needs about "
                       "%llu MB of room: free as much, then start again; nothing is lost.",
                       folder->path, (unsigned long long)(folder_need(folder) / MEGABYTE + 1));
}

static enum status folder_failed(const struct folder *folder, const char *doing, struct scope in) {
    if (errno == ENOSPC || errno == EDQUOT)
        return folder_full(folder, in);
    return failure_set(in.failure, in.arena, IO_FAILED, "Cannot %s the data folder %s: %s.", doing,
                       folder->path, strerror(errno));
}

static enum status folder_absent(const struct folder *folder, struct scope in) {
    return failure_set(in.failure, in.arena, IO_FAILED,
                       "There is no gametable data in %s: check the folder given with --data.",
                       folder->path);
}

/* --- files in it --- */

static bool has_file(const struct folder *folder, const char *name) {
    char *path = files_join(folder->path, name);
    bool there = access(path, F_OK) == 0;
    mem_free(path);
    return there;
}

/* Puts a file in place whole or not at all. */
static int write_file(const struct folder *folder, const char *name, const char *text) {
    char *path = files_join(folder->path, name);
    char *draft = files_join(folder->path, "DRAFT");
    int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int result = -1;
    if (file < 0)
        goto done;
    result = files_write(file, bytes_str(text));
    if (result == 0)
        result = fsync(file);
    if (close(file) != 0)
        result = -1;
    if (result == 0)
        result = rename(draft, path);
    if (result == 0)
        result = files_sync(folder->path);
done:;
    int reason = errno;
    if (result != 0)
        unlink(draft);
    mem_free(draft);
    mem_free(path);
    errno = reason;
    return result;
}

/* --- the folder itself --- */

static enum status folder_find(const struct folder *folder, bool may_make, struct scope in) {
    struct stat info;
    if (stat(folder->path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return OK;
        return failure_set(in.failure, in.arena, IO_FAILED,
                           "%s is not a folder: choose another one with --data.", folder->path);
    }
    if (errno != ENOENT)
        return folder_failed(folder, "open", in);
    if (!may_make)
        return folder_absent(folder, in);
    if (files_make_path(folder->path) != 0)
        return folder_failed(folder, "make", in);
    return OK;
}

/* --- the lock --- */

static enum status lock_taken(const struct folder *folder, int file, struct scope in) {
    char text[32] = "";
    ssize_t size = pread(file, text, sizeof(text) - 1, 0);
    long holder = size > 0 ? strtol(text, NULL, 10) : 0;
    char who[48] = "another process";
    if (holder > 0)
        snprintf(who, sizeof(who), "another process (%ld)", holder);
    return failure_set(in.failure, in.arena, IN_USE,
                       "The data folder %s is in use by %s: stop that process, or choose another "
                       "folder with --data.",
                       folder->path, who);
}

static int lock_file(const struct folder *folder) {
    char *path = files_join(folder->path, "LOCK");
    int file = -1;
    if (folder->read_only)
        file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    mem_free(path);
    return file;
}

static enum status folder_lock(struct folder *folder, struct scope in) {
    int file = lock_file(folder);
    if (file < 0 && folder->read_only && errno == EROFS)
        return OK; /* nobody can be writing there */
    if (file < 0)
        return folder_failed(folder, "lock", in);
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        enum status status =
            errno == EWOULDBLOCK ? lock_taken(folder, file, in) : folder_failed(folder, "lock", in);
        close(file);
        return status;
    }
    folder->lock = file;
    if (!folder->read_only) {
        char text[32];
        int size = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
        /* Only for the message above: a full disk must not stop the start here. */
        if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)size, 0) != size)
            errno = 0;
    }
    return OK;
}

/* --- the format --- */

/* The number in "gametable N\n", or 0. */
static unsigned format_number(const char *text) {
    static const char name[] = "gametable ";
    size_t size = strlen(text), start = sizeof(name) - 1;
    if (size < start + 2 || size > start + 9 || strncmp(text, name, start) != 0)
        return 0;
    if (strspn(text + start, "0123456789") != size - start - 1 || text[size - 1] != '\n')
        return 0;
    return (unsigned)strtoul(text + start, NULL, 10);
}

static int format_write(const struct folder *folder) {
    char text[32];
    snprintf(text, sizeof(text), "gametable %d\n", FOLDER_FORMAT);
    return write_file(folder, "FORMAT", text);
}

static enum status format_read(const struct folder *folder, unsigned *out, struct scope in) {
    char *path = files_join(folder->path, "FORMAT");
    int file = open(path, O_RDONLY | O_CLOEXEC);
    mem_free(path);
    if (file < 0)
        return folder_failed(folder, "read FORMAT in", in);
    char text[64] = "";
    ssize_t size = read(file, text, sizeof(text) - 1);
    int reason = errno;
    close(file);
    errno = reason;
    if (size < 0)
        return folder_failed(folder, "read FORMAT in", in);
    unsigned number = format_number(text);
    if (number == 0)
        return folder_damaged(folder, "its FORMAT file does not say what it is", in);
    *out = number;
    if (number <= FOLDER_FORMAT)
        return OK;
    char what[64];
    snprintf(what, sizeof(what), "format %u, this one reads up to %d", number, FOLDER_FORMAT);
    return folder_newer(folder, what, in);
}

/* Whether there is nothing but what a first start may have left before FORMAT. */
static int folder_is_new(const struct folder *folder, bool *out) {
    DIR *dir = opendir(folder->path);
    if (dir == NULL)
        return -1;
    *out = true;
    for (struct dirent *entry; *out && (entry = readdir(dir)) != NULL;) {
        static const char *const ours[] = {".", "..", "lost+found", "LOCK", "DRAFT", "MAKING"};
        bool known = false;
        for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
            known = known || strcmp(entry->d_name, ours[i]) == 0;
        *out = known;
    }
    closedir(dir);
    return 0;
}

/* A folder that holds somebody else's files is left as it is, without even a lock in it. */
static enum status folder_check_ours(const struct folder *folder, struct scope in) {
    bool is_new = false;
    if (has_file(folder, "FORMAT"))
        return OK;
    if (folder_is_new(folder, &is_new) != 0)
        return folder_failed(folder, "read", in);
    if (is_new)
        return OK;
    return failure_set(in.failure, in.arena, DAMAGED,
                       "The folder %s has files in it but no FORMAT file: if it is not "
                       "gametable's, choose an empty folder with --data; if it is, it is "
                       "damaged: restore it from a backup.",
                       folder->path);
}

static enum status folder_begin(struct folder *folder, bool may_make, struct scope in) {
    if (!may_make)
        return folder_absent(folder, in);
    if (write_file(folder, "MAKING", "") != 0 || format_write(folder) != 0)
        return folder_failed(folder, "write to", in);
    folder->format = FOLDER_FORMAT;
    return OK;
}

/* Removes what an interrupted making left. */
static int clear_db(const struct folder *folder) {
    DIR *dir = opendir(folder->db_path);
    if (dir == NULL)
        return errno == ENOENT ? 0 : -1;
    int result = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.' && unlinkat(dirfd(dir), entry->d_name, 0) != 0)
            result = -1;
    int reason = errno;
    closedir(dir);
    errno = reason;
    return result;
}

/* --- the whole --- */

static enum status folder_enter(struct folder *folder, bool may_make, struct scope in) {
    enum status status = folder_find(folder, may_make, in);
    if (status == OK)
        status = folder_check_ours(folder, in);
    if (status == OK)
        status = folder_lock(folder, in);
    if (status == OK)
        status = has_file(folder, "FORMAT") ? format_read(folder, &folder->format, in)
                                            : folder_begin(folder, may_make, in);
    if (status != OK)
        return status;
    folder->making = has_file(folder, "MAKING");
    folder->sealed = has_file(folder, "SEALED");
    if (!folder->making)
        return OK;
    if (!may_make)
        return folder_absent(folder, in);
    /* FORMAT may be there and not yet on the disk, if the making was interrupted by a sync that
     * failed. What follows must not be there without it. */
    if (files_sync(folder->path) != 0)
        return folder_failed(folder, "write to", in);
    return clear_db(folder) == 0 ? OK : folder_failed(folder, "clear", in);
}

enum status folder_open(struct folder *folder, const struct folder_settings *settings,
                        struct scope in) {
    *folder = (struct folder){.lock = -1, .read_only = settings->read_only};
    folder->path = files_join(settings->path, "");
    for (size_t end = strlen(folder->path); end > 1 && folder->path[end - 1] == '/'; end--)
        folder->path[end - 1] = '\0';
    folder->db_path = files_join(folder->path, "db");
    folder->log_path = files_join(folder->path, "log");
    bool may_make = !settings->must_exist && !settings->read_only;
    enum status status = folder_enter(folder, may_make, in);
    if (status != OK)
        folder_close(folder);
    return status;
}

/* Removes a file that says something about the folder, and is on the disk without it. */
static int remove_mark(const struct folder *folder, const char *name) {
    char *path = files_join(folder->path, name);
    int result = unlink(path);
    if (result == 0)
        result = files_sync(folder->path);
    int reason = errno;
    mem_free(path);
    errno = reason;
    return result;
}

enum status folder_made(struct folder *folder, struct scope in) {
    if (!folder_is_fresh(folder))
        return OK;
    int result = files_sync(folder->path);
    if (result == 0 && folder->format < FOLDER_FORMAT)
        result = format_write(folder);
    if (result == 0 && folder->sealed)
        result = remove_mark(folder, "SEALED");
    if (result == 0 && folder->making)
        result = remove_mark(folder, "MAKING");
    if (result != 0)
        return folder_failed(folder, "write to", in);
    folder->making = folder->sealed = false;
    folder->format = FOLDER_FORMAT;
    return OK;
}

void folder_close(struct folder *folder) {
    if (folder->lock >= 0)
        close(folder->lock);
    mem_free(folder->path);
    mem_free(folder->db_path);
    mem_free(folder->log_path);
    *folder = (struct folder){.lock = -1};
}

enum status folder_probe(const struct folder *folder, size_t size, struct scope in) {
    enum { CHUNK = 256 * 1024 };
    char *path = files_join(folder->path, "DRAFT");
    char *chunk = mem_zalloc(CHUNK);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int result = file < 0 ? -1 : 0;
    for (size_t done = 0; result == 0 && done < size; done += CHUNK)
        result = files_write(file, bytes_of(chunk, CHUNK));
    if (result == 0)
        result = fsync(file);
    int reason = errno;
    if (file >= 0)
        close(file);
    unlink(path);
    mem_free(chunk);
    mem_free(path);
    errno = reason;
    return result == 0 ? OK : folder_failed(folder, "write to", in);
}

int folder_seal(const char *path) {
    struct folder folder = {.path = files_join(path, ""), .lock = -1};
    int result = files_sync_all(path);
    if (result == 0)
        result = write_file(&folder, "SEALED", "");
    if (result == 0)
        result = format_write(&folder);
    int reason = errno;
    mem_free(folder.path);
    errno = reason;
    return result;
}

static bool ends_so(const char *name, const char *suffix) {
    size_t size = strlen(name), end = strlen(suffix);
    return size >= end && strcmp(name + size - end, suffix) == 0;
}

/* Bytes in a folder's files whose names end so. */
static uint64_t usage_of(const char *path, const char *suffix) {
    DIR *dir = opendir(path);
    if (dir == NULL)
        return 0;
    uint64_t total = 0;
    struct stat info;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (ends_so(entry->d_name, suffix) && fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 &&
            S_ISREG(info.st_mode))
            total += (uint64_t)info.st_size;
    closedir(dir);
    return total;
}

uint64_t folder_usage(const struct folder *folder, const char *suffix) {
    return usage_of(folder->db_path, suffix);
}

/* Of our own log at most two buffers are not in tables, and it goes on in a new segment. */
uint64_t folder_need(const struct folder *folder) {
    enum { SPARE = 2 * 1024 * 1024, TAIL_MAX = 2 * LIMIT_BUFFER_SIZE };
    uint64_t tail = usage_of(folder->log_path, "");
    return folder_usage(folder, ".log") + (tail < TAIL_MAX ? tail : TAIL_MAX) + SPARE;
}
