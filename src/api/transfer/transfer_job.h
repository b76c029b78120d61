/* Private to transfer/: one job, and the file it is remembered in. */
#ifndef GT_API_TRANSFER_TRANSFER_JOB_H
#define GT_API_TRANSFER_TRANSFER_JOB_H

#include "api/transfer/export.h"
#include "api/transfer/transfer.h"

enum { JOB_ID_SIZE = 14 + 1 + 8 };

struct job {
    struct job *next; /* older */
    struct transfer *transfer;
    struct arena arena;   /* all that it points at */
    struct job_view view; /* state, fault and ended_ms under the transfer's lock; the rest constant;
                             figures below are newer while it runs */
    char id[JOB_ID_SIZE + 1];
    struct load_figures figures;

    /* what it works with, by kind */
    struct table_reader *reader;
    struct table_schema schema;
    struct export export;
    struct file_source_settings files;
    struct bytes bucket, prefix;
};

/* The record as a file's text, and back. False if it is no record. */
void job_encode(const struct job_view *view, struct buf *to);
bool job_decode(struct bytes text, struct arena *arena, struct job_view *out);

#endif
