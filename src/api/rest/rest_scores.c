/* A score, to one board or to all of a game. */
#include "api/rest/rest_scores.h"

#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"

struct submitting {
    struct submission submission;
    struct submit submit;
    bool prepared;
};

/* --- reading --- */

enum status rest_score_read(struct rest_call *call, const struct json *body, struct arena *arena,
                            struct submission *out) {
    const struct json *scopes = form_get(body, "scopes"), *meta = form_get(body, "meta");
    out->score = form_number(body, "score", arena);
    out->subscore = form_number(body, "subscore", arena);
    out->name = form_text(body, "name");
    out->play = form_text(body, "playToken");
    out->existing_only = !rest_makes_boards(call);
    out->by_player = call->caller.player.size != 0;
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
    enum status status = rest_value_read(meta, (struct scope){arena, &call->failure}, value);
    if (status != OK)
        call->member = BYTES("meta");
    out->meta = value;
    return status;
}

enum status rest_score_player(struct rest_call *call, const struct json *body, struct bytes *out) {
    *out = form_text(body, "player");
    if (out->size == 0)
        *out = call->caller.player;
    if (out->size == 0)
        return rest_invalid(call, "player", "player is missing");
    return rest_own(call, *out);
}

/* --- telling --- */

static void put_points(struct rest_call *call, const char *name, const struct board *board,
                       const struct points *points) {
    rest_put_name(call->reply, name);
    buf_byte(call->reply, '{');
    rest_put_number(call, "score", points->score);
    if (board->rules.subscores)
        rest_put_number(call, "subscore", points->subscore);
    buf_byte(call->reply, '}');
}

static void put_result(struct rest_call *call, const struct submit_result *result) {
    struct buf *to = call->reply;
    rest_put_comma(to);
    buf_byte(to, '{');
    rest_put_board(call, result->board);
    rest_put_bool(to, "accepted", result->accepted);
    if (!result->accepted && result->reason != NULL)
        rest_put_str(to, "reason", result->reason);
    if (result->had_old)
        put_points(call, "before", result->board, &result->before);
    if (result->after.score.size != 0)
        put_points(call, "after", result->board, &result->after);
    if (result->rank_before != 0)
        rest_put_uint(to, "rankBefore", result->rank_before);
    if (result->rank_after != 0)
        rest_put_uint(to, "rankAfter", result->rank_after);
    if (result->unranked)
        rest_put_bool(to, "unranked", true);
    else
        rest_put_uint(to, "total", result->total);
    buf_byte(to, '}');
}

void rest_score_put(struct rest_call *call, const struct submission *submission,
                    const struct submit *submit) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    rest_put_text(to, "player", submission->player);
    rest_put_number(call, "score", submission->score);
    if (submission->subscore.size != 0)
        rest_put_number(call, "subscore", submission->subscore);
    rest_put_bool(to, "repeated", submit->repeated);
    rest_put_name(to, "results");
    buf_byte(to, '[');
    for (size_t i = 0; i < submit->result_count; i++)
        put_result(call, &submit->results[i]);
    buf_lit(to, "]}");
}

/* --- handlers --- */

static void release_submission(struct rest_call *call) {
    struct submitting *submitting = call->state;
    if (submitting->prepared)
        submit_release(&submitting->submit);
}

static enum status submitted(struct rest_call *call) {
    struct submitting *submitting = call->state;
    enum status status = submit_finish(&submitting->submit, &call->failure);
    if (status == OK)
        rest_score_put(call, &submitting->submission, &submitting->submit);
    return status;
}

static enum status start_submission(struct rest_call *call, struct submitting *submitting) {
    enum status status = rest_score_read(call, &call->body, call->arena, &submitting->submission);
    if (status == OK)
        status = rest_idempotency(call, &submitting->submission.token);
    if (status != OK)
        return status;
    call->state = submitting;
    call->release = release_submission;
    submitting->prepared = true;
    status = submit_prepare(call->game, &submitting->submission,
                            (struct scope){call->arena, &call->failure}, &submitting->submit);
    if (status != OK)
        return status;
    return rest_then(call, &submitting->submit.change, submitted);
}

enum status rest_scores_submit(struct rest_call *call) {
    struct submitting *submitting = ARENA_NEW(call->arena, struct submitting);
    submitting->submission.game = call->path[0];
    enum status status = rest_score_player(call, &call->body, &submitting->submission.player);
    return status == OK ? start_submission(call, submitting) : status;
}

/* The board's instance. A board that is not kept for global is found by a scope of the body, too.
 */
static enum status find_instance(struct rest_call *call) {
    const struct json *scopes = form_get(&call->body, "scopes");
    enum status status = rest_board_to_write(call);
    if (status != INVALID || scopes == NULL || scopes->count == 0 ||
        rest_query(call, "scope").size != 0)
        return status;
    struct failure failure;
    struct board_name name = {.id = call->path[0],
                              .scope = scopes->elements[0].text,
                              .period = rest_query(call, "period")};
    if (board_find_parts(call->game, &name, (struct scope){call->arena, &failure}, &call->board) !=
        OK) {
        call->board = NULL;
        return status;
    }
    call->failure = (struct failure){0};
    call->member = (struct bytes){0};
    return OK;
}

/* The board may be told by its id, with or without ?scope=, or by an instance's name; it must be
 * the present one. */
enum status rest_entry_put(struct rest_call *call) {
    struct submitting *submitting = ARENA_NEW(call->arena, struct submitting);
    struct submission *submission = &submitting->submission;
    enum status status = find_instance(call);
    if (status == OK)
        status = rest_open(call);
    if (status != OK)
        return status;
    submission->board = call->board->rules.plain ? call->board->instance : call->board->rules.id;
    submission->scope = call->board->scope;
    submission->period = call->board->period.name;
    submission->player = call->path[1];
    return start_submission(call, submitting);
}
