/* ExportTableToPointInTime, DescribeExport, ListExports. A bucket is a folder of the server's
 * export folder; a table is exported as it is now, whatever its point in time recovery. */
#include "api/dynamodb/ddb_background.h"
#include "api/dynamodb/ddb_backups.h"
#include "api/dynamodb/ddb_jobs.h"
#include "api/dynamodb/operation.h"
#include "base/clock.h"

enum { TIME_SLACK_MS = 5 * 60 * 1000 };

/* --- writing --- */

static void put_export(struct call *call, const struct job_view *job) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    job_put_names(call, job, BYTES("ExportArn"), "export");
    reply_text(to, BYTES("ExportStatus"), job_status_text(job));
    reply_time(to, BYTES("StartTime"), job->started_ms);
    reply_time(to, BYTES("EndTime"), job->ended_ms);
    reply_time(to, BYTES("ExportTime"), job->started_ms);
    buf_byte(to, ',');
    buf_put(to, job->details);
    reply_text(to, BYTES("ClientToken"), job->token);
    if (job->state == JOB_DONE) {
        reply_text(to, BYTES("ExportManifest"), job_manifest(call, job));
        REPLY_NAME(to, "BilledSizeBytes");
        json_put_int(to, (int64_t)job->size);
        REPLY_NAME(to, "ItemCount");
        json_put_int(to, (int64_t)job->loaded);
    }
    job_put_fault(to, job);
    buf_byte(to, '}');
}

static void put_description(struct call *call, const struct job_view *job) {
    buf_lit(call->reply, "{\"ExportDescription\":");
    put_export(call, job);
    buf_byte(call->reply, '}');
}

/* --- ExportTableToPointInTime --- */

/* What the job is asked for, as members of JSON. */
static struct bytes export_details(struct call *call, struct bytes format) {
    static const enum arg echoed[] = {ARG_S3_BUCKET, ARG_S3_BUCKET_OWNER, ARG_S3_PREFIX,
                                      ARG_S3_SSE_ALGORITHM, ARG_S3_SSE_KMS_KEY_ID};
    struct buf text = {0};
    buf_lit(&text, "{");
    for (size_t i = 0; i < sizeof(echoed) / sizeof(echoed[0]); i++)
        reply_text(&text, arg_name(echoed[i]), args_text(&call->args, echoed[i]));
    reply_text(&text, BYTES("ExportFormat"), format);
    reply_text(&text, BYTES("ExportType"), BYTES("FULL_EXPORT"));
    struct bytes copy = arena_copy(call->arena, bytes_skip(buf_bytes(&text), 1));
    buf_release(&text);
    return copy;
}

static enum status check_order(struct call *call) {
    const struct args *args = &call->args;
    struct bytes bucket = args_text(args, ARG_S3_BUCKET), prefix = args_text(args, ARG_S3_PREFIX);
    int64_t time_ms = call_time_ms(call, ARG_EXPORT_TIME), now_ms = clock_now_ms();
    if (bytes_equal(args_text(args, ARG_EXPORT_FORMAT), BYTES("ION")))
        return call_invalid(call, "ExportFormat ION is not supported by this server: use "
                                  "DYNAMODB_JSON or CSV");
    if (bytes_equal(args_text(args, ARG_EXPORT_TYPE), BYTES("INCREMENTAL_EXPORT")))
        return call_invalid(call, "ExportType INCREMENTAL_EXPORT is not supported by this server: "
                                  "read the table's stream");
    if (time_ms != 0 && (time_ms < now_ms - TIME_SLACK_MS || time_ms > now_ms + TIME_SLACK_MS))
        return call_refuse(call, "InvalidExportTimeException",
                           "A table can only be exported as it is now: leave ExportTime out");
    if (!transfer_bucket_valid(bucket))
        return call_invalid(call, "Invalid S3Bucket: %.*s", BYTES_ARG(bucket));
    if (!transfer_prefix_valid(prefix))
        return call_invalid(call, "Invalid S3Prefix: %.*s", BYTES_ARG(prefix));
    return OK;
}

static struct bytes without_slash(struct bytes prefix) {
    while (prefix.size != 0 && prefix.data[prefix.size - 1] == '/')
        prefix.size--;
    return prefix;
}

static enum status start_export(struct call *call, struct transfer *jobs,
                                struct export_order *order) {
    struct job_view job;
    struct buf arn = {0};
    struct reader_request request = {.table = call->table};
    enum status status = engine_read_table(
        call->engine, &request, (struct scope){call->arena, &call->failure}, &order->reader);
    if (status != OK)
        return backup_table_fault(call, status, call->table);
    call_put_arn(call, &arn, call->table);
    order->table_arn = buf_bytes(&arn);
    status = transfer_export(jobs, order, (struct scope){call->arena, &call->failure}, &job);
    buf_release(&arn);
    if (status == OK)
        put_description(call, &job);
    else
        order->reader->close(order->reader);
    return status;
}

static enum status export_table(struct call *call) {
    const struct args *args = &call->args;
    struct bytes format = args_text(args, ARG_EXPORT_FORMAT);
    struct bytes token = args_text(args, ARG_CLIENT_TOKEN);
    struct transfer *jobs;
    struct job_view job;
    if (format.size == 0)
        format = BYTES("DYNAMODB_JSON");
    struct export_order order = {
        .format = bytes_equal(format, BYTES("CSV")) ? FORMAT_CSV : FORMAT_JSON,
        .bucket = args_text(args, ARG_S3_BUCKET),
        .prefix = without_slash(args_text(args, ARG_S3_PREFIX)),
        .details = export_details(call, format),
        .token = token,
    };
    /* asked before the token is looked for: another's export is not told to who guesses it */
    enum status status = call_transfer(call, call->table, &jobs);
    if (status != OK)
        return status;
    struct job_key key = {.kind = JOB_EXPORT, .token = token};
    if (transfer_find(jobs, &key, call->arena, &job) != OK)
        return start_export(call, jobs, &order);
    if (!bytes_equal(job.details, order.details) || !bytes_equal(job.table, call->table))
        return call_refuse(call, "ExportConflictException",
                           "There was a conflict when writing to the specified S3 bucket: the "
                           "ClientToken was used for another export");
    put_description(call, &job);
    return OK;
}

static enum status answer_export(struct call *call) {
    (void)call;
    return OK;
}

enum status op_export_table_to_point_in_time(struct call *call) {
    enum status status = call_table_name(call, args_text(&call->args, ARG_TABLE_ARN), &call->table);
    if (status == OK)
        status = check_order(call);
    return status == OK ? call_background(call, export_table, answer_export) : status;
}

/* --- DescribeExport, ListExports --- */

enum status op_describe_export(struct call *call) {
    struct job_view job;
    enum status status = job_find(call, JOB_EXPORT, ARG_EXPORT_ARN, &job);
    if (status == OK)
        put_description(call, &job);
    return status;
}

enum status op_list_exports(struct call *call) {
    struct job_list jobs;
    struct buf *to = call->reply;
    enum status status = job_list(call, JOB_EXPORT, ARG_MAX_RESULTS, &jobs);
    if (status != OK)
        return status;
    buf_lit(to, "{\"ExportSummaries\":[");
    for (size_t i = 0; i < jobs.count; i++) {
        buf_put(to, i == 0 ? BYTES("{") : BYTES(",{"));
        REPLY_NAME(to, "ExportArn");
        call_put_sub_arn(call, to, (struct sub_arn){jobs.jobs[i].table, "export", jobs.jobs[i].id});
        reply_text(to, BYTES("ExportStatus"), job_status_text(&jobs.jobs[i]));
        reply_text(to, BYTES("ExportType"), BYTES("FULL_EXPORT"));
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
    job_put_next(to, &jobs);
    buf_byte(to, '}');
    return OK;
}
