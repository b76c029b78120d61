/* Ranges and their iterators. One holds the gate while it lives. */
#include "store/store_int.h"

#include "base/mem.h"

#include <assert.h>

enum { READ_AHEAD = 2 * 1024 * 1024 };

/* Inside the gate. */
static uint64_t range_size(struct store *store, const struct store_range *range) {
    const char *low = chars(range->low), *high = chars(range->high);
    char *error = NULL;
    uint64_t size = 0;
    if (store_family(store, range->family) == NULL)
        return 0;
    rocksdb_approximate_sizes_cf(store->db, store_family(store, range->family), 1, &low,
                                 &range->low.size, &high, &range->high.size, &size, &error);
    return db_error(error, NULL, 0) == OK ? size : 0;
}

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

uint64_t store_range_size(struct store *store, const struct store_range *range) {
    struct store_iter at = {.store = store};
    if (!enter(&at, range->snapshot))
        return 0;
    uint64_t size = range_size(store, range);
    gate_leave(&store->gate, at.lane);
    return size;
}

static void set_bounds(rocksdb_readoptions_t *read, struct bytes low, struct bytes high) {
    if (low.size != 0)
        rocksdb_readoptions_set_iterate_lower_bound(read, chars(low), low.size);
    if (high.size != 0)
        rocksdb_readoptions_set_iterate_upper_bound(read, chars(high), high.size);
}

static rocksdb_readoptions_t *range_options(const struct store_range *range) {
    rocksdb_readoptions_t *read = rocksdb_readoptions_create();
    if (range->snapshot != NULL)
        rocksdb_readoptions_set_snapshot(read, range->snapshot->snapshot);
    set_bounds(read, range->low, range->high);
    if (range->bulk) {
        rocksdb_readoptions_set_fill_cache(read, 0);
        rocksdb_readoptions_set_readahead_size(read, READ_AHEAD);
    }
    return read;
}

struct store_iter *store_iter_open(struct store *store, const struct store_range *range) {
    db_meet_thread();
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

/* The iterator does not copy its bounds: it looks them up in the options it was made with, which
 * live as long as it does. Each seek begins anew with what is there. Both bounds must have been
 * set from the beginning, else it would not look. */
void store_iter_rerange(struct store_iter *iter, struct bytes low, struct bytes high) {
    assert(low.size != 0 && high.size != 0);
    if (iter->iter != NULL)
        set_bounds(iter->read, low, high);
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
