/* A board's rules as an item, and back. */
#include "game/board_int.h"
#include "game/record.h"
#include "value/number.h"

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

static void put_keys(struct record *record, const struct board_rules *rules) {
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
    record_number(record, BYTES("playScoreMax"), rules->play_score_max);
}

struct item board_rules_item(const struct board_rules *rules, struct arena *arena) {
    struct record record = record_of(arena);
    put_keys(&record, rules);
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

/* --- reading --- */

struct reading {
    const struct item *item;
    struct arena *arena;
    struct failure *failure;
    enum status status;
};

static enum status refuse(struct reading *reading, struct bytes name, const char *what) {
    reading->status =
        failure_set(reading->failure, reading->arena, INVALID, "%.*s %s", BYTES_ARG(name), what);
    return INVALID;
}

/* A word out of a few; `other` if there is none. */
static int read_word(struct reading *reading, struct bytes name, int (*named)(struct bytes),
                     int other) {
    const struct value *value = item_get(reading->item, name);
    if (value == NULL || reading->status != OK)
        return other;
    int word = value->type == VALUE_S ? named(value->bytes) : -1;
    if (word < 0)
        refuse(reading, name, "is none of the words it can be");
    return word < 0 ? other : word;
}

static int64_t read_int(struct reading *reading, struct bytes name, int64_t other) {
    const struct value *value = item_get(reading->item, name);
    int64_t number;
    if (value == NULL || reading->status != OK)
        return other;
    if (value->type == VALUE_N && number_to_int(value->bytes, &number))
        return number;
    refuse(reading, name, "is not an integer");
    return other;
}

static struct bytes read_bytes(struct reading *reading, struct bytes name, enum value_type type) {
    const struct value *value = item_get(reading->item, name);
    if (value == NULL || reading->status != OK)
        return (struct bytes){0};
    if (value->type == type)
        return value->bytes;
    refuse(reading, name, type == VALUE_S ? "is not a string" : "is not a number");
    return (struct bytes){0};
}

static const struct bytes *read_texts(struct reading *reading, struct bytes name, uint32_t *count) {
    const struct value *value = item_get(reading->item, name);
    const struct bytes *texts = item_strings(reading->item, name, reading->arena, count);
    if (value != NULL && reading->status == OK &&
        (value->type != VALUE_L || *count != value->count))
        refuse(reading, name, "is not a list of strings");
    return texts;
}

static void read_seasons(struct reading *reading, struct board_rules *rules) {
    const struct value *value = item_get(reading->item, BYTES("seasons"));
    if (value == NULL || reading->status != OK)
        return;
    if (value->type != VALUE_L) {
        refuse(reading, BYTES("seasons"), "is not a list");
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

enum status board_rules_read(const struct item *item, struct arena *arena, struct failure *failure,
                             struct board_rules *out) {
    struct reading reading = {item, arena, failure, OK};
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
    rules.play_score_max = read_bytes(&reading, BYTES("playScoreMax"), VALUE_N);
    rules.sources = read_texts(&reading, BYTES("sources"), &rules.source_count);
    rules.created_ms = read_int(&reading, BYTES("createdAt"), 0);
    rules.changed_ms = read_int(&reading, BYTES("changedAt"), 0);
    if (reading.status == OK)
        *out = rules;
    return reading.status;
}
