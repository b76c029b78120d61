/* The shapes of the operations on tables and their streams. Fields are in the order in which
 * DynamoDB reports faults. */
#include "api/dynamodb/shapes.h"

const struct spec shape_string = {.type = SPEC_STRING};
const struct spec shape_boolean = {.type = SPEC_BOOLEAN};
const struct spec shape_integer = {.type = SPEC_INTEGER};
const struct spec shape_long = {.type = SPEC_LONG};
SHAPE_LIST(shape_strings, shape_string);

#define STRING  .spec = &shape_string
#define BOOLEAN .spec = &shape_boolean
#define LONG    .spec = &shape_long
#define NAMED   .named = true, .length_min = 3, .length_max = 255, STRING
#define TABLE   SHAPE_FIELD(TABLE_NAME, .early = true, .table = true, .named = true, STRING)
#define UNITS   .required = true, .ranged = true, .min = 1, LONG

static const struct spec_field attribute_definition_fields[] = {
    SHAPE_FIELD(ATTRIBUTE_NAME, .required = true, .length_min = 1, .length_max = 255, STRING),
    SHAPE_FIELD(ATTRIBUTE_TYPE, .required = true, .choices = "B, N, S", STRING),
};
SHAPE_STRUCT(shape_attribute_definition, "AttributeDefinition", attribute_definition_fields);
static SHAPE_LIST(attribute_definitions, shape_attribute_definition);

static const struct spec_field key_element_fields[] = {
    SHAPE_FIELD(ATTRIBUTE_NAME, .required = true, .length_min = 1, .length_max = 255, STRING),
    SHAPE_FIELD(KEY_TYPE, .required = true, .choices = "HASH, RANGE", STRING),
};
SHAPE_STRUCT(shape_key_element, "KeySchemaElement", key_element_fields);
static SHAPE_LIST(key_schema, shape_key_element);

static const struct spec_field throughput_fields[] = {
    SHAPE_FIELD(WRITE_CAPACITY_UNITS, UNITS),
    SHAPE_FIELD(READ_CAPACITY_UNITS, UNITS),
};
SHAPE_STRUCT(shape_throughput, "ProvisionedThroughput", throughput_fields);

static const struct spec_field on_demand_fields[] = {
    SHAPE_FIELD(MAX_READ_REQUEST_UNITS, LONG),
    SHAPE_FIELD(MAX_WRITE_REQUEST_UNITS, LONG),
};
SHAPE_STRUCT(shape_on_demand, "OnDemandThroughput", on_demand_fields);

static const struct spec_field warm_fields[] = {
    SHAPE_FIELD(READ_UNITS_PER_SECOND, .ranged = true, .min = 1, LONG),
    SHAPE_FIELD(WRITE_UNITS_PER_SECOND, .ranged = true, .min = 1, LONG),
};
SHAPE_STRUCT(shape_warm, "WarmThroughput", warm_fields);

static const struct spec_field projection_fields[] = {
    SHAPE_FIELD(PROJECTION_TYPE, .choices = "ALL, INCLUDE, KEYS_ONLY", STRING),
    SHAPE_FIELD(NON_KEY_ATTRIBUTES, .length_min = 1, .length_max = 100, .element_max = 255,
                .spec = &shape_strings),
};
SHAPE_STRUCT(shape_projection, "Projection", projection_fields);

static const struct spec_field stream_fields[] = {
    SHAPE_FIELD(STREAM_ENABLED, .required = true, BOOLEAN),
    SHAPE_FIELD(STREAM_VIEW_TYPE, .choices = "NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY",
                STRING),
};
SHAPE_STRUCT(shape_stream, "StreamSpecification", stream_fields);

static const struct spec_field sse_fields[] = {
    SHAPE_FIELD(ENABLED, BOOLEAN),
    SHAPE_FIELD(SSE_TYPE, .choices = "AES256, KMS", STRING),
    SHAPE_FIELD(KMS_MASTER_KEY_ID, STRING),
};
SHAPE_STRUCT(shape_sse, "SSESpecification", sse_fields);

#define INDEX_KEYS(most)                                                             \
    SHAPE_FIELD(KEY_SCHEMA, .required = true, .length_min = 1, .length_max = (most), \
                .spec = &key_schema)
#define THROUGHPUT SHAPE_FIELD(PROVISIONED_THROUGHPUT, .spec = &shape_throughput)
#define ON_DEMAND  SHAPE_FIELD(ON_DEMAND_THROUGHPUT, .spec = &shape_on_demand)
#define WARM       SHAPE_FIELD(WARM_THROUGHPUT, .spec = &shape_warm)
#define PROJECTION SHAPE_FIELD(PROJECTION, .required = true, .spec = &shape_projection)
#define INDEX_NAME SHAPE_FIELD(INDEX_NAME, .required = true, NAMED)

static const struct spec_field local_index_fields[] = {INDEX_NAME, INDEX_KEYS(2), PROJECTION};
SHAPE_STRUCT(shape_local_index, "LocalSecondaryIndex", local_index_fields);
static SHAPE_LIST(local_indexes, shape_local_index);

static const struct spec_field global_index_fields[] = {INDEX_NAME, INDEX_KEYS(8), PROJECTION,
                                                        THROUGHPUT, ON_DEMAND,     WARM};
SHAPE_STRUCT(shape_global_index, "GlobalSecondaryIndex", global_index_fields);
static SHAPE_LIST(global_indexes, shape_global_index);

static const struct spec_field tag_fields[] = {
    SHAPE_FIELD(KEY, .required = true, .length_min = 1, .length_max = 128, STRING),
    SHAPE_FIELD(VALUE, .required = true, .length_max = 256, STRING),
};
SHAPE_STRUCT(shape_tag, "Tag", tag_fields);
static SHAPE_LIST(tags, shape_tag);

#define BILLING    SHAPE_FIELD(BILLING_MODE, .choices = "PROVISIONED, PAY_PER_REQUEST", STRING)
#define STREAM     SHAPE_FIELD(STREAM_SPECIFICATION, .spec = &shape_stream)
#define SSE        SHAPE_FIELD(SSE_SPECIFICATION, .spec = &shape_sse)
#define PROTECTION SHAPE_FIELD(DELETION_PROTECTION_ENABLED, BOOLEAN)
#define TABLE_CLASS \
    SHAPE_FIELD(TABLE_CLASS, .choices = "STANDARD, STANDARD_INFREQUENT_ACCESS", STRING)

static const struct spec_field create_table_fields[] = {
    SHAPE_FIELD(ATTRIBUTE_DEFINITIONS, .required = true, .spec = &attribute_definitions),
    TABLE,
    BILLING,
    THROUGHPUT,
    INDEX_KEYS(2),
    SHAPE_FIELD(LOCAL_SECONDARY_INDEXES, .spec = &local_indexes),
    SHAPE_FIELD(GLOBAL_SECONDARY_INDEXES, .spec = &global_indexes),
    STREAM,
    SSE,
    SHAPE_FIELD(TAGS, .spec = &tags),
    TABLE_CLASS,
    PROTECTION,
    ON_DEMAND,
    WARM,
};
SHAPE_STRUCT(shape_create_table, "CreateTableInput", create_table_fields);

/* What an import makes its table of. */
static const struct spec_field table_parameters_fields[] = {
    SHAPE_FIELD(TABLE_NAME, .required = true, NAMED),
    SHAPE_FIELD(ATTRIBUTE_DEFINITIONS, .required = true, .spec = &attribute_definitions),
    INDEX_KEYS(2),
    BILLING,
    THROUGHPUT,
    ON_DEMAND,
    SSE,
    SHAPE_FIELD(GLOBAL_SECONDARY_INDEXES, .spec = &global_indexes),
};
SHAPE_STRUCT(shape_table_parameters, "TableCreationParameters", table_parameters_fields);

static const struct spec_field index_change_fields[] = {INDEX_NAME, THROUGHPUT, ON_DEMAND, WARM};
SHAPE_STRUCT(shape_index_change, "UpdateGlobalSecondaryIndexAction", index_change_fields);
static const struct spec_field index_create_fields[] = {PROJECTION,    INDEX_NAME, THROUGHPUT,
                                                        INDEX_KEYS(8), ON_DEMAND,  WARM};
SHAPE_STRUCT(shape_index_create, "CreateGlobalSecondaryIndexAction", index_create_fields);
static const struct spec_field index_delete_fields[] = {INDEX_NAME};
SHAPE_STRUCT(shape_index_delete, "DeleteGlobalSecondaryIndexAction", index_delete_fields);

static const struct spec_field index_update_fields[] = {
    SHAPE_FIELD(UPDATE, .spec = &shape_index_change),
    SHAPE_FIELD(CREATE, .spec = &shape_index_create),
    SHAPE_FIELD(DELETE, .spec = &shape_index_delete),
};
SHAPE_STRUCT(shape_index_update, "GlobalSecondaryIndexUpdate", index_update_fields);
static SHAPE_LIST(index_updates, shape_index_update);

static const struct spec_field update_table_fields[] = {
    TABLE,
    THROUGHPUT,
    BILLING,
    SHAPE_FIELD(GLOBAL_SECONDARY_INDEX_UPDATES, .length_max = 100, .spec = &index_updates),
    SHAPE_FIELD(ATTRIBUTE_DEFINITIONS, .length_max = 400, .spec = &attribute_definitions),
    STREAM,
    SSE,
    TABLE_CLASS,
    PROTECTION,
    ON_DEMAND,
    WARM,
};
SHAPE_STRUCT(shape_update_table, "UpdateTableInput", update_table_fields);

static const struct spec_field table_only_fields[] = {TABLE};
SHAPE_STRUCT(shape_table_only, "DescribeTableInput", table_only_fields);

static const struct spec_field expiry_fields[] = {
    SHAPE_FIELD(ATTRIBUTE_NAME, .required = true, .length_min = 1, .length_max = 255, STRING),
    SHAPE_FIELD(ENABLED, .required = true, BOOLEAN),
};
SHAPE_STRUCT(shape_expiry, "TimeToLiveSpecification", expiry_fields);
static const struct spec_field update_time_to_live_fields[] = {
    TABLE,
    SHAPE_FIELD(TIME_TO_LIVE_SPECIFICATION, .required = true, .spec = &shape_expiry),
};
SHAPE_STRUCT(shape_update_time_to_live, "UpdateTimeToLiveInput", update_time_to_live_fields);

static const struct spec_field list_tables_fields[] = {
    SHAPE_FIELD(LIMIT, .ranged = true, .min = 1, .max = 100, .spec = &shape_integer),
    SHAPE_FIELD(EXCLUSIVE_START_TABLE_NAME, NAMED),
};
SHAPE_STRUCT(shape_list_tables, "ListTablesInput", list_tables_fields);

/* What these require is told by the operations, in an order of their own. */
static const struct spec_field tag_resource_fields[] = {
    SHAPE_FIELD(RESOURCE_ARN, STRING),
    SHAPE_FIELD(TAGS, .spec = &tags),
};
SHAPE_STRUCT(shape_tag_resource, "TagResourceInput", tag_resource_fields);
static const struct spec_field untag_resource_fields[] = {
    SHAPE_FIELD(RESOURCE_ARN, STRING),
    SHAPE_FIELD(TAG_KEYS, .spec = &shape_strings),
};
SHAPE_STRUCT(shape_untag_resource, "UntagResourceInput", untag_resource_fields);
static const struct spec_field list_tags_fields[] = {
    SHAPE_FIELD(RESOURCE_ARN, STRING),
    SHAPE_FIELD(NEXT_TOKEN, STRING),
};
SHAPE_STRUCT(shape_list_tags, "ListTagsOfResourceInput", list_tags_fields);

const struct spec shape_nothing = {.type = SPEC_STRUCT, .class = "DescribeLimitsInput"};

/* --- streams --- */

#define LIMIT            SHAPE_FIELD(LIMIT, .ranged = true, .min = 1, .spec = &shape_integer)
#define ARN(name, ...)   SHAPE_FIELD(name, .length_min = 37, .length_max = 1024, STRING, __VA_ARGS__)
#define SHARD(name, ...) SHAPE_FIELD(name, .length_min = 28, .length_max = 65, STRING, __VA_ARGS__)

static const struct spec_field list_streams_fields[] = {
    SHAPE_FIELD(TABLE_NAME, .table = true, .named = true, .length_min = 3, .length_max = 255,
                STRING),
    LIMIT,
    ARN(EXCLUSIVE_START_STREAM_ARN, .required = false),
};
SHAPE_STRUCT(shape_list_streams, "ListStreamsInput", list_streams_fields);

static const struct spec_field shard_filter_fields[] = {
    SHAPE_FIELD(TYPE, .required = true, .choices = "CHILD_SHARDS", STRING),
    SHARD(SHARD_ID, .required = true),
};
static SHAPE_STRUCT(shard_filter, "ShardFilter", shard_filter_fields);

static const struct spec_field describe_stream_fields[] = {
    ARN(STREAM_ARN, .required = true),
    LIMIT,
    SHARD(EXCLUSIVE_START_SHARD_ID, .required = false),
    SHAPE_FIELD(SHARD_FILTER, .spec = &shard_filter),
};
SHAPE_STRUCT(shape_describe_stream, "DescribeStreamInput", describe_stream_fields);

static const struct spec_field get_shard_iterator_fields[] = {
    ARN(STREAM_ARN, .required = true),
    SHARD(SHARD_ID, .required = true),
    SHAPE_FIELD(SHARD_ITERATOR_TYPE, .required = true,
                .choices = "AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON",
                STRING),
    SHAPE_FIELD(SEQUENCE_NUMBER, .length_min = 21, .length_max = 40, STRING),
};
SHAPE_STRUCT(shape_get_shard_iterator, "GetShardIteratorInput", get_shard_iterator_fields);

static const struct spec_field get_records_fields[] = {
    SHAPE_FIELD(SHARD_ITERATOR, .required = true, .length_min = 1, .length_max = 2048, STRING),
    LIMIT,
};
SHAPE_STRUCT(shape_get_records, "GetRecordsInput", get_records_fields);
