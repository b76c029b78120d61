/* What there is about a player: stats, boards, plays, all of it; hiding, erasing, tokens. */
#include "api/rest/cursor.h"
#include "api/rest/handlers.h"
#include "api/rest/out.h"
#include "api/rest/plays.h"
#include "base/clock.h"
#include "game/player.h"
#include "json/attribute.h"

enum { LIST_LIMIT = 25, TOKEN_LIFE_S = 3600 };

static void put_item(struct rest_call *call, const struct item *item) {
    struct value map = {.type = VALUE_M, .count = item->count, .pairs = item->pairs};
    out_value(call->reply, &map);
}

/* --- reading --- */

enum status rest_players_stats(struct rest_call *call) {
    struct item stats = {0};
    enum status status = rest_own(call, call->path[0]);
    if (status == OK)
        status = player_stats(call->game, call->path[0], call->arena, &call->failure, &stats);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "no play of %.*s has ended yet",
                         BYTES_ARG(call->path[0]));
    if (status != OK)
        return status;
    stats = item_with(call->arena, &stats, GAME_PK, NULL);
    stats = item_with(call->arena, &stats, GAME_SK, NULL);
    buf_byte(call->reply, '{');
    out_text(call->reply, "player", call->path[0]);
    out_name(call->reply, "stats");
    put_item(call, &stats);
    buf_byte(call->reply, '}');
    return OK;
}

/* A hidden entry stands nowhere. */
static void put_entry(struct rest_call *call, const struct board *board,
                      const struct standing *standing) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    if (!standing->entry.hidden)
        out_standing(call, board, standing);
    else {
        out_member(to, standing->entry.member);
        out_number(call, "score", standing->entry.points.score);
        out_flag(to, "hidden", true);
    }
    buf_byte(to, '}');
}

enum status rest_players_boards(struct rest_call *call) {
    struct player_boards list;
    struct bytes after;
    enum status status = rest_own(call, call->path[0]);
    if (status == OK)
        status = cursor_name(call, &after);
    if (status == OK)
        status = player_boards(call->game, call->path[0], after,
                               (size_t)rest_query_count(call, "limit", LIST_LIMIT), call->arena,
                               &call->failure, &list);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"boards\":[");
    for (size_t i = 0; i < list.count; i++) {
        out_next(call->reply);
        buf_byte(call->reply, '{');
        out_board(call, list.boards[i]);
        out_uint(call->reply, "total", list.totals[i]);
        out_name(call->reply, "entry");
        put_entry(call, list.boards[i], &list.standings[i]);
        buf_byte(call->reply, '}');
    }
    buf_byte(call->reply, ']');
    if (list.more)
        cursor_next(call, list.boards[list.count - 1]->instance);
    buf_byte(call->reply, '}');
    player_boards_release(&list);
    return OK;
}

enum status rest_players_plays(struct rest_call *call) {
    struct play_list list;
    struct bytes before;
    size_t limit = cursor_limit(call, LIST_LIMIT);
    enum status status = rest_own(call, call->path[0]);
    if (status == OK)
        status = cursor_name(call, &before);
    if (status == OK)
        status = play_list_player(call->game, call->path[0], before, limit + 1, call->arena,
                                  &call->failure, &list);
    if (status == OK)
        plays_put(call, &list, limit);
    return status;
}

/* --- all of it --- */

/* A key of the table, as the cursor of an export. */
static enum status read_key(struct rest_call *call, struct item *out, bool *given) {
    struct bytes text;
    struct json json;
    size_t at;
    enum status status = cursor_name(call, &text);
    *given = status == OK && text.size != 0;
    if (!*given)
        return status;
    struct failure failure = {0};
    if (json_parse(text, call->arena, &json, &at) != OK ||
        attribute_read_item(&json, call->arena, &failure, out) != OK)
        return rest_invalid(call, "cursor", "cursor is not one of ours");
    return OK;
}

enum status rest_players_export(struct rest_call *call) {
    struct item after;
    bool given = false;
    struct page_reply page;
    enum status status = rest_own(call, call->path[0]);
    if (status == OK)
        status = read_key(call, &after, &given);
    if (status == OK)
        status = player_export(call->game, call->path[0], given ? &after : NULL, call->arena,
                               &call->failure, &page);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"items\":[");
    for (uint64_t i = 0; i < page.count; i++) {
        out_next(call->reply);
        put_item(call, &page.items[i]);
    }
    buf_byte(call->reply, ']');
    if (page.more) {
        struct buf key = {0};
        attribute_write_item(&key, &page.last_key);
        cursor_next(call, buf_bytes(&key));
        buf_release(&key);
    }
    buf_byte(call->reply, '}');
    return OK;
}

/* --- hiding and erasing: as many commits as it takes --- */

static enum status worked(struct rest_call *call) {
    if (call->worked == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no player %.*s", BYTES_ARG(call->path[0]));
    return call->worked;
}

static void hide_work(struct rest_call *call) {
    call->worked = player_hide(call->game, call->path[0], true, call->arena, &call->failure);
}

static void show_work(struct rest_call *call) {
    call->worked = player_hide(call->game, call->path[0], false, call->arena, &call->failure);
}

enum status rest_players_hide(struct rest_call *call) {
    return rest_background(call, hide_work, worked);
}

enum status rest_players_show(struct rest_call *call) {
    return rest_background(call, show_work, worked);
}

static void erase_work(struct rest_call *call) {
    uint64_t *count = call->state;
    call->worked = player_erase(call->game, call->path[0], call->arena, &call->failure, count);
}

static enum status erased(struct rest_call *call) {
    const uint64_t *count = call->state;
    enum status status = worked(call);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    out_text(call->reply, "player", call->path[0]);
    out_uint(call->reply, "items", *count);
    buf_byte(call->reply, '}');
    return OK;
}

enum status rest_players_erase(struct rest_call *call) {
    call->state = ARENA_NEW(call->arena, uint64_t);
    return rest_background(call, erase_work, erased);
}

/* --- tokens --- */

enum status rest_players_token(struct rest_call *call) {
    int64_t expires = clock_now_ms() + 1000 * form_count(&call->body, "lifeSeconds", TOKEN_LIFE_S);
    struct buf token = {0};
    player_token(call->game, call->path[0], expires, &token);
    buf_byte(call->reply, '{');
    out_text(call->reply, "player", call->path[0]);
    out_text(call->reply, "token", buf_bytes(&token));
    out_time(call->reply, "expires", expires);
    buf_byte(call->reply, '}');
    buf_release(&token);
    return OK;
}
