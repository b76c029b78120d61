/* Rank look-ups: where items stand in an index. Any thread.
 *
 * An item's entry is made of the item itself, and the tree tells how many stand before it. Both
 * must be of the same commit: hot items are found in the cache while `state_lock` is held, so that
 * nobody writes to it. The others are read at a snapshot, without the lock; then the tree itself
 * says whether they still are what was read, since an entry that is in it is its item's entry now.
 * What changed meanwhile is read again; at last under the lock. */
#include "table/local/count_index.h"
#include "table/local/covering.h"
#include "table/local/writer.h"

#include <assert.h>

/* How often items are read without the lock before they are read under it; and how often a request
 * has groups counted before it counts them itself. */
enum { TRIES = 3, COUNTS = 3 };

enum { WANTED_MAX = 16 }; /* items that are looked for at once */

/* What is known of one of the items. */
struct known_entry {
    struct bytes key;   /* in the store */
    struct bytes entry; /* in the tree; empty: the item is not there, or not in the index */
    enum { UNKNOWN, READ, GIVEN } state; /* READ: at lookup->snapshot */
    bool ranked; /* under the present lock: `rank` is its place in the tree */
    uint64_t rank;
};

/* A partition of the index, and the ranks of its first entry and of the first one after it. */
struct partition {
    struct bytes prefix;
    uint64_t from, to;
};

struct lookup {
    struct local *local;
    const struct rank_request *request;
    struct arena *arena;
    struct failure *failure;
    struct table *table;
    const struct table_schema *schema;
    const struct index *index;
    struct known_entry *known_entry;
    struct snapshot *snapshot; /* what was READ was read at, or NULL */
    struct table *held;
    struct entry_shape shape;
    struct partition partition; /* the last one looked at */
    struct bytes uncounted;     /* a partition whose groups should be counted first; empty: none */
    unsigned counts;            /* how often that was so */
    struct head_hash head;      /* of the last entry asked for */
};

enum { KEY_ROOM = 512 }; /* bytes of most keys; longer ones take memory of their own */

/* --- entries --- */

static enum status set_key(struct lookup *lookup, size_t at) {
    const struct item *key = &lookup->request->keys[at];
    struct rules_context rules = {lookup->schema, lookup->arena, lookup->failure};
    enum status status = rules_check_key(&rules, key);
    if (status != OK)
        return status;
    uint8_t memory[KEY_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    keys_put_item(&to, lookup->table, lookup->schema, key);
    lookup->known_entry[at] =
        (struct known_entry){.key = arena_copy(lookup->arena, buf_bytes(&to))};
    buf_release(&to);
    return OK;
}

/* An entry that is given, not read. */
static enum status set_entry(struct lookup *lookup, size_t at) {
    struct bound bound = {lookup->request->keys[at], false};
    uint8_t memory[KEY_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    if (bound.at.count != lookup->index->shape.count || !keys_put_bound(&to, lookup->index, &bound))
        return failure_set(lookup->failure, lookup->arena, INVALID,
                           "The provided key element does not match the schema");
    struct bytes entry = arena_copy(lookup->arena, buf_bytes(&to));
    buf_release(&to);
    lookup->known_entry[at] = (struct known_entry){.entry = entry, .state = GIVEN};
    return OK;
}

/* Makes the entry of an item as it is stored. */
static enum status take_stored(struct lookup *lookup, struct known_entry *known_entry,
                               struct bytes stored) {
    uint8_t memory[KEY_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    struct value values[ENTRY_PARTS_MAX];
    const struct entry_shape *shape = &lookup->index->shape;
    struct item_wanted wanted = {lookup->local->names, shape->sorted, shape->count};
    enum status status = item_decode_some(stored, &wanted, lookup->arena, values);
    if (status != OK)
        return local_fault(status, (struct scope){lookup->arena, lookup->failure});
    keys_put_sorted(&to, lookup->index, values); /* an item that is not in the index has none */
    known_entry->entry = arena_copy(lookup->arena, buf_bytes(&to));
    buf_release(&to);
    return OK;
}

/* Reads an item at a snapshot and makes its entry. */
static enum status read_known(struct lookup *lookup, const struct snapshot *snapshot,
                              struct known_entry *known_entry) {
    struct bytes stored;
    enum status status =
        snapshot_read(snapshot, hashed_key_of(known_entry->key), lookup->arena, &stored);
    if (status == OK)
        return take_stored(lookup, known_entry, stored);
    known_entry->entry = (struct bytes){0};
    return status == NOT_FOUND
               ? OK
               : local_fault(status, (struct scope){lookup->arena, lookup->failure});
}

/* --- what is current; all of it under state_lock --- */

static enum status find_index(struct lookup *lookup) {
    const struct rank_request *request = lookup->request;
    struct table *table = local_table(lookup->local, request->table);
    const struct index *index = NULL;
    if (table == NULL)
        return failure_set(lookup->failure, lookup->arena, NO_TABLE,
                           "Requested resource not found");
    enum status status =
        local_index(table, request->index, (struct scope){lookup->arena, lookup->failure}, &index);
    if (status != OK)
        return status;
    assert(index != NULL); /* it is found, or the status says why not */
    if (index == lookup->index)
        return OK;
    lookup->table = table;
    lookup->schema = table->schema;
    lookup->index = index;
    if (request->group_parts > index->schema->keys.sort_count)
        return failure_set(lookup->failure, lookup->arena, INVALID,
                           "The index does not have as many sort attributes");
    for (size_t i = 0; i < request->count && status == OK; i++)
        status = request->as_if ? set_entry(lookup, i) : set_key(lookup, i);
    return status;
}

/* Whether what was read at an earlier snapshot is still so. */
static bool is_current(const struct lookup *lookup, const struct known_entry *known_entry) {
    if (lookup->snapshot != NULL && lookup->snapshot->commit == lookup->local->snapshot->commit)
        return true;
    return known_entry->entry.size != 0 && tree_has(lookup->index->tree, known_entry->entry);
}

static enum status find_cached(struct lookup *lookup, struct known_entry *known_entry) {
    struct bytes stored =
        cache_get(lookup->local->cache, hashed_key_of(known_entry->key), UINT64_MAX, lookup->arena);
    if (stored.data == NULL)
        return OK;
    known_entry->state = READ;
    return take_stored(lookup, known_entry, stored);
}

/* An item whose entry is looked up in the index's entry hash. */
struct wanted {
    struct known_entry *known_entry;
    struct entry_search search;
};

static void prepare_wanted(struct lookup *lookup, struct known_entry *known_entry,
                           struct wanted *out) {
    out->known_entry = known_entry;
    bool fits = entry_search_begin(&out->search, lookup->index, known_entry->key, &lookup->head);
    assert(fits); /* the key was made here */
    (void)fits;
}

/* The candidate that is in the tree. False if the hash cannot tell. */
static bool take_entry(const struct lookup *lookup, struct wanted *wanted, struct bytes entry) {
    struct known_entry *known_entry = wanted->known_entry;
    while (entry.size != 0 && !known_entry->ranked) {
        if (!entry_search_next(&wanted->search, lookup->arena, &entry))
            return false;
        if (entry.size != 0)
            known_entry->rank = tree_find(lookup->index->tree, entry, &known_entry->ranked);
    }
    known_entry->entry = entry;
    known_entry->state = READ;
    return true;
}

/* Looks several up in the entry hash at once. What it cannot tell may be in the cache. */
static enum status find_wanted(struct lookup *lookup, struct wanted *wanted, size_t count) {
    struct bytes entries[WANTED_MAX] = {0};
    uint64_t ranks[WANTED_MAX];
    bool has_middle[WANTED_MAX], has[WANTED_MAX];
    enum status status = OK;
    for (size_t i = 0; i < count; i++)
        entry_search_seek(&wanted[i].search);
    for (size_t i = 0; i < count; i++)
        has_middle[i] = entry_search_next(&wanted[i].search, lookup->arena, &entries[i]);
    tree_find_many(lookup->index->tree, entries, count, ranks, has);
    for (size_t i = 0; i < count && status == OK; i++) {
        struct known_entry *known_entry = wanted[i].known_entry;
        known_entry->ranked = has[i] && entries[i].size != 0;
        known_entry->rank = ranks[i];
        if (!has_middle[i] || !take_entry(lookup, &wanted[i], entries[i]))
            status = find_cached(lookup, known_entry);
    }
    return status;
}

static bool is_known(const struct lookup *lookup, const struct known_entry *known_entry) {
    return known_entry->state == GIVEN ||
           (known_entry->state == READ && is_current(lookup, known_entry));
}

/* Finds what is current; *missing tells how many items must be read. */
static enum status find_current(struct lookup *lookup, size_t *missing) {
    struct wanted wanted[WANTED_MAX];
    enum status status = OK;
    size_t count = 0;
    *missing = 0;
    for (size_t i = 0; i < lookup->request->count && status == OK; i++) {
        struct known_entry *known_entry = &lookup->known_entry[i];
        known_entry->ranked = false;
        if (is_known(lookup, known_entry))
            continue;
        known_entry->state = UNKNOWN;
        if (lookup->index->entry_hash == NULL)
            status = find_cached(lookup, known_entry);
        else
            prepare_wanted(lookup, known_entry, &wanted[count++]);
        if (count == WANTED_MAX) {
            status = find_wanted(lookup, wanted, count);
            count = 0;
        }
    }
    if (status == OK && count != 0)
        status = find_wanted(lookup, wanted, count);
    for (size_t i = 0; i < lookup->request->count; i++)
        *missing += lookup->known_entry[i].state == UNKNOWN;
    return status;
}

static enum status read_missing(struct lookup *lookup, const struct snapshot *snapshot) {
    enum status status = OK;
    for (size_t i = 0; i < lookup->request->count && status == OK; i++)
        if (lookup->known_entry[i].state == UNKNOWN) {
            status = read_known(lookup, snapshot, &lookup->known_entry[i]);
            lookup->known_entry[i].state = READ;
        }
    return status;
}

/* --- counting; under state_lock --- */

/* What stands before the first key that is greater than all that begin with the prefix. */
static uint64_t rank_after(const struct index *index, struct bytes prefix) {
    const struct tree *tree = index->tree;
    uint8_t memory[KEY_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    buf_put(&to, prefix);
    uint64_t rank = key_after_prefix(&to, 0) ? tree_rank(tree, buf_bytes(&to)) : tree_count(tree);
    buf_release(&to);
    return rank;
}

static enum status set_partition(struct lookup *lookup, struct bytes entry) {
    struct partition *partition = &lookup->partition;
    size_t size = keys_entry_span(lookup->index, entry, 0);
    if (size == 0)
        return local_fault(DAMAGED, (struct scope){lookup->arena, lookup->failure});
    struct bytes prefix = bytes_of(entry.data, size);
    if (partition->prefix.size != 0 && bytes_equal(partition->prefix, prefix))
        return OK;
    *partition = (struct partition){prefix, tree_rank(lookup->index->tree, prefix),
                                    rank_after(lookup->index, prefix)};
    return OK;
}

/* How many groups there are from the entry with rank `from` on and before that with rank `to`, one
 * by one. */
static uint64_t walk_groups(const struct lookup *lookup, uint64_t from, uint64_t to) {
    const struct tree *tree = lookup->index->tree;
    uint8_t memory[2][KEY_ROOM];
    struct tree_cursor cursor = {.key = buf_in(memory[0], KEY_ROOM)};
    struct buf after = buf_in(memory[1], KEY_ROOM);
    uint64_t count = 0;
    while (from < to && tree_seek_rank(&cursor, tree, from)) {
        struct bytes entry = tree_key(&cursor);
        size_t size = keys_entry_span(lookup->index, entry, lookup->request->group_parts);
        buf_clear(&after);
        buf_put(&after, bytes_of(entry.data, size));
        key_after_prefix(&after, 0);
        from = tree_rank(tree, buf_bytes(&after));
        count++;
    }
    buf_release(&after);
    tree_cursor_release(&cursor);
    return count;
}

/* The entries that agree in their first sort attributes, by rank: [from, to). */
struct group {
    struct bytes prefix; /* what they begin with */
    uint64_t from, to;
};

/* Counts the groups on either side of one. */
static void count_groups_around(struct lookup *lookup, const struct group *group,
                                struct rank_reply *out) {
    const struct partition *partition = &lookup->partition;
    struct count_index_target target = {.table = lookup->table,
                                        .index = lookup->index,
                                        .parts = lookup->request->group_parts,
                                        .prefix = partition->prefix};
    const struct tree *tree = NULL;
    if (partition->to - partition->from > COUNT_INDEX_FEW)
        tree = count_index_find(lookup->local, &target);
    if (tree != NULL) {
        bool has;
        out->groups_before = tree_find(tree, group->prefix, &has);
        out->groups_after = tree_count(tree) - out->groups_before - has;
    } else if (partition->to - partition->from > COUNT_INDEX_FEW && lookup->counts < COUNTS) {
        lookup->uncounted = partition->prefix;
    } else {
        out->groups_before = walk_groups(lookup, partition->from, group->from);
        out->groups_after = walk_groups(lookup, group->to, partition->to);
    }
}

static enum status count_group(struct lookup *lookup, struct bytes entry, struct rank_reply *out) {
    const struct rank_request *request = lookup->request;
    const struct partition *partition = &lookup->partition;
    size_t size = keys_entry_span(lookup->index, entry, request->group_parts);
    if (size == 0)
        return local_fault(DAMAGED, (struct scope){lookup->arena, lookup->failure});
    struct group group = {.prefix = bytes_of(entry.data, size)};
    group.from = tree_rank(lookup->index->tree, group.prefix);
    group.to = rank_after(lookup->index, group.prefix);
    out->group_before = group.from - partition->from;
    out->group_after = partition->to - group.to;
    if (request->groups)
        count_groups_around(lookup, &group, out);
    return OK;
}

static enum status fill_reply(struct lookup *lookup, const struct known_entry *known_entry,
                              struct rank_reply *out) {
    const struct rank_request *request = lookup->request;
    struct bytes entry = known_entry->entry;
    *out = (struct rank_reply){0};
    if (entry.size == 0)
        return OK;
    uint64_t rank = known_entry->rank;
    out->found = known_entry->ranked;
    if (!known_entry->ranked)
        rank = tree_find(lookup->index->tree, entry, &out->found);
    if (keys_entry_decode(&lookup->shape, entry, lookup->arena, &out->entry) != OK)
        return local_fault(DAMAGED, (struct scope){lookup->arena, lookup->failure});
    if (request->entries_only)
        return OK;
    enum status status = set_partition(lookup, entry);
    if (status != OK)
        return status;
    out->before = rank - lookup->partition.from;
    out->after = lookup->partition.to - rank - out->found;
    return request->group_parts == 0 ? OK : count_group(lookup, entry, out);
}

uint64_t rank_lookup_total(const struct index *index, struct bytes prefix) {
    return rank_after(index, prefix) - tree_rank(index->tree, prefix);
}

/* Never makes a count index itself: the commit would have to wait for it. */
bool rank_lookup_entry(struct commit_group *group, const struct rank_ask *ask, struct bytes entry,
                       struct rank_reply *out) {
    struct failure failure;
    struct rank_request request = {.group_parts = ask->ranks->group_parts,
                                   .groups = ask->ranks->groups};
    struct lookup lookup = {.local = group->local,
                            .request = &request,
                            .arena = &group->arena,
                            .failure = &failure,
                            .table = ask->table,
                            .index = ask->index};
    *out = (struct rank_reply){0};
    if (entry.size == 0)
        return true;
    uint64_t rank = tree_find(ask->index->tree, entry, &out->found);
    if (set_partition(&lookup, entry) != OK)
        return false;
    out->before = rank - lookup.partition.from;
    out->after = lookup.partition.to - rank - out->found;
    if (request.group_parts != 0 && count_group(&lookup, entry, out) != OK)
        return false;
    return lookup.uncounted.size == 0;
}

static enum status fill_replies(struct lookup *lookup, struct rank_reply *out) {
    enum status status = OK;
    lookup->partition = (struct partition){0};
    lookup->uncounted = (struct bytes){0};
    keys_shape(&lookup->shape, lookup->index, lookup->arena);
    for (size_t i = 0; i < lookup->request->count && status == OK && lookup->uncounted.size == 0;
         i++)
        status = fill_reply(lookup, &lookup->known_entry[i], &out[i]);
    if (status == OK && lookup->uncounted.size != 0 && lookup->request->nonblocking)
        status = failure_set(lookup->failure, lookup->arena, WOULD_BLOCK,
                             "This has to be counted first. Try again soon.");
    return status;
}

/* --- the whole --- */

/* Holds the table and the current snapshot, instead of those held before. */
static void take_snapshot(struct lookup *lookup) {
    struct snapshot *snapshot = lookup->snapshot;
    struct table *table = lookup->held;
    lookup->snapshot = snapshot_hold(lookup->local);
    lookup->held = lookup->table;
    table_ref(lookup->held);
    pthread_rwlock_unlock(&lookup->local->state_lock);
    if (snapshot != NULL)
        snapshot_drop(snapshot);
    if (table != NULL)
        table_unref(table);
}

/* Has the count index of the groups made. The snapshot is not held meanwhile. */
static void make_group_index(struct lookup *lookup) {
    struct count_index_target target = {.table = lookup->table,
                                        .index = lookup->index,
                                        .parts = lookup->request->group_parts,
                                        .prefix = lookup->uncounted};
    lookup->counts++;
    take_snapshot(lookup);
    snapshot_drop(lookup->snapshot);
    lookup->snapshot = NULL;
    for (size_t i = 0; i < lookup->request->count; i++)
        if (lookup->known_entry[i].state == READ)
            lookup->known_entry[i].state = UNKNOWN;
    if (!count_index_make(lookup->local, &target))
        lookup->counts = COUNTS;
}

static enum status lookup_run(struct lookup *lookup, struct rank_reply *out) {
    for (unsigned tries = 0;; tries++) {
        size_t missing = 0;
        pthread_rwlock_rdlock(&lookup->local->state_lock);
        enum status status = find_index(lookup);
        if (status == OK)
            status = find_current(lookup, &missing);
        if (status == OK && missing != 0 && tries == TRIES) {
            status = read_missing(lookup, lookup->local->snapshot);
            missing = 0;
        }
        if (status == OK && missing == 0)
            status = fill_replies(lookup, out);
        if (status == OK && missing == 0 && lookup->uncounted.size != 0) {
            make_group_index(lookup);
            continue;
        }
        if (status != OK || missing == 0) {
            pthread_rwlock_unlock(&lookup->local->state_lock);
            return status;
        }
        take_snapshot(lookup);
        status = read_missing(lookup, lookup->snapshot);
        if (status != OK)
            return status;
    }
}

enum status local_rank_lookup(struct engine *engine, const struct rank_request *request,
                              struct scope in, struct rank_reply *out) {
    struct known_entry one = {0};
    struct lookup lookup = {.local = (struct local *)engine,
                            .request = request,
                            .arena = in.arena,
                            .failure = in.failure,
                            .known_entry = &one};
    if (request->count > 1)
        lookup.known_entry = ARENA_ARRAY(in.arena, struct known_entry, request->count);
    enum status status = lookup_run(&lookup, out);
    if (lookup.snapshot != NULL)
        snapshot_drop(lookup.snapshot);
    if (lookup.held != NULL)
        table_unref(lookup.held);
    return status;
}
