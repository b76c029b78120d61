/* Views: what readers hold while buffers come and go.
 *
 * A view pins the tables by a snapshot of the database, except while tables are written: then the
 * current one pins nothing. Whoever took it since the buffer was frozen sees all that the buffer
 * has, so that it makes no difference to him whether the tables have it already. He must only not
 * see what the next handover brings, before which the view is pinned for good. It is also pinned
 * when somebody opens an iterator on it. So there is no snapshot from before a table when the
 * database takes that table, unless somebody is still reading in an older view, and this matters:
 *   1. A table that no other overlaps is taken at the last level as if it had always been there.
 *   2. A merge that begins at once need not keep what an older snapshot would see.
 * With an older snapshot all keys of such tables are written a second time when it has gone. */
#include "store/store_int.h"

#include "base/mem.h"

static struct store_view *view_new(struct store *store, struct write_buffer *active,
                                   struct write_buffer *frozen) {
    struct store_view *view = mem_zalloc(sizeof(*view));
    atomic_init(&view->refs, 1);
    atomic_init(&view->snapshot, NULL);
    view->store = store;
    view->buffers[0] = write_buffer_hold(active);
    view->buffers[1] = frozen == NULL ? NULL : write_buffer_hold(frozen);
    view->read = rocksdb_readoptions_create();
    return view;
}

/* Any thread that holds the view. */
static void view_pin(struct store_view *view) {
    struct store *store = view->store;
    if (atomic_load(&view->snapshot) != NULL)
        return;
    const rocksdb_snapshot_t *snapshot = rocksdb_create_snapshot(store->db);
    pthread_mutex_lock(&store->view_lock);
    bool first = atomic_load(&view->snapshot) == NULL;
    if (first) {
        rocksdb_readoptions_set_snapshot(view->read, snapshot);
        atomic_store(&view->snapshot, snapshot);
    }
    pthread_mutex_unlock(&store->view_lock);
    if (!first)
        rocksdb_release_snapshot(store->db, snapshot);
}

static void view_free(struct store *store, struct store_view *view) {
    rocksdb_readoptions_destroy(view->read);
    if (atomic_load(&view->snapshot) != NULL)
        rocksdb_release_snapshot(store->db, atomic_load(&view->snapshot));
    write_buffer_drop(view->buffers[0]);
    write_buffer_drop(view->buffers[1]);
    mem_free(view);
}

static void view_replace(struct store *store, struct store_view *view) {
    pthread_mutex_lock(&store->view_lock);
    struct store_view *old = store->view;
    store->view = view;
    pthread_mutex_unlock(&store->view_lock);
    if (old != NULL)
        view_drop(store, old);
}

void view_set(struct store *store, struct write_buffer *active, struct write_buffer *frozen) {
    struct store_view *view = view_new(store, active, frozen);
    view_pin(view);
    view_replace(store, view);
}

void view_unpin(struct store *store) {
    struct store_view *view = store->view;
    if (atomic_load(&view->snapshot) != NULL)
        view_replace(store, view_new(store, view->buffers[0], view->buffers[1]));
    view_free_dead(store);
}

void view_repin(struct store *store) {
    view_pin(store->view);
}

void view_clear(struct store *store) {
    view_replace(store, NULL);
    view_free_dead(store);
}

static void view_count(struct store_view *view) {
    atomic_fetch_add_explicit(&view->refs, 1, memory_order_relaxed);
}

struct store_view *view_take(struct store *store, uint64_t *sequence) {
    pthread_mutex_lock(&store->view_lock);
    struct store_view *view = store->view;
    if (view != NULL)
        view_count(view);
    *sequence = atomic_load_explicit(&store->sequence, memory_order_acquire);
    pthread_mutex_unlock(&store->view_lock);
    return view;
}

struct store_view *view_hold(struct store *store, uint64_t *sequence) {
    struct store_view *view = view_take(store, sequence);
    if (view != NULL)
        view_pin(view);
    return view;
}

void view_join(struct store_view *view) {
    view_count(view);
    view_pin(view);
}

void view_drop(struct store *store, struct store_view *view) {
    if (atomic_fetch_sub_explicit(&view->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_lock(&store->view_lock);
    view->dead = store->dead;
    store->dead = view;
    pthread_cond_signal(&store->handover.wake);
    pthread_mutex_unlock(&store->view_lock);
}

void view_free_dead(struct store *store) {
    pthread_mutex_lock(&store->view_lock);
    struct store_view *view = store->dead;
    store->dead = NULL;
    pthread_mutex_unlock(&store->view_lock);
    for (struct store_view *next; view != NULL; view = next) {
        next = view->dead;
        view_free(store, view);
    }
}
