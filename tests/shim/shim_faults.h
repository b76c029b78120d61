/* What fails below the folder, as the driver asks for it: single operations (struct shim_control),
 * all of them once the power is off, writes when the folder is full; what comes late, and when the
 * process is killed. Under `shim_lock` unless it says otherwise. Nothing is allocated: the control
 * is mapped from a file until the process ends, or is the caller's of shim_follow(). */
#ifndef GT_TEST_SHIM_FAULTS_H
#define GT_TEST_SHIM_FAULTS_H

#include "file_shim.h"

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Maps the control file that SHIM_CONTROL names, if there is one. Before there are threads. */
void shim_faults_open(void);
/* The control and the lateness of these settings (NULL: nothing fails), with the power on. */
void shim_faults_follow(const struct shim_settings *settings);

/* Counts the operation and says whether it is to fail; then errno is set, to 0 for a write to be
 * cut short. May kill the process. Not under the lock if it reads. */
bool shim_fails(enum shim_fault kind);
/* How many have failed. */
uint64_t shim_faults_fired(void);
/* One operation in eight comes up to half a millisecond late, so that others overtake it. Sleeps:
 * not under the lock. */
void shim_be_late(void);

/* Bytes that the file takes on the disk; 0 for what is no file. */
uint64_t shim_blocks_of(int fd);
/* How many of the `size` bytes from `start` on there is room for. */
size_t shim_room_for(int fd, uint64_t start, size_t size);
/* An operation has changed what the file takes, which was shim_blocks_of() `before`. */
void shim_room_taken(int fd, uint64_t before);
/* The file is about to be removed or emptied. */
void shim_room_freed(const char *path);

#pragma GCC visibility pop

#endif
