/* Threads: starting them, and the processor that one runs on. Any thread. */
#ifndef GT_BASE_THREAD_H
#define GT_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* As pthread_create(), but the thread may run on all processors that the process may use, also if
 * the caller is bound to one. 0, or why there is none. */
int thread_start(pthread_t *out, void *(*run)(void *argument), void *argument);

/* The number of the calling thread, and of the processor it runs on at present; 0 and -1 where the
 * system does not tell. */
int thread_number(void);
int thread_processor(void);
/* Binds a thread of this process to a processor, or lets it run on all that the process may use
 * (-1). False if there is no such thread, or the system does not do that. */
bool thread_bind(int number, int processor);

#endif
