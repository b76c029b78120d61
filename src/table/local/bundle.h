/* Bundles: the records of one commit that stand in the same shard of a stream, stored as one value.
 *
 *   0x40 before:varint (step:varint size:varint record)+
 *
 * A record's sequence number is that of the one before it, or `before`, and its step, which is not
 * 0. The value's key has the last one's: so the first key that is not below a number is the key of
 * the bundle that has that record or, if there is none, the next.
 *
 * A record on its own is stored as it is: its first byte, the flags, is never 0x40
 * (stream_record.c). Programs of format 1 (store/data_folder.h) stored all of them like that. */
#ifndef GT_TABLE_LOCAL_BUNDLE_H
#define GT_TABLE_LOCAL_BUNDLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

enum { BUNDLE_MARK = 0x40, BUNDLE_SIZE_MAX = 64 * 1024 };

/* --- making one --- */

/* Zero is empty. The memory is an arena's. */
struct bundle {
    uint8_t *data;
    size_t size, room;
    size_t alone_at; /* where the first record begins */
    size_t count;
    uint64_t last; /* sequence number */
};

/* Whether a record of that size still fits: one always does. */
bool bundle_takes(const struct bundle *bundle, size_t size);
/* Adds a record of exactly that size, which the caller puts into the buffer that is returned,
 * before anything else is added. The sequence number is larger than the last one's. */
struct buf bundle_add(struct bundle *bundle, struct arena *arena, uint64_t sequence, size_t size);
/* What is stored. */
struct bytes bundle_bytes(const struct bundle *bundle);

/* --- reading one --- */

/* Over the records of a stored value, whose bytes must last as long. */
struct bundle_iter {
    struct bytes rest;
    uint64_t last;     /* as the key has it */
    uint64_t sequence; /* of the record that was read last */
    bool alone;        /* a record that is stored as it is, and not yet read */
    bool damaged;
};

/* `last` is the sequence number of the key. */
struct bundle_iter bundle_read(struct bytes stored, uint64_t last);
/* The next record and its sequence number, in the order of these; NOT_FOUND at the end, or DAMAGED,
 * and again the same after that. What a record's own bytes say is not looked at. */
enum status bundle_next(struct bundle_iter *iter, uint64_t *sequence, struct bytes *record);
/* The last record. */
enum status bundle_last(struct bytes stored, uint64_t last, struct bytes *record);

#endif
