/* Building index trees from the items of a table: at a start, for a new index, after a failure.
 *
 * The table's keys are cut into ranges that several threads take one after the other. A thread
 * walks the items of a range, makes their index keys and gathers them; when no range is left it
 * sorts what it has. Then the threads' runs are merged into each tree, which is loaded in order
 * without searching; finders are filled by whoever has no tree to load. Only keys are held in
 * memory. */
#include "base/mem.h"
#include "table/local/cut.h"
#include "table/local/pick.h"
#include "table/local/sort.h"

#include <unistd.h>

enum {
    THREADS_MAX = 16,
    SPANS_A_THREAD = 16,
    SMALL_TABLE = 10000, /* items that one thread reads sooner than two would start */
    CHECK_EVERY = 1024,  /* items between looks at the clock of others */
    TRIM_FROM = 100000,  /* items whose keys were worth giving back the memory of */
    AHEAD = 16,          /* keys that the memory is asked for before they are used */
};

struct worker {
    struct builder *builder;
    pthread_t thread;
    struct run runs[TREES_MAX];
    uint64_t sizes[TREES_MAX];
    uint64_t item_count, size;
    size_t noted; /* run memory already added to the builder's sum */
    struct arena scratch;
    struct buf key;
    struct picked item;
};

struct builder {
    struct build *build;
    struct picks picks;
    struct spans spans;
    atomic_size_t next_span;
    atomic_uint next_task;            /* see load() */
    atomic_uint run_users[TREES_MAX]; /* who still needs the runs of an index */
    atomic_size_t memory;             /* of all runs */
    size_t memory_max;
    atomic_int status; /* the first fault stops everybody */
    unsigned worker_count;
    struct worker *workers;
};

static void set_status(struct builder *builder, enum status status) {
    int none = OK;
    if (status != OK)
        atomic_compare_exchange_strong(&builder->status, &none, (int)status);
}

static bool ended(const struct builder *builder) {
    return atomic_load_explicit(&builder->status, memory_order_relaxed) != OK;
}

/* --- gathering --- */

static enum status gather_entry(struct worker *worker, unsigned at) {
    const struct picks *picks = &worker->builder->picks;
    size_t shown;
    buf_clear(&worker->key);
    if (!picks_put(picks, &worker->item, at, &worker->key))
        return OK;
    run_add(&worker->runs[at], buf_bytes(&worker->key));
    enum status status = picks_shown(picks, &worker->item, at, &worker->scratch, &shown);
    worker->sizes[at] += shown;
    return status;
}

static enum status gather_item(struct worker *worker, struct bytes key, struct bytes stored) {
    const struct picks *picks = &worker->builder->picks;
    const struct build *build = worker->builder->build;
    size_t size = 0;
    worker->item.key = key;
    worker->item.stored = stored;
    enum status status = picks_take(picks, &worker->item, &worker->scratch);
    for (unsigned i = 0; i < build->index_count && status == OK; i++)
        status = gather_entry(worker, i);
    if (status == OK && build->measure)
        status = picks_measure(picks, &worker->item, &worker->scratch, &size);
    worker->item_count++;
    worker->size += size;
    arena_reset(&worker->scratch);
    return status;
}

/* Now and then: has somebody said stop, and is there still room? */
static enum status look_up(struct worker *worker) {
    struct builder *builder = worker->builder;
    size_t memory = 0;
    for (unsigned i = 0; i < builder->build->index_count; i++)
        memory += worker->runs[i].memory;
    size_t all =
        atomic_fetch_add(&builder->memory, memory - worker->noted) + memory - worker->noted;
    worker->noted = memory;
    if (builder->build->stop != NULL && atomic_load(builder->build->stop))
        return STOPPING;
    return all > builder->memory_max ? MEMORY_FULL : OK;
}

static enum status gather_span(struct worker *worker, const struct key_span *span) {
    struct builder *builder = worker->builder;
    struct buf high = {0};
    buf_put(&high, span->last);
    buf_byte(&high, 0);
    struct store_range range = {.family = STORE_ITEMS,
                                .snapshot = builder->build->snapshot,
                                .low = span->first,
                                .high = buf_bytes(&high),
                                .bulk = true};
    struct store_iter *iter = store_iter_open(builder->build->local->store, &range);
    enum status status = OK;
    unsigned until_look = CHECK_EVERY;
    for (bool more = store_iter_first(iter); more && status == OK && !ended(builder);
         more = store_iter_next(iter)) {
        status = gather_item(worker, store_iter_key(iter), store_iter_value(iter));
        if (status == OK && --until_look == 0) {
            status = look_up(worker);
            until_look = CHECK_EVERY;
        }
    }
    if (status == OK)
        status = store_iter_status(iter);
    store_iter_close(iter);
    buf_release(&high);
    return status;
}

static void gather(struct worker *worker) {
    struct builder *builder = worker->builder;
    for (;;) {
        size_t at = atomic_fetch_add(&builder->next_span, 1);
        if (at >= builder->spans.count || ended(builder))
            break;
        enum status status = gather_span(worker, &builder->spans.at[at]);
        set_status(builder, status != OK ? status : look_up(worker));
    }
    for (unsigned i = 0; i < builder->build->index_count && !ended(builder); i++)
        run_sort(&worker->runs[i]);
}

/* --- merging --- */

/* The run whose next key is least; NULL when all are used up. There are few runs. */
static struct worker *least(struct builder *builder, unsigned index, const size_t *at) {
    struct worker *best = NULL;
    struct bytes best_key = {0};
    for (unsigned i = 0; i < builder->worker_count; i++) {
        const struct run *run = &builder->workers[i].runs[index];
        if (at[i] == run->count)
            continue;
        struct bytes key = run_get(run, at[i]);
        if (best == NULL || bytes_compare(key, best_key) < 0) {
            best = &builder->workers[i];
            best_key = key;
        }
    }
    return best;
}

static void merge_index(struct builder *builder, unsigned at_index) {
    struct index *index = builder->build->indexes[at_index];
    struct tree_loader *loader = tree_loader_new();
    size_t at[THREADS_MAX] = {0};
    enum status status = OK;
    for (struct worker *from; status == OK && (from = least(builder, at_index, at)) != NULL;) {
        size_t *next = &at[from - builder->workers];
        const struct run *run = &from->runs[at_index];
        run_prefetch(run, *next + AHEAD);
        if (!tree_loader_add(loader, run_get(run, *next)))
            status = DAMAGED; /* two items with the same key */
        ++*next;
    }
    struct tree *tree = tree_loader_finish(loader);
    index->size = 0;
    for (unsigned i = 0; i < builder->worker_count; i++)
        index->size += builder->workers[i].sizes[at_index];
    index->tree = tree;
    set_status(builder, status);
}

static void fill_finder(struct builder *builder, unsigned at_index) {
    struct index *index = builder->build->indexes[at_index];
    uint64_t count = 0;
    for (unsigned i = 0; i < builder->worker_count; i++)
        count += builder->workers[i].runs[at_index].count;
    index->finder = finder_new(count);
    struct index_filler filler;
    index_filler_begin(&filler, index, count);
    for (unsigned i = 0; i < builder->worker_count && !ended(builder); i++) {
        struct run_walk walk = {.run = &builder->workers[i].runs[at_index]};
        for (struct bytes entry; run_walk_next(&walk, &entry);)
            index_fill(&filler, entry);
    }
    index_filled(&filler);
}

static void leave_runs(struct builder *builder, unsigned at_index) {
    if (atomic_fetch_sub(&builder->run_users[at_index], 1) != 1)
        return;
    for (unsigned i = 0; i < builder->worker_count; i++)
        run_release(&builder->workers[i].runs[at_index]);
}

/* The tasks: a tree for each index, then a finder for each that has one. */
static void load(struct worker *worker) {
    struct builder *builder = worker->builder;
    const struct build *build = builder->build;
    for (;;) {
        unsigned task = atomic_fetch_add(&builder->next_task, 1), at = task % build->index_count;
        if (task >= 2 * build->index_count || ended(builder))
            return;
        if (task < build->index_count)
            merge_index(builder, at);
        else if (build->indexes[at]->finds)
            fill_finder(builder, at);
        leave_runs(builder, at);
    }
}

/* --- all together --- */

static void *gather_thread(void *worker) {
    gather(worker);
    return NULL;
}

static void *load_thread(void *worker) {
    load(worker);
    return NULL;
}

/* Runs it for each of the first `count` workers; the first on this thread. A thread that cannot
 * be had is no fault: the others take its share. */
static void run_all(struct builder *builder, unsigned count, void *(*body)(void *)) {
    bool started[THREADS_MAX] = {false};
    for (unsigned i = 1; i < count; i++) {
        struct worker *worker = &builder->workers[i];
        started[i] = pthread_create(&worker->thread, NULL, body, worker) == 0;
    }
    body(&builder->workers[0]);
    for (unsigned i = 1; i < count; i++)
        if (started[i])
            pthread_join(builder->workers[i].thread, NULL);
}

static unsigned thread_count(const struct build *build) {
    long count = build->threads != 0 ? (long)build->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        return 1;
    return count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

static void start_workers(struct builder *builder) {
    builder->workers = mem_zalloc(builder->worker_count * sizeof *builder->workers);
    for (unsigned i = 0; i < builder->worker_count; i++) {
        builder->workers[i].builder = builder;
        arena_init(&builder->workers[i].scratch);
    }
    for (unsigned i = 0; i < builder->build->index_count; i++)
        atomic_init(&builder->run_users[i], 2);
}

static void finish_workers(struct builder *builder) {
    struct build *build = builder->build;
    build->item_count = build->size = 0;
    for (unsigned i = 0; i < builder->worker_count; i++) {
        struct worker *worker = &builder->workers[i];
        build->item_count += worker->item_count;
        build->size += worker->size;
        for (unsigned j = 0; j < build->index_count; j++)
            run_release(&worker->runs[j]);
        arena_release(&worker->scratch);
        buf_release(&worker->key);
    }
    mem_free(builder->workers);
    if (build->item_count >= TRIM_FROM)
        mem_trim();
}

/* What the trees take, beside those that were there, against the limit. */
static enum status check_memory(const struct build *build) {
    uint64_t sum = atomic_load(&build->local->index_memory);
    for (unsigned i = 0; i < build->index_count; i++)
        sum += index_memory(build->indexes[i]);
    size_t most = build->local->settings.index_memory;
    return most != 0 && sum > most ? MEMORY_FULL : OK;
}

static enum status fail(struct build *build, enum status status, struct arena *arena,
                        struct failure *failure) {
    for (unsigned i = 0; i < build->index_count; i++)
        index_empty(build->indexes[i]);
    if (status == MEMORY_FULL)
        return failure_set(failure, arena, status,
                           "The indexes of table %.*s do not fit in the memory allowed for "
                           "indexes, %zu bytes; allow more",
                           BYTES_ARG(build->schema->name), build->local->settings.index_memory);
    if (status == STOPPING)
        return failure_set(failure, arena, status, "The server is stopping");
    return local_fault(status, arena, failure);
}

enum status build_run(struct build *build, struct arena *arena, struct failure *failure) {
    size_t most = build->local->settings.index_memory;
    struct builder builder = {.build = build,
                              .memory_max = most == 0 || most > SIZE_MAX / 2 ? SIZE_MAX : most * 2,
                              .worker_count = thread_count(build)};
    struct arena keys;
    picks_init(&builder.picks, build);
    arena_init(&keys);
    size_t spans = build->item_count < SMALL_TABLE ? 1 : builder.worker_count * SPANS_A_THREAD;
    set_status(&builder, cut_table(build, spans, &keys, &builder.spans));
    if (builder.spans.count < builder.worker_count)
        builder.worker_count = builder.spans.count == 0 ? 1 : (unsigned)builder.spans.count;
    start_workers(&builder);
    run_all(&builder, builder.worker_count, gather_thread);
    if (!ended(&builder) && build->index_count != 0)
        run_all(&builder, builder.worker_count, load_thread);
    finish_workers(&builder);
    arena_release(&keys);
    enum status status = (enum status)atomic_load(&builder.status);
    if (status == OK)
        status = check_memory(build);
    return status == OK ? OK : fail(build, status, arena, failure);
}
