/* The commit log of a store: made, replayed, left. */
#include "store/log_value.h"
#include "store/store_int.h"

#include "base/files.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>

/* --- replaying --- */

struct replaying {
    struct store *store;
    bool read_only;
};

/* What is in the log may not be on the disk (a killed process, a failed sync): it goes into tables,
 * which are synced, before anything is put behind it. */
static enum status replay_group(void *user, const struct log_group *group, struct bytes payload) {
    struct replaying *replaying = user;
    struct store *store = replaying->store;
    enum status status = handover_add(store, payload, group);
    if (status == OK && !replaying->read_only &&
        write_buffer_size(store->active) >= store->settings.buffer_size)
        status = handover_all(store);
    return status;
}

/* Says where, if the failure has no text of its own yet. */
static enum status replay_failed(struct store *store, enum status status, struct scope in) {
    if (status == DAMAGED && in.failure->status == DAMAGED) {
        char what[512];
        snprintf(what, sizeof(what), "%.*s", BYTES_ARG(in.failure->text));
        return folder_damaged(&store->folder, what, in);
    }
    if (status == DAMAGED)
        return folder_damaged(&store->folder, "its log has writes that make no sense", in);
    if (in.failure->status == status)
        return status;
    if (db_says_full(store->why))
        return folder_full(&store->folder, in);
    return failure_set(
        in.failure, in.arena, status,
        "The log of the data folder %s cannot be brought into tables: %s. See to the "
        "disk, then start again; nothing is lost.",
        store->folder.path, store->why);
}

/* Whether a table may have references into the log. */
static bool has_references(struct store *store) {
    struct bytes none = {0};
    rocksdb_column_family_handle_t *family = store_family(store, STORE_STREAM);
    if (family == NULL)
        return false;
    rocksdb_iterator_t *iter = rocksdb_create_iterator_cf(store->db, store->options.read, family);
    rocksdb_iter_seek(iter, chars(none), 0);
    bool some = rocksdb_iter_valid(iter) != 0;
    rocksdb_iter_destroy(iter);
    return some;
}

static enum status replay(struct store *store, bool read_only, struct scope in) {
    struct replaying replaying = {store, read_only};
    struct log_replay each = {replay_group, &replaying};
    enum status status = tables_position(store, &store->table_end, in);
    if (status != OK)
        return status;
    store->group_end = store->table_end == 0 ? 1 : store->table_end;
    *in.failure = (struct failure){0};
    store->replaying = true;
    atomic_store(&store->log_kept, has_references(store) ? 0 : UINT64_MAX);
    status = commit_log_replay(store->log, store->group_end, &each, in);
    if (status == OK && !read_only)
        status = handover_all(store);
    store->replaying = false;
    if (status == OK && !read_only)
        commit_log_release(store->log, store->table_end, store_log_wanted(store));
    return status == OK ? OK : replay_failed(store, status, in);
}

/* --- opening --- */

static enum status open_log(struct store *store, bool read_only, struct scope in) {
    struct folder *folder = &store->folder;
    struct commit_log_settings settings = {
        .path = folder->log_path,
        .sync = store->settings.sync == STORE_SYNC_COMMIT ? COMMIT_LOG_SYNC : COMMIT_LOG_LATER,
        .read_only = read_only,
        .must_exist = !folder_is_fresh(folder),
    };
    *in.failure = (struct failure){0};
    enum status status = commit_log_open(&settings, in, &store->log);
    return status == OK ? OK : replay_failed(store, status, in);
}

/* A folder without a log, or with what an interrupted first start left of one. The log is made for
 * good by its first group, which is empty. */
static enum status clear_log(struct store *store, struct scope in) {
    if (files_remove(store->folder.log_path) == 0)
        return OK;
    return failure_set(in.failure, in.arena, IO_FAILED, "Cannot remove %s: %s.",
                       store->folder.log_path, strerror(errno));
}

static enum status first_group(struct store *store, struct scope in) {
    struct log_group group;
    struct bytes nothing = {0};
    enum status status = commit_log_append(store->log, (struct log_parts){&nothing, 1}, in, &group);
    if (status == OK)
        status = commit_log_sync(store->log);
    if (status == OK)
        store->group_end = group.number + 1;
    return status;
}

static enum status start(struct store *store, bool read_only, struct scope in) {
    bool fresh = folder_is_fresh(&store->folder);
    enum status status = OK;
    if (fresh && read_only)
        return OK; /* the tables are all there is */
    if (fresh)
        status = clear_log(store, in);
    if (status == OK)
        status = open_log(store, read_only, in);
    if (status == OK)
        status = replay(store, read_only, in);
    if (status == OK && fresh)
        status = first_group(store, in);
    return status;
}

enum status log_start(struct store *store, bool read_only, struct scope in) {
    struct write_buffer *buffer = write_buffer_new(&store->buffer_memory);
    store->active = buffer;
    view_set(store, buffer, NULL);
    write_buffer_drop(buffer);
    enum status status = store->settings.memory ? OK : start(store, read_only, in);
    if (status != OK)
        log_stop(store);
    return status;
}

void log_stop(struct store *store) {
    view_clear(store);
    recent_values_clear(&store->recent);
    store->active = NULL;
    commit_log_close(store->log);
    store->log = NULL;
}

/* --- values that stay in the log --- */

enum status store_resolve(struct store *store, struct bytes stored, struct arena *arena,
                          struct bytes *out) {
    struct log_value value = {0};
    *out = stored;
    if (!log_value_take(stored, &value))
        return OK;
    if (store->log == NULL)
        return NOT_FOUND;
    if (recent_values_find(&store->recent, &value.place, arena, out))
        return OK;
    return commit_log_read(store->log, &value.place, arena, out);
}

uint64_t store_log_position(struct store *store) {
    return store->log == NULL ? 0 : commit_log_segment(store->log);
}

void store_keep_log(struct store *store, uint64_t segment) {
    atomic_store(&store->log_kept, segment);
    if (store->log != NULL)
        commit_log_release(store->log, 0, store_log_wanted(store));
}

enum status store_verify(struct store *store, struct store_verify *verify, struct scope in) {
    struct log_verify log = {.fault = verify->fault, .user = verify->user};
    if (store->log == NULL)
        return OK;
    enum status status = commit_log_verify(store->log, &log, in);
    verify->log_files = log.segments;
    verify->log_groups = log.groups;
    return status;
}
