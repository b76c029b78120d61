/* CreateBackup, DescribeBackup, DeleteBackup, ListBackups, and switching point-in-time recovery. */
#include "api/dynamodb/ddb_backups.h"
#include "api/dynamodb/ddb_background.h"
#include "api/dynamodb/describe.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"

/* --- writing --- */

static void put_details(struct call *call, const struct backup_description *backup,
                        struct bytes status) {
    struct buf *to = call->reply;
    REPLY_NAME(to, "BackupArn");
    call_put_sub_arn(call, to, (struct sub_arn){backup->table.schema.name, "backup", backup->id});
    reply_text(to, BYTES("BackupName"), backup->name);
    REPLY_NAME(to, "BackupSizeBytes");
    json_put_int(to, (int64_t)backup->table.size);
    reply_text(to, BYTES("BackupStatus"), status);
    reply_text(to, BYTES("BackupType"), BYTES("USER"));
    reply_time(to, BYTES("BackupCreationDateTime"), backup->created_ms);
}

static void put_table_names(struct call *call, const struct table_description *table) {
    struct buf *to = call->reply;
    reply_text(to, BYTES("TableName"), table->schema.name);
    reply_text(to, BYTES("TableId"), table->id);
    REPLY_NAME(to, "TableArn");
    buf_byte(to, '"');
    call_put_arn(call, to, table->schema.name);
    buf_byte(to, '"');
}

static void put_throughput(struct buf *to, const struct throughput *units) {
    REPLY_NAME(to, "ProvisionedThroughput");
    buf_lit(to, "{\"ReadCapacityUnits\":");
    json_put_int(to, units->read);
    buf_lit(to, ",\"WriteCapacityUnits\":");
    json_put_int(to, units->write);
    buf_byte(to, '}');
}

static void put_source(struct call *call, const struct table_description *table) {
    struct buf *to = call->reply;
    bool on_demand = table->schema.billing == BILLING_ON_DEMAND;
    REPLY_NAME(to, "SourceTableDetails");
    buf_byte(to, '{');
    put_table_names(call, table);
    REPLY_NAME(to, "TableSizeBytes");
    json_put_int(to, (int64_t)table->size);
    describe_keys(to, &table->schema.keys);
    reply_time(to, BYTES("TableCreationDateTime"), table->created_ms);
    put_throughput(to, &table->schema.capacity.provisioned);
    REPLY_NAME(to, "ItemCount");
    json_put_int(to, (int64_t)table->item_count);
    reply_text(to, BYTES("BillingMode"),
               on_demand ? BYTES("PAY_PER_REQUEST") : BYTES("PROVISIONED"));
    buf_byte(to, '}');
}

static void put_indexes(struct call *call, const struct table_schema *schema, bool local) {
    struct buf *to = call->reply;
    bool any = false;
    for (uint32_t i = 0; i < schema->index_count; i++) {
        const struct index_schema *index = &schema->indexes[i];
        if (index->local != local)
            continue;
        if (!any)
            reply_name(to,
                       local ? BYTES("LocalSecondaryIndexes") : BYTES("GlobalSecondaryIndexes"));
        buf_put(to, any ? BYTES(",{") : BYTES("[{"));
        any = true;
        reply_text(to, BYTES("IndexName"), index->name);
        describe_keys(to, &index->keys);
        describe_projection(to, index);
        if (!local)
            put_throughput(to, &index->capacity.provisioned);
        buf_byte(to, '}');
    }
    if (any)
        buf_byte(to, ']');
}

static void put_features(struct call *call, const struct table_schema *schema) {
    struct buf *to = call->reply;
    REPLY_NAME(to, "SourceTableFeatureDetails");
    buf_byte(to, '{');
    put_indexes(call, schema, true);
    put_indexes(call, schema, false);
    if (schema->expiry.size != 0) {
        REPLY_NAME(to, "TimeToLiveDescription");
        buf_lit(to, "{\"TimeToLiveStatus\":\"ENABLED\"");
        reply_text(to, BYTES("AttributeName"), schema->expiry);
        buf_byte(to, '}');
    }
    buf_byte(to, '}');
}

/* {"BackupDescription":{...}} */
static void put_description(struct call *call, const struct backup_description *backup,
                            struct bytes status) {
    struct buf *to = call->reply;
    buf_lit(to, "{\"BackupDescription\":{\"BackupDetails\":{");
    put_details(call, backup, status);
    buf_byte(to, '}');
    put_source(call, &backup->table);
    put_features(call, &backup->table.schema);
    buf_lit(to, "}}");
}

/* --- faults --- */

enum status backup_fault(struct call *call, enum status status, struct bytes arn) {
    switch (status) {
    case NO_RESOURCE:
        return call_refuse(call, "BackupNotFoundException", "Backup not found: %.*s",
                           BYTES_ARG(arn));
    case IN_USE:
        return call_refuse(call, "BackupInUseException", "Backup is being used: %.*s",
                           BYTES_ARG(arn));
    default:
        return status;
    }
}

enum status backup_table_fault(struct call *call, enum status status, struct bytes table) {
    switch (status) {
    case NO_TABLE:
        return call_refuse(call, "TableNotFoundException", "Table not found: %.*s",
                           BYTES_ARG(table));
    case TABLE_IN_USE:
        return call_refuse(call, "TableInUseException", "Table is being created: %.*s",
                           BYTES_ARG(table));
    default:
        return status;
    }
}

/* --- CreateBackup --- */

static enum status create_backup(struct call *call) {
    struct backup_description backup;
    struct backup_request request = {call->table, args_text(&call->args, ARG_BACKUP_NAME)};
    enum status status = engine_backup_create(call->engine, &request,
                                              (struct scope){call->arena, &call->failure}, &backup);
    if (status != OK)
        return backup_table_fault(call, status, call->table);
    buf_lit(call->reply, "{\"BackupDetails\":{");
    put_details(call, &backup, BYTES("AVAILABLE"));
    buf_lit(call->reply, "}}");
    return OK;
}

/* The reply was written in the background. */
static enum status answer_backup(struct call *call) {
    (void)call;
    return OK;
}

enum status op_create_backup(struct call *call) {
    return call_background(call, create_backup, answer_backup);
}

/* --- DescribeBackup, DeleteBackup --- */

enum status backup_id(struct call *call, struct bytes *id) {
    struct bytes arn = args_text(&call->args, ARG_BACKUP_ARN), table;
    if (call_read_sub_arn(arn, "backup", &table, id))
        return OK;
    return call_invalid(call, "Invalid BackupArn: %.*s", BYTES_ARG(arn));
}

static enum status describe_backup(struct call *call) {
    struct bytes id;
    struct backup_description backup;
    enum status status = backup_id(call, &id);
    if (status != OK)
        return status;
    status = engine_backup_describe(call->engine, id, (struct scope){call->arena, &call->failure},
                                    &backup);
    if (status != OK)
        return backup_fault(call, status, args_text(&call->args, ARG_BACKUP_ARN));
    put_description(call, &backup, BYTES("AVAILABLE"));
    return OK;
}

enum status op_describe_backup(struct call *call) {
    return call_background(call, describe_backup, answer_backup);
}

static enum status delete (struct call *call) {
    struct bytes id; struct backup_description backup; enum status status = backup_id(call, &id);
    if (status != OK) return status;
    status = engine_backup_delete(call->engine, id, (struct scope){call->arena, &call->failure},
                                  &backup);
    if (status != OK) return backup_fault(call, status, args_text(&call->args, ARG_BACKUP_ARN));
    put_description(call, &backup, BYTES("DELETED"));
    return OK;
}

enum status op_delete_backup(struct call *call) {
    return call_background(call, delete, answer_backup);
}

/* --- ListBackups --- */

static void put_summary(struct call *call, const struct backup_description *backup) {
    buf_byte(call->reply, '{');
    put_table_names(call, &backup->table);
    put_details(call, backup, BYTES("AVAILABLE"));
    buf_byte(call->reply, '}');
}

static enum status list_backups(struct call *call) {
    struct backup_list backups = {0};
    struct bytes type = args_text(&call->args, ARG_BACKUP_TYPE), table;
    struct bytes start = args_text(&call->args, ARG_EXCLUSIVE_START_BACKUP_ARN);
    struct backup_filter filter = {
        .table = call->table,
        .from_ms = call_time_ms(call, ARG_TIME_RANGE_LOWER_BOUND),
        .until_ms = call_time_ms(call, ARG_TIME_RANGE_UPPER_BOUND),
        .limit = (size_t)args_int(&call->args, ARG_LIMIT, 100),
    };
    if (start.size != 0 && !call_read_sub_arn(start, "backup", &table, &filter.after))
        return call_invalid(call, "Invalid ExclusiveStartBackupArn: %.*s", BYTES_ARG(start));
    bool ours =
        type.size == 0 || bytes_equal(type, BYTES("USER")) || bytes_equal(type, BYTES("ALL"));
    enum status status = engine_backup_list(call->engine, &filter,
                                            (struct scope){call->arena, &call->failure}, &backups);
    if (status != OK)
        return status;
    if (!ours)
        backups = (struct backup_list){0};
    buf_lit(call->reply, "{\"BackupSummaries\":[");
    for (size_t i = 0; i < backups.count; i++) {
        if (i != 0)
            buf_byte(call->reply, ',');
        put_summary(call, &backups.backups[i]);
    }
    buf_byte(call->reply, ']');
    if (backups.more) {
        const struct backup_description *last = &backups.backups[backups.count - 1];
        REPLY_NAME(call->reply, "LastEvaluatedBackupArn");
        call_put_sub_arn(call, call->reply,
                         (struct sub_arn){last->table.schema.name, "backup", last->id});
    }
    buf_byte(call->reply, '}');
    return OK;
}

enum status op_list_backups(struct call *call) {
    return call_background(call, list_backups, answer_backup);
}

/* --- continuous backups: of every table they are said to be on, as the service has it; what can be
 * switched is point-in-time recovery --- */

static void put_continuous(struct call *call, const struct recovery_state *state) {
    struct buf *to = call->reply;
    buf_lit(to, "{\"ContinuousBackupsDescription\":{\"ContinuousBackupsStatus\":\"ENABLED\","
                "\"PointInTimeRecoveryDescription\":{\"PointInTimeRecoveryStatus\":");
    buf_put(to, state->enabled ? BYTES("\"ENABLED\"") : BYTES("\"DISABLED\""));
    if (state->enabled) {
        REPLY_NAME(to, "RecoveryPeriodInDays");
        json_put_int(to, state->days);
    }
    reply_time(to, BYTES("EarliestRestorableDateTime"), state->earliest_ms);
    reply_time(to, BYTES("LatestRestorableDateTime"), state->latest_ms);
    buf_lit(to, "}}}");
}

enum status op_describe_continuous_backups(struct call *call) {
    struct recovery_state state;
    enum status status = engine_recovery_describe(
        call->engine, call->table, (struct scope){call->arena, &call->failure}, &state);
    if (status != OK)
        return backup_table_fault(call, status, call->table);
    put_continuous(call, &state);
    return OK;
}

static enum status update_continuous(struct call *call) {
    struct args args;
    struct recovery_state state;
    spec_bind(&shape_recovery, call->args.at[ARG_POINT_IN_TIME_RECOVERY_SPECIFICATION], &args);
    struct recovery_request request = {
        .table = call->table,
        .enabled = args_bool(&args, ARG_POINT_IN_TIME_RECOVERY_ENABLED, false),
        .days = (unsigned)args_int(&args, ARG_RECOVERY_PERIOD_IN_DAYS, 0)};
    if (!request.enabled && request.days != 0)
        return call_invalid(call, "One or more parameter values were invalid: "
                                  "RecoveryPeriodInDays can only be given when point in time "
                                  "recovery is enabled");
    enum status status = engine_recovery_set(call->engine, &request,
                                             (struct scope){call->arena, &call->failure}, &state);
    if (status == UNSUPPORTED)
        return call_refuse(call, "ContinuousBackupsUnavailableException", "%.*s",
                           BYTES_ARG(call->failure.text));
    if (status != OK)
        return backup_table_fault(call, status, call->table);
    put_continuous(call, &state);
    return OK;
}

enum status op_update_continuous_backups(struct call *call) {
    return call_background(call, update_continuous, answer_backup);
}
