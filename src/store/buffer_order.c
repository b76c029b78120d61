#include "store/buffer_order.h"

#include "base/key_sort.h"
#include "base/mem.h"
#include "store/write_buffer.h"

#include <stdlib.h>

enum { ABREAST = 16 }; /* entries that are put in order in one go */

void buffer_order_init(struct buffer_order *order) {
    pthread_mutex_init(&order->lock, NULL);
    atomic_init(&order->height, 1);
}

void buffer_order_release(struct buffer_order *order) {
    pthread_mutex_destroy(&order->lock);
}

uint8_t buffer_order_height(struct random *random) {
    uint64_t bits = random_next(random);
    uint8_t height = 1;
    for (; height < BUFFER_HEIGHT_MAX && (bits & 3) == 0; bits >>= 2)
        height++;
    return height;
}

/* The next that is not in order yet, of an entry that is not. */
static struct buffer_entry *pending_after(const struct buffer_entry *entry) {
    return atomic_load_explicit(&entry->next[0], memory_order_relaxed);
}

void buffer_order_push(struct buffer_order *order, struct buffer_entry *entry) {
    struct buffer_entry *top = atomic_load_explicit(&order->pending, memory_order_relaxed);
    do
        atomic_store_explicit(&entry->next[0], top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&order->pending, &top, entry,
                                                  memory_order_release, memory_order_relaxed));
    atomic_fetch_add_explicit(&order->added, 1, memory_order_release);
}

size_t buffer_order_count(const struct buffer_order *order) {
    return atomic_load_explicit(&order->added, memory_order_acquire);
}

size_t buffer_order_pending(const struct buffer_order *order) {
    size_t ordered = atomic_load(&order->ordered);
    return atomic_load(&order->added) - ordered;
}

/* --- walking --- */

/* The link of the level behind an entry, or behind the head (NULL). */
static const _Atomic(struct buffer_entry *) *
link_of(const struct buffer_order *order, const struct buffer_entry *entry, unsigned level) {
    return entry == NULL ? &order->head[level] : &entry->next[level];
}

static struct buffer_entry *follow(const struct buffer_order *order,
                                   const struct buffer_entry *entry, unsigned level) {
    return atomic_load_explicit(link_of(order, entry, level), memory_order_acquire);
}

/* The last entry of the level that is before the key, from `entry` on, which is. */
static struct buffer_entry *walk_level(const struct buffer_order *order, struct buffer_entry *entry,
                                       unsigned level, struct bytes key) {
    for (;;) {
        struct buffer_entry *next = follow(order, entry, level);
        if (next == NULL || bytes_compare(buffer_entry_key(next), key) >= 0)
            return entry;
        entry = next;
    }
}

/* --- inserting --- */

/* Where an entry belongs: of each level the last entry before it. NULL stands for the head. */
struct place {
    struct buffer_entry *before[BUFFER_HEIGHT_MAX];
};

/* The search for one key's place, level by level. */
struct search {
    struct bytes key;
    struct place *place;
    const struct place *from;  /* of a key that is not greater */
    struct buffer_entry *at;   /* the last that is known to be before the key, */
    struct buffer_entry *next; /* the one behind it on this level, */
    struct buffer_entry *stop; /* and the first that is known not to be; NULL: none is */
    unsigned level;
    bool moved; /* past `from` */
};

static void look_at_next(const struct buffer_order *order, struct search *search) {
    search->next = follow(order, search->at, search->level);
    if (search->next == NULL)
        return;
    __builtin_prefetch(search->next);
    __builtin_prefetch((const char *)search->next + 64); /* where its key mostly goes on */
}

static void search_begin(const struct buffer_order *order, struct search *search, unsigned levels) {
    search->level = levels - 1;
    search->at = search->from->before[search->level];
    look_at_next(order, search);
}

/* Looks at one entry; false once the place is found. */
static bool search_step(const struct buffer_order *order, struct search *search) {
    struct buffer_entry *next = search->next;
    if (next != search->stop && bytes_compare(buffer_entry_key(next), search->key) < 0) {
        search->at = next;
        search->moved = true;
    } else {
        search->stop = next;
        search->place->before[search->level] = search->at;
        if (search->level == 0)
            return false;
        search->level--;
        if (!search->moved)
            search->at = search->from->before[search->level];
    }
    look_at_next(order, search);
    return true;
}

/* On how many levels a key that is not before `from` has to be searched for: on the others nothing
 * stands between the two. */
static unsigned levels_between(const struct buffer_order *order, const struct place *from,
                               struct bytes key) {
    unsigned height = atomic_load_explicit(&order->height, memory_order_relaxed), level = 0;
    for (; level < height; level++) {
        const struct buffer_entry *next = follow(order, from->before[level], level);
        if (next == NULL || bytes_compare(buffer_entry_key(next), key) >= 0)
            break;
    }
    return level;
}

/* Finds the places of several keys, which rise; their cache misses overlap. They stand close
 * together, if many are put in order at once, so that few levels are looked at. */
static void find_places(const struct buffer_order *order, struct search *all, size_t count) {
    unsigned levels = levels_between(order, all[0].from, all[count - 1].key);
    struct search *going[ABREAST];
    if (levels == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        search_begin(order, &all[i], levels);
        going[i] = &all[i];
    }
    while (count > 0)
        for (size_t i = 0; i < count;)
            if (search_step(order, going[i]))
                i++;
            else
                going[i] = going[--count];
}

/* The entries of one go, of each level: the last that was inserted, and what it was put behind. */
struct inserted {
    struct buffer_entry *last[BUFFER_HEIGHT_MAX], *behind[BUFFER_HEIGHT_MAX];
};

/* Inserts an entry at its place, which was found before the others of the go were inserted: if the
 * last of them stands at the same place, it is the one before this. */
static void insert_entry(struct buffer_order *order, struct place *place, struct inserted *inserted,
                         struct buffer_entry *entry) {
    if (entry->height > atomic_load_explicit(&order->height, memory_order_relaxed))
        atomic_store_explicit(&order->height, entry->height, memory_order_relaxed);
    for (unsigned level = 0; level < BUFFER_HEIGHT_MAX; level++) {
        struct buffer_entry *before = place->before[level];
        bool same = inserted->last[level] != NULL && inserted->behind[level] == before;
        place->before[level] = same ? inserted->last[level] : before;
        if (level >= entry->height)
            continue;
        inserted->behind[level] = before;
        inserted->last[level] = entry;
        _Atomic(struct buffer_entry *) *link =
            place->before[level] == NULL ? &order->head[level] : &place->before[level]->next[level];
        atomic_store_explicit(&entry->next[level], atomic_load_explicit(link, memory_order_relaxed),
                              memory_order_relaxed);
        atomic_store_explicit(link, entry, memory_order_release);
    }
}

/* Inserts some entries, in order. `from` is the place of one that is not greater, and becomes that
 * of the last. */
static void insert_some(struct buffer_order *order, struct buffer_entry **all, size_t count,
                        struct place *from) {
    struct place places[ABREAST];
    struct search searches[ABREAST];
    struct inserted inserted = {0};
    for (size_t i = 0; i < count; i++) {
        places[i] = *from;
        searches[i] =
            (struct search){.key = buffer_entry_key(all[i]), .place = &places[i], .from = from};
    }
    find_places(order, searches, count);
    for (size_t i = 0; i < count; i++)
        insert_entry(order, &places[i], &inserted, all[i]);
    *from = places[count - 1];
}

static int compare_entries(const void *left, const void *right) {
    const struct buffer_entry *const *a = left, *const *b = right;
    return bytes_compare(buffer_entry_key(*a), buffer_entry_key(*b));
}

/* Many: by their words, then those of the same word by their keys. */
static void sort_many(struct buffer_entry **all, size_t count) {
    struct buffer_entry **unsorted = mem_alloc(count * sizeof(struct buffer_entry *));
    struct key_word *words = mem_alloc(2 * count * sizeof(*words));
    struct bytes first = buffer_entry_key(all[0]);
    size_t shared = first.size;
    for (size_t i = 1; i < count; i++)
        shared = key_shared(first, buffer_entry_key(all[i]), shared);
    for (size_t i = 0; i < count; i++) {
        unsorted[i] = all[i];
        words[i] = (struct key_word){bytes_word(buffer_entry_key(all[i]), shared), (uint32_t)i};
    }
    const struct key_word *sorted = key_words_sort(words, words + count, count);
    for (size_t i = 0; i < count; i++)
        all[i] = unsorted[sorted[i].at];
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && sorted[to].word == sorted[from].word)
            to++;
        if (to - from > 1)
            qsort(&all[from], to - from, sizeof(struct buffer_entry *), compare_entries);
    }
    mem_free(words);
    mem_free(unsorted);
}

/* Under the lock: takes what is pending, sorted. Freed by the caller. */
static struct buffer_entry **take_pending(struct buffer_order *order, size_t *count) {
    struct buffer_entry *top = atomic_exchange(&order->pending, NULL);
    *count = 0;
    for (struct buffer_entry *entry = top; entry != NULL; entry = pending_after(entry))
        ++*count;
    struct buffer_entry **all = mem_alloc((*count + 1) * sizeof(struct buffer_entry *));
    size_t at = *count;
    for (struct buffer_entry *entry = top; entry != NULL; entry = pending_after(entry))
        all[--at] = entry;
    if (*count >= KEY_SORT_MANY)
        sort_many(all, *count);
    else if (*count > 1)
        qsort(all, *count, sizeof(struct buffer_entry *), compare_entries);
    return all;
}

void buffer_order_make(struct buffer_order *order) {
    size_t added = atomic_load_explicit(&order->added, memory_order_acquire);
    if (atomic_load_explicit(&order->ordered, memory_order_acquire) >= added)
        return;
    pthread_mutex_lock(&order->lock);
    struct place place = {0};
    size_t count;
    struct buffer_entry **all = take_pending(order, &count);
    for (size_t i = 0; i < count; i += ABREAST)
        insert_some(order, &all[i], count - i < ABREAST ? count - i : ABREAST, &place);
    mem_free(all);
    atomic_fetch_add_explicit(&order->ordered, count, memory_order_release);
    pthread_mutex_unlock(&order->lock);
}

/* --- reading --- */

/* The last entry before the key; NULL: none. */
static struct buffer_entry *find_before(const struct buffer_order *order, struct bytes key) {
    struct buffer_entry *entry = NULL;
    for (unsigned level = atomic_load_explicit(&order->height, memory_order_relaxed); level-- > 0;)
        entry = walk_level(order, entry, level, key);
    return entry;
}

const struct buffer_entry *buffer_order_seek(const struct buffer_order *order, struct bytes key) {
    struct buffer_entry *entry = follow(order, find_before(order, key), 0);
    while (entry != NULL && bytes_compare(buffer_entry_key(entry), key) < 0)
        entry = follow(order, entry, 0); /* put in between just now */
    return entry;
}

const struct buffer_entry *buffer_order_before(const struct buffer_order *order, struct bytes key) {
    return find_before(order, key);
}

const struct buffer_entry *buffer_order_last(const struct buffer_order *order) {
    struct buffer_entry *entry = NULL;
    for (unsigned level = atomic_load_explicit(&order->height, memory_order_relaxed); level-- > 0;)
        for (struct buffer_entry *next; (next = follow(order, entry, level)) != NULL;)
            entry = next;
    return entry;
}
