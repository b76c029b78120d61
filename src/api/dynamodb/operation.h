/* The operations by name: their shapes and what runs them. */
#ifndef GT_API_DYNAMODB_OPERATION_H
#define GT_API_DYNAMODB_OPERATION_H

#include "api/dynamodb/ddb_call.h"

struct operation {
    struct bytes name;
    const struct spec *spec;
    enum status (*run)(struct call *call); /* NULL: known by name, not done (yet) */
    /* TOUCHES_ENGINE: what it asks of call->engine is asked about there, and call_transfer() asks
     * about the rest. TOUCHES_CONNECTION: the answer is the same whatever there is. */
    enum touches touches;
};

/* NULL if there is no operation of that name. A binary search over constants. */
const struct operation *operation_find(struct bytes name);
/* Looks among the operations of DynamoDB Streams, which clients address as a service of its own. */
const struct operation *operation_find_streams(struct bytes name);
/* The operations of operation_find() one by one, for tests; NULL past the last. */
const struct operation *operation_at(size_t index);
/* A number from 1 on for each of either kind, by which it is counted (api/metrics); and its name,
 * empty if there is no such number. */
unsigned operation_number(const struct operation *operation);
struct bytes operation_name(size_t number);

/* ddb_tables.c */
enum status op_create_table(struct call *call);
enum status op_delete_table(struct call *call);
enum status op_describe_table(struct call *call);
enum status op_list_tables(struct call *call);
/* ddb_update_table.c */
enum status op_update_table(struct call *call);
enum status op_update_time_to_live(struct call *call);
enum status op_describe_time_to_live(struct call *call);
/* tags.c */
enum status op_tag_resource(struct call *call);
enum status op_untag_resource(struct call *call);
enum status op_list_tags_of_resource(struct call *call);
/* ddb_backups.c, restore.c */
enum status op_create_backup(struct call *call);
enum status op_describe_backup(struct call *call);
enum status op_delete_backup(struct call *call);
enum status op_list_backups(struct call *call);
enum status op_restore_table_from_backup(struct call *call);
enum status op_restore_table_to_point_in_time(struct call *call);
enum status op_describe_continuous_backups(struct call *call);
enum status op_update_continuous_backups(struct call *call);
/* exports.c, imports.c */
enum status op_export_table_to_point_in_time(struct call *call);
enum status op_describe_export(struct call *call);
enum status op_list_exports(struct call *call);
enum status op_import_table(struct call *call);
enum status op_describe_import(struct call *call);
enum status op_list_imports(struct call *call);
/* ddb_stubs.c */
enum status op_describe_contributor_insights(struct call *call);
enum status op_list_contributor_insights(struct call *call);
enum status op_update_contributor_insights(struct call *call);
enum status op_describe_kinesis_streaming_destination(struct call *call);
enum status op_describe_table_replica_auto_scaling(struct call *call);
enum status op_describe_global_table(struct call *call);
enum status op_list_global_tables(struct call *call);
enum status op_describe_limits(struct call *call);
enum status op_describe_endpoints(struct call *call);

/* items */
enum status op_put_item(struct call *call);
enum status op_get_item(struct call *call);
enum status op_update_item(struct call *call);
enum status op_delete_item(struct call *call);
enum status op_query(struct call *call);
enum status op_scan(struct call *call);
enum status op_batch_get_item(struct call *call);
enum status op_batch_write_item(struct call *call);
enum status op_transact_get_items(struct call *call);
enum status op_transact_write_items(struct call *call);
/* statement*.c */
enum status op_execute_statement(struct call *call);
enum status op_batch_execute_statement(struct call *call);
enum status op_execute_transaction(struct call *call);
/* ddb_streams.c, ddb_stream_records.c */
enum status op_list_streams(struct call *call);
enum status op_describe_stream(struct call *call);
enum status op_get_shard_iterator(struct call *call);
enum status op_get_records(struct call *call);

/* resource_policy.c */
enum status op_put_resource_policy(struct call *call);
enum status op_get_resource_policy(struct call *call);
enum status op_delete_resource_policy(struct call *call);

#endif
