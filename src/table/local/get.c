/* Reading items by their keys. */
#include "table/local/covering.h"

enum { KEY_ROOM = 512 }; /* bytes of most keys; longer ones take memory of their own */

static enum status read_stored(const struct snapshot *snapshot, struct hashed_key key,
                               struct arena *arena, struct bytes *out) {
    struct local *local = snapshot->local;
    cache_missed(local->cache, key.hash);
    enum status status = store_get(
        local->store, &(struct store_key){STORE_ITEMS, key.bytes, snapshot->stored}, arena, out);
    if (status == OK)
        cache_fill(local->cache, key, *out, snapshot->commit);
    return status;
}

enum status snapshot_read(const struct snapshot *snapshot, struct hashed_key key,
                          struct arena *arena, struct bytes *out) {
    *out = cache_get(snapshot->local->cache, key, snapshot->commit, arena);
    return out->data != NULL ? OK : read_stored(snapshot, key, arena, out);
}

enum status local_read_now(struct local *local, struct hashed_key key, struct arena *arena,
                           struct bytes *out) {
    *out = cache_get(local->cache, key, UINT64_MAX, arena);
    if (out->data != NULL)
        return OK;
    cache_missed(local->cache, key.hash);
    enum status status =
        store_get(local->store, &(struct store_key){STORE_ITEMS, key.bytes, NULL}, arena, out);
    if (status == OK)
        cache_fill(local->cache, key, *out, UINT64_MAX);
    return status;
}

enum status local_index(const struct table *table, struct bytes name, struct scope in,
                        const struct index **out) {
    const struct index *index = NULL;
    for (unsigned i = 0; i < table->index_count && index == NULL; i++)
        if (bytes_equal(table->indexes[i]->schema->name, name))
            index = table->indexes[i];
    if (index == NULL)
        return failure_set(in.failure, in.arena, INVALID,
                           "The table does not have the specified index: %.*s", BYTES_ARG(name));
    if (index->tree == NULL)
        return failure_set(in.failure, in.arena, INVALID,
                           "Cannot read from backfilling global secondary index: %.*s",
                           BYTES_ARG(name));
    *out = index;
    return OK;
}

enum status local_fault(enum status status, struct scope in) {
    return failure_set(in.failure, in.arena, status, "%s",
                       status == DAMAGED ? ITEM_DAMAGED : "The data could not be read.");
}

/* One key that is asked for. */
struct get {
    struct local *local;
    const struct get_request *request;
    struct scope in;
    const struct table *table; /* under state_lock; NULL: there is none */
    struct hashed_key key;
    bool absent; /* there is no such item, as the partition filter says */
    bool found;  /* `item` is the item: it is covered by an index entry */
    struct item item;
    struct bytes stored; /* else the cache's bytes of it; `data` NULL: they are in the store */
};

static enum status no_table(struct scope in) {
    return failure_set(in.failure, in.arena, NO_TABLE, "Requested resource not found");
}

/* Makes the reply from the item, or from its stored bytes if it is not at hand; `status` is what
 * reading those came to. */
static enum status fill_get_reply(const struct get *get, enum status status,
                                  struct get_reply *out) {
    *out = (struct get_reply){0};
    if (status == OK && !get->found && get->request->takes_stored) {
        out->found = true;
        out->stored = (struct item_encoded){get->stored, get->local->names};
        return OK;
    }
    if (get->found)
        out->item = get->item;
    else if (status == OK)
        status = item_decode(get->stored, get->local->names, get->in.arena, &out->item);
    if (status != OK && status != NOT_FOUND)
        return local_fault(status, get->in);
    out->found = status == OK;
    out->size = out->found ? item_size(&out->item) : 0;
    out->units = rules_read_units(out->size, get->request->consistent);
    if (out->found && get->request->projection != NULL)
        out->item = projection_apply(get->request->projection, &out->item, get->in.arena);
    return OK;
}

/* Checks the request and makes the key, in the arena. The caller holds state_lock. */
static enum status put_key(struct get *get) {
    const struct get_request *request = get->request;
    struct rules_context rules = {NULL, get->in.arena, get->in.failure};
    uint8_t memory[KEY_ROOM];
    struct buf key = buf_in(memory, sizeof(memory));
    if (get->table == NULL)
        return no_table(get->in);
    rules.schema = get->table->schema;
    enum status status = rules_check_key(&rules, &request->key);
    if (status == OK)
        status = rules_check_paths(&rules, request->projection, NULL);
    if (status == OK) {
        keys_put_item(&key, get->table, rules.schema, &request->key);
        get->key = hashed_key_of(arena_copy(get->in.arena, buf_bytes(&key)));
    }
    buf_release(&key);
    return status;
}

enum { TOGETHER_MAX = 64 }; /* more would push each other out of the processor's cache */

/* Whether so many bytes were copied for a request that others wait for it: what is left of its
 * items is read from the store, without a lock. */
static bool is_much(size_t bytes) {
    return bytes > LIMIT_BATCH_BRIEF;
}

/* Copies what the cache has of them: where each would be was prefetched when its key was made, and
 * the entries are now, so that the misses of all pass at the same time. The caller holds
 * state_lock, so nothing is written to the cache meanwhile, and what is there is current. The
 * partition filter is asked only about what the cache has not: that is the exception. */
static void find_cached(struct cache *cache, struct get *gets, size_t count, size_t *bytes) {
    for (size_t i = 0; i < count && count > 1; i++)
        cache_prefetch_entry(cache, gets[i].key.hash);
    for (size_t i = 0; i < count && !is_much(*bytes); i++) {
        struct get *get = &gets[i];
        get->stored = cache_get(cache, get->key, UINT64_MAX, get->in.arena);
        *bytes += get->stored.size;
        get->absent = get->stored.data == NULL &&
                      partition_filter_excludes(&get->table->partition_filter, get->key.bytes);
    }
}

/* Looks whether index entries cover those items that the cache has not: none is in both. Sets
 * *missing if some are in neither. The caller holds state_lock. */
static enum status find_covered(struct get *gets, size_t count, bool *missing) {
    struct covering_lookup lookups[TOGETHER_MAX];
    struct get *asked[TOGETHER_MAX];
    size_t used = 0;
    enum status status = OK;
    for (size_t i = 0; i < count; i++) {
        if (gets[i].absent || gets[i].stored.data != NULL)
            continue;
        const struct index *index = covering_index(gets[i].table);
        *missing |= index == NULL;
        if (index == NULL)
            continue;
        asked[used] = &gets[i];
        lookups[used++] = (struct covering_lookup){
            .index = index, .key = gets[i].key.bytes, .arena = gets[i].in.arena};
    }
    covering_find(lookups, used);
    for (size_t i = 0; i < used && status == OK; i++) {
        struct get *get = asked[i];
        get->found = lookups[i].entry.size != 0;
        *missing |= !get->found;
        if (get->found)
            status = covering_item(lookups[i].index, lookups[i].entry, get->in.arena, &get->item);
    }
    return status == OK ? OK : local_fault(status, gets->in);
}

/* Makes the keys of up to TOGETHER_MAX items. The caller holds state_lock. */
static enum status put_keys(struct local *local, struct get *gets, size_t count) {
    enum status status = OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        bool again = i > 0 && bytes_equal(gets[i].request->table, gets[i - 1].request->table);
        gets[i].table = again ? gets[i - 1].table : local_table(local, gets[i].request->table);
        status = put_key(&gets[i]);
        if (status == OK)
            cache_prefetch(local->cache, gets[i].key.hash);
    }
    return status;
}

/* What is known of the items of a request that are in memory. */
struct found {
    bool missing; /* some are not, or were not looked for */
    size_t bytes; /* copied from the cache */
};

/* Finds up to TOGETHER_MAX items that are in memory. The caller holds state_lock. */
static enum status find_some(struct local *local, struct get *gets, size_t count,
                             struct found *found) {
    enum status status = put_keys(local, gets, count);
    if (status != OK)
        return status;
    find_cached(local->cache, gets, count, &found->bytes);
    return find_covered(gets, count, &found->missing);
}

/* Finds what the cache has of more items as the snapshot shows them, a few at a time, so that
 * commits go on between them. A partition that the filter does not know had no items before,
 * either. */
static enum status find_more(const struct snapshot *snapshot, struct get *gets, size_t count) {
    struct local *local = snapshot->local;
    enum status status = OK;
    for (size_t i = 0; i < count && status == OK; i += TOGETHER_MAX) {
        size_t some = count - i < TOGETHER_MAX ? count - i : TOGETHER_MAX;
        pthread_rwlock_rdlock(&local->state_lock);
        status = put_keys(local, gets + i, some);
        size_t bytes = 0;
        for (size_t j = i; j < i + some && status == OK && !is_much(bytes); j++) {
            gets[j].stored =
                cache_get(local->cache, gets[j].key, snapshot->commit, gets[j].in.arena);
            bytes += gets[j].stored.size;
            gets[j].absent =
                gets[j].stored.data == NULL &&
                partition_filter_excludes(&gets[j].table->partition_filter, gets[j].key.bytes);
        }
        pthread_rwlock_unlock(&local->state_lock);
    }
    return status;
}

/* Finds the items that are in memory. *snapshot is the one that they are of, if the others have to
 * be read from the store, else NULL: most often all are here, and that costs less than counting
 * references to it. */
static enum status find_many(struct local *local, struct get *gets, size_t count,
                             struct snapshot **snapshot) {
    size_t first = count < LIMIT_WALK_SLICE ? count : LIMIT_WALK_SLICE;
    enum status status = OK;
    struct found found = {.missing = first < count};
    pthread_rwlock_rdlock(&local->state_lock);
    for (size_t i = 0; i < first && status == OK; i += TOGETHER_MAX)
        status =
            find_some(local, gets + i, first - i < TOGETHER_MAX ? first - i : TOGETHER_MAX, &found);
    *snapshot = status == OK && found.missing ? snapshot_hold(local) : NULL;
    pthread_rwlock_unlock(&local->state_lock);
    return *snapshot != NULL ? find_more(*snapshot, gets + first, count - first) : status;
}

enum status local_get_many(struct engine *engine, const struct get_request *requests, size_t count,
                           struct scope in, struct get_reply *replies) {
    struct local *local = (struct local *)engine;
    struct snapshot *snapshot;
    struct get one, *gets = count == 1 ? &one : ARENA_ARRAY(in.arena, struct get, count);
    for (size_t i = 0; i < count; i++)
        gets[i] = (struct get){.local = local, .request = &requests[i], .in = in};
    enum status status = find_many(local, gets, count, &snapshot);
    size_t bytes = 0;
    for (size_t i = 0; i < count && status == OK; i++) {
        if (gets[i].absent)
            status = NOT_FOUND;
        else if (!gets[i].found && gets[i].stored.data == NULL)
            status = read_stored(snapshot, gets[i].key, in.arena, &gets[i].stored);
        bytes += gets[i].stored.size;
        status = requests[0].brief && is_much(bytes)
                     ? failure_set(in.failure, in.arena, WOULD_BLOCK,
                                   "The items are large. Try again soon.")
                     : fill_get_reply(&gets[i], status, &replies[i]);
    }
    if (snapshot != NULL)
        snapshot_drop(snapshot);
    return status;
}

bool local_partitions_absent(struct engine *engine, struct bytes name,
                             const struct value *partitions, size_t count) {
    enum { ABREAST = 4 }; /* whose cache misses overlap */
    struct local *local = (struct local *)engine;
    uint8_t memory[KEY_ROOM];
    uint64_t hashes[ABREAST];
    /* The function of an action asks on the writer's thread: it would wait for the commit before.
     */
    bool locks = !writer_is_current(local);
    if (locks)
        pthread_rwlock_rdlock(&local->state_lock);
    const struct table *table = local_table(local, name);
    bool absent = table != NULL && partition_filter_tells(&table->partition_filter);
    for (size_t i = 0; i < count && absent; i++) {
        struct buf key = buf_in(memory, sizeof(memory));
        keys_put_partition(&key, table, &partitions[i]);
        hashes[i % ABREAST] = partition_filter_prefetch(&table->partition_filter, buf_bytes(&key));
        buf_release(&key);
        bool last = i % ABREAST == ABREAST - 1 || i + 1 == count;
        for (size_t j = 0; last && j <= i % ABREAST && absent; j++)
            absent = partition_filter_excludes_hash(&table->partition_filter, hashes[j]);
    }
    if (locks)
        pthread_rwlock_unlock(&local->state_lock);
    return absent;
}
