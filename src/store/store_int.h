/* What the files of this folder share. Nobody else includes it. */
#ifndef GT_STORE_STORE_INT_H
#define GT_STORE_STORE_INT_H

#include "store/commit_log.h"
#include "store/data_folder.h"
#include "store/gate.h"
#include "store/recent_values.h"
#include "store/store.h"
#include "store/write_buffer.h"

#include <rocksdb/c.h>

/* The database wants a default family; it stays empty. Ours follow in the order of the enum. */
enum { DB_FAMILIES = STORE_FAMILIES + 1 };

/* How the database is set up; made once, used by each opening. */
struct db_options {
    rocksdb_options_t *db;                     /* of the whole, and of the default family */
    rocksdb_options_t *family[STORE_FAMILIES]; /* of each of ours */
    rocksdb_cache_t *cache;                    /* of blocks of tables */
    rocksdb_env_t *env;                        /* owned; NULL for the system's own */
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write; /* without the database's own log */
};

/* The thread of STORE_SYNC_INTERVAL. */
struct syncer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running;
    bool stop; /* under the lock */
};

/* What a snapshot is taken of: the write buffers and the tables beneath them as they were when the
 * view was made. There is a new one whenever a buffer is frozen or was handed over; a version in a
 * buffer that is newer than the snapshot is passed over by its sequence. Its last holder leaves it
 * to the handover's thread, which frees it. */
struct store_view {
    atomic_uint refs;
    struct store *store;
    struct store_view *dead;         /* the next that nobody holds */
    struct write_buffer *buffers[2]; /* the one that is written to; the one that is being handed
                                        over to the tables, or NULL */
    const rocksdb_snapshot_t *_Atomic snapshot; /* of the tables; NULL: not pinned yet, and what the
                                                   tables have is read as it is */
    rocksdb_readoptions_t *read; /* of that snapshot, once there is one; then it never changes */
};

/* The thread that hands buffers over to the tables. */
struct handover {
    pthread_t thread;
    pthread_cond_t wake; /* there is work */
    pthread_cond_t done; /* a handover has ended, or the store was broken */
    bool running;
    bool stop; /* under view_lock */
};

/* The thread that joins small tables (table_join.c). */
struct joiner {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running;
    unsigned handovers; /* under the lock: since it looked for tables last */
    bool stop;          /* under the lock */
};

struct store {
    struct store_settings settings; /* path and faults as given; sizes filled in */
    struct folder folder;
    struct db_options options;
    struct syncer syncer;
    struct handover handover;
    struct joiner joiner;

    /* Behind the gate; NULL while closed. families[0] is the default one, which has only what the
     * store says about itself; one that is not there (in a folder opened for reading only) is
     * NULL. */
    struct gate gate;
    rocksdb_t *db;
    rocksdb_column_family_handle_t *families[DB_FAMILIES];
    struct commit_log *log; /* NULL in memory, while closed, and of an older folder that is only
                               read */
    struct recent_values recent;   /* of the values that stay in it */
    bool replaying;                /* the log is being read: nothing of it goes yet */
    atomic_uint_fast64_t log_kept; /* segments from this one on have values that are still wanted;
                                      UINT64_MAX: none has */

    atomic_uint_fast64_t log_recovery; /* segments from this one on are kept whole, so that earlier
                                          states can be made from them; UINT64_MAX: none are */

    /* What is written goes into the newest buffer, which the current view holds. A group of the log
     * is named by its number; "end" is the number behind the last one. */
    struct buffer_memory buffer_memory; /* of the buffers */
    pthread_mutex_t write_lock; /* over the two below: writing to that buffer, and freezing it */
    struct write_buffer *active;
    uint64_t group_end;            /* of what the buffers and the tables have */
    atomic_uint_fast64_t sequence; /* of the last write that is committed */

    pthread_mutex_t view_lock;  /* over the four below; held for a moment only */
    struct store_view *view;    /* NULL while closed */
    struct store_view *dead;    /* views that nobody holds */
    uint64_t frozen_end;        /* of what the frozen buffer has */
    uint64_t table_end;         /* of what the tables have, as noted there; 0: nothing was */
    pthread_mutex_t table_lock; /* over writing to the tables: handovers and checkpoints */

    pthread_mutex_t sync_lock; /* one sync at a time: the second waits for what the first began */
    atomic_bool broken;
    atomic_bool unsynced;     /* something was written since the last sync */
    pthread_mutex_t why_lock; /* over `why`: the reason it is broken */
    char why[320];
};

struct store_snapshot {
    struct store *store;
    unsigned lane;           /* of the gate */
    struct store_view *view; /* NULL: taken while the store was closed */
    uint64_t sequence;       /* it sees writes up to this one */
};

static inline rocksdb_column_family_handle_t *store_family(struct store *store,
                                                           enum store_family family) {
    return store->families[family + 1];
}

/* Bytes as the database wants them: it compares from the pointer even when there are none. */
static inline const char *chars(struct bytes bytes) {
    return bytes.size == 0 ? "" : (const char *)bytes.data;
}

/* db.c: opening and closing the database itself */

void db_options_init(struct db_options *options, const struct store_settings *settings);
void db_options_release(struct db_options *options);

/* Fills in store->db and families. The gate is not its business. */
enum status db_open(struct store *store, bool read_only, struct scope in);
void db_close(struct store *store);

const char *db_family_name(enum store_family family);

/* The database counts for each thread what it compares and skips, unless the thread says it does
 * not want to know; this is for those who read or write much. */
static inline void db_meet_thread(void) {
    enum { PERF_DISABLED = 1 };
    static _Thread_local bool met;
    if (!met)
        rocksdb_set_perf_level(PERF_DISABLED);
    met = true;
}

/* Takes and frees an error text of the database; OK for none. A corrupted or lost file is
 * DAMAGED, all else IO_FAILED. `why` may be NULL; else it gets the text, cut to its size. */
enum status db_error(char *error, char *why, size_t why_size);
/* Whether the text says that there is no room, or that a quota is used up. */
bool db_says_full(const char *why);

/* store_batch.c: a batch is the bytes of its writes, which are also what stands in the log */

struct bytes store_batch_bytes(const struct store_batch *batch);
/* Adds writes as they stand in the log, of which there are some. */
void store_batch_add(struct store_batch *batch, struct bytes writes);
/* Takes the first write from the front of a batch's bytes; `sequence` is left alone. NOT_FOUND at
 * the end, DAMAGED. */
enum status batch_next(struct bytes *batch, struct buffer_write *out);

/* store_view.c */

/* Makes a view of the given buffers, which it holds, and of the tables as they are, the current
 * one. `frozen` may be NULL. The gate's keeper, or the holder of table_lock or write_lock. */
void view_set(struct store *store, struct write_buffer *active, struct write_buffer *frozen);
/* With the gate shut, and the threads stopped: no view is left. */
void view_clear(struct store *store);
/* Before a table is written: has the current view pin no state of the tables, and frees what nobody
 * holds. There is a frozen buffer, which is what will be written. Under table_lock. */
void view_unpin(struct store *store);
/* Afterwards, also if it failed: has the current view pin the tables as they are. */
void view_repin(struct store *store);
/* The current one, with what is committed; inside the gate. NULL while the store is closed. It may
 * not be pinned: whoever reads tables in it looks at `snapshot` before and after. */
struct store_view *view_take(struct store *store, uint64_t *sequence);
/* The same, pinned: for iterators. */
struct store_view *view_hold(struct store *store, uint64_t *sequence);
void view_join(struct store_view *view); /* for somebody who holds it; pinned from now on */
void view_drop(struct store *store, struct store_view *view);
/* Frees those that nobody holds. Under table_lock, on the handover's thread, or with the gate shut.
 */
void view_free_dead(struct store *store);

/* handover.c */

void handover_init(struct store *store);
void handover_release(struct store *store);

/* Puts the writes of a batch's bytes into the newest buffer and commits them. DAMAGED: they make no
 * sense, and some may have been put. `group` is what they are in the log; without one only its
 * number is set. The writing thread. */
enum status handover_add(struct store *store, struct bytes batch, const struct log_group *group);
/* Hands over all there is, on the caller's thread. Not while the handover's own thread runs. A
 * failure breaks the store. */
enum status handover_all(struct store *store);
/* Has that thread do so with all that was committed so far, and waits for it. Any thread. */
enum status handover_wait(struct store *store);
/* Starts what is due, and waits a little while there is too much that the tables do not have yet.
 * The writing thread, holding no lock; a write of so many bytes. */
void handover_pace(struct store *store, size_t adds);
void handover_start(struct store *store);
void handover_stop(struct store *store);
/* Bytes of the current view's buffers. Any thread. */
uint64_t handover_memory(struct store *store);

/* What the writing thread would otherwise do while others wait for it. For the handover's thread,
 * in between. */
void handover_help(struct store *store);

/* table_writer.c */

/* The number of the first group of the log that the tables do not have; 0: none was ever noted. */
enum status tables_position(struct store *store, uint64_t *out, struct scope in);
/* Writes all that a frozen buffer holds into tables, then notes that they have all groups before
 * `end`. Returns the database's error, or NULL. Under table_lock. */
char *tables_write(struct store *store, struct write_buffer *buffer, uint64_t end);
/* Removes what an end in between has left. When the database is not being written to. */
void tables_clean(struct store *store);

/* table_join.c */

/* Joins the longest run of small tables on the family's last level, if it is long. May wait for a
 * merge that is under way. Any thread while the database is open. */
void tables_join(struct store *store, enum store_family family);
/* The thread that does so to the stream's after every so many handovers. It runs while the
 * handover's thread does: it is started before it and stopped after it. */
void joiner_start(struct store *store);
void joiner_stop(struct store *store);
/* A handover has ended. The handover's thread. */
void joiner_count(struct store *store);

/* store_log.c: the log and the store together */

/* Opens the log of a store whose database is open, makes it where there is none yet, and brings
 * what it holds and the tables do not into them (read_only: into the buffer). */
enum status log_start(struct store *store, bool read_only, struct scope in);
/* A value that stays in the log was put into that segment. The writing thread. */
static inline void store_log_used(struct store *store, uint64_t segment) {
    uint64_t kept = atomic_load_explicit(&store->log_kept, memory_order_relaxed);
    if (kept == UINT64_MAX)
        atomic_store(&store->log_kept, segment);
}
/* The first segment that somebody wants to read. Any thread. */
static inline uint64_t store_log_wanted(struct store *store) {
    uint64_t kept = atomic_load(&store->log_kept), recovery = atomic_load(&store->log_recovery);
    return kept < recovery ? kept : recovery;
}
/* What a stored value means: itself, or what it refers to. Inside the gate. NOT_FOUND if that is
 * gone, DAMAGED, IO_FAILED. */
enum status store_resolve(struct store *store, struct bytes stored, struct arena *arena,
                          struct bytes *out);
/* Without the log nothing is written any more. */
void log_stop(struct store *store);

/* syncer.c; a failed sync breaks the store. */
void syncer_start(struct store *store);
void syncer_stop(struct store *store);

/* store.c */

/* Closes the store to writes for the given reason. Any thread, not holding view_lock. */
void store_break(struct store *store, const char *why);
/* Whether this one is to fail. Any thread. */
bool store_fault(struct store *store, int *counter);

#endif
