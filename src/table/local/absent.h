/* What is surely not there, of partitions that are being loaded.
 *
 * Nearly every item of a load is new, and to learn that from the store is the dearest thing the
 * writer does for it. So of the partition that a large change writes to, if it is small by then,
 * all keys are noted in a filter, and from then on all that are written: what is not in it is
 * not in the store, nor in a group on its way there. It may know keys that are gone, or were never
 * committed; never too few. 12 bits a key, given back when no large change came for a while.
 *
 * A few partitions at a time. The writer thread's alone. */
#ifndef GT_TABLE_LOCAL_ABSENT_H
#define GT_TABLE_LOCAL_ABSENT_H

#include "table/local/writer.h"

/* Before a large change is decided: takes up the partition of its last item in the place of the one
 * that was longest not loaded. */
void absent_begin(struct group *group, const struct change *change);
/* False: it may be there. The hash is local_hash() of the key. */
bool absent_is(struct absent *absent, struct bytes key, uint64_t hash);
/* Asks the memory for what absent_is() will need. */
void absent_soon(const struct absent *absent, uint64_t hash);
/* The item will be written. */
void absent_note(struct absent *absent, struct bytes key, uint64_t hash);
/* How many keys are noted of the partition of this one. For tests, at rest. */
size_t absent_count(struct absent *absent, struct bytes key);
/* A writer_job: forgets partitions that are no longer loaded. */
int64_t absent_run(struct local *local);

struct absent *absent_new(void);
void absent_free(struct absent *absent);

#endif
