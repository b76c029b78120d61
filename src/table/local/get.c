/* Reading items by their keys. */
#include "table/local/local_int.h"

static enum status read_store(struct local *local, const struct view *view, struct bytes key,
                              uint64_t hash, struct arena *arena, struct bytes *out) {
    enum status status =
        store_get(local->store, view == NULL ? NULL : view->snapshot, STORE_ITEMS, key, arena, out);
    if (status == OK)
        cache_fill_hashed(local->cache, key, hash, *out, view == NULL ? UINT64_MAX : view->commit);
    return status;
}

enum status local_read_hashed(struct local *local, const struct view *view, struct bytes key,
                              uint64_t hash, struct arena *arena, struct bytes *out) {
    if (cache_get_hashed(local->cache, key, hash, view == NULL ? UINT64_MAX : view->commit, arena,
                         out))
        return OK;
    return read_store(local, view, key, hash, arena, out);
}

enum status local_index(const struct table *table, struct bytes name, struct arena *arena,
                        struct failure *failure, const struct index **out) {
    const struct index *index = NULL;
    for (unsigned i = 0; i < table->index_count && index == NULL; i++)
        if (bytes_equal(table->indexes[i]->schema->name, name))
            index = table->indexes[i];
    if (index == NULL)
        return failure_set(failure, arena, INVALID,
                           "The table does not have the specified index: %.*s", BYTES_ARG(name));
    if (index->tree == NULL)
        return failure_set(failure, arena, INVALID,
                           "Cannot read from backfilling global secondary index: %.*s",
                           BYTES_ARG(name));
    *out = index;
    return OK;
}

enum status local_fault(enum status status, struct arena *arena, struct failure *failure) {
    return failure_set(failure, arena, status, "%s",
                       status == DAMAGED ? "A stored item is damaged"
                                         : "The data could not be read");
}

/* Makes the reply of what the read came to. */
static enum status answer(struct local *local, const struct get_request *request,
                          enum status status, struct bytes stored, struct arena *arena,
                          struct failure *failure, struct get_reply *out) {
    *out = (struct get_reply){0};
    if (status == OK)
        status = item_decode(stored, local->names, arena, &out->item);
    if (status != OK && status != NOT_FOUND)
        return local_fault(status, arena, failure);
    out->found = status == OK;
    out->size = out->found ? item_size(&out->item) : 0;
    out->units = rules_read_units(out->size, request->consistent);
    if (out->found && request->projection != NULL)
        out->item = projection_apply(request->projection, &out->item, arena);
    return OK;
}

static enum status no_table(struct arena *arena, struct failure *failure) {
    return failure_set(failure, arena, NO_TABLE, "Requested resource not found");
}

static enum status put_key(struct buf *to, const struct table *table,
                           const struct get_request *request, struct arena *arena,
                           struct failure *failure) {
    struct rules_context rules = {table->schema, arena, failure};
    enum status status = rules_check_key(&rules, &request->key);
    if (status == OK)
        status = rules_check_paths(&rules, request->projection, NULL);
    if (status == OK)
        keys_put_item(to, table, rules.schema, &request->key);
    return status;
}

/* One key. A hot item is found and copied under `moment`, which costs less than counting
 * references: nothing is written to the cache meanwhile, so what is there is current. */
static enum status get_one(struct local *local, const struct get_request *request,
                           struct arena *arena, struct failure *failure, struct get_reply *out) {
    struct buf key = {0};
    struct bytes stored = {0};
    struct view *view = NULL;
    uint64_t hash = 0;
    pthread_rwlock_rdlock(&local->moment);
    struct table *table = local_table(local, request->table);
    enum status status =
        table == NULL ? no_table(arena, failure) : put_key(&key, table, request, arena, failure);
    if (status == OK) {
        hash = local_hash(buf_bytes(&key));
        if (!cache_get_hashed(local->cache, buf_bytes(&key), hash, UINT64_MAX, arena, &stored))
            view = view_hold(local);
    }
    pthread_rwlock_unlock(&local->moment);
    if (status != OK)
        goto done;
    if (view != NULL) {
        status = read_store(local, view, buf_bytes(&key), hash, arena, &stored);
        view_drop(view);
    }
    status = answer(local, request, status, stored, arena, failure, out);
done:
    buf_release(&key);
    return status;
}

/* The tables of the requests, each with a reference; NULL where there is none. */
static struct view *find_tables(struct local *local, const struct get_request *requests,
                                size_t count, struct table **tables) {
    pthread_rwlock_rdlock(&local->moment);
    struct view *view = view_hold(local);
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && bytes_equal(requests[i].table, requests[i - 1].table);
        tables[i] = again ? tables[i - 1] : local_table(local, requests[i].table);
        if (tables[i] != NULL)
            table_ref(tables[i]);
    }
    pthread_rwlock_unlock(&local->moment);
    return view;
}

enum status local_get_many(struct engine *engine, const struct get_request *requests, size_t count,
                           struct arena *arena, struct failure *failure,
                           struct get_reply *replies) {
    struct local *local = (struct local *)engine;
    if (count == 1)
        return get_one(local, requests, arena, failure, replies);
    struct table **tables = ARENA_ARRAY(arena, struct table *, count);
    struct view *view = find_tables(local, requests, count, tables);
    struct buf key = {0};
    enum status status = OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        struct bytes stored = {0};
        buf_clear(&key);
        status = tables[i] == NULL ? no_table(arena, failure)
                                   : put_key(&key, tables[i], &requests[i], arena, failure);
        if (status != OK)
            break;
        status = local_read(local, view, buf_bytes(&key), arena, &stored);
        status = answer(local, &requests[i], status, stored, arena, failure, &replies[i]);
    }
    view_drop(view);
    for (size_t i = 0; i < count; i++)
        if (tables[i] != NULL)
            table_unref(tables[i]);
    buf_release(&key);
    return status;
}
