/* What the parts of the file shim share: file_shim.c (open files, and the journal), shim_names.c
 * (names below the folder) and shim_faults.c (what fails). Each has the functions of the C library
 * that are about its noun, under the names that programs call them by. */
#ifndef GT_TEST_SHIM_INT_H
#define GT_TEST_SHIM_INT_H

#include "file_shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>

/* The program that the shim is loaded into sees nothing of this. */
#pragma GCC visibility push(hidden)

/* The C library's own function. */
#define REAL(name) ((__typeof__(&name))shim_real(#name))

static inline void *shim_real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        abort();
    return found;
}

/* Held over each operation below the folder and its record. */
extern pthread_mutex_t shim_lock;

/* ---- the journal (file_shim.c): appends a record; under the lock, errno stays ---- */

/* The kind, flags and numbers are the caller's, the size is filled in. Without a journal, and while
 * the power is off, nothing is written. */
void shim_note_parts(struct shim_record record, const struct iovec *parts, int count);
void shim_note(struct shim_record record, const void *data, size_t size);
void shim_note_path(enum shim_kind kind, const char *path);
void shim_note_paths(enum shim_kind kind, const char *from, const char *to);

/* ---- the folder (shim_names.c) ---- */

/* Follows this folder from now on; NULL: none. False if it does not exist. While no file of the
 * folder before is open, and no other thread calls the shim. */
bool shim_names_follow(const char *path);
/* The path below the folder ("" for the folder itself) in `out`, of PATH_MAX bytes; false if it is
 * elsewhere. Relative paths are below `at`, an open folder or AT_FDCWD. Any thread, without the
 * lock. */
bool shim_below(int at, const char *path, char *out);

#pragma GCC visibility pop

#endif
