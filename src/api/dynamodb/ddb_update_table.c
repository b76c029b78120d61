/* What is changed about a table that exists: UpdateTable, UpdateTimeToLive. */
#include <inttypes.h>

#include "api/dynamodb/ddb_schema.h"
#include "api/dynamodb/describe.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"
#include "base/limits.h"

#define PARAMETERS "One or more parameter values were invalid: "

/* An alteration and the values it points to. */
struct altering {
    struct alteration by;
    enum billing billing;
    struct capacity_settings capacity;
    enum stream_view stream;
    bool deletion_protection, encrypted;
    struct bytes table_class;
    struct key_part *attributes;
    struct index_schema added;
    unsigned online; /* indexes added and dropped */
};

static bool says_something(const struct args *args) {
    static const enum arg all[] = {
        ARG_PROVISIONED_THROUGHPUT, ARG_BILLING_MODE,   ARG_STREAM_SPECIFICATION,
        ARG_SSE_SPECIFICATION,      ARG_TABLE_CLASS,    ARG_DELETION_PROTECTION_ENABLED,
        ARG_ON_DEMAND_THROUGHPUT,   ARG_WARM_THROUGHPUT};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (args_has(args, all[i]))
            return true;
    const struct json *updates = args->at[ARG_GLOBAL_SECONDARY_INDEX_UPDATES];
    return updates != NULL && updates->count != 0;
}

/* --- indexes --- */

/* The one of Update, Create and Delete that is there. */
static const struct json *index_action(const struct json *update, enum arg *kind,
                                       struct args *out) {
    struct args args;
    spec_bind(&shape_index_update, update, &args);
    *kind = args_has(&args, ARG_UPDATE)   ? ARG_UPDATE
            : args_has(&args, ARG_CREATE) ? ARG_CREATE
                                          : ARG_DELETE;
    const struct json *action = args.at[*kind];
    if (action != NULL)
        spec_bind(*kind == ARG_UPDATE   ? &shape_index_change
                  : *kind == ARG_CREATE ? &shape_index_create
                                        : &shape_index_delete,
                  action, out);
    return action;
}

/* One element may say more than one thing, which is one too many. */
static bool has_two(const struct json *update) {
    struct args args;
    spec_bind(&shape_index_update, update, &args);
    return args_has(&args, ARG_UPDATE) + args_has(&args, ARG_CREATE) + args_has(&args, ARG_DELETE) >
           1;
}

/* Each names one index, and no two the same. */
static enum status check_index_updates(struct call *call, const struct json *list) {
    struct bytes *names = ARENA_ARRAY(call->arena, struct bytes, list->count + 1);
    for (uint32_t i = 0; i < list->count; i++) {
        enum arg kind;
        struct args action;
        if (index_action(&list->elements[i], &kind, &action) == NULL)
            return call_invalid(call,
                                PARAMETERS "One of GlobalSecondaryIndexUpdate.Update, "
                                           "GlobalSecondaryIndexUpdate.Create, "
                                           "GlobalSecondaryIndexUpdate.Delete must not be null");
        if (has_two(&list->elements[i]))
            return call_invalid(call,
                                PARAMETERS "Only one of GlobalSecondaryIndexUpdate.Update, "
                                           "GlobalSecondaryIndexUpdate.Create, "
                                           "GlobalSecondaryIndexUpdate.Delete can be specified");
        names[i] = args_text(&action, ARG_INDEX_NAME);
        for (uint32_t j = 0; j < i; j++)
            if (bytes_equal(names[i], names[j]))
                return call_invalid(call,
                                    PARAMETERS "Only one global secondary index update per index "
                                               "is allowed simultaneously. Index: %.*s",
                                    BYTES_ARG(names[i]));
    }
    return OK;
}

static bool is_defined(const struct altering *alter, struct bytes name) {
    for (uint32_t i = 0; i < alter->by.attribute_count; i++)
        if (bytes_equal(alter->attributes[i].name, name))
            return true;
    return false;
}

/* The request itself defines the attributes of the new index's keys, known ones too. */
static enum status check_defined(struct call *call, const struct altering *alter) {
    const struct key_schema *keys = &alter->added.keys;
    struct buf missing = {0}, given = {0};
    for (unsigned i = 0; i < key_schema_count(keys); i++)
        if (!is_defined(alter, keys->parts[i].name))
            buf_printf(&missing, "%s%.*s", missing.size == 0 ? "" : ", ",
                       BYTES_ARG(keys->parts[i].name));
    for (uint32_t i = 0; i < alter->by.attribute_count; i++)
        buf_printf(&given, "%s%.*s", i == 0 ? "" : ", ", BYTES_ARG(alter->attributes[i].name));
    enum status status = OK;
    if (missing.size != 0)
        status = call_invalid(call,
                              PARAMETERS "Some index key attributes are not defined in "
                                         "AttributeDefinitions. Keys: [%.*s], "
                                         "AttributeDefinitions: [%.*s]",
                              BYTES_ARG(buf_bytes(&missing)), BYTES_ARG(buf_bytes(&given)));
    buf_release(&missing);
    buf_release(&given);
    return status;
}

/* The table's own definitions count too, beside those that came with the request. */
static enum status read_added(struct call *call, const struct args *action,
                              const struct table_schema *table, struct altering *alter) {
    uint32_t given = alter->by.attribute_count, count = given + table->attribute_count;
    struct table_schema known = {
        .attributes = ARENA_ARRAY(call->arena, struct key_part, count + 1),
        .attribute_count = count,
    };
    for (uint32_t i = 0; i < count; i++)
        known.attributes[i] = i < given ? alter->attributes[i] : table->attributes[i - given];
    alter->added.local = false;
    enum status status = schema_read_index(call, action, &known, &alter->added);
    if (status == OK)
        status = check_defined(call, alter);
    if (status == OK)
        status = schema_check_index(call, action, &alter->added);
    alter->by.add_index = &alter->added;
    alter->online++;
    return status;
}

static enum status read_changed(struct call *call, const struct args *action, uint32_t place,
                                struct altering *alter) {
    if (!args_has(action, ARG_PROVISIONED_THROUGHPUT) &&
        !args_has(action, ARG_ON_DEMAND_THROUGHPUT) && !args_has(action, ARG_WARM_THROUGHPUT))
        return call_invalid(call,
                            "1 validation error detected: Value null at "
                            "'globalSecondaryIndexUpdates.%" PRIu32
                            ".member.update.provisionedThroughput' failed to satisfy constraint: "
                            "Member must not be null",
                            place);
    uint32_t at = alter->by.update_index_count++;
    alter->by.update_indexes[at].name = args_text(action, ARG_INDEX_NAME);
    if (schema_read_capacity(call, action, &alter->by.update_indexes[at].capacity) == OK)
        return OK;
    return call_invalid(call, "This operation cannot be performed with given input values. Please "
                              "contact DynamoDB service team for more info: Action Blocked: "
                              "IndexUpdate");
}

static enum status read_index_updates(struct call *call, const struct json *list,
                                      const struct table_schema *table, struct altering *alter) {
    alter->by.update_indexes =
        arena_zalloc(call->arena, sizeof(*alter->by.update_indexes) * (list->count + 1));
    for (uint32_t i = 0; i < list->count; i++) {
        enum arg kind;
        struct args action = {0};
        enum status status = OK;
        index_action(&list->elements[i], &kind, &action);
        if (kind == ARG_CREATE) {
            status = read_added(call, &action, table, alter);
        } else if (kind == ARG_UPDATE) {
            status = read_changed(call, &action, i + 1, alter);
        } else {
            alter->by.drop_index = args_text(&action, ARG_INDEX_NAME);
            alter->online++;
        }
        if (status != OK)
            return status;
    }
    if (alter->online > 1 || list->count > LIMIT_INDEX_UPDATES) {
        call->failure = (struct failure){
            LIMIT_EXCEEDED, BYTES("Subscriber limit exceeded: Only 1 online index can be created "
                                  "or deleted simultaneously per table")};
        return LIMIT_EXCEEDED;
    }
    return OK;
}

/* --- settings --- */

static enum status read_capacity(struct call *call, struct altering *alter) {
    const struct args *args = &call->args;
    struct bytes mode = args_text(args, ARG_BILLING_MODE);
    bool given = args_has(args, ARG_PROVISIONED_THROUGHPUT);
    if (mode.size != 0) {
        bool on_demand = bytes_equal(mode, BYTES("PAY_PER_REQUEST"));
        alter->billing = on_demand ? BILLING_ON_DEMAND : BILLING_PROVISIONED;
        alter->by.billing = &alter->billing;
        if (!on_demand && !given)
            return call_invalid(call, PARAMETERS "ProvisionedThroughput must be specified when "
                                                 "BillingMode is PROVISIONED");
    }
    if (!given && !args_has(args, ARG_ON_DEMAND_THROUGHPUT) && !args_has(args, ARG_WARM_THROUGHPUT))
        return OK;
    alter->by.capacity = &alter->capacity;
    return schema_read_capacity(call, args, &alter->capacity);
}

static enum status read_settings(struct call *call, struct altering *alter) {
    const struct args *args = &call->args;
    if (args_has(args, ARG_DELETION_PROTECTION_ENABLED)) {
        alter->deletion_protection = args_bool(args, ARG_DELETION_PROTECTION_ENABLED, false);
        alter->by.deletion_protection = &alter->deletion_protection;
    }
    if (args_has(args, ARG_TABLE_CLASS)) {
        alter->table_class = args_text(args, ARG_TABLE_CLASS);
        alter->by.table_class = &alter->table_class;
    }
    if (args_has(args, ARG_SSE_SPECIFICATION)) {
        schema_read_encryption(args->at[ARG_SSE_SPECIFICATION], &alter->encrypted,
                               &alter->by.encryption_key);
        alter->by.encrypted = &alter->encrypted;
    }
    if (args_has(args, ARG_ATTRIBUTE_DEFINITIONS)) {
        schema_read_definitions(call, args->at[ARG_ATTRIBUTE_DEFINITIONS], &alter->attributes,
                                &alter->by.attribute_count);
        alter->by.attributes = alter->attributes;
    }
    if (!args_has(args, ARG_STREAM_SPECIFICATION))
        return OK;
    alter->by.stream = &alter->stream;
    return schema_read_stream(call, args->at[ARG_STREAM_SPECIFICATION], &alter->stream);
}

static enum status answer_updated(struct call *call) {
    enum status status = call_changed(call);
    if (status == INVALID &&
        bytes_starts(call->failure.text, BYTES("The provisioned throughput for ")))
        return call_invalid(call,
                            "%.*sRefer to the Amazon DynamoDB Developer Guide for current limits "
                            "and how to request higher limits.",
                            BYTES_ARG(call->failure.text));
    if (status == OK)
        describe_table(call, BYTES("TableDescription"), call->change.description,
                       DESCRIBE_UPDATING);
    return status;
}

/* What can be said without the table comes before it is looked for, the rest after. */
static enum status read_alteration(struct call *call, struct altering *alter) {
    const struct json *updates = call->args.at[ARG_GLOBAL_SECONDARY_INDEX_UPDATES];
    struct table_description table;
    enum status status = read_capacity(call, alter);
    if (status == OK)
        status = read_settings(call, alter);
    if (status == OK && updates != NULL)
        status = check_index_updates(call, updates);
    if (status == OK)
        status = engine_describe(call->engine, call->table,
                                 (struct scope){call->arena, &call->failure}, &table);
    if (status == OK && updates != NULL)
        status = read_index_updates(call, updates, &table.schema, alter);
    return status;
}

enum status op_update_table(struct call *call) {
    if (!says_something(&call->args))
        return call_invalid(call, "At least one of ProvisionedThroughput, BillingMode, "
                                  "UpdateStreamEnabled, GlobalSecondaryIndexUpdates or "
                                  "SSESpecification or ReplicaUpdates is required");
    struct altering *alter = ARENA_NEW(call->arena, struct altering);
    enum status status = read_alteration(call, alter);
    if (status != OK)
        return status;
    call->change.kind = CHANGE_UPDATE_TABLE;
    call->change.table = call->table;
    call->change.alteration = &alter->by;
    return call_then(call, answer_updated);
}

/* --- UpdateTimeToLive and DescribeTimeToLive --- */

static enum status answer_time_to_live(struct call *call) {
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
    return call_then(call, answer_time_to_live);
}

enum status op_describe_time_to_live(struct call *call) {
    struct table_description table;
    enum status status = engine_describe(call->engine, call->table,
                                         (struct scope){call->arena, &call->failure}, &table);
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
