/* Stands between a program and its data folder: writes down each file operation (SHIM_JOURNAL) and
 * makes chosen ones fail (SHIM_CONTROL), below the folder SHIM_FOLDER and nowhere else.
 * shim_journal.h has the formats. It is a library for LD_PRELOAD; a test program that has the
 * engine in itself is linked with it instead, and calls file_shim.h.
 *
 * One lock is held over each operation and its record, so that the journal has them in the order in
 * which they happened. Syncs, and writes that return when the disk has them, may take long: they
 * have two records and no lock between. */
#include "file_shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES_MAX = 65536, SHORT_NEXT = 1 };

struct open_file {
    uint64_t number; /* 0: not below the folder */
    bool append;
    bool durable; /* O_DSYNC or O_SYNC */
    bool no_room; /* the next write fails: this one was cut short */
};

static struct open_file files[FILES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_size;
static int journal = -1;
static struct shim_control *control;
static uint64_t next_number, next_pair;
static uint64_t power_in; /* operations until the power goes; 0: it stays */
static bool power_off;
static uint64_t late_seed, late_count;
static bool
    in_memory; /* linked in: the folder is thought to be in memory, where to reserve costs */

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        abort();
    return found;
}

/* --- setting up --- */

static void control_open(void) {
    const char *path = getenv("SHIM_CONTROL");
    int file = path != NULL ? REAL(open)(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *at = REAL(mmap)(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    control = at != MAP_FAILED ? at : NULL;
    REAL(close)(file);
}

__attribute__((constructor)) static void shim_start(void) {
    const char *where = getenv("SHIM_FOLDER"), *path = getenv("SHIM_JOURNAL");
    if (where == NULL || realpath(where, folder) == NULL)
        return;
    folder_size = strlen(folder);
    next_number = (uint64_t)getpid() << 32;
    int file =
        path != NULL ? REAL(open)(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        journal = fcntl(file, F_DUPFD_CLOEXEC, FILES_MAX / 128);
        REAL(close)(file);
    }
    control_open();
}

/* --- for the program that it is linked into --- */

void shim_follow(const struct shim_settings *settings) {
    folder_size = 0;
    if (settings != NULL && realpath(settings->folder, folder) == NULL)
        abort();
    pthread_mutex_lock(&lock);
    journal = settings != NULL ? settings->journal : -1;
    control = settings != NULL ? settings->control : NULL;
    late_seed = settings != NULL ? settings->late_seed : 0;
    power_in = 0;
    in_memory = true;
    __atomic_store_n(&power_off, false, __ATOMIC_RELEASE);
    if (next_number == 0)
        next_number = (uint64_t)getpid() << 32;
    folder_size = settings != NULL ? strlen(folder) : 0;
    pthread_mutex_unlock(&lock);
}

void shim_cut_power(uint64_t in) {
    pthread_mutex_lock(&lock);
    power_in = in;
    if (in == 0)
        __atomic_store_n(&power_off, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

bool shim_power_is_off(void) {
    return __atomic_load_n(&power_off, __ATOMIC_ACQUIRE);
}

/* One operation in eight comes up to half a millisecond late: others overtake it. */
static void be_late(void) {
    if (late_seed == 0)
        return;
    uint64_t dice = __atomic_add_fetch(&late_count, 1, __ATOMIC_RELAXED) * 0x9e3779b97f4a7c15u;
    dice = (dice ^ late_seed) * 0xbf58476d1ce4e5b9u;
    if (dice >> 61 == 0)
        usleep((useconds_t)((dice >> 32) % 500));
}

/* --- paths --- */

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

/* The path below the folder ("" for the folder itself) in `out`, of PATH_MAX bytes; false if it is
 * elsewhere. */
static bool below(int at, const char *path, char *out) {
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

static struct open_file *file_of(int fd) {
    return fd >= 0 && fd < FILES_MAX && __atomic_load_n(&files[fd].number, __ATOMIC_ACQUIRE) != 0
               ? &files[fd]
               : NULL;
}

/* --- the journal --- */

static void note_parts(struct shim_record record, const struct iovec *parts, int count) {
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

static void note(struct shim_record record, const void *data, size_t size) {
    struct iovec part = {(void *)(uintptr_t)data, size};
    note_parts(record, &part, 1);
}

static void note_path(enum shim_kind kind, const char *path) {
    note((struct shim_record){.kind = (uint8_t)kind}, path, strlen(path));
}

static void note_paths(enum shim_kind kind, const char *from, const char *to) {
    struct iovec parts[] = {{(void *)(uintptr_t)from, strlen(from) + 1},
                            {(void *)(uintptr_t)to, strlen(to)}};
    note_parts((struct shim_record){.kind = (uint8_t)kind}, parts, 2);
}

/* --- faults --- */

/* Whether the power is off at this operation, which counts unless it only reads. */
static bool power_fails(enum shim_fault kind) {
    if (kind != FAULT_READ && power_in != 0 && --power_in == 0)
        __atomic_store_n(&power_off, true, __ATOMIC_RELEASE);
    if (!shim_power_is_off())
        return false;
    errno = EIO;
    return true;
}

/* Kills the process if it is told to. The lock is held: what other threads have done is written
 * down, which a signal from outside does not wait for. */
static void die_if_told(void) {
    uint64_t in = control != NULL ? __atomic_load_n(&control->die_in, __ATOMIC_RELAXED) : 0;
    if (in > 1)
        __atomic_store_n(&control->die_in, in - 1, __ATOMIC_RELAXED);
    if (in == 1)
        for (kill(getpid(), SIGKILL);;)
            pause();
}

/* Whether this operation is to fail; then errno is set, to 0 for a write to be cut short. Under the
 * lock, unless it reads. */
static bool fails(enum shim_fault kind) {
    if (kind != FAULT_READ)
        die_if_told();
    if (power_fails(kind))
        return true;
    if (control == NULL)
        return false;
    __atomic_add_fetch(&control->counts[kind], 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&control->kind, __ATOMIC_RELAXED) != (uint32_t)kind)
        return false;
    uint64_t in = __atomic_load_n(&control->in, __ATOMIC_RELAXED);
    if (in == 0)
        return false;
    if (in > 1) {
        __atomic_store_n(&control->in, in - 1, __ATOMIC_RELAXED);
        return false;
    }
    if (control->times <= 1)
        control->in = 0;
    else
        control->times--;
    control->fired++;
    errno = (int)control->error;
    return true;
}

static uint64_t blocks_of(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_blocks * 512 : 0;
}

/* How many of the bytes up to `end` there is room for, as seen from `start`. */
static size_t room_for(int fd, uint64_t start, size_t size) {
    if (control == NULL || control->room == 0)
        return size;
    uint64_t has = blocks_of(fd), used = control->used;
    uint64_t end = has + (control->room > used ? control->room - used : 0);
    if (start + size <= end)
        return size;
    return end > start ? (size_t)(end - start) : 0;
}

static void room_taken(int fd, uint64_t before) {
    if (control != NULL)
        control->used +=
            blocks_of(fd) - before; /* may be less than before: unsigned numbers do it */
}

static void room_freed(const char *path) {
    struct stat info;
    if (control != NULL && lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1)
        control->used -= (uint64_t)info.st_blocks * 512;
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
    note((struct shim_record){.kind = SHIM_OPEN, .flags = record, .file = number}, path,
         strlen(path));
}

static int open_any(int at, const char *path, int flags, mode_t mode) {
    char name[PATH_MAX];
    bool ours = (flags & O_TMPFILE) != O_TMPFILE && below(at, path, name);
    if (!ours)
        return REAL(openat)(at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int fd = -1;
    if (!fails(FAULT_OPEN)) {
        bool there = faccessat(at, path, F_OK, 0) == 0;
        if (there && (flags & O_TRUNC) != 0)
            room_freed(path);
        fd = REAL(openat)(at, path, flags, mode);
        if (fd >= 0)
            file_opened(fd, name, flags, there);
    }
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    note((struct shim_record){.kind = SHIM_CLOSE, .file = file->number}, "", 0);
    __atomic_store_n(&file->number, 0, __ATOMIC_RELEASE);
    int result = REAL(close)(fd);
    pthread_mutex_unlock(&lock);
    return result;
}

static void note_unseen(const char *path, const char *mode) {
    char name[PATH_MAX];
    if (strpbrk(mode, "wa+") != NULL && below(AT_FDCWD, path, name))
        note_path(SHIM_UNSEEN, name);
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
        note_path(SHIM_UNSEEN, "a written mapping");
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
    if (fails(FAULT_WRITE)) {
        if (errno != 0)
            return 0;
        file->no_room = true;
        return size / 2;
    }
    size_t room = room_for(call->fd, place, size);
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
        note_parts(record, parts, count);
        return;
    }
    record.kind = SHIM_ALLOCATE;
    record.flags = SHIM_ZEROED | SHIM_CREATED;
    record.length = parts[0].iov_len;
    note(record, "", 0);
}

/* A write to the system's memory, under the lock. */
static ssize_t write_plain(const struct write_call *call, struct shim_record record,
                           size_t allowed) {
    struct iovec parts[IOV_MAX];
    uint64_t before = blocks_of(call->fd);
    ssize_t done = write_really(call, parts, parts_cut(call, allowed, parts));
    if (done > 0)
        note_write(record, parts, parts_cut(call, (size_t)done, parts));
    room_taken(call->fd, before);
    return done;
}

/* A durable write that fails: nothing of it, its first half or all of it is where a reader finds
 * it, and a later sync may bring it to the disk. */
static ssize_t write_lost(const struct write_call *call, struct shim_record record,
                          size_t allowed) {
    int reason = errno != 0 ? errno : EIO;
    uint64_t share = control != NULL ? control->fired % 3 : 0;
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
    uint64_t pair = ++next_pair, before = blocks_of(call->fd);
    record.flags = SHIM_BEGUN;
    record.length = pair; /* the bytes say how many they are */
    note_parts(record, parts, count);
    pthread_mutex_unlock(&lock);
    ssize_t done = write_really(call, parts, count);
    pthread_mutex_lock(&lock);
    room_taken(call->fd, before);
    if (shim_power_is_off()) {
        errno = EIO;
        return -1;
    }
    if (done == (ssize_t)allowed)
        note((struct shim_record){.kind = SHIM_WROTE, .file = record.file, .offset = pair}, "", 0);
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
    return fails(FAULT_SYNC) ? write_lost(call, record, allowed)
                             : write_durable(call, record, allowed);
}

static ssize_t write_any(const struct write_call *call) {
    struct open_file *file = file_of(call->fd);
    if (file == NULL)
        return write_really(call, call->parts, call->count);
    if (parts_size(call->parts, call->count) == 0)
        return 0;
    be_late();
    pthread_mutex_lock(&lock);
    ssize_t done = write_noted(call, file);
    pthread_mutex_unlock(&lock);
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
    if (file_of(fd) != NULL && fails(FAULT_READ))
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
    if (file_of(fd) != NULL && fails(FAULT_READ))
        return -1;
    return REAL(read)(fd, data, size);
}

/* --- syncing --- */

static int sync_any(int fd, int (*sync)(int)) {
    struct open_file *file = file_of(fd);
    if (file == NULL)
        return sync(fd);
    be_late();
    pthread_mutex_lock(&lock);
    struct shim_record record = {
        .kind = SHIM_SYNC_BEGUN, .file = file->number, .offset = ++next_pair};
    note(record, "", 0);
    bool failed = fails(FAULT_SYNC);
    int reason = failed && errno == 0 ? EIO : errno;
    pthread_mutex_unlock(&lock);
    int result = failed ? -1 : sync(fd);
    pthread_mutex_lock(&lock);
    if (!failed && shim_power_is_off()) { /* it went while the disk worked */
        result = -1;
        failed = true;
        reason = EIO;
    }
    record.kind = result == 0 ? SHIM_SYNCED : SHIM_SYNC_LOST;
    note(record, "", 0);
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    bool failed = flags != 0 && file_of(fd) != NULL && fails(FAULT_SYNC);
    pthread_mutex_unlock(&lock);
    if (failed)
        return -1;
    return REAL(sync_file_range)(fd, offset, size, flags);
}

/* --- sizes --- */

static int resize(int fd, off_t size) {
    struct open_file *file = file_of(fd);
    if (file == NULL)
        return REAL(ftruncate)(fd, size);
    pthread_mutex_lock(&lock);
    int result = -1;
    if (!fails(FAULT_ALLOCATE)) {
        uint64_t before = blocks_of(fd);
        result = REAL(ftruncate)(fd, size);
        room_taken(fd, before);
    }
    if (result == 0)
        note(
            (struct shim_record){.kind = SHIM_SIZE, .file = file->number, .length = (uint64_t)size},
            "", 0);
    pthread_mutex_unlock(&lock);
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
        note(record, "", 0);
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
    pthread_mutex_lock(&lock);
    int result = -1;
    if (!fails(FAULT_ALLOCATE)) {
        uint64_t before = blocks_of(fd);
        errno = ENOSPC;
        if ((mode & FALLOC_FL_PUNCH_HOLE) != 0 ||
            room_for(fd, (uint64_t)offset, (size_t)size) == (size_t)size)
            result = allocate_really(fd, mode, offset, size);
        room_taken(fd, before);
    }
    if (result == 0)
        note_allocated(file, mode, offset, size);
    pthread_mutex_unlock(&lock);
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

/* --- names --- */

static int rename_any(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    char old[PATH_MAX], new[PATH_MAX];
    bool ours = below(from_at, from, old);
    if (below(to_at, to, new) != ours || (ours && (flags & ~(unsigned)RENAME_NOREPLACE) != 0))
        abort(); /* in or out of the folder: not followed */
    if (!ours)
        return flags == 0 ? REAL(renameat)(from_at, from, to_at, to)
                          : REAL(renameat2)(from_at, from, to_at, to, flags);
    be_late();
    pthread_mutex_lock(&lock);
    int result = -1;
    if (!fails(FAULT_RENAME)) {
        room_freed(to);
        result = flags == 0 ? REAL(renameat)(from_at, from, to_at, to)
                            : REAL(renameat2)(from_at, from, to_at, to, flags);
    }
    if (result == 0)
        note_paths(SHIM_RENAME, old, new);
    pthread_mutex_unlock(&lock);
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
    bool ours = below(from_at, from, old);
    if (below(to_at, to, new) != ours)
        abort();
    if (!ours)
        return REAL(linkat)(from_at, from, to_at, to, flags);
    pthread_mutex_lock(&lock);
    int result = fails(FAULT_RENAME) ? -1 : REAL(linkat)(from_at, from, to_at, to, flags);
    if (result == 0)
        note_paths(SHIM_LINK, old, new);
    pthread_mutex_unlock(&lock);
    return result;
}

int link(const char *from, const char *to) {
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int at, const char *path, int flags) {
    char name[PATH_MAX];
    if (!below(at, path, name))
        return REAL(unlinkat)(at, path, flags);
    pthread_mutex_lock(&lock);
    int result = -1;
    if (!fails(FAULT_UNLINK)) {
        if (at == AT_FDCWD || path[0] == '/')
            room_freed(path);
        result = REAL(unlinkat)(at, path, flags);
    }
    if (result == 0)
        note_path((flags & AT_REMOVEDIR) != 0 ? SHIM_RMDIR : SHIM_UNLINK, name);
    pthread_mutex_unlock(&lock);
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
    if (!below(at, path, name))
        return REAL(mkdirat)(at, path, mode);
    pthread_mutex_lock(&lock);
    int result = fails(FAULT_MKDIR) ? -1 : REAL(mkdirat)(at, path, mode);
    if (result == 0)
        note_path(SHIM_MKDIR, name);
    pthread_mutex_unlock(&lock);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    return mkdirat(AT_FDCWD, path, mode);
}
