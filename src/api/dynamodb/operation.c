#include "api/dynamodb/operation.h"

#include "api/dynamodb/shapes.h"

#define NAME(literal) \
    { (const uint8_t *)(literal), sizeof(literal) - 1 }
#define DONE(name, shape, f) \
    { NAME(name), &shape_##shape, op_##f }
#define KNOWN(name) \
    { NAME(name), NULL, NULL }

/* Sorted by name. */
static const struct operation operations[] = {
    DONE("BatchExecuteStatement", batch_execute_statement, batch_execute_statement),
    DONE("BatchGetItem", batch_get_item, batch_get_item),
    DONE("BatchWriteItem", batch_write_item, batch_write_item),
    KNOWN("CreateBackup"),
    KNOWN("CreateGlobalTable"),
    DONE("CreateTable", create_table, create_table),
    KNOWN("DeleteBackup"),
    DONE("DeleteItem", delete_item, delete_item),
    KNOWN("DeleteResourcePolicy"),
    DONE("DeleteTable", table_only, delete_table),
    KNOWN("DescribeBackup"),
    DONE("DescribeContinuousBackups", table_only, describe_continuous_backups),
    KNOWN("DescribeContributorInsights"),
    DONE("DescribeEndpoints", nothing, describe_endpoints),
    KNOWN("DescribeExport"),
    KNOWN("DescribeGlobalTable"),
    KNOWN("DescribeGlobalTableSettings"),
    KNOWN("DescribeImport"),
    KNOWN("DescribeKinesisStreamingDestination"),
    DONE("DescribeLimits", nothing, describe_limits),
    DONE("DescribeTable", table_only, describe_table),
    KNOWN("DescribeTableReplicaAutoScaling"),
    DONE("DescribeTimeToLive", table_only, describe_time_to_live),
    KNOWN("DisableKinesisStreamingDestination"),
    KNOWN("EnableKinesisStreamingDestination"),
    DONE("ExecuteStatement", execute_statement, execute_statement),
    DONE("ExecuteTransaction", execute_transaction, execute_transaction),
    KNOWN("ExportTableToPointInTime"),
    DONE("GetItem", get_item, get_item),
    KNOWN("GetResourcePolicy"),
    KNOWN("ImportTable"),
    KNOWN("ListBackups"),
    KNOWN("ListContributorInsights"),
    KNOWN("ListExports"),
    KNOWN("ListGlobalTables"),
    KNOWN("ListImports"),
    DONE("ListTables", list_tables, list_tables),
    DONE("ListTagsOfResource", list_tags, list_tags_of_resource),
    DONE("PutItem", put_item, put_item),
    KNOWN("PutResourcePolicy"),
    DONE("Query", query, query),
    KNOWN("RestoreTableFromBackup"),
    KNOWN("RestoreTableToPointInTime"),
    DONE("Scan", scan, scan),
    DONE("TagResource", tag_resource, tag_resource),
    DONE("TransactGetItems", transact_get_items, transact_get_items),
    DONE("TransactWriteItems", transact_write_items, transact_write_items),
    DONE("UntagResource", untag_resource, untag_resource),
    KNOWN("UpdateContinuousBackups"),
    KNOWN("UpdateContributorInsights"),
    KNOWN("UpdateGlobalTable"),
    KNOWN("UpdateGlobalTableSettings"),
    DONE("UpdateItem", update_item, update_item),
    KNOWN("UpdateKinesisStreamingDestination"),
    DONE("UpdateTable", update_table, update_table),
    KNOWN("UpdateTableReplicaAutoScaling"),
    KNOWN("UpdateTimeToLive"),
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

const struct operation *operation_find_streams(struct bytes name) {
    static const struct operation of_streams[] = {
        DONE("DescribeStream", describe_stream, describe_stream),
        DONE("GetRecords", get_records, get_records),
        DONE("GetShardIterator", get_shard_iterator, get_shard_iterator),
        DONE("ListStreams", list_streams, list_streams),
    };
    for (size_t i = 0; i < sizeof(of_streams) / sizeof(of_streams[0]); i++)
        if (bytes_equal(name, of_streams[i].name))
            return &of_streams[i];
    return NULL;
}

const struct operation *operation_at(size_t index) {
    return index < OPERATION_COUNT ? &operations[index] : NULL;
}
