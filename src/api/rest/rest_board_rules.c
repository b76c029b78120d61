#include "api/rest/rest_board_rules.h"

#include "api/rest/rest_json.h"
#include "base/clock.h"

struct board_rules rest_rules_default(struct bytes id) {
    return (struct board_rules){.id = id, .decimals = -1};
}

/* --- reading --- */

static const struct bytes *read_names(const struct json *list, struct arena *arena,
                                      uint32_t *count) {
    *count = list == NULL ? 0 : list->count;
    struct bytes *names = ARENA_ARRAY(arena, struct bytes, *count);
    for (uint32_t i = 0; i < *count; i++)
        names[i] = list->elements[i].text;
    return names;
}

static void read_seasons(const struct json *list, struct arena *arena, struct board_rules *rules) {
    rules->season_count = list == NULL ? 0 : list->count;
    struct season *seasons = ARENA_ARRAY(arena, struct season, rules->season_count);
    for (uint32_t i = 0; i < rules->season_count; i++)
        seasons[i] = (struct season){form_text(&list->elements[i], "name"),
                                     form_time(&list->elements[i], "starts", 0),
                                     form_time(&list->elements[i], "ends", 0)};
    rules->seasons = seasons;
}

/* The words were checked: absent is the first of them. */
static int read_word(const struct json *value, int (*named)(struct bytes)) {
    int number = value == NULL ? 0 : named(value->text);
    return number < 0 ? 0 : number;
}

static struct bytes read_text(const struct json *value) {
    return value == NULL ? (struct bytes){0} : value->text;
}

static bool read_choice(struct bytes name, const struct json *value, struct board_rules *rules) {
    if (bytes_equal(name, BYTES("timeframe")))
        rules->timeframe = (enum timeframe)read_word(value, timeframe_named);
    else if (bytes_equal(name, BYTES("order")))
        rules->order = (enum order)read_word(value, order_named);
    else if (bytes_equal(name, BYTES("keep")))
        rules->keep = (enum keep)read_word(value, keep_named);
    else if (bytes_equal(name, BYTES("ties")))
        rules->tie = (enum tie)read_word(value, tie_named);
    else if (bytes_equal(name, BYTES("ranking")))
        rules->ranking = (enum ranking)read_word(value, ranking_named);
    else if (bytes_equal(name, BYTES("combine")))
        rules->combine = (enum combine)read_word(value, combine_named);
    else
        return false;
    return true;
}

static bool read_list(struct bytes name, const struct json *value, struct arena *arena,
                      struct board_rules *rules) {
    if (bytes_equal(name, BYTES("seasons")))
        read_seasons(value, arena, rules);
    else if (bytes_equal(name, BYTES("scopes")))
        rules->scopes = read_names(value, arena, &rules->scope_count);
    else if (bytes_equal(name, BYTES("sources")))
        rules->sources = read_names(value, arena, &rules->source_count);
    else
        return false;
    return true;
}

static bool read_number(struct bytes name, const struct json *body, struct arena *arena,
                        struct board_rules *rules) {
    if (bytes_equal(name, BYTES("scoreMin")))
        rules->score_min = form_number(body, "scoreMin", arena);
    else if (bytes_equal(name, BYTES("scoreMax")))
        rules->score_max = form_number(body, "scoreMax", arena);
    else if (bytes_equal(name, BYTES("playScoreMax")))
        rules->play_score_max = form_number(body, "playScoreMax", arena);
    else if (bytes_equal(name, BYTES("decimals")))
        rules->decimals = (int)form_count(body, "decimals", -1);
    else if (bytes_equal(name, BYTES("entryLifeSeconds")))
        rules->entry_life_s = form_count(body, "entryLifeSeconds", 0);
    else if (bytes_equal(name, BYTES("periodLifeSeconds")))
        rules->period_life_s = form_count(body, "periodLifeSeconds", 0);
    else if (bytes_equal(name, BYTES("playMinMs")))
        rules->play_min_ms = form_count(body, "playMinMs", 0);
    else if (bytes_equal(name, BYTES("playLifeSeconds")))
        rules->play_life_s = form_count(body, "playLifeSeconds", 0);
    else
        return false;
    return true;
}

static void read_rest(struct bytes name, const struct json *value, const struct json *body,
                      struct board_rules *rules) {
    if (bytes_equal(name, BYTES("title")))
        rules->title = read_text(value);
    else if (bytes_equal(name, BYTES("game")))
        rules->game = read_text(value);
    else if (bytes_equal(name, BYTES("timeZone")))
        rules->zone = read_text(value);
    else if (bytes_equal(name, BYTES("subscores")))
        rules->subscores = form_flag(body, "subscores", false);
    else if (bytes_equal(name, BYTES("needsPlay")))
        rules->needs_play = form_flag(body, "needsPlay", false);
}

enum status rest_rules_read(struct rest_call *call, const struct json *body,
                            struct board_rules *rules) {
    for (uint32_t i = 0; i < body->count; i++) {
        struct bytes name = body->members[i].name;
        const struct json *value = &body->members[i].value;
        if (value->type == JSON_NULL)
            value = NULL;
        if (!read_choice(name, value, rules) && !read_list(name, value, call->arena, rules) &&
            !read_number(name, body, call->arena, rules))
            read_rest(name, value, body, rules);
    }
    return OK;
}

/* --- writing --- */

static void put_names(struct buf *to, const char *name, const struct bytes *names, size_t count) {
    if (count == 0)
        return;
    rest_put_name(to, name);
    buf_byte(to, '[');
    for (size_t i = 0; i < count; i++) {
        rest_put_comma(to);
        json_put_string(to, names[i]);
    }
    buf_byte(to, ']');
}

static void put_seasons(struct buf *to, const struct board_rules *rules) {
    if (rules->season_count == 0)
        return;
    rest_put_name(to, "seasons");
    buf_byte(to, '[');
    for (uint32_t i = 0; i < rules->season_count; i++) {
        rest_put_comma(to);
        buf_byte(to, '{');
        rest_put_text(to, "name", rules->seasons[i].name);
        rest_put_time(to, "starts", rules->seasons[i].starts_ms);
        rest_put_time(to, "ends", rules->seasons[i].ends_ms);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

/* null between seasons; nothing for all-time. */
static void put_current(struct rest_call *call, const struct board_rules *rules) {
    struct timing timing = {rules->timeframe, NULL, rules->seasons, rules->season_count};
    struct failure failure = {0};
    struct period period;
    struct bytes zone = rules->zone.size != 0 ? rules->zone : BYTES("UTC");
    if (rules->timeframe == FRAME_ALL ||
        zone_find(call->game->settings.zones, zone, (struct scope){call->arena, &failure},
                  &timing.zone) != OK)
        return;
    rest_put_name(call->reply, "current");
    if (period_at(&timing, clock_now_ms(), call->arena, &period) != OK) {
        buf_lit(call->reply, "null");
        return;
    }
    buf_byte(call->reply, '{');
    rest_put_text(call->reply, "name", period.name);
    rest_put_time(call->reply, "starts", period.starts_ms);
    rest_put_time(call->reply, "ends", period.ends_ms);
    buf_byte(call->reply, '}');
}

static void put_limits(struct rest_call *call, const struct board_rules *rules) {
    struct buf *to = call->reply;
    if (rules->score_min.size != 0)
        rest_put_number(call, "scoreMin", rules->score_min);
    if (rules->score_max.size != 0)
        rest_put_number(call, "scoreMax", rules->score_max);
    if (rules->decimals >= 0)
        rest_put_int(to, "decimals", rules->decimals);
    rest_put_bool(to, "subscores", rules->subscores);
    rest_put_int(to, "entryLifeSeconds", rules->entry_life_s);
    rest_put_int(to, "periodLifeSeconds", rules->period_life_s);
    rest_put_bool(to, "needsPlay", rules->needs_play);
    rest_put_int(to, "playMinMs", rules->play_min_ms);
    rest_put_int(to, "playLifeSeconds",
                 rules->play_life_s != 0 ? rules->play_life_s : BOARD_PLAY_LIFE_S);
    if (rules->play_score_max.size != 0)
        rest_put_number(call, "playScoreMax", rules->play_score_max);
}

void rest_rules_put(struct rest_call *call, const struct board_rules *rules) {
    struct buf *to = call->reply;
    buf_byte(to, '{');
    rest_put_text(to, "id", rules->id);
    rest_put_text_if(to, "game", rules->game);
    rest_put_text_if(to, "title", rules->title);
    rest_put_str(to, "timeframe", timeframe_name(rules->timeframe));
    rest_put_text(to, "timeZone", rules->zone.size != 0 ? rules->zone : BYTES("UTC"));
    put_seasons(to, rules);
    put_names(to, "scopes", rules->scopes, rules->scope_count);
    rest_put_str(to, "order", order_name(rules->order));
    rest_put_str(to, "keep", keep_name(rules->keep));
    rest_put_str(to, "ties", tie_name(rules->tie));
    rest_put_str(to, "ranking", ranking_name(rules->ranking));
    put_limits(call, rules);
    put_names(to, "sources", rules->sources, rules->source_count);
    if (rules->source_count != 0)
        rest_put_str(to, "combine", combine_name(rules->combine));
    put_current(call, rules);
    rest_put_time_if(to, "createdAt", rules->created_ms);
    rest_put_time_if(to, "changedAt", rules->changed_ms);
    buf_byte(to, '}');
}
