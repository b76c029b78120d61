/* The store: ordered families of key and value bytes on disk, written in atomic batches.
 *
 * The only file-level durability of the product is here. Invariants:
 *   1. A batch is written whole or not at all, also over a power cut.
 *   2. With STORE_SYNC_COMMIT, store_write() returns OK only after the log is on the disk.
 *   3. A snapshot never changes; what it reads is what was committed when it was taken.
 *   4. After a failed write the store refuses further writes until store_reopen() succeeds, and
 *      goes on reading.
 * Reads may come from any thread; writes, store_reopen() and store_close() from one.
 */
#ifndef GT_STORE_STORE_H
#define GT_STORE_STORE_H

#include "base/buf.h"
#include "base/status.h"

#include <stdatomic.h>

/* A folder made before a family was thought of gets it when it is opened for writing; opened for
 * reading only, it is empty. */
enum store_family { STORE_META, STORE_ITEMS, STORE_STREAM, STORE_FAMILIES };

enum store_sync {
    STORE_SYNC_COMMIT,   /* fsync before each store_write() returns */
    STORE_SYNC_INTERVAL, /* fsync in the background every interval_ms */
    STORE_SYNC_NONE,     /* leave it to the system; survives the process, not the power */
};

/* Makes the Nth thing fail, for tests; zero never fails. Counted down as things happen; while
 * `sticky` is set all later ones fail too. */
struct store_faults {
    int write_in;    /* fail the Nth store_write() before anything is written */
    int sync_in;     /* fail the Nth store_write() after the log was written, before it is synced */
    int read_in;     /* fail the Nth store_get() */
    int handover_in; /* fail the Nth handover of a write buffer to the tables, before it begins */
    int ingest_in; /* the Nth ingesting of a table fails, when the list of tables has it already */
    bool sticky;
};

struct store_settings {
    const char *path; /* the data folder; made if missing. Unused with memory. */
    bool memory;      /* keep everything in memory; nothing is durable */
    bool must_exist;  /* refuse to make a new one */
    bool read_only;   /* for looking at a folder offline: takes the lock, changes nothing but
                         a torn end (wal_check.h, manifest_check.h); such a store is "broken" from the
                         start */
    enum store_sync sync;
    int interval_ms;             /* 0: 100 */
    size_t block_cache;          /* bytes for blocks of tables; 0: LIMIT_BLOCK_CACHE */
    size_t buffer_size;          /* bytes written before they are handed over to the tables;
                                    0: LIMIT_BUFFER_SIZE */
    size_t table_from;           /* keys of a family that are worth a table of their own, which is
                                    ingested (table_writer.c); 0: LIMIT_TABLE_FROM */
    uint64_t recovery_from;      /* the log's segments from this one on are kept, as by
                                    store_keep_recovery(); 0: none are */
    struct store_faults *faults; /* NULL: none */
};

struct store;

/* Opens or makes the store. IN_USE, NEWER_FORMAT, DAMAGED, IO_FAILED each with a sentence that
 * says what to do. */
enum status store_open(const struct store_settings *settings, struct scope in, struct store **out);
/* Syncs and closes. */
void store_close(struct store *store);
/* Whether reopening has a chance: there is room on the disk. Changes nothing; snapshots may be
 * held. Called by the writing thread. */
enum status store_probe(struct store *store, struct scope in);
/* Closes and opens again after a failed write: what was logged is there, what was not is not. Waits
 * for the snapshots and iterators of other threads to be released; the caller's own must be gone.
 * Readers who come meanwhile wait. On failure the store stays closed to writes; while the disk
 * takes no writes it is not even tried, and reads go on; should the folder be unreadable as well,
 * reads answer IO_FAILED. Call again. */
enum status store_reopen(struct store *store, struct scope in);

/* --- writing --- */

struct store_batch;
struct store_batch *store_batch_new(struct store *store);
void store_batch_free(struct store_batch *batch);
/* Empties it, and keeps a modest part of its memory. */
void store_batch_clear(struct store_batch *batch);
unsigned store_batch_count(const struct store_batch *batch);
size_t store_batch_size(const struct store_batch *batch);
/* Keys have at most 65,535 bytes. */
void store_put(struct store_batch *batch, enum store_family family, struct bytes key,
               struct bytes value);
/* The same for a value that may be large and is seldom read again: it stays in the log, and the
 * tables get a reference to it, as long as store_keep_log() says that the log is wanted. In memory,
 * a plain put. Only for STORE_STREAM, whose values never begin with byte 0xc0. */
void store_put_logged(struct store_batch *batch, enum store_family family, struct bytes key,
                      struct bytes value);
void store_del(struct store_batch *batch, enum store_family family, struct bytes key);
/* All keys with low <= key < high. */
void store_del_range(struct store_batch *batch, enum store_family family, struct bytes low,
                     struct bytes high);
/* Commits the batch. IO_FAILED with the system's reason in *failure (text in the arena). */
enum status store_write(struct store *store, struct store_batch *batch, struct scope in);
/* Waits until everything written so far is on the disk, whatever the sync setting. */
enum status store_sync(struct store *store);

/* --- reading --- */

struct store_snapshot;
struct store_snapshot *store_snapshot_take(struct store *store);
void store_snapshot_release(struct store *store, struct store_snapshot *snapshot);

struct store_key {
    enum store_family family;
    struct bytes key;
    const struct store_snapshot *snapshot; /* NULL: the latest */
};
/* Copies the value into the arena. NOT_FOUND, IO_FAILED or DAMAGED. */
enum status store_get(struct store *store, const struct store_key *key, struct arena *arena,
                      struct bytes *out);

struct store_range {
    enum store_family family;
    const struct store_snapshot *snapshot; /* NULL: the latest as of opening */
    struct bytes low;                      /* first key; empty: from the start */
    struct bytes high;                     /* before this key; empty: to the end */
    bool bulk; /* a long read that should not push hot blocks out of the cache; reads ahead */
};

/* About how many bytes of the range are in tables, which what was written last may not be yet; 0 if
 * nothing is known. Both bounds must be set. */
uint64_t store_range_size(struct store *store, const struct store_range *range);

/* Walks a range. `low` and `high` must live as long as the iterator. */
struct store_iter;
struct store_iter *store_iter_open(struct store *store, const struct store_range *range);
void store_iter_close(struct store_iter *iter);
/* Gives it another range of the same family and snapshot: far cheaper than opening another one.
 * It stands nowhere until it is told to seek. */
void store_iter_rerange(struct store_iter *iter, struct bytes low, struct bytes high);
/* Stand on the first key >= key / the last key <= key within the range; true if there is one. */
bool store_iter_seek(struct store_iter *iter, struct bytes key);
bool store_iter_seek_back(struct store_iter *iter, struct bytes key);
bool store_iter_first(struct store_iter *iter);
bool store_iter_last(struct store_iter *iter);
bool store_iter_next(struct store_iter *iter);
bool store_iter_prev(struct store_iter *iter);
/* Good until it moves. The value is as it is stored: of one that stays in the log it may be the
 * reference. */
struct bytes store_iter_key(const struct store_iter *iter);
struct bytes store_iter_value(const struct store_iter *iter);
/* The value of a family that has such, read from the log if it must be. NOT_FOUND if it is there no
 * more (the folder is a copy, or a file was lost), DAMAGED, IO_FAILED. */
enum status store_iter_load(struct store_iter *iter, struct bytes *out);
/* Where and when a value that stays in the log was written; false if it is not such. Reads nothing.
 */
struct store_logged {
    uint64_t segment;
    int64_t time_ms;
};
bool store_iter_logged(const struct store_iter *iter, struct store_logged *out);
/* Why it stopped: OK at the range's end, else IO_FAILED or DAMAGED. */
enum status store_iter_status(const struct store_iter *iter);
/* The same in the database's words, which name the file and the place; empty if it is OK. In the
 * arena. */
struct bytes store_iter_why(const struct store_iter *iter, struct arena *arena);

/* --- looking after it --- */

/* The log's segment that is written to: values put from now on stand in it or in later ones. 0 in
 * memory. The writing thread. */
uint64_t store_log_position(struct store *store);
/* No value that is still wanted stands in a segment before this one. Until it is called, all are
 * kept that may have one. The writing thread. */
void store_keep_log(struct store *store, uint64_t segment);

/* Looks at all that the log holds, of a store opened for reading only. `fault` is called with a
 * sentence about each place that is wrong; then it is DAMAGED or IO_FAILED. */
struct store_verify {
    void (*fault)(void *user, struct bytes sentence);
    void *user;
    uint64_t log_files, log_groups; /* out */
};
enum status store_verify(struct store *store, struct store_verify *verify, struct scope in);

/* Makes `path` a data folder of its own with all that is committed: FORMAT and db. Files are shared
 * with the store where the file system can (they never change), else copied. `path` must not exist,
 * the folder above it must. It is on the disk when this returns OK; else nothing is left of it. Any
 * thread; reading and writing go on. UNSUPPORTED for a store in memory. */
enum status store_checkpoint(struct store *store, const char *path, struct scope in);

/* --- earlier states ---
 *
 * A checkpoint and the log from then on are enough to make the store as it was at any time since.
 * These may be called by any thread. */

/* The log's segments from this one on are kept whole; UINT64_MAX: for nothing but streams. */
void store_keep_recovery(struct store *store, uint64_t segment);
/* The segment that is written to: a checkpoint made from now on needs the log from there on. 0 if
 * the store is closed or has no log. */
uint64_t store_recovery_position(struct store *store);
/* Bytes on the disk of the log's segments from that one on. */
uint64_t store_recovery_usage(struct store *store, uint64_t segment);

/* Makes `path` a data folder with all that was committed up to a time, by the wall clock as it was
 * then: the state after the last commit that has this time or an earlier one. `base` is a
 * checkpoint of this store that has no commit after that time. `path` must not exist, the folder
 * above it must; on failure nothing is left of it. The store may be one that is only read.
 * NOT_FOUND if the log does not go back to the base; IO_FAILED, DAMAGED; STOPPING when *stop is
 * set. */
struct store_past {
    const char *base;
    const char *path;
    int64_t time_ms;
    const atomic_bool *stop; /* NULL: it is not stopped */
};
enum status store_restore_past(struct store *store, const struct store_past *past, struct scope in);

/* The data folder; NULL for a store in memory. */
const char *store_path(const struct store *store);

/* Whether a failed write has closed it to writes. Any thread. */
bool store_is_broken(const struct store *store);
/* Whether more was written than could be handed over to the tables so far, so that a write is
 * slowed down: what can wait should. Of a store that was opened, on the thread that writes. */
bool store_is_behind(struct store *store);
/* Bytes on disk and bytes held in memory (tables, blocks, readers), and how the tables keep up with
 * what is written. */
struct store_usage {
    uint64_t disk;
    uint64_t memory;
    uint64_t files, newest_files;  /* of tables: all, and those not merged yet (level 0) */
    uint64_t compacting, flushing; /* jobs that run now */
    uint64_t compaction_waits;     /* bytes that are to be merged, about */
    bool stalled;                  /* handing over waits for compaction */
};
struct store_usage store_usage(struct store *store);

#endif
