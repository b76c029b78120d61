/* The decoder is one pass over the bytes that trusts nothing: a count is believed only as far as
 * the bytes left could hold it, so damage cannot ask for more memory than a small multiple of the
 * input, and nesting is bounded. Order and uniqueness are checked too, since look-ups rely on
 * them. */
#include "value/codec.h"

#include "base/limits.h"
#include "value/codec_steps.h"
#include "value/name_order.h"

#include <stdatomic.h>

/* Bounds recursion only. What may be stored is decided where it comes in, at LIMIT_NESTING. */
enum { DEPTH_MAX = 2 * LIMIT_NESTING };

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

/* A name by its code, or as it is if it has none. */
static void put_name(struct buf *to, int code, struct bytes name) {
    if (code == NAMES_FULL) {
        buf_byte(to, 0);
        put_counted(to, name);
    } else
        put_size(to, (size_t)code + 1);
}

void item_encode(const struct item *item, struct names *names, struct buf *to) {
    int code = NAMES_FULL;
    put_size(to, item->count);
    for (uint32_t i = 0; i < item->count; i++) {
        code = names_intern_after(names, code, item->pairs[i].name);
        put_name(to, code, item->pairs[i].name);
        value_encode(&item->pairs[i].value, to);
    }
}

void item_encode_coded(const struct item *item, const int *codes, struct buf *to) {
    put_size(to, item->count);
    for (uint32_t i = 0; i < item->count; i++) {
        put_size(to, (size_t)codes[i] + 1);
        value_encode(&item->pairs[i].value, to);
    }
}

/* ---- decoding ---- */

static inline bool take_value(struct bytes *in, struct arena *arena, unsigned depth,
                              struct value *out);

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

/* Everything but strings, numbers and binaries. */
static bool take_other(struct bytes *in, struct arena *arena, unsigned depth, struct value *out) {
    switch (out->type) {
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
    default:
        return false;
    }
}

static inline bool take_value(struct bytes *in, struct arena *arena, unsigned depth,
                              struct value *out) {
    if (!take_type(in, &out->type))
        return false;
    out->count = 0;
    if (out->type <= VALUE_B)
        return take_scalar(in, out->type, &out->bytes);
    return take_other(in, arena, depth, out);
}

enum status value_decode(struct bytes *from, struct arena *arena, struct value *out) {
    struct bytes rest = *from;
    if (!take_value(&rest, arena, DEPTH_MAX, out))
        return DAMAGED;
    *from = rest;
    return OK;
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

uint32_t item_encoded_count(struct bytes from) {
    uint32_t count;
    return take_count(&from, PAIR_LEAST, &count) ? count : 0;
}

/* ---- finding some attributes ---- */

static inline bool skip_value(struct bytes *in, unsigned depth);

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

static bool skip_other(struct bytes *in, enum value_type type, unsigned depth) {
    struct bytes string;
    if (type <= VALUE_L)
        return skip_parts(in, type, depth);
    return type == VALUE_NULL || take_bytes(in, 1, &string);
}

static inline bool skip_value(struct bytes *in, unsigned depth) {
    enum value_type type;
    struct bytes string;
    if (!take_type(in, &type))
        return false;
    return type <= VALUE_B ? take_string(in, &string) : skip_other(in, type, depth);
}

enum status item_decode_some(struct bytes from, const struct item_wanted *which,
                             struct arena *arena, struct value *out) {
    uint32_t left;
    unsigned at = 0, count = which->count;
    if (!take_count(&from, PAIR_LEAST, &left))
        return DAMAGED;
    for (; left > 0 && at < count; left--) {
        struct bytes name;
        int order = -1;
        if (!take_name(&from, which->names, &name))
            return DAMAGED;
        while (at < count && (order = name_compare(name, which->wanted[at])) > 0)
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

enum { SLOT_UNKNOWN, SLOT_UNWANTED, SLOT_FIRST };

void item_extractor_init(struct item_extractor *extractor, const struct bytes *wanted,
                         unsigned count) {
    extractor->wanted = wanted;
    extractor->count = count;
    for (int code = 0; code < LIMIT_NAME_CODES; code++)
        atomic_init(&extractor->slots[code], SLOT_UNKNOWN);
}

static uint16_t slot_named(const struct item_extractor *extractor, struct bytes name) {
    for (unsigned i = 0; i < extractor->count; i++)
        if (bytes_equal(extractor->wanted[i], name))
            return (uint16_t)(SLOT_FIRST + i);
    return SLOT_UNWANTED;
}

/* The slot of a code that is met for the first time; SLOT_UNKNOWN if there is no such code. */
static uint16_t learn_slot(struct item_extractor *extractor, const struct names *names,
                           size_t code) {
    struct bytes name = names_get(names, (int)code);
    if (name.data == NULL)
        return SLOT_UNKNOWN;
    uint16_t slot = slot_named(extractor, name);
    atomic_store_explicit(&extractor->slots[code], slot, memory_order_relaxed);
    return slot;
}

/* Where the attribute that comes next is to go. */
static inline bool take_slot(struct bytes *in, const struct names *names,
                             struct item_extractor *extractor, uint16_t *slot) {
    struct bytes name;
    size_t code;
    if (!take_size(in, &code) || code > LIMIT_NAME_CODES)
        return false;
    if (code == 0) {
        if (!take_string(in, &name))
            return false;
        *slot = slot_named(extractor, name);
        return true;
    }
    *slot = atomic_load_explicit(&extractor->slots[code - 1], memory_order_relaxed);
    if (*slot == SLOT_UNKNOWN)
        *slot = learn_slot(extractor, names, code - 1);
    return *slot != SLOT_UNKNOWN;
}

enum status item_extract(const struct item_encoded *from, struct item_extractor *extractor,
                         struct arena *arena, struct value *out) {
    struct bytes rest = from->bytes;
    uint32_t left;
    for (unsigned i = 0; i < extractor->count; i++)
        out[i].type = VALUE_NONE;
    if (!take_count(&rest, PAIR_LEAST, &left))
        return DAMAGED;
    for (; left > 0; left--) {
        uint16_t slot;
        if (!take_slot(&rest, from->names, extractor, &slot))
            return DAMAGED;
        bool good = slot != SLOT_UNWANTED
                        ? take_value(&rest, arena, DEPTH_MAX, &out[slot - SLOT_FIRST])
                        : skip_value(&rest, DEPTH_MAX + 1);
        if (!good)
            return DAMAGED;
    }
    return OK;
}
