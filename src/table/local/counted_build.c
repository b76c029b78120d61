/* Making a counted partition, by whoever asked for it. */
#include "table/local/counted_int.h"

#include "base/clock.h"
#include "base/mem.h"

enum {
    CHECK_EVERY = 1024,  /* keys between looks at the memory and at whether to go on */
    GROUPS_A_PIECE = 512 /* built under one hold of moment */
};

/* --- whose turn it is --- */

static uint64_t hash_of(const struct counted_id *id, struct bytes prefix) {
    return bytes_hash(prefix, id->owner ^ id->parts);
}

static bool is_refused(const struct counted_set *set, uint64_t hash) {
    for (unsigned i = 0; i < COUNTED_REFUSED; i++)
        if (set->refused[i].hash == hash && clock_ticks_us() < set->refused[i].until_us)
            return true;
    return false;
}

static void refuse(struct counted_set *set, uint64_t hash) {
    unsigned at = set->refused_next++ % COUNTED_REFUSED;
    set->refused[at].hash = hash;
    set->refused[at].until_us = clock_ticks_us() + set->again_us;
}

/* Waits for who is building it; false if that came to nothing. */
static bool wait_for(struct counted_set *set, const struct counted_id *id, struct bytes prefix) {
    struct counted *found;
    pthread_mutex_lock(&set->lock);
    while ((found = counted_lookup(set, id, prefix)) != NULL && !found->whole)
        pthread_cond_wait(&set->built, &set->lock);
    pthread_mutex_unlock(&set->lock);
    return found != NULL;
}

static void give_up(struct counted_set *set, struct counted *counted) {
    pthread_mutex_lock(&set->lock);
    if (!counted->gone) {
        if (!atomic_load(&set->stop))
            refuse(set, hash_of(&counted->id, counted_prefix(counted)));
        counted_remove(set, counted);
    }
    pthread_cond_broadcast(&set->built);
    pthread_mutex_unlock(&set->lock);
    counted_delete(set, counted);
}

/* Announces a build unless there is one, or the tree, or no use in trying. */
static struct counted *announce(struct local *local, const struct counted_what *what,
                                const struct counted_id *id, struct view **view, bool *there) {
    struct counted_set *set = local->counted;
    struct counted *counted = NULL;
    *view = NULL;
    *there = false;
    pthread_rwlock_rdlock(&local->moment);
    if (!what->table->gone && (what->index == NULL || what->index->tree != NULL)) {
        pthread_mutex_lock(&set->lock);
        *there = counted_lookup(set, id, what->prefix) != NULL;
        if (!*there && !atomic_load(&set->stop) && !is_refused(set, hash_of(id, what->prefix)))
            counted = counted_add(set, what);
        pthread_mutex_unlock(&set->lock);
    }
    if (counted != NULL && what->index == NULL)
        *view = view_hold(local);
    pthread_rwlock_unlock(&local->moment);
    return counted;
}

bool counted_make(struct local *local, const struct counted_what *what) {
    struct counted_set *set = local->counted;
    struct counted_id id = counted_id_of(what);
    struct view *view;
    bool there;
    struct counted *counted = announce(local, what, &id, &view, &there);
    if (counted == NULL)
        return there && wait_for(set, &id, what->prefix);
    bool built = what->index == NULL ? counted_build_items(local, counted, view)
                                     : counted_build_groups(local, counted);
    if (!built)
        give_up(set, counted);
    return built;
}

/* --- items --- */

/* Counts in what the build takes by now. False: it must end. */
static bool may_go_on(struct local *local, struct counted *counted, size_t memory,
                      size_t *charged) {
    struct counted_set *set = local->counted;
    pthread_mutex_lock(&set->lock);
    bool good = !counted->gone && !atomic_load(&set->stop);
    if (good) {
        counted_charge(set, counted, counted->memory + memory - *charged);
        *charged = memory;
        good = counted_make_room(local);
    }
    pthread_mutex_unlock(&set->lock);
    return good;
}

static bool read_keys(struct local *local, struct counted *counted, const struct view *view,
                      struct tree_loader *loader, size_t *charged) {
    struct buf high = {0};
    buf_put(&high, counted_prefix(counted));
    key_after_prefix(&high, 0);
    struct store_range range = {.family = STORE_ITEMS,
                                .snapshot = view->snapshot,
                                .low = counted_prefix(counted),
                                .high = buf_bytes(&high),
                                .bulk = true};
    struct store_iter *iter = store_iter_open(local->store, &range);
    bool good = true;
    uint64_t count = 0;
    for (bool on = store_iter_first(iter); on && good; on = store_iter_next(iter)) {
        good = tree_loader_add(loader, store_iter_key(iter));
        if (++count % CHECK_EVERY == 0)
            good = good && may_go_on(local, counted, tree_loader_memory(loader), charged);
    }
    good = good && store_iter_status(iter) == OK;
    store_iter_close(iter);
    buf_release(&high);
    return good;
}

/* Takes the notes there are; without any, the tree is whole from now on, unless it is not wanted
 * any more. */
static struct counted_note *take_notes(struct counted_set *set, struct counted *counted,
                                       struct tree *tree, bool *whole) {
    pthread_mutex_lock(&set->lock);
    struct counted_note *notes = counted->notes;
    counted->notes = NULL;
    counted->notes_end = &counted->notes;
    *whole = notes == NULL && !counted->gone;
    if (*whole) {
        counted->tree = tree;
        counted_charge(set, counted, sizeof(*counted) + counted->prefix_size + tree_memory(tree));
        counted_finish(set, counted);
    }
    pthread_mutex_unlock(&set->lock);
    return notes;
}

static void play(struct tree *tree, struct counted_note *note) {
    while (note != NULL) {
        struct counted_note *next = note->next;
        struct bytes key = bytes_of(note->key, note->size);
        if (note->present)
            tree_put(tree, key);
        else
            tree_del(tree, key);
        mem_free(note);
        note = next;
    }
}

bool counted_build_items(struct local *local, struct counted *counted, struct view *view) {
    struct counted_set *set = local->counted;
    struct tree_loader *loader = tree_loader_new();
    size_t charged = 0;
    bool good = read_keys(local, counted, view, loader, &charged);
    view_drop(view); /* before anything is waited for */
    struct tree *tree = tree_loader_finish(loader);
    good = good && may_go_on(local, counted, tree_memory(tree), &charged);
    while (good) {
        bool whole;
        struct counted_note *notes = take_notes(set, counted, tree, &whole);
        if (whole)
            return true; /* it is others' to send away already */
        play(tree, notes);
        good = may_go_on(local, counted, tree_memory(tree), &charged);
    }
    tree_free(tree);
    return false;
}

/* --- groups --- */

/* Builds the next few. The caller holds moment. False: there are no more. */
static bool build_piece(struct counted *counted) {
    const struct index *index = counted->index;
    struct tree_cursor cursor = {0};
    bool more = true;
    if (counted->tree == NULL) {
        counted->tree = tree_new();
        buf_put(&counted->from, counted_prefix(counted));
    }
    for (unsigned i = 0; more && i < GROUPS_A_PIECE; i++) {
        more = tree_seek(&cursor, index->tree, buf_bytes(&counted->from)) &&
               bytes_starts(tree_key(&cursor), counted_prefix(counted));
        if (!more)
            break;
        struct bytes entry = tree_key(&cursor);
        struct bytes group = bytes_of(entry.data, keys_entry_span(index, entry, counted->id.parts));
        tree_put(counted->tree, group);
        buf_clear(&counted->from);
        buf_put(&counted->from, group);
        key_after_prefix(&counted->from, 0);
    }
    tree_cursor_release(&cursor);
    return more;
}

bool counted_build_groups(struct local *local, struct counted *counted) {
    struct counted_set *set = local->counted;
    bool good = true, more = true;
    while (good && more) {
        pthread_rwlock_rdlock(&local->moment);
        good = !counted->gone; /* which the writer says while it holds moment */
        if (good) {
            size_t before = counted->tree == NULL ? 0 : tree_memory(counted->tree), charged = 0;
            more = build_piece(counted);
            good = may_go_on(local, counted, tree_memory(counted->tree) - before, &charged);
        }
        if (good && !more) {
            pthread_mutex_lock(&set->lock);
            counted_finish(set, counted);
            pthread_mutex_unlock(&set->lock);
        }
        pthread_rwlock_unlock(&local->moment);
    }
    return good;
}
