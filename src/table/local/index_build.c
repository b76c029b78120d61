/* Building index trees from the items of a table: at a start, for a new index, after a failure.
 *
 * The table's keys are cut into ranges that several threads take one after the other. A thread
 * walks the items of a range, makes their index keys and gathers them; when no range is left it
 * sorts what it has. Then the threads' runs are merged into each tree, which is loaded in order
 * without searching; entry hashes are filled by threads that have no tree to load. Only keys are
 * held in memory. */
#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "base/thread.h"
#include "table/local/key_extract.h"
#include "table/local/key_run.h"
#include "table/local/scan_split.h"

enum {
    THREADS_MAX = LIMIT_BUILD_THREADS,
    RANGES_A_THREAD = 48,
    SMALL_TABLE = 10000, /* items that one thread reads sooner than two would start */
    CHECK_EVERY = 1024,  /* items between looks at the clock of others */
    TRIM_FROM = 100000,  /* items whose keys were worth giving back the memory of */
    AHEAD = 16,          /* keys that the memory is asked for before they are used */
};

struct worker {
    struct index_builder *index_builder;
    pthread_t thread;
    struct key_run runs[TREES_MAX];
    uint64_t sizes[TREES_MAX];
    uint64_t item_count, size;
    size_t noted; /* run memory already added to the builder's sum */
    struct arena scratch;
    struct buf key;
    struct extracted_item item;
    struct buf partitions;   /* for the filter: the hashes of the partitions, as uint32_t */
    uint32_t last_partition; /* of these */
};

/* An entry hash that is being filled: whoever has time takes the next block of keys. */
struct hash_fill {
    pthread_mutex_t lock;
    unsigned worker;          /* whose run is being walked, */
    struct key_run_walk walk; /* block by block; both under the lock */
    struct index_fill_locks *locks;
    uint64_t count; /* entries */
};

struct index_builder {
    struct index_build *build;
    struct key_extractor extractor;
    struct scan_ranges ranges;
    atomic_size_t next_range;
    atomic_uint next_tree;            /* to be loaded */
    struct hash_fill *fills;          /* of each index; `locks` NULL: it has no entry hash */
    atomic_uint run_users[TREES_MAX]; /* who still needs the runs of an index */
    atomic_size_t memory;             /* of all runs */
    size_t memory_max;
    atomic_int status; /* the first fault stops everybody */
    unsigned worker_count;
    struct worker *workers;
};

static void set_status(struct index_builder *index_builder, enum status status) {
    int none = OK;
    if (status != OK)
        atomic_compare_exchange_strong(&index_builder->status, &none, (int)status);
}

static bool has_failed(const struct index_builder *index_builder) {
    return atomic_load_explicit(&index_builder->status, memory_order_relaxed) != OK;
}

/* --- gathering --- */

static enum status gather_entry(struct worker *worker, unsigned at) {
    const struct key_extractor *extractor = &worker->index_builder->extractor;
    size_t shown;
    buf_clear(&worker->key);
    if (!key_extractor_put_entry(extractor, &worker->item, at, &worker->key))
        return OK;
    key_run_add(&worker->runs[at], buf_bytes(&worker->key),
                key_extractor_covers(extractor, &worker->item, at));
    enum status status = key_extractor_shown_size(extractor, &worker->item, at, &shown);
    worker->sizes[at] += shown;
    return status;
}

/* Items of one partition come one after the other. */
static void gather_partition(struct worker *worker, struct bytes key) {
    uint32_t partition = partition_hash(key);
    if (worker->index_builder->build->filter == NULL ||
        (worker->partitions.size != 0 && partition == worker->last_partition))
        return;
    worker->last_partition = partition;
    buf_append(&worker->partitions, &partition, sizeof(partition));
}

static enum status gather_item(struct worker *worker, struct bytes key, struct bytes stored) {
    struct key_extractor *extractor = &worker->index_builder->extractor;
    const struct index_build *build = worker->index_builder->build;
    size_t size = 0;
    worker->item.key = key;
    worker->item.stored = stored;
    gather_partition(worker, key);
    enum status status = key_extractor_read(extractor, &worker->item, &worker->scratch);
    for (unsigned i = 0; i < build->index_count && status == OK; i++)
        status = gather_entry(worker, i);
    if (status == OK && build->measure)
        status = key_extractor_item_size(extractor, &worker->item, &size);
    worker->item_count++;
    worker->size += size;
    arena_reset(&worker->scratch);
    return status;
}

/* Now and then: has somebody said stop, and is there still room? */
static enum status check_limits(struct worker *worker) {
    struct index_builder *index_builder = worker->index_builder;
    size_t memory = 0;
    for (unsigned i = 0; i < index_builder->build->index_count; i++)
        memory += worker->runs[i].memory;
    size_t all =
        atomic_fetch_add(&index_builder->memory, memory - worker->noted) + memory - worker->noted;
    worker->noted = memory;
    if (index_builder->build->stop != NULL && atomic_load(index_builder->build->stop))
        return STOPPING;
    return all > index_builder->memory_max ? MEMORY_FULL : OK;
}

static enum status gather_range(struct worker *worker, const struct scan_range *part) {
    struct index_builder *index_builder = worker->index_builder;
    struct buf high = {0};
    buf_put(&high, part->last);
    buf_byte(&high, 0);
    struct store_range range = {.family = STORE_ITEMS,
                                .snapshot = index_builder->build->snapshot,
                                .low = part->first,
                                .high = buf_bytes(&high),
                                .bulk = true};
    struct store_iter *iter = store_iter_open(index_builder->build->local->store, &range);
    enum status status = OK;
    unsigned until_look = CHECK_EVERY;
    for (bool more = store_iter_first(iter); more && status == OK && !has_failed(index_builder);
         more = store_iter_next(iter)) {
        status = gather_item(worker, store_iter_key(iter), store_iter_value(iter));
        if (status == OK && --until_look == 0) {
            status = check_limits(worker);
            until_look = CHECK_EVERY;
        }
    }
    if (status == OK)
        status = store_iter_status(iter);
    store_iter_close(iter);
    buf_release(&high);
    return status;
}

static void gather_ranges(struct worker *worker) {
    struct index_builder *index_builder = worker->index_builder;
    for (;;) {
        size_t at = atomic_fetch_add(&index_builder->next_range, 1);
        if (at >= index_builder->ranges.count || has_failed(index_builder))
            break;
        enum status status = gather_range(worker, &index_builder->ranges.at[at]);
        set_status(index_builder, status != OK ? status : check_limits(worker));
    }
    for (unsigned i = 0; i < index_builder->build->index_count && !has_failed(index_builder); i++)
        key_run_sort(&worker->runs[i]);
}

/* --- merging --- */

/* The run whose next key is least; NULL when all are used up. There are few runs. */
static struct worker *least_run(struct index_builder *index_builder, unsigned index,
                                const size_t *at) {
    struct worker *best = NULL;
    struct bytes best_key = {0};
    for (unsigned i = 0; i < index_builder->worker_count; i++) {
        const struct key_run *key_run = &index_builder->workers[i].runs[index];
        if (at[i] == key_run->count)
            continue;
        struct bytes key = key_run_get(key_run, at[i]);
        if (best == NULL || bytes_compare(key, best_key) < 0) {
            best = &index_builder->workers[i];
            best_key = key;
        }
    }
    return best;
}

static void merge_index(struct index_builder *index_builder, unsigned at_index) {
    struct index *index = index_builder->build->indexes[at_index];
    struct tree_loader *loader = tree_loader_new();
    size_t at[THREADS_MAX] = {0};
    enum status status = OK;
    for (struct worker *from;
         status == OK && (from = least_run(index_builder, at_index, at)) != NULL;) {
        size_t *next = &at[from - index_builder->workers];
        const struct key_run *key_run = &from->runs[at_index];
        key_run_prefetch(key_run, *next + AHEAD);
        if (!tree_loader_add(loader, key_run_get(key_run, *next)))
            status = DAMAGED; /* two items with the same key */
        ++*next;
    }
    struct tree *tree = tree_loader_finish(loader);
    index->size = 0;
    for (unsigned i = 0; i < index_builder->worker_count; i++)
        index->size += index_builder->workers[i].sizes[at_index];
    index->tree = tree;
    set_status(index_builder, status);
}

static void begin_fills(struct index_builder *index_builder) {
    const struct index_build *build = index_builder->build;
    index_builder->fills = mem_zalloc(build->index_count * sizeof *index_builder->fills);
    for (unsigned at = 0; at < build->index_count; at++) {
        struct hash_fill *fill = &index_builder->fills[at];
        if (!build->indexes[at]->has_entry_hash)
            continue;
        pthread_mutex_init(&fill->lock, NULL);
        fill->locks = index_fill_locks_new();
        for (unsigned i = 0; i < index_builder->worker_count; i++)
            fill->count += index_builder->workers[i].runs[at].count;
        fill->walk.key_run = &index_builder->workers[0].runs[at];
        build->indexes[at]->entry_hash = entry_hash_new(fill->count);
    }
}

static void finish_fills(struct index_builder *index_builder) {
    for (unsigned at = 0; at < index_builder->build->index_count; at++) {
        struct hash_fill *fill = &index_builder->fills[at];
        if (fill->locks == NULL)
            continue;
        pthread_mutex_destroy(&fill->lock);
        index_fill_locks_free(fill->locks);
    }
    mem_free(index_builder->fills);
}

/* Takes the next block of keys of all runs; false: none is left. */
static bool take_block(struct index_builder *index_builder, unsigned at_index,
                       struct key_run_walk *out) {
    struct hash_fill *fill = &index_builder->fills[at_index];
    pthread_mutex_lock(&fill->lock);
    bool taken = !has_failed(index_builder) && fill->worker < index_builder->worker_count;
    while (taken && !key_run_walk_block(&fill->walk)) {
        taken = ++fill->worker < index_builder->worker_count;
        if (taken)
            fill->walk = (struct key_run_walk){
                .key_run = &index_builder->workers[fill->worker].runs[at_index]};
    }
    *out = fill->walk;
    pthread_mutex_unlock(&fill->lock);
    return taken;
}

/* Fills what is left to fill of the entry hash, beside others who do. */
static void fill_entry_hash(struct index_builder *index_builder, unsigned at_index) {
    struct hash_fill *fill = &index_builder->fills[at_index];
    struct index_filler filler;
    struct key_run_walk walk;
    if (fill->locks == NULL || !take_block(index_builder, at_index, &walk))
        return;
    index_filler_begin(&filler, index_builder->build->indexes[at_index], fill->locks, fill->count);
    do
        for (struct bytes entry; key_run_walk_next(&walk, &entry);)
            index_filler_add(&filler, entry, walk.marked);
    while (take_block(index_builder, at_index, &walk));
    index_filler_finish(&filler);
}

static void release_runs(struct index_builder *index_builder, unsigned at_index) {
    if (atomic_fetch_sub(&index_builder->run_users[at_index], 1) != 1)
        return;
    for (unsigned i = 0; i < index_builder->worker_count; i++)
        key_run_release(&index_builder->workers[i].runs[at_index]);
}

/* A tree for each index, then the entry hashes, which all fill together. */
static void load_indexes(struct worker *worker) {
    struct index_builder *index_builder = worker->index_builder;
    unsigned count = index_builder->build->index_count;
    for (unsigned at; !has_failed(index_builder) &&
                      (at = atomic_fetch_add(&index_builder->next_tree, 1)) < count;) {
        merge_index(index_builder, at);
        release_runs(index_builder, at);
    }
    for (unsigned at = 0; at < count; at++) {
        fill_entry_hash(index_builder, at);
        release_runs(index_builder, at);
    }
}

/* --- all together --- */

static void *gather_thread(void *worker) {
    gather_ranges(worker);
    return NULL;
}

static void *load_thread(void *worker) {
    load_indexes(worker);
    return NULL;
}

/* Runs it for each of the first `count` workers; the first on this thread. A thread that cannot
 * be had is no fault: the others take its share. */
static void run_all(struct index_builder *index_builder, unsigned count, void *(*body)(void *)) {
    bool started[THREADS_MAX] = {false};
    for (unsigned i = 1; i < count; i++) {
        struct worker *worker = &index_builder->workers[i];
        started[i] = thread_start(&worker->thread, body, worker) == 0;
    }
    body(&index_builder->workers[0]);
    for (unsigned i = 1; i < count; i++)
        if (started[i])
            pthread_join(index_builder->workers[i].thread, NULL);
}

static unsigned thread_count(const struct index_build *build) {
    unsigned count = build->threads != 0 ? build->threads : machine_cores();
    return count > THREADS_MAX ? THREADS_MAX : count;
}

static void start_workers(struct index_builder *index_builder) {
    index_builder->workers =
        mem_zalloc(index_builder->worker_count * sizeof *index_builder->workers);
    for (unsigned i = 0; i < index_builder->worker_count; i++) {
        index_builder->workers[i].index_builder = index_builder;
        arena_init(&index_builder->workers[i].scratch);
    }
    for (unsigned i = 0; i < index_builder->build->index_count; i++)
        atomic_init(&index_builder->run_users[i], 1 + index_builder->worker_count);
}

static void fill_filter(const struct index_builder *index_builder) {
    struct partition_filter *filter = index_builder->build->filter;
    uint64_t count = 0;
    for (unsigned i = 0; i < index_builder->worker_count; i++)
        count += index_builder->workers[i].partitions.size / sizeof(uint32_t);
    partition_filter_begin(filter, count);
    for (unsigned i = 0; i < index_builder->worker_count; i++) {
        const struct buf *from = &index_builder->workers[i].partitions;
        for (size_t at = 0; at < from->size; at += sizeof(uint32_t)) {
            uint32_t partition;
            memcpy(&partition, from->data + at, sizeof(partition));
            partition_filter_add(filter, partition);
        }
    }
}

static void finish_workers(struct index_builder *index_builder) {
    struct index_build *build = index_builder->build;
    build->item_count = build->size = 0;
    for (unsigned i = 0; i < index_builder->worker_count; i++) {
        struct worker *worker = &index_builder->workers[i];
        build->item_count += worker->item_count;
        build->size += worker->size;
        for (unsigned j = 0; j < build->index_count; j++)
            key_run_release(&worker->runs[j]);
        arena_release(&worker->scratch);
        buf_release(&worker->key);
        buf_release(&worker->partitions);
    }
    mem_free(index_builder->workers);
    if (build->item_count >= TRIM_FROM)
        mem_trim();
}

/* What all trees together may take. */
static size_t memory_limit(const struct index_build *build) {
    size_t most = build->local->settings.index_memory;
    return most == 0 || build->past_limit ? SIZE_MAX : most;
}

/* What the trees take, beside those that were there, against the limit. */
static enum status check_memory(const struct index_build *build) {
    uint64_t sum = atomic_load(&build->local->index_memory);
    for (unsigned i = 0; i < build->index_count; i++)
        sum += index_memory(build->indexes[i]);
    return sum > memory_limit(build) ? MEMORY_FULL : OK;
}

static enum status build_failed(struct index_build *build, enum status status, struct scope in) {
    for (unsigned i = 0; i < build->index_count; i++)
        index_empty(build->indexes[i]);
    if (status == MEMORY_FULL)
        return failure_set(in.failure, in.arena, status,
                           "The indexes of table %.*s do not fit in the memory allowed for "
                           "indexes, %zu bytes; allow more",
                           BYTES_ARG(build->schema->name), build->local->settings.index_memory);
    if (status == STOPPING)
        return failure_set(in.failure, in.arena, status, "The server is stopping");
    return local_fault(status, in);
}

enum status index_build_run(struct index_build *build, struct scope in) {
    size_t most = memory_limit(build);
    struct index_builder index_builder = {.build = build,
                                          .memory_max = most > SIZE_MAX / 2 ? SIZE_MAX : most * 2,
                                          .worker_count = thread_count(build)};
    struct arena keys;
    key_extractor_init(&index_builder.extractor, build);
    arena_init(&keys);
    size_t ranges =
        build->item_count < SMALL_TABLE ? 1 : index_builder.worker_count * RANGES_A_THREAD;
    set_status(&index_builder, scan_split(build, ranges, &keys, &index_builder.ranges));
    if (index_builder.ranges.count < index_builder.worker_count)
        index_builder.worker_count =
            index_builder.ranges.count == 0 ? 1 : (unsigned)index_builder.ranges.count;
    start_workers(&index_builder);
    run_all(&index_builder, index_builder.worker_count, gather_thread);
    if (!has_failed(&index_builder) && build->index_count != 0) {
        begin_fills(&index_builder);
        run_all(&index_builder, index_builder.worker_count, load_thread);
        finish_fills(&index_builder);
    }
    if (!has_failed(&index_builder) && build->filter != NULL)
        fill_filter(&index_builder);
    finish_workers(&index_builder);
    arena_release(&keys);
    enum status status = (enum status)atomic_load(&index_builder.status);
    if (status == OK)
        status = check_memory(build);
    return status == OK ? OK : build_failed(build, status, in);
}
