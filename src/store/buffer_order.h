/* The order of a write buffer's keys (write_buffer.h), of one family: a skip list (Pugh 1990).
 *
 * Entries that are new stand in a stack, linked by next[0], which the writer pushes onto without a
 * lock.
 * buffer_order_make() sorts what is there and inserts it into the list, sixteen entries at a time,
 * so that the cache misses of their searches overlap. One inserts at a time, under a lock; readers
 * walk the list meanwhile and take none. Nothing ever leaves it: the memory of entries is the
 * buffer's, and goes with it. */
#ifndef GT_STORE_BUFFER_ORDER_H
#define GT_STORE_BUFFER_ORDER_H

#include "base/bytes.h"
#include "base/random.h"

#include <pthread.h>
#include <stdatomic.h>

struct buffer_entry;

enum { BUFFER_HEIGHT_MAX = 12 }; /* levels of the list */

struct buffer_order {
    _Atomic(struct buffer_entry *) pending; /* the stack */
    atomic_size_t added, ordered;           /* entries; the rest is pending */
    pthread_mutex_t lock;                   /* of those who put entries in order */
    atomic_uint height;
    _Atomic(struct buffer_entry *) head[BUFFER_HEIGHT_MAX];
};

/* In memory that is zero. */
void buffer_order_init(struct buffer_order *order);
void buffer_order_release(struct buffer_order *order);

/* On how many levels a new entry stands: one in four is a level higher than the others. */
uint8_t buffer_order_height(struct random *random);
/* Adds an entry with its key and height set. The writer only. */
void buffer_order_push(struct buffer_order *order, struct buffer_entry *entry);
/* Puts into order what was added so far. Waits for somebody who is at it. Any thread. */
void buffer_order_make(struct buffer_order *order);
/* How many entries were added, and how many are not in order yet. Any thread. */
size_t buffer_order_count(const struct buffer_order *order);
size_t buffer_order_pending(const struct buffer_order *order);

/* Of what is in order: the first entry that is not before the key, the last that is before it, the
 * last of all. NULL: none. Any thread. */
const struct buffer_entry *buffer_order_seek(const struct buffer_order *order, struct bytes key);
const struct buffer_entry *buffer_order_before(const struct buffer_order *order, struct bytes key);
const struct buffer_entry *buffer_order_last(const struct buffer_order *order);

#endif
