#include "base/utf8.h"

#include <locale.h>
#include <pthread.h>
#include <wctype.h>

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

/* --- lower case --- */

/* The C library's tables of Unicode, whatever the process's own locale is. */
static locale_t unicode;
static pthread_once_t unicode_once = PTHREAD_ONCE_INIT;

static void open_unicode(void) {
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static uint32_t lower_of(uint32_t code) {
    if (code < 0x80)
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    return unicode == (locale_t)0 ? code : (uint32_t)towlower_l((wint_t)code, unicode);
}

static uint32_t code_at(const uint8_t *at, size_t size) {
    uint32_t code = size == 1 ? at[0] : at[0] & (0x7fU >> size);
    for (size_t i = 1; i < size; i++)
        code = code << 6 | (at[i] & 0x3fU);
    return code;
}

/* Writes the character; returns how many bytes it took. */
static size_t put_code(uint8_t *to, uint32_t code) {
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6)
        to[i] = (uint8_t)(0x80 | (code & 0x3f));
    to[0] = (uint8_t)(size == 1 ? code : (0xf00U >> size | code));
    return size;
}

struct bytes utf8_lower(struct bytes text, struct arena *arena) {
    /* A letter of two bytes may have a lower one of three (U+023A). */
    uint8_t *to = arena_alloc(arena, 2 * text.size + 1);
    size_t used = 0;
    if (text.size == 0)
        return bytes_of(to, 0);
    const uint8_t *at = text.data, *end = at + text.size;
    pthread_once(&unicode_once, open_unicode);
    while (at < end) {
        size_t size = *at < 0x80 ? 1 : utf8_span(at, end);
        if (size == 0)
            to[used++] = *at++;
        else {
            used += put_code(to + used, lower_of(code_at(at, size)));
            at += size;
        }
    }
    return bytes_of(to, used);
}
