/* Opening, closing, reopening and writing. */
#include "store/store_int.h"

#include "base/limits.h"
#include "base/mem.h"
#include "store/wal_check.h"

#include <stdio.h>
#include <stdlib.h>

enum { INTERVAL_MS = 100 };

/* --- failing --- */

void store_break(struct store *store, const char *why) {
    pthread_mutex_lock(&store->why_lock);
    if (!atomic_load(&store->broken))
        snprintf(store->why, sizeof(store->why), "%s", why);
    atomic_store(&store->broken, true);
    pthread_mutex_unlock(&store->why_lock);
    pthread_mutex_lock(&store->view_lock);
    pthread_cond_broadcast(&store->handover.done); /* nobody waits for what will not happen */
    pthread_mutex_unlock(&store->view_lock);
}

bool store_is_broken(const struct store *store) {
    return atomic_load(&store->broken);
}

static enum status refuse_write(struct store *store, struct scope in) {
    pthread_mutex_lock(&store->why_lock);
    enum status status = failure_set(in.failure, in.arena, IO_FAILED,
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
    if (settings->buffer_size == 0)
        store->settings.buffer_size = LIMIT_BUFFER_SIZE;
    if (settings->table_from == 0)
        store->settings.table_from = LIMIT_TABLE_FROM;
    store->folder.lock = -1;
    atomic_init(&store->broken, false);
    atomic_init(&store->unsynced, false);
    atomic_init(&store->sequence, 0);
    atomic_init(&store->log_kept, UINT64_MAX);
    atomic_init(&store->log_recovery,
                settings->recovery_from == 0 ? UINT64_MAX : settings->recovery_from);
    pthread_mutex_init(&store->write_lock, NULL);
    pthread_mutex_init(&store->view_lock, NULL);
    pthread_mutex_init(&store->table_lock, NULL);
    handover_init(store);
    buffer_memory_init(&store->buffer_memory, store->settings.buffer_size);
    recent_values_init(&store->recent, LIMIT_RECENT_VALUES);
    pthread_mutex_init(&store->sync_lock, NULL);
    pthread_mutex_init(&store->why_lock, NULL);
    gate_init(&store->gate, GATE_CLOSED);
    db_options_init(&store->options, &store->settings);
    return store;
}

static void locks_release(struct store *store) {
    pthread_mutex_destroy(&store->why_lock);
    pthread_mutex_destroy(&store->sync_lock);
    handover_release(store);
    buffer_memory_release(&store->buffer_memory);
    recent_values_release(&store->recent);
    pthread_mutex_destroy(&store->table_lock);
    pthread_mutex_destroy(&store->view_lock);
    pthread_mutex_destroy(&store->write_lock);
}

static void store_free(struct store *store) {
    log_stop(store);
    db_close(store);
    db_options_release(&store->options);
    folder_close(&store->folder);
    gate_release(&store->gate);
    locks_release(store);
    mem_free(store);
}

static enum status enter_folder(struct store *store, const struct store_settings *settings,
                                struct scope in) {
    if (settings->memory)
        return OK;
    struct folder_settings folder = {settings->path, settings->must_exist, settings->read_only};
    enum status status = folder_open(&store->folder, &folder, in);
    if (status == OK && !store->folder.making)
        status = wal_check_folder(&store->folder, in);
    return status;
}

/* The database, and the log with what the database does not have yet. */
static enum status open_both(struct store *store, bool read_only, struct scope in) {
    enum status status = db_open(store, read_only, in);
    if (status != OK)
        return status;
    status = log_start(store, read_only, in);
    if (status == OK && !read_only && !store->settings.memory)
        status = folder_made(&store->folder, in);
    if (status != OK) {
        log_stop(store);
        db_close(store);
    }
    return status;
}

static void threads_start(struct store *store) {
    joiner_start(store);
    handover_start(store);
    syncer_start(store);
}

static void threads_stop(struct store *store) {
    syncer_stop(store);
    handover_stop(store);
    joiner_stop(store);
}

enum status store_open(const struct store_settings *settings, struct scope in, struct store **out) {
    struct store *store = store_new(settings);
    enum status status = enter_folder(store, settings, in);
    if (status == OK)
        status = open_both(store, settings->read_only, in);
    if (status != OK) {
        store_free(store);
        return status;
    }
    if (settings->read_only)
        store_break(store, "it was opened for reading only.");
    else
        threads_start(store);
    gate_set(&store->gate, GATE_OPEN);
    *out = store;
    return OK;
}

void store_close(struct store *store) {
    if (store == NULL)
        return;
    threads_stop(store);
    if (!store_is_broken(store)) {
        store_sync(store);
        if (!store->settings.memory)
            handover_all(store); /* if it fails, the log still has it */
    }
    gate_shut(&store->gate);
    store_free(store);
}

/* --- reopening --- */

/* An opening writes what the logs hold into tables: whether there is room for that. A failed one
 * does no harm, but this is sooner known and leaves the readers alone. */
enum status store_probe(struct store *store, struct scope in) {
    if (store->settings.memory)
        return OK;
    size_t size = (size_t)(folder_need(&store->folder) + handover_memory(store));
    return folder_probe(&store->folder, size, in);
}

/* With the gate shut. If it cannot be opened for writing, reading may still be possible. */
static enum status open_again(struct store *store, struct scope in) {
    if (store->settings.memory)
        return OK; /* nothing was lost, and there is nowhere to read it from */
    log_stop(store);
    db_close(store);
    atomic_store(&store->broken, false); /* so that what the log holds can be handed over */
    enum status status = open_both(store, false, in);
    if (status == OK)
        return OK;
    struct failure ignored;
    store_break(store, "it could not be opened again.");
    open_both(store, true, (struct scope){in.arena, &ignored});
    return status;
}

enum status store_reopen(struct store *store, struct scope in) {
    if (store->settings.read_only)
        return refuse_write(store, in);
    enum status status = store_probe(store, in);
    if (status != OK)
        return status;
    threads_stop(store);
    gate_shut(&store->gate);
    status = open_again(store, in);
    if (status == OK) {
        atomic_store(&store->broken, false);
        atomic_store(&store->unsynced, false);
        threads_start(store);
    }
    gate_set(&store->gate, store->db != NULL ? GATE_OPEN : GATE_CLOSED);
    return status;
}

/* --- writing --- */

static enum status write_failed(struct store *store, const char *why, struct scope in) {
    store_break(store, why);
    return failure_set(in.failure, in.arena, IO_FAILED, "The write failed: %s", why);
}

static enum status log_batch(struct store *store, struct bytes batch, struct log_group *group,
                             struct scope in) {
    *group = (struct log_group){.number = store->group_end};
    if (store->settings.memory)
        return OK;
    enum status status = commit_log_append(store->log, (struct log_parts){&batch, 1}, in, group);
    if (status == OK && store->settings.sync != STORE_SYNC_COMMIT)
        atomic_store(&store->unsynced, true);
    return status;
}

static enum status write_batch(struct store *store, struct bytes batch, struct scope in) {
    struct store_faults *faults = store->settings.faults;
    struct log_group group;
    if (faults != NULL && store_fault(store, &faults->write_in))
        return write_failed(store, "a fault was asked for.", in);
    enum status status = log_batch(store, batch, &group, in);
    if (status == LIMIT_EXCEEDED)
        return status; /* nothing was tried */
    if (status != OK)
        return write_failed(store, arena_str(in.arena, in.failure->text), in);
    bool unsynced = faults != NULL && store_fault(store, &faults->sync_in);
    if (unsynced && !store->settings.memory) /* reopened, it is in the log */
        return write_failed(store, "a fault of the sync was asked for.", in);
    handover_add(store, batch, &group);
    return unsynced ? write_failed(store, "a fault of the sync was asked for.", in) : OK;
}

enum status store_write(struct store *store, struct store_batch *batch, struct scope in) {
    db_meet_thread();
    handover_pace(store, store_batch_size(batch));
    if (store_is_broken(store) || store->db == NULL)
        return refuse_write(store, in);
    if (store_batch_count(batch) == 0)
        return OK;
    return write_batch(store, store_batch_bytes(batch), in);
}

static enum status sync_log(struct store *store) {
    if (!atomic_exchange(&store->unsynced, false) || store->log == NULL ||
        commit_log_sync(store->log) == OK)
        return OK;
    store_break(store, "the log cannot be synced.");
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
    uint64_t total = rocksdb_cache_get_usage(cache);
    for (int i = 0; i < DB_FAMILIES; i++) {
        total += property(store, i, "rocksdb.cur-size-all-mem-tables");
        total += property(store, i, "rocksdb.estimate-table-readers-mem");
        if (store->settings.memory)
            total += property(store, i, "rocksdb.total-sst-files-size");
    }
    return total;
}

static uint64_t count_files(struct store *store, int level) {
    char name[sizeof "rocksdb.num-files-at-level" + 12];
    uint64_t files = 0;
    snprintf(name, sizeof name, "rocksdb.num-files-at-level%d", level);
    for (int i = 0; i < DB_FAMILIES; i++) {
        char *text = store->families[i] == NULL
                         ? NULL
                         : rocksdb_property_value_cf(store->db, store->families[i], name);
        if (text != NULL)
            files += strtoull(text, NULL, 10);
        free(text);
    }
    return files;
}

static void count_compaction(struct store *store, struct store_usage *usage) {
    enum { LEVELS = 7 };
    usage->newest_files = count_files(store, 0);
    usage->files = usage->newest_files;
    for (int level = 1; level < LEVELS; level++)
        usage->files += count_files(store, level);
    for (int i = 0; i < DB_FAMILIES; i++)
        usage->compaction_waits += property(store, i, "rocksdb.estimate-pending-compaction-bytes");
    usage->compacting = property(store, 0, "rocksdb.num-running-compactions");
    usage->flushing = property(store, 0, "rocksdb.num-running-flushes");
    usage->stalled = property(store, 0, "rocksdb.is-write-stopped") != 0 ||
                     property(store, 0, "rocksdb.actual-delayed-write-rate") != 0;
}

struct store_usage store_usage(struct store *store) {
    struct store_usage usage = {0};
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return usage;
    usage.memory = memory_usage(store) + handover_memory(store) +
                   buffer_memory_spare(&store->buffer_memory) +
                   recent_values_memory(&store->recent);
    count_compaction(store, &usage);
    if (store->log != NULL)
        usage.disk = commit_log_usage(store->log);
    gate_leave(&store->gate, lane);
    if (!store->settings.memory)
        usage.disk += folder_usage(&store->folder, "");
    return usage;
}
