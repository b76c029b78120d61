/* ImportTable, DescribeImport, ListImports. A bucket is a folder of the server's export folder. */
#include "api/dynamodb/ddb_background.h"
#include "api/dynamodb/ddb_backups.h"
#include "api/dynamodb/ddb_jobs.h"
#include "api/dynamodb/ddb_schema.h"
#include "api/dynamodb/operation.h"
#include "api/dynamodb/shapes.h"

struct import {
    struct table_schema schema;
    struct import_order order;
};

/* --- writing --- */

static void put_number(struct buf *to, struct bytes name, uint64_t number) {
    reply_name(to, name);
    json_put_int(to, (int64_t)number);
}

static void put_description(struct call *call, const struct job_view *job) {
    struct buf *to = call->reply;
    buf_lit(to, "{\"ImportTableDescription\":{");
    job_put_names(call, job, BYTES("ImportArn"), "import");
    reply_text(to, BYTES("ImportStatus"), job_status_text(job));
    reply_text(to, BYTES("ClientToken"), job->token);
    buf_byte(to, ',');
    buf_put(to, job->details);
    reply_time(to, BYTES("StartTime"), job->started_ms);
    reply_time(to, BYTES("EndTime"), job->ended_ms);
    put_number(to, BYTES("ProcessedSizeBytes"), job->size);
    put_number(to, BYTES("ProcessedItemCount"), job->processed);
    put_number(to, BYTES("ImportedItemCount"), job->loaded);
    put_number(to, BYTES("ErrorCount"), job->refused);
    job_put_fault(to, job);
    buf_lit(to, "}}");
}

/* What the job is asked for, as members of JSON. */
static struct bytes import_details(struct call *call) {
    static const enum arg echoed[] = {ARG_S3_BUCKET_SOURCE, ARG_INPUT_FORMAT,
                                      ARG_INPUT_FORMAT_OPTIONS, ARG_INPUT_COMPRESSION_TYPE,
                                      ARG_TABLE_CREATION_PARAMETERS};
    struct buf text = {0};
    buf_lit(&text, "{");
    for (size_t i = 0; i < sizeof(echoed) / sizeof(echoed[0]); i++) {
        if (!args_has(&call->args, echoed[i]))
            continue;
        reply_name(&text, arg_name(echoed[i]));
        json_put(&text, call->args.at[echoed[i]]);
    }
    struct bytes copy = arena_copy(call->arena, bytes_skip(buf_bytes(&text), 1));
    buf_release(&text);
    return copy;
}

/* --- reading the request --- */

static enum status read_csv(struct call *call, struct import *import) {
    struct args options, csv;
    if (!args_has(&call->args, ARG_INPUT_FORMAT_OPTIONS))
        return OK;
    spec_bind(&shape_format_options, call->args.at[ARG_INPUT_FORMAT_OPTIONS], &options);
    if (!args_has(&options, ARG_CSV))
        return OK;
    if (import->order.format != FORMAT_CSV)
        return call_invalid(call, "InputFormatOptions Csv goes with InputFormat CSV only");
    spec_bind(&shape_csv_options, options.at[ARG_CSV], &csv);
    struct bytes delimiter = args_text(&csv, ARG_DELIMITER);
    if (delimiter.size != 0 &&
        (delimiter.size != 1 || memchr(",;:|\t ", delimiter.data[0], 6) == NULL))
        return call_invalid(call, "Invalid Delimiter: it is one of , ; : | tab and blank");
    import->order.delimiter = delimiter.size == 0 ? ',' : delimiter.data[0];
    const struct json *header = csv.at[ARG_HEADER_LIST];
    if (header == NULL)
        return OK;
    struct bytes *names = ARENA_ARRAY(call->arena, struct bytes, header->count);
    for (uint32_t i = 0; i < header->count; i++)
        names[i] = header->elements[i].text;
    import->order.header = names;
    import->order.header_count = header->count;
    return OK;
}

static enum status read_place(struct call *call, struct import *import) {
    struct args place;
    spec_bind(&shape_bucket_source, call->args.at[ARG_S3_BUCKET_SOURCE], &place);
    import->order.bucket = args_text(&place, ARG_S3_BUCKET);
    import->order.prefix = args_text(&place, ARG_S3_KEY_PREFIX);
    if (!transfer_bucket_valid(import->order.bucket))
        return call_invalid(call, "Invalid S3Bucket: %.*s", BYTES_ARG(import->order.bucket));
    if (!transfer_prefix_valid(import->order.prefix))
        return call_invalid(call, "Invalid S3KeyPrefix: %.*s", BYTES_ARG(import->order.prefix));
    return OK;
}

static enum status read_format(struct call *call, struct import *import) {
    struct bytes format = args_text(&call->args, ARG_INPUT_FORMAT);
    if (bytes_equal(format, BYTES("ION")))
        return call_invalid(call, "InputFormat ION is not supported by this server: use "
                                  "DYNAMODB_JSON or CSV");
    if (bytes_equal(args_text(&call->args, ARG_INPUT_COMPRESSION_TYPE), BYTES("ZSTD")))
        return call_invalid(call, "InputCompressionType ZSTD is not supported by this server: use "
                                  "GZIP or NONE");
    import->order.format = bytes_equal(format, BYTES("CSV")) ? FORMAT_CSV : FORMAT_JSON;
    return read_csv(call, import);
}

/* TableCreationParameters, as CreateTable reads them. */
static enum status read_table(struct call *call, struct import *import) {
    struct call inner = *call;
    spec_bind(&shape_table_parameters, call->args.at[ARG_TABLE_CREATION_PARAMETERS], &inner.args);
    inner.table = args_text(&inner.args, ARG_TABLE_NAME);
    enum status status = schema_read_table(&inner, &import->schema);
    call->failure = inner.failure;
    call->exception = inner.exception;
    call->table = inner.table;
    import->order.schema = &import->schema;
    return status;
}

/* --- ImportTable --- */

static enum status start_import(struct call *call, struct transfer *jobs, struct import *import) {
    struct change *change = &call->change;
    struct job_view job;
    *change = (struct change){.kind = CHANGE_CREATE_TABLE,
                              .arena = call->arena,
                              .table = call->table,
                              .schema = &import->schema,
                              .loading = true};
    enum status status = engine_submit_wait(call->engine, change);
    if (status != OK)
        return call_changed(call);
    import->order.table_id = change->description->id;
    status =
        transfer_import(jobs, &import->order, (struct scope){call->arena, &call->failure}, &job);
    if (status == OK)
        put_description(call, &job);
    else
        load_abandon(call->engine, call->table, call->arena);
    return status;
}

static enum status import_table(struct call *call) {
    struct import import = {.order = {.details = import_details(call),
                                      .token = args_text(&call->args, ARG_CLIENT_TOKEN)}};
    struct transfer *jobs;
    struct job_view job;
    enum status status = read_place(call, &import);
    if (status == OK)
        status = read_format(call, &import);
    if (status == OK)
        status = read_table(call, &import);
    if (status == OK)
        status = call_transfer(call, BYTES("*"), &jobs); /* the files may hold anybody's items */
    if (status != OK)
        return status;
    struct job_key key = {.kind = JOB_IMPORT, .token = import.order.token};
    if (transfer_find(jobs, &key, call->arena, &job) != OK)
        return start_import(call, jobs, &import);
    if (!bytes_equal(job.details, import.order.details))
        return call_refuse(call, "ImportConflictException",
                           "There was a conflict when importing from the specified S3 source: the "
                           "ClientToken was used for another import");
    put_description(call, &job);
    return OK;
}

static enum status answer_import(struct call *call) {
    (void)call;
    return OK;
}

enum status op_import_table(struct call *call) {
    return call_background(call, import_table, answer_import);
}

/* --- DescribeImport, ListImports --- */

enum status op_describe_import(struct call *call) {
    struct job_view job;
    enum status status = job_find(call, JOB_IMPORT, ARG_IMPORT_ARN, &job);
    if (status == OK)
        put_description(call, &job);
    return status;
}

static void put_summary(struct call *call, const struct job_view *job) {
    struct buf *to = call->reply;
    const struct json *source = job_detail(call, job, BYTES("S3BucketSource"));
    const struct json *format = job_detail(call, job, BYTES("InputFormat"));
    buf_byte(to, '{');
    job_put_names(call, job, BYTES("ImportArn"), "import");
    reply_text(to, BYTES("ImportStatus"), job_status_text(job));
    if (source != NULL) {
        REPLY_NAME(to, "S3BucketSource");
        json_put(to, source);
    }
    if (format != NULL)
        reply_text(to, BYTES("InputFormat"), format->text);
    reply_time(to, BYTES("StartTime"), job->started_ms);
    reply_time(to, BYTES("EndTime"), job->ended_ms);
    buf_byte(to, '}');
}

enum status op_list_imports(struct call *call) {
    struct job_list jobs;
    struct buf *to = call->reply;
    enum status status = job_list(call, JOB_IMPORT, ARG_PAGE_SIZE, &jobs);
    if (status != OK)
        return status;
    buf_lit(to, "{\"ImportSummaryList\":[");
    for (size_t i = 0; i < jobs.count; i++) {
        if (i != 0)
            buf_byte(to, ',');
        put_summary(call, &jobs.jobs[i]);
    }
    buf_byte(to, ']');
    job_put_next(to, &jobs);
    buf_byte(to, '}');
    return OK;
}
