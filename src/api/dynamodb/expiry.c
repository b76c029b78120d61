/* UpdateTimeToLive and DescribeTimeToLive. */
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"

static enum status answer_updated(struct call *call) {
    const struct change *change = &call->change;
    enum status status = call_changed(call);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"TimeToLiveSpecification\":{\"AttributeName\":");
    json_put_string(call->reply, change->expiry);
    buf_put(call->reply,
            change->expires ? BYTES(",\"Enabled\":true}}") : BYTES(",\"Enabled\":false}}"));
    return OK;
}

enum status op_update_time_to_live(struct call *call) {
    struct args args;
    spec_bind(&shape_expiry, call->args.at[ARG_TIME_TO_LIVE_SPECIFICATION], &args);
    call->change.kind = CHANGE_EXPIRY;
    call->change.table = call->table;
    call->change.expiry = args_text(&args, ARG_ATTRIBUTE_NAME);
    call->change.expires = args_bool(&args, ARG_ENABLED, false);
    return call_then(call, answer_updated);
}

enum status op_describe_time_to_live(struct call *call) {
    struct table_description table;
    enum status status =
        engine_describe(call->engine, call->table, call->arena, &call->failure, &table);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"TimeToLiveDescription\":{");
    if (table.schema.expiry.size != 0) {
        REPLY_NAME(call->reply, "AttributeName");
        json_put_string(call->reply, table.schema.expiry);
    }
    REPLY_NAME(call->reply, "TimeToLiveStatus");
    json_put_string(call->reply,
                    table.schema.expiry.size != 0 ? BYTES("ENABLED") : BYTES("DISABLED"));
    buf_lit(call->reply, "}}");
    return OK;
}
