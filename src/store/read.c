/* Snapshots and point reads. */
#include "store/store_int.h"

#include "base/mem.h"

struct store_snapshot *store_snapshot_take(struct store *store) {
    struct store_snapshot *snapshot = mem_alloc(sizeof(*snapshot));
    *snapshot = (struct store_snapshot){.store = store};
    if (!gate_enter(&store->gate, &snapshot->lane))
        return snapshot;
    snapshot->snapshot = rocksdb_create_snapshot(store->db);
    snapshot->read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(snapshot->read, snapshot->snapshot);
    return snapshot;
}

void store_snapshot_release(struct store *store, struct store_snapshot *snapshot) {
    if (snapshot == NULL)
        return;
    if (snapshot->snapshot != NULL) {
        rocksdb_readoptions_destroy(snapshot->read);
        rocksdb_release_snapshot(store->db, snapshot->snapshot);
        gate_leave(&store->gate, snapshot->lane);
    }
    mem_free(snapshot);
}

/* Inside the gate. */
static enum status get(struct store *store, const rocksdb_readoptions_t *read,
                       enum store_family family, struct bytes key, struct arena *arena,
                       struct bytes *out) {
    char *error = NULL;
    if (store_family(store, family) == NULL)
        return NOT_FOUND;
    rocksdb_pinnableslice_t *pinned = rocksdb_get_pinned_cf(
        store->db, read, store_family(store, family), chars(key), key.size, &error);
    if (error != NULL)
        return db_error(error, NULL, 0);
    if (pinned == NULL)
        return NOT_FOUND;
    size_t size;
    const char *value = rocksdb_pinnableslice_value(pinned, &size);
    *out = arena_copy(arena, bytes_of(value, size));
    rocksdb_pinnableslice_destroy(pinned);
    return OK;
}

enum status store_get(struct store *store, const struct store_snapshot *snapshot,
                      enum store_family family, struct bytes key, struct arena *arena,
                      struct bytes *out) {
    db_meet_thread();
    if (store->settings.faults != NULL && store_fault(store, &store->settings.faults->read_in))
        return IO_FAILED;
    if (snapshot != NULL)
        return snapshot->read == NULL ? IO_FAILED
                                      : get(store, snapshot->read, family, key, arena, out);
    unsigned lane;
    if (!gate_enter(&store->gate, &lane))
        return IO_FAILED;
    enum status status = get(store, store->options.read, family, key, arena, out);
    gate_leave(&store->gate, lane);
    return status;
}
