/* Whether rules can be. */
#include "base/utf8.h"
#include "game/board_int.h"

struct checking {
    const struct board_rules *rules;
    struct arena *arena;
    struct failure *failure;
};

#define REFUSE(checking, ...) \
    failure_set((checking)->failure, (checking)->arena, INVALID, __VA_ARGS__)

static enum status check_names(const struct checking *checking) {
    const struct board_rules *rules = checking->rules;
    if (!board_is_id(rules->id))
        return REFUSE(checking, "id must be 1 to %d of A-Z a-z 0-9 _ . : -", BOARD_ID_MAX);
    if (rules->title.size > BOARD_TITLE_MAX || !utf8_valid(rules->title))
        return REFUSE(checking, "title must be text of at most %d bytes", BOARD_TITLE_MAX);
    if (rules->game.size > BOARD_ID_MAX || !utf8_valid(rules->game))
        return REFUSE(checking, "game must be text of at most %d bytes", BOARD_ID_MAX);
    return OK;
}

static enum status check_season(const struct checking *checking, uint32_t at) {
    const struct season *seasons = checking->rules->seasons, *season = &seasons[at];
    if (!board_is_id(season->name))
        return REFUSE(checking, "seasons: a name must be 1 to %d of A-Z a-z 0-9 _ . : -",
                      BOARD_ID_MAX);
    if (season->starts_ms < 0 || season->starts_ms >= season->ends_ms)
        return REFUSE(checking, "seasons: %.*s must end after it starts", BYTES_ARG(season->name));
    if (at > 0 && season->starts_ms < seasons[at - 1].ends_ms)
        return REFUSE(checking, "seasons: %.*s must start after %.*s has ended",
                      BYTES_ARG(season->name), BYTES_ARG(seasons[at - 1].name));
    for (uint32_t i = 0; i < at; i++)
        if (bytes_equal(seasons[i].name, season->name))
            return REFUSE(checking, "seasons: there are two of the name %.*s",
                          BYTES_ARG(season->name));
    return OK;
}

static enum status check_timing(const struct checking *checking, const struct game *game) {
    const struct board_rules *rules = checking->rules;
    struct timing timing;
    enum status status = board_timing(game, rules, checking->arena, checking->failure, &timing);
    if (status != OK)
        return status;
    if (rules->timeframe == FRAME_SEASON && rules->season_count == 0)
        return REFUSE(checking, "seasons: a board by seasons must have at least one");
    if (rules->timeframe != FRAME_SEASON && rules->season_count != 0)
        return REFUSE(checking, "seasons: only a board with the timeframe season has them");
    if (rules->season_count > BOARD_SEASONS_MAX)
        return REFUSE(checking, "seasons: at most %d can be", BOARD_SEASONS_MAX);
    for (uint32_t i = 0; i < rules->season_count && status == OK; i++)
        status = check_season(checking, i);
    return status;
}

static enum status check_scopes(const struct checking *checking) {
    const struct board_rules *rules = checking->rules;
    if (rules->scope_count > BOARD_SCOPES_MAX)
        return REFUSE(checking, "scopes: at most %d can be", BOARD_SCOPES_MAX);
    for (uint32_t i = 0; i < rules->scope_count; i++) {
        struct bytes kind = rules->scopes[i];
        if (bytes_equal(kind, BYTES("*")))
            continue;
        if (!board_is_id(kind) || memchr(kind.data, ':', kind.size) != NULL)
            return REFUSE(checking,
                          "scopes: each is \"global\", \"*\", or a kind of 1 to %d of A-Z a-z 0-9 "
                          "_ . -",
                          BOARD_ID_MAX);
    }
    return OK;
}

static enum status check_scores(const struct checking *checking) {
    const struct board_rules *rules = checking->rules;
    if (rules->score_min.size != 0 && rules->score_max.size != 0 &&
        bytes_compare(rules->score_min, rules->score_max) > 0)
        return REFUSE(checking, "scoreMin must not be greater than scoreMax");
    if (rules->decimals < -1 || rules->decimals >= LIMIT_DIGITS)
        return REFUSE(checking, "decimals must be 0 to %d", LIMIT_DIGITS - 1);
    if (rules->entry_life_s < 0 || rules->entry_life_s > BOARD_LIFE_MAX)
        return REFUSE(checking, "entryLife must be 0 to %lld seconds", (long long)BOARD_LIFE_MAX);
    if (rules->period_life_s < 0 || rules->period_life_s > BOARD_LIFE_MAX)
        return REFUSE(checking, "periodLife must be 0 to %lld seconds", (long long)BOARD_LIFE_MAX);
    if (rules->play_min_ms < 0)
        return REFUSE(checking, "playMinMs must not be negative");
    if (!rules->needs_play && (rules->play_min_ms != 0 || rules->play_score_max.size != 0))
        return REFUSE(checking, "playMinMs and playScoreMax are for boards with needsPlay");
    return OK;
}

static enum status check_sources(const struct checking *checking) {
    const struct board_rules *rules = checking->rules;
    if (rules->source_count > BOARD_SOURCES_MAX)
        return REFUSE(checking, "sources: at most %d can be", BOARD_SOURCES_MAX);
    for (uint32_t i = 0; i < rules->source_count; i++) {
        if (!board_is_id(rules->sources[i]) || bytes_equal(rules->sources[i], rules->id))
            return REFUSE(checking, "sources: each is the id of another board");
        for (uint32_t j = 0; j < i; j++)
            if (bytes_equal(rules->sources[i], rules->sources[j]))
                return REFUSE(checking, "sources: %.*s is there twice",
                              BYTES_ARG(rules->sources[i]));
    }
    if (rules->source_count != 0 && rules->subscores)
        return REFUSE(checking, "subscores: a board made of others has none");
    if (rules->source_count != 0 && rules->needs_play)
        return REFUSE(checking, "needsPlay: a board made of others leaves that to them");
    return OK;
}

enum status board_rules_check(const struct game *game, const struct board_rules *rules,
                              struct arena *arena, struct failure *failure) {
    struct checking checking = {rules, arena, failure};
    enum status status = check_names(&checking);
    if (status == OK)
        status = check_timing(&checking, game);
    if (status == OK)
        status = check_scopes(&checking);
    if (status == OK)
        status = check_scores(&checking);
    return status == OK ? check_sources(&checking) : status;
}
