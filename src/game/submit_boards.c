/* The boards a submission counts for: those of its game, or one, in their present periods, for each
 * scope; and the cross-game boards that are made of them. */
#include "game/board_int.h"
#include "game/submit_int.h"

struct seeking {
    struct game *game;
    const struct submission *submission;
    struct arena *arena;
    struct failure *failure;
    struct submit_targets *out;
    bool *scope_used; /* for each scope of the submission */
};

static enum status add(struct seeking *seeking, const struct board *board,
                       struct submit_target **out) {
    struct submit_targets *targets = seeking->out;
    for (size_t i = 0; i < targets->count; i++)
        if (bytes_equal(targets->all[i].board->pk, board->pk)) {
            board_drop(board);
            *out = &targets->all[i];
            return OK;
        }
    if (targets->count == SUBMIT_BOARDS_MAX) {
        board_drop(board);
        return failure_set(seeking->failure, seeking->arena, LIMIT_EXCEEDED,
                           "A score can count for at most %d boards", SUBMIT_BOARDS_MAX);
    }
    *out = &targets->all[targets->count++];
    **out = (struct submit_target){.board = board};
    return OK;
}

/* Finds the board in a scope; *out is NULL where it has no period now and need not have one. */
static enum status find(struct seeking *seeking, const struct board_rules *rules,
                        struct bytes scope, struct bytes period, bool must,
                        struct submit_target **out) {
    struct board_name name = {.id = rules->id, .scope = scope, .period = period};
    const struct board *board;
    *out = NULL;
    enum status status = board_find(seeking->game, board_name_join(&name, seeking->arena),
                                    seeking->arena, seeking->failure, &board);
    if (status == INVALID && rules->timeframe == FRAME_SEASON && !must) {
        *seeking->failure = (struct failure){0};
        return OK;
    }
    return status == OK ? add(seeking, board, out) : status;
}

/* The cross-game boards that the board is a source of, in the same scope. */
static enum status add_feeds(struct seeking *seeking, const struct board *board) {
    for (uint32_t i = 0; i < board->rules.feed_count; i++) {
        struct submit_target *target;
        struct board_rules rules;
        enum status status = board_rules_get(seeking->game, board->rules.feeds[i], seeking->arena,
                                             seeking->failure, &rules);
        if (status == NOT_FOUND) { /* removed just now */
            *seeking->failure = (struct failure){0};
            continue;
        }
        if (status != OK)
            return status;
        if (!board_has_scope(&rules, board->scope))
            continue;
        status = find(seeking, &rules, board->scope, (struct bytes){0}, false, &target);
        if (status != OK)
            return status;
        if (target == NULL)
            continue;
        if (target->sources == NULL)
            target->sources = ARENA_ARRAY(seeking->arena, struct bytes, BOARD_SOURCES_MAX);
        if (target->source_count < BOARD_SOURCES_MAX)
            target->sources[target->source_count++] = board->rules.id;
    }
    return OK;
}

static enum status add_scope(struct seeking *seeking, const struct board_rules *rules,
                             struct bytes scope, struct bytes period, bool must) {
    struct submit_target *target;
    enum status status = find(seeking, rules, scope, period, must, &target);
    return status == OK && target != NULL ? add_feeds(seeking, target->board) : status;
}

/* A board in all scopes that it is kept for. */
static enum status add_board(struct seeking *seeking, const struct board_rules *rules,
                             struct bytes period, bool must) {
    const struct submission *submission = seeking->submission;
    enum status status = OK;
    if (rules->source_count != 0)
        return OK; /* its sources feed it */
    if (board_has_scope(rules, (struct bytes){0}))
        status = add_scope(seeking, rules, (struct bytes){0}, period, must);
    for (size_t i = 0; i < submission->scope_count && status == OK; i++) {
        if (!board_has_scope(rules, submission->scopes[i]))
            continue;
        seeking->scope_used[i] = true;
        status = add_scope(seeking, rules, submission->scopes[i], period, must);
    }
    return status;
}

static enum status add_game(struct seeking *seeking) {
    struct board_list list;
    struct bytes game = seeking->submission->game;
    enum status status = board_list(seeking->game, game, (struct bytes){0}, SUBMIT_BOARDS_MAX + 1,
                                    seeking->arena, seeking->failure, &list);
    if (status != OK)
        return status;
    if (list.count == 0)
        return failure_set(seeking->failure, seeking->arena, NOT_FOUND, "Game %.*s has no boards",
                           BYTES_ARG(game));
    if (list.count > SUBMIT_BOARDS_MAX)
        return failure_set(seeking->failure, seeking->arena, LIMIT_EXCEEDED,
                           "A score can count for at most %d boards", SUBMIT_BOARDS_MAX);
    for (size_t i = 0; i < list.count && status == OK; i++)
        status = add_board(seeking, &list.boards[i], (struct bytes){0}, false);
    if (status == OK && seeking->out->count == 0)
        return failure_set(seeking->failure, seeking->arena, INVALID,
                           "No board of game %.*s has a period at present", BYTES_ARG(game));
    return status;
}

/* One board by its id; a plain one must be there. */
static enum status add_one(struct seeking *seeking) {
    const struct submission *submission = seeking->submission;
    struct board_rules rules = {0};
    struct submit_target *target;
    const struct board *board;
    enum status status = NOT_FOUND;
    if (board_is_id(submission->board))
        status = board_rules_get(seeking->game, submission->board, seeking->arena, seeking->failure,
                                 &rules);
    if (status == OK && rules.source_count != 0)
        return failure_set(seeking->failure, seeking->arena, INVALID,
                           "Board %.*s is made of other boards: submit to one of them",
                           BYTES_ARG(submission->board));
    if (status == OK)
        return add_board(seeking, &rules, submission->period, true);
    if (status != NOT_FOUND)
        return status;
    status = board_find_part(seeking->game, submission->board, (struct bytes){0},
                             submission->period, seeking->arena, seeking->failure, &board);
    return status == OK ? add(seeking, board, &target) : status;
}

static enum status check_scopes(const struct seeking *seeking) {
    const struct submission *submission = seeking->submission;
    for (size_t i = 0; i < submission->scope_count; i++)
        if (!seeking->scope_used[i])
            return failure_set(seeking->failure, seeking->arena, INVALID,
                               "No board that the score counts for is kept for scope %.*s",
                               BYTES_ARG(submission->scopes[i]));
    return OK;
}

enum status submit_find_boards(struct game *game, const struct submission *submission,
                               struct arena *arena, struct failure *failure,
                               struct submit_targets *out) {
    struct seeking seeking = {.game = game,
                              .submission = submission,
                              .arena = arena,
                              .failure = failure,
                              .out = out,
                              .scope_used = ARENA_ARRAY(arena, bool, SUBMIT_SCOPES_MAX + 1)};
    *out =
        (struct submit_targets){.all = ARENA_ARRAY(arena, struct submit_target, SUBMIT_BOARDS_MAX)};
    enum status status = submission->board.size != 0 ? add_one(&seeking) : add_game(&seeking);
    return status == OK ? check_scopes(&seeking) : status;
}
