#include "api/rest/cursor.h"

#include "api/rest/out.h"

enum { VERSION = 1 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void cursor_put(struct buf *to, struct bytes bytes) {
    uint32_t bits = 0;
    unsigned have = 0;
    buf_byte(to, '"');
    for (size_t i = 0; i < bytes.size; i++) {
        bits = bits << 8 | bytes.data[i];
        for (have += 8; have >= 6; have -= 6)
            buf_byte(to, (uint8_t)letters[bits >> (have - 6) & 63]);
    }
    if (have != 0)
        buf_byte(to, (uint8_t)letters[bits << (6 - have) & 63]);
    buf_byte(to, '"');
}

bool cursor_read(struct bytes text, struct arena *arena, struct bytes *out) {
    uint8_t *to = arena_alloc(arena, text.size + 1);
    size_t size = 0;
    uint32_t bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char *at = memchr(letters, text.data[i], 64);
        if (at == NULL)
            return false;
        bits = bits << 6 | (uint32_t)(at - letters);
        have += 6;
        if (have >= 8) {
            have -= 8;
            to[size++] = (uint8_t)(bits >> have);
        }
    }
    *out = bytes_of(to, size);
    return size != 0 && text.size % 4 != 1 && (bits & ((1u << have) - 1)) == 0;
}

/* --- pages of a board --- */

void page_cursor_put(struct buf *to, const struct page_cursor *cursor) {
    struct buf bytes = {0};
    buf_byte(&bytes, VERSION);
    buf_byte(&bytes, cursor->backward);
    buf_counted(&bytes, cursor->instance);
    buf_counted(&bytes, cursor->entry.member);
    buf_counted(&bytes, cursor->entry.points.score);
    buf_counted(&bytes, cursor->entry.points.subscore);
    buf_counted(&bytes, cursor->entry.tie);
    buf_counted(&bytes, cursor->low);
    buf_counted(&bytes, cursor->high);
    cursor_put(to, buf_bytes(&bytes));
    buf_release(&bytes);
}

static bool is_number(struct bytes bytes) {
    return bytes.size == 0 || number_valid(bytes);
}

bool page_cursor_read(struct bytes text, struct arena *arena, struct page_cursor *out) {
    struct bytes in;
    uint8_t version, backward;
    *out = (struct page_cursor){0};
    struct entry *entry = &out->entry;
    if (!cursor_read(text, arena, &in) || !take_u8(&in, &version) || version != VERSION ||
        !take_u8(&in, &backward) || backward > 1)
        return false;
    if (!take_counted(&in, &out->instance) || !take_counted(&in, &entry->member) ||
        !take_counted(&in, &entry->points.score) || !take_counted(&in, &entry->points.subscore) ||
        !take_counted(&in, &entry->tie) || !take_counted(&in, &out->low) ||
        !take_counted(&in, &out->high))
        return false;
    out->backward = backward == 1;
    return in.size == 0 && entry->member.size <= ENTRY_MEMBER_MAX &&
           number_valid(entry->points.score) && number_valid(entry->points.subscore) &&
           number_valid(entry->tie) && is_number(out->low) && is_number(out->high);
}

/* --- lists by name --- */

enum status cursor_name(struct rest_call *call, struct bytes *out) {
    struct bytes text = rest_query(call, "cursor");
    *out = (struct bytes){0};
    if (text.data == NULL || cursor_read(text, call->arena, out))
        return OK;
    return rest_invalid(call, "cursor", "cursor is not one of ours");
}

size_t cursor_limit(struct rest_call *call, int64_t otherwise) {
    return (size_t)rest_query_count(call, "limit", otherwise);
}

void cursor_next(struct rest_call *call, struct bytes last) {
    out_name(call->reply, "next");
    cursor_put(call->reply, last);
}
