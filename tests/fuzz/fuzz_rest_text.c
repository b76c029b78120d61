/* What clients of /v1 write as text: paths, queries, cursors, moments, lines of scores. Any bytes
 * are read or refused, and what is read is the same when it is written and read again. */
#include "api/rest/rest_cursor.h"
#include "api/rest/rest_route.h"
#include "api/rest/rfc3339.h"
#include "api/rest/score_lines.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

/* Without the quotes. */
static struct bytes inside(const struct buf *text) {
    return bytes_of(text->data + 1, text->size - 2);
}

static void try_path(struct bytes text, struct arena *arena) {
    struct route_match match;
    struct route_parameters parameters;
    struct failure failure = {0};
    size_t mark = bytes_find(text, BYTES("?"));
    struct bytes path = mark == SIZE_MAX ? text : bytes_of(text.data, mark);
    struct bytes query = mark == SIZE_MAX ? (struct bytes){0} : bytes_skip(text, mark + 1);
    struct bytes whole = arena_printf(arena, "/v1/%.*s", BYTES_ARG(path));
    if (route_find(BYTES("GET"), whole, arena, &match) == ROUTE_FOUND &&
        route_query(match.route, query, (struct scope){arena, &failure}, &parameters) != OK)
        require(failure.status == INVALID && failure.text.size != 0);
}

static void try_cursor(struct bytes text, struct arena *arena) {
    struct page_cursor cursor, again;
    struct buf written = {0};
    struct bytes bytes, same;
    if (cursor_read(text, arena, &bytes)) {
        cursor_put(&written, bytes);
        require(bytes_equal(inside(&written), text));
        require(cursor_read(inside(&written), arena, &same) && bytes_equal(bytes, same));
    }
    if (page_cursor_read(text, arena, &cursor)) {
        buf_clear(&written);
        page_cursor_put(&written, &cursor);
        require(page_cursor_read(inside(&written), arena, &again));
        require(bytes_equal(cursor.entry.member, again.entry.member) &&
                bytes_equal(cursor.instance, again.instance) && cursor.backward == again.backward);
    }
    buf_release(&written);
}

static void try_moment(struct bytes text) {
    int64_t ms, again;
    struct buf written = {0};
    if (!rfc3339_read(text, &ms))
        return;
    rfc3339_put(&written, ms);
    require(rfc3339_read(inside(&written), &again) && again == ms);
    buf_release(&written);
}

static void try_lines(struct bytes text, bool json, struct arena *arena) {
    struct score_lines lines = {.left = text, .json = json};
    struct score_line line;
    enum status status;
    size_t last = 0;
    do {
        struct failure failure = {0};
        status = score_lines_next(&lines, (struct scope){arena, &failure}, &line);
        if (status == NOT_FOUND)
            break;
        require(line.number > last && (status == OK || failure.text.size != 0));
        require(status != OK || number_valid(line.score));
        last = line.number;
    } while (lines.left.size != 0);
    require(lines.left.size == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    if (size < 1)
        return 0;
    struct bytes text = bytes_of(data + 1, size - 1);
    arena_init(&arena);
    switch (data[0] % 5) {
    case 0:
        try_path(text, &arena);
        break;
    case 1:
        try_cursor(text, &arena);
        break;
    case 2:
        try_moment(text);
        break;
    default:
        try_lines(text, data[0] % 5 == 4, &arena);
    }
    arena_release(&arena);
    return 0;
}
