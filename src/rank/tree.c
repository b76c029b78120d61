/* The tree as a whole: the way down, and what a change does on the way up. */
#include "rank/tree_int.h"

#include "base/mem.h"

#include <assert.h>

enum { EMPTY_SLAB_EVERY = 256 }; /* changes */

enum {
    ABREAST = 16,       /* keys that are looked for at once: what a processor can wait for */
    LINE = 64,          /* bytes that memory comes in */
    SEARCHED = 4 * LINE /* of a node, that a search reads first */
};

/* Inner nodes have slabs of their own: they are larger than leaves and grow in other steps, so that
 * either would leave gaps that are of no use to the other; and all of them lie in few pages. */
static struct node_memory *memory_of(struct tree *tree, size_t header) {
    return header == offsetof(struct inner, keys) ? &tree->inners : &tree->leaves;
}

static void set_room(struct pack *pack, size_t header, size_t bytes) {
    pack->room8 = (uint16_t)((bytes - header - sizeof(*pack)) / 8);
}

void *tree_node_new(struct tree *tree, size_t header, size_t size, bool wide) {
    size_t bytes;
    uint8_t *node =
        node_memory_take(memory_of(tree, header), header + sizeof(struct pack) + size, &bytes);
    assert(bytes - header - sizeof(struct pack) <= PACK_ROOM_MAX);
    struct pack *pack = (void *)(node + header);
    *pack = (struct pack){.wide = wide};
    set_room(pack, header, bytes);
    return node;
}

bool tree_node_extend(struct tree *tree, void *node, size_t header, size_t size) {
    struct pack *pack = (void *)((uint8_t *)node + header);
    size_t bytes = header + sizeof(*pack) + pack_room(pack);
    size_t wanted = header + sizeof(*pack) + size;
    bytes = node_memory_extend(memory_of(tree, header), node, bytes, wanted);
    set_room(pack, header, bytes);
    return bytes >= wanted;
}

void node_free(struct tree *tree, void *node, size_t header) {
    const struct pack *pack = (void *)((uint8_t *)node + header);
    node_memory_give(memory_of(tree, header), node, header + sizeof(struct pack) + pack_room(pack));
}

struct tree *tree_new(void) {
    struct tree *tree = mem_zalloc(sizeof(*tree));
    struct tree_leaf *leaf = leaf_new(tree, 0);
    leaf_link(tree, leaf, NULL, NULL);
    tree->root = leaf;
    return tree;
}

/* Frees nodes that are in no slab; for that no leaf has to be read. */
static void free_separate(struct tree *tree, void *node, unsigned height) {
    if (height > 0) {
        struct inner *inner = node;
        for (unsigned i = 0; i < inner->count; i++)
            free_separate(tree, inner->child[i], height - 1);
        if (node_memory_is_separate(node))
            inner_free(tree, node);
    } else if (node_memory_is_separate(node))
        leaf_free(tree, node);
}

void tree_free(struct tree *tree) {
    if (tree == NULL)
        return;
    free_separate(tree, tree->root, tree->height);
    node_memory_release(&tree->leaves);
    node_memory_release(&tree->inners);
    buf_release(&tree->scratch);
    buf_release(&tree->first_key);
    buf_release(&tree->separator);
    mem_free(tree);
}

uint64_t tree_count(const struct tree *tree) {
    return tree->count;
}

size_t tree_memory(const struct tree *tree) {
    return sizeof(*tree) + node_memory_held(&tree->leaves) + node_memory_held(&tree->inners) +
           tree->scratch.room + tree->first_key.room + tree->separator.room;
}

/* The lines that a search reads first: asked for at once, they arrive together. */
static inline void prefetch_keys(const struct pack *keys) {
    const char *line = (const char *)keys;
    for (int at = 0; at < SEARCHED; at += LINE)
        __builtin_prefetch(line + at);
}

static inline void prefetch_node(const void *node, bool is_leaf) {
    prefetch_keys(is_leaf ? &((const struct tree_leaf *)node)->keys
                          : &((const struct inner *)node)->keys);
}

struct tree_leaf *tree_descend(const struct tree *tree, struct bytes key, struct path *path) {
    void *node = tree->root;
    for (unsigned depth = 0; depth < tree->height; depth++) {
        struct inner *inner = node;
        unsigned at = inner_find(inner, key);
        path->steps[depth] = (struct step){inner, at};
        node = inner->child[at];
        prefetch_node(node, depth + 1 == tree->height);
    }
    path->leaf = node;
    return node;
}

uint64_t tree_rank(const struct tree *tree, struct bytes key) {
    bool has;
    return tree_find(tree, key, &has);
}

uint64_t tree_find(const struct tree *tree, struct bytes key, bool *has) {
    const void *node = tree->root;
    uint64_t rank = 0;
    key = key_given(key);
    for (unsigned height = tree->height; height > 0; height--) {
        const struct inner *inner = node;
        unsigned at = inner_find(inner, key);
        node = inner->child[at];
        prefetch_node(node, height == 1);
        rank += inner_before(inner, at);
    }
    return rank + pack_find(&((const struct tree_leaf *)node)->keys, key, has);
}

/* Goes down to the leaves of the keys, and prefetches what a search there reads. Each step in two
 * halves: what it will need is asked for before any of the keys needs it. */
static void descend_abreast(const struct tree *tree, const struct bytes *keys, size_t count,
                            const void **nodes, uint64_t *ranks) {
    unsigned at[ABREAST];
    for (size_t i = 0; i < count; i++) {
        nodes[i] = tree->root;
        ranks[i] = 0;
    }
    for (unsigned height = tree->height; height > 0; height--) {
        for (size_t i = 0; i < count; i++) {
            const struct inner *inner = nodes[i];
            at[i] = inner_find(inner, key_given(keys[i]));
            __builtin_prefetch(&inner->child[at[i]]);
            __builtin_prefetch(&inner->upto[at[i]]);
        }
        for (size_t i = 0; i < count; i++) {
            const struct inner *inner = nodes[i];
            nodes[i] = inner->child[at[i]];
            prefetch_node(nodes[i], height == 1);
            ranks[i] += inner_before(inner, at[i]);
        }
    }
    for (size_t i = 0; i < count; i++)
        pack_soon(&((const struct tree_leaf *)nodes[i])->keys, key_given(keys[i]));
}

static void find_abreast(const struct tree *tree, const struct bytes *keys, size_t count,
                         uint64_t *ranks, bool *has) {
    const void *nodes[ABREAST];
    descend_abreast(tree, keys, count, nodes, ranks);
    for (size_t i = 0; i < count; i++)
        ranks[i] +=
            pack_find(&((const struct tree_leaf *)nodes[i])->keys, key_given(keys[i]), &has[i]);
}

void tree_find_many(const struct tree *tree, const struct bytes *keys, size_t count,
                    uint64_t *ranks, bool *has) {
    if (count == 1) {
        ranks[0] = tree_find(tree, keys[0], &has[0]);
        return;
    }
    for (size_t at = 0; at < count; at += ABREAST)
        find_abreast(tree, keys + at, count - at < ABREAST ? count - at : ABREAST, ranks + at,
                     has + at);
}

/* A change moves what stands behind its slot, and the ends of all: the rest of the leaf. */
static void prefetch_rest(const struct tree_leaf *leaf) {
    const char *keys = (const char *)&leaf->keys;
    size_t size = sizeof(leaf->keys) + pack_room(&leaf->keys);
    for (size_t at = SEARCHED; at < size; at += LINE)
        __builtin_prefetch(keys + at, 1);
}

void tree_prefetch_many(const struct tree *tree, const struct bytes *keys, size_t count) {
    const void *nodes[ABREAST];
    uint64_t ranks[ABREAST];
    for (size_t at = 0; at < count; at += ABREAST) {
        size_t some = count - at < ABREAST ? count - at : ABREAST;
        descend_abreast(tree, keys + at, some, nodes, ranks);
        for (size_t i = 0; i < some; i++)
            prefetch_rest(nodes[i]);
    }
}

bool tree_has(const struct tree *tree, struct bytes key) {
    bool has;
    tree_find(tree, key, &has);
    return has;
}

void tree_bump(struct tree *tree, struct path *path, uint64_t by) {
    for (unsigned depth = 0; depth < tree->height; depth++)
        /* The walk that filled in the path went to the same height, in another file. */
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        inner_bump(path->steps[depth].node, path->steps[depth].at, by);
    tree->count += by;
}

void tree_place(struct tree *tree, struct path *path, unsigned depth, void *node) {
    if (depth == 0)
        tree->root = node;
    else
        path->steps[depth - 1].node->child[path->steps[depth - 1].at] = node;
}

/* The node at that depth became two. Its parent has room, or it was the root. */
static void hang(struct tree *tree, struct path *path, unsigned depth, const struct split *split) {
    if (depth == 0) {
        assert(tree->height < TREE_DEPTH_MAX);
        tree->height++;
        struct inner *root = inner_new(tree, NULL, tree->count);
        tree->root = inner_put(tree, root, 0, split);
        return;
    }
    struct step *up = &path->steps[depth - 1];
    tree_place(tree, path, depth - 1, inner_put(tree, up->node, up->at, split));
}

void tree_make_room(struct tree *tree, struct path *path, unsigned at, struct bytes key) {
    unsigned depth = tree->height;
    struct split split = {.left_count = at, .separator = leaf_separator(tree, path->leaf, at, key)};
    while (depth > 0 && !inner_fits(path->steps[depth - 1].node, split.separator)) {
        const struct step *step = &path->steps[--depth];
        at = inner_cut(step->node, step->at);
        split.left_count = inner_before(step->node, at);
        split.separator = inner_separator(tree, step->node, at);
    }
    if (depth == tree->height)
        leaf_split(tree, path->leaf, at, split.halves);
    else
        inner_split(tree, path->steps[depth].node, at, split.halves);
    hang(tree, path, depth, &split);
}

/* After a change: now and then a slab of leaves is emptied, if there are many gaps. Some 60 leaves
 * move then, a microsecond or two each. */
static void give_back(struct tree *tree) {
    if (++tree->changes < EMPTY_SLAB_EVERY || !node_memory_is_sparse(&tree->leaves))
        return;
    tree->changes = 0;
    node_memory_empty_slab(&tree->leaves, leaf_move, tree);
}

bool tree_put(struct tree *tree, struct bytes key) {
    assert(key.size <= TREE_KEY_MAX);
    key = key_given(key);
    struct path path;
    struct tree_leaf *leaf;
    unsigned slot;
    for (;;) {
        bool equal;
        leaf = tree_descend(tree, key, &path);
        slot = pack_find(&leaf->keys, key, &equal);
        if (equal)
            return false;
        if (leaf_fits(leaf, key))
            break;
        tree_make_room(tree, &path, leaf_cut(leaf, slot, key), key);
    }
    struct tree_leaf *put = leaf_put(tree, leaf, slot, key);
    if (put != leaf)
        tree_place(tree, &path, tree->height, put);
    tree_bump(tree, &path, 1);
    give_back(tree);
    return true;
}

/* Joins child `at` of `up` with the one after it, whatever they are. */
static bool join_children(struct tree *tree, struct inner *up, unsigned at, bool leaves) {
    void *both = leaves ? (void *)leaf_join(tree, up->child[at], up->child[at + 1])
                        : (void *)inner_join(tree, up->child[at], up->child[at + 1],
                                             pack_key(&up->keys, at, &tree->separator));
    if (both == NULL)
        return false;
    up->child[at] = both;
    inner_drop(up, at + 1);
    return true;
}

/* Takes an empty node out, or joins a small one with a neighbour; false if all stays. */
static bool tidy(struct tree *tree, struct path *path, unsigned depth) {
    struct step *up = &path->steps[depth - 1];
    void *node = up->node->child[up->at];
    bool is_leaf = depth == tree->height, is_empty, is_small;
    if (is_leaf) {
        const struct pack *keys = &((struct tree_leaf *)node)->keys;
        is_empty = keys->count == 0;
        is_small = pack_load(keys) < LEAF_LOAD / 4;
    } else {
        is_empty = ((struct inner *)node)->count == 0;
        is_small = ((struct inner *)node)->count < INNER_FAN / 4;
    }
    if (is_empty) {
        if (is_leaf)
            leaf_unlink(tree, node);
        else
            inner_free(tree, node);
        inner_drop(up->node, up->at);
        return true;
    }
    return is_small &&
           ((up->at + 1 < up->node->count && join_children(tree, up->node, up->at, is_leaf)) ||
            (up->at > 0 && join_children(tree, up->node, up->at - 1, is_leaf)));
}

bool tree_del(struct tree *tree, struct bytes key) {
    key = key_given(key);
    struct path path;
    bool equal;
    struct tree_leaf *leaf = tree_descend(tree, key, &path);
    unsigned slot = pack_find(&leaf->keys, key, &equal);
    if (!equal)
        return false;
    struct tree_leaf *left = leaf_del(tree, leaf, slot);
    if (left != leaf)
        tree_place(tree, &path, tree->height, left);
    tree_bump(tree, &path, (uint64_t)-1);
    if (tree->count != 0)
        for (unsigned depth = tree->height; depth > 0 && tidy(tree, &path, depth); depth--)
            ;
    while (tree->height > 0 && ((struct inner *)tree->root)->count == 1) {
        struct inner *root = tree->root;
        tree->root = root->child[0];
        inner_free(tree, root);
        tree->height--;
    }
    give_back(tree);
    return true;
}

/* Between two keys of the leaf `to` belongs into it, and has what all its keys begin with. */
bool tree_move(struct tree *tree, struct bytes from, struct bytes to) {
    from = key_given(from);
    to = key_given(to);
    struct path path;
    bool has_from, has_to;
    struct tree_leaf *leaf = tree_descend(tree, from, &path);
    unsigned slot = pack_find(&leaf->keys, from, &has_from);
    unsigned at = pack_find(&leaf->keys, to, &has_to);
    if (!has_from || has_to || at == 0 || at == leaf->keys.count)
        return false;
    if (to.size > from.size && !leaf_fits(leaf, to))
        return false;
    pack_remove(&leaf->keys, slot);
    struct tree_leaf *left = leaf_put(tree, leaf, at > slot ? at - 1 : at, to);
    if (left != leaf)
        tree_place(tree, &path, tree->height, left);
    return true;
}
