/* Views: what readers hold while buffers come and go. */
#include "store/store_int.h"

#include "base/mem.h"

static struct store_view *view_new(struct store *store, struct write_buffer *active,
                                   struct write_buffer *frozen) {
    struct store_view *view = mem_zalloc(sizeof(*view));
    atomic_init(&view->refs, 1);
    view->buffers[0] = write_buffer_hold(active);
    view->buffers[1] = frozen == NULL ? NULL : write_buffer_hold(frozen);
    view->snapshot = rocksdb_create_snapshot(store->db);
    view->read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(view->read, view->snapshot);
    return view;
}

static void view_free(struct store *store, struct store_view *view) {
    rocksdb_readoptions_destroy(view->read);
    rocksdb_release_snapshot(store->db, view->snapshot);
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
    view_replace(store, view_new(store, active, frozen));
}

void view_clear(struct store *store) {
    view_replace(store, NULL);
    view_free_dead(store);
}

struct store_view *view_hold(struct store *store, uint64_t *sequence) {
    pthread_mutex_lock(&store->view_lock);
    struct store_view *view = store->view;
    if (view != NULL)
        view_join(view);
    *sequence = atomic_load_explicit(&store->sequence, memory_order_acquire);
    pthread_mutex_unlock(&store->view_lock);
    return view;
}

void view_join(struct store_view *view) {
    atomic_fetch_add_explicit(&view->refs, 1, memory_order_relaxed);
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
