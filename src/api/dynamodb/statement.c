/* Reading statements; and ExecuteStatement. */
#include "api/dynamodb/statement.h"

#include "api/dynamodb/ddb_usage.h"
#include "api/dynamodb/operation.h"

/* --- reading --- */

static enum status read_parameters(struct call *call, const struct json *list,
                                   struct failure *failure, struct ql_source *out) {
    if (list == NULL)
        return OK;
    struct value *values = ARENA_ARRAY(call->arena, struct value, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        enum status status =
            attribute_read(&list->elements[i], (struct scope){call->arena, failure}, &values[i]);
        if (status != OK)
            return status;
    }
    out->parameters = values;
    out->parameter_count = list->count;
    return OK;
}

enum status statement_parse(struct call *call, const struct args *args, struct failure *failure,
                            struct statement *out) {
    struct ql_source source = {
        .text = args_text(args, ARG_STATEMENT), .arena = call->arena, .failure = failure};
    out->consistent = args_bool(args, ARG_CONSISTENT_READ, false);
    out->old_on_failure =
        bytes_equal(args_text(args, ARG_RETURN_VALUES_ON_FAILURE), BYTES("ALL_OLD"));
    enum status status = read_parameters(call, args->at[ARG_PARAMETERS], failure, &source);
    return status == OK ? ql_parse(&source, &out->parsed) : status;
}

enum status statement_plan(struct call *call, struct failure *failure, struct statement *out) {
    struct bytes name;
    enum status status = call_table_name(call, ql_table(out->parsed), &name);
    if (status != OK) {
        *failure = call->failure;
        return status;
    }
    status = engine_describe(call->engine, name, (struct scope){call->arena, failure}, &out->table);
    if (status == NO_TABLE)
        return failure_set(failure, call->arena, NO_TABLE, "Requested resource not found");
    if (status == OK)
        status = ql_plan(out->parsed, &out->table.schema, (struct scope){call->arena, failure},
                         &out->plan);
    for (uint32_t i = 0; i < out->plan.page_count; i++)
        out->plan.pages[i].consistent = out->consistent;
    out->plan.get.consistent = out->consistent;
    return status;
}

/* --- what comes of an action --- */

void statement_name_fault(const struct statement *statement, struct failure *failure,
                          struct arena *arena) {
    if (failure->status == CONDITION_FAILED && ql_kind(statement->parsed) == QL_INSERT)
        failure_set(failure, arena, DUPLICATE, "Duplicate primary key exists in table");
}

struct item statement_returned(const struct statement *statement, const struct action *action,
                               struct arena *arena) {
    switch (ql_returning(statement->parsed)) {
    case QL_RETURN_ALL_OLD:
        return action->had_old ? action->old : (struct item){0};
    case QL_RETURN_ALL_NEW:
        return action->new;
    case QL_RETURN_MODIFIED_OLD:
        return update_touched(action->update, &action->old, arena);
    case QL_RETURN_MODIFIED_NEW:
        return update_touched(action->update, &action->new, arena);
    case QL_RETURN_NONE:
        break;
    }
    return (struct item){0};
}

static void tell_old(struct call *call, const struct action *action) {
    struct buf item = {0};
    buf_lit(&item, ",\"Item\":");
    attribute_write_item(&item, &action->old);
    call->extra = arena_copy(call->arena, buf_bytes(&item));
    buf_release(&item);
}

static enum status answer_write(struct call *call) {
    struct statement *statement = call->state;
    const struct action *action = &statement->plan.action;
    if (call_changed(call) != OK) {
        statement_name_fault(statement, &call->failure, call->arena);
        if (call->failure.status == CONDITION_FAILED && statement->old_on_failure &&
            action->had_old)
            tell_old(call, action);
        return call->failure.status;
    }
    struct item item = statement_returned(statement, action, call->arena);
    enum usage_detail detail = usage_asked(&call->args);
    buf_lit(call->reply, "{\"Items\":[");
    if (item.count > 0)
        attribute_write_item(call->reply, &item);
    buf_byte(call->reply, ']');
    if (detail != USAGE_NONE) {
        REPLY_NAME(call->reply, "ConsumedCapacity");
        usage_write(call->reply, statement_table(statement), &action->usage, detail);
    }
    buf_byte(call->reply, '}');
    return OK;
}

enum status op_execute_statement(struct call *call) {
    struct statement *statement = ARENA_NEW(call->arena, struct statement);
    enum status status = statement_parse(call, &call->args, &call->failure, statement);
    if (status == OK && ql_kind(statement->parsed) == QL_EXISTS)
        return call_invalid(call, "EXISTS can only be used in ExecuteTransaction write requests.");
    if (status == OK)
        status = statement_plan(call, &call->failure, statement);
    if (status != OK)
        return status;
    if (statement_reads(statement))
        return statement_select(call, statement);
    call->state = statement;
    call->change.kind = CHANGE_WRITE;
    call->change.unordered = true;
    call->change.actions = &statement->plan.action;
    call->change.action_count = 1;
    return call_then(call, answer_write);
}
