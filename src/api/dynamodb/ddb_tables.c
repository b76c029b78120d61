/* CreateTable, DeleteTable, DescribeTable, ListTables. */
#include "api/dynamodb/ddb_schema.h"
#include "api/dynamodb/describe.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"
#include "table/rules.h"

#define PARAMETERS "One or more parameter values were invalid: "

/* --- CreateTable --- */

static enum status read_billing(struct call *call, struct table_schema *schema) {
    const struct args *args = &call->args;
    bool given = args_has(args, ARG_PROVISIONED_THROUGHPUT);
    bool on_demand = bytes_equal(args_text(args, ARG_BILLING_MODE), BYTES("PAY_PER_REQUEST"));
    schema->billing = on_demand ? BILLING_ON_DEMAND : BILLING_PROVISIONED;
    if (on_demand && given)
        return call_invalid(call, PARAMETERS
                            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified "
                            "when BillingMode is PAY_PER_REQUEST");
    if (!on_demand && !given)
        return call_invalid(call, PARAMETERS
                            "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
                            "BillingMode is PROVISIONED");
    return schema_read_capacity(call, args, &schema->capacity);
}

/* A global index is billed as its table is. */
static enum status check_index_billing(struct call *call, const struct table_schema *schema,
                                       const struct index_schema *index) {
    bool given = index->capacity.provisioned.read != 0;
    if (index->local || given == (schema->billing == BILLING_PROVISIONED))
        return OK;
    if (given)
        return call_invalid(call,
                            PARAMETERS "ProvisionedThroughput should not be specified for index: "
                                       "%.*s when BillingMode is PAY_PER_REQUEST",
                            BYTES_ARG(index->name));
    return call_invalid(call, PARAMETERS "ProvisionedThroughput must be specified for index: %.*s",
                        BYTES_ARG(index->name));
}

static enum status read_indexes(struct call *call, enum arg arg, bool local,
                                struct table_schema *schema) {
    const struct json *list = call->args.at[arg];
    if (list == NULL)
        return OK;
    if (list->count == 0)
        return call_invalid(call, PARAMETERS "List of %s is empty",
                            (const char *)arg_name(arg).data);
    for (uint32_t i = 0; i < list->count; i++) {
        struct args args;
        spec_bind(local ? &shape_local_index : &shape_global_index, &list->elements[i], &args);
        struct index_schema *index = &schema->indexes[schema->index_count++];
        index->local = local;
        enum status status = schema_read_index(call, &args, schema, index);
        if (status == OK)
            status = schema_check_index(call, &args, index);
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status read_tags(struct call *call, struct table_schema *schema) {
    const struct json *list = call->args.at[ARG_TAGS];
    if (list == NULL)
        return OK;
    schema->tag_count = list->count;
    return tags_read(call, list, &schema->tags);
}

static enum status read_settings(struct call *call, struct table_schema *schema) {
    const struct args *args = &call->args;
    schema->deletion_protection = args_bool(args, ARG_DELETION_PROTECTION_ENABLED, false);
    schema->table_class = args_text(args, ARG_TABLE_CLASS);
    if (args_has(args, ARG_SSE_SPECIFICATION))
        schema_read_encryption(args->at[ARG_SSE_SPECIFICATION], &schema->encrypted,
                               &schema->encryption_key);
    enum status status = read_tags(call, schema);
    if (status != OK || !args_has(args, ARG_STREAM_SPECIFICATION))
        return status;
    return schema_read_stream(call, args->at[ARG_STREAM_SPECIFICATION], &schema->stream);
}

static uint32_t list_count(const struct json *list) {
    return list == NULL ? 0 : list->count;
}

/* What is beyond all measure is refused before the rules compare each with each. */
static enum status check_counts(struct call *call) {
    enum { INDEXES = 100, DEFINITIONS = 400 };
    const struct args *args = &call->args;
    if (list_count(args->at[ARG_LOCAL_SECONDARY_INDEXES]) > INDEXES)
        return call_invalid(call, PARAMETERS "Number of LocalSecondaryIndexes exceeds per-table "
                                             "limit of 5");
    if (list_count(args->at[ARG_GLOBAL_SECONDARY_INDEXES]) > INDEXES)
        return call_invalid(call, PARAMETERS "GlobalSecondaryIndex count exceeds the per-table "
                                             "limit of 20");
    if (list_count(args->at[ARG_ATTRIBUTE_DEFINITIONS]) > DEFINITIONS)
        return call_invalid(call, PARAMETERS "Number of attributes in KeySchema does not exactly "
                                             "match number of attributes defined in "
                                             "AttributeDefinitions");
    return OK;
}

enum status schema_read_table(struct call *call, struct table_schema *schema) {
    const struct args *args = &call->args;
    schema->name = call->table;
    enum status status = read_billing(call, schema);
    if (status == OK)
        status = check_counts(call);
    if (status != OK)
        return status;
    schema_read_definitions(call, args->at[ARG_ATTRIBUTE_DEFINITIONS], &schema->attributes,
                            &schema->attribute_count);
    schema_read_keys(args->at[ARG_KEY_SCHEMA], schema, false, &schema->keys);
    status = schema_check_keys(call, args->at[ARG_KEY_SCHEMA], &schema->keys, false);
    if (status != OK)
        return status;
    size_t room = (size_t)list_count(args->at[ARG_LOCAL_SECONDARY_INDEXES]) +
                  list_count(args->at[ARG_GLOBAL_SECONDARY_INDEXES]);
    schema->indexes = ARENA_ARRAY(call->arena, struct index_schema, room + 1);
    status = read_indexes(call, ARG_LOCAL_SECONDARY_INDEXES, true, schema);
    if (status == OK)
        status = read_indexes(call, ARG_GLOBAL_SECONDARY_INDEXES, false, schema);
    if (status == OK)
        status = rules_check_table(&(struct rules_context){schema, call->arena, &call->failure});
    for (uint32_t i = 0; status == OK && i < schema->index_count; i++)
        status = check_index_billing(call, schema, &schema->indexes[i]);
    return status == OK ? read_settings(call, schema) : status;
}

static enum status answer_created(struct call *call) {
    enum status status = call_changed(call);
    if (status == OK)
        describe_table(call, BYTES("TableDescription"), call->change.description,
                       DESCRIBE_CREATING);
    return status;
}

enum status op_create_table(struct call *call) {
    struct table_schema *schema = ARENA_NEW(call->arena, struct table_schema);
    enum status status = schema_read_table(call, schema);
    if (status != OK)
        return status;
    call->change.kind = CHANGE_CREATE_TABLE;
    call->change.table = call->table;
    call->change.schema = schema;
    return call_then(call, answer_created);
}

/* --- DeleteTable --- */

static enum status answer_deleted(struct call *call) {
    enum status status = call_changed(call);
    if (status == OK)
        describe_table(call, BYTES("TableDescription"), call->change.description,
                       DESCRIBE_DELETING);
    return status;
}

enum status op_delete_table(struct call *call) {
    call->change.kind = CHANGE_DELETE_TABLE;
    call->change.table = call->table;
    return call_then(call, answer_deleted);
}

/* --- DescribeTable, ListTables --- */

enum status op_describe_table(struct call *call) {
    struct table_description table;
    enum status status = engine_describe(call->engine, call->table,
                                         (struct scope){call->arena, &call->failure}, &table);
    if (status == OK)
        describe_table(call, BYTES("Table"), &table, DESCRIBE_NOW);
    return status;
}

enum status op_list_tables(struct call *call) {
    struct name_list list;
    struct list_request request = {args_text(&call->args, ARG_EXCLUSIVE_START_TABLE_NAME),
                                   (size_t)args_int(&call->args, ARG_LIMIT, 100)};
    enum status status = engine_list(call->engine, &request, call->arena, &list);
    if (status != OK) {
        call->failure.status = status;
        return status;
    }
    buf_lit(call->reply, "{\"TableNames\":[");
    for (size_t i = 0; i < list.count; i++) {
        if (i != 0)
            buf_byte(call->reply, ',');
        json_put_string(call->reply, list.names[i]);
    }
    buf_byte(call->reply, ']');
    if (list.more && list.count != 0) {
        REPLY_NAME(call->reply, "LastEvaluatedTableName");
        json_put_string(call->reply, list.names[list.count - 1]);
    }
    buf_byte(call->reply, '}');
    return OK;
}
