#include "api/dynamodb/ddb_jobs.h"

#include "api/dynamodb/ddb_background.h"

enum { PAGE = 25 };

struct bytes job_status_text(const struct job_view *job) {
    switch (job->state) {
    case JOB_RUNNING:
        return BYTES("IN_PROGRESS");
    case JOB_DONE:
        return BYTES("COMPLETED");
    case JOB_FAILED:
        break;
    }
    return BYTES("FAILED");
}

void job_put_names(struct call *call, const struct job_view *job, struct bytes name,
                   const char *kind) {
    struct buf *to = call->reply;
    reply_name(to, name);
    call_put_sub_arn(call, to, (struct sub_arn){job->table, kind, job->id});
    REPLY_NAME(to, "TableArn");
    buf_byte(to, '"');
    call_put_arn(call, to, job->table);
    buf_byte(to, '"');
    reply_text(to, BYTES("TableId"), job->table_id);
}

void job_put_fault(struct buf *to, const struct job_view *job) {
    if (job->state != JOB_FAILED)
        return;
    reply_text(to, BYTES("FailureCode"), BYTES("InternalError"));
    reply_text(to, BYTES("FailureMessage"), job->fault);
}

const struct json *job_detail(struct call *call, const struct job_view *job, struct bytes name) {
    struct json *json = ARENA_NEW(call->arena, struct json);
    struct bytes text = arena_printf(call->arena, "{%.*s}", BYTES_ARG(job->details));
    size_t at;
    return json_parse(text, call->arena, json, &at) == OK ? json_get(json, name) : NULL;
}

struct bytes job_manifest(struct call *call, const struct job_view *job) {
    const struct json *prefix = job_detail(call, job, BYTES("S3Prefix"));
    struct bytes text = prefix == NULL ? (struct bytes){0} : prefix->text;
    while (text.size != 0 && text.data[text.size - 1] == '/')
        text.size--;
    return arena_printf(call->arena, "%.*s%sAWSDynamoDB/%.*s/manifest-summary.json",
                        BYTES_ARG(text), text.size != 0 ? "/" : "", BYTES_ARG(job->id));
}

/* --- finding --- */

/* As with the copies themselves: for keys that may do all there is to the table, or to all. */
static enum status jobs_of(struct call *call, struct bytes table, struct transfer **out) {
    return call_transfer(call, table.size == 0 ? BYTES("*") : table, out);
}

enum status job_find(struct call *call, enum job_kind kind, enum arg arg, struct job_view *out) {
    bool export = kind == JOB_EXPORT;
    struct bytes arn = args_text(&call->args, arg), table, id;
    if (!call_read_sub_arn(arn, export ? "export" : "import", &table, &id))
        return call_invalid(call, "Invalid %s: %.*s", (const char *)arg_name(arg).data,
                            BYTES_ARG(arn));
    struct transfer *jobs;
    enum status status = jobs_of(call, table, &jobs);
    if (status != OK)
        return status;
    struct job_key key = {.kind = kind, .id = id};
    if (jobs != NULL && transfer_find(jobs, &key, call->arena, out) == OK &&
        bytes_equal(out->table, table))
        return OK;
    return call_refuse(call, export ? "ExportNotFoundException" : "ImportNotFoundException",
                       "%s not found: %.*s", export ? "Export" : "Import", BYTES_ARG(arn));
}

enum status job_list(struct call *call, enum job_kind kind, enum arg limit, struct job_list *out) {
    struct bytes arn = args_text(&call->args, ARG_TABLE_ARN);
    struct job_filter filter = {
        .kind = kind,
        .after = args_text(&call->args, ARG_NEXT_TOKEN),
        .limit = (size_t)args_int(&call->args, limit, PAGE),
    };
    struct transfer *jobs = NULL;
    enum status status = OK;
    *out = (struct job_list){0};
    if (arn.size != 0)
        status = call_table_name(call, arn, &filter.table);
    if (status == OK)
        status = jobs_of(call, filter.table, &jobs);
    if (status == OK && jobs != NULL)
        transfer_list(jobs, &filter, call->arena, out);
    return status;
}

void job_put_next(struct buf *to, const struct job_list *jobs) {
    if (jobs->more)
        reply_text(to, BYTES("NextToken"), jobs->jobs[jobs->count - 1].id);
}
