/* Cutting the keys of a table into ranges for several threads to read. */
#ifndef GT_TABLE_LOCAL_CUT_H
#define GT_TABLE_LOCAL_CUT_H

#include "table/local/local_int.h"

struct key_span {
    struct bytes first, last; /* both are keys that exist */
    uint64_t size;            /* about so many bytes in the store's tables */
    unsigned cuts;            /* that made it */
    bool whole;               /* there is no key to cut it at */
};

struct spans {
    struct key_span *at; /* in no order; together they are the table */
    size_t count;
};

/* At least `least` spans, if there are as many keys, and more until none is much larger than its
 * share; with `least` 1, just one. None for an empty table. */
enum status cut_table(const struct build *build, size_t least, struct arena *arena,
                      struct spans *out);

#endif
