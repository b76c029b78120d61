/* Where items stand in an index.
 *
 * An item's entry is made of the item itself, and the tree tells how many stand before it. Both
 * must be of one moment: hot items are found in the cache while `moment` is held, which nobody
 * writes meanwhile. The others are read at a view, without the lock; after that the tree itself
 * says whether they still are what was read, since an entry that is in it is its item's entry now.
 * What changed meanwhile is read again; at last under the lock. */
#include "table/local/counted.h"

/* How often items are read without the lock before they are read under it; and how often a request
 * has groups counted before it counts them itself. */
enum { TRIES = 3, COUNTS = 3 };

enum { WANTED_MAX = 16 }; /* items that are looked for at once */

/* What is known of one of the items. */
struct known {
    struct bytes key;   /* in the store */
    struct bytes entry; /* in the tree; empty: the item is not there, or not in the index */
    enum { UNKNOWN, READ, GIVEN } state; /* READ: at places->view */
    bool ranked; /* under the present lock: `rank` is its place in the tree */
    uint64_t rank;
};

/* A partition of the index, and the ranks of its first entry and of the first one after it. */
struct partition {
    struct bytes prefix;
    uint64_t from, to;
};

struct places {
    struct local *local;
    const struct place_request *request;
    struct arena *arena;
    struct failure *failure;
    struct table *table;
    const struct table_schema *schema;
    const struct index *index;
    struct known *known;
    struct view *view; /* what was READ was read at, or NULL */
    struct table *held;
    struct entry_shape shape;
    struct partition partition; /* the last one looked at */
    struct bytes uncounted;     /* a partition whose groups should be counted first; empty: none */
    unsigned counts;            /* how often that was so */
    struct bytes head;          /* of the last entry asked for, */
    uint64_t head_hash;         /* for the finder */
};

/* The table's number, which a key in the store begins with and an entry does not. */
enum { KEYS_TABLE_SIZE = 4 };

enum { KEY_ROOM = 512 }; /* bytes of most keys; longer ones take memory of their own */

/* --- entries --- */

static enum status set_key(struct places *places, size_t at) {
    const struct item *key = &places->request->keys[at];
    struct rules_context rules = {places->schema, places->arena, places->failure};
    enum status status = rules_check_key(&rules, key);
    if (status != OK)
        return status;
    uint8_t memory[KEY_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    keys_put_item(&to, places->table, places->schema, key);
    places->known[at] = (struct known){.key = arena_copy(places->arena, buf_bytes(&to))};
    buf_release(&to);
    return OK;
}

/* An entry that is given, not read. */
static enum status set_entry(struct places *places, size_t at) {
    struct bound bound = {places->request->keys[at], false};
    uint8_t memory[KEY_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    if (bound.at.count != places->index->shape.count || !keys_put_bound(&to, places->index, &bound))
        return failure_set(places->failure, places->arena, INVALID,
                           "The provided key element does not match the schema");
    struct bytes entry = arena_copy(places->arena, buf_bytes(&to));
    buf_release(&to);
    places->known[at] = (struct known){.entry = entry, .state = GIVEN};
    return OK;
}

/* Makes the entry of an item as it is stored. */
static enum status take_stored(struct places *places, struct known *known, struct bytes stored) {
    uint8_t memory[KEY_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    enum status status =
        keys_put_stored(&to, places->index, stored, places->local->names, places->arena);
    known->entry = arena_copy(places->arena, buf_bytes(&to));
    buf_release(&to);
    if (status != OK && status != NOT_FOUND)
        return local_fault(status, places->arena, places->failure);
    return OK;
}

/* Reads an item at a view. */
static enum status read_known(struct places *places, const struct view *view, struct known *known) {
    struct bytes stored;
    enum status status = local_read(places->local, view, known->key, places->arena, &stored);
    if (status == OK)
        return take_stored(places, known, stored);
    known->entry = (struct bytes){0};
    return status == NOT_FOUND ? OK : local_fault(status, places->arena, places->failure);
}

/* --- what is current; all of it under moment --- */

static enum status find(struct places *places) {
    const struct place_request *request = places->request;
    struct table *table = local_table(places->local, request->table);
    const struct index *index = NULL;
    if (table == NULL)
        return failure_set(places->failure, places->arena, NO_TABLE,
                           "Requested resource not found");
    enum status status = local_index(table, request->index, places->arena, places->failure, &index);
    if (status != OK || index == places->index)
        return status;
    places->table = table;
    places->schema = table->schema;
    places->index = index;
    if (request->group_parts > index->schema->keys.sort_count)
        return failure_set(places->failure, places->arena, INVALID,
                           "The index does not have as many sort attributes");
    for (size_t i = 0; i < request->count && status == OK; i++)
        status = request->as_if ? set_entry(places, i) : set_key(places, i);
    return status;
}

/* Whether what was read at an earlier view is so now. */
static bool still(const struct places *places, const struct known *known) {
    if (places->view != NULL && places->view->commit == places->local->view->commit)
        return true;
    return known->entry.size != 0 && tree_has(places->index->tree, known->entry);
}

static enum status find_cached(struct places *places, struct known *known) {
    struct bytes stored;
    if (!cache_get(places->local->cache, known->key, UINT64_MAX, places->arena, &stored))
        return OK;
    known->state = READ;
    return take_stored(places, known, stored);
}

/* An item whose entry the index's finder is asked for. */
struct wanted {
    struct known *known;
    struct bytes head, tail; /* of its entry, */
    uint64_t hash;           /* and theirs */
    struct finder_walk walk;
};

static void want(struct places *places, struct known *known, struct wanted *out) {
    struct bytes key = bytes_skip(known->key, KEYS_TABLE_SIZE);
    size_t partition = keys_entry_span(places->index, key, 0);
    out->known = known;
    out->head = bytes_of(key.data, partition);
    out->tail = bytes_skip(key, partition);
    if (places->head.size == 0 || !bytes_equal(places->head, out->head)) {
        places->head = out->head;
        places->head_hash = finder_hash_head(out->head);
    }
    out->hash = finder_hash_tail(places->head_hash, out->tail);
    finder_soon(places->index->finder, out->hash);
}

/* The next entry that may be the item's; empty if there is none. False if the finder cannot tell.
 */
static bool next_entry(const struct places *places, struct wanted *wanted, struct bytes *out) {
    const struct finder_walk *walk = &wanted->walk;
    *out = (struct bytes){0};
    if (!finder_next(&wanted->walk))
        return true;
    if (!walk->told)
        return false;
    size_t size = wanted->head.size + walk->size + wanted->tail.size;
    uint8_t *to = arena_alloc(places->arena, size);
    *out = bytes_of(to, size);
    memcpy(to, wanted->head.data, wanted->head.size);
    memcpy(to + wanted->head.size, walk->middle, walk->size);
    memcpy(to + wanted->head.size + walk->size, wanted->tail.data, wanted->tail.size);
    return true;
}

/* The candidate that is in the tree. False if the finder cannot tell. */
static bool take_entry(const struct places *places, struct wanted *wanted, struct bytes entry) {
    struct known *known = wanted->known;
    while (entry.size != 0 && !known->ranked) {
        if (!next_entry(places, wanted, &entry))
            return false;
        if (entry.size != 0)
            known->rank = tree_find(places->index->tree, entry, &known->ranked);
    }
    known->entry = entry;
    known->state = READ;
    return true;
}

/* Asks the finder for several at once. What it cannot tell may be in the cache. */
static enum status find_wanted(struct places *places, struct wanted *wanted, size_t count) {
    struct bytes entries[WANTED_MAX] = {0};
    uint64_t ranks[WANTED_MAX];
    bool told[WANTED_MAX], has[WANTED_MAX];
    enum status status = OK;
    for (size_t i = 0; i < count; i++) {
        finder_seek(&wanted[i].walk, places->index->finder, wanted[i].hash);
        finder_prefetch(places->index->finder, wanted[i].hash);
    }
    for (size_t i = 0; i < count; i++)
        told[i] = next_entry(places, &wanted[i], &entries[i]);
    tree_find_many(places->index->tree, entries, count, ranks, has);
    for (size_t i = 0; i < count && status == OK; i++) {
        struct known *known = wanted[i].known;
        known->ranked = has[i] && entries[i].size != 0;
        known->rank = ranks[i];
        if (!told[i] || !take_entry(places, &wanted[i], entries[i]))
            status = find_cached(places, known);
    }
    return status;
}

static bool is_known(const struct places *places, const struct known *known) {
    return known->state == GIVEN || (known->state == READ && still(places, known));
}

/* Finds what is current; *missing tells how many items must be read. */
static enum status find_current(struct places *places, size_t *missing) {
    struct wanted wanted[WANTED_MAX];
    enum status status = OK;
    size_t count = 0;
    *missing = 0;
    for (size_t i = 0; i < places->request->count && status == OK; i++) {
        struct known *known = &places->known[i];
        known->ranked = false;
        if (is_known(places, known))
            continue;
        known->state = UNKNOWN;
        if (places->index->finder == NULL)
            status = find_cached(places, known);
        else
            want(places, known, &wanted[count++]);
        if (count == WANTED_MAX) {
            status = find_wanted(places, wanted, count);
            count = 0;
        }
    }
    if (status == OK && count != 0)
        status = find_wanted(places, wanted, count);
    for (size_t i = 0; i < places->request->count; i++)
        *missing += places->known[i].state == UNKNOWN;
    return status;
}

static enum status read_missing(struct places *places, const struct view *view) {
    enum status status = OK;
    for (size_t i = 0; i < places->request->count && status == OK; i++)
        if (places->known[i].state == UNKNOWN) {
            status = read_known(places, view, &places->known[i]);
            places->known[i].state = READ;
        }
    return status;
}

/* --- counting; under moment --- */

/* What stands before the first key that is greater than all that begin with the prefix. */
static uint64_t rank_after(const struct places *places, struct bytes prefix) {
    const struct tree *tree = places->index->tree;
    uint8_t memory[KEY_ROOM];
    struct buf to = buf_in(memory, sizeof(memory));
    buf_put(&to, prefix);
    uint64_t rank = key_after_prefix(&to, 0) ? tree_rank(tree, buf_bytes(&to)) : tree_count(tree);
    buf_release(&to);
    return rank;
}

static enum status look_at_partition(struct places *places, struct bytes entry) {
    struct partition *partition = &places->partition;
    size_t size = keys_entry_span(places->index, entry, 0);
    if (size == 0)
        return local_fault(DAMAGED, places->arena, places->failure);
    struct bytes prefix = bytes_of(entry.data, size);
    if (partition->prefix.size != 0 && bytes_equal(partition->prefix, prefix))
        return OK;
    *partition = (struct partition){prefix, tree_rank(places->index->tree, prefix),
                                    rank_after(places, prefix)};
    return OK;
}

/* How many groups there are from the entry with rank `from` on and before that with rank `to`, one
 * by one. */
static uint64_t walk_groups(const struct places *places, uint64_t from, uint64_t to) {
    const struct tree *tree = places->index->tree;
    uint8_t memory[2][KEY_ROOM];
    struct tree_cursor cursor = {.key = buf_in(memory[0], KEY_ROOM)};
    struct buf after = buf_in(memory[1], KEY_ROOM);
    uint64_t count = 0;
    while (from < to && tree_seek_rank(&cursor, tree, from)) {
        struct bytes entry = tree_key(&cursor);
        size_t size = keys_entry_span(places->index, entry, places->request->group_parts);
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

static void tell_groups(struct places *places, struct bytes group, uint64_t from, uint64_t to,
                        struct place *out) {
    const struct partition *partition = &places->partition;
    struct counted_what what = {.table = places->table,
                                .index = places->index,
                                .parts = places->request->group_parts,
                                .prefix = partition->prefix};
    const struct tree *tree = NULL;
    if (partition->to - partition->from > COUNTED_FEW)
        tree = counted_find(places->local, &what);
    if (tree != NULL) {
        bool has;
        out->groups_before = tree_find(tree, group, &has);
        out->groups_after = tree_count(tree) - out->groups_before - has;
    } else if (partition->to - partition->from > COUNTED_FEW && places->counts < COUNTS) {
        places->uncounted = partition->prefix;
    } else {
        out->groups_before = walk_groups(places, partition->from, from);
        out->groups_after = walk_groups(places, to, partition->to);
    }
}

static enum status tell_group(struct places *places, struct bytes entry, struct place *out) {
    const struct place_request *request = places->request;
    const struct partition *partition = &places->partition;
    size_t size = keys_entry_span(places->index, entry, request->group_parts);
    if (size == 0)
        return local_fault(DAMAGED, places->arena, places->failure);
    struct bytes group = bytes_of(entry.data, size);
    uint64_t from = tree_rank(places->index->tree, group), to = rank_after(places, group);
    out->group_before = from - partition->from;
    out->group_after = partition->to - to;
    if (request->groups)
        tell_groups(places, group, from, to, out);
    return OK;
}

static enum status tell(struct places *places, const struct known *known, struct place *out) {
    const struct place_request *request = places->request;
    struct bytes entry = known->entry;
    *out = (struct place){0};
    if (entry.size == 0)
        return OK;
    uint64_t rank = known->rank;
    out->found = known->ranked;
    if (!known->ranked)
        rank = tree_find(places->index->tree, entry, &out->found);
    if (keys_entry_decode(&places->shape, entry, places->arena, &out->entry) != OK)
        return local_fault(DAMAGED, places->arena, places->failure);
    if (request->entries_only)
        return OK;
    enum status status = look_at_partition(places, entry);
    if (status != OK)
        return status;
    out->before = rank - places->partition.from;
    out->after = places->partition.to - rank - out->found;
    return request->group_parts == 0 ? OK : tell_group(places, entry, out);
}

static enum status tell_all(struct places *places, struct place *out) {
    enum status status = OK;
    places->partition = (struct partition){0};
    places->uncounted = (struct bytes){0};
    keys_shape(&places->shape, places->index, places->arena);
    for (size_t i = 0; i < places->request->count && status == OK && places->uncounted.size == 0;
         i++)
        status = tell(places, &places->known[i], &out[i]);
    return status;
}

/* --- the whole --- */

/* Holds on to the table and to the moment, instead of those before. */
static void hold(struct places *places) {
    struct view *view = places->view;
    struct table *table = places->held;
    places->view = view_hold(places->local);
    places->held = places->table;
    table_ref(places->held);
    pthread_rwlock_unlock(&places->local->moment);
    if (view != NULL)
        view_drop(view);
    if (table != NULL)
        table_unref(table);
}

/* Has groups counted. Whatever was read is of a view that is not held over that. */
static void count_groups(struct places *places) {
    struct counted_what what = {.table = places->table,
                                .index = places->index,
                                .parts = places->request->group_parts,
                                .prefix = places->uncounted};
    places->counts++;
    hold(places);
    view_drop(places->view);
    places->view = NULL;
    for (size_t i = 0; i < places->request->count; i++)
        if (places->known[i].state == READ)
            places->known[i].state = UNKNOWN;
    if (!counted_make(places->local, &what))
        places->counts = COUNTS;
}

static enum status run(struct places *places, struct place *out) {
    for (unsigned tries = 0;; tries++) {
        size_t missing = 0;
        pthread_rwlock_rdlock(&places->local->moment);
        enum status status = find(places);
        if (status == OK)
            status = find_current(places, &missing);
        if (status == OK && missing != 0 && tries == TRIES) {
            status = read_missing(places, places->local->view);
            missing = 0;
        }
        if (status == OK && missing == 0)
            status = tell_all(places, out);
        if (status == OK && missing == 0 && places->uncounted.size != 0) {
            count_groups(places);
            continue;
        }
        if (status != OK || missing == 0) {
            pthread_rwlock_unlock(&places->local->moment);
            return status;
        }
        hold(places);
        status = read_missing(places, places->view);
        if (status != OK)
            return status;
    }
}

enum status local_places(struct engine *engine, const struct place_request *request,
                         struct arena *arena, struct failure *failure, struct place *out) {
    struct known one = {0};
    struct places places = {.local = (struct local *)engine,
                            .request = request,
                            .arena = arena,
                            .failure = failure,
                            .known = &one};
    if (request->count > 1)
        places.known = ARENA_ARRAY(arena, struct known, request->count);
    enum status status = run(&places, out);
    if (places.view != NULL)
        view_drop(places.view);
    if (places.held != NULL)
        table_unref(places.held);
    return status;
}
