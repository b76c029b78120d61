/* The shape of requests, as data: which parameters an operation has, of which JSON types, within
 * which limits. One engine checks all of them, in DynamoDB's order and with its texts:
 *
 *   1. types     the first wrong one is a SerializationException
 *   2. limits    up to ten broken ones are told in one ValidationException
 *
 * A valid request costs one pass over the members it has. Attribute values are not looked into on
 * that pass, because attribute_read() checks them while reading; so that a type fault inside one
 * still wins over an invalid parameter, spec_check_deep() is asked when a request is about to be
 * refused as invalid.
 */
#ifndef GT_API_DYNAMODB_SPEC_H
#define GT_API_DYNAMODB_SPEC_H

#include "json/json.h"

/* Every parameter name of every operation and of the structures in them. */
#define SPEC_ARGS(X)                                                            \
    X(ACTION, "Action")                                                         \
    X(ATTRIBUTES_TO_GET, "AttributesToGet")                                     \
    X(ATTRIBUTE_DEFINITIONS, "AttributeDefinitions")                            \
    X(ATTRIBUTE_NAME, "AttributeName")                                          \
    X(ATTRIBUTE_TYPE, "AttributeType")                                          \
    X(ATTRIBUTE_UPDATES, "AttributeUpdates")                                    \
    X(ATTRIBUTE_VALUE_LIST, "AttributeValueList")                               \
    X(BACKUP_ARN, "BackupArn")                                                  \
    X(BACKUP_NAME, "BackupName")                                                \
    X(BACKUP_TYPE, "BackupType")                                                \
    X(BILLING_MODE, "BillingMode")                                              \
    X(BILLING_MODE_OVERRIDE, "BillingModeOverride")                             \
    X(CLIENT_REQUEST_TOKEN, "ClientRequestToken")                               \
    X(CLIENT_TOKEN, "ClientToken")                                              \
    X(COMPARISON_OPERATOR, "ComparisonOperator")                                \
    X(CONDITIONAL_OPERATOR, "ConditionalOperator")                              \
    X(CONDITION_CHECK, "ConditionCheck")                                        \
    X(CONDITION_EXPRESSION, "ConditionExpression")                              \
    X(CONSISTENT_READ, "ConsistentRead")                                        \
    X(CONTRIBUTOR_INSIGHTS_ACTION, "ContributorInsightsAction")                 \
    X(CONTRIBUTOR_INSIGHTS_MODE, "ContributorInsightsMode")                     \
    X(CREATE, "Create")                                                         \
    X(CSV, "Csv")                                                               \
    X(DELETE, "Delete")                                                         \
    X(DELETE_REQUEST, "DeleteRequest")                                          \
    X(DELETION_PROTECTION_ENABLED, "DeletionProtectionEnabled")                 \
    X(DELIMITER, "Delimiter")                                                   \
    X(ENABLED, "Enabled")                                                       \
    X(EXCLUSIVE_START_BACKUP_ARN, "ExclusiveStartBackupArn")                    \
    X(EXCLUSIVE_START_KEY, "ExclusiveStartKey")                                 \
    X(EXCLUSIVE_START_SHARD_ID, "ExclusiveStartShardId")                        \
    X(EXCLUSIVE_START_STREAM_ARN, "ExclusiveStartStreamArn")                    \
    X(EXCLUSIVE_START_TABLE_NAME, "ExclusiveStartTableName")                    \
    X(EXISTS, "Exists")                                                         \
    X(EXPECTED, "Expected")                                                     \
    X(EXPECTED_REVISION_ID, "ExpectedRevisionId")                               \
    X(EXPORT_ARN, "ExportArn")                                                  \
    X(EXPORT_FORMAT, "ExportFormat")                                            \
    X(EXPORT_TIME, "ExportTime")                                                \
    X(EXPORT_TYPE, "ExportType")                                                \
    X(EXPRESSION_ATTRIBUTE_NAMES, "ExpressionAttributeNames")                   \
    X(EXPRESSION_ATTRIBUTE_VALUES, "ExpressionAttributeValues")                 \
    X(FILTER_EXPRESSION, "FilterExpression")                                    \
    X(GET, "Get")                                                               \
    X(GLOBAL_SECONDARY_INDEXES, "GlobalSecondaryIndexes")                       \
    X(GLOBAL_SECONDARY_INDEX_OVERRIDE, "GlobalSecondaryIndexOverride")          \
    X(GLOBAL_SECONDARY_INDEX_UPDATES, "GlobalSecondaryIndexUpdates")            \
    X(GLOBAL_TABLE_NAME, "GlobalTableName")                                     \
    X(HEADER_LIST, "HeaderList")                                                \
    X(IMPORT_ARN, "ImportArn")                                                  \
    X(INCREMENTAL_EXPORT_SPECIFICATION, "IncrementalExportSpecification")       \
    X(INDEX_NAME, "IndexName")                                                  \
    X(INPUT_COMPRESSION_TYPE, "InputCompressionType")                           \
    X(INPUT_FORMAT, "InputFormat")                                              \
    X(INPUT_FORMAT_OPTIONS, "InputFormatOptions")                               \
    X(ITEM, "Item")                                                             \
    X(KEY, "Key")                                                               \
    X(KEYS, "Keys")                                                             \
    X(KEY_CONDITIONS, "KeyConditions")                                          \
    X(KEY_CONDITION_EXPRESSION, "KeyConditionExpression")                       \
    X(KEY_SCHEMA, "KeySchema")                                                  \
    X(KEY_TYPE, "KeyType")                                                      \
    X(KMS_MASTER_KEY_ID, "KMSMasterKeyId")                                      \
    X(LIMIT, "Limit")                                                           \
    X(LOCAL_SECONDARY_INDEXES, "LocalSecondaryIndexes")                         \
    X(LOCAL_SECONDARY_INDEX_OVERRIDE, "LocalSecondaryIndexOverride")            \
    X(MAX_READ_REQUEST_UNITS, "MaxReadRequestUnits")                            \
    X(MAX_RESULTS, "MaxResults")                                                \
    X(MAX_WRITE_REQUEST_UNITS, "MaxWriteRequestUnits")                          \
    X(NEXT_TOKEN, "NextToken")                                                  \
    X(NON_KEY_ATTRIBUTES, "NonKeyAttributes")                                   \
    X(ON_DEMAND_THROUGHPUT, "OnDemandThroughput")                               \
    X(ON_DEMAND_THROUGHPUT_OVERRIDE, "OnDemandThroughputOverride")              \
    X(PAGE_SIZE, "PageSize")                                                    \
    X(PARAMETERS, "Parameters")                                                 \
    X(POINT_IN_TIME_RECOVERY_ENABLED, "PointInTimeRecoveryEnabled")             \
    X(POINT_IN_TIME_RECOVERY_SPECIFICATION, "PointInTimeRecoverySpecification") \
    X(POLICY, "Policy")                                                         \
    X(PROJECTION, "Projection")                                                 \
    X(PROJECTION_EXPRESSION, "ProjectionExpression")                            \
    X(PROJECTION_TYPE, "ProjectionType")                                        \
    X(PROVISIONED_THROUGHPUT, "ProvisionedThroughput")                          \
    X(PROVISIONED_THROUGHPUT_OVERRIDE, "ProvisionedThroughputOverride")         \
    X(PUT, "Put")                                                               \
    X(PUT_REQUEST, "PutRequest")                                                \
    X(QUERY_FILTER, "QueryFilter")                                              \
    X(READ_CAPACITY_UNITS, "ReadCapacityUnits")                                 \
    X(READ_UNITS_PER_SECOND, "ReadUnitsPerSecond")                              \
    X(RECOVERY_PERIOD_IN_DAYS, "RecoveryPeriodInDays")                          \
    X(REQUEST_ITEMS, "RequestItems")                                            \
    X(RESOURCE_ARN, "ResourceArn")                                              \
    X(RESTORE_DATE_TIME, "RestoreDateTime")                                     \
    X(RETURN_CONSUMED_CAPACITY, "ReturnConsumedCapacity")                       \
    X(RETURN_ITEM_COLLECTION_METRICS, "ReturnItemCollectionMetrics")            \
    X(RETURN_VALUES, "ReturnValues")                                            \
    X(RETURN_VALUES_ON_FAILURE, "ReturnValuesOnConditionCheckFailure")          \
    X(S3_BUCKET, "S3Bucket")                                                    \
    X(S3_BUCKET_OWNER, "S3BucketOwner")                                         \
    X(S3_BUCKET_SOURCE, "S3BucketSource")                                       \
    X(S3_KEY_PREFIX, "S3KeyPrefix")                                             \
    X(S3_PREFIX, "S3Prefix")                                                    \
    X(S3_SSE_ALGORITHM, "S3SseAlgorithm")                                       \
    X(S3_SSE_KMS_KEY_ID, "S3SseKmsKeyId")                                       \
    X(SCAN_FILTER, "ScanFilter")                                                \
    X(SCAN_INDEX_FORWARD, "ScanIndexForward")                                   \
    X(SEGMENT, "Segment")                                                       \
    X(SELECT, "Select")                                                         \
    X(SEQUENCE_NUMBER, "SequenceNumber")                                        \
    X(SHARD_FILTER, "ShardFilter")                                              \
    X(SHARD_ID, "ShardId")                                                      \
    X(SHARD_ITERATOR, "ShardIterator")                                          \
    X(SHARD_ITERATOR_TYPE, "ShardIteratorType")                                 \
    X(SOURCE_TABLE_ARN, "SourceTableArn")                                       \
    X(SOURCE_TABLE_NAME, "SourceTableName")                                     \
    X(SSE_SPECIFICATION, "SSESpecification")                                    \
    X(SSE_SPECIFICATION_OVERRIDE, "SSESpecificationOverride")                   \
    X(SSE_TYPE, "SSEType")                                                      \
    X(STATEMENT, "Statement")                                                   \
    X(STATEMENTS, "Statements")                                                 \
    X(STREAM_ARN, "StreamArn")                                                  \
    X(STREAM_ENABLED, "StreamEnabled")                                          \
    X(STREAM_SPECIFICATION, "StreamSpecification")                              \
    X(STREAM_VIEW_TYPE, "StreamViewType")                                       \
    X(TABLE_ARN, "TableArn")                                                    \
    X(TABLE_CLASS, "TableClass")                                                \
    X(TABLE_CREATION_PARAMETERS, "TableCreationParameters")                     \
    X(TABLE_NAME, "TableName")                                                  \
    X(TAGS, "Tags")                                                             \
    X(TIME_TO_LIVE_SPECIFICATION, "TimeToLiveSpecification")                    \
    X(TAG_KEYS, "TagKeys")                                                      \
    X(TARGET_TABLE_NAME, "TargetTableName")                                     \
    X(TIME_RANGE_LOWER_BOUND, "TimeRangeLowerBound")                            \
    X(TIME_RANGE_UPPER_BOUND, "TimeRangeUpperBound")                            \
    X(TOTAL_SEGMENTS, "TotalSegments")                                          \
    X(TRANSACT_ITEMS, "TransactItems")                                          \
    X(TRANSACT_STATEMENTS, "TransactStatements")                                \
    X(TYPE, "Type")                                                             \
    X(UPDATE, "Update")                                                         \
    X(UPDATE_EXPRESSION, "UpdateExpression")                                    \
    X(USE_LATEST_RESTORABLE_TIME, "UseLatestRestorableTime")                    \
    X(VALUE, "Value")                                                           \
    X(WARM_THROUGHPUT, "WarmThroughput")                                        \
    X(WRITE_CAPACITY_UNITS, "WriteCapacityUnits")                               \
    X(WRITE_UNITS_PER_SECOND, "WriteUnitsPerSecond")

enum arg {
#define X(arg, name) ARG_##arg,
    SPEC_ARGS(X)
#undef X
        ARG_COUNT
};

/* "TableName" */
struct bytes arg_name(enum arg arg);

/* What a request, or a structure in one, says: NULL where it says nothing (or null). */
struct args {
    const struct json *at[ARG_COUNT];
};

enum spec_type {
    SPEC_STRING,
    SPEC_BOOLEAN,
    SPEC_INTEGER,
    SPEC_LONG,
    SPEC_LIST,
    SPEC_MAP,
    SPEC_STRUCT,
};

struct spec {
    enum spec_type type;
    bool attribute;                  /* STRUCT: an attribute value, which json/ knows about */
    const char *class;               /* STRUCT: its name in faults */
    const struct spec_field *fields; /* STRUCT; in the order limits are told */
    unsigned field_count;
    const struct spec *element; /* LIST, MAP */
    /* STRUCT: a request whose faults do not echo the value and name members as they are written
     * ("Value at 'Limit' ..."), as DynamoDB tells those of Query and BatchGetItem. */
    bool quiet;
};

struct spec_field {
    enum arg arg;
    bool required;   /* "Member must not be null" */
    bool named;      /* only letters, digits and _.- */
    bool table;      /* a table's name, or its ARN */
    bool early;      /* a table's name whose absence and length are told before all else */
    bool echoed;     /* its faults echo the value even in a quiet request */
    bool ranged;     /* INTEGER, LONG: min .. max; max 0: none */
    bool table_keys; /* MAP: its keys are tables' names */
    uint32_t length_min, length_max; /* of a string, list or map; 0: none */
    uint32_t element_max;            /* LIST of strings: 1 .. element_max characters each; 0: any */
    uint32_t values_max;             /* MAP of lists: 1 .. values_max elements each; 0: any */
    int64_t min, max;
    const char *choices; /* "B, N, S": as the fault tells them */
    const struct spec *spec;
};

/* Checks the types of a request and sets args from its members; unknown ones and nulls are passed
 * over. PARSE_FAILED with DynamoDB's text, or with none for what is not an object at all. */
enum status spec_read(const struct spec *spec, const struct json *request, struct scope in,
                      struct args *out);
/* The types alone, down into attribute values. */
enum status spec_check_deep(const struct spec *spec, const struct json *request, struct scope in);
/* Sets args from an object whose types have been checked. */
void spec_bind(const struct spec *spec, const struct json *object, struct args *out);
/* The same, but sets only the parameters that the spec has; no others may be looked at. For the
 * parts of a request, of which there may be many: to clear all of `out` costs more than the rest.
 */
void spec_bind_own(const struct spec *spec, const struct json *object, struct args *out);
/* INVALID. Types have been checked. */
enum status spec_check_limits(const struct spec *spec, const struct args *args, struct scope in);

/* Reading what types have been checked for. Text that is absent is empty. Booleans may be
 * strings ("true"), integers may have fractions, as DynamoDB takes them. */
static inline bool args_has(const struct args *args, enum arg arg) {
    return args->at[arg] != NULL;
}
static inline struct bytes args_text(const struct args *args, enum arg arg) {
    return args->at[arg] == NULL ? (struct bytes){0} : args->at[arg]->text;
}
bool args_bool(const struct args *args, enum arg arg, bool otherwise);
int64_t args_int(const struct args *args, enum arg arg, int64_t otherwise);

#endif
