/* The set of counted partitions: which there are, in which order they go, and what commits do to
 * them. */
#include "table/local/counted_int.h"

#include "base/clock.h"
#include "base/mem.h"

#include <assert.h>

enum {
    SAVE_EVERY_US = 2 * 1000 * 1000,
    AGAIN_US = 30 * 1000 * 1000,
    HASH_AT = 4,
    KEY_LEAST = 8,
};

struct counted_set *counted_new(void) {
    struct counted_set *set = mem_zalloc(sizeof(*set));
    pthread_mutex_init(&set->lock, NULL);
    pthread_cond_init(&set->built, NULL);
    arena_init(&set->arena);
    set->save_every_us = SAVE_EVERY_US;
    set->again_us = AGAIN_US;
    return set;
}

static void free_list(struct counted_set *set, struct counted *list) {
    while (list != NULL) {
        struct counted *next = list->next;
        counted_delete(set, list);
        list = next;
    }
}

void counted_free(struct counted_set *set) {
    if (set == NULL)
        return;
    while (set->oldest != NULL)
        counted_remove(set, set->oldest);
    assert(set->map.count == 0); /* nothing is being built */
    free_list(set, set->sent_away);
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

/* Keys in the store begin with table:u32 hash:u32, entries with hash:u32 (keys.c). */
static struct counted_id id_of_item(struct bytes key) {
    assert(key.size >= KEY_LEAST);
    return (struct counted_id){.owner = number_at(key, 0), .hash = number_at(key, HASH_AT)};
}

static struct counted_id id_of_entry(const struct index *index, unsigned parts,
                                     struct bytes entry) {
    return (struct counted_id){(uint64_t)(uintptr_t)index, parts, number_at(entry, 0)};
}

struct counted_id counted_id_of(const struct counted_what *what) {
    return what->index == NULL ? id_of_item(what->prefix)
                               : id_of_entry(what->index, what->parts, what->prefix);
}

static struct bytes id_bytes(const struct counted_id *id) {
    return bytes_of(id, sizeof(*id));
}

struct counted *counted_lookup(const struct counted_set *set, const struct counted_id *id,
                               struct bytes prefix) {
    struct counted *at = map_get(&set->map, id_bytes(id));
    while (at != NULL && !bytes_equal(counted_prefix(at), prefix))
        at = at->same;
    return at;
}

/* The one whose partition the key or entry is in. A partition's encoding knows its end, so what
 * begins with it is in it. */
static struct counted *find_holder(const struct counted_set *set, const struct counted_id *id,
                                   struct bytes key) {
    struct counted *at = map_get(&set->map, id_bytes(id));
    while (at != NULL && !bytes_starts(key, counted_prefix(at)))
        at = at->same;
    return at;
}

struct counted *counted_add(struct counted_set *set, const struct counted_what *what) {
    struct counted *counted = mem_zalloc(sizeof(*counted) + what->prefix.size);
    counted->id = counted_id_of(what);
    counted->index = what->index;
    counted->notes_end = &counted->notes;
    counted->prefix_size = (uint32_t)what->prefix.size;
    memcpy(counted->prefix, what->prefix.data, what->prefix.size);
    struct counted *first = map_get(&set->map, id_bytes(&counted->id));
    if (first == NULL)
        map_put(&set->map, id_bytes(&counted->id), counted);
    else {
        counted->same = first->same;
        first->same = counted;
    }
    atomic_fetch_add(&set->any, 1);
    set->group_count += counted->id.parts != 0;
    counted_charge(set, counted, sizeof(*counted) + what->prefix.size);
    return counted;
}

static void unmap(struct counted_set *set, struct counted *counted) {
    struct counted *at = map_del(&set->map, id_bytes(&counted->id));
    if (at == counted)
        at = counted->same;
    else
        for (struct counted *before = at; before != NULL; before = before->same)
            if (before->same == counted)
                before->same = counted->same;
    if (at != NULL)
        map_put(&set->map, id_bytes(&at->id), at);
    counted->same = NULL;
}

/* --- the order of use --- */

static void unlink_used(struct counted_set *set, struct counted *counted) {
    *(counted->newer != NULL ? &counted->newer->older : &set->newest) = counted->older;
    *(counted->older != NULL ? &counted->older->newer : &set->oldest) = counted->newer;
    counted->newer = counted->older = NULL;
}

static void link_used(struct counted_set *set, struct counted *counted) {
    counted->older = set->newest;
    *(set->newest != NULL ? &set->newest->newer : &set->oldest) = counted;
    set->newest = counted;
}

void counted_remove(struct counted_set *set, struct counted *counted) {
    unmap(set, counted);
    counted_charge(set, counted, 0);
    atomic_fetch_sub(&set->any, 1);
    set->group_count -= counted->id.parts != 0;
    if (!counted->whole) {
        counted->gone = true;
        return;
    }
    unlink_used(set, counted);
    set->count--;
    counted->next = set->sent_away;
    set->sent_away = counted;
}

void counted_finish(struct counted_set *set, struct counted *counted) {
    counted->whole = true;
    buf_release(&counted->from);
    link_used(set, counted);
    set->count++;
    if (counted->id.parts == 0)
        set->unsaved = true;
    pthread_cond_broadcast(&set->built);
}

const struct tree *counted_find(struct local *local, const struct counted_what *what) {
    struct counted_set *set = local->counted;
    struct counted_id id = counted_id_of(what);
    pthread_mutex_lock(&set->lock);
    struct counted *found = counted_lookup(set, &id, what->prefix);
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

void counted_charge(struct counted_set *set, struct counted *counted, size_t memory) {
    atomic_fetch_add_explicit(&set->memory, memory - counted->memory, memory_order_relaxed);
    counted->memory = memory;
}

bool counted_make_room(struct local *local) {
    struct counted_set *set = local->counted;
    for (;;) {
        uint64_t sum = atomic_load_explicit(&local->index_memory, memory_order_relaxed) +
                       atomic_load_explicit(&set->memory, memory_order_relaxed);
        if (sum <= local->settings.index_memory)
            return true;
        if (set->oldest == NULL)
            return false;
        counted_remove(set, set->oldest);
    }
}

static void free_notes(struct counted *counted) {
    while (counted->notes != NULL) {
        struct counted_note *gone = counted->notes;
        counted->notes = gone->next;
        mem_free(gone);
    }
}

void counted_delete(struct counted_set *set, struct counted *counted) {
    counted_charge(set, counted, 0);
    tree_free(counted->tree);
    free_notes(counted);
    buf_release(&counted->from);
    mem_free(counted);
}

void counted_delete_all(struct counted_set *set) {
    pthread_mutex_lock(&set->lock);
    struct counted *list = set->sent_away;
    set->sent_away = NULL;
    pthread_mutex_unlock(&set->lock);
    while (list != NULL) {
        struct counted *counted = list;
        list = counted->next;
        tree_free(counted->tree);
        counted->tree = NULL;
        if (!counted->saved) {
            counted_delete(set, counted);
            continue;
        }
        pthread_mutex_lock(&set->lock);
        counted->next = set->unsave;
        set->unsave = counted;
        set->unsaved = true;
        pthread_mutex_unlock(&set->lock);
    }
}

/* --- what commits do --- */

bool counted_any(const struct local *local) {
    return atomic_load_explicit(&local->counted->any, memory_order_relaxed) != 0;
}

static void charge_tree(struct counted_set *set, struct counted *counted, size_t before) {
    counted_charge(set, counted, counted->memory + tree_memory(counted->tree) - before);
}

static void note_item(struct counted_set *set, struct counted *counted, struct bytes key,
                      bool present) {
    struct counted_note *note = mem_alloc(sizeof(*note) + key.size);
    *note = (struct counted_note){.present = present, .size = (uint32_t)key.size};
    memcpy(note->key, key.data, key.size);
    *counted->notes_end = note;
    counted->notes_end = &note->next;
    counted_charge(set, counted, counted->memory + sizeof(*note) + key.size);
}

void counted_item(struct local *local, struct bytes key, bool present) {
    struct counted_set *set = local->counted;
    struct counted_id id = id_of_item(key);
    pthread_mutex_lock(&set->lock);
    struct counted *counted = find_holder(set, &id, key);
    if (counted != NULL && !counted->whole)
        note_item(set, counted, key, present);
    else if (counted != NULL) {
        size_t before = tree_memory(counted->tree);
        if (present)
            tree_put(counted->tree, key);
        else
            tree_del(counted->tree, key);
        charge_tree(set, counted, before);
    }
    pthread_mutex_unlock(&set->lock);
}

/* Whether an entry of the index begins so. */
static bool has_group(const struct index *index, struct bytes group) {
    uint8_t memory[COUNTED_KEY_ROOM];
    struct buf after = buf_in(memory, sizeof(memory));
    buf_put(&after, group);
    key_after_prefix(&after, 0);
    bool has = tree_rank(index->tree, group) != tree_rank(index->tree, buf_bytes(&after));
    buf_release(&after);
    return has;
}

static void move_entry(struct counted_set *set, const struct index *index, unsigned parts,
                       struct bytes entry) {
    struct counted_id id = id_of_entry(index, parts, entry);
    struct counted *counted = find_holder(set, &id, entry);
    if (counted == NULL || counted->tree == NULL) /* its build is yet to begin */
        return;
    struct bytes group = bytes_of(entry.data, keys_entry_span(index, entry, parts));
    size_t before = tree_memory(counted->tree);
    if (has_group(index, group))
        tree_put(counted->tree, group);
    else
        tree_del(counted->tree, group);
    charge_tree(set, counted, before);
}

void counted_move(struct local *local, const struct index *index, struct bytes gone,
                  struct bytes come) {
    struct counted_set *set = local->counted;
    if (index->schema == NULL)
        return;
    pthread_mutex_lock(&set->lock);
    for (unsigned parts = 1; set->group_count != 0 && parts <= index->schema->keys.sort_count;
         parts++) {
        if (gone.size != 0)
            move_entry(set, index, parts, gone);
        if (come.size != 0)
            move_entry(set, index, parts, come);
    }
    pthread_mutex_unlock(&set->lock);
}

void counted_fit(struct local *local) {
    pthread_mutex_lock(&local->counted->lock);
    counted_make_room(local);
    pthread_mutex_unlock(&local->counted->lock);
}

/* --- forgetting --- */

static struct counted *find_owned(const struct counted_set *set, uint64_t owner) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&set->map, &at)) != NULL;)
        if (((struct counted *)slot->value)->id.owner == owner)
            return slot->value;
    return NULL;
}

static void forget(struct local *local, uint64_t owner) {
    struct counted_set *set = local->counted;
    pthread_mutex_lock(&set->lock);
    for (struct counted *counted; (counted = find_owned(set, owner)) != NULL;)
        counted_remove(set, counted);
    pthread_cond_broadcast(&set->built);
    pthread_mutex_unlock(&set->lock);
}

void counted_forget_index(struct local *local, const struct index *index) {
    forget(local, (uint64_t)(uintptr_t)index);
}

void counted_forget_table(struct local *local, const struct table *table) {
    forget(local, table->id);
    for (unsigned i = 0; i < table->index_count; i++)
        counted_forget_index(local, table->indexes[i]);
}

void counted_pause(struct local *local) {
    atomic_store(&local->counted->stop, true);
}

void counted_resume(struct local *local) {
    if (!atomic_load(&local->counted->closing))
        atomic_store(&local->counted->stop, false);
}

/* What the store knows stays: those that are wanted again are made again. */
void counted_clear(struct local *local) {
    struct counted_set *set = local->counted;
    size_t at = 0;
    pthread_mutex_lock(&set->lock);
    for (struct map_slot *slot; (slot = map_next(&set->map, &at)) != NULL; at = 0) {
        struct counted *counted = slot->value;
        counted->saved = false;
        counted_remove(set, counted);
    }
    pthread_cond_broadcast(&set->built);
    pthread_mutex_unlock(&set->lock);
}

void counted_figures(const struct local *local, struct engine_figures *out) {
    struct counted_set *set = local->counted;
    pthread_mutex_lock(&set->lock);
    out->counted = set->count;
    out->counted_memory = atomic_load_explicit(&set->memory, memory_order_relaxed);
    pthread_mutex_unlock(&set->lock);
}
