/* Inner nodes: separators, children, and how many keys stand below them. */
#include "rank/tree_int.h"

enum { HEADER = offsetof(struct inner, keys), GROWTH = 128 };

struct inner *inner_new(struct tree *tree, void *only_child, uint64_t below) {
    struct inner *inner = tree_node_new(tree, HEADER, GROWTH, true);
    inner->count = 1;
    inner->child[0] = only_child;
    inner->upto[0] = below;
    return inner;
}

void inner_free(struct tree *tree, struct inner *inner) {
    node_free(tree, inner, HEADER);
}

unsigned inner_find(const struct inner *inner, struct bytes key) {
    bool equal;
    unsigned less = pack_find(&inner->keys, key, &equal);
    return less + equal;
}

unsigned inner_find_rank(const struct inner *inner, uint64_t rank) {
    unsigned low = 0, high = inner->count - 1u;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (inner->upto[middle] <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

typedef uint64_t four_counts __attribute__((vector_size(32), aligned(8)));

/* Four at a time, which the compiler does not do by itself at -O2. */
void inner_bump(struct inner *inner, unsigned at, uint64_t by) {
    unsigned i = at, count = inner->count;
    for (; i + 4 <= count; i += 4)
        *(four_counts *)(inner->upto + i) += by;
    for (; i < count; i++)
        inner->upto[i] += by;
}

bool inner_fits(const struct inner *inner, struct bytes separator) {
    size_t prefix;
    return inner->count < INNER_FAN &&
           (inner->count < INNER_FEW ||
            pack_load_with(&inner->keys, separator, &prefix) <= INNER_LOAD);
}

/* The node with one separator more; a new one when the old has no room for it. */
static struct inner *inner_add_key(struct tree *tree, struct inner *inner, unsigned slot,
                                   struct bytes separator) {
    struct pack *keys = &inner->keys;
    size_t prefix, load = pack_load_with(keys, separator, &prefix);
    size_t size = pack_size_of(prefix, load);
    if (prefix == keys->prefix && size <= pack_room(keys)) {
        pack_insert(keys, slot, separator);
        return inner;
    }
    struct inner *grown = tree_node_new(tree, HEADER, size + GROWTH, true);
    memcpy(grown, inner, HEADER);
    struct pack_writer writer;
    pack_start(&writer, &grown->keys, bytes_of(separator.data, prefix), keys->count + 1u);
    pack_copy(&writer, (struct pack_range){keys, 0, slot}, &tree->scratch);
    pack_add(&writer, separator);
    pack_copy(&writer, (struct pack_range){keys, slot, keys->count}, &tree->scratch);
    inner_free(tree, inner);
    return grown;
}

struct inner *inner_put(struct tree *tree, struct inner *inner, unsigned at,
                        const struct split *split) {
    inner = inner_add_key(tree, inner, at, split->separator);
    size_t after = inner->count - at;
    memmove(inner->upto + at + 1, inner->upto + at, after * sizeof(*inner->upto));
    memmove(inner->child + at + 1, inner->child + at, after * sizeof(*inner->child));
    inner->upto[at] = inner_before(inner, at) + split->left_count;
    inner->child[at] = split->halves[0];
    inner->child[at + 1] = split->halves[1];
    inner->count++;
    return inner;
}

void inner_drop(struct inner *inner, unsigned at) {
    /* Its count goes with it when it is the first; else its left neighbour's upto must already
     * stand for both, which is so if we forget the neighbour's number and keep this one's. */
    size_t after = inner->count - at - 1u;
    unsigned number = at > 0 ? at - 1 : 0;
    memmove(inner->child + at, inner->child + at + 1, after * sizeof(*inner->child));
    memmove(inner->upto + number, inner->upto + number + 1,
            (inner->count - number - 1u) * sizeof(*inner->upto));
    if (inner->keys.count != 0)
        pack_remove(&inner->keys, number);
    inner->count--;
}

/* As leaf_cut(): at either end, what is full stays full. */
unsigned inner_cut(const struct inner *inner, unsigned at) {
    unsigned count = inner->count;
    return at == count - 1 ? count - 1 : at == 0 ? 1 : count / 2;
}

struct bytes inner_separator(struct tree *tree, const struct inner *inner, unsigned at) {
    return pack_key(&inner->keys, at - 1, &tree->separator);
}

/* Children from..to-1 with the separators between them. */
static struct inner *inner_copy(struct tree *tree, const struct inner *inner, unsigned from,
                                unsigned to) {
    const struct pack *keys = &inner->keys;
    unsigned last = to - 1;
    struct bytes prefix = BYTES("");
    if (from < last) {
        prefix = pack_key(keys, from, &tree->first_key);
        prefix.size = pack_common(prefix, pack_key(keys, last - 1, &tree->scratch));
    }
    size_t load = pack_load_under(keys, from, last, prefix.size);
    struct inner *copy =
        tree_node_new(tree, HEADER, pack_size_of(prefix.size, load) + GROWTH, true);
    struct pack_writer writer;
    pack_start(&writer, &copy->keys, prefix, last - from);
    pack_copy(&writer, (struct pack_range){keys, from, last}, &tree->scratch);
    copy->count = (uint16_t)(to - from);
    for (unsigned i = from; i < to; i++) {
        copy->child[i - from] = inner->child[i];
        copy->upto[i - from] = inner->upto[i] - inner_before(inner, from);
    }
    return copy;
}

void inner_split(struct tree *tree, struct inner *inner, unsigned at, void *halves[2]) {
    halves[0] = inner_copy(tree, inner, 0, at);
    halves[1] = inner_copy(tree, inner, at, inner->count);
    inner_free(tree, inner);
}

struct inner *inner_join(struct tree *tree, struct inner *left, struct inner *right,
                         struct bytes separator) {
    const struct pack *a = &left->keys, *b = &right->keys;
    if (left->count + right->count > INNER_FAN * 3 / 4)
        return NULL;
    struct bytes prefix = separator;
    if (a->count != 0)
        prefix.size = pack_common(prefix, pack_key(a, 0, &tree->scratch));
    if (b->count != 0)
        prefix.size = pack_common(prefix, pack_key(b, b->count - 1u, &tree->scratch));
    size_t suffix = separator.size - prefix.size;
    size_t load = pack_load_under(a, 0, a->count, prefix.size) + pack_cost(a) + suffix +
                  pack_load_under(b, 0, b->count, prefix.size);
    if (load > INNER_LOAD && left->count + right->count > INNER_FEW)
        return NULL;
    struct inner *both = tree_node_new(tree, HEADER, pack_size_of(prefix.size, load), true);
    struct pack_writer writer;
    pack_start(&writer, &both->keys, prefix, a->count + 1u + b->count);
    pack_copy(&writer, (struct pack_range){a, 0, a->count}, &tree->scratch);
    pack_add(&writer, separator);
    pack_copy(&writer, (struct pack_range){b, 0, b->count}, &tree->scratch);
    both->count = left->count;
    memcpy(both->child, left->child, left->count * sizeof(*left->child));
    memcpy(both->upto, left->upto, left->count * sizeof(*left->upto));
    uint64_t before = inner_before(left, left->count);
    for (unsigned i = 0; i < right->count; i++) {
        both->child[both->count] = right->child[i];
        both->upto[both->count++] = before + right->upto[i];
    }
    inner_free(tree, left);
    inner_free(tree, right);
    return both;
}
