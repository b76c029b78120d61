/* Files and folders as wholes: made, put in place, removed, each so that a crash leaves the old
 * state or the new one. All return 0, or -1 with errno set. Any thread. */
#ifndef GT_BASE_FILES_H
#define GT_BASE_FILES_H

#include "base/arena.h"

/* "folder/name", on the heap. */
char *files_join(const char *folder, const char *name);
/* Makes the folder and those above it; one that is there is fine. */
int files_make_path(const char *path);
/* Removes a file, or a folder with all in it. Nothing there is fine. Links are not followed. */
int files_remove(const char *path);
/* Waits until a file's bytes, or a folder's entries, are on the disk. */
int files_sync(const char *path);
/* The same for a folder and everything in it. */
int files_sync_all(const char *path);
/* Renames, and syncs the folder above. Refuses with EEXIST if there is something at `to`. */
int files_move(const char *from, const char *to);
/* Puts a file of these bytes in place whole or not at all, on the disk when it returns. */
int files_put(const char *path, struct bytes bytes);
/* Reads a file of at most `most` bytes into the arena; EFBIG if it is larger. */
int files_get(const char *path, size_t most, struct arena *arena, struct bytes *out);
/* Writes all of it. */
int files_write(int file, struct bytes bytes);

#endif
