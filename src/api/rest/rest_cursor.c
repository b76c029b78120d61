#include "api/rest/rest_cursor.h"

#include "api/rest/rest_json.h"
#include "base/base64.h"

enum { VERSION = 1 };

void cursor_put(struct buf *to, struct bytes bytes) {
    buf_byte(to, '"');
    base64url_put(to, bytes);
    buf_byte(to, '"');
}

bool cursor_read(struct bytes text, struct arena *arena, struct bytes *out) {
    return base64url_read(text, arena, out) && out->size != 0;
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
    rest_put_name(call->reply, "next");
    cursor_put(call->reply, last);
}
