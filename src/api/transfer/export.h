/* Writing a table to a folder, in the layout of DynamoDB's exports to S3:
 *
 *   FOLDER/data/NAME.json.gz       lines of {"Item":{...}}; NAME.csv.gz: rows under a header
 *   FOLDER/manifest-files.json     one line for each of them: items, checksum, name
 *   FOLDER/manifest-summary.json   what was exported, when, how much
 *   FOLDER/manifest-*.md5          checksums of the two
 *   FOLDER/table.json              the table itself, as CreateTable takes it
 *
 * All is written to FOLDER.partial and renamed when it is whole and on the disk: a FOLDER is never
 * half of an export, and one that is there is never overwritten.
 */
#ifndef GT_API_TRANSFER_EXPORT_H
#define GT_API_TRANSFER_EXPORT_H

#include "api/transfer/item_source.h"

struct export {
    struct table_reader *reader; /* borrowed */
    const char *folder;
    enum file_format format;
    const atomic_bool *stop;         /* may be NULL */
    void (*progress)(void *context); /* called now and then; may be NULL */
    void *context;

    /* for the manifests; all may be empty */
    struct bytes arn, table_arn, bucket, prefix;
    struct bytes place; /* of FOLDER in the bucket: "AWSDynamoDB/ID" */
    int64_t time_ms;    /* that the table is told as of */

    /* filled in; read by any thread meanwhile */
    atomic_uint_fast64_t items;
    atomic_uint_fast64_t size; /* bytes of items, before packing */
};

/* IO_FAILED, DAMAGED, STOPPING; TABLE_IN_USE if FOLDER is there already. */
enum status export_run(struct export *export, struct scope in);

/* The schema as CreateTable takes it. */
void export_put_schema(struct buf *to, const struct table_schema *schema);
/* 2026-01-31T12:00:00.000Z */
struct bytes export_time(struct arena *arena, int64_t ms);

#endif
