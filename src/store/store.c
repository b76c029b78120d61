/* Opening, closing, reopening and writing. */
#include "store/store_int.h"

#include "base/mem.h"
#include "store/log.h"

#include <stdio.h>

enum { INTERVAL_MS = 100, PROBE_SPARE = 1024 * 1024 };

/* --- failing --- */

void store_break(struct store *store, const char *why) {
    pthread_mutex_lock(&store->why_lock);
    if (!atomic_load(&store->broken))
        snprintf(store->why, sizeof(store->why), "%s", why);
    atomic_store(&store->broken, true);
    pthread_mutex_unlock(&store->why_lock);
}

bool store_is_broken(const struct store *store) {
    return atomic_load(&store->broken);
}

static enum status refuse_write(struct store *store, struct arena *arena, struct failure *failure) {
    pthread_mutex_lock(&store->why_lock);
    enum status status = failure_set(failure, arena, IO_FAILED,
                                     "The store takes no writes at present: %s", store->why);
    pthread_mutex_unlock(&store->why_lock);
    return status;
}

bool store_fault(struct store *store, int *counter) {
    int now = __atomic_load_n(counter, __ATOMIC_RELAXED);
    for (;;) {
        if (now <= 0)
            return false;
        int next = now == 1 && store->settings.faults->sticky ? 1 : now - 1;
        if (__atomic_compare_exchange_n(counter, &now, next, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return now == 1;
    }
}

/* --- opening --- */

static struct store *store_new(const struct store_settings *settings) {
    struct store *store = mem_zalloc(sizeof(*store));
    store->settings = *settings;
    store->settings.path = NULL; /* the caller's; folder.path is ours */
    if (settings->interval_ms <= 0)
        store->settings.interval_ms = INTERVAL_MS;
    store->folder.lock = -1;
    atomic_init(&store->broken, false);
    atomic_init(&store->unsynced, false);
    pthread_mutex_init(&store->sync_lock, NULL);
    pthread_mutex_init(&store->why_lock, NULL);
    gate_init(&store->gate, GATE_CLOSED);
    db_options_init(&store->options, &store->settings);
    return store;
}

static void store_free(struct store *store) {
    db_close(store);
    db_options_release(&store->options);
    folder_close(&store->folder);
    gate_release(&store->gate);
    pthread_mutex_destroy(&store->why_lock);
    pthread_mutex_destroy(&store->sync_lock);
    mem_free(store);
}

static enum status enter_folder(struct store *store, const struct store_settings *settings,
                                struct arena *arena, struct failure *failure) {
    if (settings->memory)
        return OK;
    struct folder_settings folder = {settings->path, settings->must_exist, settings->read_only};
    enum status status = folder_open(&store->folder, &folder, arena, failure);
    if (status == OK && !store->folder.making)
        status = log_check_folder(&store->folder, arena, failure);
    return status;
}

enum status store_open(const struct store_settings *settings, struct arena *arena,
                       struct failure *failure, struct store **out) {
    struct store *store = store_new(settings);
    enum status status = enter_folder(store, settings, arena, failure);
    if (status == OK)
        status = db_open(store, settings->read_only, arena, failure);
    if (status == OK && store->folder.making)
        status = folder_made(&store->folder, arena, failure);
    if (status != OK) {
        store_free(store);
        return status;
    }
    if (settings->read_only)
        store_break(store, "it was opened for reading only.");
    else
        syncer_start(store);
    gate_set(&store->gate, GATE_OPEN);
    *out = store;
    return OK;
}

void store_close(struct store *store) {
    if (store == NULL)
        return;
    syncer_stop(store);
    if (!store_is_broken(store)) {
        store_sync(store);
        if (!store->settings.memory)
            db_flush(store);
    }
    gate_shut(&store->gate);
    store_free(store);
}

/* --- reopening --- */

/* An opening writes what the logs hold into tables: whether there is room for that. A failed one
 * does no harm, but this is sooner known and leaves the readers alone. */
enum status store_probe(struct store *store, struct arena *arena, struct failure *failure) {
    if (store->settings.memory)
        return OK;
    size_t size = (size_t)folder_usage(&store->folder, ".log") + PROBE_SPARE;
    return folder_probe(&store->folder, size, arena, failure);
}

/* With the gate shut. If it cannot be opened for writing, reading may still be possible. */
static enum status open_again(struct store *store, struct arena *arena, struct failure *failure) {
    db_close(store);
    enum status status = db_open(store, false, arena, failure);
    if (status == OK)
        return OK;
    struct failure ignored;
    db_open(store, true, arena, &ignored);
    return status;
}

enum status store_reopen(struct store *store, struct arena *arena, struct failure *failure) {
    if (store->settings.read_only)
        return refuse_write(store, arena, failure);
    enum status status = store_probe(store, arena, failure);
    if (status != OK)
        return status;
    syncer_stop(store);
    gate_shut(&store->gate);
    status = open_again(store, arena, failure);
    if (status == OK) {
        atomic_store(&store->broken, false);
        atomic_store(&store->unsynced, false);
        syncer_start(store);
    }
    gate_set(&store->gate, store->db != NULL ? GATE_OPEN : GATE_CLOSED);
    return status;
}

/* --- writing --- */

static enum status write_failed(struct store *store, const char *why, struct arena *arena,
                                struct failure *failure) {
    store_break(store, why);
    return failure_set(failure, arena, IO_FAILED, "The write failed: %s", why);
}

static enum status write_batch(struct store *store, const rocksdb_writeoptions_t *how,
                               struct store_batch *batch, struct arena *arena,
                               struct failure *failure) {
    char *error = NULL;
    rocksdb_write(store->db, how, store_batch_raw(batch), &error);
    if (error == NULL)
        return OK;
    char why[sizeof(store->why)];
    db_error(error, why, sizeof(why));
    return write_failed(store, why, arena, failure);
}

enum status store_write(struct store *store, struct store_batch *batch, struct arena *arena,
                        struct failure *failure) {
    db_meet_thread();
    if (store_is_broken(store) || store->db == NULL)
        return refuse_write(store, arena, failure);
    struct store_faults *faults = store->settings.faults;
    if (faults != NULL && store_fault(store, &faults->write_in))
        return write_failed(store, "a fault was asked for.", arena, failure);
    bool sync = store->settings.sync == STORE_SYNC_COMMIT && !store->settings.memory;
    bool unsynced = faults != NULL && store_fault(store, &faults->sync_in);
    enum status status =
        write_batch(store, sync && !unsynced ? store->options.write_synced : store->options.write,
                    batch, arena, failure);
    if (status == OK && unsynced)
        return write_failed(store, "a fault of the sync was asked for.", arena, failure);
    if (!sync)
        atomic_store(&store->unsynced, true);
    return status;
}

static enum status sync_log(struct store *store) {
    if (!atomic_exchange(&store->unsynced, false))
        return OK;
    char *error = NULL;
    rocksdb_flush_wal(store->db, 1, &error);
    char why[sizeof(store->why)];
    if (db_error(error, why, sizeof(why)) == OK)
        return OK;
    store_break(store, why);
    return IO_FAILED;
}

enum status store_sync(struct store *store) {
    pthread_mutex_lock(&store->sync_lock);
    enum status status = store_is_broken(store) ? IO_FAILED : sync_log(store);
    pthread_mutex_unlock(&store->sync_lock);
    return status;
}

/* --- looking after it --- */

static uint64_t property(struct store *store, int family, const char *name) {
    uint64_t value = 0;
    if (store->families[family] == NULL)
        return 0;
    rocksdb_property_int_cf(store->db, store->families[family], name, &value);
    return value;
}

static uint64_t memory_usage(struct store *store) {
    rocksdb_cache_t *cache = store->options.cache;
    uint64_t total = cache != NULL ? rocksdb_cache_get_usage(cache) : 0;
    for (int i = 0; i < DB_FAMILIES; i++) {
        total += property(store, i, "rocksdb.cur-size-all-mem-tables");
        total += property(store, i, "rocksdb.estimate-table-readers-mem");
        if (store->settings.memory)
            total += property(store, i, "rocksdb.total-sst-files-size");
    }
    return total;
}

struct store_usage store_usage(struct store *store) {
    struct store_usage usage = {0};
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return usage;
    usage.memory = memory_usage(store);
    gate_leave(&store->gate, lane);
    if (!store->settings.memory)
        usage.disk = folder_usage(&store->folder, "");
    return usage;
}
