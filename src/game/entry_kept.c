/* Entries written as the board's rules say. On the engine's thread. */
#include "game/entry_int.h"
#include "game/record.h"

/* --- what is kept of two --- */

/* The points that stay of those there and those that came. */
static enum entry_outcome keep_of(const struct board_rules *rules, const struct points *old,
                                  const struct points *came, struct arena *arena,
                                  struct points *out) {
    *out = *came;
    switch (rules->keep) {
    case KEEP_BEST: /* both numbers of one play, never one of each */
        return entry_order(rules, came, old) < 0 ? ENTRY_CHANGED : ENTRY_NOT_DONE;
    case KEEP_LATEST:
        return points_compare(came, old) != 0 ? ENTRY_CHANGED : ENTRY_SAME;
    case KEEP_SUM:
        if (number_add(arena, old->score, came->score, &out->score) != NUMBER_OK ||
            number_add(arena, old->subscore, came->subscore, &out->subscore) != NUMBER_OK)
            return ENTRY_OUT_OF_RANGE;
        return points_compare(out, old) != 0 ? ENTRY_CHANGED : ENTRY_SAME;
    case KEEP_FIRST:
        break;
    }
    return ENTRY_NOT_DONE;
}

/* --- cross-game boards --- */

/* What each source has brought, by its id, and what came now: by the board's own way of keeping. */
static enum entry_outcome keep_parts(const struct entry_write *write, const struct value *old,
                                     struct arena *arena, struct value *out) {
    struct item parts = {0};
    if (old != NULL && old->type == VALUE_M)
        parts = (struct item){old->pairs, old->count};
    enum entry_outcome outcome = ENTRY_NOT_DONE;
    const struct points came = {write->points.score, points_zero()};
    for (size_t i = 0; i < write->source_count; i++) {
        struct points before = {item_number(&parts, write->sources[i]), points_zero()};
        struct points after = came;
        enum entry_outcome one = ENTRY_CHANGED;
        if (before.score.size != 0)
            one = keep_of(&write->board->rules, &before, &came, arena, &after);
        if (one == ENTRY_OUT_OF_RANGE)
            return one;
        if (one == ENTRY_NOT_DONE)
            continue;
        struct value score = value_number(after.score);
        parts = item_with(arena, &parts, write->sources[i], &score);
        if (outcome != ENTRY_CHANGED)
            outcome = one;
    }
    *out = (struct value){.type = VALUE_M, .count = parts.count, .pairs = parts.pairs};
    return outcome;
}

static bool combine(const struct board_rules *rules, const struct value *parts, struct arena *arena,
                    struct points *out) {
    struct points all = {points_zero(), points_zero()};
    for (uint32_t i = 0; i < parts->count; i++) {
        struct points one = {parts->pairs[i].value.bytes, points_zero()};
        if (parts->pairs[i].value.type != VALUE_N)
            continue;
        if (rules->combine == COMBINE_SUM) {
            if (number_add(arena, all.score, one.score, &all.score) != NUMBER_OK)
                return false;
        } else if (i == 0 || entry_order(rules, &one, &all) < 0) {
            all = one;
        }
    }
    *out = all;
    return true;
}

/* --- writing --- */

struct keeping {
    struct entry_write *write;
    const struct item *old;
    struct arena *arena;
    struct points points; /* that stay */
    struct value parts;   /* of a cross-game board */
};

static enum entry_outcome decide_cross(struct keeping *keeping) {
    struct entry_write *write = keeping->write;
    const struct board_rules *rules = &write->board->rules;
    enum entry_outcome outcome =
        keep_parts(write, item_get(keeping->old, ENTRY_PARTS), keeping->arena, &keeping->parts);
    if (outcome != ENTRY_CHANGED && outcome != ENTRY_SAME)
        return outcome;
    if (!combine(rules, &keeping->parts, keeping->arena, &keeping->points))
        return ENTRY_OUT_OF_RANGE;
    if (!write->had_old)
        return ENTRY_ADDED;
    return points_compare(&keeping->points, &write->before) != 0 ? ENTRY_CHANGED : outcome;
}

static enum entry_outcome decide(struct keeping *keeping) {
    struct entry_write *write = keeping->write;
    const struct board_rules *rules = &write->board->rules;
    enum entry_outcome outcome = ENTRY_ADDED;
    keeping->points = write->points;
    if (rules->source_count != 0)
        outcome = decide_cross(keeping);
    else if (write->had_old)
        outcome = keep_of(rules, &write->before, &write->points, keeping->arena, &keeping->points);
    bool written = outcome == ENTRY_ADDED || outcome == ENTRY_CHANGED;
    if (written && !rules->plain && !entry_score_fits(rules, keeping->points.score))
        return ENTRY_OUT_OF_RANGE;
    return outcome;
}

/* The item with its points; equal points keep their time. */
static struct item put_points(const struct keeping *keeping, const struct item *key) {
    const struct entry_write *write = keeping->write;
    const struct board_rules *rules = &write->board->rules;
    bool same = write->had_old && points_compare(&keeping->points, &write->before) == 0;
    struct bytes tie = same ? (struct bytes){0} : entry_tie(rules, write->now_ms, keeping->arena);
    if (keeping->old->count == 0)
        return entry_new(key, &keeping->points, tie, write->hidden, keeping->arena);
    return entry_with_points(keeping->old, &keeping->points, tie, write->hidden, keeping->arena);
}

/* What is told besides the points. */
static struct item put_rest(const struct keeping *keeping, struct item item) {
    const struct entry_write *write = keeping->write;
    const struct board *board = write->board;
    struct arena *arena = keeping->arena;
    struct bytes key = item_string(&item, GAME_SK);
    struct value player = value_string(record_join(arena, "PLAYER#", key));
    struct value place = value_string(board->pk), name = value_string(write->name);
    struct value at = value_int(arena, write->now_ms);
    struct value plays = value_int(arena, item_int(keeping->old, BYTES("plays")) + 1);
    if (item_get(&item, BYTES("GSI1PK")) == NULL) {
        item = item_with(arena, &item, BYTES("GSI1PK"), &player);
        item = item_with(arena, &item, BYTES("GSI1SK"), &place);
    }
    item = item_with(arena, &item, BYTES("at"), &at);
    item = item_with(arena, &item, BYTES("plays"), &plays);
    if (write->name.size != 0)
        item = item_with(arena, &item, BYTES("name"), &name);
    if (write->meta != NULL)
        item = item_with(arena, &item, BYTES("meta"), write->meta);
    if (board->rules.source_count != 0)
        item = item_with(arena, &item, ENTRY_PARTS, &keeping->parts);
    return entry_with_life(&item, &board->rules, write->now_ms, arena);
}

enum status entry_write_kept(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    struct entry_write *write = action->user;
    struct keeping keeping = {.write = write, .old = old, .arena = arena};
    if (entry_is_late(write->board))
        return entry_refuse_late(action, write->board, arena);
    write->before = (struct points){0};
    write->hidden = false;
    write->had_old = old->count != 0 && entry_points(old, &write->before, &write->hidden);
    if (!write->had_old)
        write->hidden = entry_hides(write, &action->item);
    write->outcome = decide(&keeping);
    write->after = write->before;
    if (write->outcome != ENTRY_ADDED && write->outcome != ENTRY_CHANGED &&
        write->outcome != ENTRY_SAME)
        return OK;
    *new = put_rest(&keeping, put_points(&keeping, &action->item));
    write->after = keeping.points;
    return OK;
}
