/* Stands between a program and its data folder: writes down each file operation (SHIM_JOURNAL) and
 * makes chosen ones fail (SHIM_CONTROL), below the folder SHIM_FOLDER and nowhere else.
 * shim_journal.h has the formats. It is a library for LD_PRELOAD; a test program that has the
 * engine in itself is linked with it instead, and calls file_shim.h.
 *
 * One lock is held over each operation and its record, so that the journal has them in the order in
 * which they happened. Syncs, and writes that return when the disk has them, may take long: they
 * have two records and no lock between.
 *
 * This file has the operations on open files, and the journal. Those that change names are in
 * shim_names.c, and what fails is decided in shim_faults.c. */
#include "shim_faults.h"
#include "shim_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 65536 };

struct open_file {
    uint64_t number; /* 0: not below the folder */
    bool append;
    bool durable; /* O_DSYNC or O_SYNC */
    bool no_room; /* the next write fails: this one was cut short */
};

pthread_mutex_t shim_lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_file files[FILES_MAX];
static int journal = -1;
static uint64_t next_number, next_pair;
static bool
    in_memory; /* linked in: the folder is thought to be in memory, where to reserve costs */

/* --- setting up --- */

__attribute__((constructor)) static void shim_start(void) {
    const char *where = getenv("SHIM_FOLDER"), *path = getenv("SHIM_JOURNAL");
    if (where == NULL || !shim_names_follow(where))
        return;
    next_number = (uint64_t)getpid() << 32;
    int file =
        path != NULL ? REAL(open)(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        journal = fcntl(file, F_DUPFD_CLOEXEC, FILES_MAX / 128);
        REAL(close)(file);
    }
    shim_faults_open();
}

/* --- for the program that it is linked into --- */

void shim_follow(const struct shim_settings *settings) {
    shim_names_follow(NULL);
    pthread_mutex_lock(&shim_lock);
    journal = settings != NULL ? settings->journal : -1;
    shim_faults_follow(settings);
    in_memory = true;
    if (next_number == 0)
        next_number = (uint64_t)getpid() << 32;
    if (settings != NULL && !shim_names_follow(settings->folder))
        abort();
    pthread_mutex_unlock(&shim_lock);
}

static struct open_file *file_of(int fd) {
    return fd >= 0 && fd < FILES_MAX && __atomic_load_n(&files[fd].number, __ATOMIC_ACQUIRE) != 0
               ? &files[fd]
               : NULL;
}

/* --- the journal --- */

void shim_note_parts(struct shim_record record, const struct iovec *parts, int count) {
    struct iovec all[IOV_MAX];
    size_t size = sizeof(record);
    if (journal < 0 || count + 1 > IOV_MAX || shim_power_is_off())
        return;
    all[0] = (struct iovec){&record, sizeof(record)};
    for (int i = 0; i < count; i++) {
        all[i + 1] = parts[i];
        size += parts[i].iov_len;
    }
    record.size = (uint32_t)size;
    int reason = errno;
    if (REAL(writev)(journal, all, count + 1) != (ssize_t)size)
        abort(); /* a journal with holes would prove nothing */
    errno = reason;
}

void shim_note(struct shim_record record, const void *data, size_t size) {
    struct iovec part = {(void *)(uintptr_t)data, size};
    shim_note_parts(record, &part, 1);
}

void shim_note_path(enum shim_kind kind, const char *path) {
    shim_note((struct shim_record){.kind = (uint8_t)kind}, path, strlen(path));
}

void shim_note_paths(enum shim_kind kind, const char *from, const char *to) {
    struct iovec parts[] = {{(void *)(uintptr_t)from, strlen(from) + 1},
                            {(void *)(uintptr_t)to, strlen(to)}};
    shim_note_parts((struct shim_record){.kind = (uint8_t)kind}, parts, 2);
}

/* --- opening and closing --- */

static void file_opened(int fd, const char *path, int flags, bool there) {
    if (fd >= FILES_MAX)
        abort();
    uint8_t record = 0;
    if (!there && (flags & O_CREAT) != 0)
        record |= SHIM_CREATED;
    if (there && (flags & O_TRUNC) != 0)
        record |= SHIM_TRUNCATED;
    uint64_t number = ++next_number;
    files[fd].append = (flags & O_APPEND) != 0;
    files[fd].durable = (flags & (O_DSYNC | O_SYNC)) != 0;
    files[fd].no_room = false;
    __atomic_store_n(&files[fd].number, number, __ATOMIC_RELEASE);
    shim_note((struct shim_record){.kind = SHIM_OPEN, .flags = record, .file = number}, path,
              strlen(path));
}

static int open_any(int at, const char *path, int flags, mode_t mode) {
    char name[PATH_MAX];
    bool ours = (flags & O_TMPFILE) != O_TMPFILE && shim_below(at, path, name);
    if (!ours)
        return REAL(openat)(at, path, flags, mode);
    pthread_mutex_lock(&shim_lock);
    int fd = -1;
    if (!shim_fails(FAULT_OPEN)) {
        bool there = faccessat(at, path, F_OK, 0) == 0;
        if (there && (flags & O_TRUNC) != 0)
            shim_room_freed(path);
        fd = REAL(openat)(at, path, flags, mode);
        if (fd >= 0)
            file_opened(fd, name, flags, there);
    }
    pthread_mutex_unlock(&shim_lock);
    return fd;
}

#define MODE_OF(flags, mode)                                          \
    mode_t mode = 0;                                                  \
    if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
        va_list rest;                                                 \
        va_start(rest, flags);                                        \
        mode = (mode_t)va_arg(rest, int);                             \
        va_end(rest);                                                 \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return open_any(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return open_any(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return open_any(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
    MODE_OF(flags, mode)
    return open_any(at, path, flags, mode);
}

int creat(const char *path, mode_t mode) {
    return open_any(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

int close(int fd) {
    struct open_file *file = file_of(fd);
    if (file == NULL)
        return REAL(close)(fd);
    pthread_mutex_lock(&shim_lock);
    shim_note((struct shim_record){.kind = SHIM_CLOSE, .file = file->number}, "", 0);
    __atomic_store_n(&file->number, 0, __ATOMIC_RELEASE);
    int result = REAL(close)(fd);
    pthread_mutex_unlock(&shim_lock);
    return result;
}

static void note_unseen(const char *path, const char *mode) {
    char name[PATH_MAX];
    if (strpbrk(mode, "wa+") != NULL && shim_below(AT_FDCWD, path, name))
        shim_note_path(SHIM_UNSEEN, name);
}

FILE *fopen(const char *path, const char *mode) {
    note_unseen(path, mode);
    return REAL(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    note_unseen(path, mode);
    return REAL(fopen64)(path, mode);
}

static void *map_any(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    struct open_file *file = file_of(fd);
    if (file != NULL && (protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0)
        shim_note_path(SHIM_UNSEEN, "a written mapping");
    return REAL(mmap)(at, size, protection, flags, fd, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return map_any(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset) {
    return map_any(at, size, protection, flags, fd, offset);
}

/* --- writing --- */

struct write_call {
    int fd;
    const struct iovec *parts;
    int count;
    bool at_end; /* where the file stands, or its end with O_APPEND */
    off_t offset;
};

static size_t parts_size(const struct iovec *parts, int count) {
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    return size;
}

/* The first `size` bytes of the parts, in `out`; how many parts that is. */
static int parts_cut(const struct write_call *call, size_t size, struct iovec *out) {
    int count = 0;
    for (int i = 0; i < call->count && size != 0; i++) {
        size_t take = call->parts[i].iov_len < size ? call->parts[i].iov_len : size;
        out[count++] = (struct iovec){call->parts[i].iov_base, take};
        size -= take;
    }
    return count;
}

static ssize_t write_really(const struct write_call *call, const struct iovec *parts, int count) {
    return call->at_end ? REAL(writev)(call->fd, parts, count)
                        : REAL(pwritev)(call->fd, parts, count, call->offset);
}

static uint64_t write_place(const struct write_call *call, const struct open_file *file) {
    struct stat info;
    if (!call->at_end)
        return (uint64_t)call->offset;
    if (file->append && fstat(call->fd, &info) == 0)
        return (uint64_t)info.st_size;
    return (uint64_t)lseek(call->fd, 0, SEEK_CUR);
}

/* How much of it may be written; 0 with errno for nothing. */
static size_t write_allowed(const struct write_call *call, struct open_file *file, uint64_t place) {
    size_t size = parts_size(call->parts, call->count);
    if (file->no_room) {
        file->no_room = false;
        errno = ENOSPC;
        return 0;
    }
    if (shim_fails(FAULT_WRITE)) {
        if (errno != 0)
            return 0;
        file->no_room = true;
        return size / 2;
    }
    size_t room = shim_room_for(call->fd, place, size);
    if (room == 0)
        errno = ENOSPC;
    return room;
}

/* What is written is zeros, and much: files that are filled beforehand. */
static bool is_filling(const struct iovec *part, int count) {
    const uint8_t *data = part->iov_base;
    return count == 1 && part->iov_len >= 64 * 1024 && data[0] == 0 &&
           memcmp(data, data + 1, part->iov_len - 1) == 0;
}

/* Zeros are told by their number. */
static void note_write(struct shim_record record, const struct iovec *parts, int count) {
    if (!is_filling(parts, count)) {
        shim_note_parts(record, parts, count);
        return;
    }
    record.kind = SHIM_ALLOCATE;
    record.flags = SHIM_ZEROED | SHIM_CREATED;
    record.length = parts[0].iov_len;
    shim_note(record, "", 0);
}

/* A write to the system's memory, under the lock. */
static ssize_t write_plain(const struct write_call *call, struct shim_record record,
                           size_t allowed) {
    struct iovec parts[IOV_MAX];
    uint64_t before = shim_blocks_of(call->fd);
    ssize_t done = write_really(call, parts, parts_cut(call, allowed, parts));
    if (done > 0)
        note_write(record, parts, parts_cut(call, (size_t)done, parts));
    shim_room_taken(call->fd, before);
    return done;
}

/* A durable write that fails: nothing of it, its first half or all of it is where a reader finds
 * it, and a later sync may bring it to the disk. */
static ssize_t write_lost(const struct write_call *call, struct shim_record record,
                          size_t allowed) {
    int reason = errno != 0 ? errno : EIO;
    uint64_t share = shim_faults_fired() % 3;
    size_t size = share == 0 ? 0 : share == 1 ? allowed / 2 / 4096 * 4096 : allowed;
    if (size != 0)
        write_plain(call, record, size);
    errno = reason;
    return -1;
}

/* Lets go of the lock while the disk works. */
static ssize_t write_durable(const struct write_call *call, struct shim_record record,
                             size_t allowed) {
    struct iovec parts[IOV_MAX];
    int count = parts_cut(call, allowed, parts);
    uint64_t pair = ++next_pair, before = shim_blocks_of(call->fd);
    record.flags = SHIM_BEGUN;
    record.length = pair; /* the bytes say how many they are */
    shim_note_parts(record, parts, count);
    pthread_mutex_unlock(&shim_lock);
    ssize_t done = write_really(call, parts, count);
    pthread_mutex_lock(&shim_lock);
    shim_room_taken(call->fd, before);
    if (shim_power_is_off()) {
        errno = EIO;
        return -1;
    }
    if (done == (ssize_t)allowed)
        shim_note((struct shim_record){.kind = SHIM_WROTE, .file = record.file, .offset = pair}, "",
                  0);
    return done;
}

/* Under the lock. */
static ssize_t write_noted(const struct write_call *call, struct open_file *file) {
    uint64_t place = write_place(call, file);
    size_t allowed = write_allowed(call, file, place);
    struct shim_record record = {.kind = SHIM_WRITE, .file = file->number, .offset = place};
    if (allowed == 0)
        return -1;
    if (!file->durable)
        return write_plain(call, record, allowed);
    return shim_fails(FAULT_SYNC) ? write_lost(call, record, allowed)
                                  : write_durable(call, record, allowed);
}

static ssize_t write_any(const struct write_call *call) {
    struct open_file *file = file_of(call->fd);
    if (file == NULL)
        return write_really(call, call->parts, call->count);
    if (parts_size(call->parts, call->count) == 0)
        return 0;
    shim_be_late();
    pthread_mutex_lock(&shim_lock);
    ssize_t done = write_noted(call, file);
    pthread_mutex_unlock(&shim_lock);
    return done;
}

ssize_t write(int fd, const void *data, size_t size) {
    if (file_of(fd) == NULL)
        return REAL(write)(fd, data, size);
    struct iovec part = {(void *)(uintptr_t)data, size};
    return write_any(&(struct write_call){fd, &part, 1, true, 0});
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    return write_any(&(struct write_call){fd, parts, count, true, 0});
}

static ssize_t pwrite_any(int fd, const void *data, size_t size, off_t offset) {
    struct iovec part = {(void *)(uintptr_t)data, size};
    return write_any(&(struct write_call){fd, &part, 1, false, offset});
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return pwrite_any(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    return pwrite_any(fd, data, size, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    return write_any(&(struct write_call){fd, parts, count, false, offset});
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    return write_any(&(struct write_call){fd, parts, count, false, offset});
}

/* Its flags may make one write durable. */
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    struct open_file *file = file_of(fd);
    if (file == NULL)
        return REAL(pwritev2)(fd, parts, count, offset, flags);
    ssize_t done = write_any(&(struct write_call){fd, parts, count, offset == -1, offset});
    if (done > 0 && (flags & (RWF_DSYNC | RWF_SYNC)) != 0 && fdatasync(fd) != 0)
        return -1;
    return done;
}

/* --- reading: only to fail --- */

static ssize_t pread_any(int fd, void *data, size_t size, off_t offset) {
    if (file_of(fd) != NULL && shim_fails(FAULT_READ))
        return -1;
    return REAL(pread)(fd, data, size, offset);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    return pread_any(fd, data, size, offset);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset) {
    return pread_any(fd, data, size, offset);
}

ssize_t read(int fd, void *data, size_t size) {
    if (file_of(fd) != NULL && shim_fails(FAULT_READ))
        return -1;
    return REAL(read)(fd, data, size);
}

/* --- syncing --- */

static int sync_any(int fd, int (*sync)(int)) {
    struct open_file *file = file_of(fd);
    if (file == NULL)
        return sync(fd);
    shim_be_late();
    pthread_mutex_lock(&shim_lock);
    struct shim_record record = {
        .kind = SHIM_SYNC_BEGUN, .file = file->number, .offset = ++next_pair};
    shim_note(record, "", 0);
    bool failed = shim_fails(FAULT_SYNC);
    int reason = failed && errno == 0 ? EIO : errno;
    pthread_mutex_unlock(&shim_lock);
    int result = failed ? -1 : sync(fd);
    pthread_mutex_lock(&shim_lock);
    if (!failed && shim_power_is_off()) { /* it went while the disk worked */
        result = -1;
        failed = true;
        reason = EIO;
    }
    record.kind = result == 0 ? SHIM_SYNCED : SHIM_SYNC_LOST;
    shim_note(record, "", 0);
    pthread_mutex_unlock(&shim_lock);
    if (failed)
        errno = reason;
    return result;
}

int fsync(int fd) {
    return sync_any(fd, REAL(fsync));
}

int fdatasync(int fd) {
    return sync_any(fd, REAL(fdatasync));
}

/* It promises nothing: neither the disk's own cache nor the file's size is written by it. Without
 * flags it does nothing, and cannot fail. */
int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags) {
    pthread_mutex_lock(&shim_lock);
    bool failed = flags != 0 && file_of(fd) != NULL && shim_fails(FAULT_SYNC);
    pthread_mutex_unlock(&shim_lock);
    if (failed)
        return -1;
    return REAL(sync_file_range)(fd, offset, size, flags);
}

/* --- sizes --- */

static int resize(int fd, off_t size) {
    struct open_file *file = file_of(fd);
    if (file == NULL)
        return REAL(ftruncate)(fd, size);
    pthread_mutex_lock(&shim_lock);
    int result = -1;
    if (!shim_fails(FAULT_ALLOCATE)) {
        uint64_t before = shim_blocks_of(fd);
        result = REAL(ftruncate)(fd, size);
        shim_room_taken(fd, before);
    }
    if (result == 0)
        shim_note(
            (struct shim_record){.kind = SHIM_SIZE, .file = file->number, .length = (uint64_t)size},
            "", 0);
    pthread_mutex_unlock(&shim_lock);
    return result;
}

int ftruncate(int fd, off_t size) {
    return resize(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    return resize(fd, size);
}

static void note_allocated(const struct open_file *file, int mode, off_t offset, off_t size) {
    struct shim_record record = {.kind = SHIM_ALLOCATE,
                                 .file = file->number,
                                 .offset = (uint64_t)offset,
                                 .length = (uint64_t)size};
    bool zeroed = (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0;
    if ((mode & ~(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE)) != 0)
        abort(); /* nobody here collapses or inserts */
    record.flags = (uint8_t)((zeroed ? SHIM_ZEROED : 0) |
                             ((mode & FALLOC_FL_KEEP_SIZE) != 0 ? 0 : SHIM_CREATED));
    if (zeroed || (mode & FALLOC_FL_KEEP_SIZE) == 0)
        shim_note(record, "", 0);
}

/* Makes the file as long as reserving would, and reserves nothing. */
static int allocate_nothing(int fd, int mode, off_t end) {
    struct stat info;
    if ((mode & FALLOC_FL_KEEP_SIZE) != 0)
        return 0;
    return fstat(fd, &info) == 0 && info.st_size >= end ? 0 : REAL(ftruncate)(fd, end);
}

static int allocate_really(int fd, int mode, off_t offset, off_t size) {
    bool reserves = (mode & ~FALLOC_FL_KEEP_SIZE) == 0;
    return in_memory && reserves ? allocate_nothing(fd, mode, offset + size)
                                 : REAL(fallocate)(fd, mode, offset, size);
}

static int allocate(int fd, int mode, off_t offset, off_t size) {
    struct open_file *file = file_of(fd);
    if (file == NULL)
        return REAL(fallocate)(fd, mode, offset, size);
    pthread_mutex_lock(&shim_lock);
    int result = -1;
    if (!shim_fails(FAULT_ALLOCATE)) {
        uint64_t before = shim_blocks_of(fd);
        errno = ENOSPC;
        if ((mode & FALLOC_FL_PUNCH_HOLE) != 0 ||
            shim_room_for(fd, (uint64_t)offset, (size_t)size) == (size_t)size)
            result = allocate_really(fd, mode, offset, size);
        shim_room_taken(fd, before);
    }
    if (result == 0)
        note_allocated(file, mode, offset, size);
    pthread_mutex_unlock(&shim_lock);
    return result;
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
    return allocate(fd, mode, offset, size);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
    return allocate(fd, mode, offset, size);
}

int posix_fallocate(int fd, off_t offset, off_t size) {
    return allocate(fd, 0, offset, size) == 0 ? 0 : errno;
}

int posix_fallocate64(int fd, off64_t offset, off64_t size) {
    return allocate(fd, 0, offset, size) == 0 ? 0 : errno;
}
