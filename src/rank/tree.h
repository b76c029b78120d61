/* The counted tree: an ordered set of byte strings that knows how many stand before each.
 *
 * A B+ tree over memcmp order. Inner nodes keep the number of keys below each child, so a key's
 * rank, the key at a rank and the number of keys between two bounds each cost one walk from root
 * to leaf. Leaves cut off what their keys have in common and keep the rest side by side, so a
 * key costs little more than its own last bytes.
 *
 * There are only keys: an index puts what it sorts by first and what it points at last.
 * Not thread-safe: any number of readers, or one writer.
 */
#ifndef GT_RANK_TREE_H
#define GT_RANK_TREE_H

#include "base/buf.h"
#include "base/bytes.h"

struct tree;
struct tree_leaf;

struct tree *tree_new(void);
void tree_free(struct tree *tree);

uint64_t tree_count(const struct tree *tree);
/* Bytes of memory the tree holds, with what is free in its slabs (node_memory.h). O(1). */
size_t tree_memory(const struct tree *tree);

/* Adds the key (copied); false if it was there. At most TREE_KEY_MAX bytes. */
bool tree_put(struct tree *tree, struct bytes key);
/* Takes the key out; false if it was not there. */
bool tree_del(struct tree *tree, struct bytes key);
/* Takes `from` out and adds `to`, if that is a change within one leaf: most often it is when they
 * are close to each other. It is one way down rather than two, and no count changes. False, having
 * done nothing: it is not, `from` is not there, or `to` is. */
bool tree_move(struct tree *tree, struct bytes from, struct bytes to);
bool tree_has(const struct tree *tree, struct bytes key);

enum { TREE_KEY_MAX = 60000 };

/* How many keys are less than `key`, whether or not it is in the tree. */
uint64_t tree_rank(const struct tree *tree, struct bytes key);
/* The same; *has says whether it is. */
uint64_t tree_find(const struct tree *tree, struct bytes key, bool *has);
/* The same of several keys, in any order: ranks[i] and has[i] are keys[i]'s. They go down the tree
 * abreast, so that while one waits for memory others are looked at: two thirds of the time in a
 * large tree. */
void tree_find_many(const struct tree *tree, const struct bytes *keys, size_t count,
                    uint64_t *ranks, bool *has);

/* Prefetches what putting or deleting several keys will read, likewise abreast: for who is about to
 * do that, one after the other. What they change in between does no harm. */
void tree_prefetch_many(const struct tree *tree, const struct bytes *keys, size_t count);

/* A place between or at keys, for walking. Must not be used after the tree changed, except to
 * seek again. Zero-initialize; tree_cursor_release() frees the buffer it assembles keys in. */
struct tree_cursor {
    const struct tree *tree;
    const struct tree_leaf *leaf;
    unsigned slot;
    bool valid; /* whether it stands on a key */
    struct buf key;
};

/* Stands on the first key >= key. Returns cursor->valid, as all that follow. */
bool tree_seek(struct tree_cursor *cursor, const struct tree *tree, struct bytes key);
/* Stands on the last key < key. */
bool tree_seek_before(struct tree_cursor *cursor, const struct tree *tree, struct bytes key);
/* Stands on the key with `rank` keys before it. */
bool tree_seek_rank(struct tree_cursor *cursor, const struct tree *tree, uint64_t rank);
bool tree_seek_last(struct tree_cursor *cursor, const struct tree *tree);
bool tree_next(struct tree_cursor *cursor);
bool tree_prev(struct tree_cursor *cursor);
/* The key it stands on; good until the cursor moves or the tree changes. Needs valid. */
struct bytes tree_key(struct tree_cursor *cursor);
void tree_cursor_release(struct tree_cursor *cursor);

/* Builds a tree from keys that come in strictly rising order: no searching, full leaves. */
struct tree_loader;
struct tree_loader *tree_loader_new(void);
/* False, adding nothing, if the key is not greater than the one before. */
bool tree_loader_add(struct tree_loader *loader, struct bytes key);
/* As tree_memory(), of what the tree holds so far. */
size_t tree_loader_memory(const struct tree_loader *loader);
/* Frees the loader and returns the tree. */
struct tree *tree_loader_finish(struct tree_loader *loader);

/* Walks the whole tree and asserts each invariant. For tests. */
void tree_check(const struct tree *tree);

#endif
