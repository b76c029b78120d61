/* Tables as clients are told about them. */
#ifndef GT_API_DYNAMODB_DESCRIBE_H
#define GT_API_DYNAMODB_DESCRIBE_H

#include "api/dynamodb/ddb_call.h"

/* What the operation that answers makes of the table's state: changes take effect at once here,
 * but clients expect to hear of the states in between. */
enum describe_as { DESCRIBE_NOW, DESCRIBE_CREATING, DESCRIBE_UPDATING, DESCRIBE_DELETING };

/* Writes {"name":{...}} into the reply. */
void describe_table(struct call *call, struct bytes name, const struct table_description *table,
                    enum describe_as as);

/* "KeySchema":[...] and "Projection":{...}, as members. */
void describe_keys(struct buf *to, const struct key_schema *keys);
void describe_projection(struct buf *to, const struct index_schema *index);

#endif
