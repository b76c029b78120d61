/* The list of all kinds of games: a new one is added to KINDS. The first is the default.
 * And the boards of all kinds. */
#include "game/room/match.h"

#define KINDS(EACH) EACH(kauwa_udd_kind) EACH(snakes_kind) EACH(four_kind)

#define DECLARE(kind) extern const struct match_kind kind;
#define ADDRESS(kind) &(kind),
KINDS(DECLARE)
static const struct match_kind *const kinds[] = {KINDS(ADDRESS)};

const struct match_kind *match_kind_next(size_t *at) {
    return *at < sizeof(kinds) / sizeof(*kinds) ? kinds[(*at)++] : NULL;
}

const struct match_kind *match_kind_named(struct bytes name) {
    const struct match_kind *kind;
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;)
        if (bytes_equal(name, bytes_str(kind->name)))
            return kind;
    return NULL;
}

enum status match_kinds_prepare(struct game *game, struct scope in) {
    const struct match_kind *kind;
    enum status status = OK;
    for (size_t at = 0; status == OK && (kind = match_kind_next(&at)) != NULL;)
        if (kind->seed != NULL)
            status = kind->seed(game, in);
    return status == OK ? match_boards(game, in) : status;
}

/* --- the boards that matches score on --- */

const struct match_board match_boards_usual[] = {
    {"daily", "today", FRAME_DAILY, KEEP_BEST, "global"},
    {"weekly", "this week", FRAME_WEEKLY, KEEP_BEST, "global"},
    {"all", "of all time", FRAME_ALL, KEEP_BEST, "global"},
    {"room", "in this room", FRAME_ALL, KEEP_SUM, "room"},
    {0},
};

static struct bytes board_id(const struct match_kind *kind, const struct match_board *board,
                             struct arena *arena) {
    return arena_printf(arena, "%s:%s", kind->name, board->name);
}

static enum status define_board(struct game *game, const struct board_rules *rules,
                                struct scope in) {
    struct change change = {.arena = in.arena};
    enum status status = board_define_prepare(game, rules, true, &change);
    if (status == OK)
        status = game_wait(game, &change);
    *in.failure = change.failure;
    return status;
}

/* The rules of a kind's board; they borrow `scope`. */
static struct board_rules rules_of(const struct match_kind *kind, const struct match_board *board,
                                   const struct bytes *scope, struct arena *arena) {
    return (struct board_rules){
        .id = board_id(kind, board, arena),
        .title = arena_printf(arena, "%s, %s", kind->title.en, board->title),
        .game = bytes_str(kind->name),
        .timeframe = board->timeframe,
        .keep = board->keep,
        .ranking = RANK_COMPETITION,
        .scopes = scope,
        .scope_count = 1,
        .decimals = 0,
    };
}

static enum status define_boards(struct game *game, const struct match_kind *kind,
                                 struct scope in) {
    for (const struct match_board *board = kind->boards; board->name != NULL; board++) {
        struct bytes scope = bytes_str(board->scope);
        struct board_rules there, rules = rules_of(kind, board, &scope, in.arena);
        enum status status = board_rules_get(game, rules.id, in, &there);
        if (status == NOT_FOUND)
            status = define_board(game, &rules, in);
        /* DUPLICATE: another server was faster. A definition that cannot be read is skipped: it
         * stops only the scores of its own board. */
        if (status != OK && status != DUPLICATE &&
            !board_walk_skips(game, rules.id, status, in.failure))
            return status;
    }
    return OK;
}

enum status match_boards(struct game *game, struct scope in) {
    const struct match_kind *kind;
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;) {
        enum status status = define_boards(game, kind, in);
        if (status != OK)
            return status;
    }
    *in.failure = (struct failure){0};
    return OK;
}
