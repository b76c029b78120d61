/* A score, to one board or to all of a game. */
#include "api/rest/scores.h"

#include "api/rest/handlers.h"
#include "api/rest/out.h"

struct submitting {
    struct submission submission;
    struct submit submit;
    bool prepared;
};

/* --- reading --- */

enum status score_read(struct rest_call *call, const struct json *body, struct arena *arena,
                       struct submission *out) {
    const struct json *scopes = form_get(body, "scopes"), *meta = form_get(body, "meta");
    out->score = form_number(body, "score", arena);
    out->subscore = form_number(body, "subscore", arena);
    out->name = form_text(body, "name");
    out->play = form_text(body, "playToken");
    if (scopes != NULL) {
        struct bytes *list = ARENA_ARRAY(arena, struct bytes, scopes->count);
        for (uint32_t i = 0; i < scopes->count; i++)
            list[i] = scopes->elements[i].text;
        out->scopes = list;
        out->scope_count = scopes->count;
    }
    if (meta == NULL)
        return OK;
    struct value *value = ARENA_NEW(arena, struct value);
    enum status status = plain_read(meta, arena, &call->failure, value);
    if (status != OK)
        call->member = BYTES("meta");
    out->meta = value;
    return status;
}

enum status score_player(struct rest_call *call, const struct json *body, struct bytes *out) {
    *out = form_text(body, "player");
    if (out->size == 0)
        *out = call->who.player;
    if (out->size == 0)
        return rest_invalid(call, "player", "player is missing");
    return rest_own(call, *out);
}

/* --- telling --- */

static void put_points(struct rest_call *call, const char *name, const struct board *board,
                       const struct points *points) {
    out_name(call->reply, name);
    buf_byte(call->reply, '{');
    out_number(call, "score", points->score);
    if (board->rules.subscores)
        out_number(call, "subscore", points->subscore);
    buf_byte(call->reply, '}');
}

static void put_result(struct rest_call *call, const struct submit_result *result) {
    struct buf *to = call->reply;
    out_next(to);
    buf_byte(to, '{');
    out_board(call, result->board);
    out_flag(to, "accepted", result->accepted);
    if (!result->accepted && result->reason != NULL)
        out_word(to, "reason", result->reason);
    if (result->had_old)
        put_points(call, "before", result->board, &result->before);
    if (result->after.score.size != 0)
        put_points(call, "after", result->board, &result->after);
    if (result->rank_before != 0)
        out_uint(to, "rankBefore", result->rank_before);
    if (result->rank_after != 0)
        out_uint(to, "rankAfter", result->rank_after);
    out_uint(to, "total", result->total);
    buf_byte(to, '}');
}

void score_put(struct rest_call *call, const struct submission *submission,
               const struct submit *submit) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    out_text(to, "player", submission->player);
    out_number(call, "score", submission->score);
    if (submission->subscore.size != 0)
        out_number(call, "subscore", submission->subscore);
    out_flag(to, "repeated", submit->repeated);
    out_name(to, "results");
    buf_byte(to, '[');
    for (size_t i = 0; i < submit->result_count; i++)
        put_result(call, &submit->results[i]);
    buf_lit(to, "]}");
}

/* --- handlers --- */

static void release(struct rest_call *call) {
    struct submitting *submitting = call->state;
    if (submitting->prepared)
        submit_release(&submitting->submit);
}

static enum status submitted(struct rest_call *call) {
    struct submitting *submitting = call->state;
    enum status status = submit_finish(&submitting->submit, &call->failure);
    if (status == OK)
        score_put(call, &submitting->submission, &submitting->submit);
    return status;
}

static enum status start(struct rest_call *call, struct submitting *submitting) {
    enum status status = score_read(call, &call->body, call->arena, &submitting->submission);
    if (status == OK)
        status = rest_idempotency(call, &submitting->submission.token);
    if (status != OK)
        return status;
    call->state = submitting;
    call->release = release;
    submitting->prepared = true;
    status = submit_prepare(call->game, &submitting->submission, call->arena, &call->failure,
                            &submitting->submit);
    if (status != OK)
        return status;
    return rest_then(call, &submitting->submit.change, submitted);
}

enum status rest_scores_submit(struct rest_call *call) {
    struct submitting *submitting = ARENA_NEW(call->arena, struct submitting);
    submitting->submission.game = call->path[0];
    enum status status = score_player(call, &call->body, &submitting->submission.player);
    return status == OK ? start(call, submitting) : status;
}

/* The board may be told by its id or by an instance's name; it must be the present one. */
enum status rest_entry_put(struct rest_call *call) {
    struct submitting *submitting = ARENA_NEW(call->arena, struct submitting);
    struct submission *submission = &submitting->submission;
    enum status status = rest_own(call, call->path[1]);
    if (status == OK)
        status = rest_board(call);
    if (status == OK)
        status = rest_open(call);
    if (status != OK)
        return status;
    if (call->board->scope.size != 0)
        return rest_invalid(call, "scopes", "submit to the board, and name the scope in scopes");
    submission->board = call->board->rules.plain ? call->board->instance : call->board->rules.id;
    submission->period = call->board->period.name;
    submission->player = call->path[1];
    return start(call, submitting);
}
