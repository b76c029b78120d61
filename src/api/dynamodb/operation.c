#include "api/dynamodb/operation.h"

#include "api/dynamodb/shapes.h"

#define NAME(literal) \
    { (const uint8_t *)(literal), sizeof(literal) - 1 }
#define DONE(name, shape, f) \
    { NAME(name), &shape_##shape, op_##f, TOUCHES_ENGINE }
#define SAME(name, shape, f) \
    { NAME(name), &shape_##shape, op_##f, TOUCHES_CONNECTION }
#define KNOWN(name) \
    { NAME(name), NULL, NULL, TOUCHES_CONNECTION }

/* Sorted by name. DONE is asked about by what it asks of the engine, SAME tells everybody with a
 * key the same, KNOWN is refused by name. */
static const struct operation operations[] = {
    DONE("BatchExecuteStatement", batch_execute_statement, batch_execute_statement),
    DONE("BatchGetItem", batch_get_item, batch_get_item),
    DONE("BatchWriteItem", batch_write_item, batch_write_item),
    DONE("CreateBackup", create_backup, create_backup),
    KNOWN("CreateGlobalTable"),
    DONE("CreateTable", create_table, create_table),
    DONE("DeleteBackup", backup_only, delete_backup),
    DONE("DeleteItem", delete_item, delete_item),
    DONE("DeleteResourcePolicy", delete_policy, delete_resource_policy),
    DONE("DeleteTable", table_only, delete_table),
    DONE("DescribeBackup", backup_only, describe_backup),
    DONE("DescribeContinuousBackups", table_only, describe_continuous_backups),
    DONE("DescribeContributorInsights", insights, describe_contributor_insights),
    SAME("DescribeEndpoints", nothing, describe_endpoints),
    DONE("DescribeExport", export_only, describe_export),
    SAME("DescribeGlobalTable", global_table, describe_global_table),
    SAME("DescribeGlobalTableSettings", global_table, describe_global_table),
    DONE("DescribeImport", import_only, describe_import),
    DONE("DescribeKinesisStreamingDestination", table_only, describe_kinesis_streaming_destination),
    SAME("DescribeLimits", nothing, describe_limits),
    DONE("DescribeTable", table_only, describe_table),
    DONE("DescribeTableReplicaAutoScaling", table_only, describe_table_replica_auto_scaling),
    DONE("DescribeTimeToLive", table_only, describe_time_to_live),
    KNOWN("DisableKinesisStreamingDestination"),
    KNOWN("EnableKinesisStreamingDestination"),
    DONE("ExecuteStatement", execute_statement, execute_statement),
    DONE("ExecuteTransaction", execute_transaction, execute_transaction),
    DONE("ExportTableToPointInTime", export, export_table_to_point_in_time),
    DONE("GetItem", get_item, get_item),
    DONE("GetResourcePolicy", policy, get_resource_policy),
    DONE("ImportTable", import, import_table),
    DONE("ListBackups", list_backups, list_backups),
    DONE("ListContributorInsights", list_insights, list_contributor_insights),
    DONE("ListExports", list_exports, list_exports),
    SAME("ListGlobalTables", list_global_tables, list_global_tables),
    DONE("ListImports", list_imports, list_imports),
    DONE("ListTables", list_tables, list_tables),
    DONE("ListTagsOfResource", list_tags, list_tags_of_resource),
    DONE("PutItem", put_item, put_item),
    DONE("PutResourcePolicy", put_policy, put_resource_policy),
    DONE("Query", query, query),
    DONE("RestoreTableFromBackup", restore, restore_table_from_backup),
    DONE("RestoreTableToPointInTime", restore_to_time, restore_table_to_point_in_time),
    DONE("Scan", scan, scan),
    KNOWN("SearchVectors"),
    DONE("TagResource", tag_resource, tag_resource),
    DONE("TransactGetItems", transact_get_items, transact_get_items),
    DONE("TransactWriteItems", transact_write_items, transact_write_items),
    DONE("UntagResource", untag_resource, untag_resource),
    DONE("UpdateContinuousBackups", update_continuous_backups, update_continuous_backups),
    DONE("UpdateContributorInsights", update_insights, update_contributor_insights),
    KNOWN("UpdateGlobalTable"),
    KNOWN("UpdateGlobalTableSettings"),
    DONE("UpdateItem", update_item, update_item),
    KNOWN("UpdateKinesisStreamingDestination"),
    DONE("UpdateTable", update_table, update_table),
    KNOWN("UpdateTableReplicaAutoScaling"),
    DONE("UpdateTimeToLive", update_time_to_live, update_time_to_live),
};

enum { OPERATION_COUNT = sizeof(operations) / sizeof(operations[0]) };

const struct operation *operation_find(struct bytes name) {
    size_t low = 0, high = OPERATION_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = bytes_compare(name, operations[middle].name);
        if (order == 0)
            return &operations[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static const struct operation of_streams[] = {
    DONE("DescribeStream", describe_stream, describe_stream),
    DONE("GetRecords", get_records, get_records),
    DONE("GetShardIterator", get_shard_iterator, get_shard_iterator),
    DONE("ListStreams", list_streams, list_streams),
};
enum { STREAMS_COUNT = sizeof(of_streams) / sizeof(of_streams[0]) };

const struct operation *operation_find_streams(struct bytes name) {
    for (size_t i = 0; i < STREAMS_COUNT; i++)
        if (bytes_equal(name, of_streams[i].name))
            return &of_streams[i];
    return NULL;
}

const struct operation *operation_at(size_t index) {
    return index < OPERATION_COUNT ? &operations[index] : NULL;
}

unsigned operation_number(const struct operation *operation) {
    if (operation >= of_streams && operation < of_streams + STREAMS_COUNT)
        return (unsigned)(1 + OPERATION_COUNT + (operation - of_streams));
    return (unsigned)(1 + (operation - operations));
}

struct bytes operation_name(size_t number) {
    if (number == 0 || number > OPERATION_COUNT + STREAMS_COUNT)
        return (struct bytes){0};
    return number <= OPERATION_COUNT ? operations[number - 1].name
                                     : of_streams[number - 1 - OPERATION_COUNT].name;
}
