/* The versions of partitions that a call has seen (engine_partition_version()), each once, without
 * the partitions themselves: so whether all are still so is answered in some nanoseconds for each,
 * and what the call has read need not be kept for it. */
#ifndef GT_API_REDIS_SEEN_VERSIONS_H
#define GT_API_REDIS_SEEN_VERSIONS_H

#include "base/arena.h"
#include "table/inprocess.h"

/* Zero: none. A hash table by the slot's own bits, so that a walk through it goes through the
 * engine's versions nearly in order. All memory is the arena's. */
struct seen_versions {
    struct seen_slot *table;
    size_t count, room; /* room: a power of two, or 0 */
    int64_t until_ms;   /* what was seen holds until then at most; 0: for good */
};

void seen_add(struct seen_versions *seen, struct partition_seen version, struct arena *arena);
/* What was seen ends at that time; 0: it does not. */
void seen_ends(struct seen_versions *seen, int64_t at_ms);
/* Whether all is as it was seen. Any thread. */
bool seen_is_current(const struct seen_versions *seen, struct engine *engine);

#endif
