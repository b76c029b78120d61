/* Adding an index to a table that is in use.
 *
 * The index is registered (CREATING) in one commit, and the store's snapshot of that commit is what
 * a thread of its own builds the tree from. Meanwhile the writer writes down, in order, each
 * entry that comes or goes (index->notes). When the tree is built, the thread plays the notes to
 * it, and those that came meanwhile, until there are few left: the writer plays these and puts the
 * tree in place, between two groups. From then on the index is ACTIVE.
 *
 * The catalogue does not know of any of this: a start builds all indexes, so one that was being
 * built when the process ended is whole after the next start. If the build fails (there is not
 * enough memory for indexes), the index is dropped again, as if it had never been asked for. */
#include "table/local/writer.h"

#include "base/mem.h"
#include "base/thread.h"

struct backfill {
    struct backfill *next;
    struct local *local;
    struct table *table; /* with a reference: `index` and the schema live as long */
    struct index *index; /* the one readers see; the thread takes its notes, and no more */
    struct index shadow; /* the one that is built */
    const struct table_schema *schema;
    struct store_snapshot *snapshot;
    pthread_t thread;
    bool started;
    uint64_t item_count; /* when it began */
    bool cancelled;      /* the writer's: throw the result away */
    atomic_bool stop, finished;
    enum status status;
};

/* Plays the notes that there are by now to the tree that is being built, and frees them. Returns
 * how many there were. By the thread, and, when that has finished, by the writer. */
static size_t play_notes(struct backfill *backfill) {
    struct index *index = backfill->index, *shadow = &backfill->shadow;
    size_t count = 0;
    pthread_rwlock_rdlock(&backfill->local->state_lock);
    struct index_note *note = index->notes; /* the writer adds to them under the lock for writing */
    index->notes = NULL;
    index->notes_end = &index->notes;
    pthread_rwlock_unlock(&backfill->local->state_lock);
    while (note != NULL) {
        struct index_note *played = note;
        struct bytes key = bytes_of(note->key, note->key_size);
        if (key.size != 0 && note->put)
            index_put(shadow, key, note->covers);
        else if (key.size != 0)
            index_del(shadow, key);
        shadow->size += (uint64_t)note->size_change;
        note = note->next;
        mem_free(played);
        count++;
    }
    return count;
}

/* The writer is to find few. If it writes faster than they are played, it has the rest to do. */
static void play_most_notes(struct backfill *backfill) {
    enum { FEW = 1000, ROUNDS = 100 };
    for (unsigned i = 0; i < ROUNDS && !atomic_load(&backfill->stop); i++)
        if (play_notes(backfill) <= FEW)
            return;
}

static void *backfill_main(void *argument) {
    struct backfill *backfill = argument;
    struct index *indexes[] = {&backfill->shadow};
    struct arena arena;
    struct failure failure;
    arena_init(&arena);
    struct index_build build = {.local = backfill->local,
                                .table = backfill->table,
                                .schema = backfill->schema,
                                .snapshot = backfill->snapshot,
                                .indexes = indexes,
                                .index_count = 1,
                                .threads = 1, /* the others are for those who wait */
                                .stop = &backfill->stop,
                                .item_count = backfill->item_count};
    backfill->status = index_build_run(&build, (struct scope){&arena, &failure});
    arena_release(&arena);
    if (backfill->status == OK)
        play_most_notes(backfill);
    struct writer *writer = backfill->local->writer;
    atomic_store(&backfill->finished, true);
    writer_post_finished(writer);
    return NULL;
}

void backfill_start(struct local *local, struct table *table, struct index *index) {
    struct backfill *backfill = mem_zalloc(sizeof(*backfill));
    backfill->local = local;
    backfill->table = table;
    table_ref(table);
    backfill->index = index;
    backfill->shadow = (struct index){.schema = index->schema, .expiry = index->expiry};
    keys_prepare_index(&backfill->shadow, table->schema);
    backfill->schema = table->schema;
    backfill->item_count = table->item_count;
    backfill->snapshot = store_snapshot_take(local->store);
    backfill->next = local->writer->builds;
    local->writer->builds = backfill;
    backfill->started = thread_start(&backfill->thread, backfill_main, backfill) == 0;
    if (backfill->started)
        return;
    backfill->status = MEMORY_FULL; /* no thread: the index is dropped again */
    atomic_store(&backfill->finished, true);
    writer_post_finished(local->writer);
}

void backfill_cancel(struct local *local, const struct index *index) {
    for (struct backfill *b = local->writer->builds; b != NULL; b = b->next)
        if (b->index == index) {
            b->cancelled = true;
            atomic_store(&b->stop, true);
        }
}

bool backfill_runs(const struct local *local, const struct table *table) {
    for (const struct backfill *b = local->writer->builds; b != NULL; b = b->next)
        if (b->table == table && !b->cancelled && b->index->schema != NULL)
            return true;
    return false;
}

static void backfill_free(struct backfill *backfill) {
    if (backfill->started)
        pthread_join(backfill->thread, NULL);
    store_snapshot_release(backfill->local->store, backfill->snapshot);
    index_retire(&backfill->shadow, backfill->local->reclaimer);
    table_unref(backfill->table);
    mem_free(backfill);
}

void backfill_stop_all(struct local *local) {
    for (struct backfill *b = local->writer->builds; b != NULL; b = b->next)
        atomic_store(&b->stop, true);
    while (local->writer->builds != NULL) {
        struct backfill *gone = local->writer->builds;
        local->writer->builds = gone->next;
        backfill_free(gone);
    }
}

/* --- the end of one --- */

static void install_index(struct backfill *backfill) {
    struct local *local = backfill->local;
    struct index *index = backfill->index;
    play_notes(backfill); /* the last ones; nobody sees the shadow yet */
    pthread_rwlock_wrlock(&local->state_lock);
    index_empty(index);
    index->tree = backfill->shadow.tree;
    index->entry_hash = backfill->shadow.entry_hash;
    index->size = backfill->shadow.size;
    index->status = PART_ACTIVE;
    index->backfilling = false;
    local_sum_memory(local);
    pthread_rwlock_unlock(&local->state_lock);
    backfill->shadow.tree = NULL;
    backfill->shadow.entry_hash = NULL;
}

/* As an alteration that drops it. If the store refuses that, a recovery will build the index. */
static void drop_failed(struct backfill *backfill) {
    struct arena arena;
    arena_init(&arena);
    struct alteration alteration = {0};
    const struct index *index = backfill->index;
    const struct table_schema *schema = backfill->table->schema;
    struct change change = {.kind = index->schema != NULL ? CHANGE_UPDATE_TABLE : CHANGE_EXPIRY,
                            .arena = &arena,
                            .table = schema->name,
                            .alteration = &alteration,
                            .expiry = index->expiry};
    if (index->schema != NULL)
        alteration.drop_index = index->schema->name;
    table_ddl_execute(backfill->local, &change);
    arena_release(&arena);
}

void backfill_finish(struct local *local) {
    struct backfill **link = &local->writer->builds;
    while (*link != NULL) {
        struct backfill *backfill = *link;
        if (!atomic_load(&backfill->finished)) {
            link = &backfill->next;
            continue;
        }
        *link = backfill->next;
        if (!backfill->cancelled && backfill->status == OK)
            install_index(backfill);
        else if (!backfill->cancelled)
            drop_failed(backfill);
        backfill_free(backfill);
    }
}
