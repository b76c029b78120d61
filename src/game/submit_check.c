/* What a submission must be. */
#include "base/utf8.h"
#include "game/board_int.h"
#include "game/entry_int.h"
#include "game/play.h"
#include "game/submit_int.h"

#define REFUSE(status, ...) failure_set(failure, arena, status, __VA_ARGS__)

enum status submit_check_form(const struct submission *submission, struct arena *arena,
                              struct failure *failure) {
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

static struct bytes text_of(struct bytes number, struct arena *arena) {
    char text[NUMBER_MAX_TEXT];
    return arena_copy(arena, bytes_of(text, number_text(number, text)));
}

/* Of a sum it is the whole that has limits, which the commit sees to. */
static enum status check_score(const struct submission *submission, const struct board *board,
                               struct arena *arena, struct failure *failure) {
    const struct board_rules *rules = &board->rules;
    struct bytes score = submission->score;
    if (submission->subscore.size != 0 && !rules->subscores && !rules->plain &&
        rules->source_count == 0)
        return REFUSE(INVALID, "Board %.*s has no subscores", BYTES_ARG(rules->id));
    if (rules->decimals >= 0 && entry_decimals(score) > rules->decimals)
        return REFUSE(INVALID, "Board %.*s takes scores with at most %d decimals",
                      BYTES_ARG(rules->id), rules->decimals);
    if (rules->keep == KEEP_SUM || rules->source_count != 0)
        return OK;
    if (rules->score_min.size != 0 && bytes_compare(score, rules->score_min) < 0)
        return REFUSE(INVALID, "Board %.*s takes no scores under %.*s", BYTES_ARG(rules->id),
                      BYTES_ARG(text_of(rules->score_min, arena)));
    if (rules->score_max.size != 0 && bytes_compare(score, rules->score_max) > 0)
        return REFUSE(INVALID, "Board %.*s takes no scores over %.*s", BYTES_ARG(rules->id),
                      BYTES_ARG(text_of(rules->score_max, arena)));
    return OK;
}

static enum status check_play(const struct submission *submission, const struct board *board,
                              const struct play *play, int64_t now_ms, struct arena *arena,
                              struct failure *failure) {
    const struct board_rules *rules = &board->rules;
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
                      BYTES_ARG(text_of(rules->play_score_max, arena)), BYTES_ARG(rules->id));
    return OK;
}

enum status submit_check(const struct submission *submission, const struct submit_targets *targets,
                         const struct play *play, int64_t now_ms, struct arena *arena,
                         struct failure *failure) {
    enum status status = OK;
    for (size_t i = 0; i < targets->count && status == OK; i++) {
        const struct board *board = targets->all[i].board;
        status = board_check_open(board, now_ms, arena, failure);
        if (status == OK)
            status = check_score(submission, board, arena, failure);
        if (status == OK)
            status = check_play(submission, board, play, now_ms, arena, failure);
    }
    return status;
}
