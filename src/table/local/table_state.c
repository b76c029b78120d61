/* A table in memory: reference-counted, its schemas in an arena that only grows. */
#include "base/clock.h"
#include "base/mem.h"
#include "table/local/local_int.h"

struct index *index_new(const struct table_schema *schema, const struct index_schema *of) {
    struct index *index = mem_zalloc(sizeof(*index));
    index->schema = of;
    index->notes_end = &index->notes;
    keys_prepare_index(index, schema);
    return index;
}

struct index *index_new_expiry(struct bytes attribute) {
    struct index *index = mem_zalloc(sizeof(*index));
    index->expiry = attribute;
    index->notes_end = &index->notes;
    return index;
}

unsigned table_trees(const struct table *table, struct index **out) {
    unsigned count = table->index_count;
    for (unsigned i = 0; i < count; i++)
        out[i] = table->indexes[i];
    if (table->expiry != NULL)
        out[count++] = table->expiry;
    return count;
}

static void drop_notes(struct index *index) {
    while (index->notes != NULL) {
        struct index_note *gone = index->notes;
        index->notes = gone->next;
        mem_free(gone);
    }
    index->notes_end = &index->notes;
}

void index_empty(struct index *index) {
    if (index->tree != NULL)
        tree_free(index->tree);
    entry_hash_free(index->entry_hash);
    index->tree = NULL;
    index->entry_hash = NULL;
    drop_notes(index);
}

static void index_free(struct index *index) {
    index_empty(index);
    mem_free(index);
}

static void free_retired(void *what) {
    index_free(what);
}

void index_retire(struct index *index, struct reclaimer *reclaimer) {
    struct index *retired = mem_zalloc(sizeof(*retired));
    retired->tree = index->tree;
    retired->entry_hash = index->entry_hash;
    retired->notes = index->notes;
    index->tree = NULL;
    index->entry_hash = NULL;
    index->notes = NULL;
    index->notes_end = &index->notes;
    reclaimer_give(reclaimer, free_retired, retired);
}

struct table *table_new(uint32_t id, const struct table_schema *schema) {
    struct table *table = mem_zalloc(sizeof(*table));
    table->id = id;
    atomic_init(&table->refs, 1);
    arena_init(&table->arena);
    struct table_schema *copy = ARENA_NEW(&table->arena, struct table_schema);
    *copy = table_schema_copy(&table->arena, schema);
    atomic_init(&table->schema, copy);
    for (uint32_t i = 0; i < copy->index_count; i++)
        table->indexes[i] = index_new(copy, &copy->indexes[i]);
    table->index_count = copy->index_count;
    if (copy->expiry.size != 0)
        table->expiry = index_new_expiry(copy->expiry);
    table->about.status = PART_ACTIVE;
    return table;
}

void table_ref(struct table *table) {
    atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
}

static void table_free(void *what) {
    struct table *table = what;
    for (unsigned i = 0; i < table->index_count; i++)
        index_free(table->indexes[i]);
    if (table->expiry != NULL)
        index_free(table->expiry);
    while (table->retired != NULL) {
        struct index *gone = table->retired;
        table->retired = gone->retired;
        index_free(gone);
    }
    partition_filter_release(&table->partition_filter);
    arena_release(&table->arena);
    mem_free(table);
}

void table_unref(struct table *table) {
    if (atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) == 1)
        reclaimer_give(table->reclaimer, table_free, table);
}

static int64_t utc_day(int64_t ms) {
    return ms / (24 * 60 * 60 * 1000);
}

void table_describe(const struct table *table, struct arena *arena, struct table_description *out) {
    *out = table->about;
    out->schema = table_schema_copy(arena, table->schema);
    out->id = arena_copy(arena, table->about.id);
    out->item_count = table->item_count;
    out->size = table->size;
    if (utc_day(out->capacity_lowered_ms) != utc_day(clock_now_ms()))
        out->capacity_lowered_today = 0;
    struct index_state *states = ARENA_ARRAY(arena, struct index_state, table->index_count);
    for (unsigned i = 0; i < table->index_count; i++) {
        const struct index *index = table->indexes[i];
        states[i] =
            (struct index_state){.status = index->status,
                                 .backfilling = index->backfilling,
                                 .item_count = index->tree == NULL ? 0 : tree_count(index->tree),
                                 .size = index->tree == NULL ? 0 : index->size};
    }
    out->indexes = states;
}
