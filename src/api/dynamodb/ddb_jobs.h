/* What is told of exports and imports alike. */
#ifndef GT_API_DYNAMODB_DDB_JOBS_H
#define GT_API_DYNAMODB_DDB_JOBS_H

#include "api/dynamodb/ddb_call.h"
#include "api/transfer/transfer.h"

/* IN_PROGRESS, COMPLETED, FAILED */
struct bytes job_status_text(const struct job_view *job);
/* The job's ARN under that name, then TableArn and TableId. */
void job_put_names(struct call *call, const struct job_view *job, struct bytes name,
                   const char *kind);
/* FailureCode and FailureMessage, if it failed. */
void job_put_fault(struct buf *to, const struct job_view *job);
/* A member of what the job was asked for; NULL if it has none of that name. */
const struct json *job_detail(struct call *call, const struct job_view *job, struct bytes name);
/* Where an export's summary is, in its bucket. */
struct bytes job_manifest(struct call *call, const struct job_view *job);

/* The job of an ARN, for who may see it. ExportNotFoundException, ImportNotFoundException. */
enum status job_find(struct call *call, enum job_kind kind, enum arg arn, struct job_view *out);
/* A page of them, by TableArn, NextToken and `limit`. */
enum status job_list(struct call *call, enum job_kind kind, enum arg limit, struct job_list *out);
/* "NextToken", if there are more. */
void job_put_next(struct buf *to, const struct job_list *jobs);

#endif
