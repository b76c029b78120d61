/* The counted tree from the inside. Private to rank/.
 *
 *                       inner   keys:  "c"        "m"           separators, cut as short as
 *                               child:  |    |     |            they can be
 *                               upto:   2    5     7            keys in this child and those
 *                              ┌────────┘    │     └──────┐     before it
 *                       leaf  "a" "bx" ⇄ "c" "d" "lo" ⇄ "m" "z"
 *
 * Invariants, walked by tree_check():
 *  1. Keys rise strictly through the leaves, which are linked both ways in that order.
 *  2. Every leaf hangs at the same depth. Child i of an inner node holds the keys k with
 *     separator[i-1] <= k < separator[i].
 *  3. upto[i] is the number of keys below children 0..i. A rank needs one number a level, and
 *     finding a rank is a binary search; a change adds 1 to a run of numbers side by side.
 *  4. No leaf is empty but the only leaf of an empty tree; a root that is an inner node has at
 *     least two children, any other at least one.
 *  5. A leaf's load is at most LEAF_LOAD. An inner node's is at most INNER_LOAD unless it has
 *     only INNER_FEW children, so very long keys narrow the tree but never stop it.
 *  6. What is used of tree->leaves and tree->inners is the sum of their nodes.
 *
 * Nodes are as large as their keys need, in units of node_memory.h; one that outgrows its memory
 * and has no gap behind it is written anew elsewhere. So a split costs no memory for empty halves,
 * and nodes may be merged lazily: only when one falls below a quarter and the two fit well. (A
 * departure from the textbook: nodes never borrow from a sibling. Depth still grows only when a
 * full root splits.)
 */
#ifndef GT_RANK_TREE_INT_H
#define GT_RANK_TREE_INT_H

#include "rank/node_memory.h"
#include "rank/pack.h"
#include "rank/tree.h"

enum {
    LEAF_LOAD = 984,    /* most bytes of heads, ends and tails in a leaf */
    INNER_FAN = 64,     /* most children of an inner node */
    INNER_LOAD = 4096,  /* most bytes of heads, ends and tails of its separators */
    INNER_FEW = 4,      /* children that an inner node may have whatever their separators */
    TREE_DEPTH_MAX = 64 /* inner levels: beyond what any memory can fill */
};

struct tree_leaf {
    struct tree_leaf *prev, *next;
    struct pack keys;
};

struct inner {
    uint16_t count; /* children */
    uint64_t upto[INNER_FAN];
    void *child[INNER_FAN]; /* inner nodes or leaves: depth tells */
    struct pack keys;       /* count-1 separators */
};

struct tree {
    void *root; /* a leaf when height is 0 */
    unsigned height;
    uint64_t count;
    struct node_memory leaves, inners;
    unsigned changes; /* since a slab was emptied */
    struct tree_leaf *first, *last;
    /* Where changes assemble keys: on their way from node to node, the first of a node to be,
     * and the separator of a split or join under way. */
    struct buf scratch, first_key, separator;
};

/* The way from the root to a leaf: steps[depth] is an inner node and the child taken. */
struct path {
    struct tree_leaf *leaf;
    struct step {
        struct inner *node;
        unsigned at;
    } steps[TREE_DEPTH_MAX];
};

/* A block of `header` bytes (uninitialized) with an empty pack behind it that has room for at
 * least `size` bytes of data, rounded up to a step. */
void *tree_node_new(struct tree *tree, size_t header, size_t size, bool wide);
void node_free(struct tree *tree, void *node, size_t header);
/* Makes room for `size` bytes of data where the node is; false: there is none. */
bool tree_node_extend(struct tree *tree, void *node, size_t header, size_t size);

/* The shortest key that is greater than `left` and not greater than `right`. */
static inline struct bytes node_separator(struct bytes left, struct bytes right) {
    return bytes_of(right.data, pack_common(left, right) + 1);
}

/* tree_leaf.c. What may move a leaf returns where it now is and has mended its neighbours' links;
 * the caller tells its parent. */
struct tree_leaf *leaf_new(struct tree *tree, size_t size);
void leaf_free(struct tree *tree, struct tree_leaf *leaf);
bool leaf_fits(const struct tree_leaf *leaf, struct bytes key);
struct tree_leaf *leaf_put(struct tree *tree, struct tree_leaf *leaf, unsigned slot,
                           struct bytes key);
struct tree_leaf *leaf_del(struct tree *tree, struct tree_leaf *leaf, unsigned slot);
/* Hangs `leaf` into the list between two neighbours, either of which may be NULL. */
void leaf_link(struct tree *tree, struct tree_leaf *leaf, struct tree_leaf *prev,
               struct tree_leaf *next);
/* Takes an empty leaf out of the list and frees it. */
void leaf_unlink(struct tree *tree, struct tree_leaf *leaf);
/* Moves a leaf to another place, for node_memory_empty_slab(); `tree` is the struct tree. */
size_t leaf_move(void *tree, void *leaf);
/* Where to split so that `key` finds room at `slot`: 0 and count make it a leaf of its own. */
unsigned leaf_cut(const struct tree_leaf *leaf, unsigned slot, struct bytes key);
/* The separator of such a split. Good until the tree's next change. */
struct bytes leaf_separator(struct tree *tree, const struct tree_leaf *leaf, unsigned at,
                            struct bytes key);
/* Replaces the leaf by two. */
void leaf_split(struct tree *tree, struct tree_leaf *leaf, unsigned at, void *halves[2]);
/* Replaces two neighbours by one, or returns NULL if they would not fit well. */
struct tree_leaf *leaf_join(struct tree *tree, struct tree_leaf *left, struct tree_leaf *right);

/* tree_inner.c */
struct inner *inner_new(struct tree *tree, void *only_child, uint64_t below);
void inner_free(struct tree *tree, struct inner *inner);
/* The child whose range holds the key. */
unsigned inner_find(const struct inner *inner, struct bytes key);
/* The child that holds the key with `rank` keys before it below this node. */
unsigned inner_find_rank(const struct inner *inner, uint64_t rank);
/* Keys below the children before child `at`. */
static inline uint64_t inner_before(const struct inner *inner, unsigned at) {
    return at == 0 ? 0 : inner->upto[at - 1];
}
/* Adds `by` (modulo 2^64) to the count of child `at`. */
void inner_bump(struct inner *inner, unsigned at, uint64_t by);
bool inner_fits(const struct inner *inner, struct bytes separator);
/* A node that became two. */
struct split {
    void *halves[2];
    uint64_t left_count; /* keys below the first half */
    struct bytes separator;
};
/* Child `at` became two. May move the node. */
struct inner *inner_put(struct tree *tree, struct inner *inner, unsigned at,
                        const struct split *split);
/* Forgets child `at`, which holds no keys any more or whose keys went to its left neighbour. */
void inner_drop(struct inner *inner, unsigned at);
/* Where to split so that there is room after child `at`. */
unsigned inner_cut(const struct inner *inner, unsigned at);
/* The separator of such a split. Good until the tree's next change. */
struct bytes inner_separator(struct tree *tree, const struct inner *inner, unsigned at);
/* Replaces the node by two; the separator between them is in neither. */
void inner_split(struct tree *tree, struct inner *inner, unsigned at, void *halves[2]);
/* Replaces two neighbours by one, or returns NULL if they would not fit well. */
struct inner *inner_join(struct tree *tree, struct inner *left, struct inner *right,
                         struct bytes separator);

/* tree.c */
struct tree_leaf *tree_descend(const struct tree *tree, struct bytes key, struct path *path);
/* Splits the highest node that must split before the path's leaf can split at `at` to make room for
 * `key`; then the way down must be searched again. */
void tree_make_room(struct tree *tree, struct path *path, unsigned at, struct bytes key);

/* Adds `by` (modulo 2^64) to the counts on the way and of the tree. */
void tree_bump(struct tree *tree, struct path *path, uint64_t by);
/* Makes `node` the one at that depth of the way; the leaf's depth is tree->height. */
void tree_place(struct tree *tree, struct path *path, unsigned depth, void *node);

/* The empty key may come with no pointer; from here on each key has one. */
static inline struct bytes key_given(struct bytes key) {
    return key.size == 0 ? BYTES("") : key;
}

#endif
