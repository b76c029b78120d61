/* Consumed capacity by table and operation, as DynamoDB counts it: totals since the start.
 *
 * Each loop has rows of its own, which only its thread writes to; readers add them up. At most
 * CAPACITY_ROWS a loop; what is more is counted in a row without a table. A batch over several
 * tables counts for the first.
 */
#ifndef GT_API_METRICS_CAPACITY_H
#define GT_API_METRICS_CAPACITY_H

#include "base/bytes.h"

enum { CAPACITY_ROWS = 512, CAPACITY_TABLE_SIZE = 255 };

struct capacity;
struct capacity *capacity_new(unsigned loops);
void capacity_free(struct capacity *capacity);

struct capacity_use {
    struct bytes table;
    unsigned operation; /* operation_number() */
    double read, write; /* units, in steps of a half */
};
/* On that loop. */
void capacity_add(struct capacity *capacity, unsigned loop, const struct capacity_use *use);
/* Calls `each` for every row of every loop: the same table and operation may come once a loop. Any
 * thread. */
void capacity_each(const struct capacity *capacity,
                   void (*each)(const struct capacity_use *use, void *user), void *user);

#endif
