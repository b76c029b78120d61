/* Leaves: the keys themselves, and links to both neighbours. */
#include "rank/tree_int.h"

enum { HEADER = offsetof(struct tree_leaf, keys), SHRINK = 256 };

struct tree_leaf *leaf_new(struct tree *tree, size_t size) {
    struct tree_leaf *leaf = tree_node_new(tree, HEADER, size, false);
    leaf->prev = leaf->next = NULL;
    return leaf;
}

void leaf_free(struct tree *tree, struct tree_leaf *leaf) {
    node_free(tree, leaf, HEADER);
}

void leaf_link(struct tree *tree, struct tree_leaf *leaf, struct tree_leaf *prev,
               struct tree_leaf *next) {
    leaf->prev = prev;
    leaf->next = next;
    *(prev != NULL ? &prev->next : &tree->first) = leaf;
    *(next != NULL ? &next->prev : &tree->last) = leaf;
}

void leaf_unlink(struct tree *tree, struct tree_leaf *leaf) {
    struct tree_leaf *prev = leaf->prev, *next = leaf->next;
    *(prev != NULL ? &prev->next : &tree->first) = next;
    *(next != NULL ? &next->prev : &tree->last) = prev;
    leaf_free(tree, leaf);
}

bool leaf_fits(const struct tree_leaf *leaf, struct bytes key) {
    size_t prefix;
    return pack_load_with(&leaf->keys, key, &prefix) <= LEAF_LOAD;
}

/* A new leaf with the keys from..to-1 of `keys` under as long a prefix as they have. */
static struct tree_leaf *leaf_copy(struct tree *tree, const struct pack *keys, unsigned from,
                                   unsigned to) {
    if (from == to)
        return leaf_new(tree, 0);
    struct bytes first = pack_key(keys, from, &tree->first_key);
    struct bytes last = pack_key(keys, to - 1, &tree->scratch);
    first.size = pack_common(first, last);
    size_t load = pack_load_under(keys, from, to, first.size);
    struct tree_leaf *leaf = leaf_new(tree, pack_size_of(first.size, load));
    struct pack_writer writer;
    pack_start(&writer, &leaf->keys, first, to - from);
    pack_copy(&writer, (struct pack_range){keys, from, to}, &tree->scratch);
    return leaf;
}

struct tree_leaf *leaf_put(struct tree *tree, struct tree_leaf *leaf, unsigned slot,
                           struct bytes key) {
    struct pack *keys = &leaf->keys;
    size_t prefix, load = pack_load_with(keys, key, &prefix), size = pack_size_of(prefix, load);
    if (prefix == keys->prefix &&
        (size <= pack_room(keys) || tree_node_extend(tree, leaf, HEADER, size))) {
        pack_insert(keys, slot, key);
        return leaf;
    }
    struct tree_leaf *grown = leaf_new(tree, size);
    struct pack_writer writer;
    pack_start(&writer, &grown->keys, bytes_of(key.data, prefix), keys->count + 1u);
    pack_copy(&writer, (struct pack_range){keys, 0, slot}, &tree->scratch);
    pack_add(&writer, key);
    pack_copy(&writer, (struct pack_range){keys, slot, keys->count}, &tree->scratch);
    leaf_link(tree, grown, leaf->prev, leaf->next);
    leaf_free(tree, leaf);
    return grown;
}

struct tree_leaf *leaf_del(struct tree *tree, struct tree_leaf *leaf, unsigned slot) {
    pack_remove(&leaf->keys, slot);
    if (leaf->keys.count == 0 || pack_room(&leaf->keys) - pack_size(&leaf->keys) < SHRINK)
        return leaf;
    struct tree_leaf *shrunk = leaf_copy(tree, &leaf->keys, 0, leaf->keys.count);
    leaf_link(tree, shrunk, leaf->prev, leaf->next);
    leaf_free(tree, leaf);
    return shrunk;
}

size_t leaf_move(void *owner, void *moving) {
    struct tree *tree = owner;
    struct tree_leaf *leaf = moving;
    const struct pack *keys = &leaf->keys;
    struct path path;
    if (keys->count != 0) /* else it is the root */
        tree_descend(tree, pack_key(keys, 0, &tree->scratch), &path);
    struct tree_leaf *moved = leaf_new(tree, pack_room(keys));
    uint16_t room8 = moved->keys.room8; /* which may be more */
    memcpy(&moved->keys, keys, sizeof(*keys) + pack_size(keys));
    moved->keys.room8 = room8;
    leaf_link(tree, moved, leaf->prev, leaf->next);
    tree_place(tree, &path, tree->height, moved);
    return HEADER + sizeof(*keys) + pack_room(keys);
}

/* A key at either end is likely one of a run in order: what is full stays full. A long key would
 * not fit well beside half of the others. Otherwise both sides get as much. */
unsigned leaf_cut(const struct tree_leaf *leaf, unsigned slot, struct bytes key) {
    const struct pack *keys = &leaf->keys;
    bool is_long = key.size - pack_common(pack_prefix(keys), key) > LEAF_LOAD / 2;
    return slot == 0 || slot == keys->count || is_long ? slot : pack_middle(keys);
}

struct bytes leaf_separator(struct tree *tree, const struct tree_leaf *leaf, unsigned at,
                            struct bytes key) {
    const struct pack *keys = &leaf->keys;
    struct bytes left = at > 0 ? pack_key(keys, at - 1, &tree->first_key) : key;
    struct bytes right = at < keys->count ? pack_key(keys, at, &tree->separator) : key;
    return node_separator(left, right);
}

void leaf_split(struct tree *tree, struct tree_leaf *leaf, unsigned at, void *halves[2]) {
    struct tree_leaf *prev = leaf->prev, *next = leaf->next, *left = leaf, *right = leaf;
    if (at < leaf->keys.count)
        left = leaf_copy(tree, &leaf->keys, 0, at);
    if (at > 0)
        right = leaf_copy(tree, &leaf->keys, at, leaf->keys.count);
    leaf_link(tree, left, prev, right);
    leaf_link(tree, right, left, next);
    if (leaf != left && leaf != right)
        leaf_free(tree, leaf);
    halves[0] = left;
    halves[1] = right;
}

struct tree_leaf *leaf_join(struct tree *tree, struct tree_leaf *left, struct tree_leaf *right) {
    const struct pack *a = &left->keys, *b = &right->keys;
    struct bytes first = pack_key(a, 0, &tree->first_key);
    first.size = pack_common(first, pack_key(b, b->count - 1u, &tree->scratch));
    size_t load =
        pack_load_under(a, 0, a->count, first.size) + pack_load_under(b, 0, b->count, first.size);
    if (load > LEAF_LOAD * 3 / 4)
        return NULL;
    struct tree_leaf *both = leaf_new(tree, pack_size_of(first.size, load));
    struct pack_writer writer;
    pack_start(&writer, &both->keys, first, (unsigned)a->count + b->count);
    pack_copy(&writer, (struct pack_range){a, 0, a->count}, &tree->scratch);
    pack_copy(&writer, (struct pack_range){b, 0, b->count}, &tree->scratch);
    leaf_link(tree, both, left->prev, right->next);
    leaf_free(tree, left);
    leaf_free(tree, right);
    return both;
}
