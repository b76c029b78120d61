/* Snapshots and point reads: the newest buffer, the frozen one, the tables. */
#include "store/store_int.h"

#include "base/mem.h"

struct store_snapshot *store_snapshot_take(struct store *store) {
    struct store_snapshot *snapshot = mem_alloc(sizeof(*snapshot));
    *snapshot = (struct store_snapshot){.store = store};
    if (gate_enter(&store->gate, &snapshot->lane))
        snapshot->view = view_take(store, &snapshot->sequence);
    return snapshot;
}

void store_snapshot_release(struct store *store, struct store_snapshot *snapshot) {
    if (snapshot == NULL)
        return;
    if (snapshot->view != NULL) {
        view_drop(store, snapshot->view);
        gate_leave(&store->gate, snapshot->lane);
    }
    mem_free(snapshot);
}

struct point_read {
    struct store *store;
    const struct store_view *view;
    struct buffer_key key;
};

static enum status resolve_stored(const struct point_read *read, struct bytes stored,
                                  struct arena *arena, struct bytes *out) {
    *out = stored;
    return read->key.family == STORE_STREAM ? store_resolve(read->store, stored, arena, out) : OK;
}

/* In a view that was not pinned the tables are read as they are. If it is not pinned afterwards
 * either, no later handover has begun, and what was read is right; else it is read again. */
static rocksdb_pinnableslice_t *read_tables(const struct point_read *read,
                                            rocksdb_column_family_handle_t *family, char **error) {
    struct store *store = read->store;
    struct bytes key = read->key.key;
    if (atomic_load(&read->view->snapshot) == NULL) {
        rocksdb_pinnableslice_t *newest = rocksdb_get_pinned_cf(
            store->db, store->options.read, family, chars(key), key.size, error);
        if (*error != NULL || atomic_load(&read->view->snapshot) == NULL)
            return newest;
        rocksdb_pinnableslice_destroy(newest);
    }
    return rocksdb_get_pinned_cf(store->db, read->view->read, family, chars(key), key.size, error);
}

static enum status get_from_tables(const struct point_read *read, struct arena *arena,
                                   struct bytes *out) {
    char *error = NULL;
    rocksdb_column_family_handle_t *family = store_family(read->store, read->key.family);
    if (family == NULL)
        return NOT_FOUND;
    rocksdb_pinnableslice_t *pinned = read_tables(read, family, &error);
    if (error != NULL)
        return db_error(error, NULL, 0);
    if (pinned == NULL)
        return NOT_FOUND;
    size_t size;
    const char *value = rocksdb_pinnableslice_value(pinned, &size);
    struct bytes stored = arena_copy(arena, bytes_of(value, size));
    rocksdb_pinnableslice_destroy(pinned);
    return resolve_stored(read, stored, arena, out);
}

/* Whatever a buffer knows of the key is newer than all that is beneath it. */
static enum status get_value(const struct point_read *read, struct arena *arena,
                             struct bytes *out) {
    for (int i = 0; i < 2 && read->view->buffers[i] != NULL; i++) {
        const struct write_buffer *buffer = read->view->buffers[i];
        const struct buffer_version *version = write_buffer_find(buffer, &read->key);
        const struct buffer_range *range =
            write_buffer_find_range(buffer, read->key.family, read->key.key, read->key.sequence);
        if (version == NULL && range == NULL)
            continue;
        if (version == NULL || version->deleted ||
            (range != NULL && range->sequence > version->sequence))
            return NOT_FOUND;
        struct bytes stored = arena_copy(arena, bytes_of(version->value, version->size));
        return resolve_stored(read, stored, arena, out);
    }
    return get_from_tables(read, arena, out);
}

/* Inside the gate. */
static enum status get_latest(struct point_read *read, struct arena *arena, struct bytes *out) {
    struct store_view *view = view_take(read->store, &read->key.sequence);
    read->view = view;
    enum status status = get_value(read, arena, out);
    view_drop(read->store, view);
    return status;
}

enum status store_get(struct store *store, const struct store_key *key, struct arena *arena,
                      struct bytes *out) {
    struct point_read read = {store, NULL, {key->family, key->key, 0, 0}};
    db_meet_thread();
    if (store->settings.faults != NULL && store_fault(store, &store->settings.faults->read_in))
        return IO_FAILED;
    read.key.hash = buffer_hash(key->family, key->key);
    if (key->snapshot != NULL) {
        read.view = key->snapshot->view;
        read.key.sequence = key->snapshot->sequence;
        return read.view == NULL ? IO_FAILED : get_value(&read, arena, out);
    }
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return IO_FAILED;
    enum status status = get_latest(&read, arena, out);
    gate_leave(&store->gate, lane);
    return status;
}
