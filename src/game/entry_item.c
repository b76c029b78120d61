/* Items with points in them. */
#include "game/entry_int.h"
#include "game/record.h"

#include <assert.h>

struct bytes entry_tie(const struct board_rules *rules, int64_t now_ms, struct arena *arena) {
    if (rules->tie == TIE_MEMBER)
        return points_zero();
    return number_from_int(arena, rules->order == ORDER_HIGH ? -now_ms : now_ms);
}

static struct value hidden_value(const struct points *points, struct bytes tie,
                                 struct arena *arena) {
    struct value *list = arena_alloc(arena, 3 * sizeof(*list));
    list[0] = value_number(points->score);
    list[1] = value_number(points->subscore);
    list[2] = value_number(tie);
    return (struct value){.type = VALUE_L, .count = 3, .elements = list};
}

struct item entry_new(const struct item *key, const struct points *points, struct bytes tie,
                      bool hidden, struct arena *arena) {
    struct pair *pairs = arena_alloc(arena, 5 * sizeof(*pairs));
    assert(key->count == 2);
    pairs[0] = key->pairs[0];
    pairs[1] = key->pairs[1];
    if (hidden) {
        pairs[2] = (struct pair){ENTRY_HIDDEN, hidden_value(points, tie, arena)};
        return (struct item){pairs, 3};
    }
    pairs[2] = (struct pair){GAME_SCORE, value_number(points->score)};
    pairs[3] = (struct pair){GAME_SUBSCORE, value_number(points->subscore)};
    pairs[4] = (struct pair){GAME_TIE, value_number(tie)};
    return (struct item){pairs, 5};
}

/* Where the attribute is, which is there. */
static uint32_t place_of(const struct item *item, struct bytes name) {
    uint32_t at = item->count - 1;
    while (at > 0 && !bytes_equal(item->pairs[at].name, name))
        at--;
    return at;
}

struct bytes entry_tie_in(const struct item *item) {
    const struct value *list = item_get(item, ENTRY_HIDDEN);
    struct bytes tie = item_number(item, GAME_TIE);
    if (tie.size == 0 && list != NULL && list->type == VALUE_L && list->count == 3 &&
        list->elements[2].type == VALUE_N)
        tie = list->elements[2].bytes;
    return tie.size == 0 ? points_zero() : tie;
}

struct item entry_with_points(const struct item *item, const struct points *points,
                              struct bytes tie, bool hidden, struct arena *arena) {
    struct value score = value_number(points->score), subscore = value_number(points->subscore);
    struct value last = value_number(tie.size != 0 ? tie : entry_tie_in(item));
    if (hidden) {
        struct value list = hidden_value(points, last.bytes, arena);
        return item_with(arena, item, ENTRY_HIDDEN, &list);
    }
    if (item_get(item, GAME_SCORE) != NULL && item_get(item, GAME_SUBSCORE) != NULL &&
        item_get(item, GAME_TIE) != NULL) {
        struct pair *pairs = arena_alloc(arena, item->count * sizeof(*pairs));
        memcpy(pairs, item->pairs, item->count * sizeof(*pairs));
        pairs[place_of(item, GAME_SCORE)].value = score;
        pairs[place_of(item, GAME_SUBSCORE)].value = subscore;
        pairs[place_of(item, GAME_TIE)].value = last;
        return (struct item){pairs, item->count};
    }
    struct item with = item_with(arena, item, GAME_SCORE, &score);
    with = item_with(arena, &with, GAME_SUBSCORE, &subscore);
    return item_with(arena, &with, GAME_TIE, &last);
}

struct item entry_with_life(const struct item *item, const struct board_rules *rules,
                            int64_t now_ms, struct arena *arena) {
    if (rules->entry_life_s == 0)
        return *item;
    struct value ends = value_int(arena, now_ms / 1000 + rules->entry_life_s);
    return item_with(arena, item, BYTES("ttl"), &ends);
}
