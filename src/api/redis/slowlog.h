/* The last calls that took long, for SLOWLOG. Any thread; a mutex of its own. */
#ifndef GT_API_REDIS_SLOWLOG_H
#define GT_API_REDIS_SLOWLOG_H

#include "base/bytes.h"

#include <pthread.h>
#include <stdatomic.h>

struct redis_call;
struct slowlog_entry;

struct slowlog {
    atomic_llong slower_than_us; /* what is noted; negative: nothing */
    atomic_llong length_max;
    pthread_mutex_t mutex;
    struct slowlog_entry *first; /* newest first */
    int64_t count, last_id;
};

void slowlog_init(struct slowlog *slowlog);
void slowlog_release(struct slowlog *slowlog);
/* Notes the call if it took long. On its loop, while its arguments are there. */
void slowlog_note(struct redis_call *call, uint64_t usec);
/* The setting was changed: entries beyond it go. */
void slowlog_trim(struct slowlog *slowlog);

#endif
