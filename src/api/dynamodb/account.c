/* What clients ask about the endpoint itself, and about features that are not in use. */
#include "api/dynamodb/operation.h"

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
