/* ConsumedCapacity and ItemCollectionMetrics in answers. */
#ifndef GT_API_DYNAMODB_DDB_USAGE_H
#define GT_API_DYNAMODB_DDB_USAGE_H

#include "api/dynamodb/ddb_call.h"

enum usage_detail { USAGE_NONE, USAGE_TOTAL, USAGE_INDEXES };

/* Of the table and its indexes. */
double usage_total(const struct usage *usage);

/* What ReturnConsumedCapacity asks for. */
enum usage_detail usage_asked(const struct args *args);
/* {"TableName":...,"CapacityUnits":...} and, for INDEXES, Table and the indexes. No name before. */
void usage_write(struct buf *to, struct bytes table, const struct usage *usage,
                 enum usage_detail detail);
/* usage_write() with the units once more under another name, as transactions have them. */
struct usage_form {
    enum usage_detail detail;
    const char *kind; /* "ReadCapacityUnits", "WriteCapacityUnits"; NULL: only CapacityUnits */
};
void usage_write_as(struct buf *to, struct bytes table, const struct usage *usage,
                    struct usage_form form);
/* Adds `more` to `total`, index by index. */
void usage_add(struct arena *arena, struct usage *total, const struct usage *more);

/* Whether ReturnItemCollectionMetrics is SIZE. */
bool collection_asked(const struct args *args);
/* {"ItemCollectionKey":{...},"SizeEstimateRangeGB":[0,1]} for a collection of `size` bytes. */
void collection_write(struct buf *to, struct bytes name, const struct value *partition,
                      uint64_t size);

#endif
