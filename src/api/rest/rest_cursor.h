/* Cursors: where a page ended, opaque to clients and safe in a URL. A client may send anything as
 * one: what is read back is checked. */
#ifndef GT_API_REST_REST_CURSOR_H
#define GT_API_REST_REST_CURSOR_H

#include "api/rest/rest_call.h"
#include "game/board/entry.h"

/* Appends what bytes there are as a string in quotes. */
void cursor_put(struct buf *to, struct bytes bytes);
bool cursor_read(struct bytes text, struct arena *arena, struct bytes *out);

/* The place of a page on a board: it stays on the instance it began on, whatever the time. */
struct page_cursor {
    struct bytes instance;
    struct entry entry; /* member, points, tie: its place */
    bool backward;
    struct bytes low, high; /* the window of scores */
};
void page_cursor_put(struct buf *to, const struct page_cursor *cursor);
bool page_cursor_read(struct bytes text, struct arena *arena, struct page_cursor *out);

/* A name after which a list goes on. INVALID about `cursor`. */
enum status cursor_name(struct rest_call *call, struct bytes *out);
/* How many the client wants. One more is asked for, so that a last page is known for one. */
size_t cursor_limit(struct rest_call *call, int64_t otherwise);
/* Adds "next" to a list that ended at `last`. */
void cursor_next(struct rest_call *call, struct bytes last);

#endif
