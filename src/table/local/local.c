/* The engine as a whole: opening, closing, looking at tables; and snapshots. */
#include "table/local/local.h"

#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "table/inprocess.h"
#include "table/local/count_index.h"
#include "table/local/local_int.h"
#include "table/local/recovery.h"
#include "table/local/writer.h"

#include <stdlib.h>

/* --- snapshots --- */

static struct snapshot *snapshot_make(struct local *local, uint64_t commit) {
    struct snapshot *snapshot = mem_zalloc(sizeof(*snapshot));
    atomic_init(&snapshot->refs, 1);
    snapshot->commit = commit;
    snapshot->local = local;
    snapshot->stored = store_snapshot_take(local->store);
    atomic_fetch_add(&local->snapshots, 1);
    return snapshot;
}

/* Gives back what the snapshot holds of the store. */
static void snapshot_close(struct snapshot *snapshot) {
    for (unsigned i = 0; i < SNAPSHOT_ITERATORS; i++)
        store_iter_close(atomic_exchange(&snapshot->idle[i], NULL));
    store_snapshot_release(snapshot->local->store, snapshot->stored);
    snapshot->stored = NULL;
}

struct store_iter *snapshot_iter_get(struct snapshot *snapshot, struct bytes low,
                                     struct bytes high) {
    for (unsigned i = 0; i < SNAPSHOT_ITERATORS; i++) {
        if (atomic_load_explicit(&snapshot->idle[i], memory_order_relaxed) == NULL)
            continue;
        struct store_iter *iter = atomic_exchange(&snapshot->idle[i], NULL);
        if (iter != NULL) {
            store_iter_rerange(iter, low, high);
            return iter;
        }
    }
    struct store_range range = {
        .family = STORE_ITEMS, .snapshot = snapshot->stored, .low = low, .high = high};
    return store_iter_open(snapshot->local->store, &range);
}

void snapshot_iter_put(struct snapshot *snapshot, struct store_iter *iter) {
    for (unsigned i = 0; i < SNAPSHOT_ITERATORS; i++) {
        struct store_iter *none = NULL;
        if (atomic_compare_exchange_strong(&snapshot->idle[i], &none, iter))
            return;
    }
    store_iter_close(iter);
}

struct snapshot *snapshot_hold(struct local *local) {
    struct snapshot *snapshot = local->snapshot;
    atomic_fetch_add_explicit(&snapshot->refs, 1, memory_order_relaxed);
    return snapshot;
}

void snapshot_drop(struct snapshot *snapshot) {
    if (atomic_fetch_sub_explicit(&snapshot->refs, 1, memory_order_acq_rel) != 1)
        return;
    struct local *local = snapshot->local;
    snapshot_close(snapshot);
    mem_free(snapshot);
    atomic_fetch_sub(&local->snapshots, 1);
}

void snapshot_advance(struct local *local) {
    struct snapshot *old = local->snapshot;
    local->snapshot = snapshot_make(local, old->commit + 1);
    snapshot_drop(old);
}

void snapshot_suspend(struct local *local) {
    snapshot_close(local->snapshot);
}

void snapshot_resume(struct local *local) {
    local->snapshot->stored = store_snapshot_take(local->store);
    local->snapshot->commit++;
}

/* --- looking at tables --- */

static struct local *local_of(struct engine *engine) {
    return (struct local *)engine;
}

struct table *local_find(struct local *local, struct bytes name, struct scope in) {
    pthread_rwlock_rdlock(&local->tables_lock);
    struct table *table = local_table(local, name);
    if (table != NULL)
        table_ref(table);
    pthread_rwlock_unlock(&local->tables_lock);
    if (table == NULL)
        failure_set(in.failure, in.arena, NO_TABLE, "Requested resource not found");
    return table;
}

static enum status local_describe(struct engine *engine, struct bytes name, struct scope in,
                                  struct table_description *out) {
    struct local *local = local_of(engine);
    pthread_rwlock_rdlock(&local->state_lock);
    struct table *table = map_get(&local->tables, name);
    if (table != NULL)
        table_describe(table, in.arena, out);
    pthread_rwlock_unlock(&local->state_lock);
    if (table == NULL)
        return failure_set(in.failure, in.arena, NO_TABLE,
                           "Requested resource not found: Table: %.*s not found", BYTES_ARG(name));
    return OK;
}

static int compare_names(const void *a, const void *b) {
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static enum status local_list(struct engine *engine, const struct list_request *request,
                              struct arena *arena, struct name_list *out) {
    struct local *local = local_of(engine);
    size_t at = 0, count = 0, limit = request->limit;
    pthread_rwlock_rdlock(&local->state_lock);
    struct bytes *names = ARENA_ARRAY(arena, struct bytes, local->tables.count + 1);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;)
        if (request->after.size == 0 || bytes_compare(slot->key, request->after) > 0)
            names[count++] = arena_copy(arena, slot->key);
    pthread_rwlock_unlock(&local->state_lock);
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
        else
            out->index_builds++;
}

static void local_figures(struct engine *engine, struct engine_figures *out) {
    struct local *local = local_of(engine);
    size_t at = 0;
    *out = (struct engine_figures){0};
    pthread_rwlock_rdlock(&local->state_lock);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;)
        add_table(slot->value, out);
    pthread_rwlock_unlock(&local->state_lock);
    struct store_usage usage = store_usage(local->store);
    cache_figures(local->cache, out);
    count_index_figures(local, out);
    out->index_memory = atomic_load(&local->index_memory);
    out->index_memory_max = local->settings.index_memory;
    out->commits = atomic_load(&local->commits);
    out->writes = atomic_load(&local->writes);
    out->disk = usage.disk;
    out->store_memory = usage.memory;
    out->store_files = usage.files;
    out->store_newest_files = usage.newest_files;
    out->store_compacting = usage.compacting;
    out->store_flushing = usage.flushing;
    out->store_compaction_waits = usage.compaction_waits;
    out->store_stalled = usage.stalled;
    out->expired = atomic_load(&local->expired);
    out->changes_waiting = atomic_load(&local->writer->waiting);
    out->changes_waiting_max = LIMIT_WRITES_WAITING;
    out->read_only = local->writer->read_only;
    durations_sum(&out->commit_writes, &local->commit_writes);
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

/* The count and size of the items are stored with each commit; if the count is wrong, they are
 * measured anew. */
static enum status build_and_count(struct index_build *build, struct table *table,
                                   struct scope in) {
    enum status status = index_build_run(build, in);
    if (status != OK || build->item_count == table->item_count)
        return status;
    for (unsigned i = 0; i < build->index_count; i++)
        index_empty(build->indexes[i]);
    build->measure = true;
    status = index_build_run(build, in);
    table->item_count = build->item_count;
    table->size = build->size;
    return status;
}

static enum status build_table(struct local *local, struct table *table, struct scope in) {
    struct index *trees[TREES_MAX];
    unsigned count = table_trees(table, trees);
    struct index_build build = {.local = local,
                                .table = table,
                                .schema = table->schema,
                                .snapshot = local->snapshot->stored,
                                .indexes = trees,
                                .index_count = count,
                                .threads = local->settings.threads,
                                .past_limit = true,
                                .filter = &table->partition_filter,
                                .item_count = table->item_count};
    enum status status = build_and_count(&build, table, in);
    if (status != OK)
        return status;
    for (unsigned i = 0; i < count; i++) {
        trees[i]->status = PART_ACTIVE;
        trees[i]->backfilling = false;
    }
    local_sum_memory(local);
    return OK;
}

enum status local_build_all(struct local *local, struct scope in) {
    size_t at = 0;
    atomic_store(&local->index_memory, 0);
    for (struct map_slot *slot; (slot = map_next(&local->tables, &at)) != NULL;) {
        struct table *table = slot->value;
        if (table->index_count == 0 && table->expiry == NULL)
            continue;
        enum status status = build_table(local, table, in);
        if (status != OK)
            return status;
    }
    return OK;
}

/* --- opening and closing --- */

static void local_free(struct local *local) {
    recovery_free(local->recovery);
    backups_free(local->backups);
    catalogue_clear(local);
    reclaimer_free(local->reclaimer);
    if (local->snapshot != NULL)
        snapshot_drop(local->snapshot);
    store_close(local->store);
    if (local->cache != NULL)
        cache_free(local->cache);
    count_index_free(local->count_index);
    names_free(local->names);
    tokens_free(local->tokens);
    partition_versions_release(local);
    pthread_rwlock_destroy(&local->state_lock);
    pthread_rwlock_destroy(&local->tables_lock);
    pthread_mutex_destroy(&local->walks_lock);
    mem_free(local);
}

static void local_close(struct engine *engine) {
    struct local *local = local_of(engine);
    recovery_stop(local->recovery);
    count_index_stop(local);
    writer_stop(local);
    count_index_save(local);
    local_free(local);
}

static const struct item_ops local_item_ops = {
    .get_many = local_get_many,
    .page = local_page,
};

static const struct change_ops local_change_ops = {
    .submit = local_submit,
};

static const struct table_ops local_table_ops = {
    .describe = local_describe,
    .list = local_list,
};

static const struct stream_ops local_stream_ops = {
    .streams = local_streams,
    .stream = local_stream,
    .stream_read = local_stream_read,
    .stream_latest = local_stream_latest,
};

static const struct ranking_ops local_ranking_ops = {
    .rank_lookup = local_rank_lookup,
    .partitions_count = local_partitions_count,
    .partitions_list = local_partitions_list,
};

static const struct copy_ops local_copy_ops = {
    .backup_create = local_backup_create,
    .backup_describe = local_backup_describe,
    .backup_delete = local_backup_delete,
    .backup_list = local_backup_list,
    .read_table = local_read_table,
    .recovery_set = local_recovery_set,
    .recovery_describe = local_recovery_describe,
};

static const struct inprocess_ops local_inprocess_ops = {
    .partition_version = local_partition_version,
    .partition_version_at = local_partition_version_at,
    .partition_changed = local_partition_changed,
    .partitions_absent = local_partitions_absent,
    .batch_flush = local_batch_flush,
};

static const struct engine_ops local_ops = {
    .figures = local_figures,
    .read_only = local_read_only,
    .close = local_close,
};

/* The cache takes memory only for what is read or written, so much of it costs nothing before. */
static size_t usual_cache_memory(uint64_t machine) {
    uint64_t least = (uint64_t)LIMIT_CACHE_LEAST_MB << 20,
             most = (uint64_t)LIMIT_CACHE_MOST_MB << 20;
    uint64_t part = machine / LIMIT_CACHE_PART;
    return (size_t)(part < least ? least : part > most ? most : part);
}

static struct local *local_new(const struct local_settings *settings) {
    struct local *local = mem_zalloc(sizeof(*local));
    local->engine = (struct engine){
        .ops = &local_ops,
        .items = &local_item_ops,
        .changes = &local_change_ops,
        .tables = &local_table_ops,
        .streams = &local_stream_ops,
        .ranking = &local_ranking_ops,
        .copies = &local_copy_ops,
        .inprocess = &local_inprocess_ops,
        .abilities = ENGINE_ALL,
    };
    local->settings = *settings;
    if (settings->index_memory == 0)
        local->settings.index_memory = (size_t)(machine_memory() / 2);
    if (settings->cache_memory == 0)
        local->settings.cache_memory = usual_cache_memory(machine_memory());
    if (settings->stream_shards == 0)
        local->settings.stream_shards = 1;
    partition_versions_init(local);
    local->names = names_new();
    local->count_index = count_index_new();
    local->tokens = tokens_new();
    local->next_table_id = 1;
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&local->state_lock, &attributes);
    pthread_rwlock_init(&local->tables_lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    pthread_mutex_init(&local->walks_lock, NULL);
    return local;
}

enum status local_open(const struct local_settings *settings, struct scope in,
                       struct engine **out) {
    struct local *local = local_new(settings);
    struct store_settings store = settings->store;
    local->reclaimer = reclaimer_new();
    local->recovery = recovery_new(settings);
    store.recovery_from = recovery_log_from(local->recovery);
    enum status status = store_open(&store, in, &local->store);
    if (status != OK)
        goto done;
    local->cache = cache_new(local->settings.cache_memory);
    local->snapshot = snapshot_make(local, 0);
    status = catalogue_load(local, in);
    if (status == OK)
        status = catalogue_drop_loading(local, in);
    if (status == OK)
        status = local_build_all(local, in);
    local->backups = backups_new(local);
    if (status == OK)
        status = count_index_load(local, in);
    if (status == OK)
        status = writer_start(local, in);
    if (status == OK)
        count_index_start(local);
    if (status == OK)
        recovery_start(local->recovery, local);
done:
    if (status != OK) {
        local_free(local);
        return status;
    }
    *out = &local->engine;
    return OK;
}
