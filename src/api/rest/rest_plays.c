/* Plays: opening one, looking at it, ending it. */
#include "api/rest/rest_plays.h"

#include "api/rest/rest_cursor.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "api/rest/rest_scores.h"

enum { LIST_LIMIT = 25 };

void play_put(struct rest_call *call, const struct play *play) {
    struct buf *to = call->reply;
    rest_put_text(to, "id", play->id);
    rest_put_text(to, "player", play->player);
    rest_put_text(to, "game", play->game);
    rest_put_str(to, "status", play->ended_ms != 0 ? "ended" : "open");
    rest_put_time(to, "startedAt", play->started_ms);
    if (play->ended_ms != 0) {
        rest_put_time(to, "endedAt", play->ended_ms);
        rest_put_int(to, "durationMs", play->ended_ms - play->started_ms);
    }
    if (play->score.size != 0)
        rest_put_number(call, "score", play->score);
    rest_put_meta(call, "meta", play->meta);
}

void plays_put(struct rest_call *call, const struct play_list *list, size_t limit) {
    buf_lit(call->reply, "{\"plays\":[");
    for (size_t i = 0; i < list->count && i < limit; i++) {
        rest_put_comma(call->reply);
        buf_byte(call->reply, '{');
        play_put(call, &list->plays[i]);
        buf_byte(call->reply, '}');
    }
    buf_byte(call->reply, ']');
    if (list->count > limit)
        cursor_next(call, list->plays[limit - 1].id);
    buf_byte(call->reply, '}');
}

enum status meta_read(struct rest_call *call, const struct value **out) {
    const struct json *meta = form_get(&call->body, "meta");
    *out = NULL;
    if (meta == NULL)
        return OK;
    struct value *value = ARENA_NEW(call->arena, struct value);
    enum status status = rest_value_read(meta, (struct scope){call->arena, &call->failure}, value);
    if (status != OK)
        call->member = BYTES("meta");
    *out = value;
    return status;
}

/* --- opening --- */

static enum status opened(struct rest_call *call) {
    const struct play *play = call->state;
    enum status status = rest_changed(call);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    play_put(call, play);
    rest_put_text(call->reply, "token", play->token);
    buf_byte(call->reply, '}');
    return OK;
}

enum status rest_plays_open(struct rest_call *call) {
    struct play *play = ARENA_NEW(call->arena, struct play);
    struct change *change = rest_change(call);
    enum status status = rest_score_player(call, &call->body, &play->player);
    if (status == OK)
        status = meta_read(call, &play->meta);
    play->game = form_text(&call->body, "game");
    if (status == OK)
        status = play_open_prepare(call->game, play, change, &call->failure);
    call->state = play;
    return status == OK ? rest_then(call, change, opened) : status;
}

/* --- looking, ending --- */

static enum status answer_play(struct rest_call *call, struct bytes player) {
    struct play play;
    enum status status = play_get(call->game, (struct play_key){player, call->path[0]},
                                  (struct scope){call->arena, &call->failure}, &play);
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no such play of %.*s", BYTES_ARG(player));
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    play_put(call, &play);
    buf_byte(call->reply, '}');
    return OK;
}

enum status rest_plays_get(struct rest_call *call) {
    struct bytes player = rest_query(call, "player");
    if (player.size == 0)
        player = call->caller.player;
    if (player.size == 0)
        return rest_invalid(call, "player", "player is missing: whose play it is");
    return answer_play(call, player);
}

static enum status ended(struct rest_call *call) {
    enum status status = rest_changed(call);
    struct bytes player;
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no such play");
    if (status == OK)
        status = rest_score_player(call, &call->body, &player);
    return status == OK ? answer_play(call, player) : status;
}

enum status rest_plays_end(struct rest_call *call) {
    struct change *change = rest_change(call);
    struct play play = {.id = call->path[0],
                        .score = form_number(&call->body, "score", call->arena)};
    enum status status = rest_score_player(call, &call->body, &play.player);
    if (status == OK)
        status = meta_read(call, &play.meta);
    if (status == OK)
        status = play_end_prepare(call->game, &play, change, &call->failure);
    return status == OK ? rest_then(call, change, ended) : status;
}

enum status rest_plays_of_game(struct rest_call *call) {
    struct play_list list;
    size_t limit = cursor_limit(call, LIST_LIMIT);
    struct play_list_request request = {.of = call->path[0], .limit = limit + 1};
    enum status status = cursor_name(call, &request.before);
    if (status == OK)
        status = play_list_game(call->game, &request, (struct scope){call->arena, &call->failure},
                                &list);
    if (status == OK)
        plays_put(call, &list, limit);
    return status;
}
