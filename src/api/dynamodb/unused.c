/* Features that are not in use here, told as the service tells it of a table that does not use
 * them. What would switch one on is an unknown operation. */
#include "api/dynamodb/operation.h"
#include "api/dynamodb/work.h"

static enum status find_table(struct call *call) {
    struct table_description table;
    return engine_describe(call->engine, call->table, call->arena, &call->failure, &table);
}

/* {"TableName":"..." */
static void begin(struct call *call) {
    buf_byte(call->reply, '{');
    reply_text(call->reply, BYTES("TableName"), call->table);
}

enum status op_describe_contributor_insights(struct call *call) {
    enum status status = find_table(call);
    if (status != OK)
        return status;
    begin(call);
    reply_text(call->reply, BYTES("IndexName"), args_text(&call->args, ARG_INDEX_NAME));
    reply_text(call->reply, BYTES("ContributorInsightsStatus"), BYTES("DISABLED"));
    buf_byte(call->reply, '}');
    return OK;
}

enum status op_list_contributor_insights(struct call *call) {
    buf_lit(call->reply, "{\"ContributorInsightsSummaries\":[]}");
    return OK;
}

enum status op_describe_kinesis_streaming_destination(struct call *call) {
    enum status status = find_table(call);
    if (status != OK)
        return status;
    begin(call);
    buf_lit(call->reply, ",\"KinesisDataStreamDestinations\":[]}");
    return OK;
}

enum status op_describe_table_replica_auto_scaling(struct call *call) {
    enum status status = find_table(call);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"TableAutoScalingDescription\":");
    begin(call);
    buf_lit(call->reply, ",\"TableStatus\":\"ACTIVE\",\"Replicas\":[]}}");
    return OK;
}

enum status op_describe_global_table(struct call *call) {
    struct bytes name = args_text(&call->args, ARG_GLOBAL_TABLE_NAME);
    return call_refuse(call, "GlobalTableNotFoundException",
                       "Global table not found: Global table with name: '%.*s' does not exist.",
                       BYTES_ARG(name));
}

enum status op_list_global_tables(struct call *call) {
    buf_lit(call->reply, "{\"GlobalTables\":[]}");
    return OK;
}

static enum status find_resource(struct call *call) {
    struct bytes arn = args_text(&call->args, ARG_RESOURCE_ARN);
    size_t stream = bytes_find(arn, BYTES("/stream/"));
    if (stream != SIZE_MAX)
        arn.size = stream;
    enum status status = call_table_name(call, arn, &call->table);
    return status == OK ? find_table(call) : status;
}

enum status op_get_resource_policy(struct call *call) {
    struct bytes arn = args_text(&call->args, ARG_RESOURCE_ARN);
    enum status status = find_resource(call);
    if (status != OK)
        return status;
    return call_refuse(call, "PolicyNotFoundException",
                       "Resource-based policy not found for the provided ResourceArn: %.*s",
                       BYTES_ARG(arn));
}

/* There is none to delete, and deleting none is fine. */
enum status op_delete_resource_policy(struct call *call) {
    enum status status = find_resource(call);
    if (status == OK)
        buf_lit(call->reply, "{}");
    return status;
}
