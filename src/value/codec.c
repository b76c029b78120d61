/* The decoder is one pass over the bytes that trusts nothing: a count is believed only as far as
 * the bytes left could hold it, so damage cannot ask for more memory than a small multiple of the
 * input, and nesting is bounded. Order and uniqueness are checked too, since look-ups rely on
 * them. */
#include "value/codec.h"

#include "base/limits.h"
#include "value/name_order.h"
#include "value/number.h"

/* Bounds recursion only. What may be stored is decided where it comes in, at LIMIT_NESTING. */
enum { DEPTH_MAX = 2 * LIMIT_NESTING };

/* Fewest bytes an element of a set, a value, and a name with a value can take. */
enum { ELEMENT_LEAST = 1, VALUE_LEAST = 1, PAIR_LEAST = 2 };

/* ---- encoding ---- */

static inline void put_size(struct buf *to, size_t size) {
    if (size < 0x80)
        buf_byte(to, (uint8_t)size);
    else
        buf_varint(to, size);
}

static inline void put_counted(struct buf *to, struct bytes bytes) {
    put_size(to, bytes.size);
    buf_put(to, bytes);
}

static void put_elements(struct buf *to, const struct value *set) {
    put_size(to, set->count);
    for (uint32_t i = 0; i < set->count; i++)
        put_counted(to, set->elements[i].bytes);
}

static void put_map(struct buf *to, const struct value *map) {
    put_size(to, map->count);
    for (uint32_t i = 0; i < map->count; i++) {
        put_counted(to, map->pairs[i].name);
        value_encode(&map->pairs[i].value, to);
    }
}

void value_encode(const struct value *value, struct buf *to) {
    buf_byte(to, (uint8_t)value->type);
    switch (value->type) {
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        put_counted(to, value->bytes);
        break;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        put_elements(to, value);
        break;
    case VALUE_L:
        put_size(to, value->count);
        for (uint32_t i = 0; i < value->count; i++)
            value_encode(&value->elements[i], to);
        break;
    case VALUE_M:
        put_map(to, value);
        break;
    case VALUE_BOOL:
        buf_byte(to, value->count != 0);
        break;
    case VALUE_NULL:
    case VALUE_NONE:
        break;
    }
}

static void put_name(struct buf *to, struct names *names, struct bytes name) {
    int code = names_intern(names, name);
    if (code == NAMES_FULL) {
        buf_byte(to, 0);
        put_counted(to, name);
    } else
        put_size(to, (size_t)code + 1);
}

void item_encode(const struct item *item, struct names *names, struct buf *to) {
    put_size(to, item->count);
    for (uint32_t i = 0; i < item->count; i++) {
        put_name(to, names, item->pairs[i].name);
        value_encode(&item->pairs[i].value, to);
    }
}

/* ---- decoding ---- */

static inline bool take_size(struct bytes *in, size_t *out) {
    uint64_t size;
    if (in->size != 0 && in->data[0] < 0x80) {
        *out = in->data[0];
        *in = bytes_skip(*in, 1);
        return true;
    }
    if (!take_varint(in, &size))
        return false;
    *out = (size_t)size;
    return true;
}

static inline bool take_string(struct bytes *in, struct bytes *out) {
    size_t size;
    return take_size(in, &size) && take_bytes(in, size, out);
}

/* A count of things of at least `least` bytes each. */
static inline bool take_count(struct bytes *in, size_t least, uint32_t *out) {
    size_t count;
    if (!take_size(in, &count) || count > in->size / least || count > UINT32_MAX)
        return false;
    *out = (uint32_t)count;
    return true;
}

static inline bool take_type(struct bytes *in, enum value_type *out) {
    if (in->size == 0 || in->data[0] == VALUE_NONE || in->data[0] > VALUE_NULL)
        return false;
    *out = (enum value_type)in->data[0];
    *in = bytes_skip(*in, 1);
    return true;
}

static inline bool take_scalar(struct bytes *in, enum value_type type, struct bytes *out) {
    return take_string(in, out) && (type != VALUE_N || number_valid(*out));
}

static bool take_value(struct bytes *in, struct arena *arena, unsigned depth, struct value *out);

static bool take_set(struct bytes *in, struct arena *arena, struct value *out) {
    enum value_type type = value_element_type(out->type);
    if (!take_count(in, ELEMENT_LEAST, &out->count) || out->count == 0)
        return false;
    struct value *elements = arena_alloc(arena, out->count * sizeof(*elements));
    for (uint32_t i = 0; i < out->count; i++) {
        elements[i].type = type;
        elements[i].count = 0;
        if (!take_scalar(in, type, &elements[i].bytes))
            return false;
        if (i > 0 && value_compare(&elements[i - 1], &elements[i]) >= 0)
            return false;
    }
    out->elements = elements;
    return true;
}

static bool take_list(struct bytes *in, struct arena *arena, unsigned depth, struct value *out) {
    if (!take_count(in, VALUE_LEAST, &out->count))
        return false;
    struct value *elements = arena_alloc(arena, out->count * sizeof(*elements));
    for (uint32_t i = 0; i < out->count; i++)
        if (!take_value(in, arena, depth, &elements[i]))
            return false;
    out->elements = elements;
    return true;
}

static inline bool in_order(const struct pair *pairs, uint32_t at) {
    return at == 0 || name_compare(pairs[at - 1].name, pairs[at].name) < 0;
}

static bool take_map(struct bytes *in, struct arena *arena, unsigned depth, struct value *out) {
    if (!take_count(in, PAIR_LEAST, &out->count))
        return false;
    struct pair *pairs = arena_alloc(arena, out->count * sizeof(*pairs));
    for (uint32_t i = 0; i < out->count; i++)
        if (!take_string(in, &pairs[i].name) || !in_order(pairs, i) ||
            !take_value(in, arena, depth, &pairs[i].value))
            return false;
    out->pairs = pairs;
    return true;
}

static bool take_bool(struct bytes *in, struct value *out) {
    if (in->size == 0 || in->data[0] > 1)
        return false;
    out->count = in->data[0];
    *in = bytes_skip(*in, 1);
    return true;
}

static bool take_value(struct bytes *in, struct arena *arena, unsigned depth, struct value *out) {
    if (!take_type(in, &out->type))
        return false;
    out->count = 0;
    switch (out->type) {
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        return take_scalar(in, out->type, &out->bytes);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return take_set(in, arena, out);
    case VALUE_L:
        return depth > 0 && take_list(in, arena, depth - 1, out);
    case VALUE_M:
        return depth > 0 && take_map(in, arena, depth - 1, out);
    case VALUE_BOOL:
        return take_bool(in, out);
    case VALUE_NULL:
        return true;
    case VALUE_NONE:
        break;
    }
    return false;
}

enum status value_decode(struct bytes *from, struct arena *arena, struct value *out) {
    struct bytes rest = *from;
    if (!take_value(&rest, arena, DEPTH_MAX, out))
        return DAMAGED;
    *from = rest;
    return OK;
}

static inline bool take_name(struct bytes *in, const struct names *names, struct bytes *out) {
    size_t code;
    if (!take_size(in, &code))
        return false;
    if (code == 0)
        return take_string(in, out);
    if (code > LIMIT_NAME_CODES)
        return false;
    *out = names_get(names, (int)code - 1);
    return out->data != NULL;
}

enum status item_decode(struct bytes from, const struct names *names, struct arena *arena,
                        struct item *out) {
    uint32_t count;
    if (!take_count(&from, PAIR_LEAST, &count))
        return DAMAGED;
    struct pair *pairs = arena_alloc(arena, count * sizeof(*pairs));
    for (uint32_t i = 0; i < count; i++)
        if (!take_name(&from, names, &pairs[i].name) || !in_order(pairs, i) ||
            !take_value(&from, arena, DEPTH_MAX, &pairs[i].value))
            return DAMAGED;
    if (from.size != 0)
        return DAMAGED;
    *out = (struct item){.pairs = pairs, .count = count};
    return OK;
}

/* ---- finding some attributes ---- */

static bool skip_value(struct bytes *in, unsigned depth);

static bool skip_parts(struct bytes *in, enum value_type type, unsigned depth) {
    struct bytes string;
    uint32_t count;
    if (depth == 0 || !take_count(in, VALUE_LEAST, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (type != VALUE_L && !take_string(in, &string))
            return false;
        if (!value_is_set(type) && !skip_value(in, depth - 1))
            return false;
    }
    return true;
}

static bool skip_value(struct bytes *in, unsigned depth) {
    enum value_type type;
    struct bytes string;
    if (!take_type(in, &type))
        return false;
    if (type <= VALUE_B)
        return take_string(in, &string);
    if (type <= VALUE_L)
        return skip_parts(in, type, depth);
    return type == VALUE_NULL || take_bytes(in, 1, &string);
}

enum status item_decode_some(struct bytes from, const struct names *names,
                             const struct bytes *wanted, unsigned count, struct arena *arena,
                             struct value *out) {
    uint32_t left;
    unsigned at = 0;
    if (!take_count(&from, PAIR_LEAST, &left))
        return DAMAGED;
    for (; left > 0 && at < count; left--) {
        struct bytes name;
        int order = -1;
        if (!take_name(&from, names, &name))
            return DAMAGED;
        while (at < count && (order = name_compare(name, wanted[at])) > 0)
            out[at++].type = VALUE_NONE;
        bool good = order == 0 ? take_value(&from, arena, DEPTH_MAX, &out[at++])
                               : skip_value(&from, DEPTH_MAX + 1);
        if (!good)
            return DAMAGED;
    }
    while (at < count)
        out[at++].type = VALUE_NONE;
    return OK;
}

void item_picks_init(struct item_picks *picks, const struct names *names,
                     const struct bytes *wanted, unsigned count) {
    *picks = (struct item_picks){
        .names = names, .wanted = wanted, .count = count, .codes = names_count(names)};
    for (int code = 0; code < picks->codes; code++)
        picks->slots[code] = ITEM_PICKS_MAX;
    for (unsigned i = 0; i < count; i++) {
        int code = names_find(names, wanted[i]);
        if (code != NAMES_FULL)
            picks->slots[code] = (uint16_t)i;
    }
}

/* Where the attribute that comes next is to go; ITEM_PICKS_MAX: nowhere. */
static bool take_slot(struct bytes *in, const struct item_picks *picks, unsigned *slot) {
    struct bytes name;
    size_t code;
    if (!take_size(in, &code))
        return false;
    if (code != 0) {
        *slot = code > (size_t)picks->codes ? ITEM_PICKS_MAX : picks->slots[code - 1];
        return code <= LIMIT_NAME_CODES;
    }
    if (!take_string(in, &name))
        return false;
    for (*slot = 0; *slot < picks->count; ++*slot)
        if (bytes_equal(picks->wanted[*slot], name))
            return true;
    *slot = ITEM_PICKS_MAX;
    return true;
}

enum status item_pick(struct bytes from, const struct item_picks *picks, struct arena *arena,
                      struct value *out) {
    uint32_t left;
    for (unsigned i = 0; i < picks->count; i++)
        out[i].type = VALUE_NONE;
    if (!take_count(&from, PAIR_LEAST, &left))
        return DAMAGED;
    for (; left > 0; left--) {
        unsigned slot;
        if (!take_slot(&from, picks, &slot))
            return DAMAGED;
        bool good = slot != ITEM_PICKS_MAX ? take_value(&from, arena, DEPTH_MAX, &out[slot])
                                           : skip_value(&from, DEPTH_MAX + 1);
        if (!good)
            return DAMAGED;
    }
    return OK;
}
