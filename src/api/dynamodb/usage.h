/* ConsumedCapacity and ItemCollectionMetrics in answers. */
#ifndef GT_API_DYNAMODB_USAGE_H
#define GT_API_DYNAMODB_USAGE_H

#include "api/dynamodb/call.h"

enum usage_detail { USAGE_NONE, USAGE_TOTAL, USAGE_INDEXES };

/* What ReturnConsumedCapacity asks for. */
enum usage_detail usage_asked(const struct args *args);
/* {"TableName":...,"CapacityUnits":...} and, for INDEXES, Table and the indexes. No name before. */
void usage_write(struct buf *to, struct bytes table, const struct usage *usage,
                 enum usage_detail detail);
/* The same, with the units told again under `kind` (ReadCapacityUnits, WriteCapacityUnits), as
 * transactions do. */
void usage_write_as(struct buf *to, struct bytes table, const struct usage *usage,
                    enum usage_detail detail, const char *kind);
/* Adds `more` to `total`, index by index. */
void usage_add(struct arena *arena, struct usage *total, const struct usage *more);

/* Whether ReturnItemCollectionMetrics is SIZE. */
bool collection_asked(const struct args *args);
/* {"ItemCollectionKey":{...},"SizeEstimateRangeGB":[0,1]} for a collection of `size` bytes. */
void collection_write(struct buf *to, struct bytes name, const struct value *partition,
                      uint64_t size);

#endif
