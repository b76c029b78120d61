/* When each kind of partition last had a record in a stream.
 *
 * The kind of a partition is the beginning of its name up to the first '#': that of "PLAYER#ann" is
 * "PLAYER#". Who follows a few kinds (stream_read_request.partitions) would read all of a stream
 * from the log to find that none of its records is of them, at the full rate of the writers. Here
 * it is known without reading: of each kind the number of the last record, in one of a few slots by
 * the kind's hash. Kinds that share a slot are read for nothing, none is ever missed.
 *
 * This is memory only, so it speaks of the records that were made since the stream was loaded. */
#ifndef GT_TABLE_LOCAL_STREAM_KINDS_H
#define GT_TABLE_LOCAL_STREAM_KINDS_H

#include "base/bytes.h"

#include <stdatomic.h>

enum { STREAM_KINDS = 256 };

struct stream_kinds {
    uint64_t since; /* records from this number on are known */
    _Atomic(uint64_t) last[STREAM_KINDS];
};

/* Notes a record that will be in the next commit or the one behind it: of the item with this key in
 * the store. The writer only. */
void stream_kinds_note(struct stream_kinds *kinds, struct bytes item_key, uint64_t sequence);
/* Whether there is none from this number on whose partition begins with one of the prefixes, among
 * those whose commit the caller sees. Under `state_lock`. */
bool stream_kinds_lack(const struct stream_kinds *kinds, uint64_t from,
                       const struct bytes *prefixes, size_t count);

#endif
