/* Building a count index, on the thread that asked for it. */
#include "table/local/count_index_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

enum {
    CHECK_EVERY = 1024 /* keys between looks at the memory and at whether to go on */
};

/* --- whose turn it is --- */

static uint64_t refusal_hash(const struct count_index_id *id, struct bytes prefix) {
    return hash_keyed(prefix, id->owner ^ id->parts ^ id->list);
}

static bool is_refused(const struct count_index_set *set, uint64_t hash) {
    for (unsigned i = 0; i < COUNT_INDEX_REFUSED; i++)
        if (set->refused[i].hash == hash && clock_ticks_us() < set->refused[i].until_us)
            return true;
    return false;
}

static void remember_refused(struct count_index_set *set, uint64_t hash) {
    unsigned at = set->refused_next++ % COUNT_INDEX_REFUSED;
    set->refused[at].hash = hash;
    set->refused[at].until_us = clock_ticks_us() + set->again_us;
}

/* Waits for who is building it; false if that came to nothing. */
static bool wait_for(struct count_index_set *set, const struct count_index_id *id,
                     struct bytes prefix) {
    struct count_index *found;
    pthread_mutex_lock(&set->lock);
    while ((found = count_index_lookup(set, id, prefix)) != NULL && !found->whole)
        pthread_cond_wait(&set->built, &set->lock);
    pthread_mutex_unlock(&set->lock);
    return found != NULL;
}

static void give_up(struct count_index_set *set, struct count_index *count_index) {
    pthread_mutex_lock(&set->lock);
    if (!count_index->gone) {
        if (!atomic_load(&set->stop))
            remember_refused(set, refusal_hash(&count_index->id, count_index_prefix(count_index)));
        count_index_remove(set, count_index);
    }
    pthread_cond_broadcast(&set->built);
    pthread_mutex_unlock(&set->lock);
    count_index_delete(set, count_index);
}

/* What came of asking to build a count index. */
struct announcement {
    struct count_index *count_index; /* to be built by who asked, or NULL: */
    bool there;                      /* it is there, or another thread builds it */
    struct snapshot *snapshot;       /* to build it from, if it is of items */
};

/* Announces a build unless there is one, or the tree, or no use in trying. */
static struct announcement announce(struct local *local, const struct count_index_target *target,
                                    const struct count_index_id *id) {
    struct count_index_set *set = local->count_index;
    struct announcement made = {0};
    pthread_rwlock_rdlock(&local->state_lock);
    if (!target->table->gone && (target->index == NULL || target->index->tree != NULL) &&
        (target->list == NULL || target->list->tree != NULL)) {
        pthread_mutex_lock(&set->lock);
        made.there = count_index_lookup(set, id, target->prefix) != NULL;
        if (!made.there && !atomic_load(&set->stop) &&
            !is_refused(set, refusal_hash(id, target->prefix)))
            made.count_index = count_index_add(set, target);
        pthread_mutex_unlock(&set->lock);
    }
    if (made.count_index != NULL && target->index == NULL)
        made.snapshot = snapshot_hold(local);
    pthread_rwlock_unlock(&local->state_lock);
    return made;
}

bool count_index_make(struct local *local, const struct count_index_target *target) {
    struct count_index_set *set = local->count_index;
    struct count_index_id id = count_index_id_of(target);
    struct announcement made = announce(local, target, &id);
    if (made.count_index == NULL)
        return made.there && wait_for(set, &id, target->prefix);
    bool built = target->index == NULL
                     ? count_index_build_items(local, made.count_index, made.snapshot)
                     : count_index_build_entries(local, made.count_index);
    if (!built)
        give_up(set, made.count_index);
    return built;
}

/* --- items --- */

/* A build under way. */
struct count_build {
    struct local *local;
    struct count_index *count_index;
    size_t charged; /* bytes that are counted as the count index's already */
};

/* Counts in the memory that the build takes by now. False: it must end. */
static bool may_go_on(struct count_build *build, size_t memory) {
    struct count_index *count_index = build->count_index;
    struct count_index_set *set = build->local->count_index;
    pthread_mutex_lock(&set->lock);
    bool good = !count_index->gone && !atomic_load(&set->stop);
    if (good) {
        count_index_charge(set, count_index, count_index->memory + memory - build->charged);
        build->charged = memory;
        good = count_index_make_room(build->local);
    }
    pthread_mutex_unlock(&set->lock);
    return good;
}

static bool load_item_keys(struct count_build *build, const struct snapshot *snapshot,
                           struct tree_loader *loader) {
    struct bytes prefix = count_index_prefix(build->count_index);
    struct buf high = {0};
    buf_put(&high, prefix);
    key_after_prefix(&high, 0);
    struct store_range range = {.family = STORE_ITEMS,
                                .snapshot = snapshot->stored,
                                .low = prefix,
                                .high = buf_bytes(&high),
                                .bulk = true};
    struct store_iter *iter = store_iter_open(build->local->store, &range);
    bool good = true;
    uint64_t count = 0;
    for (bool on = store_iter_first(iter); on && good; on = store_iter_next(iter)) {
        good = tree_loader_add(loader, store_iter_key(iter));
        if (++count % CHECK_EVERY == 0)
            good = good && may_go_on(build, tree_loader_memory(loader));
    }
    good = good && store_iter_status(iter) == OK;
    store_iter_close(iter);
    buf_release(&high);
    return good;
}

/* Takes the notes there are; without any, the tree is whole from now on, unless it is not wanted
 * any more. */
static struct count_index_note *take_notes(struct count_index_set *set,
                                           struct count_index *count_index, struct tree *tree,
                                           bool *whole) {
    pthread_mutex_lock(&set->lock);
    struct count_index_note *notes = count_index->notes;
    count_index->notes = NULL;
    count_index->notes_end = &count_index->notes;
    *whole = notes == NULL && !count_index->gone;
    if (*whole) {
        count_index->tree = tree;
        count_index_charge(set, count_index,
                           sizeof(*count_index) + count_index->prefix_size + tree_memory(tree));
        count_index_finish(set, count_index);
    }
    pthread_mutex_unlock(&set->lock);
    return notes;
}

static void replay_notes(struct tree *tree, struct count_index_note *note) {
    while (note != NULL) {
        struct count_index_note *next = note->next;
        struct bytes key = bytes_of(note->key, note->size);
        if (note->present)
            tree_put(tree, key);
        else
            tree_del(tree, key);
        mem_free(note);
        note = next;
    }
}

bool count_index_build_items(struct local *local, struct count_index *count_index,
                             struct snapshot *snapshot) {
    struct count_index_set *set = local->count_index;
    struct tree_loader *loader = tree_loader_new();
    struct count_build build = {.local = local, .count_index = count_index};
    bool good = load_item_keys(&build, snapshot, loader);
    snapshot_drop(snapshot); /* before anything is waited for */
    struct tree *tree = tree_loader_finish(loader);
    good = good && may_go_on(&build, tree_memory(tree));
    while (good) {
        bool whole;
        struct count_index_note *notes = take_notes(set, count_index, tree, &whole);
        if (whole)
            return true; /* it is others' to send away already */
        replay_notes(tree, notes);
        good = may_go_on(&build, tree_memory(tree));
    }
    tree_free(tree);
    return false;
}

/* --- groups and names --- */

/* Builds the next few groups. The caller holds state_lock. False: there are no more. */
static bool build_groups(struct count_index *count_index) {
    const struct index *index = count_index->index;
    struct tree_cursor cursor = {0};
    bool more = true;
    if (count_index->tree == NULL) {
        count_index->tree = tree_new();
        buf_put(&count_index->from, count_index_prefix(count_index));
    }
    for (unsigned i = 0; more && i < COUNT_INDEX_PIECE; i++) {
        more = tree_seek(&cursor, index->tree, buf_bytes(&count_index->from)) &&
               bytes_starts(tree_key(&cursor), count_index_prefix(count_index));
        if (!more)
            break;
        struct bytes entry = tree_key(&cursor);
        struct bytes group =
            bytes_of(entry.data, keys_entry_span(index, entry, count_index->id.parts));
        tree_put(count_index->tree, group);
        buf_clear(&count_index->from);
        buf_put(&count_index->from, group);
        key_after_prefix(&count_index->from, 0);
    }
    tree_cursor_release(&cursor);
    return more;
}

bool count_index_build_entries(struct local *local, struct count_index *count_index) {
    struct count_index_set *set = local->count_index;
    bool groups = count_index_is_of_groups(count_index);
    bool good = true, more = true;
    while (good && more) {
        pthread_rwlock_rdlock(&local->state_lock);
        good = !count_index->gone; /* which the writer says while it holds state_lock */
        if (good) {
            struct count_build build = {.local = local, .count_index = count_index};
            size_t before = count_index->tree == NULL ? 0 : tree_memory(count_index->tree);
            more = groups ? build_groups(count_index) : count_index_build_names(count_index);
            good = may_go_on(&build, tree_memory(count_index->tree) - before);
        }
        if (good && !more) {
            pthread_mutex_lock(&set->lock);
            count_index_finish(set, count_index);
            pthread_mutex_unlock(&set->lock);
        }
        pthread_rwlock_unlock(&local->state_lock);
    }
    return good;
}
