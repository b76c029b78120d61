/* Entries: reading them, the limits that a board sets to scores, and the attributes of an entry's
 * item. */
#include "game/board/entry.h"

#include "base/clock.h"
#include "game/board/board_int.h"
#include "game/board/entry_int.h"
#include "game/player/hidden_players.h"
#include "game/record.h"

#include <assert.h>

bool entry_points(const struct item *item, struct points *out, bool *hidden) {
    const struct value *score = item_get(item, GAME_SCORE);
    const struct value *subscore = item_get(item, GAME_SUBSCORE);
    *hidden = false;
    if (score == NULL) {
        const struct value *list = item_get(item, ENTRY_HIDDEN);
        if (list == NULL || list->type != VALUE_L || list->count != 3)
            return false;
        score = &list->elements[0];
        subscore = &list->elements[1];
        *hidden = true;
    }
    if (score->type != VALUE_N || (subscore != NULL && subscore->type != VALUE_N))
        return false;
    out->score = score->bytes;
    out->subscore = subscore != NULL ? subscore->bytes : points_zero();
    return true;
}

enum status entry_read(const struct item *item, struct arena *arena, struct entry *out) {
    struct entry entry = {0};
    const struct value *key = item_get(item, GAME_SK);
    if (key == NULL || key->type != VALUE_S || !entry_points(item, &entry.points, &entry.hidden))
        return DAMAGED;
    entry.member = entry_member_of(key->bytes, arena);
    entry.tie = entry_tie_of(item);
    entry.at_ms = item_int(item, BYTES("at"));
    entry.name = item_string(item, BYTES("name"));
    entry.meta = item_map(item, BYTES("meta"));
    entry.plays = item_int(item, BYTES("plays"));
    entry.ends_ms = item_int(item, ENTRY_TTL) * 1000;
    *out = entry;
    return OK;
}

int entry_decimals(struct bytes number) {
    char text[NUMBER_MAX_TEXT];
    size_t size = number_text(number, text);
    const char *point = memchr(text, '.', size);
    return point == NULL ? 0 : (int)(text + size - point) - 1;
}

bool entry_score_fits(const struct board_rules *rules, struct bytes score) {
    if (rules->score_min.size != 0 && bytes_compare(score, rules->score_min) < 0)
        return false;
    if (rules->score_max.size != 0 && bytes_compare(score, rules->score_max) > 0)
        return false;
    return rules->decimals < 0 || entry_decimals(score) <= rules->decimals;
}

int entry_order(const struct board_rules *rules, const struct points *a, const struct points *b) {
    int order = points_compare(a, b);
    return rules->order == ORDER_HIGH ? -order : order;
}

bool entry_period_ended(const struct board *board) {
    return board->period.ends_ms != INT64_MAX && clock_now_ms() >= board->period.ends_ms;
}

enum status entry_refuse_ended(struct action *action, const struct board *board,
                               struct arena *arena) {
    return failure_set(&action->failure, arena, INVALID,
                       "Board %.*s has ended: it can be read, not written",
                       BYTES_ARG(board->instance));
}

void entry_action(struct entry_write *write, struct item key, action_compute *compute,
                  struct action *out) {
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = write->game->table,
                           .item = key,
                           .compute = compute,
                           .user = write};
}

bool entry_starts_hidden(const struct entry_write *write, const struct item *key) {
    return (write->hide != NULL && *write->hide) ||
           hidden_players_has(write->game, item_string(key, GAME_SK));
}

/* --- the attributes of the item --- */

static struct value hidden_value(const struct entry_ranking *ranking, struct arena *arena) {
    struct value *list = arena_alloc(arena, 3 * sizeof(*list));
    list[0] = value_number(ranking->points.score);
    list[1] = value_number(ranking->points.subscore);
    list[2] = value_number(ranking->tie);
    return (struct value){.type = VALUE_L, .count = 3, .elements = list};
}

struct item entry_new(const struct item *key, const struct entry_ranking *ranking,
                      struct arena *arena) {
    struct pair *pairs = arena_alloc(arena, 5 * sizeof(*pairs));
    assert(key->count == 2);
    pairs[0] = key->pairs[0];
    pairs[1] = key->pairs[1];
    if (ranking->hidden) {
        pairs[2] = (struct pair){ENTRY_HIDDEN, hidden_value(ranking, arena)};
        return (struct item){pairs, 3};
    }
    pairs[2] = (struct pair){GAME_SCORE, value_number(ranking->points.score)};
    pairs[3] = (struct pair){GAME_SUBSCORE, value_number(ranking->points.subscore)};
    pairs[4] = (struct pair){GAME_TIE, value_number(ranking->tie)};
    return (struct item){pairs, 5};
}

/* The index of an attribute that the item has. */
static uint32_t attribute_index(const struct item *item, struct bytes name) {
    uint32_t at = item->count - 1;
    while (at > 0 && !bytes_equal(item->pairs[at].name, name))
        at--;
    return at;
}

struct bytes entry_tie_given(const struct item *item) {
    const struct value *list = item_get(item, ENTRY_HIDDEN);
    struct bytes tie = item_number(item, GAME_TIE);
    if (tie.size == 0 && list != NULL && list->type == VALUE_L && list->count == 3 &&
        list->elements[2].type == VALUE_N)
        tie = list->elements[2].bytes;
    return tie;
}

struct bytes entry_tie_of(const struct item *item) {
    struct bytes tie = entry_tie_given(item);
    return tie.size == 0 ? points_zero() : tie;
}

struct item entry_with_points(const struct item *item, const struct entry_ranking *ranking,
                              struct arena *arena) {
    struct value score = value_number(ranking->points.score);
    struct value subscore = value_number(ranking->points.subscore);
    struct value tie = value_number(ranking->tie);
    if (ranking->hidden) {
        struct value list = hidden_value(ranking, arena);
        return item_with(arena, item, ENTRY_HIDDEN, &list);
    }
    if (item_get(item, GAME_SCORE) != NULL && item_get(item, GAME_SUBSCORE) != NULL &&
        item_get(item, GAME_TIE) != NULL) {
        struct pair *pairs = arena_alloc(arena, item->count * sizeof(*pairs));
        memcpy(pairs, item->pairs, item->count * sizeof(*pairs));
        pairs[attribute_index(item, GAME_SCORE)].value = score;
        pairs[attribute_index(item, GAME_SUBSCORE)].value = subscore;
        pairs[attribute_index(item, GAME_TIE)].value = tie;
        return (struct item){pairs, item->count};
    }
    struct item with = item_with(arena, item, GAME_SCORE, &score);
    with = item_with(arena, &with, GAME_SUBSCORE, &subscore);
    return item_with(arena, &with, GAME_TIE, &tie);
}

struct item entry_with_ranking(const struct item *item, const struct entry_ranking *ranking,
                               struct arena *arena) {
    struct item bare = item_with(arena, item, ENTRY_HIDDEN, NULL);
    if (ranking->hidden) {
        bare = item_with(arena, &bare, GAME_SCORE, NULL);
        bare = item_with(arena, &bare, GAME_SUBSCORE, NULL);
        bare = item_with(arena, &bare, GAME_TIE, NULL);
    }
    return entry_with_points(&bare, ranking, arena);
}

struct item entry_with_player(const struct item *item, const struct board *board,
                              struct arena *arena) {
    struct value player = value_string(record_join(arena, "PLAYER#", item_string(item, GAME_SK)));
    struct value place = value_string(record_join(arena, BOARD, board->key));
    if (item_get(item, BYTES("GSI1PK")) != NULL)
        return *item;
    struct item with = item_with(arena, item, BYTES("GSI1PK"), &player);
    return item_with(arena, &with, BYTES("GSI1SK"), &place);
}

struct item entry_with_ttl(const struct item *item, const struct board_rules *rules, int64_t now_ms,
                           struct arena *arena) {
    if (rules->entry_life_s == 0)
        return *item;
    return entry_with_end(item, now_ms / 1000 + rules->entry_life_s, arena);
}

struct item entry_with_end(const struct item *item, int64_t end_s, struct arena *arena) {
    struct value ends = value_int(arena, end_s);
    return item_with(arena, item, ENTRY_TTL, end_s == 0 ? NULL : &ends);
}
