/* Walking the leaves. A cursor is a leaf and a slot; a key is put together when asked for. */
#include "rank/tree_int.h"

#include <assert.h>

/* Stands on slot `slot` of `leaf`, or on the next leaf's first if that is past its end. */
static bool stand(struct tree_cursor *cursor, const struct tree_leaf *leaf, unsigned slot) {
    if (slot == leaf->keys.count && leaf->next != NULL) {
        leaf = leaf->next;
        slot = 0;
    }
    cursor->leaf = leaf;
    cursor->slot = slot;
    cursor->valid = slot < leaf->keys.count;
    return cursor->valid;
}

/* Stands before slot `slot` of `leaf`, in the leaf before if need be. */
static bool stand_before(struct tree_cursor *cursor, const struct tree_leaf *leaf, unsigned slot) {
    if (slot == 0) {
        cursor->valid = leaf->prev != NULL;
        return cursor->valid && stand(cursor, leaf->prev, leaf->prev->keys.count - 1u);
    }
    return stand(cursor, leaf, slot - 1);
}

bool tree_seek(struct tree_cursor *cursor, const struct tree *tree, struct bytes key) {
    struct path path;
    bool equal;
    key = key_given(key);
    cursor->tree = tree;
    const struct tree_leaf *leaf = tree_descend(tree, key, &path);
    return stand(cursor, leaf, pack_find(&leaf->keys, key, &equal));
}

bool tree_seek_before(struct tree_cursor *cursor, const struct tree *tree, struct bytes key) {
    struct path path;
    bool equal;
    key = key_given(key);
    cursor->tree = tree;
    const struct tree_leaf *leaf = tree_descend(tree, key, &path);
    return stand_before(cursor, leaf, pack_find(&leaf->keys, key, &equal));
}

bool tree_seek_rank(struct tree_cursor *cursor, const struct tree *tree, uint64_t rank) {
    cursor->tree = tree;
    cursor->valid = rank < tree->count;
    if (!cursor->valid)
        return false;
    const void *node = tree->root;
    for (unsigned height = tree->height; height > 0; height--) {
        const struct inner *inner = node;
        unsigned at = inner_find_rank(inner, rank);
        rank -= inner_before(inner, at);
        node = inner->child[at];
    }
    return stand(cursor, node, (unsigned)rank);
}

bool tree_seek_last(struct tree_cursor *cursor, const struct tree *tree) {
    cursor->tree = tree;
    return stand_before(cursor, tree->last, tree->last->keys.count);
}

bool tree_next(struct tree_cursor *cursor) {
    assert(cursor->valid);
    if (cursor->slot == 0 && cursor->leaf->next != NULL)
        __builtin_prefetch(&cursor->leaf->next->keys); /* needed when this leaf is done */
    return stand(cursor, cursor->leaf, cursor->slot + 1);
}

bool tree_prev(struct tree_cursor *cursor) {
    assert(cursor->valid);
    return stand_before(cursor, cursor->leaf, cursor->slot);
}

struct bytes tree_key(struct tree_cursor *cursor) {
    assert(cursor->valid);
    return pack_key(&cursor->leaf->keys, cursor->slot, &cursor->key);
}

void tree_cursor_release(struct tree_cursor *cursor) {
    buf_release(&cursor->key);
    *cursor = (struct tree_cursor){0};
}
