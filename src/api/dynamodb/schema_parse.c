#include "api/dynamodb/schema_parse.h"

#include "api/dynamodb/schema.h"
#include "api/dynamodb/shapes.h"

enum status schema_parse(struct bytes text, struct bytes name, struct arena *arena,
                         struct failure *failure, struct table_schema *out) {
    struct call *call = ARENA_NEW(arena, struct call);
    size_t at;
    call->arena = arena;
    if (json_parse(text, arena, &call->request, &at) != OK)
        return failure_set(failure, arena, INVALID, "The description of table %.*s is not JSON.",
                           BYTES_ARG(name));
    enum status status =
        spec_read(&shape_create_table, &call->request, arena, failure, &call->args);
    if (status == OK)
        status = spec_check_limits(&shape_create_table, &call->args, arena, failure);
    if (status != OK)
        return status;
    call->table = name;
    *out = (struct table_schema){0};
    status = schema_read_table(call, out);
    if (status != OK)
        *failure = call->failure;
    return status;
}
