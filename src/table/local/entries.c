/* The entries of an index in memory: its tree, and the finder of an index that has one. Both change
 * together. */
#include "table/local/local_int.h"

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

void index_find_soon(const struct index *index, struct bytes entry) {
    struct bytes cut[3];
    if (index->finder != NULL && cut_entry(index, entry, cut))
        finder_prefetch(index->finder, finder_hash(cut[0], cut[2]));
}

void index_find(struct index *index, struct bytes entry) {
    struct bytes cut[3];
    if (index->finder != NULL && cut_entry(index, entry, cut))
        finder_put(index->finder, finder_hash(cut[0], cut[2]), cut[1]);
}

/* --- many entries --- */

static void take_oldest(struct index_filler *filler) {
    const struct index_found *found = &filler->waiting[filler->taken++ % FILLER_WAITING];
    finder_put(filler->index->finder, found->hash, found->middle);
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
    if (filler->given - filler->taken == FILLER_WAITING)
        take_oldest(filler);
    struct bytes middle = bytes_of(entry.data + filler->head.size, at - filler->head.size);
    uint64_t hash = finder_hash_tail(filler->head_hash, bytes_skip(entry, at));
    filler->waiting[filler->given++ % FILLER_WAITING] = (struct index_found){hash, middle};
    finder_prefetch(filler->index->finder, hash);
}

void index_filled(struct index_filler *filler) {
    while (filler->taken != filler->given)
        take_oldest(filler);
}

void index_put(struct index *index, struct bytes entry) {
    if (tree_put(index->tree, entry))
        index_find(index, entry);
}

void index_del(struct index *index, struct bytes entry) {
    struct bytes cut[3];
    if (tree_del(index->tree, entry) && index->finder != NULL && cut_entry(index, entry, cut))
        finder_del(index->finder, finder_hash(cut[0], cut[2]), cut[1]);
}

size_t index_memory(const struct index *index) {
    return (index->tree != NULL ? tree_memory(index->tree) : 0) +
           (index->finder != NULL ? finder_memory(index->finder) : 0);
}
