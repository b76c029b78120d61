/* tree_check(): the invariants of tree_int.h, by its numbers. */
#include "rank/tree_int.h"

#include <assert.h>

struct walk {
    const struct tree *tree;
    const struct tree_leaf *next; /* the leaf that must come next */
    size_t memory;                /* of the nodes so far */
    struct buf last, key;         /* the key last seen, and the one before us */
    bool any;
};

static void count_memory(struct walk *walk, const struct pack *keys, size_t header) {
    size_t bytes = header + sizeof(struct pack) + pack_room(keys);
    walk->memory += bytes;
    pack_check(keys);
}

/* Keys rise, from `low` on and below `high` where these are given. */
static uint64_t check_leaf(struct walk *walk, const struct tree_leaf *leaf, const struct buf *low,
                           const struct buf *high) {
    const struct pack *keys = &leaf->keys;
    assert(leaf == walk->next); /* 1 */
    assert(leaf->next == NULL ? walk->tree->last == leaf : leaf->next->prev == leaf);
    walk->next = leaf->next;
    assert(keys->count != 0 || walk->tree->count == 0);  /* 4 */
    assert(pack_load(keys) <= LEAF_LOAD && !keys->wide); /* 5 */
    for (unsigned slot = 0; slot < keys->count; slot++) {
        struct bytes now = pack_key(keys, slot, &walk->key);
        assert(!walk->any || bytes_compare(buf_bytes(&walk->last), now) < 0); /* 1 */
        assert(low == NULL || bytes_compare(buf_bytes(low), now) <= 0);       /* 2 */
        assert(high == NULL || bytes_compare(now, buf_bytes(high)) < 0);
        struct buf spare = walk->last;
        walk->last = walk->key;
        walk->key = spare;
        walk->any = true;
    }
    count_memory(walk, keys, offsetof(struct tree_leaf, keys));
    return keys->count;
}

/* What the keys below a node lie between: low <= key < high. NULL: no bound. */
struct bounds {
    const struct buf *low, *high;
};

static uint64_t check_node(struct walk *walk, const void *node, unsigned height,
                           struct bounds bounds) {
    if (height == 0)
        return check_leaf(walk, node, bounds.low, bounds.high);
    const struct inner *inner = node;
    const struct pack *keys = &inner->keys;
    assert(inner->count >= (inner == walk->tree->root ? 2 : 1)); /* 4 */
    assert(inner->count <= INNER_FAN && keys->count == inner->count - 1 && keys->wide);
    assert(pack_load(keys) <= INNER_LOAD || inner->count <= INNER_FEW); /* 5 */
    struct buf left = {0}, right = {0};
    uint64_t below = 0;
    for (unsigned at = 0; at < inner->count; at++) {
        bool is_first = at == 0, is_last = at == keys->count;
        if (!is_last)
            pack_key(keys, at, &right);
        struct bounds inside = {is_first ? bounds.low : &left, is_last ? bounds.high : &right};
        below += check_node(walk, inner->child[at], height - 1, inside);
        assert(inner->upto[at] == below); /* 3 */
        buf_clear(&left);
        buf_put(&left, buf_bytes(&right));
    }
    buf_release(&left);
    buf_release(&right);
    count_memory(walk, keys, offsetof(struct inner, keys));
    return below;
}

void tree_check(const struct tree *tree) {
    struct walk walk = {.tree = tree, .next = tree->first};
    assert(tree->first->prev == NULL && tree->last->next == NULL);
    uint64_t below = check_node(&walk, tree->root, tree->height, (struct bounds){0});
    assert(below == tree->count);                                 /* 3 */
    assert(walk.next == NULL);                                    /* 1: no leaf beyond the tree's */
    assert(walk.memory == tree->leaves.used + tree->inners.used); /* 6 */
    node_memory_check(&tree->leaves);
    node_memory_check(&tree->inners);
    buf_release(&walk.last);
    buf_release(&walk.key);
}
