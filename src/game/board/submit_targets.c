/* Finding the boards that a submission counts for: one, or all of a game, in their present periods
 * and each of the scopes; and the cross-game boards that these feed. */
#include "base/limits.h"
#include "base/map.h"
#include "game/board/board_int.h"
#include "game/board/submit_int.h"

struct target_search {
    struct game *game;
    const struct submission *submission;
    struct arena *arena;
    struct failure *failure;
    struct submit_targets *out;
    struct map by_pk; /* the targets found, by the board's pk */
    bool *scope_used; /* for each scope of the submission: some board has it */
};

static enum status refuse_many(const struct target_search *search) {
    struct bytes game = search->submission->game;
    return failure_set(search->failure, search->arena, LIMIT_EXCEEDED,
                       "A score can count for at most %d boards, each scope of a board being one: "
                       "%s%.*s has more",
                       LIMIT_SUBMIT_BOARDS, game.size != 0 ? "game " : "this one", BYTES_ARG(game));
}

static enum status add_target(struct target_search *search, const struct board *board,
                              struct submit_target **out) {
    struct submit_targets *targets = search->out;
    *out = map_get(&search->by_pk, board->pk);
    if (*out != NULL || targets->count == LIMIT_SUBMIT_BOARDS) {
        board_drop(board);
        return *out != NULL ? OK : refuse_many(search);
    }
    *out = &targets->all[targets->count++];
    **out = (struct submit_target){.board = board};
    map_put(&search->by_pk, board->pk, *out);
    return OK;
}

/* An instance that the score is to count for. */
struct wanted_instance {
    const struct board_rules *rules;
    struct bytes scope, period; /* as in struct board_name */
    /* It is refused if the board has no season now, or one that was sealed before its end; else
     * passed over. */
    bool must;
};

/* Sealed by somebody, not at its end: until the next period begins, it is like between seasons. */
static bool was_cut_short(const struct board *board) {
    return board->sealed_ms != 0 && board->sealed_ms < board->period.ends_ms;
}

/* Finds the instance; *out is NULL where it is passed over. */
static enum status find_target(struct target_search *search, const struct wanted_instance *wanted,
                               struct submit_target **out) {
    struct board_name name = {
        .id = wanted->rules->id, .scope = wanted->scope, .period = wanted->period};
    const struct board *board;
    *out = NULL;
    enum status status = board_find(search->game, board_name_join(&name, search->arena),
                                    (struct scope){search->arena, search->failure}, &board);
    if (status == INVALID && wanted->rules->timeframe == FRAME_SEASON && !wanted->must) {
        *search->failure = (struct failure){0};
        return OK;
    }
    if (status == OK && !wanted->must && was_cut_short(board)) {
        board_drop(board);
        return OK;
    }
    return status == OK ? add_target(search, board, out) : status;
}

/* Adds the source once: twice, its score would count twice. */
static void add_source(struct submit_target *target, struct bytes id, struct arena *arena) {
    if (target->sources == NULL)
        target->sources = ARENA_ARRAY(arena, struct bytes, BOARD_SOURCES_MAX);
    for (size_t i = 0; i < target->source_count; i++)
        if (bytes_equal(target->sources[i], id))
            return;
    if (target->source_count < BOARD_SOURCES_MAX)
        target->sources[target->source_count++] = id;
}

/* Adds the cross-game boards that the board is a source of, in the same scope. */
static enum status add_feeds(struct target_search *search, const struct board *board) {
    for (uint32_t i = 0; i < board->rules.feed_count; i++) {
        struct submit_target *target;
        struct board_rules rules;
        enum status status =
            board_rules_get(search->game, board->rules.feeds[i],
                            (struct scope){search->arena, search->failure}, &rules);
        /* Removed meanwhile, or unusable: it is left out. */
        if (status != OK &&
            board_walk_skips(search->game, board->rules.feeds[i], status, search->failure)) {
            *search->failure = (struct failure){0};
            continue;
        }
        if (status != OK)
            return status;
        if (!board_has_scope(&rules, board->scope))
            continue;
        struct wanted_instance wanted = {.rules = &rules, .scope = board->scope};
        status = find_target(search, &wanted, &target);
        if (status != OK)
            return status;
        if (target != NULL)
            add_source(target, board->rules.id, search->arena);
    }
    return OK;
}

static enum status add_instance(struct target_search *search,
                                const struct wanted_instance *wanted) {
    struct submit_target *target;
    enum status status = find_target(search, wanted, &target);
    return status == OK && target != NULL ? add_feeds(search, target->board) : status;
}

/* Adds a board in all scopes of the submission that it has. */
static enum status add_board_scopes(struct target_search *search, const struct board_rules *rules,
                                    struct bytes period, bool must) {
    const struct submission *submission = search->submission;
    struct wanted_instance wanted = {
        .rules = rules, .scope = submission->scope, .period = period, .must = must};
    enum status status = OK;
    if (rules->source_count != 0)
        return OK; /* its sources feed it */
    if (submission->scope.size != 0 || board_has_scope(rules, submission->scope))
        status = add_instance(search, &wanted);
    for (size_t i = 0; i < submission->scope_count && status == OK; i++) {
        if (!board_has_scope(rules, submission->scopes[i]))
            continue;
        search->scope_used[i] = true;
        wanted.scope = submission->scopes[i];
        status = add_instance(search, &wanted);
    }
    return status;
}

static enum status add_boards_of_game(struct target_search *search) {
    struct board_list list;
    struct bytes game = search->submission->game;
    struct list_range range = {.of = game, .limit = LIMIT_SUBMIT_BOARDS + 1};
    enum status status =
        board_list(search->game, &range, (struct scope){search->arena, search->failure}, &list);
    if (status != OK)
        return status;
    if (list.count == 0)
        return failure_set(search->failure, search->arena, NOT_FOUND, "Game %.*s has no boards",
                           BYTES_ARG(game));
    if (list.count > LIMIT_SUBMIT_BOARDS)
        return refuse_many(search);
    for (size_t i = 0; i < list.count && status == OK; i++)
        status = add_board_scopes(search, &list.boards[i], (struct bytes){0}, false);
    if (status == OK && search->out->count == 0)
        return failure_set(search->failure, search->arena, INVALID,
                           "No board of game %.*s has a period at present", BYTES_ARG(game));
    return status;
}

static enum status refuse_missing(const struct target_search *search) {
    return failure_set(search->failure, search->arena, NOT_FOUND, "There is no board %.*s",
                       BYTES_ARG(search->submission->board));
}

/* Adds one board by its id. A plain board is made by its first score. */
static enum status add_single_board(struct target_search *search) {
    const struct submission *submission = search->submission;
    struct board_rules rules = {0};
    struct submit_target *target;
    const struct board *board;
    enum status status = NOT_FOUND;
    if (board_is_id(submission->board))
        status = board_rules_get(search->game, submission->board,
                                 (struct scope){search->arena, search->failure}, &rules);
    if (status == OK && rules.source_count != 0)
        return failure_set(search->failure, search->arena, INVALID,
                           "Board %.*s is made of other boards: submit to one of them",
                           BYTES_ARG(submission->board));
    if (status == OK)
        return add_board_scopes(search, &rules, submission->period, true);
    if (status != NOT_FOUND)
        return status;
    if (submission->period.size != 0)
        return refuse_missing(search);
    status = board_find(search->game, submission->board,
                        (struct scope){search->arena, search->failure}, &board);
    if (status != OK)
        return status;
    if (submission->existing_only && !board_exists(search->game, board, search->arena)) {
        board_drop(board);
        return refuse_missing(search);
    }
    return add_target(search, board, &target);
}

static enum status check_scopes_used(const struct target_search *search) {
    const struct submission *submission = search->submission;
    for (size_t i = 0; i < submission->scope_count; i++)
        if (!search->scope_used[i])
            return failure_set(search->failure, search->arena, INVALID,
                               "No board that the score counts for is kept for scope %.*s",
                               BYTES_ARG(submission->scopes[i]));
    return OK;
}

enum status submit_find_targets(struct game *game, const struct submission *submission,
                                struct scope in, struct submit_targets *out) {
    struct target_search search = {.game = game,
                                   .submission = submission,
                                   .arena = in.arena,
                                   .failure = in.failure,
                                   .out = out,
                                   .scope_used =
                                       ARENA_ARRAY(in.arena, bool, SUBMIT_SCOPES_MAX + 1)};
    *out = (struct submit_targets){
        .all = ARENA_ARRAY(in.arena, struct submit_target, LIMIT_SUBMIT_BOARDS)};
    enum status status =
        submission->board.size != 0 ? add_single_board(&search) : add_boards_of_game(&search);
    map_release(&search.by_pk);
    return status == OK ? check_scopes_used(&search) : status;
}
