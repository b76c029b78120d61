#include "store/log_io.h"

#include "base/files.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Whether this one is to fail. */
static bool log_fault(const struct log_io *io) {
    struct log_faults *faults = io->faults;
    if (faults == NULL)
        return false;
    int now = __atomic_load_n(&faults->change_in, __ATOMIC_ACQUIRE);
    while (now > 0) {
        int next = now == 1 && faults->sticky ? 1 : now - 1;
        if (__atomic_compare_exchange_n(&faults->change_in, &now, next, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE)) {
            errno = faults->error;
            return now == 1;
        }
    }
    return false;
}

int log_io_open(const struct log_io *io, const char *name, int flags) {
    if ((flags & O_CREAT) != 0 && log_fault(io))
        return -1;
    char *path = files_join(io->path, name);
    int file = open(path, flags | O_CLOEXEC, 0600);
    mem_free(path);
    return file;
}

static int write_all(int file, struct bytes bytes, uint64_t offset) {
    while (bytes.size != 0) {
        ssize_t done = pwrite(file, bytes.data, bytes.size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done == 0 ? EIO : errno;
            return -1;
        }
        bytes = bytes_skip(bytes, (size_t)done);
        offset += (uint64_t)done;
    }
    return 0;
}

int log_io_write(const struct log_io *io, int file, struct bytes bytes, uint64_t offset) {
    if (!log_fault(io))
        return write_all(file, bytes, offset);
    int error = errno;
    write_all(file, bytes_of(bytes.data, bytes.size / 2 / 512 * 512), offset);
    errno = error;
    return -1;
}

int log_io_sync(const struct log_io *io, int file) {
    return log_fault(io) ? -1 : fdatasync(file);
}

int log_io_allocate(const struct log_io *io, int file, uint64_t size) {
    if (log_fault(io))
        return -1;
    if (fallocate(file, 0, 0, (off_t)size) == 0)
        return 0;
    return errno == EOPNOTSUPP ? ftruncate(file, (off_t)size) : -1;
}

int log_io_rename(const struct log_io *io, const char *from, const char *to) {
    if (log_fault(io))
        return -1;
    char *old = files_join(io->path, from), *new = files_join(io->path, to);
    int result = rename(old, new);
    mem_free(old);
    mem_free(new);
    if (result != 0 || log_fault(io))
        return -1;
    return files_sync(io->path);
}

int log_io_remove(const struct log_io *io, const char *name) {
    if (log_fault(io))
        return -1;
    char *path = files_join(io->path, name);
    int result = unlink(path);
    mem_free(path);
    return result;
}
