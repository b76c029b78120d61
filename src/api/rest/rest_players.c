/* Profiles of players. */
#include "game/player/player_search.h"

#include "api/rest/rest_cursor.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "api/rest/rest_plays.h"

static void put_player(struct rest_call *call, const struct player *player) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    rest_put_text(to, "id", player->id);
    rest_put_text_if(to, "name", player->name);
    rest_put_text_if(to, "email", player->email);
    rest_put_meta(call, "meta", player->meta);
    rest_put_bool(to, "hidden", player->hidden);
    rest_put_time_if(to, "createdAt", player->created_ms);
    rest_put_time_if(to, "changedAt", player->changed_ms);
    buf_byte(to, '}');
}

static enum status answer_player(struct rest_call *call, struct bytes id) {
    struct player player;
    enum status status =
        player_get(call->game, id, (struct scope){call->arena, &call->failure}, &player);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no player %.*s", BYTES_ARG(id));
    if (status == OK)
        put_player(call, &player);
    return status;
}

enum status rest_players_get(struct rest_call *call) {
    return answer_player(call, call->path[0]);
}

/* --- finding --- */

enum { PLAYERS_USUAL = 25 };

static enum status answer_email(struct rest_call *call, struct bytes email) {
    struct player player;
    enum status status =
        player_by_email(call->game, email, (struct scope){call->arena, &call->failure}, &player);
    if (status != OK && status != NOT_FOUND)
        return status;
    call->failure = (struct failure){0};
    buf_lit(call->reply, "{\"players\":[");
    if (status == OK)
        put_player(call, &player);
    buf_lit(call->reply, "]}");
    return OK;
}

static enum player_search_by search_by(struct bytes word) {
    return bytes_equal(word, BYTES("id"))      ? SEARCH_BY_ID
           : bytes_equal(word, BYTES("name"))  ? SEARCH_BY_NAME
           : bytes_equal(word, BYTES("email")) ? SEARCH_BY_EMAIL
                                               : SEARCH_BY_ANY;
}

enum status rest_players_find(struct rest_call *call) {
    struct bytes email = rest_query(call, "email");
    struct player_search_request request = {.text = rest_query(call, "q"),
                                            .by = search_by(rest_query(call, "by")),
                                            .limit = cursor_limit(call, PLAYERS_USUAL)};
    struct player_list found;
    if (email.size != 0)
        return answer_email(call, email);
    enum status status = cursor_name(call, &request.after);
    if (status == OK)
        status = player_search(call->game, &request, (struct scope){call->arena, &call->failure},
                               &found);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"players\":[");
    for (size_t i = 0; i < found.count; i++) {
        rest_put_comma(call->reply);
        put_player(call, &found.players[i]);
    }
    buf_byte(call->reply, ']');
    if (found.next.size != 0)
        cursor_next(call, found.next);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- writing --- */

struct writing {
    struct player player;
    bool made;
};

static enum status answer_written(struct rest_call *call) {
    const struct writing *writing = call->state;
    enum status status = rest_changed(call);
    if (status != OK)
        return status;
    if (writing->made)
        call->status = 201;
    return answer_player(call, writing->player.id);
}

static enum status write_player(struct rest_call *call, struct writing *writing, bool create) {
    struct change *change = rest_change(call);
    enum status status =
        create ? player_create_prepare(call->game, &writing->player, change, &call->failure)
               : player_put_prepare(call->game, &writing->player, change, &call->failure);
    call->state = writing;
    return status == OK ? rest_then(call, change, answer_written) : status;
}

/* What the body names; null takes it away. */
static enum status read_profile(struct rest_call *call, struct player *player) {
    const struct json *body = &call->body;
    if (json_get(body, BYTES("name")) != NULL)
        player->name = form_text(body, "name");
    if (json_get(body, BYTES("email")) != NULL)
        player->email = form_text(body, "email");
    return json_get(body, BYTES("meta")) != NULL ? meta_read(call, &player->meta) : OK;
}

enum status rest_players_create(struct rest_call *call) {
    struct writing *writing = ARENA_NEW(call->arena, struct writing);
    writing->player.id = form_text(&call->body, "id");
    writing->made = true;
    enum status status = read_profile(call, &writing->player);
    return status == OK ? write_player(call, writing, true) : status;
}

enum status rest_players_put(struct rest_call *call) {
    struct writing *writing = ARENA_NEW(call->arena, struct writing);
    struct failure failure = {0};
    struct player old;
    enum status status =
        player_get(call->game, call->path[0], (struct scope){call->arena, &failure}, &old);
    if (status != OK && status != NOT_FOUND) {
        call->failure = failure;
        return status;
    }
    writing->player.id = call->path[0];
    writing->made = status == NOT_FOUND;
    if (status == OK) {
        writing->player.hidden = old.hidden;
        writing->player.created_ms = old.created_ms;
    }
    status = read_profile(call, &writing->player);
    return status == OK ? write_player(call, writing, false) : status;
}

enum status rest_players_patch(struct rest_call *call) {
    struct writing *writing = ARENA_NEW(call->arena, struct writing);
    enum status status = player_get(call->game, call->path[0],
                                    (struct scope){call->arena, &call->failure}, &writing->player);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no player %.*s", BYTES_ARG(call->path[0]));
    if (status == OK)
        status = read_profile(call, &writing->player);
    return status == OK ? write_player(call, writing, false) : status;
}
