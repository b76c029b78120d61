/* Cutting the keys of a table into ranges for several threads to read. */
#ifndef GT_TABLE_LOCAL_SCAN_SPLIT_H
#define GT_TABLE_LOCAL_SCAN_SPLIT_H

#include "table/local/local_int.h"

struct scan_range {
    struct bytes first, last; /* both are keys that exist */
    uint64_t size;            /* about so many bytes in the store's tables */
    unsigned splits;          /* that made it */
    bool whole;               /* there is no key to cut it at */
};

struct scan_ranges {
    struct scan_range *at; /* in no order; together they are the table */
    size_t count;
};

/* At least `least` spans, if there are as many keys, and more until none is much larger than its
 * share; with `least` 1, just one. None for an empty table. */
enum status scan_split(const struct index_build *build, size_t least, struct arena *arena,
                       struct scan_ranges *out);

#endif
