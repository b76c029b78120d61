/* The newest of the values that stay in the commit log (log_value.h), so that who follows a stream
 * closely need not read the disk for them.
 *
 * They stand in a ring of bytes, one behind the other; a note for each says where in the log it is
 * and where in the ring. Notes are in the order of the log, so one is found by halving. What is
 * written last goes over what is oldest. Memory is taken when the first value comes. */
#ifndef GT_STORE_RECENT_VALUES_H
#define GT_STORE_RECENT_VALUES_H

#include "store/commit_log.h"

#include <pthread.h>

struct recent_note;

struct recent_values {
    pthread_mutex_t lock; /* over all below; held while one value is copied at most */
    size_t size;          /* of the ring */
    uint8_t *ring;        /* NULL: there was no value yet */
    struct recent_note *notes;
    uint64_t first, count; /* notes: the oldest one's number, and how many */
    uint64_t end;          /* bytes that were ever put into the ring */
};

/* `size` bytes of values are kept; those over an eighth of that are not. */
void recent_values_init(struct recent_values *recent, size_t size);
void recent_values_release(struct recent_values *recent);

/* The next value of the log: one thread, and places rise. */
void recent_values_add(struct recent_values *recent, const struct log_place *place,
                       struct bytes value);
/* Copies the value into the arena; false if it is not here. Any thread. */
bool recent_values_find(struct recent_values *recent, const struct log_place *place,
                        struct arena *arena, struct bytes *out);
/* Forgets all: the log is read anew, and what stands where may differ. Any thread. */
void recent_values_clear(struct recent_values *recent);
/* Bytes of memory. Any thread. */
size_t recent_values_memory(struct recent_values *recent);

#endif
