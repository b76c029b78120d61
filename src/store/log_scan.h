/* Walking over the records of one segment's file, in order, and judging what stands where the walk
 * ends. For replaying, verifying and compressing. One thread at a time has a scan. */
#ifndef GT_STORE_LOG_SCAN_H
#define GT_STORE_LOG_SCAN_H

#include "store/log_cold.h"
#include "store/log_format.h"

/* Where the bytes of a segment come from. */
struct log_source {
    int file;              /* borrowed; -1: from `cold` */
    struct log_cold *cold; /* borrowed */
};

struct log_scan {
    struct log_source from;
    uint64_t size;   /* of the segment */
    uint64_t salt;   /* of the segment */
    uint32_t align;  /* likewise */
    uint64_t offset; /* of the next record */
    uint64_t number; /* that a group there has to have */
    bool unreadable; /* the system could not read it; errno says why */

    /* the window of the segment that is in memory */
    uint8_t *window;
    uint64_t window_at;
    size_t window_size, window_room;
};

enum log_found {
    LOG_FOUND_GROUP,   /* the group of the wanted number */
    LOG_FOUND_END,     /* the segment was left: `successor` */
    LOG_FOUND_STOP,    /* the log was closed here */
    LOG_FOUND_NOTHING, /* no valid record */
};

struct log_record {
    struct log_head head;
    uint64_t offset;      /* of the record */
    struct bytes payload; /* good until the next call */
    uint64_t successor;   /* of an end */
};

/* Begins behind the segment's head. */
void log_scan_init(struct log_scan *scan, struct log_source from,
                   const struct log_segment_head *head);
void log_scan_release(struct log_scan *scan);
/* The record at scan->offset; moves on behind a group, and only then. */
enum log_found log_scan_next(struct log_scan *scan, struct log_record *out);
/* After LOG_FOUND_NOTHING: goes on with the next valid record of a later number, which is then
 * expected. False: there is none, and it stays where it is. */
bool log_scan_skip(struct log_scan *scan);
/* After LOG_FOUND_NOTHING: whether a record further on says that the missing group was durable.
 * Reads the rest of the file. */
bool log_scan_is_damaged(struct log_scan *scan);

#endif
