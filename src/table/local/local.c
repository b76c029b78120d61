/* The engine as a whole: opening, closing, looking at tables; and views. */
#include "table/local/local.h"

#include "base/mem.h"
#include "table/local/counted.h"
#include "table/local/local_int.h"

#include <stdlib.h>
#include <unistd.h>

enum { CACHE_MEMORY = 256 * 1024 * 1024 };

/* --- views --- */

static struct view *view_new(struct local *local, uint64_t commit) {
    struct view *view = mem_zalloc(sizeof(*view));
    atomic_init(&view->refs, 1);
    view->commit = commit;
    view->local = local;
    view->snapshot = store_snapshot_take(local->store);
    atomic_fetch_add(&local->views, 1);
    return view;
}

/* Gives back what the view holds of the store. */
static void view_let_go(struct view *view) {
    for (unsigned i = 0; i < VIEW_ITERATORS; i++)
        store_iter_close(atomic_exchange(&view->idle[i], NULL));
    store_snapshot_release(view->local->store, view->snapshot);
    view->snapshot = NULL;
}

struct store_iter *view_iterate(struct view *view, struct bytes low, struct bytes high) {
    for (unsigned i = 0; i < VIEW_ITERATORS; i++) {
        if (atomic_load_explicit(&view->idle[i], memory_order_relaxed) == NULL)
            continue;
        struct store_iter *iter = atomic_exchange(&view->idle[i], NULL);
        if (iter != NULL) {
            store_iter_rerange(iter, low, high);
            return iter;
        }
    }
    struct store_range range = {
        .family = STORE_ITEMS, .snapshot = view->snapshot, .low = low, .high = high};
    return store_iter_open(view->local->store, &range);
}

void view_iterated(struct view *view, struct store_iter *iter) {
    for (unsigned i = 0; i < VIEW_ITERATORS; i++) {
        struct store_iter *none = NULL;
        if (atomic_compare_exchange_strong(&view->idle[i], &none, iter))
            return;
    }
    store_iter_close(iter);
}

struct view *view_hold(struct local *local) {
    struct view *view = local->view;
    atomic_fetch_add_explicit(&view->refs, 1, memory_order_relaxed);
    return view;
}

void view_drop(struct view *view) {
    if (atomic_fetch_sub_explicit(&view->refs, 1, memory_order_acq_rel) != 1)
        return;
    struct local *local = view->local;
    view_let_go(view);
    mem_free(view);
    atomic_fetch_sub(&local->views, 1);
}

void view_advance(struct local *local) {
    struct view *old = local->view;
    local->view = view_new(local, old->commit + 1);
    view_drop(old);
}

void view_suspend(struct local *local) {
    view_let_go(local->view);
}

void view_resume(struct local *local) {
    local->view->snapshot = store_snapshot_take(local->store);
    local->view->commit++;
}

/* --- looking at tables --- */

static struct local *local_of(struct engine *engine) {
    return (struct local *)engine;
}

struct table *local_find(struct local *local, struct bytes name, struct arena *arena,
                         struct failure *failure, struct view **view) {
    pthread_rwlock_rdlock(&local->moment);
    struct table *table = local_table(local, name);
    if (table != NULL) {
        table_ref(table);
        if (view != NULL)
            *view = view_hold(local);
    }
    pthread_rwlock_unlock(&local->moment);
    if (table == NULL)
        failure_set(failure, arena, NO_TABLE, "Requested resource not found");
    return table;
}

static enum status local_describe(struct engine *engine, struct bytes name, struct arena *arena,
                                  struct failure *failure, struct table_description *out) {
    struct local *local = local_of(engine);
    pthread_rwlock_rdlock(&local->moment);
    struct table *table = map_get(&local->tables, name);
    if (table != NULL)
        table_describe(table, arena, out);
    pthread_rwlock_unlock(&local->moment);
    if (table == NULL)
        return failure_set(failure, arena, NO_TABLE,
                           "Requested resource not found: Table: %.*s not found", BYTES_ARG(name));
    return OK;
}

static int compare_names(const void *a, const void *b) {
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static enum status local_list(struct engine *engine, struct bytes after, size_t limit,
                              struct arena *arena, struct name_list *out) {
    struct local *local = local_of(engine);
    size_t at = 0, count = 0;
    pthread_rwlock_rdlock(&local->moment);
    struct bytes *names = ARENA_ARRAY(arena, struct bytes, local->tables.count + 1);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;)
        if (after.size == 0 || bytes_compare(slot->key, after) > 0)
            names[count++] = arena_copy(arena, slot->key);
    pthread_rwlock_unlock(&local->moment);
    qsort(names, count, sizeof(*names), compare_names);
    *out = (struct name_list){names, count < limit ? count : limit, count > limit};
    return OK;
}

static void add_table(const struct table *table, struct engine_figures *out) {
    out->tables++;
    out->items += table->item_count;
    out->item_bytes += table->size;
    for (unsigned i = 0; i < table->index_count; i++)
        if (table->indexes[i]->tree != NULL)
            out->index_entries += tree_count(table->indexes[i]->tree);
}

static void local_figures(struct engine *engine, struct engine_figures *out) {
    struct local *local = local_of(engine);
    size_t at = 0;
    *out = (struct engine_figures){0};
    pthread_rwlock_rdlock(&local->moment);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;)
        add_table(slot->value, out);
    pthread_rwlock_unlock(&local->moment);
    struct store_usage usage = store_usage(local->store);
    cache_figures(local->cache, out);
    counted_figures(local, out);
    out->index_memory = atomic_load(&local->index_memory);
    out->index_memory_max = local->settings.index_memory;
    out->commits = atomic_load(&local->commits);
    out->writes = atomic_load(&local->writes);
    out->disk = usage.disk;
    out->store_memory = usage.memory;
    out->refusing_writes = store_is_broken(local->store);
}

/* --- building --- */

void local_sum_memory(struct local *local) {
    uint64_t sum = 0;
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        struct index *trees[TREES_MAX];
        unsigned count = table_trees(slot->value, trees);
        for (unsigned i = 0; i < count; i++)
            sum += index_memory(trees[i]);
    }
    atomic_store(&local->index_memory, sum);
}

/* What there is of it was written down with each commit; should that be wrong, it is measured. */
static enum status build_and_count(struct build *build, struct table *table, struct arena *arena,
                                   struct failure *failure) {
    enum status status = build_run(build, arena, failure);
    if (status != OK || build->item_count == table->item_count)
        return status;
    for (unsigned i = 0; i < build->index_count; i++)
        index_empty(build->indexes[i]);
    build->measure = true;
    status = build_run(build, arena, failure);
    table->item_count = build->item_count;
    table->size = build->size;
    return status;
}

static enum status build_table(struct local *local, struct table *table, struct arena *arena,
                               struct failure *failure) {
    struct index *trees[TREES_MAX];
    unsigned count = table_trees(table, trees);
    struct build build = {.local = local,
                          .table = table,
                          .schema = table->schema,
                          .snapshot = local->view->snapshot,
                          .indexes = trees,
                          .index_count = count,
                          .threads = local->settings.threads,
                          .item_count = table->item_count};
    enum status status = build_and_count(&build, table, arena, failure);
    if (status != OK)
        return status;
    for (unsigned i = 0; i < count; i++) {
        trees[i]->status = PART_ACTIVE;
        trees[i]->backfilling = false;
    }
    local_sum_memory(local);
    return OK;
}

enum status local_build_all(struct local *local, struct arena *arena, struct failure *failure) {
    size_t at = 0;
    atomic_store(&local->index_memory, 0);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        if (table->index_count == 0 && table->expiry == NULL)
            continue;
        enum status status = build_table(local, table, arena, failure);
        if (status != OK)
            return status;
    }
    return OK;
}

/* --- opening and closing --- */

static void local_free(struct local *local) {
    backups_free(local->backups);
    catalogue_clear(local);
    if (local->view != NULL)
        view_drop(local->view);
    store_close(local->store);
    if (local->cache != NULL)
        cache_free(local->cache);
    counted_free(local->counted);
    names_free(local->names);
    tokens_free(local->tokens);
    pthread_rwlock_destroy(&local->moment);
    mem_free(local);
}

static void local_close(struct engine *engine) {
    struct local *local = local_of(engine);
    counted_stop(local);
    writer_stop(local);
    counted_save(local);
    local_free(local);
}

static const struct engine_ops local_ops = {
    .get_many = local_get_many,
    .page = local_page,
    .places = local_places,
    .touched = local_touched,
    .touched_at = local_touched_at,
    .submit = local_submit,
    .hand_over = local_hand_over,
    .describe = local_describe,
    .list = local_list,
    .streams = local_streams,
    .stream = local_stream,
    .stream_read = local_stream_read,
    .stream_latest = local_stream_latest,
    .figures = local_figures,
    .backup_create = local_backup_create,
    .backup_describe = local_backup_describe,
    .backup_delete = local_backup_delete,
    .backup_list = local_backup_list,
    .read_table = local_read_table,
    .close = local_close,
};

static size_t half_of_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages / 2 * (size_t)page : (size_t)1 << 30;
}

static struct local *local_new(const struct local_settings *settings) {
    struct local *local = mem_zalloc(sizeof(*local));
    local->engine.ops = &local_ops;
    local->settings = *settings;
    if (settings->index_memory == 0)
        local->settings.index_memory = half_of_memory();
    if (settings->cache_memory == 0)
        local->settings.cache_memory = CACHE_MEMORY;
    local->names = names_new();
    local->counted = counted_new();
    local->tokens = tokens_new();
    local->next_table_id = 1;
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&local->moment, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return local;
}

enum status local_open(const struct local_settings *settings, struct arena *arena,
                       struct failure *failure, struct engine **out) {
    struct local *local = local_new(settings);
    enum status status = store_open(&settings->store, arena, failure, &local->store);
    if (status != OK)
        goto done;
    local->cache = cache_new(local->settings.cache_memory);
    local->view = view_new(local, 0);
    status = catalogue_load(local, arena, failure);
    if (status == OK)
        status = catalogue_drop_loading(local, arena, failure);
    if (status == OK)
        status = local_build_all(local, arena, failure);
    local->backups = backups_new(local);
    if (status == OK)
        status = counted_load(local, arena, failure);
    if (status == OK)
        status = writer_start(local, arena, failure);
    if (status == OK)
        counted_start(local);
done:
    if (status != OK) {
        local_free(local);
        return status;
    }
    *out = &local->engine;
    return OK;
}
