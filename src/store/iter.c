/* Iterators. One holds the gate while it lives. */
#include "store/store_int.h"

#include "base/mem.h"

enum { READ_AHEAD = 2 * 1024 * 1024 };

struct store_iter {
    struct store *store;
    unsigned lane;
    rocksdb_readoptions_t *read; /* the iterator points into it */
    rocksdb_iterator_t *iter;    /* NULL: nothing to walk */
    bool empty;                  /* the family is not there; else the store was closed */
};

static bool enter(struct store_iter *iter, const struct store_snapshot *snapshot) {
    struct gate *gate = &iter->store->gate;
    if (snapshot == NULL)
        return gate_enter(gate, &iter->lane);
    if (snapshot->snapshot == NULL)
        return false;
    iter->lane = gate_join(gate);
    return true;
}

static rocksdb_readoptions_t *range_options(const struct store_range *range) {
    rocksdb_readoptions_t *read = rocksdb_readoptions_create();
    if (range->snapshot != NULL)
        rocksdb_readoptions_set_snapshot(read, range->snapshot->snapshot);
    if (range->low.size != 0)
        rocksdb_readoptions_set_iterate_lower_bound(read, chars(range->low), range->low.size);
    if (range->high.size != 0)
        rocksdb_readoptions_set_iterate_upper_bound(read, chars(range->high), range->high.size);
    if (range->bulk) {
        rocksdb_readoptions_set_fill_cache(read, 0);
        rocksdb_readoptions_set_readahead_size(read, READ_AHEAD);
    }
    return read;
}

struct store_iter *store_iter_open(struct store *store, const struct store_range *range) {
    struct store_iter *iter = mem_alloc(sizeof(*iter));
    *iter = (struct store_iter){.store = store};
    if (!enter(iter, range->snapshot))
        return iter;
    if (store_family(store, range->family) == NULL) {
        iter->empty = true;
        gate_leave(&store->gate, iter->lane);
        return iter;
    }
    iter->read = range_options(range);
    iter->iter =
        rocksdb_create_iterator_cf(store->db, iter->read, store_family(store, range->family));
    return iter;
}

void store_iter_close(struct store_iter *iter) {
    if (iter == NULL)
        return;
    if (iter->iter != NULL) {
        rocksdb_iter_destroy(iter->iter);
        rocksdb_readoptions_destroy(iter->read);
        gate_leave(&iter->store->gate, iter->lane);
    }
    mem_free(iter);
}

static bool valid(const struct store_iter *iter) {
    return iter->iter != NULL && rocksdb_iter_valid(iter->iter) != 0;
}

bool store_iter_seek(struct store_iter *iter, struct bytes key) {
    if (iter->iter != NULL)
        rocksdb_iter_seek(iter->iter, chars(key), key.size);
    return valid(iter);
}

bool store_iter_seek_back(struct store_iter *iter, struct bytes key) {
    if (iter->iter != NULL)
        rocksdb_iter_seek_for_prev(iter->iter, chars(key), key.size);
    return valid(iter);
}

bool store_iter_first(struct store_iter *iter) {
    if (iter->iter != NULL)
        rocksdb_iter_seek_to_first(iter->iter);
    return valid(iter);
}

bool store_iter_last(struct store_iter *iter) {
    if (iter->iter != NULL)
        rocksdb_iter_seek_to_last(iter->iter);
    return valid(iter);
}

bool store_iter_next(struct store_iter *iter) {
    if (!valid(iter))
        return false;
    rocksdb_iter_next(iter->iter);
    return valid(iter);
}

bool store_iter_prev(struct store_iter *iter) {
    if (!valid(iter))
        return false;
    rocksdb_iter_prev(iter->iter);
    return valid(iter);
}

struct bytes store_iter_key(const struct store_iter *iter) {
    size_t size;
    const char *key = rocksdb_iter_key(iter->iter, &size);
    return bytes_of(key, size);
}

struct bytes store_iter_value(const struct store_iter *iter) {
    size_t size;
    const char *value = rocksdb_iter_value(iter->iter, &size);
    return bytes_of(value, size);
}

enum status store_iter_status(const struct store_iter *iter) {
    if (iter->iter == NULL)
        return iter->empty ? OK : IO_FAILED;
    char *error = NULL;
    rocksdb_iter_get_error(iter->iter, &error);
    return db_error(error, NULL, 0);
}
