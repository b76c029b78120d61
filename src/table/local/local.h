/* The embedded engine: the table interface on the store, one machine. */
#ifndef GT_TABLE_LOCAL_LOCAL_H
#define GT_TABLE_LOCAL_LOCAL_H

#include "store/store.h"
#include "table/backup.h"

struct local_settings {
    struct store_settings store;
    size_t cache_memory;    /* bytes for hot items; 0: an eighth of machine_memory(), but at
                               least LIMIT_CACHE_LEAST_MB and at most LIMIT_CACHE_MOST_MB */
    size_t index_memory;    /* bytes for index trees; 0: half of machine_memory() */
    unsigned threads;       /* for building indexes; 0: one a core */
    unsigned stream_shards; /* of streams that begin from now on; 0: one; at most
                               STREAM_SHARDS_MAX (table/table_stream.h) */
    uint64_t recovery_disk; /* bytes for point-in-time recovery: checkpoints and the log that only
                               it needs; the oldest go first; 0: LIMIT_RECOVERY_DISK_GB */
    unsigned
        commit_thread_from; /* changes that make a group worth a second thread; 0: as measured */
};

/* Opens the data, builds the indexes, starts the writer thread. Close with engine_close(). */
enum status local_open(const struct local_settings *settings, struct scope in, struct engine **out);

/* Reads a table of a data folder that no server has open; as engine_read_table(). */
enum status local_read_folder(const char *path, struct bytes table, struct scope in,
                              struct table_reader **out);

/* Makes `path` a data folder with all tables as they were at that time, from the data folder
 * `from`, which no server has open and of which a table has had point-in-time recovery. `path` must
 * not be there. INVALID with a sentence if what is kept does not reach back so far; as
 * store_open(). */
struct past_request {
    const char *from, *path;
    int64_t time_ms;
    const atomic_bool *stop; /* NULL: it is not stopped */
};
enum status local_restore_past(const struct past_request *request, struct scope in);

/* Checks a data folder that no server has open: the catalogue, that every item decodes, that
 * keys agree with items, that counts agree, that the streams' records decode. Calls `progress` now
 * and then with done/total items (total from the stored counts) and `found` with a sentence for
 * each thing wrong. OK when the check ran, whatever it found. */
struct verify_report {
    uint64_t tables, items, indexes, index_entries, stream_records, faults;
};
struct verify_settings {
    const char *path;
    void (*progress)(uint64_t done, uint64_t total, void *context);
    void (*found)(struct bytes sentence, void *context);
    void *context;
};
enum status local_verify(const struct verify_settings *settings, struct scope in,
                         struct verify_report *out);

#endif
