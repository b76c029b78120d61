/* The boards that matches score on: for each kind the best of the day, of the week and of all time,
 * and for each room what its matches add up to. */
#include "game/board.h"
#include "game/match.h"

static const struct {
    const char *name, *title;
    enum timeframe timeframe;
    enum keep keep;
    const char *scope;
} list[] = {
    {"daily", "today", FRAME_DAILY, KEEP_BEST, "global"},
    {"weekly", "this week", FRAME_WEEKLY, KEEP_BEST, "global"},
    {"all", "of all time", FRAME_ALL, KEEP_BEST, "global"},
    {"room", "in this room", FRAME_ALL, KEEP_SUM, "room"},
};

static enum status define(struct game *game, const struct match_kind *kind, size_t i,
                          struct arena *arena, struct failure *failure) {
    struct bytes scope = bytes_str(list[i].scope);
    struct board_rules rules = {
        .id = arena_printf(arena, "%s:%s", kind->name, list[i].name),
        .title = arena_printf(arena, "%s, %s", kind->title, list[i].title),
        .game = bytes_str(kind->name),
        .timeframe = list[i].timeframe,
        .keep = list[i].keep,
        .ranking = RANK_COMPETITION,
        .scopes = &scope,
        .scope_count = 1,
        .decimals = 0,
    };
    struct change change = {.arena = arena};
    enum status status = board_define_prepare(game, &rules, true, &change, failure);
    if (status == OK) {
        status = game_wait(game, &change);
        *failure = change.failure;
    }
    return status;
}

enum status match_boards(struct game *game, struct arena *arena, struct failure *failure) {
    const struct match_kind *kind;
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;)
        for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
            struct board_rules there;
            struct bytes id = arena_printf(arena, "%s:%s", kind->name, list[i].name);
            enum status status = board_rules_get(game, id, arena, failure, &there);
            if (status == NOT_FOUND)
                status = define(game, kind, i, arena, failure);
            if (status != OK && status != DUPLICATE) /* another server may be as quick */
                return status;
        }
    *failure = (struct failure){0};
    return OK;
}
