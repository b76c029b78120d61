/* Requests about tables, read into schemas: what CreateTable and UpdateTable share. */
#ifndef GT_API_DYNAMODB_DDB_SCHEMA_H
#define GT_API_DYNAMODB_DDB_SCHEMA_H

#include "api/dynamodb/ddb_call.h"

/* All that CreateTable takes, from call->args and call->table, checked. (ddb_tables.c) */
enum status schema_read_table(struct call *call, struct table_schema *out);

/* AttributeDefinitions. */
void schema_read_definitions(struct call *call, const struct json *list, struct key_part **out,
                             uint32_t *count);

/* One index, or the Create of an update. The caller has set out->local, everything else is filled
 * in. Keys get their types from the definitions; VALUE_NONE if they have none there. */
enum status schema_read_index(struct call *call, const struct args *args,
                              const struct table_schema *schema, struct index_schema *out);
/* KeySchema as given: by position, whatever the key types say. */
void schema_read_keys(const struct json *list, const struct table_schema *schema, bool several,
                      struct key_schema *out);
/* Checks that HASH comes before RANGE. OK for keys that are not defined or not distinct, too: those
 * are refused by rules_check_table(). */
enum status schema_check_keys(struct call *call, const struct json *list,
                              const struct key_schema *keys, bool several);
/* schema_check_keys() of an index, and that it has a projection. */
enum status schema_check_index(struct call *call, const struct args *args,
                               const struct index_schema *index);

/* ProvisionedThroughput, OnDemandThroughput and WarmThroughput of a table or an index. INVALID when
 * out of bounds. */
enum status schema_read_capacity(struct call *call, const struct args *args,
                                 struct capacity_settings *out);
enum status schema_read_stream(struct call *call, const struct json *from, enum stream_view *out);
void schema_read_encryption(const struct json *from, bool *encrypted, struct bytes *key);

/* Tags of CreateTable and TagResource, in tags.c. INVALID for more than a table can have, and for
 * characters that they cannot. */
enum status tags_read(struct call *call, const struct json *list, struct tag **out);

#endif
