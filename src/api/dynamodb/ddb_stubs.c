/* Operations that answer with constants: features that are not in use here, answered as DynamoDB
 * does for a table that does not use them, and what clients ask about the endpoint. An operation
 * that would switch a feature on is unknown. */
#include "api/dynamodb/ddb_background.h"
#include "api/dynamodb/operation.h"

static enum status find_table(struct call *call) {
    struct table_description table;
    return engine_describe(call->engine, call->table, (struct scope){call->arena, &call->failure},
                           &table);
}

/* {"TableName":"..." */
static void begin_reply(struct call *call) {
    buf_byte(call->reply, '{');
    reply_text(call->reply, BYTES("TableName"), call->table);
}

enum status op_describe_kinesis_streaming_destination(struct call *call) {
    enum status status = find_table(call);
    if (status != OK)
        return status;
    begin_reply(call);
    buf_lit(call->reply, ",\"KinesisDataStreamDestinations\":[]}");
    return OK;
}

enum status op_describe_table_replica_auto_scaling(struct call *call) {
    enum status status = find_table(call);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"TableAutoScalingDescription\":");
    begin_reply(call);
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

/* --- about the endpoint itself --- */

enum status op_describe_limits(struct call *call) {
    buf_lit(call->reply, "{\"AccountMaxReadCapacityUnits\":80000,"
                         "\"AccountMaxWriteCapacityUnits\":80000,"
                         "\"TableMaxReadCapacityUnits\":40000,"
                         "\"TableMaxWriteCapacityUnits\":40000}");
    return OK;
}

/* Clients that discover endpoints go where this says: back here. */
enum status op_describe_endpoints(struct call *call) {
    struct bytes host = http_header(call->exchange, "host");
    buf_lit(call->reply, "{\"Endpoints\":[{\"Address\":");
    json_put_string(call->reply, host.size != 0 ? host : BYTES("localhost"));
    buf_lit(call->reply, ",\"CachePeriodInMinutes\":1440}]}");
    return OK;
}
