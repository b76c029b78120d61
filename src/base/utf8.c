#include "base/utf8.h"

/* Mostly text is ASCII: eight bytes at a time. */
static const uint8_t *skip_ascii(const uint8_t *at, const uint8_t *end) {
    for (uint64_t word; end - at >= 8; at += 8) {
        memcpy(&word, at, sizeof(word));
        if ((word & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (at < end && *at < 0x80)
        at++;
    return at;
}

bool utf8_valid(struct bytes text) {
    if (text.size == 0) /* which may be nowhere */
        return true;
    const uint8_t *at = text.data, *end = text.data + text.size;
    while ((at = skip_ascii(at, end)) < end) {
        size_t size = utf8_span(at, end);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}
