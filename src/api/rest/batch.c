/* Several scores in one request, each in a commit of its own and done or not by itself. All are
 * under way at once, so that they share the engine's group commits. */
#include "api/rest/answer.h"
#include "api/rest/handlers.h"
#include "api/rest/out.h"
#include "api/rest/scores.h"
#include "base/mem.h"

#include <stdatomic.h>

struct one {
    struct batch *batch;
    struct arena arena; /* the engine works on several at once */
    struct submission submission;
    struct submit submit;
    struct failure failure;
    struct bytes member;
    bool prepared, under_way;
};

struct batch {
    struct rest_call *call;
    struct one *ones;
    size_t count;
    atomic_size_t left;
    struct change none; /* what the call waits for */
};

static enum status prepare_one(struct rest_call *call, struct one *one, const struct json *body,
                               struct bytes key) {
    struct bytes board = form_text(body, "board"), own = form_text(body, "idempotencyKey");
    struct submission *submission = &one->submission;
    submission->game = form_text(body, "game");
    submission->board = board;
    if ((board.size == 0) == (submission->game.size == 0))
        return rest_invalid(call, "game", "each score names either a game or a board");
    enum status status = score_player(call, body, &submission->player);
    if (status == OK)
        status = score_read(call, body, &one->arena, submission);
    if (status != OK)
        return status;
    submission->token = own;
    if (own.size == 0 && key.size != 0)
        submission->token =
            arena_printf(&one->arena, "%.*s#%zu", BYTES_ARG(key), (size_t)(one - one->batch->ones));
    one->prepared = true;
    return submit_prepare(call->game, submission, &one->arena, &call->failure, &one->submit);
}

/* The call's failure is the one's: the next starts with none. */
static void prepare(struct rest_call *call, struct one *one, const struct json *body,
                    struct bytes key) {
    arena_init(&one->arena);
    enum status status = prepare_one(call, one, body, key);
    if (status != OK) {
        one->failure = call->failure;
        one->member = call->member;
    }
    one->under_way = status == OK;
    call->failure = (struct failure){0};
    call->member = (struct bytes){0};
}

static void put_one(struct rest_call *call, struct one *one) {
    out_next(call->reply);
    buf_byte(call->reply, '{');
    if (one->under_way && submit_finish(&one->submit, &one->failure) == OK) {
        out_name(call->reply, "submitted");
        score_put(call, &one->submission, &one->submit);
    } else {
        out_name(call->reply, "problem");
        rest_put_problem(call->reply, rest_status_of(one->failure.status), one->failure.text,
                         one->member);
    }
    buf_byte(call->reply, '}');
}

static enum status all_done(struct rest_call *call) {
    struct batch *batch = call->state;
    buf_lit(call->reply, "{\"results\":[");
    for (size_t i = 0; i < batch->count; i++)
        put_one(call, &batch->ones[i]);
    buf_lit(call->reply, "]}");
    return OK;
}

static void release(struct rest_call *call) {
    struct batch *batch = call->state;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->ones[i].prepared)
            submit_release(&batch->ones[i].submit);
        arena_release(&batch->ones[i].arena);
    }
    mem_free(batch->ones);
}

static void one_left(struct batch *batch) {
    if (atomic_fetch_sub(&batch->left, 1) == 1)
        rest_wake(batch->call);
}

static void one_done(struct change *change) {
    struct one *one = change->user;
    one_left(one->batch);
}

static void submit_all(struct rest_call *call) {
    struct batch *batch = call->state;
    for (size_t i = 0; i < batch->count; i++) {
        struct one *one = &batch->ones[i];
        if (!one->under_way) {
            one_left(batch);
            continue;
        }
        one->submit.change.done = one_done;
        one->submit.change.user = one;
        engine_submit(call->game->engine, &one->submit.change);
    }
    one_left(batch); /* so that it does not end before all were begun */
}

enum status rest_scores_batch(struct rest_call *call) {
    const struct json *list = form_get(&call->body, "scores");
    struct batch *batch = ARENA_NEW(call->arena, struct batch);
    struct bytes key;
    rest_idempotency(call, &key);
    batch->call = call;
    batch->count = list->count;
    batch->ones = mem_zalloc(list->count * sizeof batch->ones[0]);
    atomic_init(&batch->left, list->count + 1);
    call->state = batch;
    call->release = release;
    for (size_t i = 0; i < list->count; i++) {
        batch->ones[i].batch = batch;
        prepare(call, &batch->ones[i], &list->elements[i], key);
    }
    return rest_after(call, submit_all, all_done);
}
