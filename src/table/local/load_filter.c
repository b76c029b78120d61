#include "table/local/load_filter.h"

#include "base/clock.h"
#include "base/mem.h"
#include "table/local/bloom.h"

enum {
    FIRST = 128 * 1024, /* keys that a filter has room for before it grows */
    LOADED_MAX = 4,
    SMALL_MAX = 10000,  /* keys that are read when a partition is taken up, */
    READ_PAUSE_US = 20, /* and how long after each no other one is */
    FORGET_US = 30 * 1000 * 1000,
};

/* The filter of one partition, or a free place for one. */
struct filtered {
    struct buf partition; /* what the partition's keys begin with; empty: this place is free */
    bool complete;        /* it has all keys of the partition; else there are too many */
    struct bloom keys;
    int64_t used_us; /* the last large change */
};

struct load_filter {
    struct filtered all[LOADED_MAX];
    struct filtered *last; /* the one that a large change wrote to last */
    int64_t read_from_us;  /* no partition is read before */
};

struct load_filter *load_filter_new(void) {
    struct load_filter *load_filter = mem_zalloc(sizeof(*load_filter));
    load_filter->last = &load_filter->all[0];
    return load_filter;
}

static void filter_forget(struct filtered *filtered) {
    bloom_release(&filtered->keys);
    buf_release(&filtered->partition);
    *filtered = (struct filtered){0};
}

void load_filter_free(struct load_filter *load_filter) {
    for (unsigned i = 0; i < LOADED_MAX; i++)
        filter_forget(&load_filter->all[i]);
    mem_free(load_filter);
}

static void filter_add(struct filtered *filtered, uint64_t hash) {
    filtered->complete = bloom_add(&filtered->keys, hash);
}

/* --- asking --- */

static bool is_of(const struct filtered *filtered, struct bytes key) {
    return filtered->partition.size != 0 && bytes_starts(key, buf_bytes(&filtered->partition));
}

/* The partition of the key, or NULL. */
static struct filtered *find_partition(struct load_filter *load_filter, struct bytes key) {
    if (is_of(load_filter->last, key))
        return load_filter->last;
    for (unsigned i = 0; i < LOADED_MAX; i++)
        if (is_of(&load_filter->all[i], key))
            return &load_filter->all[i];
    return NULL;
}

bool load_filter_excludes(struct load_filter *load_filter, struct bytes key, uint64_t hash) {
    const struct filtered *filtered = find_partition(load_filter, key);
    return filtered != NULL && filtered->complete && !bloom_has(&filtered->keys, hash);
}

void load_filter_prefetch(const struct load_filter *load_filter, uint64_t hash) {
    const struct filtered *filtered = load_filter->last;
    if (filtered->complete)
        bloom_prefetch(&filtered->keys, hash);
}

void load_filter_add(struct load_filter *load_filter, struct bytes key, uint64_t hash) {
    struct filtered *filtered = find_partition(load_filter, key);
    if (filtered != NULL && filtered->complete)
        filter_add(filtered, hash);
}

size_t load_filter_count(struct load_filter *load_filter, struct bytes key) {
    const struct filtered *filtered = find_partition(load_filter, key);
    return filtered != NULL && filtered->complete ? bloom_count(&filtered->keys) : 0;
}

/* --- taking up a partition --- */

/* Adds the keys that the store has of the partition; the filter is `complete` unless they are too
 * many. Returns how many were read. */
static size_t read_keys(struct filtered *filtered, struct local *local) {
    struct bytes partition = buf_bytes(&filtered->partition);
    struct store_range range = {.family = STORE_ITEMS, .low = partition};
    struct store_iter *iter = store_iter_open(local->store, &range);
    size_t count = 0;
    bool there = store_iter_first(iter);
    for (; there && count <= SMALL_MAX && bytes_starts(store_iter_key(iter), partition); count++) {
        filter_add(filtered, local_hash(store_iter_key(iter)));
        there = store_iter_next(iter);
    }
    filtered->complete = store_iter_status(iter) == OK && count <= SMALL_MAX;
    store_iter_close(iter);
    return count;
}

/* Adds the keys of a group that is not yet in the store. */
static void note_group(struct load_filter *load_filter, const struct commit_group *group) {
    for (const struct pending_write *pending = group->pending_writes; pending != NULL;
         pending = pending->next)
        load_filter_add(load_filter, pending->key, pending->hash);
}

static struct filtered *longest_unused(struct load_filter *load_filter) {
    struct filtered *found = &load_filter->all[0];
    for (unsigned i = 1; i < LOADED_MAX; i++)
        if (load_filter->all[i].used_us < found->used_us)
            found = &load_filter->all[i];
    return found;
}

static void filter_partition(struct load_filter *load_filter, struct commit_group *group,
                             struct bytes partition, int64_t now) {
    struct filtered *filtered = load_filter->last = longest_unused(load_filter);
    filter_forget(filtered);
    filtered->used_us = now;
    bloom_reserve(&filtered->keys, FIRST);
    buf_append(&filtered->partition, partition.data, partition.size);
    load_filter->read_from_us = now + (int64_t)read_keys(filtered, group->local) * READ_PAUSE_US;
    if (group->below != NULL)
        note_group(load_filter, group->below);
    note_group(load_filter, group);
}

void load_filter_begin(struct commit_group *group, const struct change *change) {
    struct load_filter *load_filter = group->local->writer->load_filter;
    const struct action_state *last = change->actions[change->action_count - 1].engine_data;
    struct filtered *filtered = find_partition(load_filter, last->key);
    int64_t now = clock_ticks_us();
    if (filtered != NULL) {
        filtered->used_us = now;
        load_filter->last = filtered;
    } else if (last->schema->keys.sort_count != 0 && now >= load_filter->read_from_us) {
        size_t span = keys_partition_span(last->schema, last->key);
        filter_partition(load_filter, group, bytes_of(last->key.data, span), now);
    }
}

int64_t load_filter_run(struct local *local) {
    struct load_filter *load_filter = local->writer->load_filter;
    int64_t now = clock_ticks_us();
    for (unsigned i = 0; i < LOADED_MAX; i++)
        if (load_filter->all[i].partition.size != 0 &&
            now - load_filter->all[i].used_us > FORGET_US)
            filter_forget(&load_filter->all[i]);
    return JOB_WAIT_MAX_US;
}
