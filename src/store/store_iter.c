/* Ranges and their iterators. One merges the write buffers of its view and the tables; it holds the
 * gate and the view while it lives.
 *
 * Each source stands on its first key that is not before the current one (walking backward: on its
 * last that is not behind it), so the current key is the smallest (largest) of theirs. A move takes
 * all sources that stand on the current key one on; a turn takes all to the other side of it. */
#include "store/log_value.h"
#include "store/store_int.h"

#include "base/mem.h"

#include <assert.h>

/* For a walk through much, each file of which has a buffer of that size: less than MEM_MAPPED, lest
 * each is fresh pages, and than a processor's second cache, through which it is copied. */
enum { READ_AHEAD = 192 * 1024, LAYERS = 2 };

/* A write buffer, newest first. */
struct layer {
    const struct write_buffer *buffer;
    const struct buffer_entry *at; /* within the range; NULL: there is none on this side */
};

/* The database's iterator. */
struct table_source {
    rocksdb_readoptions_t *read; /* the iterator points into it */
    rocksdb_iterator_t *iter;    /* NULL: nothing to walk */
    bool valid;
    struct bytes key; /* while valid */
    enum status status;
};

struct store_iter {
    struct store *store;
    unsigned lane;
    struct store_view *view;
    uint64_t sequence;
    enum store_family family;
    struct bytes low, high;
    struct table_source table;
    struct layer layers[LAYERS];
    int layer_count; /* buffers that have something of the family, */
    int merged;      /* and of those the ones that this walk looks at: all or none */
    bool empty;      /* the family is not there; else, without an iterator, the store was closed */
    bool backward;
    bool valid;
    struct bytes key;                     /* while valid */
    const struct buffer_version *version; /* what it has; NULL: the tables' value */
    struct buf turning;                   /* a key that has to outlive a move */
    struct arena loaded;                  /* the value that was read from the log last */
};

/* --- the size of a range --- */

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

static bool enter(struct store_iter *iter, const struct store_snapshot *snapshot) {
    struct gate *gate = &iter->store->gate;
    if (snapshot == NULL) {
        if (!gate_enter(gate, &iter->lane))
            return false;
        iter->view = view_hold(iter->store, &iter->sequence);
        return true;
    }
    if (snapshot->view == NULL)
        return false;
    iter->lane = gate_join(gate);
    iter->view = snapshot->view;
    iter->sequence = snapshot->sequence;
    view_join(iter->view);
    return true;
}

static void leave(struct store_iter *iter) {
    view_drop(iter->store, iter->view);
    gate_leave(&iter->store->gate, iter->lane);
}

uint64_t store_range_size(struct store *store, const struct store_range *range) {
    struct store_iter at = {.store = store};
    if (!enter(&at, range->snapshot))
        return 0;
    uint64_t size = range_size(store, range);
    leave(&at);
    return size;
}

/* --- the tables --- */

static void set_bounds(rocksdb_readoptions_t *read, struct bytes low, struct bytes high) {
    if (low.size != 0)
        rocksdb_readoptions_set_iterate_lower_bound(read, chars(low), low.size);
    if (high.size != 0)
        rocksdb_readoptions_set_iterate_upper_bound(read, chars(high), high.size);
}

static rocksdb_readoptions_t *range_options(const struct store_iter *iter,
                                            const struct store_range *range) {
    rocksdb_readoptions_t *read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(read, iter->view->snapshot);
    set_bounds(read, range->low, range->high);
    if (range->bulk) {
        rocksdb_readoptions_set_fill_cache(read, 0);
        rocksdb_readoptions_set_readahead_size(read, READ_AHEAD);
    }
    return read;
}

static void table_moved(struct table_source *table) {
    size_t size;
    table->valid = rocksdb_iter_valid(table->iter) != 0;
    if (table->valid) {
        const char *key = rocksdb_iter_key(table->iter, &size);
        table->key = bytes_of(key, size);
        return;
    }
    char *error = NULL;
    rocksdb_iter_get_error(table->iter, &error);
    table->status = db_error(error, NULL, 0);
}

static void table_seek(struct table_source *table, struct bytes key) {
    rocksdb_iter_seek(table->iter, chars(key), key.size);
    table_moved(table);
}

static void table_seek_back(struct table_source *table, struct bytes key) {
    rocksdb_iter_seek_for_prev(table->iter, chars(key), key.size);
    table_moved(table);
}

static void table_step(struct table_source *table, bool backward) {
    if (backward)
        rocksdb_iter_prev(table->iter);
    else
        rocksdb_iter_next(table->iter);
    table_moved(table);
}

/* To the next key that is not deleted by the range. */
static void table_pass(struct table_source *table, const struct buffer_range *range,
                       bool backward) {
    if (!backward) {
        table_seek(table, range->high);
        return;
    }
    table_seek_back(table, range->low);
    if (table->valid && bytes_equal(table->key, range->low))
        table_step(table, true);
}

/* --- a buffer --- */

static const struct buffer_entry *in_range(const struct store_iter *iter,
                                           const struct buffer_entry *entry) {
    if (entry == NULL)
        return NULL;
    struct bytes key = buffer_entry_key(entry);
    if (iter->low.size != 0 && bytes_compare(key, iter->low) < 0)
        return NULL;
    if (iter->high.size != 0 && bytes_compare(key, iter->high) >= 0)
        return NULL;
    return entry;
}

/* On the first key >= the given one. */
static void layer_seek(const struct store_iter *iter, struct layer *layer, struct bytes key) {
    if (bytes_compare(key, iter->low) < 0)
        key = iter->low;
    layer->at = in_range(iter, write_buffer_seek(layer->buffer, iter->family, key));
}

/* On the last key before the given one. */
static void layer_before(const struct store_iter *iter, struct layer *layer, struct bytes key) {
    if (iter->high.size != 0 && bytes_compare(key, iter->high) > 0)
        key = iter->high;
    layer->at = in_range(iter, write_buffer_before(layer->buffer, iter->family, key));
}

/* On the last key <= the given one. */
static void layer_seek_back(const struct store_iter *iter, struct layer *layer, struct bytes key) {
    const struct buffer_entry *entry = write_buffer_seek(layer->buffer, iter->family, key);
    if (entry != NULL && bytes_equal(buffer_entry_key(entry), key) && in_range(iter, entry) != NULL)
        layer->at = entry;
    else
        layer_before(iter, layer, key);
}

static void layer_last(const struct store_iter *iter, struct layer *layer) {
    if (iter->high.size != 0)
        layer_before(iter, layer, iter->high);
    else
        layer->at = in_range(iter, write_buffer_last(layer->buffer, iter->family));
}

static void layer_step(const struct store_iter *iter, struct layer *layer) {
    if (iter->backward)
        layer_before(iter, layer, buffer_entry_key(layer->at));
    else
        layer->at = in_range(iter, buffer_entry_next(layer->at));
}

/* --- all of them --- */

/* Whether `key` comes before what is the best so far. */
static bool is_better(const struct store_iter *iter, struct bytes key, const struct bytes *best) {
    if (best == NULL)
        return true;
    int order = bytes_compare(key, *best);
    return iter->backward ? order > 0 : order < 0;
}

/* The next key that any source stands on becomes the current one; false if there is none. */
static bool pick_key(struct store_iter *iter) {
    const struct bytes *best = NULL;
    if (iter->table.status != OK)
        return false;
    if (iter->table.valid) {
        iter->key = iter->table.key;
        best = &iter->key;
    }
    for (int i = 0; i < iter->merged; i++) {
        if (iter->layers[i].at == NULL)
            continue;
        struct bytes key = buffer_entry_key(iter->layers[i].at);
        if (is_better(iter, key, best)) {
            iter->key = key;
            best = &iter->key;
        }
    }
    return best != NULL;
}

static bool layer_has_key(const struct store_iter *iter, const struct layer *layer) {
    return layer->at != NULL && bytes_equal(buffer_entry_key(layer->at), iter->key);
}

static bool table_has_key(const struct store_iter *iter) {
    return iter->table.valid && (iter->merged == 0 || bytes_equal(iter->table.key, iter->key));
}

/* The newest deleted range that the current key is in, or NULL. */
static const struct buffer_range *find_range(const struct store_iter *iter) {
    const struct buffer_range *range = NULL;
    for (int i = 0; range == NULL && i < iter->merged; i++)
        range = write_buffer_find_range(iter->layers[i].buffer, iter->family, iter->key,
                                        iter->sequence);
    return range;
}

/* Whether the snapshot sees something at the current key; fills in `version`. */
static bool is_seen(struct store_iter *iter, const struct buffer_range *range) {
    iter->version = NULL;
    for (int i = 0; iter->version == NULL && i < iter->merged; i++)
        if (layer_has_key(iter, &iter->layers[i]))
            iter->version = buffer_entry_at(iter->layers[i].at, iter->sequence);
    if (iter->version == NULL)
        return range == NULL && table_has_key(iter);
    return !iter->version->deleted && (range == NULL || range->sequence < iter->version->sequence);
}

/* Takes all sources on the current key one on. `range`: which deleted it, or NULL. */
static void step_sources(struct store_iter *iter, const struct buffer_range *range) {
    bool on[LAYERS], table = table_has_key(iter);
    for (int i = 0; i < iter->merged; i++)
        on[i] = layer_has_key(iter, &iter->layers[i]);
    for (int i = 0; i < iter->merged; i++)
        if (on[i])
            layer_step(iter, &iter->layers[i]);
    if (table && range != NULL)
        table_pass(&iter->table, range, iter->backward);
    else if (table)
        table_step(&iter->table, iter->backward);
}

/* From where the sources stand to the next key that the snapshot sees. */
static bool settle(struct store_iter *iter) {
    while ((iter->valid = pick_key(iter))) {
        const struct buffer_range *range = iter->merged == 0 ? NULL : find_range(iter);
        if (is_seen(iter, range))
            return true;
        step_sources(iter, range);
    }
    return false;
}

/* Takes all sources to the other side of the current key. */
static void turn(struct store_iter *iter) {
    buf_clear(&iter->turning);
    buf_put(&iter->turning, iter->key);
    struct bytes key = buf_bytes(&iter->turning);
    iter->backward = !iter->backward;
    for (int i = 0; i < iter->merged; i++) {
        struct layer *layer = &iter->layers[i];
        if (iter->backward) {
            layer_before(iter, layer, key);
            continue;
        }
        layer_seek(iter, layer, key);
        if (layer->at != NULL && bytes_equal(buffer_entry_key(layer->at), key))
            layer_step(iter, layer);
    }
    if (iter->backward)
        table_seek_back(&iter->table, key);
    else
        table_seek(&iter->table, key);
    if (iter->table.valid && bytes_equal(iter->table.key, key))
        table_step(&iter->table, iter->backward);
}

static bool move(struct store_iter *iter, bool backward) {
    if (!iter->valid)
        return false;
    if (iter->backward != backward)
        turn(iter);
    else
        step_sources(iter, NULL);
    return settle(iter);
}

/* --- opening --- */

static void add_layers(struct store_iter *iter) {
    for (int i = 0; i < LAYERS; i++) {
        struct write_buffer *buffer = iter->view->buffers[i];
        if (buffer == NULL || write_buffer_is_empty(buffer, iter->family))
            continue;
        write_buffer_order(buffer, iter->family);
        iter->layers[iter->layer_count++] = (struct layer){buffer, NULL};
    }
}

struct store_iter *store_iter_open(struct store *store, const struct store_range *range) {
    db_meet_thread();
    struct store_iter *iter = mem_alloc(sizeof(*iter));
    *iter = (struct store_iter){
        .store = store, .family = range->family, .low = range->low, .high = range->high};
    arena_init(&iter->loaded);
    if (!enter(iter, range->snapshot))
        return iter;
    if (store_family(store, range->family) == NULL) {
        iter->empty = true;
        leave(iter);
        return iter;
    }
    add_layers(iter);
    iter->table.read = range_options(iter, range);
    iter->table.iter =
        rocksdb_create_iterator_cf(store->db, iter->table.read, store_family(store, range->family));
    return iter;
}

void store_iter_close(struct store_iter *iter) {
    if (iter == NULL)
        return;
    if (iter->table.iter != NULL) {
        rocksdb_iter_destroy(iter->table.iter);
        rocksdb_readoptions_destroy(iter->table.read);
        leave(iter);
    }
    buf_release(&iter->turning);
    arena_release(&iter->loaded);
    mem_free(iter);
}

/* The database's iterator does not copy its bounds: it looks them up in the options it was made
 * with, which live as long as it does. Each seek begins anew with what is there. Both bounds must
 * have been set from the beginning, else it would not look. */
void store_iter_rerange(struct store_iter *iter, struct bytes low, struct bytes high) {
    assert(low.size != 0 && high.size != 0);
    iter->valid = false;
    iter->low = low;
    iter->high = high;
    if (iter->table.iter != NULL)
        set_bounds(iter->table.read, low, high);
}

/* --- moving --- */

/* The layers stand at the beginning of the range, or its end. If none has anything of it, a walk is
 * one through the tables: what is written from now on is behind the iterator's sequence. */
static void choose_layers(struct store_iter *iter) {
    bool any = false;
    for (int i = 0; i < iter->layer_count && !any; i++)
        any = iter->layers[i].at != NULL ||
              write_buffer_newest_range(iter->layers[i].buffer, iter->family) != NULL;
    iter->merged = any ? iter->layer_count : 0;
}

bool store_iter_seek(struct store_iter *iter, struct bytes key) {
    if (iter->table.iter == NULL)
        return false;
    iter->backward = false;
    iter->merged = iter->layer_count;
    for (int i = 0; i < iter->layer_count; i++)
        layer_seek(iter, &iter->layers[i], key);
    table_seek(&iter->table, key);
    return settle(iter);
}

bool store_iter_seek_back(struct store_iter *iter, struct bytes key) {
    if (iter->table.iter == NULL)
        return false;
    iter->backward = true;
    iter->merged = iter->layer_count;
    for (int i = 0; i < iter->layer_count; i++)
        layer_seek_back(iter, &iter->layers[i], key);
    table_seek_back(&iter->table, key);
    return settle(iter);
}

bool store_iter_first(struct store_iter *iter) {
    if (iter->table.iter == NULL)
        return false;
    iter->backward = false;
    for (int i = 0; i < iter->layer_count; i++)
        layer_seek(iter, &iter->layers[i], iter->low);
    choose_layers(iter);
    rocksdb_iter_seek_to_first(iter->table.iter);
    table_moved(&iter->table);
    return settle(iter);
}

bool store_iter_last(struct store_iter *iter) {
    if (iter->table.iter == NULL)
        return false;
    iter->backward = true;
    for (int i = 0; i < iter->layer_count; i++)
        layer_last(iter, &iter->layers[i]);
    choose_layers(iter);
    rocksdb_iter_seek_to_last(iter->table.iter);
    table_moved(&iter->table);
    return settle(iter);
}

bool store_iter_next(struct store_iter *iter) {
    return move(iter, false);
}

bool store_iter_prev(struct store_iter *iter) {
    return move(iter, true);
}

struct bytes store_iter_key(const struct store_iter *iter) {
    return iter->key;
}

struct bytes store_iter_value(const struct store_iter *iter) {
    size_t size;
    if (iter->version != NULL)
        return bytes_of(iter->version->value, iter->version->size);
    const char *value = rocksdb_iter_value(iter->table.iter, &size);
    return bytes_of(value, size);
}

enum status store_iter_load(struct store_iter *iter, struct bytes *out) {
    struct bytes stored = store_iter_value(iter);
    arena_reset(&iter->loaded);
    return store_resolve(iter->store, stored, &iter->loaded, out);
}

bool store_iter_logged(const struct store_iter *iter, struct store_logged *out) {
    struct log_value value = {0};
    if (!log_value_take(store_iter_value(iter), &value))
        return false;
    *out = (struct store_logged){value.place.segment, (int64_t)value.time_ms};
    return true;
}

enum status store_iter_status(const struct store_iter *iter) {
    if (iter->table.iter == NULL)
        return iter->empty ? OK : IO_FAILED;
    return iter->table.status;
}

struct bytes store_iter_why(const struct store_iter *iter, struct arena *arena) {
    char *error = NULL, why[512];
    if (iter->table.iter != NULL)
        rocksdb_iter_get_error(iter->table.iter, &error);
    return db_error(error, why, sizeof(why)) == OK ? (struct bytes){0}
                                                   : arena_printf(arena, "%s", why);
}
