/* The entries of an index in memory: its tree, and the finder of an index that has one. Both change
 * together. */
#include "base/mem.h"
#include "table/local/local_int.h"

#include <assert.h>

enum {
    PILE = 2048,             /* entries of a full one */
    PILE_BITS = 8,           /* of a large finder; a small one has one pile */
    PILES_FROM = 256 * 1024, /* entries that make it large: more than a processor keeps at hand */
    PILES_SIZE = sizeof(struct index_found) * PILE << PILE_BITS,
    AHEAD = 12, /* entries that the memory is asked for before they are put */
};

/* An entry in the three pieces of finder.h. False if it is none. */
static bool cut_entry(const struct index *index, struct bytes entry, struct bytes cut[3]) {
    size_t head = keys_entry_span(index, entry, 0);
    size_t tail = keys_entry_span(index, entry, index->schema->keys.sort_count);
    if (head == 0 || tail <= head)
        return false;
    cut[0] = bytes_of(entry.data, head);
    cut[1] = bytes_of(entry.data + head, tail - head);
    cut[2] = bytes_skip(entry, tail);
    return true;
}

void index_begin(struct index *index, uint64_t expected) {
    index->tree = tree_new();
    if (index->finds)
        index->finder = finder_new(expected);
}

struct index_found index_soon(const struct index *index, struct bytes entry) {
    struct bytes cut[3];
    struct index_found found = {0};
    if (index->finder == NULL || !cut_entry(index, entry, cut))
        return found;
    found = (struct index_found){finder_hash(cut[0], cut[2]), cut[1]};
    finder_prefetch(index->finder, found.hash);
    return found;
}

void index_put_found(struct index *index, struct bytes entry, const struct index_found *found) {
    if (tree_put(index->tree, entry) && found->middle.size != 0)
        finder_put(index->finder, found->hash, found->middle);
}

void index_del_found(struct index *index, struct bytes entry, const struct index_found *found) {
    if (tree_del(index->tree, entry) && found->middle.size != 0)
        finder_del(index->finder, found->hash, found->middle);
}

/* --- many entries --- */

static_assert(PILES_SIZE % MEM_LARGE == 0, "in large pages");

void index_filler_begin(struct index_filler *filler, struct index *index, uint64_t expected) {
    *filler =
        (struct index_filler){.index = index, .pile_bits = expected < PILES_FROM ? 0 : PILE_BITS};
    if (filler->pile_bits == 0)
        filler->found = mem_alloc(sizeof(*filler->found) * PILE);
    else
        filler->found = mem_large(NULL, 0, PILES_SIZE);
    filler->counts = mem_zalloc(sizeof(*filler->counts) << filler->pile_bits);
}

static void put_pile(struct index_filler *filler, size_t pile) {
    struct finder *finder = filler->index->finder;
    const struct index_found *found = filler->found + pile * PILE;
    uint32_t count = filler->counts[pile];
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            finder_prefetch(finder, found[i + AHEAD].hash);
            __builtin_prefetch(found[i + AHEAD].middle.data);
        }
        finder_put(finder, found[i].hash, found[i].middle);
    }
    filler->counts[pile] = 0;
}

/* Entries of one partition mostly come one after the other. */
static bool cut_head(struct index_filler *filler, struct bytes entry) {
    if (filler->head.size != 0 && bytes_starts(entry, filler->head))
        return true;
    size_t size = keys_entry_span(filler->index, entry, 0);
    filler->head = bytes_of(entry.data, size);
    filler->head_hash = finder_hash_head(filler->head);
    return size != 0;
}

void index_fill(struct index_filler *filler, struct bytes entry) {
    const struct entry_shape *shape = &filler->index->shape;
    if (!cut_head(filler, entry))
        return;
    size_t at = filler->head.size;
    for (unsigned i = shape->partition_count; i < shape->own_count; i++) {
        size_t span = key_span(bytes_skip(entry, at), shape->parts[i].type);
        if (span == 0)
            return;
        at += span;
    }
    struct bytes middle = bytes_of(entry.data + filler->head.size, at - filler->head.size);
    uint64_t hash = finder_hash_tail(filler->head_hash, bytes_skip(entry, at));
    size_t pile = filler->pile_bits == 0 ? 0 : hash >> (64 - filler->pile_bits);
    filler->found[pile * PILE + filler->counts[pile]++] = (struct index_found){hash, middle};
    if (filler->counts[pile] == PILE)
        put_pile(filler, pile);
}

void index_filled(struct index_filler *filler) {
    for (size_t i = 0; i < (size_t)1 << filler->pile_bits; i++)
        put_pile(filler, i);
    if (filler->pile_bits == 0)
        mem_free(filler->found);
    else
        mem_large(filler->found, PILES_SIZE, 0);
    mem_free(filler->counts);
}

void index_put(struct index *index, struct bytes entry) {
    struct index_found found = index_soon(index, entry);
    index_put_found(index, entry, &found);
}

void index_del(struct index *index, struct bytes entry) {
    struct index_found found = index_soon(index, entry);
    index_del_found(index, entry, &found);
}

size_t index_memory(const struct index *index) {
    return (index->tree != NULL ? tree_memory(index->tree) : 0) +
           (index->finder != NULL ? finder_memory(index->finder) : 0);
}
