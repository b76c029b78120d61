/* RestoreTableFromBackup: makes the table, which is loading, and leaves the rest to a job. */
#include "api/dynamodb/backups.h"
#include "api/dynamodb/describe.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/schema.h"
#include "api/dynamodb/shapes.h"
#include "api/dynamodb/work.h"
#include "base/clock.h"

#define PARAMETERS "One or more parameter values were invalid: "

struct restore {
    struct call *call;
    struct backup_description backup;
    struct table_schema schema; /* of the new table */
};

/* --- overrides --- */

static bool is_listed(const struct json *list, struct bytes name) {
    for (uint32_t i = 0; i < list->count; i++) {
        struct args args;
        spec_bind(&shape_local_index, &list->elements[i], &args);
        if (bytes_equal(args_text(&args, ARG_INDEX_NAME), name))
            return true;
    }
    return false;
}

/* A list of indexes says which ones to keep; there cannot be others. */
static enum status override_indexes(struct restore *restore, enum arg arg, bool local) {
    const struct json *list = restore->call->args.at[arg];
    struct table_schema *schema = &restore->schema;
    uint32_t kept = 0, matched = 0;
    if (list == NULL)
        return OK;
    for (uint32_t i = 0; i < schema->index_count; i++) {
        bool listed = schema->indexes[i].local == local && is_listed(list, schema->indexes[i].name);
        matched += listed;
        if (schema->indexes[i].local != local || listed)
            schema->indexes[kept++] = schema->indexes[i];
    }
    schema->index_count = kept;
    if (matched == list->count)
        return OK;
    return call_invalid(restore->call, PARAMETERS "%s names an index that the backup does not have",
                        (const char *)arg_name(arg).data);
}

static bool is_used(const struct table_schema *schema, struct bytes name) {
    bool used = key_schema_has(&schema->keys, name);
    for (uint32_t i = 0; i < schema->index_count && !used; i++)
        used = key_schema_has(&schema->indexes[i].keys, name);
    return used;
}

static void drop_unused_definitions(struct table_schema *schema) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < schema->attribute_count; i++)
        if (is_used(schema, schema->attributes[i].name))
            schema->attributes[kept++] = schema->attributes[i];
    schema->attribute_count = kept;
}

static void clear_throughput(struct table_schema *schema) {
    schema->capacity.provisioned = (struct throughput){0};
    for (uint32_t i = 0; i < schema->index_count; i++)
        schema->indexes[i].capacity.provisioned = (struct throughput){0};
}

static enum status override_billing(struct restore *restore) {
    const struct args *args = &restore->call->args;
    struct table_schema *schema = &restore->schema;
    struct bytes mode = args_text(args, ARG_BILLING_MODE_OVERRIDE);
    struct args inner;
    if (bytes_equal(mode, BYTES("PAY_PER_REQUEST"))) {
        schema->billing = BILLING_ON_DEMAND;
        clear_throughput(schema);
    } else if (mode.size != 0)
        schema->billing = BILLING_PROVISIONED;
    if (args_has(args, ARG_PROVISIONED_THROUGHPUT_OVERRIDE)) {
        if (schema->billing == BILLING_ON_DEMAND)
            return call_invalid(restore->call,
                                PARAMETERS "ProvisionedThroughputOverride cannot be specified when "
                                           "BillingMode is PAY_PER_REQUEST");
        spec_bind(&shape_throughput, args->at[ARG_PROVISIONED_THROUGHPUT_OVERRIDE], &inner);
        schema->capacity.provisioned.read = args_int(&inner, ARG_READ_CAPACITY_UNITS, 0);
        schema->capacity.provisioned.write = args_int(&inner, ARG_WRITE_CAPACITY_UNITS, 0);
    }
    struct throughput units = schema->capacity.provisioned;
    if (schema->billing == BILLING_PROVISIONED && units.read == 0)
        return call_invalid(restore->call, PARAMETERS
                            "ProvisionedThroughputOverride must be specified when BillingMode is "
                            "PROVISIONED");
    for (uint32_t i = 0; schema->billing == BILLING_PROVISIONED && i < schema->index_count; i++)
        if (!schema->indexes[i].local && schema->indexes[i].capacity.provisioned.read == 0)
            schema->indexes[i].capacity.provisioned = units;
    return OK;
}

/* Streams, expiry, tags and protection do not come back with a table. */
static enum status make_schema(struct restore *restore) {
    struct call *call = restore->call;
    struct table_schema *schema = &restore->schema;
    *schema = table_schema_copy(call->arena, &restore->backup.table.schema);
    schema->name = args_text(&call->args, ARG_TARGET_TABLE_NAME);
    schema->stream = STREAM_OFF;
    schema->expiry = (struct bytes){0};
    schema->tag_count = 0;
    schema->deletion_protection = false;
    if (args_has(&call->args, ARG_SSE_SPECIFICATION_OVERRIDE))
        schema_read_encryption(call->args.at[ARG_SSE_SPECIFICATION_OVERRIDE], &schema->encrypted,
                               &schema->encryption_key);
    enum status status = override_indexes(restore, ARG_LOCAL_SECONDARY_INDEX_OVERRIDE, true);
    if (status == OK)
        status = override_indexes(restore, ARG_GLOBAL_SECONDARY_INDEX_OVERRIDE, false);
    drop_unused_definitions(schema);
    return status == OK ? override_billing(restore) : status;
}

/* --- the work --- */

static enum status begin(struct restore *restore, struct table_reader *reader) {
    struct call *call = restore->call;
    struct change *change = &call->change;
    *change = (struct change){.kind = CHANGE_CREATE_TABLE,
                              .arena = call->arena,
                              .table = restore->schema.name,
                              .schema = &restore->schema,
                              .loading = true};
    enum status status = load_submit(call->engine, change);
    if (status == TABLE_IN_USE)
        return call_refuse(call, "TableAlreadyExistsException", "Table already exists: %.*s",
                           BYTES_ARG(restore->schema.name));
    if (status != OK)
        return call_changed(call);
    struct restore_order order = {&restore->schema, reader};
    status = transfer_restore(call->face->settings.transfer, &order, call->arena, &call->failure);
    if (status != OK)
        load_abandon(call->engine, restore->schema.name, call->arena);
    return status;
}

static void put_answer(struct restore *restore) {
    struct call *call = restore->call;
    struct buf *to = call->reply;
    describe_table(call, BYTES("TableDescription"), &call->change.description, DESCRIBE_CREATING);
    to->size -= 2; /* open both objects again */
    REPLY_NAME(to, "RestoreSummary");
    buf_lit(to, "{\"SourceBackupArn\":");
    call_put_sub_arn(call, to, restore->backup.table.schema.name, "backup", restore->backup.id);
    buf_lit(to, ",\"SourceTableArn\":\"");
    call_put_arn(call, to, restore->backup.table.schema.name);
    buf_byte(to, '"');
    reply_time(to, BYTES("RestoreDateTime"), restore->backup.created_ms);
    buf_lit(to, ",\"RestoreInProgress\":true}}}");
}

static enum status work(struct call *call) {
    struct restore restore = {.call = call};
    struct table_reader *reader;
    struct bytes id;
    enum status status = backup_id(call, &id);
    if (status != OK)
        return status;
    struct reader_request request = {.backup = id};
    status = engine_backup_describe(call->engine, id, call->arena, &call->failure, &restore.backup);
    if (status == OK)
        status = make_schema(&restore);
    if (status == OK)
        status = engine_read_table(call->engine, &request, call->arena, &call->failure, &reader);
    if (status != OK)
        return backup_fault(call, status, args_text(&call->args, ARG_BACKUP_ARN));
    status = begin(&restore, reader);
    if (status != OK)
        reader->close(reader);
    else
        put_answer(&restore);
    return status;
}

static enum status answer(struct call *call) {
    (void)call;
    return OK;
}

enum status op_restore_table_from_backup(struct call *call) {
    return call_work(call, work, answer);
}
