/* A board's rules: the words of their enums, the item of a definition, and checking those that a
 * client sent. */
#include "base/utf8.h"
#include "game/board/board_int.h"
#include "game/record.h"
#include "value/number.h"

/* --- the words of the enums --- */

static int find_word(const char *const *names, int count, struct bytes name) {
    for (int i = 0; i < count; i++)
        if (bytes_equal(name, bytes_str(names[i])))
            return i;
    return -1;
}

#define COUNT(names) ((int)(sizeof(names) / sizeof((names)[0])))

static const char *const orders[] = {"high", "low"};
static const char *const keeps[] = {"best", "latest", "sum", "first"};
static const char *const ties[] = {"earliest", "member"};
static const char *const rankings[] = {"ordinal", "competition", "dense"};
static const char *const combines[] = {"sum", "best"};

const char *order_name(enum order order) {
    return orders[order];
}
const char *keep_name(enum keep keep) {
    return keeps[keep];
}
const char *tie_name(enum tie tie) {
    return ties[tie];
}
const char *ranking_name(enum ranking rank) {
    return rankings[rank];
}
const char *combine_name(enum combine how) {
    return combines[how];
}

int order_named(struct bytes name) {
    return find_word(orders, COUNT(orders), name);
}
int keep_named(struct bytes name) {
    return find_word(keeps, COUNT(keeps), name);
}
int tie_named(struct bytes name) {
    return find_word(ties, COUNT(ties), name);
}
int ranking_named(struct bytes name) {
    return find_word(rankings, COUNT(rankings), name);
}
int combine_named(struct bytes name) {
    return find_word(combines, COUNT(combines), name);
}

/* --- rules as an item --- */

static struct value season_value(const struct season *season, struct arena *arena) {
    struct record record = record_of(arena);
    record_string(&record, BYTES("name"), season->name);
    record_int(&record, BYTES("startsAt"), season->starts_ms);
    record_int(&record, BYTES("endsAt"), season->ends_ms);
    struct item item = record_item(&record);
    return (struct value){.type = VALUE_M, .count = item.count, .pairs = item.pairs};
}

static void put_seasons(struct record *record, const struct board_rules *rules) {
    if (rules->season_count == 0)
        return;
    struct value *elements = ARENA_ARRAY(record->arena, struct value, rules->season_count);
    for (uint32_t i = 0; i < rules->season_count; i++)
        elements[i] = season_value(&rules->seasons[i], record->arena);
    struct value list = {.type = VALUE_L, .count = rules->season_count, .elements = elements};
    record_value(record, BYTES("seasons"), &list);
}

static void put_definition_keys(struct record *record, const struct board_rules *rules) {
    struct arena *arena = record->arena;
    record_string(record, GAME_PK, arena_printf(arena, BOARDDEF "%.*s", BYTES_ARG(rules->id)));
    record_string(record, GAME_SK, BYTES("META"));
    record_string(record, BYTES("GSI1PK"), BYTES("BOARDS"));
    record_string(record, BYTES("GSI1SK"), rules->id);
    record_string(record, BYTES("GSI2PK"),
                  arena_printf(arena, "GAME#%.*s", BYTES_ARG(rules->game)));
    record_string(record, BYTES("GSI2SK"), arena_printf(arena, "BOARD#%.*s", BYTES_ARG(rules->id)));
}

static void put_fairness(struct record *record, const struct board_rules *rules) {
    record_flag(record, BYTES("needsPlay"), rules->needs_play);
    if (rules->play_min_ms != 0)
        record_int(record, BYTES("playMinMs"), rules->play_min_ms);
    if (rules->play_life_s != 0)
        record_int(record, BYTES("playLifeSeconds"), rules->play_life_s);
    record_number(record, BYTES("playScoreMax"), rules->play_score_max);
}

struct item board_rules_item(const struct board_rules *rules, struct arena *arena) {
    struct record record = record_of(arena);
    put_definition_keys(&record, rules);
    record_string(&record, BYTES("id"), rules->id);
    record_string(&record, BYTES("title"), rules->title);
    record_string(&record, BYTES("game"), rules->game);
    record_string(&record, BYTES("timeframe"), bytes_str(timeframe_name(rules->timeframe)));
    record_string(&record, BYTES("zone"), rules->zone);
    put_seasons(&record, rules);
    record_strings(&record, BYTES("scopes"), rules->scopes, rules->scope_count);
    record_string(&record, BYTES("order"), bytes_str(order_name(rules->order)));
    record_string(&record, BYTES("keep"), bytes_str(keep_name(rules->keep)));
    record_string(&record, BYTES("ties"), bytes_str(tie_name(rules->tie)));
    record_string(&record, BYTES("ranking"), bytes_str(ranking_name(rules->ranking)));
    record_number(&record, BYTES("scoreMin"), rules->score_min);
    record_number(&record, BYTES("scoreMax"), rules->score_max);
    if (rules->decimals >= 0)
        record_int(&record, BYTES("decimals"), rules->decimals);
    record_flag(&record, BYTES("subscores"), rules->subscores);
    if (rules->entry_life_s != 0)
        record_int(&record, BYTES("entryLife"), rules->entry_life_s);
    if (rules->period_life_s != 0)
        record_int(&record, BYTES("periodLife"), rules->period_life_s);
    put_fairness(&record, rules);
    record_strings(&record, BYTES("sources"), rules->sources, rules->source_count);
    if (rules->source_count != 0)
        record_string(&record, BYTES("combine"), bytes_str(combine_name(rules->combine)));
    record_int(&record, BYTES("createdAt"), rules->created_ms);
    record_int(&record, BYTES("changedAt"), rules->changed_ms);
    return record_item(&record);
}

/* --- rules out of an item --- */

struct reading {
    const struct item *item;
    struct arena *arena;
    struct failure *failure;
    enum status status;
};

static enum status refuse_attribute(struct reading *reading, struct bytes name, const char *what) {
    reading->status =
        failure_set(reading->failure, reading->arena, INVALID, "%.*s %s", BYTES_ARG(name), what);
    return INVALID;
}

/* Reads the word of an enum; `other` if the item has no such attribute. */
static int read_word(struct reading *reading, struct bytes name, int (*named)(struct bytes),
                     int other) {
    const struct value *value = item_get(reading->item, name);
    if (value == NULL || reading->status != OK)
        return other;
    int word = value->type == VALUE_S ? named(value->bytes) : -1;
    if (word < 0)
        refuse_attribute(reading, name, "is none of the words it can be");
    return word < 0 ? other : word;
}

static int64_t read_int(struct reading *reading, struct bytes name, int64_t other) {
    const struct value *value = item_get(reading->item, name);
    int64_t number;
    if (value == NULL || reading->status != OK)
        return other;
    if (value->type == VALUE_N && number_to_int(value->bytes, &number))
        return number;
    refuse_attribute(reading, name, "is not an integer");
    return other;
}

static struct bytes read_bytes(struct reading *reading, struct bytes name, enum value_type type) {
    const struct value *value = item_get(reading->item, name);
    if (value == NULL || reading->status != OK)
        return (struct bytes){0};
    if (value->type == type)
        return value->bytes;
    refuse_attribute(reading, name, type == VALUE_S ? "is not a string" : "is not a number");
    return (struct bytes){0};
}

static const struct bytes *read_texts(struct reading *reading, struct bytes name, uint32_t *count) {
    const struct value *value = item_get(reading->item, name);
    const struct bytes *texts = item_strings(reading->item, name, reading->arena, count);
    if (value != NULL && reading->status == OK &&
        (value->type != VALUE_L || *count != value->count))
        refuse_attribute(reading, name, "is not a list of strings");
    return texts;
}

static void read_seasons(struct reading *reading, struct board_rules *rules) {
    const struct value *value = item_get(reading->item, BYTES("seasons"));
    if (value == NULL || reading->status != OK)
        return;
    if (value->type != VALUE_L) {
        refuse_attribute(reading, BYTES("seasons"), "is not a list");
        return;
    }
    struct season *seasons = ARENA_ARRAY(reading->arena, struct season, value->count);
    for (uint32_t i = 0; i < value->count; i++) {
        const struct value *map = &value->elements[i];
        struct item season = {map->type == VALUE_M ? map->pairs : NULL,
                              map->type == VALUE_M ? map->count : 0};
        struct reading inner = {&season, reading->arena, reading->failure, OK};
        seasons[i].name = read_bytes(&inner, BYTES("name"), VALUE_S);
        seasons[i].starts_ms = read_int(&inner, BYTES("startsAt"), 0);
        seasons[i].ends_ms = read_int(&inner, BYTES("endsAt"), 0);
        if (inner.status != OK)
            reading->status = inner.status;
    }
    rules->seasons = seasons;
    rules->season_count = value->count;
}

static void read_words(struct reading *reading, struct board_rules *rules) {
    rules->timeframe =
        (enum timeframe)read_word(reading, BYTES("timeframe"), timeframe_named, FRAME_ALL);
    rules->order = (enum order)read_word(reading, BYTES("order"), order_named, ORDER_HIGH);
    rules->keep = (enum keep)read_word(reading, BYTES("keep"), keep_named, KEEP_BEST);
    rules->tie = (enum tie)read_word(reading, BYTES("ties"), tie_named, TIE_EARLIEST);
    rules->ranking =
        (enum ranking)read_word(reading, BYTES("ranking"), ranking_named, RANK_ORDINAL);
    rules->combine = (enum combine)read_word(reading, BYTES("combine"), combine_named, COMBINE_SUM);
}

enum status board_rules_read(const struct item *item, struct scope in, struct board_rules *out) {
    struct reading reading = {item, in.arena, in.failure, OK};
    struct board_rules rules = {0};
    rules.id = read_bytes(&reading, BYTES("id"), VALUE_S);
    rules.title = read_bytes(&reading, BYTES("title"), VALUE_S);
    rules.game = read_bytes(&reading, BYTES("game"), VALUE_S);
    rules.zone = read_bytes(&reading, BYTES("zone"), VALUE_S);
    read_words(&reading, &rules);
    read_seasons(&reading, &rules);
    rules.scopes = read_texts(&reading, BYTES("scopes"), &rules.scope_count);
    rules.score_min = read_bytes(&reading, BYTES("scoreMin"), VALUE_N);
    rules.score_max = read_bytes(&reading, BYTES("scoreMax"), VALUE_N);
    int64_t decimals = read_int(&reading, BYTES("decimals"), -1);
    rules.decimals = decimals < -1 || decimals > LIMIT_DIGITS ? LIMIT_DIGITS : (int)decimals;
    rules.subscores = item_bool(item, BYTES("subscores"));
    rules.entry_life_s = read_int(&reading, BYTES("entryLife"), 0);
    rules.period_life_s = read_int(&reading, BYTES("periodLife"), 0);
    rules.needs_play = item_bool(item, BYTES("needsPlay"));
    rules.play_min_ms = read_int(&reading, BYTES("playMinMs"), 0);
    rules.play_life_s = read_int(&reading, BYTES("playLifeSeconds"), 0);
    rules.play_score_max = read_bytes(&reading, BYTES("playScoreMax"), VALUE_N);
    rules.sources = read_texts(&reading, BYTES("sources"), &rules.source_count);
    rules.created_ms = read_int(&reading, BYTES("createdAt"), 0);
    rules.changed_ms = read_int(&reading, BYTES("changedAt"), 0);
    if (reading.status == OK)
        *out = rules;
    return reading.status;
}

/* --- checking rules that a client sent --- */

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
    enum status status =
        board_timing(game, rules, (struct scope){checking->arena, checking->failure}, &timing);
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
        return REFUSE(checking, "entryLifeSeconds must be 0 to %lld seconds",
                      (long long)BOARD_LIFE_MAX);
    if (rules->period_life_s < 0 || rules->period_life_s > BOARD_LIFE_MAX)
        return REFUSE(checking, "periodLifeSeconds must be 0 to %lld seconds",
                      (long long)BOARD_LIFE_MAX);
    if (rules->play_min_ms < 0)
        return REFUSE(checking, "playMinMs must not be negative");
    if (rules->play_life_s < 0 || rules->play_life_s > BOARD_LIFE_MAX)
        return REFUSE(checking, "playLifeSeconds must be 1 to %lld", (long long)BOARD_LIFE_MAX);
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
                              struct scope in) {
    struct checking checking = {rules, in.arena, in.failure};
    enum status status = check_names(&checking);
    if (status == OK)
        status = check_timing(&checking, game);
    if (status == OK)
        status = check_scopes(&checking);
    if (status == OK)
        status = check_scores(&checking);
    return status == OK ? check_sources(&checking) : status;
}
