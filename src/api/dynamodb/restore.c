/* RestoreTableFromBackup, RestoreTableToPointInTime: make the table, which is loading, and leave
 * the rest to a job. */
#include "api/dynamodb/ddb_background.h"
#include "api/dynamodb/ddb_backups.h"
#include "api/dynamodb/ddb_schema.h"
#include "api/dynamodb/describe.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"
#include "base/clock.h"

#define PARAMETERS "One or more parameter values were invalid: "

struct restore {
    struct call *call;
    const struct table_schema *from; /* of the table as it was, or is */
    struct bytes backup;             /* an id; empty: from what was at a time */
    int64_t time_ms;                 /* when the table was as it will be */
    struct table_schema schema;      /* of the new table */
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
    return call_invalid(restore->call, PARAMETERS "%s names an index that the table does not have",
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
    *schema = table_schema_copy(call->arena, restore->from);
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

static enum status begin_restore(struct restore *restore, struct table_reader *reader) {
    struct call *call = restore->call;
    struct change *change = &call->change;
    *change = (struct change){.kind = CHANGE_CREATE_TABLE,
                              .arena = call->arena,
                              .table = restore->schema.name,
                              .schema = &restore->schema,
                              .loading = true};
    enum status status = engine_submit_wait(call->engine, change);
    if (status == TABLE_IN_USE)
        return call_refuse(call, "TableAlreadyExistsException", "Table already exists: %.*s",
                           BYTES_ARG(restore->schema.name));
    if (status != OK)
        return call_changed(call);
    struct restore_order order = {&restore->schema, reader};
    struct transfer *jobs;
    status = call_transfer(call, restore->schema.name, &jobs);
    if (status == OK)
        status = transfer_restore(jobs, &order, (struct scope){call->arena, &call->failure});
    if (status != OK)
        load_abandon(call->engine, restore->schema.name, call->arena);
    return status;
}

static void put_answer(struct restore *restore) {
    struct call *call = restore->call;
    struct buf *to = call->reply;
    describe_table(call, BYTES("TableDescription"), call->change.description, DESCRIBE_CREATING);
    to->size -= 2; /* open both objects again */
    REPLY_NAME(to, "RestoreSummary");
    buf_byte(to, '{');
    if (restore->backup.size != 0) {
        REPLY_NAME(to, "SourceBackupArn");
        call_put_sub_arn(call, to,
                         (struct sub_arn){restore->from->name, "backup", restore->backup});
    }
    REPLY_NAME(to, "SourceTableArn");
    buf_byte(to, '"');
    call_put_arn(call, to, restore->from->name);
    buf_byte(to, '"');
    reply_time(to, BYTES("RestoreDateTime"), restore->time_ms);
    buf_lit(to, ",\"RestoreInProgress\":true}}}");
}

/* Takes the reader. */
static enum status restore_from(struct restore *restore, struct table_reader *reader) {
    enum status status = begin_restore(restore, reader);
    if (status != OK)
        reader->close(reader);
    else
        put_answer(restore);
    return status;
}

/* On a thread of the background pool. */
static enum status restore_work(struct call *call) {
    struct restore restore = {.call = call};
    struct backup_description backup;
    struct table_reader *reader;
    enum status status = backup_id(call, &restore.backup);
    if (status != OK)
        return status;
    struct reader_request request = {.backup = restore.backup};
    status = engine_backup_describe(call->engine, restore.backup,
                                    (struct scope){call->arena, &call->failure}, &backup);
    restore.from = &backup.table.schema;
    restore.time_ms = status == OK ? backup.created_ms : 0;
    if (status == OK)
        status = make_schema(&restore);
    if (status == OK)
        status = engine_read_table(call->engine, &request,
                                   (struct scope){call->arena, &call->failure}, &reader);
    if (status != OK)
        return backup_fault(call, status, args_text(&call->args, ARG_BACKUP_ARN));
    return restore_from(&restore, reader);
}

static enum status answer_restore(struct call *call) {
    (void)call;
    return OK;
}

enum status op_restore_table_from_backup(struct call *call) {
    return call_background(call, restore_work, answer_restore);
}

/* --- RestoreTableToPointInTime --- */

/* Which table, and what is kept of it. */
static enum status find_recovery(struct call *call, struct recovery_state *state) {
    struct bytes name = args_text(&call->args, ARG_SOURCE_TABLE_NAME);
    if (name.size == 0)
        name = args_text(&call->args, ARG_SOURCE_TABLE_ARN);
    if (name.size == 0)
        return call_invalid(call, PARAMETERS "SourceTableName or SourceTableArn must be given");
    enum status status = call_table_name(call, name, &call->table);
    if (status == OK)
        status = engine_recovery_describe(call->engine, call->table,
                                          (struct scope){call->arena, &call->failure}, state);
    if (status != OK)
        return backup_table_fault(call, status, call->table);
    if (!state->enabled)
        return call_refuse(call, "PointInTimeRecoveryUnavailableException",
                           "Point in time recovery is not enabled for table '%.*s'",
                           BYTES_ARG(call->table));
    return OK;
}

static enum status find_time(struct call *call, const struct recovery_state *state, int64_t *out) {
    bool latest = args_bool(&call->args, ARG_USE_LATEST_RESTORABLE_TIME, false);
    bool given = args_has(&call->args, ARG_RESTORE_DATE_TIME);
    *out = latest ? state->latest_ms : call_time_ms(call, ARG_RESTORE_DATE_TIME);
    if (latest == given)
        return call_invalid(call, PARAMETERS
                            "Either RestoreDateTime or UseLatestRestorableTime must be given");
    if (*out >= state->earliest_ms && *out <= state->latest_ms)
        return OK;
    return call_refuse(call, "InvalidRestoreTimeException",
                       "An invalid restore time was specified. RestoreDateTime must be between "
                       "EarliestRestorableDateTime and LatestRestorableDateTime.");
}

static enum status restore_past(struct call *call) {
    struct restore restore = {.call = call};
    struct recovery_state state = {0};
    struct table_reader *reader;
    enum status status = find_recovery(call, &state);
    if (status == OK)
        status = find_time(call, &state, &restore.time_ms);
    if (status != OK)
        return status;
    struct reader_request request = {.table = call->table, .at_ms = restore.time_ms};
    status = engine_read_table(call->engine, &request, (struct scope){call->arena, &call->failure},
                               &reader);
    if (status != OK)
        return backup_table_fault(call, status, call->table);
    struct table_schema from = table_schema_copy(call->arena, &reader->about.schema);
    restore.from = &from;
    status = make_schema(&restore);
    if (status == OK)
        return restore_from(&restore, reader);
    reader->close(reader);
    return status;
}

enum status op_restore_table_to_point_in_time(struct call *call) {
    return call_background(call, restore_past, answer_restore);
}
