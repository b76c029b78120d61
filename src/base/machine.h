/* What the machine gives this process. Any thread. */
#ifndef GT_BASE_MACHINE_H
#define GT_BASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of memory that the process may have: the machine's, or less if a control group that it is
 * in (a container, a systemd unit) has a limit. Reads some small files of the system. */
uint64_t machine_memory(void);
/* How many cores the process may run on; at least 1. */
unsigned machine_cores(void);
/* Whether there are so few cores that loops share them with the writer, the store's own threads and
 * maybe the clients. */
bool machine_has_few_cores(void);
/* Microseconds of processor time that nobody used since the machine started, of all cores together,
 * in steps of ten milliseconds. False where the system does not tell. Reads a small file of it. */
bool machine_unused_us(int64_t *out);
/* The least limit of the control groups that the file `groups` lists as /proc/self/cgroup does, and
 * of those above them, as the system tells under `root`; UINT64_MAX: none has one. */
uint64_t machine_group_memory(const char *groups, const char *root);
/* Whether a control group that the process is in limits its processor time. Reads some small files
 * of the system. machine_group_rations() is the same of other files. */
bool machine_is_rationed(void);
bool machine_group_rations(const char *groups, const char *root);

#endif
