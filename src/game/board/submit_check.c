/* Checking a submission: by itself, and against the rules of its boards. */
#include "base/utf8.h"
#include "game/board/board_int.h"
#include "game/board/entry_int.h"
#include "game/board/submit_int.h"
#include "game/player/play_session.h"
#include "game/room/match.h"
#include "game/room/room_seats.h"

#define REFUSE(status, ...) failure_set(in.failure, in.arena, status, __VA_ARGS__)

enum status submit_check_form(const struct submission *submission, struct scope in) {
    if ((submission->game.size == 0) == (submission->board.size == 0))
        return REFUSE(INVALID, "A score is submitted to a game or to a board: give one of them");
    if (submission->player.size == 0)
        return REFUSE(INVALID, "A score must have a player");
    if (!number_valid(submission->score) ||
        (submission->subscore.size != 0 && !number_valid(submission->subscore)))
        return REFUSE(INVALID, "A score must be a number");
    if (submission->scope_count > SUBMIT_SCOPES_MAX)
        return REFUSE(INVALID, "A score can have at most %d scopes", SUBMIT_SCOPES_MAX);
    for (size_t i = 0; i < submission->scope_count; i++)
        if (!board_is_id(submission->scopes[i]))
            return REFUSE(INVALID, "A scope is 1 to %d of A-Z a-z 0-9 _ . : -", BOARD_ID_MAX);
    if (submission->name.size > SUBMIT_NAME_MAX || !utf8_valid(submission->name))
        return REFUSE(INVALID, "The name must be text of at most %d bytes", SUBMIT_NAME_MAX);
    if (submission->meta != NULL &&
        (submission->meta->type != VALUE_M || value_size(submission->meta) > SUBMIT_META_MAX))
        return REFUSE(INVALID, "The metadata must be a map of at most %d bytes", SUBMIT_META_MAX);
    if (submission->token.size > SUBMIT_TOKEN_MAX)
        return REFUSE(INVALID, "An idempotency key has at most %d bytes", SUBMIT_TOKEN_MAX);
    return OK;
}

static struct bytes number_as_text(struct bytes number, struct arena *arena) {
    char text[NUMBER_MAX_TEXT];
    return arena_copy(arena, bytes_of(text, number_text(number, text)));
}

/* Where scores add up the limits are those of the sum, which the commit checks. A score that is
 * submitted to a game may have a subscore that only some of its boards keep. */
static enum status check_score(const struct submission *submission, const struct board *board,
                               struct scope in) {
    const struct board_rules *rules = &board->rules;
    struct bytes score = submission->score;
    if (submission->game.size == 0 && submission->subscore.size != 0 && !rules->subscores &&
        !rules->plain && rules->source_count == 0)
        return REFUSE(INVALID, "Board %.*s has no subscores", BYTES_ARG(rules->id));
    if (rules->decimals >= 0 && entry_decimals(score) > rules->decimals)
        return REFUSE(INVALID, "Board %.*s takes scores with at most %d decimals",
                      BYTES_ARG(rules->id), rules->decimals);
    if (rules->keep == KEEP_SUM || rules->source_count != 0)
        return OK;
    if (rules->score_min.size != 0 && bytes_compare(score, rules->score_min) < 0)
        return REFUSE(INVALID, "Board %.*s takes no scores under %.*s", BYTES_ARG(rules->id),
                      BYTES_ARG(number_as_text(rules->score_min, in.arena)));
    if (rules->score_max.size != 0 && bytes_compare(score, rules->score_max) > 0)
        return REFUSE(INVALID, "Board %.*s takes no scores over %.*s", BYTES_ARG(rules->id),
                      BYTES_ARG(number_as_text(rules->score_max, in.arena)));
    return OK;
}

/* A cross-game board leaves this to its sources. */
static enum status check_play_age(const struct board_rules *rules, const struct play *play,
                                  int64_t now_ms, struct scope in) {
    int64_t life_s = rules->play_life_s != 0 ? rules->play_life_s : BOARD_PLAY_LIFE_S;
    int64_t age_ms = now_ms - play->started_ms;
    if (rules->source_count != 0 || age_ms <= life_s * 1000)
        return OK;
    return REFUSE(DENIED,
                  "The play began %lld seconds ago: board %.*s takes the token of a play for %lld "
                  "seconds",
                  (long long)(age_ms / 1000), BYTES_ARG(rules->id), (long long)life_s);
}

static enum status check_play(const struct submit_attempt *attempt, const struct board_rules *rules,
                              struct scope in) {
    const struct submission *submission = attempt->submission;
    const struct play *play = attempt->play;
    int64_t now_ms = attempt->now_ms;
    if (play == NULL)
        return rules->needs_play
                   ? REFUSE(DENIED, "Board %.*s takes scores only with the token of a play session",
                            BYTES_ARG(rules->id))
                   : OK;
    if (!bytes_equal(play->player, submission->player))
        return REFUSE(DENIED, "The play session is of another player");
    if (rules->source_count == 0 && rules->game.size != 0 && !bytes_equal(play->game, rules->game))
        return REFUSE(DENIED, "The play session is of game %.*s, and board %.*s of game %.*s",
                      BYTES_ARG(play->game), BYTES_ARG(rules->id), BYTES_ARG(rules->game));
    if (now_ms - play->started_ms < rules->play_min_ms)
        return REFUSE(DENIED,
                      "The play lasted %lld ms: board %.*s takes scores of plays of at least "
                      "%lld ms",
                      (long long)(now_ms - play->started_ms), BYTES_ARG(rules->id),
                      (long long)rules->play_min_ms);
    if (rules->play_score_max.size != 0 &&
        bytes_compare(submission->score, rules->play_score_max) > 0)
        return REFUSE(DENIED, "One play can bring at most %.*s on board %.*s",
                      BYTES_ARG(number_as_text(rules->play_score_max, in.arena)),
                      BYTES_ARG(rules->id));
    return check_play_age(rules, play, now_ms, in);
}

/* "room:CODE", in which the player has a seat. Of no other scope is it known who is in it. */
static enum status check_in_scope(const struct submit_attempt *attempt, struct bytes scope,
                                  struct scope in) {
    struct bytes prefix = BYTES("room:");
    bool seated = false;
    enum status status = OK;
    if (bytes_starts(scope, prefix)) {
        struct room_seat_name seat = {.game = attempt->game,
                                      .code = bytes_skip(scope, prefix.size),
                                      .player = attempt->submission->player};
        status = room_seat_is_taken(&seat, in, &seated);
    }
    if (status != OK || seated)
        return status;
    return REFUSE(DENIED,
                  "A player submits for rooms in which it has a seat, and %.*s is none: the game's "
                  "server submits for it",
                  BYTES_ARG(scope));
}

/* What players must not decide themselves: the scores of matches, and whose board they are on. */
static enum status check_player(const struct submit_attempt *attempt, const struct board *board,
                                struct scope in) {
    const struct board_rules *rules = &board->rules;
    if (!attempt->submission->by_player)
        return OK;
    if (rules->source_count == 0 && match_kind_named(rules->game) != NULL)
        return REFUSE(DENIED,
                      "Board %.*s has the scores of matches in rooms: a player does not submit to "
                      "it",
                      BYTES_ARG(rules->id));
    return board->scope.size == 0 ? OK : check_in_scope(attempt, board->scope, in);
}

enum status submit_check(const struct submit_attempt *attempt, const struct submit_targets *targets,
                         struct scope in) {
    enum status status = OK;
    for (size_t i = 0; i < targets->count && status == OK; i++) {
        const struct board *board = targets->all[i].board;
        status = check_player(attempt, board, in);
        if (status == OK)
            status = board_check_open(board, attempt->now_ms, in);
        if (status == OK)
            status = check_score(attempt->submission, board, in);
        if (status == OK)
            status = check_play(attempt, &board->rules, in);
    }
    return status;
}
