/* Text: what is UTF-8 and what is not, and text in lower case for searching. */
#ifndef GT_BASE_UTF8_H
#define GT_BASE_UTF8_H

#include "base/arena.h"
#include "base/bytes.h"

/* Whether the bytes are UTF-8, as strings must be. */
bool utf8_valid(struct bytes text);

static inline bool utf8_continues(const uint8_t *at) {
    return (*at & 0xc0) == 0x80;
}

/* The length of the UTF-8 sequence of more than one byte at `at`; 0 if it is not one: cut off,
 * overlong, a surrogate, or beyond U+10FFFF. */
static inline size_t utf8_span(const uint8_t *at, const uint8_t *end) {
    ptrdiff_t left = end - at;
    uint8_t lead = at[0];
    if (lead < 0xc2 || lead > 0xf4 || left < 2 || !utf8_continues(at + 1))
        return 0;
    if (lead < 0xe0)
        return 2;
    if (left < 3 || !utf8_continues(at + 2))
        return 0;
    if (lead < 0xf0) {
        if ((lead == 0xe0 && at[1] < 0xa0) || (lead == 0xed && at[1] > 0x9f))
            return 0;
        return 3;
    }
    if (left < 4 || !utf8_continues(at + 3) || (lead == 0xf0 && at[1] < 0x90) ||
        (lead == 0xf4 && at[1] > 0x8f))
        return 0;
    return 4;
}

/* The text with each letter in lower case where Unicode has a single one for it, in the arena: what
 * two texts have in common that differ in case only. Bytes that are not UTF-8 stay as they are. */
struct bytes utf8_lower(struct bytes text, struct arena *arena);

#endif
