/* The shapes of the operations on streams. */
#include "api/dynamodb/shapes.h"

#define STRING           .spec = &shape_string
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
    SHAPE_FIELD(TYPE, .choices = "CHILD_SHARDS", STRING),
    SHARD(SHARD_ID, .required = false),
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
