#include "value/key.h"

#include "value/number.h"

#include <assert.h>

enum { END = 0x00, ESCAPE = 0x01, ESCAPED_MAX = 0x01 };

/* Whether any of the eight bytes is 0x00 or 0x01; exact, by the borrow that subtracting makes. */
static inline bool any_escaped(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    return ((word - 2 * ones) & ~word & highs) != 0;
}

/* How many bytes from `at` on need no escape. */
static inline size_t plain_run(const uint8_t *at, const uint8_t *end) {
    const uint8_t *start = at;
    uint64_t word;
    while (end - at >= 8) {
        memcpy(&word, at, 8);
        if (any_escaped(word))
            break;
        at += 8;
    }
    while (at<end && * at> ESCAPED_MAX)
        at++;
    return (size_t)(at - start);
}

static void put_escaped(struct buf *to, struct bytes from) {
    if (from.size == 0)
        return;
    const uint8_t *at = from.data, *end = at + from.size;
    uint8_t *out = buf_reserve(to, 2 * from.size);
    for (;;) {
        size_t run = plain_run(at, end);
        memcpy(out, at, run);
        out += run;
        at += run;
        if (at == end)
            break;
        *out++ = ESCAPE;
        *out++ = (uint8_t)(*at++ + 1);
    }
    to->size = (size_t)(out - to->data);
}

void key_put(struct buf *to, const struct value *part) {
    if (part->type == VALUE_N) {
        buf_put(to, part->bytes);
        return;
    }
    key_put_prefix(to, part);
    buf_byte(to, END);
}

void key_put_prefix(struct buf *to, const struct value *part) {
    assert(part->type == VALUE_S || part->type == VALUE_B);
    put_escaped(to, part->bytes);
}

size_t key_span(struct bytes from, enum value_type type) {
    if (from.size == 0)
        return 0;
    if (type == VALUE_N)
        return number_span(from);
    const uint8_t *end = memchr(from.data, END, from.size);
    return end != NULL ? (size_t)(end - from.data) + 1 : 0;
}

/* Undoes put_escaped; false if an escape is not one. */
static bool take_escaped(struct bytes from, struct arena *arena, struct bytes *out) {
    uint8_t *to = arena_alloc(arena, from.size);
    size_t size = 0;
    for (size_t i = 0; i < from.size; i++) {
        uint8_t byte = from.data[i];
        if (byte == ESCAPE) {
            if (++i == from.size || from.data[i] == 0 || from.data[i] > ESCAPED_MAX + 1)
                return false;
            byte = (uint8_t)(from.data[i] - 1);
        }
        to[size++] = byte;
    }
    *out = bytes_of(to, size);
    return true;
}

/* Takes a part that is no number. Most have no escape: then one look over their bytes finds the
 * end.
 */
static enum status take_text(struct bytes *from, struct arena *arena, struct bytes *out) {
    size_t span, run = from->size == 0 ? 0 : plain_run(from->data, from->data + from->size);
    if (run == from->size)
        return DAMAGED;
    if (from->data[run] == END) {
        *out = bytes_of(from->data, run);
        span = run + 1;
    } else {
        span = key_span(*from, VALUE_S);
        if (span == 0 || !take_escaped(bytes_of(from->data, span - 1), arena, out))
            return DAMAGED;
    }
    *from = bytes_skip(*from, span);
    return OK;
}

enum status key_take_bytes(struct bytes *from, enum value_type type, struct arena *arena,
                           struct bytes *out) {
    if (type != VALUE_N)
        return take_text(from, arena, out);
    size_t span = number_span(*from);
    *out = bytes_of(from->data, span);
    *from = bytes_skip(*from, span);
    return span != 0 ? OK : DAMAGED;
}

enum status key_take(struct bytes *from, enum value_type type, struct arena *arena,
                     struct value *out) {
    *out = (struct value){.type = type};
    return key_take_bytes(from, type, arena, &out->bytes);
}

bool key_after_prefix(struct buf *to, size_t start) {
    size_t size = to->size;
    while (size > start && to->data[size - 1] == 0xff)
        size--;
    if (size == start)
        return false;
    to->data[size - 1]++;
    to->size = size;
    return true;
}
