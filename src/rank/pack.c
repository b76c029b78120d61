#include "rank/pack.h"

#include <assert.h>

enum { LINE = 64 };

static inline uint32_t *heads_of(const struct pack *pack) {
    return (uint32_t *)(void *)(pack->data + pack_size_of(pack->prefix, 0));
}

static inline uint8_t *ends_of(const struct pack *pack) {
    return (uint8_t *)(heads_of(pack) + pack->count);
}

static inline size_t end_size(const struct pack *pack) {
    return pack->wide ? 4 : 2;
}

static inline uint8_t *tails_of(const struct pack *pack) {
    return ends_of(pack) + end_size(pack) * pack->count;
}

static inline uint32_t end_raw(const struct pack *pack, unsigned slot) {
    const void *ends = ends_of(pack);
    return pack->wide ? ((const uint32_t *)ends)[slot] : ((const uint16_t *)ends)[slot];
}

static inline void end_set(struct pack *pack, unsigned slot, uint32_t raw) {
    void *ends = ends_of(pack);
    if (pack->wide)
        ((uint32_t *)ends)[slot] = raw;
    else
        ((uint16_t *)ends)[slot] = (uint16_t)raw;
}

static inline size_t tail_end(const struct pack *pack, unsigned slot) {
    return end_raw(pack, slot) >> 3;
}

static inline size_t tail_start(const struct pack *pack, unsigned slot) {
    return slot == 0 ? 0 : tail_end(pack, slot - 1);
}

static inline unsigned head_size(const struct pack *pack, unsigned slot) {
    return end_raw(pack, slot) & 7;
}

static inline struct bytes tail_of(const struct pack *pack, unsigned slot) {
    size_t start = tail_start(pack, slot);
    return bytes_of(tails_of(pack) + start, tail_end(pack, slot) - start);
}

/* A key without the prefix, as it is stored. */
struct cut {
    uint32_t head;
    unsigned head_size;
    struct bytes tail;
};

static inline struct cut cut_of(struct bytes key, size_t prefix) {
    struct bytes suffix = bytes_skip(key, prefix);
    if (suffix.size >= PACK_HEAD) {
        uint32_t head;
        memcpy(&head, suffix.data, sizeof(head));
        return (struct cut){__builtin_bswap32(head), PACK_HEAD, bytes_skip(suffix, PACK_HEAD)};
    }
    uint32_t head = 0;
    for (size_t i = 0; i < suffix.size; i++)
        head |= (uint32_t)suffix.data[i] << (24 - 8 * i);
    return (struct cut){head, (unsigned)suffix.size, bytes_of(suffix.data, 0)};
}

size_t pack_load(const struct pack *pack) {
    return pack_cost(pack) * pack->count + tail_start(pack, pack->count);
}

size_t pack_common(struct bytes a, struct bytes b) {
    size_t shorter = a.size < b.size ? a.size : b.size, at = 0;
    for (; at + 8 <= shorter; at += 8) {
        uint64_t x, y;
        memcpy(&x, a.data + at, 8);
        memcpy(&y, b.data + at, 8);
        if (x != y)
            break;
    }
    while (at < shorter && a.data[at] == b.data[at])
        at++;
    return at;
}

typedef uint32_t four_heads __attribute__((vector_size(16), aligned(4)));

/* How many of `count` rising heads are less than `head`. Counting all of them, four at a time, is
 * quicker than a binary search: nothing waits for anything and there is no branch to guess. */
static inline unsigned head_find(const uint32_t *heads, unsigned count, uint32_t head) {
    four_heads wanted = {head, head, head, head}, sums = {0};
    unsigned at = 0, less = 0;
    for (; at + 4 <= count; at += 4)
        sums -= (four_heads)(*(const four_heads *)(heads + at) < wanted); /* true is -1 */
    for (; at < count; at++)
        less += heads[at] < head;
    return less + sums[0] + sums[1] + sums[2] + sums[3];
}

static inline int word_order(uint64_t left, uint64_t right) {
    return (left > right) - (left < right);
}

/* Orders the key against all keys of the pack by their prefix; 0 if it begins with it. Eight bytes
 * at a time, without a call; the last eight may overlap those before. */
static inline int prefix_compare(const struct pack *pack, struct bytes key) {
    size_t size = pack->prefix, at = 0;
    struct bytes prefix = bytes_of(pack->data, size);
    if (size == 0)
        return 0;
    if (size <= 8 && key.size >= 8) { /* a pack has room for 8 */
        prefix.size = 8;
        return word_order(bytes_word(key, 0) >> (64 - 8 * size),
                          bytes_word(prefix, 0) >> (64 - 8 * size));
    }
    if (key.size < size || size < 8) {
        int order = memcmp(key.data, pack->data, key.size < size ? key.size : size);
        return order == 0 && key.size < size ? -1 : order;
    }
    for (; at + 8 < size; at += 8) {
        int order = word_order(bytes_word(key, at), bytes_word(prefix, at));
        if (order != 0)
            return order;
    }
    return word_order(bytes_word(key, size - 8), bytes_word(prefix, size - 8));
}

/* Orders two keys whose heads are the same number. Padding makes "a" and "a\0" tie there; then
 * neither has a tail, and the size of the head decides. */
static inline int tie_compare(const struct pack *pack, unsigned slot, const struct cut *cut) {
    int order = bytes_compare(tail_of(pack, slot), cut->tail);
    return order != 0 ? order : (int)head_size(pack, slot) - (int)cut->head_size;
}

static unsigned tie_find(const struct pack *pack, unsigned low, const struct cut *cut,
                         bool *equal) {
    const uint32_t *heads = heads_of(pack);
    unsigned high = low + 1;
    while (high < pack->count && heads[high] == cut->head)
        high++;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        int order = tie_compare(pack, middle, cut);
        if (order == 0) {
            *equal = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

unsigned pack_find(const struct pack *pack, struct bytes key, bool *equal) {
    *equal = false;
    int order = prefix_compare(pack, key);
    if (order != 0)
        return order < 0 ? 0 : pack->count;
    struct cut cut = cut_of(key, pack->prefix);
    const uint32_t *heads = heads_of(pack);
    unsigned low = head_find(heads, pack->count, cut.head);
    if (low == pack->count || heads[low] != cut.head)
        return low;
    return tie_find(pack, low, &cut, equal);
}

void pack_soon(const struct pack *pack, struct bytes key) {
    if (prefix_compare(pack, key) != 0 || pack->count == 0)
        return;
    struct cut cut = cut_of(key, pack->prefix);
    unsigned low = head_find(heads_of(pack), pack->count, cut.head);
    /* Its tail is about where it would be if all were as long. */
    const uint8_t *tails = tails_of(pack);
    size_t size = (size_t)(pack->data + pack_room(pack) - tails);
    const uint8_t *guess = tails + size * low / pack->count;
    __builtin_prefetch(ends_of(pack) + end_size(pack) * low);
    __builtin_prefetch(guess);
    __builtin_prefetch((const void *)((uintptr_t)guess + LINE));
}

struct bytes pack_key(const struct pack *pack, unsigned slot, struct buf *out) {
    struct bytes tail = tail_of(pack, slot);
    unsigned head_bytes = head_size(pack, slot);
    uint32_t head = __builtin_bswap32(heads_of(pack)[slot]);
    buf_clear(out);
    uint8_t *to = buf_reserve(out, pack->prefix + PACK_HEAD + tail.size);
    memcpy(to, pack->data, pack->prefix);
    memcpy(to + pack->prefix, &head, PACK_HEAD);
    memcpy(to + pack->prefix + head_bytes, tail.data, tail.size);
    out->size = pack->prefix + head_bytes + tail.size;
    return buf_bytes(out);
}

size_t pack_load_under(const struct pack *pack, unsigned from, unsigned to, size_t prefix) {
    size_t load = pack_cost(pack) * (to - from);
    for (unsigned slot = from; slot < to; slot++) {
        size_t tail = tail_end(pack, slot) - tail_start(pack, slot);
        size_t suffix = pack->prefix + head_size(pack, slot) + tail - prefix;
        load += suffix > PACK_HEAD ? suffix - PACK_HEAD : 0;
    }
    return load;
}

size_t pack_load_with(const struct pack *pack, struct bytes key, size_t *prefix) {
    *prefix = pack->count == 0 ? key.size : pack_common(pack_prefix(pack), key);
    size_t load =
        *prefix == pack->prefix ? pack_load(pack) : pack_load_under(pack, 0, pack->count, *prefix);
    size_t suffix = key.size - *prefix;
    return load + pack_cost(pack) + (suffix > PACK_HEAD ? suffix - PACK_HEAD : 0);
}

/* Adds `by` (modulo 2^16 or 2^32) to the ends from..to-1. */
static void ends_shift(struct pack *pack, unsigned from, unsigned to, size_t by) {
    if (pack->wide) {
        uint32_t *ends = (uint32_t *)(void *)ends_of(pack);
        for (unsigned i = from; i < to; i++)
            ends[i] += (uint32_t)by;
    } else {
        uint16_t *ends = (uint16_t *)(void *)ends_of(pack);
        for (unsigned i = from; i < to; i++)
            ends[i] = (uint16_t)(ends[i] + by);
    }
}

void pack_insert(struct pack *pack, unsigned slot, struct bytes key) {
    struct cut cut = cut_of(key, pack->prefix);
    size_t start = tail_start(pack, slot), tails = tail_start(pack, pack->count);
    size_t width = end_size(pack), after = pack->count - slot;
    uint32_t *heads = heads_of(pack);
    uint8_t *old_ends = ends_of(pack), *old_tails = tails_of(pack);
    pack->count++;
    uint8_t *ends = ends_of(pack), *tail = tails_of(pack) + start;
    /* Everything moves right: from the back, so that nothing is written over before it moved. */
    memmove(tail + cut.tail.size, old_tails + start, tails - start);
    memmove(tails_of(pack), old_tails, start);
    memcpy(tail, cut.tail.data, cut.tail.size);
    memmove(ends + (slot + 1) * width, old_ends + slot * width, after * width);
    memmove(ends, old_ends, slot * width);
    memmove(heads + slot + 1, heads + slot, after * sizeof(*heads));
    heads[slot] = cut.head;
    end_set(pack, slot, (uint32_t)(start << 3 | cut.head_size));
    ends_shift(pack, slot, pack->count, cut.tail.size << 3);
}

void pack_remove(struct pack *pack, unsigned slot) {
    size_t start = tail_start(pack, slot), size = tail_end(pack, slot) - start;
    size_t tails = tail_start(pack, pack->count), width = end_size(pack);
    size_t after = pack->count - slot - 1u;
    uint32_t *heads = heads_of(pack);
    uint8_t *old_ends = ends_of(pack), *old_tails = tails_of(pack);
    ends_shift(pack, slot, pack->count, 0 - (size << 3));
    memmove(heads + slot, heads + slot + 1, after * sizeof(*heads));
    pack->count--;
    memmove(ends_of(pack), old_ends, slot * width);
    memmove(ends_of(pack) + slot * width, old_ends + (slot + 1) * width, after * width);
    memmove(tails_of(pack), old_tails, start);
    memmove(tails_of(pack) + start, old_tails + start + size, tails - start - size);
    if (pack->count == 0)
        pack->prefix = 0; /* else the next key would have to begin with it */
}

/* Bytes that the keys on both sides of a cut have in common after the prefix, up to 4. */
static inline int cut_common(const uint32_t *heads, unsigned at) {
    uint32_t differ = heads[at] ^ heads[at - 1];
    return differ == 0 ? PACK_HEAD : __builtin_clz(differ) / 8;
}

unsigned pack_middle(const struct pack *pack) {
    unsigned count = pack->count, middle = 1;
    size_t half = pack_load(pack) / 2;
    while (middle < count - 1 && pack_cost(pack) * middle + tail_start(pack, middle) < half)
        middle++;
    const uint32_t *heads = heads_of(pack);
    unsigned best = middle;
    for (unsigned off = 1; off <= count / 8; off++) {
        if (middle > off && cut_common(heads, middle - off) < cut_common(heads, best))
            best = middle - off;
        if (middle + off < count && cut_common(heads, middle + off) < cut_common(heads, best))
            best = middle + off;
    }
    return best;
}

void pack_start(struct pack_writer *writer, struct pack *pack, struct bytes prefix,
                unsigned count) {
    size_t padded = pack_size_of(prefix.size, 0);
    pack->prefix = (uint16_t)prefix.size;
    pack->count = (uint16_t)count;
    memset(pack->data + prefix.size, 0, padded - prefix.size);
    if (prefix.size != 0)
        memcpy(pack->data, prefix.data, prefix.size);
    *writer = (struct pack_writer){.pack = pack};
}

void pack_add(struct pack_writer *writer, struct bytes key) {
    struct pack *pack = writer->pack;
    struct cut cut = cut_of(key, pack->prefix);
    heads_of(pack)[writer->slot] = cut.head;
    memcpy(tails_of(pack) + writer->end, cut.tail.data, cut.tail.size);
    writer->end += cut.tail.size;
    end_set(pack, writer->slot++, (uint32_t)(writer->end << 3 | cut.head_size));
}

void pack_copy(struct pack_writer *writer, struct pack_range keys, struct buf *scratch) {
    const struct pack *from_pack = keys.pack;
    unsigned from = keys.from, to = keys.to;
    struct pack *pack = writer->pack;
    if (pack->prefix != from_pack->prefix || pack->wide != from_pack->wide) {
        for (unsigned slot = from; slot < to; slot++)
            pack_add(writer, pack_key(from_pack, slot, scratch));
        return;
    }
    size_t start = tail_start(from_pack, from), size = tail_start(from_pack, to) - start;
    memcpy(heads_of(pack) + writer->slot, heads_of(from_pack) + from, (to - from) * PACK_HEAD);
    memcpy(tails_of(pack) + writer->end, tails_of(from_pack) + start, size);
    size_t width = end_size(pack);
    unsigned first = writer->slot;
    writer->slot += to - from;
    memcpy(ends_of(pack) + first * width, ends_of(from_pack) + from * width, (to - from) * width);
    if (writer->end != start)
        ends_shift(pack, first, writer->slot, (writer->end - start) << 3);
    writer->end += size;
}

void pack_check(const struct pack *pack) {
    assert(pack_size(pack) <= pack_room(pack));
    assert(pack->wide || tail_start(pack, pack->count) <= PACK_NARROW_MAX);
    for (unsigned slot = 0; slot < pack->count; slot++) {
        uint32_t head = heads_of(pack)[slot];
        unsigned real = head_size(pack, slot);
        assert(tail_start(pack, slot) <= tail_end(pack, slot));
        assert(real <= PACK_HEAD && (real == PACK_HEAD || tail_of(pack, slot).size == 0));
        assert(real == PACK_HEAD || (uint32_t)((uint64_t)head << (8 * real)) == 0);
        if (slot == 0)
            continue;
        struct cut cut = {head, real, tail_of(pack, slot)};
        uint32_t before = heads_of(pack)[slot - 1];
        assert(before < head || (before == head && tie_compare(pack, slot - 1, &cut) < 0));
    }
}
