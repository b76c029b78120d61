/* Plays: opening one, looking at it, ending it. */
#include "api/rest/plays.h"

#include "api/rest/cursor.h"
#include "api/rest/handlers.h"
#include "api/rest/out.h"
#include "api/rest/scores.h"

enum { LIST_LIMIT = 25 };

void play_put(struct rest_call *call, const struct play *play) {
    struct buf *to = call->reply;
    out_text(to, "id", play->id);
    out_text(to, "player", play->player);
    out_text(to, "game", play->game);
    out_word(to, "status", play->ended_ms != 0 ? "ended" : "open");
    out_time(to, "startedAt", play->started_ms);
    if (play->ended_ms != 0) {
        out_time(to, "endedAt", play->ended_ms);
        out_int(to, "durationMs", play->ended_ms - play->started_ms);
    }
    if (play->score.size != 0)
        out_number(call, "score", play->score);
    out_meta(call, "meta", play->meta);
}

void plays_put(struct rest_call *call, const struct play_list *list, size_t limit) {
    buf_lit(call->reply, "{\"plays\":[");
    for (size_t i = 0; i < list->count && i < limit; i++) {
        out_next(call->reply);
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
    enum status status = plain_read(meta, call->arena, &call->failure, value);
    if (status != OK)
        call->member = BYTES("meta");
    *out = value;
    return status;
}

/* --- opening --- */

struct opening {
    struct play play;
    struct bytes token;
};

static enum status opened(struct rest_call *call) {
    const struct opening *opening = call->state;
    enum status status = rest_changed(call);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    play_put(call, &opening->play);
    out_text(call->reply, "token", opening->token);
    buf_byte(call->reply, '}');
    return OK;
}

enum status rest_plays_open(struct rest_call *call) {
    struct opening *opening = ARENA_NEW(call->arena, struct opening);
    struct change *change = rest_change(call);
    const struct value *meta;
    struct bytes player;
    enum status status = score_player(call, &call->body, &player);
    if (status == OK)
        status = meta_read(call, &meta);
    if (status == OK)
        status = play_open_prepare(call->game, player, form_text(&call->body, "game"), meta, change,
                                   &call->failure, &opening->play, &opening->token);
    call->state = opening;
    return status == OK ? rest_then(call, change, opened) : status;
}

/* --- looking, ending --- */

static enum status answer_play(struct rest_call *call, struct bytes player) {
    struct play play;
    enum status status =
        play_get(call->game, player, call->path[0], call->arena, &call->failure, &play);
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
        player = call->who.player;
    if (player.size == 0)
        return rest_invalid(call, "player", "player is missing: whose play it is");
    enum status status = rest_own(call, player);
    return status == OK ? answer_play(call, player) : status;
}

static enum status ended(struct rest_call *call) {
    enum status status = rest_changed(call);
    struct bytes player;
    if (status == NOT_FOUND)
        return rest_fail(call, NOT_FOUND, "there is no such play");
    if (status == OK)
        status = score_player(call, &call->body, &player);
    return status == OK ? answer_play(call, player) : status;
}

enum status rest_plays_end(struct rest_call *call) {
    struct change *change = rest_change(call);
    const struct value *meta;
    struct bytes player;
    enum status status = score_player(call, &call->body, &player);
    if (status == OK)
        status = meta_read(call, &meta);
    if (status == OK)
        status = play_end_prepare(call->game, player, call->path[0],
                                  form_number(&call->body, "score", call->arena), meta, change,
                                  &call->failure);
    return status == OK ? rest_then(call, change, ended) : status;
}

enum status rest_plays_of_game(struct rest_call *call) {
    struct play_list list;
    struct bytes before;
    size_t limit = cursor_limit(call, LIST_LIMIT);
    enum status status = cursor_name(call, &before);
    if (status == OK)
        status = play_list_game(call->game, call->path[0], before, limit + 1, call->arena,
                                &call->failure, &list);
    if (status == OK)
        plays_put(call, &list, limit);
    return status;
}
