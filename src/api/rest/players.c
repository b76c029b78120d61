/* Profiles of players. */
#include "game/player.h"

#include "api/rest/handlers.h"
#include "api/rest/out.h"
#include "api/rest/plays.h"

static void put_player(struct rest_call *call, const struct player *player) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    out_text(to, "id", player->id);
    out_text_if(to, "name", player->name);
    out_text_if(to, "email", player->email);
    out_meta(call, "meta", player->meta);
    out_flag(to, "hidden", player->hidden);
    out_time_if(to, "createdAt", player->created_ms);
    out_time_if(to, "changedAt", player->changed_ms);
    buf_byte(to, '}');
}

static enum status answer_player(struct rest_call *call, struct bytes id) {
    struct player player;
    enum status status = player_get(call->game, id, call->arena, &call->failure, &player);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no player %.*s", BYTES_ARG(id));
    if (status == OK)
        put_player(call, &player);
    return status;
}

enum status rest_players_get(struct rest_call *call) {
    enum status status = rest_own(call, call->path[0]);
    return status == OK ? answer_player(call, call->path[0]) : status;
}

enum status rest_players_find(struct rest_call *call) {
    struct player player;
    enum status status = player_by_email(call->game, rest_query(call, "email"), call->arena,
                                         &call->failure, &player);
    if (status != OK && status != NOT_FOUND)
        return status;
    buf_lit(call->reply, "{\"players\":[");
    if (status == OK)
        put_player(call, &player);
    buf_lit(call->reply, "]}");
    return OK;
}

/* --- writing --- */

struct writing {
    struct player player;
    bool made;
};

static enum status written(struct rest_call *call) {
    const struct writing *writing = call->state;
    enum status status = rest_changed(call);
    if (status != OK)
        return status;
    if (writing->made)
        call->status = 201;
    return answer_player(call, writing->player.id);
}

static enum status write(struct rest_call *call, struct writing *writing, bool create) {
    struct change *change = rest_change(call);
    enum status status = rest_own(call, writing->player.id);
    if (status == OK)
        status = player_put_prepare(call->game, &writing->player, create, change, &call->failure);
    call->state = writing;
    return status == OK ? rest_then(call, change, written) : status;
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
    return status == OK ? write(call, writing, true) : status;
}

enum status rest_players_put(struct rest_call *call) {
    struct writing *writing = ARENA_NEW(call->arena, struct writing);
    struct failure failure = {0};
    struct player old;
    enum status status = player_get(call->game, call->path[0], call->arena, &failure, &old);
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
    return status == OK ? write(call, writing, false) : status;
}

enum status rest_players_patch(struct rest_call *call) {
    struct writing *writing = ARENA_NEW(call->arena, struct writing);
    enum status status =
        player_get(call->game, call->path[0], call->arena, &call->failure, &writing->player);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no player %.*s", BYTES_ARG(call->path[0]));
    if (status == OK)
        status = read_profile(call, &writing->player);
    return status == OK ? write(call, writing, false) : status;
}
