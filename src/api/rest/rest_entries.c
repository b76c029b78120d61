/* What stands on a board: pages, members, those around one, friends. */
#include "api/rest/rest_cursor.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "game/board/entry_removals.h"

enum { PAGE_LIMIT = 25, AROUND_EACH = 5 };

static enum standings_detail detail_of(const struct rest_call *call) {
    return bytes_equal(rest_query(call, "detail"), BYTES("ranks")) ? DETAIL_RANKS : DETAIL_FULL;
}

static void put_rows(struct rest_call *call, const struct standings *standings,
                     const uint64_t *among) {
    struct buf *to = call->reply;
    rest_put_uint(to, "total", standings->total);
    rest_put_name(to, "entries");
    buf_byte(to, '[');
    for (size_t i = 0; i < standings->count; i++) {
        rest_put_comma(to);
        buf_byte(to, '{');
        rest_put_standing(call, call->board, &standings->rows[i]);
        if (among != NULL)
            rest_put_uint(to, "among", among[i]);
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
    rest_put_name(call->reply, backward ? "previous" : "next");
    page_cursor_put(call->reply, &cursor);
}

static void put_page(struct rest_call *call, const struct standings_request *request,
                     const struct standings *page) {
    buf_byte(call->reply, '{');
    rest_put_board(call, call->board);
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
    enum status status = board_find(call->game, cursor->instance,
                                    (struct scope){call->arena, &call->failure}, &call->board);
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
    status =
        standings_page(call->game, &request, (struct scope){call->arena, &call->failure}, &page);
    if (status == OK)
        put_page(call, &request, &page);
    return status;
}

/* --- one member --- */

/* For the board that rest_board() has found. */
static struct standings_query query_of(struct rest_call *call) {
    return (struct standings_query){call->game, call->board, call->arena, &call->failure};
}

static enum status not_there(struct rest_call *call) {
    return rest_fail(call, NOT_FOUND, "%.*s is not on this board", BYTES_ARG(call->path[1]));
}

enum status rest_entry_get(struct rest_call *call) {
    struct standings found;
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    struct standings_query query = query_of(call);
    struct standings_lookup lookup = {&call->path[1], 1, detail_of(call), true};
    status = standings_members(&query, &lookup, &found);
    if (status != OK)
        return status;
    if (found.count == 0 || !found.rows[0].found)
        return not_there(call);
    buf_byte(call->reply, '{');
    rest_put_board(call, call->board);
    if (found.rows[0].rank != 0)
        rest_put_uint(call->reply, "total", found.total);
    else
        rest_put_bool(call->reply, "unranked", true);
    rest_put_name(call->reply, "entry");
    buf_byte(call->reply, '{');
    rest_put_standing(call, call->board, &found.rows[0]);
    buf_lit(call->reply, "}}");
    return OK;
}

enum status rest_entry_around(struct rest_call *call) {
    struct standings found;
    enum status status = rest_board(call);
    if (status != OK || rest_unchanged(call))
        return status;
    struct standings_query query = query_of(call);
    status = standings_around(&query, call->path[1],
                              (uint32_t)rest_query_count(call, "each", AROUND_EACH), &found);
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
        status = entry_key_of(call->path[1], (struct scope){call->arena, &call->failure}, &key);
    if (status != OK)
        return status;
    struct change *change = rest_change(call);
    struct entry_removals removals = {
        .game = call->game, .arena = call->arena, .failure = &call->failure};
    struct action first;
    status = entry_removals_add(&removals, call->board, key, &first);
    size_t more = entry_removals_count(&removals);
    change->actions = ARENA_ARRAY(call->arena, struct action, 1 + more);
    change->action_count = 1 + more;
    change->actions[0] = first;
    entry_removals_finish(&removals, change->actions + 1);
    return status == OK ? rest_then(call, change, entry_gone) : status;
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
    if (status != OK)
        return status;
    struct standings_query query = query_of(call);
    struct standings_lookup lookup = {members, list->count, DETAIL_FULL};
    status = standings_friends(&query, &lookup, &found, &among);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    rest_put_board(call, call->board);
    put_rows(call, &found, among);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- all of them --- */

static void clear_work(struct rest_call *call) {
    call->worked =
        board_clear(call->game, call->board, true, (struct scope){call->arena, &call->failure});
}

static enum status answer_cleared(struct rest_call *call) {
    return call->worked;
}

enum status rest_entries_clear(struct rest_call *call) {
    enum status status = rest_board(call);
    if (status == OK)
        status = rest_open(call);
    return status == OK ? rest_background(call, clear_work, answer_cleared) : status;
}
