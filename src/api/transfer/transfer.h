/* The long jobs of a server: restores, exports and imports, each on a thread of its own. Those that
 * clients may ask about later (exports, imports) are remembered, over restarts too if there is a
 * folder to remember them in; one that a stop interrupted is told as failed.
 *
 * Any thread, unless it says otherwise.
 */
#ifndef GT_API_TRANSFER_TRANSFER_H
#define GT_API_TRANSFER_TRANSFER_H

#include "api/background.h"
#include "api/transfer/item_source.h"

enum job_kind { JOB_EXPORT, JOB_IMPORT, JOB_RESTORE };
enum job_state { JOB_RUNNING, JOB_DONE, JOB_FAILED };

/* What there is to know about a job: a copy, taken at one time. */
struct job_view {
    enum job_kind kind;
    enum job_state state;
    struct bytes id; /* in the order they began */
    struct bytes table, table_id;
    struct bytes token;   /* the client's, or empty */
    struct bytes details; /* members of JSON that whoever started it wants to have back */
    struct bytes fault;   /* why it failed */
    int64_t started_ms, ended_ms;
    uint64_t processed, loaded, refused, size;
};

struct transfer;

struct transfer_settings {
    const char *folder;  /* buckets are folders below it */
    const char *records; /* where jobs are remembered; NULL: in memory only */
};

/* Strings of the settings are copied. The engine must outlive it. */
struct transfer *transfer_new(struct engine *engine, const struct transfer_settings *settings);
/* Ends what runs (an export or import fails, a restored table is removed) and waits for it; takes
 * no more. Before the engine is closed. */
void transfer_stop(struct transfer *transfer);
void transfer_free(struct transfer *transfer);

/* For other work that takes its time. */
struct background *transfer_background(struct transfer *transfer);

/* --- starting; each takes copies of all but what is said to be taken --- */

struct export_order {
    struct table_reader *reader; /* taken on success */
    enum file_format format;
    struct bytes table_arn, bucket, prefix;
    struct bytes details, token;
    int64_t time_ms;
};
enum status transfer_export(struct transfer *transfer, const struct export_order *order,
                            struct scope in, struct job_view *out);

/* The table has been made and is loading. */
struct import_order {
    const struct table_schema *schema;
    struct bytes table_id;
    enum file_format format;
    uint8_t delimiter;
    const struct bytes *header;
    size_t header_count;
    struct bytes bucket, prefix;
    struct bytes details, token;
};
enum status transfer_import(struct transfer *transfer, const struct import_order *order,
                            struct scope in, struct job_view *out);

struct restore_order {
    const struct table_schema *schema; /* of the new table, which has been made and is loading */
    struct table_reader *reader;       /* taken on success */
};
enum status transfer_restore(struct transfer *transfer, const struct restore_order *order,
                             struct scope in);

/* --- looking --- */

/* Names a job by its id, or by the client's token that it was started with. */
struct job_key {
    enum job_kind kind;
    struct bytes id, token; /* one of them; a job without either is not found */
};
/* Copies what there is to know about the job into the arena; of several with the token the latest.
 * NO_RESOURCE. */
enum status transfer_find(struct transfer *transfer, const struct job_key *key, struct arena *arena,
                          struct job_view *out);
/* Oldest first, after the id (empty: from the start), of a table (empty: any), at most `limit`. */
struct job_list {
    struct job_view *jobs;
    size_t count;
    bool more;
};
struct job_filter {
    enum job_kind kind;
    struct bytes table, after;
    size_t limit;
};
void transfer_list(struct transfer *transfer, const struct job_filter *filter, struct arena *arena,
                   struct job_list *out);

/* --- names that become paths --- */

/* A bucket's name: letters, digits, dots, hyphens and underscores, letters or digits at both ends.
 */
bool transfer_bucket_valid(struct bytes name);
/* A path below a bucket: no empty, "." or ".." parts, no NUL or control characters, not rooted. */
bool transfer_prefix_valid(struct bytes prefix);

#endif
