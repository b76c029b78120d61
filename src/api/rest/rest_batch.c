/* Several scores in one request, each in a commit of its own and done or not by itself. All are
 * under way at once, so that they share the engine's group commits. */
#include "api/offload.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "api/rest/rest_scores.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"

struct slot {
    struct batch *batch;
    struct arena arena; /* the engine works on several at once */
    struct submission submission;
    struct submit submit;
    struct failure failure;
    struct bytes member;
    bool read, prepared, under_way, finished;
    uint64_t target, digest; /* whose score it is and where it goes; all that it says */
};

struct batch {
    struct slot *ones;
    size_t count;
};

static enum status read_one(struct rest_call *call, struct slot *slot, const struct json *body) {
    struct submission *submission = &slot->submission;
    submission->game = form_text(body, "game");
    submission->board = form_text(body, "board");
    submission->token = form_text(body, "idempotencyKey");
    if ((submission->board.size == 0) == (submission->game.size == 0))
        return rest_invalid(call, "game", "each score names either a game or a board");
    enum status status = rest_score_player(call, body, &submission->player);
    if (status == OK)
        status = rest_score_read(call, body, &slot->arena, submission);
    if (status != OK)
        return status;
    slot->target = hash_stable(submission->game, hash_stable(submission->board, 1));
    slot->target = hash_stable(submission->player, slot->target);
    slot->digest = submit_digest(submission, 1);
    slot->read = true;
    return OK;
}

/* The call's failure is the one's: the next starts with none. */
static void take_failure(struct rest_call *call, struct slot *slot) {
    slot->failure = call->failure;
    slot->member = call->member;
    call->failure = (struct failure){0};
    call->member = (struct bytes){0};
}

/* Finds out how it went, if that is not known yet. */
static void finish_slot(struct slot *slot) {
    if (slot->failure.status == WOULD_BLOCK)
        slot->failure = (struct failure){0};
    if (slot->under_way && !slot->finished)
        slot->finished = submit_finish(&slot->submit, &slot->failure) != WOULD_BLOCK;
}

/* The score's own key, made of the batch's: of a player's scores for the same boards it is the
 * so many-th, by what they say and not by where they stand, so that the same scores in another
 * order are the same batch, and others under the same keys are refused. */
static struct bytes key_in_batch(struct slot *slot, struct bytes key) {
    const struct batch *batch = slot->batch;
    size_t before = 0;
    for (const struct slot *other = batch->ones; other < batch->ones + batch->count; other++)
        if (other->read && other->target == slot->target)
            before +=
                other->digest < slot->digest || (other->digest == slot->digest && other < slot);
    return arena_printf(&slot->arena, "%.*s#%016llx#%zu", BYTES_ARG(key),
                        (unsigned long long)slot->target, before);
}

static void prepare_slot(struct rest_call *call, struct slot *slot, struct bytes key) {
    if (!slot->read)
        return;
    if (slot->submission.token.size == 0 && key.size != 0)
        slot->submission.token = key_in_batch(slot, key);
    slot->prepared = true;
    slot->under_way =
        submit_prepare(call->game, &slot->submission, (struct scope){&slot->arena, &call->failure},
                       &slot->submit) == OK;
    take_failure(call, slot);
}

static void put_slot(struct rest_call *call, struct slot *slot) {
    rest_put_comma(call->reply);
    buf_byte(call->reply, '{');
    if (slot->under_way && slot->failure.status == OK) {
        rest_put_name(call->reply, "submitted");
        rest_score_put(call, &slot->submission, &slot->submit);
    } else {
        rest_put_name(call->reply, "problem");
        rest_put_problem(call->reply, rest_status_of(slot->failure.status), slot->failure.text,
                         slot->member);
    }
    buf_byte(call->reply, '}');
}

/* One whose ranks have to be counted first has the whole answer made again, where that may be
 * waited for. */
static enum status all_done(struct rest_call *call) {
    struct batch *batch = call->state;
    for (size_t i = 0; i < batch->count; i++)
        finish_slot(&batch->ones[i]);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ones[i].failure.status == WOULD_BLOCK)
            return WOULD_BLOCK;
    buf_lit(call->reply, "{\"results\":[");
    for (size_t i = 0; i < batch->count; i++)
        put_slot(call, &batch->ones[i]);
    buf_lit(call->reply, "]}");
    return OK;
}

static void release_batch(struct rest_call *call) {
    struct batch *batch = call->state;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->ones[i].prepared)
            submit_release(&batch->ones[i].submit);
        arena_release(&batch->ones[i].arena);
    }
    mem_free(batch->ones);
}

static void submit_all(struct rest_call *call) {
    struct batch *batch = call->state;
    change_submit_begin(&call->written);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ones[i].under_way)
            change_submit_add(call->game->engine, &batch->ones[i].submit.change, &call->written);
    change_submit_end(&call->written);
}

enum status rest_scores_batch(struct rest_call *call) {
    const struct json *list = form_get(&call->body, "scores");
    if (list->count > LIMIT_SCORES_BRIEF && call->rest->settings.pool != NULL &&
        !offload_may_wait())
        return WOULD_BLOCK; /* several hundred would hold up the loop's other clients */
    struct batch *batch = ARENA_NEW(call->arena, struct batch);
    struct bytes key;
    rest_idempotency(call, &key);
    batch->count = list->count;
    batch->ones = mem_zalloc(list->count * sizeof batch->ones[0]);
    call->state = batch;
    call->release = release_batch;
    for (size_t i = 0; i < list->count; i++) {
        struct slot *slot = &batch->ones[i];
        slot->batch = batch;
        arena_init(&slot->arena);
        if (read_one(call, slot, &list->elements[i]) != OK)
            take_failure(call, slot);
    }
    for (size_t i = 0; i < list->count; i++)
        prepare_slot(call, &batch->ones[i], key);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ones[i].failure.status == WOULD_BLOCK)
            return WOULD_BLOCK;
    return rest_after(call, submit_all, all_done);
}
