/* The shape of requests, as data: which parameters an operation has, of which JSON types, within
 * which limits. One engine checks all of them, in the service's order and with its texts:
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
#define SPEC_ARGS(X)                                                   \
    X(ACTION, "Action")                                                \
    X(ATTRIBUTE_DEFINITIONS, "AttributeDefinitions")                   \
    X(ATTRIBUTE_NAME, "AttributeName")                                 \
    X(ATTRIBUTE_TYPE, "AttributeType")                                 \
    X(ATTRIBUTE_UPDATES, "AttributeUpdates")                           \
    X(ATTRIBUTE_VALUE_LIST, "AttributeValueList")                      \
    X(ATTRIBUTES_TO_GET, "AttributesToGet")                            \
    X(BILLING_MODE, "BillingMode")                                     \
    X(CLIENT_REQUEST_TOKEN, "ClientRequestToken")                      \
    X(COMPARISON_OPERATOR, "ComparisonOperator")                       \
    X(CONDITION_CHECK, "ConditionCheck")                               \
    X(CONDITION_EXPRESSION, "ConditionExpression")                     \
    X(CONDITIONAL_OPERATOR, "ConditionalOperator")                     \
    X(CONSISTENT_READ, "ConsistentRead")                               \
    X(CREATE, "Create")                                                \
    X(DELETE, "Delete")                                                \
    X(DELETE_REQUEST, "DeleteRequest")                                 \
    X(DELETION_PROTECTION_ENABLED, "DeletionProtectionEnabled")        \
    X(ENABLED, "Enabled")                                              \
    X(EXCLUSIVE_START_KEY, "ExclusiveStartKey")                        \
    X(EXCLUSIVE_START_SHARD_ID, "ExclusiveStartShardId")               \
    X(EXCLUSIVE_START_STREAM_ARN, "ExclusiveStartStreamArn")           \
    X(EXCLUSIVE_START_TABLE_NAME, "ExclusiveStartTableName")           \
    X(EXISTS, "Exists")                                                \
    X(EXPECTED, "Expected")                                            \
    X(EXPRESSION_ATTRIBUTE_NAMES, "ExpressionAttributeNames")          \
    X(EXPRESSION_ATTRIBUTE_VALUES, "ExpressionAttributeValues")        \
    X(FILTER_EXPRESSION, "FilterExpression")                           \
    X(GET, "Get")                                                      \
    X(GLOBAL_SECONDARY_INDEX_UPDATES, "GlobalSecondaryIndexUpdates")   \
    X(GLOBAL_SECONDARY_INDEXES, "GlobalSecondaryIndexes")              \
    X(INDEX_NAME, "IndexName")                                         \
    X(ITEM, "Item")                                                    \
    X(KEY, "Key")                                                      \
    X(KEY_CONDITION_EXPRESSION, "KeyConditionExpression")              \
    X(KEY_CONDITIONS, "KeyConditions")                                 \
    X(KEY_SCHEMA, "KeySchema")                                         \
    X(KEY_TYPE, "KeyType")                                             \
    X(KEYS, "Keys")                                                    \
    X(KMS_MASTER_KEY_ID, "KMSMasterKeyId")                             \
    X(LIMIT, "Limit")                                                  \
    X(LOCAL_SECONDARY_INDEXES, "LocalSecondaryIndexes")                \
    X(MAX_READ_REQUEST_UNITS, "MaxReadRequestUnits")                   \
    X(MAX_WRITE_REQUEST_UNITS, "MaxWriteRequestUnits")                 \
    X(NEXT_TOKEN, "NextToken")                                         \
    X(NON_KEY_ATTRIBUTES, "NonKeyAttributes")                          \
    X(ON_DEMAND_THROUGHPUT, "OnDemandThroughput")                      \
    X(PARAMETERS, "Parameters")                                        \
    X(PROJECTION, "Projection")                                        \
    X(PROJECTION_EXPRESSION, "ProjectionExpression")                   \
    X(PROJECTION_TYPE, "ProjectionType")                               \
    X(PROVISIONED_THROUGHPUT, "ProvisionedThroughput")                 \
    X(PUT, "Put")                                                      \
    X(PUT_REQUEST, "PutRequest")                                       \
    X(QUERY_FILTER, "QueryFilter")                                     \
    X(READ_CAPACITY_UNITS, "ReadCapacityUnits")                        \
    X(READ_UNITS_PER_SECOND, "ReadUnitsPerSecond")                     \
    X(REQUEST_ITEMS, "RequestItems")                                   \
    X(RESOURCE_ARN, "ResourceArn")                                     \
    X(RETURN_CONSUMED_CAPACITY, "ReturnConsumedCapacity")              \
    X(RETURN_ITEM_COLLECTION_METRICS, "ReturnItemCollectionMetrics")   \
    X(RETURN_VALUES, "ReturnValues")                                   \
    X(RETURN_VALUES_ON_FAILURE, "ReturnValuesOnConditionCheckFailure") \
    X(SCAN_FILTER, "ScanFilter")                                       \
    X(SCAN_INDEX_FORWARD, "ScanIndexForward")                          \
    X(SEGMENT, "Segment")                                              \
    X(SELECT, "Select")                                                \
    X(SEQUENCE_NUMBER, "SequenceNumber")                               \
    X(SHARD_FILTER, "ShardFilter")                                     \
    X(SHARD_ID, "ShardId")                                             \
    X(SHARD_ITERATOR, "ShardIterator")                                 \
    X(SHARD_ITERATOR_TYPE, "ShardIteratorType")                        \
    X(SSE_SPECIFICATION, "SSESpecification")                           \
    X(SSE_TYPE, "SSEType")                                             \
    X(STATEMENT, "Statement")                                          \
    X(STATEMENTS, "Statements")                                        \
    X(STREAM_ARN, "StreamArn")                                         \
    X(STREAM_ENABLED, "StreamEnabled")                                 \
    X(STREAM_SPECIFICATION, "StreamSpecification")                     \
    X(STREAM_VIEW_TYPE, "StreamViewType")                              \
    X(TABLE_CLASS, "TableClass")                                       \
    X(TABLE_NAME, "TableName")                                         \
    X(TAG_KEYS, "TagKeys")                                             \
    X(TAGS, "Tags")                                                    \
    X(TOTAL_SEGMENTS, "TotalSegments")                                 \
    X(TRANSACT_ITEMS, "TransactItems")                                 \
    X(TRANSACT_STATEMENTS, "TransactStatements")                       \
    X(TYPE, "Type")                                                    \
    X(UPDATE, "Update")                                                \
    X(UPDATE_EXPRESSION, "UpdateExpression")                           \
    X(VALUE, "Value")                                                  \
    X(WARM_THROUGHPUT, "WarmThroughput")                               \
    X(WRITE_CAPACITY_UNITS, "WriteCapacityUnits")                      \
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
};

struct spec_field {
    enum arg arg;
    bool required;   /* "Member must not be null" */
    bool named;      /* only letters, digits and _.- */
    bool table;      /* a table's name, or its ARN */
    bool early;      /* a table's name whose absence and length are told before all else */
    bool ranged;     /* INTEGER, LONG: min .. max; max 0: none */
    bool table_keys; /* MAP: its keys are tables' names */
    uint32_t length_min, length_max; /* of a string, list or map; 0: none */
    uint32_t values_max;             /* MAP of lists: 1 .. values_max elements each; 0: any */
    int64_t min, max;
    const char *choices; /* "B, N, S": as the fault tells them */
    const struct spec *spec;
};

/* Checks the types of a request and sets args from its members; unknown ones and nulls are passed
 * over. PARSE_FAILED with the service's text, or with none for what is not an object at all. */
enum status spec_read(const struct spec *spec, const struct json *request, struct arena *arena,
                      struct failure *failure, struct args *out);
/* The types alone, down into attribute values. */
enum status spec_check_deep(const struct spec *spec, const struct json *request,
                            struct arena *arena, struct failure *failure);
/* Sets args from an object whose types have been checked. */
void spec_bind(const struct spec *spec, const struct json *object, struct args *out);
/* INVALID. Types have been checked. */
enum status spec_check_limits(const struct spec *spec, const struct args *args, struct arena *arena,
                              struct failure *failure);

/* Reading what types have been checked for. Text that is absent is empty. Booleans may be
 * strings ("true"), integers may have fractions, as the service takes them. */
static inline bool args_has(const struct args *args, enum arg arg) {
    return args->at[arg] != NULL;
}
static inline struct bytes args_text(const struct args *args, enum arg arg) {
    return args->at[arg] == NULL ? (struct bytes){0} : args->at[arg]->text;
}
bool args_bool(const struct args *args, enum arg arg, bool otherwise);
int64_t args_int(const struct args *args, enum arg arg, int64_t otherwise);

#endif
