/* The steps of reading an encoded item (codec.h), for those who read it in a way of their own: each
 * takes one thing from the front of *in, and is false if the bytes there are no such thing. */
#ifndef GT_VALUE_CODEC_STEPS_H
#define GT_VALUE_CODEC_STEPS_H

#include "base/buf.h"
#include "base/limits.h"
#include "value/names.h"
#include "value/number.h"
#include "value/value.h"

/* Fewest bytes an element of a set, a value, and a name with a value can take. */
enum { ELEMENT_LEAST = 1, VALUE_LEAST = 1, PAIR_LEAST = 2 };

static inline bool take_size(struct bytes *in, size_t *out) {
    uint64_t size;
    if (in->size != 0 && in->data[0] < 0x80) {
        *out = in->data[0];
        *in = bytes_skip(*in, 1);
        return true;
    }
    struct bytes rest = *in; /* a copy, so that *in can stay in registers */
    if (!take_varint(&rest, &size))
        return false;
    *in = rest;
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

#endif
