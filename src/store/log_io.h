/* The file operations by which the commit log changes the disk: each in one place, so that tests
 * can make any of them fail. All return 0 or a descriptor, or -1 with errno set. Any thread. */
#ifndef GT_STORE_LOG_IO_H
#define GT_STORE_LOG_IO_H

#include "store/commit_log.h"

struct log_io {
    const char *path; /* the log's folder */
    struct log_faults *faults;
};

enum { LOG_NAME_SIZE = 32 };

/* Opens a file of the folder. */
int log_io_open(const struct log_io *io, const char *name, int flags);
/* Writes all of it at that offset. */
int log_io_write(const struct log_io *io, int file, struct bytes bytes, uint64_t offset);
int log_io_sync(const struct log_io *io, int file);
/* Reserves space for a file of that size. */
int log_io_allocate(const struct log_io *io, int file, uint64_t size);
/* Renames within the folder; on the disk when it returns. */
int log_io_rename(const struct log_io *io, const char *from, const char *to);
int log_io_remove(const struct log_io *io, const char *name);

#endif
