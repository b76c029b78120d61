/* A packed list of sorted keys: what a node of the counted tree keeps its keys in.
 *
 * What all keys share is cut off and kept once. The next four bytes of each key, its head, stand
 * side by side as numbers, so that a search compares integers in a line or two of cache and
 * looks at the rest of a key only when heads tie. Nothing is stored twice and there are no holes:
 * a key costs the bytes the others do not share with it, and two (or four, in a wide pack) for
 * where it ends.
 *
 *   offset              size             what
 *   0                   prefix           what all keys begin with; then zeros to a multiple of 4
 *   p                   4 * count        heads: the 4 bytes after the prefix, as a number; a key
 *                                        with fewer has zeros for them
 *   p + 4 * count       2|4 * count      ends: where the key's tail ends among the tails, times
 *                                        8, plus how many bytes of its head are real (0 to 4)
 *   p + (6|8) * count   rest             tails: what follows the heads, in order
 *
 * A pack lies at the end of a node, in memory that the node owns: nothing here allocates.
 */
#ifndef GT_RANK_PACK_H
#define GT_RANK_PACK_H

#include "base/buf.h"
#include "base/bytes.h"

struct pack {
    uint16_t room8;  /* bytes of memory in data, divided by 8 */
    uint16_t count;  /* keys */
    uint16_t prefix; /* bytes of the prefix; all of the key when there is only one */
    uint16_t wide;   /* ends have 4 bytes, not 2: tails may be longer than PACK_NARROW_MAX */
    uint8_t data[];
};

enum { PACK_HEAD = 4, PACK_NARROW_MAX = 8191, PACK_ROOM_MAX = 8 * 65535 };

static inline size_t pack_room(const struct pack *pack) {
    return (size_t)pack->room8 * 8;
}

/* Bytes a key costs beyond its tail. */
static inline size_t pack_cost(const struct pack *pack) {
    return pack->wide ? PACK_HEAD + 4 : PACK_HEAD + 2;
}

/* Bytes of data that `load` bytes of heads, ends and tails take with a prefix of that size. */
static inline size_t pack_size_of(size_t prefix, size_t load) {
    return ((prefix + 3) & ~(size_t)3) + load;
}

/* Heads, ends and tails: what a node's limit is about, so that a long prefix is free. */
size_t pack_load(const struct pack *pack);
static inline size_t pack_size(const struct pack *pack) {
    return pack_size_of(pack->prefix, pack_load(pack));
}

/* How many bytes `a` and `b` have in common at their beginnings. */
size_t pack_common(struct bytes a, struct bytes b);

static inline struct bytes pack_prefix(const struct pack *pack) {
    return bytes_of(pack->data, pack->prefix);
}

/* How many keys are less than `key`: its slot, or the slot it would get. */
unsigned pack_find(const struct pack *pack, struct bytes key, bool *equal);

/* Asks the memory for what pack_find() will compare the key with, as far as the heads tell. */
void pack_soon(const struct pack *pack, struct bytes key);

/* Writes the key into `out`, in place of what was there, and returns it. */
struct bytes pack_key(const struct pack *pack, unsigned slot, struct buf *out);

/* The load with `key` added; its prefix is then as long as *prefix. */
size_t pack_load_with(const struct pack *pack, struct bytes key, size_t *prefix);
/* The load of the keys from..to-1 alone, under a prefix of that size. */
size_t pack_load_under(const struct pack *pack, unsigned from, unsigned to, size_t prefix);

/* Adds a key that begins with the prefix, in place; there must be room. */
void pack_insert(struct pack *pack, unsigned slot, struct bytes key);
/* Takes a key out, in place. The prefix stays, though it may now be shorter than it could be. */
void pack_remove(struct pack *pack, unsigned slot);

/* Where to cut in two: near the middle by bytes, where neighbours differ most, so that both
 * halves share more and a short key tells them apart. From 1 to count-1; count > 1. */
unsigned pack_middle(const struct pack *pack);

/* Writing a pack from front to back. */
struct pack_writer {
    struct pack *pack;
    unsigned slot;
    size_t end;
};

/* Begins a pack that will have `count` keys, all beginning with `prefix`. room8 and wide must be
 * set already. */
void pack_start(struct pack_writer *writer, struct pack *pack, struct bytes prefix, unsigned count);
void pack_add(struct pack_writer *writer, struct bytes key);
/* The keys from..to-1 of a pack. */
struct pack_range {
    const struct pack *pack;
    unsigned from, to;
};
/* Adds keys of another pack; `scratch` is for assembling them. */
void pack_copy(struct pack_writer *writer, struct pack_range keys, struct buf *scratch);

/* Asserts what holds for each pack. */
void pack_check(const struct pack *pack);

#endif
