/* Submitting a score: the change and its results. */
#include "game/board/submit.h"

#include "base/clock.h"
#include "base/hash.h"
#include "game/board/entry_int.h"
#include "game/board/standings_int.h"
#include "game/board/submit_int.h"
#include "game/player/play_session.h"
#include "game/player/player.h"
#include "game/shown_text.h"
#include "table/engine.h"
#include "value/codec.h"

struct submit_state {
    struct submission submission;
    struct submit_targets targets;
    struct points points;
    struct bytes key;           /* entry_key_of() the player */
    struct item *keys;          /* of the entries, one for each board */
    struct action_ranks *ranks; /* filled in by the commit, one for each board */
    struct play play;
    bool played;
    struct entry_write *writes; /* one for each board */
    bool hidden;                /* of the profile; set on the engine's thread by read_profile() */
};

/* --- the change --- */

uint64_t submit_digest(const struct submission *submission, uint64_t seed) {
    struct buf all = {0};
    const struct bytes parts[] = {submission->game,  submission->board,    submission->period,
                                  submission->score, submission->subscore, submission->name,
                                  submission->play,  submission->player,   submission->scope};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        buf_counted(&all, parts[i]);
    for (size_t i = 0; i < submission->scope_count; i++)
        buf_counted(&all, submission->scopes[i]);
    if (submission->meta != NULL)
        value_encode(submission->meta, &all);
    uint64_t digest = hash_stable(buf_bytes(&all), seed);
    buf_release(&all);
    return digest;
}

/* The digest makes sure that a key is repeated only with the same submission. */
static void set_token(struct submit *submit, const struct submission *submission) {
    struct change *change = &submit->change;
    if (submission->token.size == 0)
        return;
    change->token = arena_printf(change->arena, "submission %zu %.*s %.*s", submission->player.size,
                                 BYTES_ARG(submission->player), BYTES_ARG(submission->token));
    change->token_digest[0] = submit_digest(submission, 1);
    change->token_digest[1] = submit_digest(submission, 2);
}

/* Writes as the board's rules say. A score past the board's limits fails the whole change, so
 * nothing is written on any board. */
static enum status write_or_refuse(struct action *action, const struct item *old,
                                   struct arena *arena, struct item *new) {
    const struct entry_write *write = action->user;
    enum status status = entry_write_by_rules(action, old, arena, new);
    if (status != OK || (write->outcome != ENTRY_OUT_OF_RANGE && write->outcome != ENTRY_NAN))
        return status;
    return failure_set(&action->failure, arena, INVALID,
                       "Board %.*s does not take it: with what is there, it is past the board's "
                       "limits",
                       BYTES_ARG(write->board->rules.id));
}

static void fill_entry_write(struct submit *submit, size_t at, int64_t now_ms) {
    struct submit_state *state = submit->state;
    const struct submit_target *target = &state->targets.all[at];
    const struct board_rules *rules = &target->board->rules;
    struct points points = state->points;
    if (!rules->subscores && !rules->plain)
        points.subscore = points_zero();
    submit->writes[at] = (struct entry_write){.game = submit->game,
                                              .board = target->board,
                                              .points = points,
                                              .now_ms = now_ms,
                                              .name = state->submission.name,
                                              .meta = state->submission.meta,
                                              .sources = target->sources,
                                              .source_count = target->source_count,
                                              .hide = &state->hidden};
    submit->results[at].board = target->board;
}

/* Reads the profile in the commit: whether the player is hidden, and its name unless the submission
 * has one. Runs on the engine's thread before the writes of the entries. */
static enum status read_profile(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    struct submit_state *state = action->user;
    struct bytes name = state->submission.name;
    (void)new;
    state->hidden = player_profile_hidden(old);
    if (name.size == 0)
        name = arena_copy(arena, player_profile_name(old));
    for (size_t i = 0; i < state->targets.count; i++)
        state->writes[i].name = name;
    return OK;
}

/* The commit itself looks up the entry's ranks, before and after. */
static void fill_entry_action(struct submit *submit, size_t at, struct action *out) {
    struct submit_state *state = submit->state;
    const struct board *board = state->targets.all[at].board;
    bool part = state->submission.part;
    state->keys[at] = game_key(submit->change.arena, board->pk, state->key);
    entry_action(&submit->writes[at], state->keys[at],
                 part ? entry_write_by_rules : write_or_refuse, out);
    state->ranks[at] =
        (struct action_ranks){.index = GAME_RANKS,
                              .group_parts = board->rules.ranking == RANK_ORDINAL ? 0 : 2,
                              .groups = board->rules.ranking == RANK_DENSE};
    if (!part)
        out->ranks = &state->ranks[at];
}

static void fill_change(struct submit *submit, int64_t now_ms) {
    struct submit_state *state = submit->state;
    struct arena *arena = submit->change.arena;
    size_t boards = state->targets.count, count = 0;
    struct action *actions = ARENA_ARRAY(arena, struct action, 2 * boards + 2);
    actions[count] =
        player_hidden_action(submit->game, state->submission.player, &state->hidden, arena);
    actions[count].compute = read_profile;
    actions[count].unchecked = true;
    actions[count++].user = state;
    for (size_t i = 0; i < boards; i++) {
        const struct board *board = state->targets.all[i].board;
        fill_entry_write(submit, i, now_ms);
        board_create_action(submit->game, board, arena, &actions[count++]);
        fill_entry_action(submit, i, &actions[count++]);
    }
    if (state->played) {
        struct play ended = state->play;
        ended.score = state->submission.score;
        ended.ended_ms = now_ms;
        actions[count++] = play_end_action(submit->game, &ended, arena);
    }
    submit->change.kind = CHANGE_WRITE;
    submit->change.all_or_nothing = true;
    submit->change.actions = actions;
    submit->change.action_count = count;
    set_token(submit, &state->submission);
}

/* --- ranks --- */

static struct standings_query query_of_target(struct submit *submit, size_t at,
                                              struct failure *failure) {
    const struct submit_state *state = submit->state;
    return (struct standings_query){submit->game, state->targets.all[at].board,
                                    submit->change.arena, failure};
}

static uint64_t rank_of(const struct standings_query *query, const struct rank_reply *rank_reply) {
    struct standing row = {0};
    struct ahead ahead = standings_query_ahead(query, rank_reply);
    if (rank_reply->found)
        standings_query_set_rank(query, &ahead, rank_reply->before + rank_reply->after + 1, &row);
    return row.rank;
}

/* Looks up the player's rank on a board as it is now, and the total, where the commit did not. */
static enum status look_up_rank(struct submit *submit, size_t at, struct failure *failure,
                                struct submit_result *out) {
    const struct submit_state *state = submit->state;
    struct standings_query query = query_of_target(submit, at, failure);
    struct rank_reply place;
    struct rank_question question = {.keys = &state->keys[at], .count = 1, .as_board = true};
    enum status status = standings_index_ranks(&query, &question, &place);
    if (status != OK)
        return status;
    out->rank_after = rank_of(&query, &place);
    out->total = place.before + place.after + 1;
    return place.found ? OK : standings_query_count(&query, &out->total);
}

/* Reads a dense rank, so that the count index which it needs is built now and not in the commit.
 * For an engine that cannot tell ranks with a commit, looks up those before it. */
static enum status prepare_ranks(struct submit *submit, struct failure *failure) {
    const struct submit_state *state = submit->state;
    bool told = engine_can(submit->game->engine, ENGINE_RANKED);
    enum status status = OK;
    for (size_t i = 0; i < submit->result_count && status == OK && !state->submission.part; i++) {
        const struct board *board = state->targets.all[i].board;
        struct submit_result *result = &submit->results[i];
        uint64_t rank, total;
        if (!told) {
            status = look_up_rank(submit, i, failure, result);
            result->rank_before = result->rank_after;
        } else if (board->rules.ranking == RANK_DENSE) {
            struct standings_query query = query_of_target(submit, i, failure);
            status = standings_rank_for_points(&query, &state->points, &rank, &total);
        }
        if (status == BEING_BUILT)
            status = OK;
    }
    return status;
}

/* Fills in the ranks that the commit looked up, or else those of now. */
static enum status set_ranks(struct submit *submit, struct failure *failure) {
    const struct submit_state *state = submit->state;
    enum status status = OK;
    for (size_t i = 0; i < submit->result_count && status == OK; i++) {
        const struct action_ranks *ranks = &state->ranks[i];
        struct standings_query query = query_of_target(submit, i, failure);
        struct submit_result *result = &submit->results[i];
        if (ranks->counted) {
            result->rank_before = rank_of(&query, &ranks->before);
            result->rank_after = rank_of(&query, &ranks->after);
            result->total = ranks->total;
            continue;
        }
        status = look_up_rank(submit, i, failure, result);
        if (status == BEING_BUILT) { /* the write is done all the same */
            result->unranked = true;
            status = OK;
        }
        if (submit->repeated)
            result->rank_before = result->rank_after;
    }
    return status;
}

/* --- preparing --- */

static enum status prepare_submission(struct submit *submit, struct scope in) {
    struct submit_state *state = submit->state;
    const struct submission *submission = &state->submission;
    struct submit_attempt attempt = {
        .game = submit->game, .submission = submission, .now_ms = clock_now_ms()};
    state->submission.name = shown_text(submission->name, in.arena);
    enum status status = submit_check_form(submission, in);
    if (status == OK)
        status = entry_key_of(submission->player, in, &state->key);
    if (status == OK && submission->play.size != 0) {
        status = play_token_read(submit->game, submission->play, in, &state->play);
        state->played = status == OK;
        attempt.play = &state->play;
    }
    if (status == OK)
        status = submit_find_targets(submit->game, submission, in, &state->targets);
    if (status == OK)
        status = submit_check(&attempt, &state->targets, in);
    if (status != OK)
        return status;
    state->points = (struct points){
        submission->score, submission->subscore.size != 0 ? submission->subscore : points_zero()};
    state->keys = ARENA_ARRAY(in.arena, struct item, state->targets.count);
    submit->result_count = state->targets.count;
    submit->results = ARENA_ARRAY(in.arena, struct submit_result, submit->result_count);
    submit->writes = ARENA_ARRAY(in.arena, struct entry_write, submit->result_count);
    state->writes = submit->writes;
    state->ranks = ARENA_ARRAY(in.arena, struct action_ranks, state->targets.count);
    fill_change(submit, attempt.now_ms);
    return prepare_ranks(submit, in.failure);
}

enum status submit_prepare(struct game *game, const struct submission *submission, struct scope in,
                           struct submit *out) {
    struct submit_state *state = ARENA_NEW(in.arena, struct submit_state);
    state->submission = *submission;
    *out = (struct submit){.game = game, .change = {.arena = in.arena}, .state = state};
    enum status status = prepare_submission(out, in);
    if (status != OK)
        submit_release(out);
    return status;
}

void submit_release(struct submit *submit) {
    struct submit_state *state = submit->state;
    for (size_t i = 0; state != NULL && i < state->targets.count; i++)
        board_drop(state->targets.all[i].board);
    submit->state = NULL;
    submit->result_count = 0;
}

/* --- results --- */

/* Why the change failed: of a cancelled one, the failure of its action. */
static enum status failure_of_change(const struct submit *submit, struct failure *failure) {
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

static void fill_results(struct submit *submit) {
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

/* Nothing was written this time: the results are the entries as they are. */
static enum status fill_results_of_repeat(struct submit *submit, struct failure *failure) {
    const struct submit_state *state = submit->state;
    struct arena *arena = submit->change.arena;
    struct get_request *requests = ARENA_ARRAY(arena, struct get_request, submit->result_count);
    struct get_reply *replies = ARENA_ARRAY(arena, struct get_reply, submit->result_count);
    for (size_t i = 0; i < submit->result_count; i++)
        requests[i] = (struct get_request){
            .table = submit->game->table, .key = state->keys[i], .consistent = true};
    enum status status = engine_get_many(submit->game->engine, requests, submit->result_count,
                                         (struct scope){arena, failure}, replies);
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
        return failure_of_change(submit, failure);
    submit->repeated = submit->change.repeated;
    if (submit->repeated)
        status = fill_results_of_repeat(submit, failure);
    else
        fill_results(submit);
    return status == OK ? set_ranks(submit, failure) : status;
}
