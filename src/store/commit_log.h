/* The commit log: what was committed, in order, in files of our own. A write waits for nothing
 * else.
 *
 * Groups are appended one at a time. Each is on the disk when the append returns (COMMIT_LOG_SYNC),
 * or after the next commit_log_sync() (COMMIT_LOG_LATER). They stand in segments, files of a fixed
 * size that a helper thread makes beforehand and fills with zeros, so that an append changes no
 * metadata of the file system: it is one write past the page cache (O_DIRECT and O_DSYNC; where the
 * file system refuses that, O_DSYNC alone). Segments that nobody needs become new ones; those that
 * only readers need are compressed after a while (log_cold.h).
 *
 * The byte table is in log_format.h. Invariants:
 *   1. Group numbers rise by one, over segments too. The first group of a new log has number 1.
 *   2. A group begins on an aligned offset behind the one before it. Nothing that was acknowledged
 *      is ever written again, nor is a block that has a part of it.
 *   3. A record says which groups were on the disk before it was written (`durable`). With
 *      COMMIT_LOG_SYNC these are all before it.
 *   4. So an invalid group ends the log, as a torn tail, if no valid record that says that it was
 *      durable stands behind it. If one does, the log is DAMAGED, named by file and offset.
 *   5. A segment's head is on the disk, under its name, before anything refers to it; it has the
 *      number of its first group. A segment that is left ends with a mark that names its successor,
 *      which is on the disk before the successor's first group is written. So a segment that is
 *      missing, or was cut off, is DAMAGED.
 *   6. What is left of a file's earlier life is never taken for a new record: every record has the
 *      segment's salt, which is drawn anew.
 *   7. After an opening nothing is added to the segments that are there. Appends go to a fresh one,
 *      whose head has the number at which the log was found to end: from then on what stands in
 *      earlier segments from that number on does not count.
 *   8. A segment is compressed only if no recovery needs a group of it and all of them are valid.
 * Its own file goes when the compressed one is on the disk.
 *   9. After a failed append or sync nothing is appended until the log was closed, opened and
 *      replayed: what is on the disk decides whether the group is there.
 *
 * One thread appends; what else any thread may call says so. Lower-case `group` is one commit.
 */
#ifndef GT_STORE_COMMIT_LOG_H
#define GT_STORE_COMMIT_LOG_H

#include "base/status.h"

struct commit_log;

enum commit_log_sync {
    COMMIT_LOG_SYNC,  /* an append returns when it is on the disk */
    COMMIT_LOG_LATER, /* commit_log_sync() brings it there */
};

/* Makes the Nth file operation that changes something fail with `error`, for tests; zero never
 * fails. A write that fails has written a part. Counted down as they happen, by any thread; while
 * `sticky` is set all later ones fail too. */
struct log_faults {
    int change_in;
    int error;
    bool sticky;
};

struct commit_log_settings {
    const char *path;      /* DIR/log; made if missing */
    uint64_t segment_size; /* at most; 0: 64 MB. The first ones are smaller. */
    enum commit_log_sync sync;
    bool read_only;            /* changes nothing: for replaying and reading only */
    int64_t cold_after_ms;     /* when a segment that only readers need is compressed; 0: 5 minutes
                                  after it was left, or sooner if there are many; less: at once */
    bool must_exist;           /* a log without any segment is DAMAGED */
    struct log_faults *faults; /* NULL: none */
};

/* Where bytes of a group's payload stand: stable for as long as the segment is kept. */
struct log_place {
    uint64_t segment;
    uint32_t salt;   /* of that segment: another log may have one of the same number */
    uint32_t offset; /* in the file */
    uint32_t size;
    uint32_t crc; /* CRC-32C of the bytes */
};

struct log_group {
    uint64_t number;
    uint64_t time_ms; /* by the wall clock, when it was appended */
    uint64_t segment; /* where its payload stands, */
    uint32_t salt;    /* of that segment, as places have it */
    uint32_t offset;  /* in the file */
};

/* Opens the folder, or makes it, and looks at the heads of its segments. IO_FAILED with a sentence;
 * DAMAGED with a clause for folder_damaged(). */
enum status commit_log_open(const struct commit_log_settings *settings, struct scope in,
                            struct commit_log **out);
/* After appends that all went well a mark is left that says so. NULL is fine. */
void commit_log_close(struct commit_log *log);

/* What is called for each group; anything but OK ends the replay. The payload is good until it
 * returns. */
struct log_replay {
    enum status (*group)(void *user, const struct log_group *group, struct bytes payload);
    void *user;
};
/* Calls back for each group from number `from` on, in order, up to the log's end; 0: from the first
 * that is there. Must be called before the first append, once. What it gives may still be lost if
 * it was never acknowledged: the store puts it into tables before it takes new writes. DAMAGED with
 * a clause as above, IO_FAILED, or what the callback returned. If the log ends before `from`,
 * appends begin with `from`. */
enum status commit_log_replay(struct commit_log *log, uint64_t from,
                              const struct log_replay *replay, struct scope in);
/* The number that the next group will have. For the appending thread. */
uint64_t commit_log_next(const struct commit_log *log);

/* Appends a group, whose payload is the parts, one behind the other; at most LIMIT_LOG_GROUP bytes.
 * IO_FAILED: see invariant 9. */
struct log_parts {
    const struct bytes *at;
    size_t count;
};
enum status commit_log_append(struct commit_log *log, struct log_parts parts, struct scope in,
                              struct log_group *out);
/* Waits until all that was appended is on the disk. Any thread. IO_FAILED: invariant 9. */
enum status commit_log_sync(struct commit_log *log);

/* Reads bytes of a payload back into the arena. Any thread. NOT_FOUND if the segment is gone, or
 * never was of this log; DAMAGED if the bytes have changed; IO_FAILED. */
enum status commit_log_read(struct commit_log *log, const struct log_place *place,
                            struct arena *arena, struct bytes *out);

/* Calls back for the groups of one segment: of the one that has group *from, those from there on
 * and before `until`. Then *from is the group behind the last one that was given. Any thread, while
 * others append: `until` may be at most commit_log_next() as the appending thread has told it, or
 * commit_log_end(). NOT_FOUND if the group is not there any more; DAMAGED; IO_FAILED; or what the
 * callback returned. The helper leaves the segment alone meanwhile. */
struct log_walk {
    uint64_t from, until;
    struct log_replay each;
};
enum status commit_log_walk(struct commit_log *log, struct log_walk *walk);
/* The number behind the last group that was appended. Any thread. */
uint64_t commit_log_end(const struct commit_log *log);

/* The segment that was appended to last, or that will be at least. Any thread. */
uint64_t commit_log_segment(struct commit_log *log);

/* Groups before `number` are not needed for recovery (or before an earlier, larger one), segments
 * before `segment` not for reading: what neither needs is reused or removed by and by. Any thread.
 */
void commit_log_release(struct commit_log *log, uint64_t number, uint64_t segment);

/* Bytes of the log's files. Any thread. */
uint64_t commit_log_usage(struct commit_log *log);
/* The same without spares, of the segments from that number on. Any thread. */
uint64_t commit_log_usage_from(struct commit_log *log, uint64_t segment);

/* Looks at all records of all segments that are there, of a log opened for reading only, and calls
 * `fault` with a sentence about each place that is wrong. Needs no replay. */
struct log_verify {
    void (*fault)(void *user, struct bytes sentence);
    void *user;
    uint64_t from;     /* groups before this one are not needed for recovery */
    uint64_t segments; /* out */
    uint64_t groups;   /* out */
};
enum status commit_log_verify(struct commit_log *log, struct log_verify *verify, struct scope in);

#endif
