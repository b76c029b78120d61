/* What the machine gives this process. Any thread. */
#ifndef GT_BASE_MACHINE_H
#define GT_BASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of memory that the process may have: the machine's, or less if a control group that it is
 * in (a container, a systemd unit) has a limit. Reads some small files of the system. */
uint64_t machine_memory(void);
/* Whether it has so few cores that loops share them with the writer, the store's own threads and
 * maybe the clients. */
bool machine_has_few_cores(void);
/* The number of the calling thread, and of the processor it runs on at present; 0 and -1 where the
 * system does not tell. */
int machine_thread(void);
int machine_processor(void);
/* Binds a thread of this process to a processor, or lets it run on all that the process may use
 * (-1). False if the system does not do that. */
bool machine_bind(int thread, int processor);
/* Microseconds of processor time that nobody used since the machine started, of all cores together,
 * in steps of ten milliseconds. False where the system does not tell. Reads a small file of it. */
bool machine_unused_us(int64_t *out);
/* The least limit of the control groups that the file `groups` lists as /proc/self/cgroup does, and
 * of those above them, as the system tells under `root`; UINT64_MAX: none has one. */
uint64_t machine_group_memory(const char *groups, const char *root);

#endif
