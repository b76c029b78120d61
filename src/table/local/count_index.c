/* The set of count indexes: which there are, in which order they go, and what commits do to
 * them. */
#include "table/local/count_index_int.h"

#include "base/clock.h"
#include "base/mem.h"

#include <assert.h>

enum {
    SAVE_EVERY_US = 2 * 1000 * 1000,
    AGAIN_US = 30 * 1000 * 1000,
    HASH_AT = 4,
    KEY_LEAST = 8,
};

struct count_index_set *count_index_new(void) {
    struct count_index_set *set = mem_zalloc(sizeof(*set));
    pthread_mutex_init(&set->lock, NULL);
    pthread_cond_init(&set->built, NULL);
    arena_init(&set->arena);
    set->save_every_us = SAVE_EVERY_US;
    set->again_us = AGAIN_US;
    return set;
}

static void free_list(struct count_index_set *set, struct count_index *list) {
    while (list != NULL) {
        struct count_index *next = list->next;
        count_index_delete(set, list);
        list = next;
    }
}

void count_index_free(struct count_index_set *set) {
    if (set == NULL)
        return;
    while (set->oldest != NULL)
        count_index_remove(set, set->oldest);
    assert(set->map.count == 0); /* nothing is being built */
    free_list(set, set->evicted);
    free_list(set, set->unsave);
    map_release(&set->map);
    arena_release(&set->arena);
    pthread_cond_destroy(&set->built);
    pthread_mutex_destroy(&set->lock);
    mem_free(set);
}

/* --- the map --- */

static uint32_t number_at(struct bytes key, size_t at) {
    uint32_t number = 0;
    for (size_t i = at; i < at + 4; i++)
        number = number << 8 | key.data[i];
    return number;
}

/* Keys in the store begin with table:u32 hash:u32, entries with hash:u32 (store_keys.c). */
static struct count_index_id id_of_item(struct bytes key) {
    assert(key.size >= KEY_LEAST);
    return (struct count_index_id){.owner = number_at(key, 0), .hash = number_at(key, HASH_AT)};
}

static struct count_index_id id_of_entry(const struct index *index, unsigned parts,
                                         struct bytes entry) {
    return (struct count_index_id){
        .owner = (uint64_t)(uintptr_t)index, .parts = parts, .hash = number_at(entry, 0)};
}

static struct count_index_id id_of_names(const struct count_index_target *target) {
    return (struct count_index_id){.owner = (uint64_t)(uintptr_t)target->index,
                                   .parts = COUNT_INDEX_NAMES,
                                   .hash = target->begins,
                                   .list = (uint64_t)(uintptr_t)target->list};
}

struct count_index_id count_index_id_of(const struct count_index_target *target) {
    if (target->parts == COUNT_INDEX_NAMES)
        return id_of_names(target);
    return target->index == NULL ? id_of_item(target->prefix)
                                 : id_of_entry(target->index, target->parts, target->prefix);
}

static struct bytes id_bytes(const struct count_index_id *id) {
    return bytes_of(id, sizeof(*id));
}

struct count_index *count_index_lookup(const struct count_index_set *set,
                                       const struct count_index_id *id, struct bytes prefix) {
    struct count_index *at = map_get(&set->map, id_bytes(id));
    while (at != NULL && !bytes_equal(count_index_prefix(at), prefix))
        at = at->same;
    return at;
}

/* The one whose partition the key or entry is in. A partition's encoding knows its end, so what
 * begins with it is in it. */
static struct count_index *find_holder(const struct count_index_set *set,
                                       const struct count_index_id *id, struct bytes key) {
    struct count_index *at = map_get(&set->map, id_bytes(id));
    while (at != NULL && !bytes_starts(key, count_index_prefix(at)))
        at = at->same;
    return at;
}

/* Counts one in, or out. */
static void tally(struct count_index_set *set, const struct count_index *count_index, int one) {
    atomic_fetch_add(count_index->id.parts == 0 ? &set->item_count : &set->entry_count,
                     (size_t)one);
    if (count_index_is_of_groups(count_index))
        set->group_count += (uint64_t)one;
}

struct count_index *count_index_add(struct count_index_set *set,
                                    const struct count_index_target *target) {
    struct count_index *count_index = mem_zalloc(sizeof(*count_index) + target->prefix.size);
    count_index->id = count_index_id_of(target);
    count_index->index = target->index;
    count_index->list = target->list;
    count_index->notes_end = &count_index->notes;
    count_index->prefix_size = (uint32_t)target->prefix.size;
    memcpy(count_index->prefix, target->prefix.data, target->prefix.size);
    struct count_index *first = map_get(&set->map, id_bytes(&count_index->id));
    if (first == NULL)
        map_put(&set->map, id_bytes(&count_index->id), count_index);
    else {
        count_index->same = first->same;
        first->same = count_index;
    }
    if (count_index->id.parts == COUNT_INDEX_NAMES) {
        count_index->next_names = set->names;
        set->names = count_index;
    }
    tally(set, count_index, 1);
    count_index_charge(set, count_index, sizeof(*count_index) + target->prefix.size);
    return count_index;
}

static void map_remove(struct count_index_set *set, struct count_index *count_index) {
    struct count_index *at = map_del(&set->map, id_bytes(&count_index->id));
    if (at == count_index)
        at = count_index->same;
    else
        for (struct count_index *before = at; before != NULL; before = before->same)
            if (before->same == count_index)
                before->same = count_index->same;
    if (at != NULL)
        map_put(&set->map, id_bytes(&at->id), at);
    count_index->same = NULL;
}

/* --- the order of use --- */

static void unlink_used(struct count_index_set *set, struct count_index *count_index) {
    *(count_index->newer != NULL ? &count_index->newer->older : &set->newest) = count_index->older;
    *(count_index->older != NULL ? &count_index->older->newer : &set->oldest) = count_index->newer;
    count_index->newer = count_index->older = NULL;
}

static void link_used(struct count_index_set *set, struct count_index *count_index) {
    count_index->older = set->newest;
    *(set->newest != NULL ? &set->newest->newer : &set->oldest) = count_index;
    set->newest = count_index;
}

void count_index_remove(struct count_index_set *set, struct count_index *count_index) {
    map_remove(set, count_index);
    count_index_charge(set, count_index, 0);
    tally(set, count_index, -1);
    for (struct count_index **at = &set->names; *at != NULL; at = &(*at)->next_names)
        if (*at == count_index) {
            *at = count_index->next_names;
            break;
        }
    if (!count_index->whole) {
        count_index->gone = true;
        return;
    }
    unlink_used(set, count_index);
    set->count--;
    count_index->next = set->evicted;
    set->evicted = count_index;
}

void count_index_finish(struct count_index_set *set, struct count_index *count_index) {
    count_index->whole = true;
    buf_release(&count_index->from);
    link_used(set, count_index);
    set->count++;
    if (count_index->id.parts == 0)
        set->unsaved = true;
    pthread_cond_broadcast(&set->built);
}

const struct tree *count_index_find(struct local *local, const struct count_index_target *target) {
    struct count_index_set *set = local->count_index;
    struct count_index_id id = count_index_id_of(target);
    pthread_mutex_lock(&set->lock);
    struct count_index *found = count_index_lookup(set, &id, target->prefix);
    if (found != NULL && !found->whole)
        found = NULL;
    if (found != NULL && found != set->newest) {
        unlink_used(set, found);
        link_used(set, found);
    }
    pthread_mutex_unlock(&set->lock);
    return found != NULL ? found->tree : NULL;
}

/* --- memory --- */

void count_index_charge(struct count_index_set *set, struct count_index *count_index,
                        size_t memory) {
    atomic_fetch_add_explicit(&set->memory, memory - count_index->memory, memory_order_relaxed);
    count_index->memory = memory;
}

bool count_index_make_room(struct local *local) {
    struct count_index_set *set = local->count_index;
    for (;;) {
        uint64_t sum = atomic_load_explicit(&local->index_memory, memory_order_relaxed) +
                       atomic_load_explicit(&set->memory, memory_order_relaxed);
        if (sum <= local->settings.index_memory)
            return true;
        if (set->oldest == NULL)
            return false;
        count_index_remove(set, set->oldest);
    }
}

static void free_notes(struct count_index *count_index) {
    while (count_index->notes != NULL) {
        struct count_index_note *gone = count_index->notes;
        count_index->notes = gone->next;
        mem_free(gone);
    }
}

void count_index_delete(struct count_index_set *set, struct count_index *count_index) {
    count_index_charge(set, count_index, 0);
    tree_free(count_index->tree);
    free_notes(count_index);
    buf_release(&count_index->from);
    mem_free(count_index);
}

static void free_tree(void *what) {
    tree_free(what);
}

void count_index_delete_evicted(struct count_index_set *set, struct reclaimer *reclaimer) {
    pthread_mutex_lock(&set->lock);
    struct count_index *list = set->evicted;
    set->evicted = NULL;
    pthread_mutex_unlock(&set->lock);
    while (list != NULL) {
        struct count_index *count_index = list;
        list = count_index->next;
        reclaimer_give(reclaimer, free_tree, count_index->tree);
        count_index->tree = NULL;
        if (!count_index->saved) {
            count_index_delete(set, count_index);
            continue;
        }
        pthread_mutex_lock(&set->lock);
        count_index->next = set->unsave;
        set->unsave = count_index;
        set->unsaved = true;
        pthread_mutex_unlock(&set->lock);
    }
}

/* --- what commits do --- */

bool count_index_any_items(const struct local *local) {
    return atomic_load_explicit(&local->count_index->item_count, memory_order_relaxed) != 0;
}

bool count_index_any_entries(const struct local *local) {
    return atomic_load_explicit(&local->count_index->entry_count, memory_order_relaxed) != 0;
}

static void charge_tree(struct count_index_set *set, struct count_index *count_index,
                        size_t before) {
    count_index_charge(set, count_index,
                       count_index->memory + tree_memory(count_index->tree) - before);
}

static void note_item(struct count_index_set *set, struct count_index *count_index,
                      struct bytes key, bool present) {
    struct count_index_note *note = mem_alloc(sizeof(*note) + key.size);
    *note = (struct count_index_note){.present = present, .size = (uint32_t)key.size};
    memcpy(note->key, key.data, key.size);
    *count_index->notes_end = note;
    count_index->notes_end = &note->next;
    count_index_charge(set, count_index, count_index->memory + sizeof(*note) + key.size);
}

void count_index_item_changed(struct local *local, struct bytes key, bool present) {
    struct count_index_set *set = local->count_index;
    struct count_index_id id = id_of_item(key);
    pthread_mutex_lock(&set->lock);
    struct count_index *count_index = find_holder(set, &id, key);
    if (count_index != NULL && !count_index->whole)
        note_item(set, count_index, key, present);
    else if (count_index != NULL) {
        size_t before = tree_memory(count_index->tree);
        if (present)
            tree_put(count_index->tree, key);
        else
            tree_del(count_index->tree, key);
        charge_tree(set, count_index, before);
    }
    pthread_mutex_unlock(&set->lock);
}

bool count_index_has(const struct index *index, struct bytes begin) {
    uint8_t memory[COUNT_INDEX_KEY_ROOM];
    struct tree_cursor cursor = {.key = buf_in(memory, sizeof(memory))};
    bool has = tree_seek(&cursor, index->tree, begin) && bytes_starts(tree_key(&cursor), begin);
    tree_cursor_release(&cursor);
    return has;
}

static void update_group(struct count_index_set *set, const struct index *index, unsigned parts,
                         struct bytes entry) {
    struct count_index_id id = id_of_entry(index, parts, entry);
    struct count_index *count_index = find_holder(set, &id, entry);
    if (count_index == NULL || count_index->tree == NULL) /* its build is yet to begin */
        return;
    struct bytes group = bytes_of(entry.data, keys_entry_span(index, entry, parts));
    size_t before = tree_memory(count_index->tree);
    if (count_index_has(index, group))
        tree_put(count_index->tree, group);
    else
        tree_del(count_index->tree, group);
    charge_tree(set, count_index, before);
}

/* Their builds are told of what they have not come to, too, once they have begun. */
static void update_names(struct count_index_set *set, const struct index *index, struct bytes gone,
                         struct bytes come) {
    bool stays = count_index_stays(index, gone, come);
    for (struct count_index *one = set->names; one != NULL; one = one->next_names) {
        bool moves = index == one->index && !stays, lists = index == one->list;
        if (one->tree == NULL || (!moves && !lists))
            continue;
        size_t before = tree_memory(one->tree);
        if (moves)
            count_index_partition_changed(one, gone, come);
        if (lists)
            count_index_list_changed(one, gone, come);
        charge_tree(set, one, before);
    }
}

void count_index_entry_changed(struct local *local, const struct index *index, struct bytes gone,
                               struct bytes come) {
    struct count_index_set *set = local->count_index;
    if (index->schema == NULL)
        return;
    pthread_mutex_lock(&set->lock);
    for (unsigned parts = 1; set->group_count != 0 && parts <= index->schema->keys.sort_count;
         parts++) {
        if (gone.size != 0)
            update_group(set, index, parts, gone);
        if (come.size != 0)
            update_group(set, index, parts, come);
    }
    if (set->names != NULL)
        update_names(set, index, gone, come);
    pthread_mutex_unlock(&set->lock);
}

void count_index_fit(struct local *local) {
    pthread_mutex_lock(&local->count_index->lock);
    count_index_make_room(local);
    pthread_mutex_unlock(&local->count_index->lock);
}

/* --- forgetting --- */

static bool is_of(const struct count_index *one, const uint64_t *owner) {
    return owner == NULL || one->id.owner == *owner ||
           (one->list != NULL && one->id.list == *owner);
}

/* Those of an owner, or of all (NULL), linked by `next`: while it is walked through, the map may
 * not change. The caller holds the lock. */
static struct count_index *list_owned(const struct count_index_set *set, const uint64_t *owner) {
    struct count_index *list = NULL;
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&set->map, &at)) != NULL;) {
        struct count_index *one = slot->value;
        for (; one != NULL && is_of(one, owner); one = one->same) {
            one->next = list;
            list = one;
        }
    }
    return list;
}

static void forget_owner(struct local *local, uint64_t owner) {
    struct count_index_set *set = local->count_index;
    pthread_mutex_lock(&set->lock);
    for (struct count_index *one = list_owned(set, &owner), *next; one != NULL; one = next) {
        next = one->next;
        count_index_remove(set, one);
    }
    pthread_cond_broadcast(&set->built);
    pthread_mutex_unlock(&set->lock);
}

void count_index_forget_index(struct local *local, const struct index *index) {
    forget_owner(local, (uint64_t)(uintptr_t)index);
}

void count_index_forget_table(struct local *local, const struct table *table) {
    forget_owner(local, table->id);
    for (unsigned i = 0; i < table->index_count; i++)
        count_index_forget_index(local, table->indexes[i]);
}

void count_index_pause(struct local *local) {
    atomic_store(&local->count_index->stop, true);
}

void count_index_resume(struct local *local) {
    if (!atomic_load(&local->count_index->closing))
        atomic_store(&local->count_index->stop, false);
}

/* What the store knows stays: those that are wanted again are made again. */
void count_index_clear(struct local *local) {
    struct count_index_set *set = local->count_index;
    pthread_mutex_lock(&set->lock);
    for (struct count_index *one = list_owned(set, NULL), *next; one != NULL; one = next) {
        next = one->next;
        one->saved = false;
        count_index_remove(set, one);
    }
    pthread_cond_broadcast(&set->built);
    pthread_mutex_unlock(&set->lock);
}

void count_index_figures(const struct local *local, struct engine_figures *out) {
    struct count_index_set *set = local->count_index;
    pthread_mutex_lock(&set->lock);
    out->count_index = set->count;
    out->count_index_memory = atomic_load_explicit(&set->memory, memory_order_relaxed);
    pthread_mutex_unlock(&set->lock);
}
