/* A table's schema from the JSON that CreateTable takes, without a request. */
#ifndef GT_API_DYNAMODB_DDB_SCHEMA_PARSE_H
#define GT_API_DYNAMODB_DDB_SCHEMA_PARSE_H

#include "table/schema.h"

/* The table is to be called `name`, whatever the text says. INVALID with a sentence. The schema
 * points into the text and the arena. */
enum status schema_parse(struct bytes text, struct bytes name, struct scope in,
                         struct table_schema *out);

#endif
