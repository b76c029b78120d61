#include "game/shown_text.h"

#include "base/utf8.h"

#include <string.h>
#include <strings.h>

enum { ZERO_WIDTH_NON_JOINER = 0x200c, ZERO_WIDTH_JOINER = 0x200d };

/* Characters that nobody sees, first and last. */
static const struct {
    uint32_t first, last;
} unseen[] = {
    {0x00ad, 0x00ad},   /* soft hyphen */
    {0x034f, 0x034f},   /* combining grapheme joiner */
    {0x061c, 0x061c},   /* Arabic letter mark */
    {0x115f, 0x1160},   /* Hangul fillers */
    {0x17b4, 0x17b5},   /* Khmer inherent vowels */
    {0x180b, 0x180f},   /* Mongolian selectors and separator */
    {0x200b, 0x200b},   /* zero-width space */
    {0x200e, 0x200f},   /* left-to-right and right-to-left marks */
    {0x2028, 0x202e},   /* line and paragraph separators, bidirectional embeddings and overrides */
    {0x2060, 0x206f},   /* word joiner, bidirectional isolates, deprecated controls */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xfeff, 0xfeff},   /* zero-width no-break space */
    {0xffa0, 0xffa0},   /* halfwidth Hangul filler */
    {0xfff9, 0xfffb},   /* interlinear annotations */
    {0xe0000, 0xe0fff}, /* tags and further selectors */
};

static bool is_unseen(uint32_t code) {
    for (size_t i = 0; i < sizeof(unseen) / sizeof(*unseen); i++)
        if (code >= unseen[i].first && code <= unseen[i].last)
            return true;
    return false;
}

static bool is_joiner(uint32_t code) {
    return code == ZERO_WIDTH_JOINER || code == ZERO_WIDTH_NON_JOINER;
}

static bool is_space(uint32_t code) {
    return code == ' ' || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
           code == 0x202f || code == 0x205f || code == 0x3000;
}

/* The character at `at`, and how many bytes it has. The text is UTF-8. */
static uint32_t character_at(const uint8_t *at, const uint8_t *end, size_t *size) {
    *size = at[0] < 0x80 ? 1 : utf8_span(at, end);
    uint32_t code = *size == 1 ? at[0] : at[0] & (0x7fU >> *size);
    for (size_t i = 1; i < *size; i++)
        code = code << 6 | (at[i] & 0x3f);
    return code;
}

/* A text in the making. A space or a joiner waits until it is known that something is seen after
 * it. */
struct cleaned {
    uint8_t *to;
    size_t size;
    struct bytes joiner;
    bool space;
};

static void put(struct cleaned *cleaned, struct bytes bytes) {
    if (bytes.size != 0)
        memcpy(cleaned->to + cleaned->size, bytes.data, bytes.size);
    cleaned->size += bytes.size;
}

static void add(struct cleaned *cleaned, uint32_t code, struct bytes bytes) {
    if (is_unseen(code))
        return;
    if (is_space(code)) {
        cleaned->space = cleaned->size != 0;
        cleaned->joiner = (struct bytes){0};
    } else if (is_joiner(code)) {
        if (cleaned->size != 0 && !cleaned->space)
            cleaned->joiner = bytes;
    } else {
        if (cleaned->space)
            put(cleaned, BYTES(" "));
        put(cleaned, cleaned->joiner);
        put(cleaned, bytes);
        cleaned->space = false;
        cleaned->joiner = (struct bytes){0};
    }
}

struct bytes shown_text(struct bytes text, struct arena *arena) {
    if (text.size == 0 || !utf8_valid(text))
        return text;
    struct cleaned cleaned = {.to = arena_alloc(arena, text.size)};
    const uint8_t *end = text.data + text.size;
    size_t size;
    for (const uint8_t *at = text.data; at < end; at += size) {
        uint32_t code = character_at(at, end, &size);
        add(&cleaned, code, bytes_of(at, size));
    }
    struct bytes result = bytes_of(cleaned.to, cleaned.size);
    return bytes_equal(result, text) ? text : result;
}

size_t shown_text_length(struct bytes text) {
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += !utf8_continues(text.data + i);
    return count;
}

bool shown_text_alike(struct bytes a, struct bytes b) {
    return a.size == b.size && strncasecmp((const char *)a.data, (const char *)b.data, a.size) == 0;
}
