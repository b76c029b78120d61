/* What the files of this folder share. Nobody else includes it. */
#ifndef GT_STORE_STORE_INT_H
#define GT_STORE_STORE_INT_H

#include "store/folder.h"
#include "store/gate.h"
#include "store/store.h"

#include <rocksdb/c.h>

/* The database wants a default family; it stays empty. Ours follow in the order of the enum. */
enum { DB_FAMILIES = STORE_FAMILIES + 1 };

/* How the database is set up; made once, used by each opening. */
struct db_options {
    rocksdb_options_t *db;                     /* of the whole, and of the default family */
    rocksdb_options_t *family[STORE_FAMILIES]; /* of each of ours */
    rocksdb_cache_t *cache;                    /* NULL: tables are mapped */
    rocksdb_env_t *env;                        /* owned; NULL for the system's own */
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write;        /* leaves the log to the system */
    rocksdb_writeoptions_t *write_synced; /* waits for the disk */
};

/* The thread of STORE_SYNC_INTERVAL. */
struct syncer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running;
    bool stop; /* under the lock */
};

struct store {
    struct store_settings settings; /* path and faults as given; sizes filled in */
    struct folder folder;
    struct db_options options;
    struct syncer syncer;

    /* Behind the gate; NULL while closed. families[0] is the default one; one that is not there (in
     * a folder opened for reading only) is NULL. */
    struct gate gate;
    rocksdb_t *db;
    rocksdb_column_family_handle_t *families[DB_FAMILIES];

    pthread_mutex_t sync_lock; /* one sync at a time: the second waits for what the first began */
    atomic_bool broken;
    atomic_bool unsynced;     /* something was written since the last sync */
    pthread_mutex_t why_lock; /* over `why`: the reason it is broken */
    char why[320];
};

struct store_snapshot {
    struct store *store;
    unsigned lane;                      /* of the gate */
    const rocksdb_snapshot_t *snapshot; /* NULL: taken while the store was closed */
    rocksdb_readoptions_t *read;        /* NULL then too */
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
enum status db_open(struct store *store, bool read_only, struct arena *arena,
                    struct failure *failure);
void db_close(struct store *store);
/* Writes what only the log holds into tables, so that the next start is quick. */
void db_flush(struct store *store);

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

/* batch.c */
rocksdb_writebatch_t *store_batch_raw(struct store_batch *batch);

/* syncer.c; a failed sync breaks the store. */
void syncer_start(struct store *store);
void syncer_stop(struct store *store);

/* store.c */

/* Closes the store to writes for the given reason. Any thread. */
void store_break(struct store *store, const char *why);
/* Whether this one is to fail. Any thread. */
bool store_fault(struct store *store, int *counter);

#endif
