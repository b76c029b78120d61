/* Submitting a score: prepared, and answered when it is done. */
#include "game/submit.h"

#include "base/clock.h"
#include "game/entry_int.h"
#include "game/play.h"
#include "game/player.h"
#include "game/standings_int.h"
#include "game/submit_int.h"
#include "value/codec.h"

struct own {
    struct submission submission;
    struct submit_targets targets;
    struct points points;
    struct bytes key;  /* the member's */
    struct item *keys; /* of the entries, one a board */
    struct play play;
    bool played;
    bool hidden; /* set on the engine's thread */
};

/* --- the change --- */

/* The same key for the same submission only: what it asks for, as a number. */
static void set_token(struct submit *submit, const struct submission *submission) {
    struct change *change = &submit->change;
    struct buf all = {0};
    if (submission->token.size == 0)
        return;
    change->token = arena_printf(change->arena, "submission %zu %.*s %.*s", submission->player.size,
                                 BYTES_ARG(submission->player), BYTES_ARG(submission->token));
    const struct bytes parts[] = {submission->game,  submission->board,    submission->period,
                                  submission->score, submission->subscore, submission->name,
                                  submission->play};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        buf_counted(&all, parts[i]);
    for (size_t i = 0; i < submission->scope_count; i++)
        buf_counted(&all, submission->scopes[i]);
    if (submission->meta != NULL)
        value_encode(submission->meta, &all);
    change->token_digest[0] = bytes_hash(buf_bytes(&all), 1);
    change->token_digest[1] = bytes_hash(buf_bytes(&all), 2);
    buf_release(&all);
}

static void fill_write(struct submit *submit, size_t at, int64_t now_ms) {
    struct own *own = submit->own;
    const struct submit_target *target = &own->targets.all[at];
    submit->writes[at] = (struct entry_write){.board = target->board,
                                              .points = own->points,
                                              .now_ms = now_ms,
                                              .name = own->submission.name,
                                              .meta = own->submission.meta,
                                              .sources = target->sources,
                                              .source_count = target->source_count,
                                              .hide = &own->hidden};
    submit->results[at].board = target->board;
}

static void fill_change(struct submit *submit, int64_t now_ms) {
    struct own *own = submit->own;
    struct arena *arena = submit->change.arena;
    size_t boards = own->targets.count, count = 0;
    struct action *actions = ARENA_ARRAY(arena, struct action, 2 * boards + 2);
    player_hidden_action(submit->game, own->submission.player, arena, &own->hidden,
                         &actions[count++]);
    for (size_t i = 0; i < boards; i++) {
        const struct board *board = own->targets.all[i].board;
        fill_write(submit, i, now_ms);
        board_make_action(submit->game, board, arena, &actions[count++]);
        entry_action(submit->game, board, own->key, entry_write_kept, &submit->writes[i], arena,
                     &actions[count]);
        own->keys[i] = actions[count++].item;
    }
    if (own->played)
        play_end_action(submit->game, &own->play, own->submission.score, now_ms, arena,
                        &actions[count++]);
    submit->change.kind = CHANGE_WRITE;
    submit->change.all_or_nothing = true;
    submit->change.actions = actions;
    submit->change.action_count = count;
    set_token(submit, &own->submission);
}

/* --- ranks --- */

/* Places of the player on all boards, at one moment. */
static enum status read_places(struct submit *submit, struct failure *failure, struct place **out) {
    const struct own *own = submit->own;
    struct place_request request = {.table = submit->game->table,
                                    .index = GAME_RANKS,
                                    .keys = own->keys,
                                    .count = own->targets.count,
                                    .group_parts = 2};
    for (size_t i = 0; i < own->targets.count; i++)
        request.groups |= own->targets.all[i].board->rules.ranking == RANK_DENSE;
    *out = ARENA_ARRAY(submit->change.arena, struct place, request.count);
    return engine_places(submit->game->engine, &request, submit->change.arena, failure, *out);
}

static struct look look_at(struct submit *submit, size_t at, struct failure *failure) {
    const struct own *own = submit->own;
    return (struct look){submit->game, own->targets.all[at].board, submit->change.arena, failure};
}

static uint64_t rank_of(const struct look *look, const struct place *place) {
    struct standing row = {0};
    struct ahead ahead = look_ahead(look, place);
    if (place->found)
        look_rank(look, &ahead, place->before + place->after + 1, &row);
    return row.rank;
}

static enum status set_ranks_before(struct submit *submit, struct failure *failure) {
    struct place *places;
    enum status status = read_places(submit, failure, &places);
    for (size_t i = 0; i < submit->result_count && status == OK; i++) {
        struct look look = look_at(submit, i, failure);
        if (!look_is_empty(&look))
            submit->results[i].rank_before = rank_of(&look, &places[i]);
    }
    return status;
}

static enum status set_ranks_after(struct submit *submit, struct failure *failure) {
    struct place *places;
    enum status status = read_places(submit, failure, &places);
    for (size_t i = 0; i < submit->result_count && status == OK; i++) {
        struct look look = look_at(submit, i, failure);
        struct submit_result *result = &submit->results[i];
        result->rank_after = rank_of(&look, &places[i]);
        result->total = places[i].before + places[i].after + 1;
        if (!places[i].found)
            status = look_count(&look, &result->total);
        if (submit->repeated)
            result->rank_before = result->rank_after;
    }
    return status;
}

/* --- preparing --- */

static enum status prepare(struct submit *submit, struct arena *arena, struct failure *failure) {
    struct own *own = submit->own;
    const struct submission *submission = &own->submission;
    int64_t now_ms = clock_now_ms();
    enum status status = submit_check_form(submission, arena, failure);
    if (status == OK)
        status = entry_key_of(submission->player, arena, failure, &own->key);
    if (status == OK && submission->play.size != 0) {
        status = play_token_read(submit->game, submission->play, arena, failure, &own->play);
        own->played = status == OK;
    }
    if (status == OK)
        status = submit_find_boards(submit->game, submission, arena, failure, &own->targets);
    if (status == OK)
        status = submit_check(submission, &own->targets, own->played ? &own->play : NULL, now_ms,
                              arena, failure);
    if (status != OK)
        return status;
    own->points = (struct points){
        submission->score, submission->subscore.size != 0 ? submission->subscore : points_zero()};
    own->keys = ARENA_ARRAY(arena, struct item, own->targets.count);
    submit->result_count = own->targets.count;
    submit->results = ARENA_ARRAY(arena, struct submit_result, submit->result_count);
    submit->writes = ARENA_ARRAY(arena, struct entry_write, submit->result_count);
    fill_change(submit, now_ms);
    return set_ranks_before(submit, failure);
}

enum status submit_prepare(struct game *game, const struct submission *submission,
                           struct arena *arena, struct failure *failure, struct submit *out) {
    struct own *own = ARENA_NEW(arena, struct own);
    own->submission = *submission;
    *out = (struct submit){.game = game, .change = {.arena = arena}, .own = own};
    enum status status = prepare(out, arena, failure);
    if (status != OK)
        submit_release(out);
    return status;
}

void submit_release(struct submit *submit) {
    struct own *own = submit->own;
    for (size_t i = 0; own != NULL && i < own->targets.count; i++)
        board_drop(own->targets.all[i].board);
    submit->own = NULL;
    submit->result_count = 0;
}

/* --- answering --- */

/* Why it was cancelled: the first of its actions that says so. */
static enum status tell_fault(const struct submit *submit, struct failure *failure) {
    const struct change *change = &submit->change;
    *failure = change->failure;
    if (failure->status == REPEAT_MISMATCH)
        return failure_set(failure, change->arena, REPEAT_MISMATCH,
                           "The idempotency key was used for another submission");
    for (size_t i = 0; failure->status == CANCELLED && i < change->action_count; i++)
        if (change->actions[i].failure.status != OK)
            *failure = change->actions[i].failure;
    return failure->status;
}

static const char *reason_of(const struct entry_write *write) {
    switch (write->outcome) {
    case ENTRY_NOT_DONE:
        return write->board->rules.keep == KEEP_FIRST ? "already has one" : "not better";
    case ENTRY_OUT_OF_RANGE:
    case ENTRY_NAN:
        return "past the board's limits";
    default:
        return NULL;
    }
}

static void tell_writes(struct submit *submit) {
    for (size_t i = 0; i < submit->result_count; i++) {
        const struct entry_write *write = &submit->writes[i];
        struct submit_result *result = &submit->results[i];
        result->reason = reason_of(write);
        result->accepted = result->reason == NULL;
        result->had_old = write->had_old;
        result->before = write->before;
        result->after = write->after;
    }
}

/* Nothing was written this time: what there is. */
static enum status tell_present(struct submit *submit, struct failure *failure) {
    const struct own *own = submit->own;
    struct arena *arena = submit->change.arena;
    struct get_request *requests = ARENA_ARRAY(arena, struct get_request, submit->result_count);
    struct get_reply *replies = ARENA_ARRAY(arena, struct get_reply, submit->result_count);
    for (size_t i = 0; i < submit->result_count; i++)
        requests[i] = (struct get_request){
            .table = submit->game->table, .key = own->keys[i], .consistent = true};
    enum status status = engine_get_many(submit->game->engine, requests, submit->result_count,
                                         arena, failure, replies);
    for (size_t i = 0; i < submit->result_count && status == OK; i++) {
        struct submit_result *result = &submit->results[i];
        bool hidden;
        result->had_old =
            replies[i].found && entry_points(&replies[i].item, &result->before, &hidden);
        result->after = result->before;
        result->accepted = result->had_old;
        result->reason = result->had_old ? NULL : "repeated";
    }
    return status;
}

enum status submit_finish(struct submit *submit, struct failure *failure) {
    enum status status = OK;
    if (submit->change.failure.status != OK)
        return tell_fault(submit, failure);
    submit->repeated = submit->change.repeated;
    if (submit->repeated)
        status = tell_present(submit, failure);
    else
        tell_writes(submit);
    return status == OK ? set_ranks_after(submit, failure) : status;
}
