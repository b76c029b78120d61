/* The entries of an index in memory: its tree, and its entry hash if it has one. Both change
 * together. */
#include "base/mem.h"
#include "table/local/covering.h"
#include "table/local/index_walk.h"

#include <assert.h>

enum {
    PILE = 2048,                 /* entries of a full one */
    PILE_BITS = INDEX_PILE_BITS, /* of a large entry hash; a small one has one pile */
    PILES_FROM = 256 * 1024,     /* entries that make it large: it outgrows the processor's cache */
    PILES_SIZE = sizeof(struct index_prefetched) * PILE << PILE_BITS,
    AHEAD = 12, /* how many entries ahead are prefetched */
};

/* Finds the partition that an entry begins with. Keys delimit themselves: an entry that begins with
 * the bytes of a partition is one of it. False if it is no entry. */
static bool find_head(const struct index *index, struct bytes entry, struct index_head *last) {
    if (last->index == index && last->head.size != 0 && bytes_starts(entry, last->head))
        return true;
    size_t size = keys_entry_span(index, entry, 0);
    *last = (struct index_head){.index = index, .head = bytes_of(entry.data, size)};
    last->hash = entry_hash_of_head(last->head);
    return size != 0;
}

/* Where the table's keys begin that an entry ends with; 0 if it is no entry. */
static size_t find_tail(const struct index *index, struct bytes entry, size_t head) {
    const struct entry_shape *shape = &index->shape;
    size_t at = head;
    for (unsigned i = shape->partition_count; i < shape->own_count; i++) {
        size_t span = key_span(bytes_skip(entry, at), shape->parts[i].type);
        if (span == 0)
            return 0;
        at += span;
    }
    return at;
}

void index_begin(struct index *index, uint64_t expected) {
    index->tree = tree_new();
    if (index->has_entry_hash)
        index->entry_hash = entry_hash_new(expected);
}

struct index_prefetched index_prefetch(const struct index *index, struct bytes entry, bool covers,
                                       struct index_head *last) {
    struct index_prefetched found = {0};
    if (index->entry_hash == NULL || !find_head(index, entry, last))
        return found;
    size_t head = last->head.size, tail = find_tail(index, entry, head);
    if (tail <= head)
        return found;
    found.hash = entry_hash_of_tail(last->hash, bytes_skip(entry, tail));
    found.middle = (struct entry_middle){bytes_of(entry.data + head, tail - head), covers};
    entry_hash_prefetch_part(index->entry_hash, found.hash);
    return found;
}

void index_prefetch_slot(const struct index *index, const struct index_prefetched *found) {
    if (found->middle.bytes.size != 0)
        entry_hash_prefetch(index->entry_hash, found->hash);
}

void index_put_prefetched(struct index *index, struct bytes entry,
                          const struct index_prefetched *found) {
    if (!tree_put(index->tree, entry))
        return;
    if (found->middle.bytes.size != 0)
        entry_hash_put(index->entry_hash, found->hash, found->middle);
    if (index->walks != NULL)
        index_walks_note(index, entry, true);
}

void index_del_prefetched(struct index *index, struct bytes entry,
                          const struct index_prefetched *found) {
    if (!tree_del(index->tree, entry))
        return;
    if (found->middle.bytes.size != 0)
        entry_hash_del(index->entry_hash, found->hash, found->middle.bytes);
    if (index->walks != NULL)
        index_walks_note(index, entry, false);
}

bool index_move_prefetched(struct index *index, struct entry_found from, struct entry_found to) {
    uint64_t hash = from.found->hash;
    struct bytes old = from.found->middle.bytes;
    if (!tree_move(index->tree, from.entry, to.entry))
        return false;
    if (!entry_hash_replace(index->entry_hash, hash, old, to.found->middle)) {
        entry_hash_del(index->entry_hash, hash, old);
        entry_hash_put(index->entry_hash, hash, to.found->middle);
    }
    if (index->walks != NULL) {
        index_walks_note(index, from.entry, false);
        index_walks_note(index, to.entry, true);
    }
    return true;
}

/* --- the entry of an item --- */

bool entry_search_begin(struct entry_search *search, const struct index *index, struct bytes key,
                        struct head_hash *last) {
    struct bytes rest = bytes_skip(key, KEYS_TABLE_SIZE);
    size_t partition = keys_entry_span(index, rest, 0);
    if (partition == 0)
        return false;
    search->index = index;
    search->head = bytes_of(rest.data, partition);
    search->tail = bytes_skip(rest, partition);
    if (last->head.size == 0 || !bytes_equal(last->head, search->head))
        *last = (struct head_hash){search->head, entry_hash_of_head(search->head)};
    search->hash = entry_hash_of_tail(last->hash, search->tail);
    entry_hash_prefetch_part(index->entry_hash, search->hash);
    return true;
}

void entry_search_seek(struct entry_search *search) {
    entry_hash_seek(&search->walk, search->index->entry_hash, search->hash);
    entry_hash_prefetch(search->index->entry_hash, search->hash);
}

bool entry_search_next(struct entry_search *search, struct arena *arena, struct bytes *out) {
    const struct entry_hash_walk *walk = &search->walk;
    *out = (struct bytes){0};
    if (!entry_hash_next(&search->walk))
        return true;
    if (!walk->has_middle)
        return false;
    size_t size = search->head.size + walk->size + search->tail.size;
    uint8_t *to = arena_alloc(arena, size);
    *out = bytes_of(to, size);
    memcpy(to, search->head.data, search->head.size);
    memcpy(to + search->head.size, walk->middle, walk->size);
    memcpy(to + search->head.size + walk->size, search->tail.data, search->tail.size);
    return true;
}

/* --- many entries --- */

static_assert(PILES_SIZE % MEM_LARGE == 0, "in large pages");
static_assert((int)PILE_BITS <= (int)ENTRY_HASH_APART_BITS, "two piles have nothing in common");

struct index_fill_locks *index_fill_locks_new(void) {
    struct index_fill_locks *locks = mem_alloc(sizeof *locks);
    for (size_t i = 0; i < (size_t)1 << PILE_BITS; i++)
        pthread_mutex_init(&locks->piles[i], NULL);
    return locks;
}

void index_fill_locks_free(struct index_fill_locks *locks) {
    for (size_t i = 0; locks != NULL && i < (size_t)1 << PILE_BITS; i++)
        pthread_mutex_destroy(&locks->piles[i]);
    mem_free(locks);
}

void index_filler_begin(struct index_filler *filler, struct index *index,
                        struct index_fill_locks *locks, uint64_t expected) {
    *filler = (struct index_filler){
        .index = index, .locks = locks, .pile_bits = expected < PILES_FROM ? 0 : PILE_BITS};
    if (filler->pile_bits == 0)
        filler->found = mem_alloc(sizeof(*filler->found) * PILE);
    else
        filler->found = mem_large(NULL, 0, PILES_SIZE);
    filler->counts = mem_zalloc(sizeof(*filler->counts) << filler->pile_bits);
}

static void put_pile(struct index_filler *filler, size_t pile) {
    struct entry_hash *entry_hash = filler->index->entry_hash;
    const struct index_prefetched *found = filler->found + pile * PILE;
    uint32_t count = filler->counts[pile];
    pthread_mutex_lock(&filler->locks->piles[pile]);
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            entry_hash_prefetch(entry_hash, found[i + AHEAD].hash);
            __builtin_prefetch(found[i + AHEAD].middle.bytes.data);
        }
        entry_hash_put_apart(entry_hash, found[i].hash, found[i].middle, &filler->sums);
    }
    pthread_mutex_unlock(&filler->locks->piles[pile]);
    filler->counts[pile] = 0;
}

void index_filler_add(struct index_filler *filler, struct bytes entry, bool covers) {
    if (!find_head(filler->index, entry, &filler->last))
        return;
    size_t head = filler->last.head.size, tail = find_tail(filler->index, entry, head);
    if (tail == 0)
        return;
    struct bytes middle = bytes_of(entry.data + head, tail - head);
    uint64_t hash = entry_hash_of_tail(filler->last.hash, bytes_skip(entry, tail));
    size_t pile = filler->pile_bits == 0 ? 0 : hash >> (64 - filler->pile_bits);
    filler->found[pile * PILE + filler->counts[pile]++] =
        (struct index_prefetched){hash, {middle, covers}};
    if (filler->counts[pile] == PILE)
        put_pile(filler, pile);
}

void index_filler_finish(struct index_filler *filler) {
    for (size_t i = 0; i < (size_t)1 << filler->pile_bits; i++)
        put_pile(filler, i);
    pthread_mutex_lock(&filler->locks->piles[0]);
    entry_hash_sum(filler->index->entry_hash, &filler->sums);
    pthread_mutex_unlock(&filler->locks->piles[0]);
    if (filler->pile_bits == 0)
        mem_free(filler->found);
    else
        mem_large(filler->found, PILES_SIZE, 0);
    mem_free(filler->counts);
}

void index_put(struct index *index, struct bytes entry, bool covers) {
    struct index_prefetched found = index_prefetch(index, entry, covers, &(struct index_head){0});
    index_put_prefetched(index, entry, &found);
}

void index_del(struct index *index, struct bytes entry) {
    struct index_prefetched found = index_prefetch(index, entry, false, &(struct index_head){0});
    index_del_prefetched(index, entry, &found);
}

size_t index_memory(const struct index *index) {
    return (index->tree != NULL ? tree_memory(index->tree) : 0) +
           (index->entry_hash != NULL ? entry_hash_memory(index->entry_hash) : 0);
}
