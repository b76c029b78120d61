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
    int write_in; /* fail the Nth store_write() before anything is written */
    int sync_in;  /* fail the Nth store_write() after the log was written, before it is synced */
    int read_in;  /* fail the Nth store_get() */
    bool sticky;
};

struct store_settings {
    const char *path; /* the data folder; made if missing. Unused with memory. */
    bool memory;      /* keep everything in memory; nothing is durable */
    bool must_exist;  /* refuse to make a new one */
    bool read_only;   /* for looking at a folder offline: takes the lock, changes nothing; such a
                         store is "broken" from the start */
    enum store_sync sync;
    int interval_ms;             /* 0: 100 */
    size_t block_cache;          /* bytes; 0: none, tables are mapped into memory */
    struct store_faults *faults; /* NULL: none */
};

struct store;

/* Opens or makes the store. IN_USE, NEWER_FORMAT, DAMAGED, IO_FAILED each with a sentence that
 * says what to do. */
enum status store_open(const struct store_settings *settings, struct arena *arena,
                       struct failure *failure, struct store **out);
/* Syncs and closes. */
void store_close(struct store *store);
/* Whether reopening has a chance: there is room on the disk. Changes nothing; snapshots may be
 * held. Called by the writing thread. */
enum status store_probe(struct store *store, struct arena *arena, struct failure *failure);
/* Closes and opens again after a failed write: what was logged is there, what was not is not. Waits
 * for the snapshots and iterators of other threads to be released; the caller's own, and all
 * batches, must be gone. Readers who come meanwhile wait. On failure the store stays closed to
 * writes; while the disk takes no writes it is not even tried, and reads go on; should the folder
 * be unreadable as well, reads answer IO_FAILED. Call again. */
enum status store_reopen(struct store *store, struct arena *arena, struct failure *failure);

/* --- writing --- */

struct store_batch;
struct store_batch *store_batch_new(struct store *store);
void store_batch_free(struct store_batch *batch);
void store_batch_clear(struct store_batch *batch);
unsigned store_batch_count(const struct store_batch *batch);
size_t store_batch_size(const struct store_batch *batch);
void store_put(struct store_batch *batch, enum store_family family, struct bytes key,
               struct bytes value);
void store_del(struct store_batch *batch, enum store_family family, struct bytes key);
/* All keys with low <= key < high. */
void store_del_range(struct store_batch *batch, enum store_family family, struct bytes low,
                     struct bytes high);
/* Commits the batch. IO_FAILED with the system's reason in *failure (text in the arena). */
enum status store_write(struct store *store, struct store_batch *batch, struct arena *arena,
                        struct failure *failure);
/* Waits until everything written so far is on the disk, whatever the sync setting. */
enum status store_sync(struct store *store);

/* --- reading --- */

struct store_snapshot;
struct store_snapshot *store_snapshot_take(struct store *store);
void store_snapshot_release(struct store *store, struct store_snapshot *snapshot);

/* Copies the value into the arena. NOT_FOUND, IO_FAILED or DAMAGED. snapshot NULL reads the
 * latest. */
enum status store_get(struct store *store, const struct store_snapshot *snapshot,
                      enum store_family family, struct bytes key, struct arena *arena,
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
/* Good until it moves. */
struct bytes store_iter_key(const struct store_iter *iter);
struct bytes store_iter_value(const struct store_iter *iter);
/* Why it stopped: OK at the range's end, else IO_FAILED or DAMAGED. */
enum status store_iter_status(const struct store_iter *iter);

/* --- looking after it --- */

/* Makes `path` a data folder of its own with all that is committed: FORMAT and db. Files are shared
 * with the store where the file system can (they never change), else copied. `path` must not exist,
 * the folder above it must. It is on the disk when this returns OK; else nothing is left of it. Any
 * thread; reading and writing go on. UNSUPPORTED for a store in memory. */
enum status store_checkpoint(struct store *store, const char *path, struct arena *arena,
                             struct failure *failure);
/* The data folder; NULL for a store in memory. */
const char *store_path(const struct store *store);

/* Whether a failed write has closed it to writes. Any thread. */
bool store_is_broken(const struct store *store);
/* Bytes on disk and bytes held in memory (tables, blocks, readers). */
struct store_usage {
    uint64_t disk;
    uint64_t memory;
};
struct store_usage store_usage(struct store *store);

#endif
