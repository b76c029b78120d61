/* Names of partitions, counted and listed (ranking.h): from a count index, which the first to ask
 * has made. Any thread. */
#include "table/local/count_index.h"

/* How often the tree is made for one question: it may be evicted again before it is read. */
enum { TRIES = 3, NAME_ROOM = 512 };

struct names_query {
    struct local *local;
    const struct partition_names *which;
    struct scope in;
    struct count_index_target target;
    struct name_span *spans; /* to be counted; or, of one, */
    size_t count;
    struct partition_list *list; /* to be listed, */
    size_t limit;                /* at most so many */
};

/* --- which tree --- */

/* Whether the partition, and what stands next in an entry, are one string each. */
static bool is_of_strings(const struct index *index, unsigned parts) {
    bool good = index->shape.partition_count == 1 && index->shape.own_count >= parts;
    for (unsigned i = 0; i < parts && good; i++)
        good = index->shape.parts[i].type == VALUE_S;
    return good;
}

static void put_prefix(struct names_query *query) {
    const struct partition_names *which = query->which;
    uint8_t memory[NAME_ROOM];
    struct buf to = {0}, list = buf_in(memory, sizeof(memory));
    struct value begin = value_string(which->prefix), partition = value_string(which->list);
    key_put_prefix(&to, &begin);
    query->target.begins = (uint32_t)to.size;
    if (query->target.list != NULL) {
        key_put(&list, &partition);
        keys_put_entry_partition(&to, buf_bytes(&list), (struct bytes){0});
    }
    query->target.prefix = arena_copy(query->in.arena, buf_bytes(&to));
    buf_release(&to);
    buf_release(&list);
}

/* The caller holds state_lock. */
static enum status find_target(struct names_query *query) {
    const struct partition_names *which = query->which;
    struct scope in = query->in;
    struct count_index_target *target = &query->target;
    const struct table *table = local_table(query->local, which->table);
    if (table == NULL)
        return failure_set(in.failure, in.arena, NO_TABLE, "Requested resource not found");
    *target = (struct count_index_target){.table = table, .parts = COUNT_INDEX_NAMES};
    enum status status = local_index(table, which->index, in, &target->index);
    if (status == OK && which->list.size != 0)
        status = local_index(table, which->list_index, in, &target->list);
    if (status != OK)
        return status;
    if (!is_of_strings(target->index, 1) ||
        (target->list != NULL && !is_of_strings(target->list, 2)))
        return failure_set(in.failure, in.arena, INVALID,
                           "Partitions have names only if their keys are strings");
    put_prefix(query);
    return OK;
}

/* --- what it says; under state_lock --- */

/* How many names stand before this one. */
static uint64_t rank_of(const struct tree *tree, struct bytes name) {
    uint8_t memory[NAME_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    struct value value = value_string(name);
    key_put_prefix(&to, &value);
    uint64_t rank = tree_rank(tree, buf_bytes(&to));
    buf_release(&to);
    return rank;
}

static void count_span(const struct tree *tree, struct name_span *span) {
    uint64_t low = span->low.size == 0 ? 0 : rank_of(tree, span->low);
    uint64_t high = span->high.size == 0 ? tree_count(tree) : rank_of(tree, span->high);
    span->count = high > low ? high - low : 0;
}

static enum status list_span(struct names_query *query, const struct tree *tree) {
    struct name_span span = *query->spans;
    struct partition_list list = {0};
    struct arena *arena = query->in.arena;
    struct tree_cursor cursor = {0};
    enum status status = OK;
    count_span(tree, &span);
    size_t count = span.count < query->limit ? (size_t)span.count : query->limit;
    list.names = ARENA_ARRAY(arena, struct bytes, count + 1);
    list.more = span.count > count;
    uint64_t first = span.low.size == 0 ? 0 : rank_of(tree, span.low);
    bool on = count != 0 && tree_seek_rank(&cursor, tree, first);
    for (; on && list.count < count && status == OK; on = tree_next(&cursor)) {
        struct bytes key = arena_copy(arena, tree_key(&cursor));
        status = key_take_bytes(&key, VALUE_S, arena, &list.names[list.count++]);
    }
    tree_cursor_release(&cursor);
    *query->list = list;
    return status == OK ? OK : local_fault(status, query->in);
}

static enum status answer(struct names_query *query, const struct tree *tree) {
    if (query->list != NULL)
        return list_span(query, tree);
    for (size_t i = 0; i < query->count; i++)
        count_span(tree, &query->spans[i]);
    return OK;
}

/* --- the whole --- */

/* A small index is counted on the spot. */
static bool may_make(const struct names_query *query) {
    return !query->which->nonblocking || tree_count(query->target.index->tree) <= COUNT_INDEX_FEW;
}

/* Has the tree made. The caller holds state_lock, which is let go of. */
static bool make_tree(struct names_query *query) {
    struct table *table = (struct table *)(uintptr_t)query->target.table;
    table_ref(table);
    pthread_rwlock_unlock(&query->local->state_lock);
    bool made = count_index_make(query->local, &query->target);
    table_unref(table);
    return made;
}

static enum status run(struct names_query *query) {
    struct scope in = query->in;
    bool made = true;
    for (unsigned tries = 0; tries <= TRIES && made; tries++) {
        pthread_rwlock_rdlock(&query->local->state_lock);
        enum status status = find_target(query);
        const struct tree *tree =
            status == OK ? count_index_find(query->local, &query->target) : NULL;
        if (tree != NULL)
            status = answer(query, tree);
        else if (status == OK && !may_make(query))
            status = failure_set(in.failure, in.arena, WOULD_BLOCK,
                                 "This has to be counted first. Try again soon.");
        else if (status == OK) {
            made = make_tree(query);
            continue;
        }
        pthread_rwlock_unlock(&query->local->state_lock);
        return status;
    }
    return failure_set(in.failure, in.arena, UNSUPPORTED,
                       "There is no memory to count the partitions.");
}

enum status local_partitions_count(struct engine *engine, const struct partition_names *which,
                                   struct scope in, struct name_span *spans, size_t count) {
    struct names_query query = {
        .local = (struct local *)engine, .which = which, .in = in, .spans = spans, .count = count};
    return run(&query);
}

enum status local_partitions_list(struct engine *engine, const struct partition_names *which,
                                  const struct name_span *span, size_t limit, struct scope in,
                                  struct partition_list *out) {
    struct name_span copy = *span;
    struct names_query query = {.local = (struct local *)engine,
                                .which = which,
                                .in = in,
                                .spans = &copy,
                                .list = out,
                                .limit = limit};
    return run(&query);
}
