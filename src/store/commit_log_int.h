/* What the files of the commit log share. Nobody else includes it. */
#ifndef GT_STORE_COMMIT_LOG_INT_H
#define GT_STORE_COMMIT_LOG_INT_H

#include "store/commit_log.h"
#include "store/log_cold.h"
#include "store/log_format.h"
#include "store/log_io.h"

#include <pthread.h>
#include <stdatomic.h>

/* A segment that is there. Made and freed under log->lock; the head does not change. */
struct segment {
    struct log_segment_head head; /* of a damaged one only the number is known */
    bool damaged;                 /* it has no valid head, or was cut off */
    bool stays;                   /* it could not be compressed; used by the helper only */
    bool cold;                    /* it is compressed; under log->lock */
    uint64_t stored;              /* the size of its file; under log->lock */
    int file;                     /* for reading, under log->lock; -1: not open, or cold */
    struct log_cold *open_cold;   /* likewise; NULL: not open, or not cold */
    unsigned readers;             /* under log->lock */
    bool awaited;                 /* the helper waits until there are none; under log->lock */
    uint64_t used;                /* when it was last read, under log->lock: a count */
};

/* A file that waits to become a segment. */
struct spare {
    char name[LOG_NAME_SIZE];
    uint64_t size;
};

enum { LOG_SPARES = 2, LOG_FILES_OPEN = 32 };

struct commit_log {
    struct commit_log_settings settings;
    char *path;
    struct log_io io;

    /* used by the appending thread only, but for what is said */
    bool replayed;
    bool appended;            /* since it was opened */
    struct segment *current;  /* appended to; NULL: before the first append */
    struct segment *tail;     /* where the log was found to end, until appends begin; changed under
                                 the lock: it stays; NULL: none */
    uint64_t tail_offset;     /* where in it */
    int file;                 /* of `current`; changed under the lock; -1: none */
    uint64_t offset;          /* of the next record */
    atomic_uint_fast64_t end; /* the next group's number; read by all */
    uint8_t *staging;         /* aligned: the group that is being written */
    size_t staging_room;

    atomic_bool broken;
    atomic_uint_fast64_t durable; /* all groups up to this one are on the disk */
    pthread_mutex_t sync_lock;    /* one sync at a time */

    pthread_mutex_t lock; /* over all that follows */
    struct segment **segments;
    size_t count, room;
    uint64_t reads; /* a count */
    struct spare spares[LOG_SPARES];
    size_t spare_count;
    uint64_t spare_number;   /* for the next spare's name */
    uint64_t spare_size;     /* that the next spare should have */
    uint64_t needed_number;  /* by recovery: groups from this one on; 0: all */
    uint64_t needed_segment; /* by readers: segments from this one on */

    /* the helper */
    pthread_t thread;
    pthread_cond_t wake;
    bool running, stop;
    bool failed; /* to make one; tried again when there is new work */
};

/* log_segments.c: the files, and the list of them */

/* Lists the folder: fills in segments and spares. */
enum status log_segments_find(struct commit_log *log, struct scope in);
void log_segments_release(struct commit_log *log);
/* The segment of that number; NULL. Under the lock. */
struct segment *log_segment_find(struct commit_log *log, uint64_t number);
/* Reads the head of a segment that is marked as damaged again. True: it is valid, and the segment
 * is marked so no more. Under the lock, or before there are threads. */
bool log_segment_look(struct commit_log *log, struct segment *segment);
void log_segment_name(uint64_t number, char name[LOG_NAME_SIZE]);
/* The name of the file that it is in. */
void log_segment_file(const struct segment *segment, char name[LOG_NAME_SIZE]);
void log_segment_cold_name(uint64_t number, char name[LOG_NAME_SIZE]);
/* Opens a file of a compressed segment, whose number and first group must be those of the name and
 * are filled in. NULL: it is none. */
struct log_cold *log_segment_open_cold(struct commit_log *log, struct log_segment_head *head);
/* Closes what it is read through. Under the lock, without readers. */
void log_segment_shut(struct segment *segment);
/* Makes a file of that size; `zeroed`: and fills it with zeros that are on the disk. */
int log_spare_make(struct commit_log *log, struct spare *spare, bool zeroed);
/* Makes the spare the segment behind `before` (NULL: the first), and opens it for appending into
 * *file: its head and name are on the disk. NULL with errno set. */
struct segment *log_segment_begin(struct commit_log *log, const struct spare *spare,
                                  const struct segment *before, int *file);
/* Frees it and closes its file. */
void log_segment_free(struct segment *segment);

/* log_read.c: a segment that is read by somebody stays, in the file that it is in */

/* Opens it and counts one reader more. Under the lock. DAMAGED, IO_FAILED. */
enum status log_segment_hold(struct commit_log *log, struct segment *segment);
/* One reader less. Takes the lock. */
void log_segment_drop(struct commit_log *log, struct segment *segment);

/* log_helper.c: the thread that makes spares and takes released segments away */

void log_helper_start(struct commit_log *log);
void log_helper_stop(struct commit_log *log);
/* A spare of at least that size: one that is there, or one that is made now, not filled with zeros.
 * 0, or -1 with errno set. */
int log_helper_take(struct commit_log *log, uint64_t size, struct spare *out);

#endif
