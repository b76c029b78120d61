/* Building a tree from sorted keys: they gather until they fill a leaf, which then is written
 * once, at its exact size, and hung at the right edge. The nodes above split as they do for
 * rising puts: what is full stays full. */
#include "rank/tree_int.h"

#include "base/mem.h"

enum {
    /* A step of memory less than a leaf can have, lest the first put into each splits it. */
    FILL = LEAF_LOAD - NODE_MEMORY_UNIT,
    KEY_COST = PACK_HEAD + 2,
    GATHER_MAX = FILL / KEY_COST
};

struct tree_loader {
    struct tree *tree;
    struct buf bytes;        /* the gathered keys, one after the other */
    size_t ends[GATHER_MAX]; /* where each ends */
    unsigned count;          /* gathered */
    size_t prefix;           /* bytes they share */
    size_t load;             /* bytes they will take in a leaf */
};

struct tree_loader *tree_loader_new(void) {
    struct tree_loader *loader = mem_zalloc(sizeof(*loader));
    loader->tree = tree_new();
    buf_reserve(&loader->bytes, 1); /* the first key may be empty, and yet has a place */
    return loader;
}

static struct bytes gathered(const struct tree_loader *loader, unsigned slot) {
    size_t start = slot == 0 ? 0 : loader->ends[slot - 1];
    return bytes_of(loader->bytes.data + start, loader->ends[slot] - start);
}

static size_t key_load(size_t size, size_t prefix) {
    size_t suffix = size - prefix;
    return KEY_COST + (suffix > PACK_HEAD ? suffix - PACK_HEAD : 0);
}

/* Writes what was gathered into a leaf and hangs it after the last. */
static void flush(struct tree_loader *loader) {
    struct tree *tree = loader->tree;
    struct bytes first = gathered(loader, 0);
    struct tree_leaf *leaf = leaf_new(tree, pack_size_of(loader->prefix, loader->load));
    struct pack_writer writer;
    pack_start(&writer, &leaf->keys, bytes_of(first.data, loader->prefix), loader->count);
    for (unsigned slot = 0; slot < loader->count; slot++)
        pack_add(&writer, gathered(loader, slot));

    struct path path;
    struct tree_leaf *last;
    while ((last = tree_descend(tree, first, &path))->keys.count != 0)
        tree_make_room(tree, &path, last->keys.count, first);
    leaf_link(tree, leaf, last->prev, last->next);
    leaf_free(tree, last);
    tree_place(tree, &path, tree->height, leaf);
    tree_bump(tree, &path, loader->count);
    loader->count = 0;
    buf_clear(&loader->bytes);
}

/* Counts the key in: false if it would not fit beside the others. */
static bool take(struct tree_loader *loader, struct bytes key) {
    size_t prefix = key.size, load = loader->load;
    if (loader->count == GATHER_MAX)
        return false;
    if (loader->count != 0)
        prefix = pack_common(bytes_of(loader->bytes.data, loader->prefix), key);
    if (prefix != loader->prefix) {
        load = 0;
        for (unsigned slot = 0; slot < loader->count; slot++)
            load += key_load(gathered(loader, slot).size, prefix);
    }
    load += key_load(key.size, prefix);
    if (load > FILL)
        return false;
    loader->prefix = prefix;
    loader->load = load;
    return true;
}

bool tree_loader_add(struct tree_loader *loader, struct bytes key) {
    key = key_given(key);
    if (loader->count != 0 && bytes_compare(gathered(loader, loader->count - 1), key) >= 0)
        return false;
    if (!take(loader, key)) {
        flush(loader);
        loader->load = loader->prefix = 0;
        take(loader, key);
    }
    buf_put(&loader->bytes, key);
    loader->ends[loader->count++] = loader->bytes.size;
    return true;
}

size_t tree_loader_memory(const struct tree_loader *loader) {
    return tree_memory(loader->tree);
}

struct tree *tree_loader_finish(struct tree_loader *loader) {
    struct tree *tree = loader->tree;
    if (loader->count != 0)
        flush(loader);
    buf_release(&loader->bytes);
    mem_free(loader);
    return tree;
}
