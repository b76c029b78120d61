/* What there is about a player: stats, boards, plays, rooms, all of it; hiding, erasing, tokens. */
#include "api/live/live_render.h"
#include "api/rest/rest_cursor.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "api/rest/rest_plays.h"
#include "base/clock.h"
#include "base/limits.h"
#include "game/player/player.h"
#include "game/record.h"
#include "game/room/room_seats.h"
#include "json/attribute.h"

enum { LIST_LIMIT = 25, TOKEN_LIFE_S = LIMIT_TOKEN_LIFE_S };

static void put_item(struct rest_call *call, const struct item *item) {
    struct value map = {.type = VALUE_M, .count = item->count, .pairs = item->pairs};
    rest_put_value(call->reply, &map);
}

/* --- reading --- */

enum status rest_players_stats(struct rest_call *call) {
    struct item stats = {0};
    enum status status = player_stats(call->game, call->path[0],
                                      (struct scope){call->arena, &call->failure}, &stats);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "no play of %.*s has ended yet",
                         BYTES_ARG(call->path[0]));
    if (status != OK)
        return status;
    stats = item_with(call->arena, &stats, GAME_PK, NULL);
    stats = item_with(call->arena, &stats, GAME_SK, NULL);
    buf_byte(call->reply, '{');
    rest_put_text(call->reply, "player", call->path[0]);
    rest_put_name(call->reply, "stats");
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
        rest_put_standing(call, board, standing);
    else {
        rest_put_member(to, standing->entry.member);
        rest_put_number(call, "score", standing->entry.points.score);
        rest_put_bool(to, "hidden", true);
    }
    buf_byte(to, '}');
}

enum status rest_players_boards(struct rest_call *call) {
    struct player_boards list;
    struct player_boards_request request = {
        .id = call->path[0], .limit = (size_t)rest_query_count(call, "limit", LIST_LIMIT)};
    enum status status = cursor_name(call, &request.after);
    if (status == OK)
        status =
            player_boards(call->game, &request, (struct scope){call->arena, &call->failure}, &list);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"boards\":[");
    for (size_t i = 0; i < list.count; i++) {
        rest_put_comma(call->reply);
        buf_byte(call->reply, '{');
        rest_put_board(call, list.boards[i]);
        rest_put_uint(call->reply, "total", list.totals[i]);
        rest_put_name(call->reply, "entry");
        put_entry(call, list.boards[i], &list.standings[i]);
        buf_byte(call->reply, '}');
    }
    buf_byte(call->reply, ']');
    if (list.more)
        cursor_next(call, list.next);
    buf_byte(call->reply, '}');
    player_boards_release(&list);
    return OK;
}

enum status rest_players_plays(struct rest_call *call) {
    struct play_list list;
    size_t limit = cursor_limit(call, LIST_LIMIT);
    struct play_list_request request = {.of = call->path[0], .limit = limit + 1};
    enum status status = cursor_name(call, &request.before);
    if (status == OK)
        status = play_list_player(call->game, &request, (struct scope){call->arena, &call->failure},
                                  &list);
    if (status == OK)
        plays_put(call, &list, limit);
    return status;
}

/* --- cursors that are keys of the table --- */

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
        attribute_read_item(&json, (struct scope){call->arena, &failure}, out) != OK)
        return rest_invalid(call, "cursor", "cursor is not one of ours");
    return OK;
}

static void put_next_key(struct rest_call *call, const struct item *key) {
    struct buf text = {0};
    attribute_write_item(&text, key);
    cursor_next(call, buf_bytes(&text));
    buf_release(&text);
}

/* --- rooms --- */

static void put_seat(struct rest_call *call, const struct item *seat) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    rest_put_text(to, "player", item_string(seat, BYTES("player")));
    rest_put_text(to, "name", item_string(seat, BYTES("name")));
    rest_put_int(to, "seat", item_int(seat, BYTES("seat")));
    rest_put_bool(to, "spectator", item_bool(seat, BYTES("spectator")));
    rest_put_bool(to, "connected", item_bool(seat, BYTES("connected")));
    rest_put_time_if(to, "joinedAt", item_int(seat, BYTES("joinedAt")));
    buf_byte(to, '}');
}

/* Seats of rooms that are gone, which their own end takes away soon, are left out. */
static void put_rooms(struct rest_call *call, const struct room_seats *list) {
    buf_lit(call->reply, "{\"rooms\":[");
    for (uint64_t i = 0; i < list->seats.count; i++) {
        if (list->rooms[i].count == 0)
            continue;
        rest_put_comma(call->reply);
        buf_byte(call->reply, '{');
        rest_put_name(call->reply, "room");
        render_room_item(call->reply, &list->rooms[i], call->arena);
        rest_put_name(call->reply, "seat");
        put_seat(call, &list->seats.items[i]);
        buf_byte(call->reply, '}');
    }
    buf_byte(call->reply, ']');
}

enum status rest_players_rooms(struct rest_call *call) {
    struct item after;
    bool given = false;
    struct room_seats list;
    struct room_seats_query query = {.game = call->game,
                                     .player = call->path[0],
                                     .limit = (size_t)rest_query_count(call, "limit", LIST_LIMIT)};
    enum status status = read_key(call, &after, &given);
    if (given)
        query.after = &after;
    if (status == OK)
        status = room_seats_list(&query, (struct scope){call->arena, &call->failure}, &list);
    if (status != OK)
        return status;
    put_rooms(call, &list);
    if (list.seats.more)
        put_next_key(call, &list.seats.last_key);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- all of it --- */

enum status rest_players_export(struct rest_call *call) {
    struct item after;
    bool given = false;
    struct page_reply page;
    enum status status = read_key(call, &after, &given);
    struct player_export_request request = {.id = call->path[0], .after = given ? &after : NULL};
    if (status == OK)
        status =
            player_export(call->game, &request, (struct scope){call->arena, &call->failure}, &page);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"items\":[");
    for (uint64_t i = 0; i < page.count; i++) {
        rest_put_comma(call->reply);
        put_item(call, &page.items[i]);
    }
    buf_byte(call->reply, ']');
    if (page.more)
        put_next_key(call, &page.last_key);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- hiding and erasing: as many commits as it takes --- */

static enum status answer_worked(struct rest_call *call) {
    if (call->worked == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no player %.*s", BYTES_ARG(call->path[0]));
    return call->worked;
}

static void hide_work(struct rest_call *call) {
    call->worked =
        player_hide(call->game, call->path[0], true, (struct scope){call->arena, &call->failure});
}

static void show_work(struct rest_call *call) {
    call->worked =
        player_hide(call->game, call->path[0], false, (struct scope){call->arena, &call->failure});
}

enum status rest_players_hide(struct rest_call *call) {
    return rest_background(call, hide_work, answer_worked);
}

enum status rest_players_show(struct rest_call *call) {
    return rest_background(call, show_work, answer_worked);
}

static void erase_work(struct rest_call *call) {
    uint64_t *count = call->state;
    call->worked =
        player_erase(call->game, call->path[0], (struct scope){call->arena, &call->failure}, count);
}

static enum status erased(struct rest_call *call) {
    const uint64_t *count = call->state;
    enum status status = answer_worked(call);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    rest_put_text(call->reply, "player", call->path[0]);
    rest_put_uint(call->reply, "items", *count);
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
    rest_put_text(call->reply, "player", call->path[0]);
    rest_put_text(call->reply, "token", buf_bytes(&token));
    rest_put_time(call->reply, "expires", expires);
    buf_byte(call->reply, '}');
    buf_release(&token);
    return OK;
}
