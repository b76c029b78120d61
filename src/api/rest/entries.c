/* What stands on a board: pages, members, those around one, friends. */
#include "api/rest/cursor.h"
#include "api/rest/handlers.h"
#include "api/rest/out.h"

enum { PAGE_LIMIT = 25, AROUND_EACH = 5 };

static enum standings_detail detail_of(const struct rest_call *call) {
    return bytes_equal(rest_query(call, "detail"), BYTES("ranks")) ? DETAIL_RANKS : DETAIL_FULL;
}

static void put_rows(struct rest_call *call, const struct standings *standings,
                     const uint64_t *among) {
    struct buf *to = call->reply;
    out_uint(to, "total", standings->total);
    out_name(to, "entries");
    buf_byte(to, '[');
    for (size_t i = 0; i < standings->count; i++) {
        out_next(to);
        buf_byte(to, '{');
        out_standing(call, call->board, &standings->rows[i]);
        if (among != NULL)
            out_uint(to, "among", among[i]);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

/* --- pages --- */

static void put_cursor(struct rest_call *call, const struct standings_request *request,
                       const struct standing *row, bool backward) {
    struct page_cursor cursor = {.instance = call->board->instance,
                                 .entry = row->entry,
                                 .backward = backward,
                                 .low = request->score_low,
                                 .high = request->score_high};
    out_name(call->reply, backward ? "previous" : "next");
    page_cursor_put(call->reply, &cursor);
}

static void put_page(struct rest_call *call, const struct standings_request *request,
                     const struct standings *page) {
    buf_byte(call->reply, '{');
    out_board(call, call->board);
    put_rows(call, page, NULL);
    if (page->count != 0 && page->more)
        put_cursor(call, request, &page->rows[page->count - 1], false);
    if (page->count != 0 && page->before)
        put_cursor(call, request, &page->rows[0], true);
    buf_byte(call->reply, '}');
}

/* A cursor brings its board, and its window, along. */
static enum status find_page(struct rest_call *call, struct page_cursor *cursor,
                             struct standings_request *request) {
    struct bytes text = rest_query(call, "cursor");
    if (text.data == NULL)
        return rest_board(call);
    if (!page_cursor_read(text, call->arena, cursor))
        return rest_invalid(call, "cursor", "cursor is not one of ours");
    struct bytes asked = call->path[0];
    call->path[0] = cursor->instance;
    enum status status =
        board_find(call->game, cursor->instance, call->arena, &call->failure, &call->board);
    call->path[0] = asked;
    if (status != OK) {
        call->board = NULL;
        return status;
    }
    if (!bytes_equal(asked, call->board->rules.id) && !bytes_equal(asked, call->board->instance))
        return rest_invalid(call, "cursor", "cursor is of another board");
    request->cursor = &cursor->entry;
    request->backward = cursor->backward;
    request->score_low = cursor->low;
    request->score_high = cursor->high;
    return OK;
}

enum status rest_entries_list(struct rest_call *call) {
    struct page_cursor cursor;
    struct standings page;
    struct standings_request request = {
        .limit = (uint32_t)rest_query_count(call, "limit", PAGE_LIMIT),
        .detail = detail_of(call),
    };
    enum status status = find_page(call, &cursor, &request);
    if (status != OK)
        return status;
    request.board = call->board;
    if (request.cursor == NULL) {
        request.from = (uint64_t)rest_query_count(call, "from", 1);
        request.score_low = rest_query_number(call, "min");
        request.score_high = rest_query_number(call, "max");
    }
    if (rest_unchanged(call))
        return OK;
    status = standings_page(call->game, &request, call->arena, &call->failure, &page);
    if (status == OK)
        put_page(call, &request, &page);
    return status;
}

/* --- one member --- */

static enum status not_there(struct rest_call *call) {
    return rest_fail(call, NOT_FOUND, "%.*s is not on this board", BYTES_ARG(call->path[1]));
}

enum status rest_entry_get(struct rest_call *call) {
    struct standings found;
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    status = standings_members(call->game, call->board, &call->path[1], 1, detail_of(call),
                               call->arena, &call->failure, &found);
    if (status != OK)
        return status;
    if (found.count == 0 || !found.rows[0].found)
        return not_there(call);
    buf_byte(call->reply, '{');
    out_board(call, call->board);
    out_uint(call->reply, "total", found.total);
    out_name(call->reply, "entry");
    buf_byte(call->reply, '{');
    out_standing(call, call->board, &found.rows[0]);
    buf_lit(call->reply, "}}");
    return OK;
}

enum status rest_entry_around(struct rest_call *call) {
    struct standings found;
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    status = standings_around(call->game, call->board, call->path[1],
                              (uint32_t)rest_query_count(call, "each", AROUND_EACH), call->arena,
                              &call->failure, &found);
    if (status == NOT_FOUND)
        return not_there(call);
    if (status == OK)
        put_page(call, &(struct standings_request){0}, &found);
    return status;
}

static enum status entry_gone(struct rest_call *call) {
    enum status status = rest_changed(call);
    if (status != OK)
        return status;
    return call->change->actions[0].had_old ? OK : not_there(call);
}

enum status rest_entry_delete(struct rest_call *call) {
    struct bytes key;
    enum status status = rest_board(call);
    if (status == OK)
        status = rest_open(call);
    if (status == OK)
        status = entry_key_of(call->path[1], call->arena, &call->failure, &key);
    if (status != OK)
        return status;
    struct change *change = rest_change(call);
    change->actions = ARENA_NEW(call->arena, struct action);
    change->action_count = 1;
    change->actions[0] = (struct action){.kind = ACTION_DELETE,
                                         .table = call->game->table,
                                         .item = game_key(call->arena, call->board->pk, key)};
    return rest_then(call, change, entry_gone);
}

/* --- several members --- */

enum status rest_entries_query(struct rest_call *call) {
    const struct json *list = form_get(&call->body, "members");
    struct bytes *members = ARENA_ARRAY(call->arena, struct bytes, list->count);
    struct standings found;
    uint64_t *among;
    for (uint32_t i = 0; i < list->count; i++)
        members[i] = list->elements[i].text;
    enum status status = rest_board(call);
    if (status == OK)
        status = standings_friends(call->game, call->board, members, list->count, call->arena,
                                   &call->failure, &found, &among);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    out_board(call, call->board);
    put_rows(call, &found, among);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- all of them --- */

static void clear_work(struct rest_call *call) {
    call->worked = board_clear(call->game, call->board, true, call->arena, &call->failure);
}

static enum status cleared(struct rest_call *call) {
    return call->worked;
}

enum status rest_entries_clear(struct rest_call *call) {
    enum status status = rest_board(call);
    if (status == OK)
        status = rest_open(call);
    return status == OK ? rest_background(call, clear_work, cleared) : status;
}
