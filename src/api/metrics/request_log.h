/* Requests that were slow, and all of them while somebody looks on: a slow log and a live tail over
 * all front ends. What is kept of a request is its operation, what it was about (a table, a key, a
 * path), sizes, time and who asked; no values, and no secrets.
 *
 * Slow ones are kept in a ring. A tail's are kept until the monitor's thread
 * takes them; what is more than LIMIT_TAIL_REQUESTS by then is only counted. Nothing is kept while
 * nobody looks on, and asking whether somebody does is one load. Any thread, unless it says
 * otherwise.
 */
#ifndef GT_API_METRICS_REQUEST_LOG_H
#define GT_API_METRICS_REQUEST_LOG_H

#include "api/metrics/metrics.h"

#include <pthread.h>
#include <stdatomic.h>

struct request_record {
    int64_t at_ms;
    uint64_t us;
    uint64_t bytes_in, bytes_out;
    enum metrics_front front;
    int status; /* of HTTP; 0: none, as with Redis */
    char operation[40], reason[40];
    char subject[96]; /* cut off if it is longer */
    char who[48];
};

/* The texts of a record, which copies them; empty ones are left out. */
struct request_texts {
    struct bytes operation, reason, subject, who;
};
void request_record_set(struct request_record *record, const struct request_texts *texts);

struct request_log {
    _Atomic(uint64_t) slow_us; /* from when on a request is slow */
    atomic_uint watchers;
    pthread_mutex_t mutex; /* over all that follows */
    struct request_record *slow;
    size_t slow_room, slow_count, slow_next;
    struct request_record *tail; /* those that nobody has taken yet; NULL: nobody looked on yet */
    size_t tail_count;
    uint64_t tail_dropped;
};

/* Keeps up to `room` slow ones. */
void request_log_init(struct request_log *log, uint64_t slow_us, size_t room);
void request_log_release(struct request_log *log);

/* Whether a request of that duration is to be added. */
static inline bool request_log_wants(const struct request_log *log, uint64_t us) {
    return us >= atomic_load_explicit(&log->slow_us, memory_order_relaxed) ||
           atomic_load_explicit(&log->watchers, memory_order_relaxed) != 0;
}
void request_log_add(struct request_log *log, const struct request_record *record);

/* Copies the slow ones, the newest first; returns how many. */
size_t request_log_slow(struct request_log *log, struct request_record *out, size_t room);
void request_log_forget(struct request_log *log);
/* Takes those of the tail, the oldest first: *out is to be freed with mem_free(). */
size_t request_log_take(struct request_log *log, struct request_record **out, uint64_t *dropped);

/* Appends the record as JSON. */
void request_record_put(struct buf *to, const struct request_record *record);

#endif
