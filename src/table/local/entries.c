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
