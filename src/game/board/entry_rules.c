/* What a write does to an entry (entry_rules.h). */
#include "game/board/entry_rules.h"

#include "game/board/entry_int.h"
#include "game/record.h"

#include <math.h>

struct bytes entry_tie(const struct board_rules *rules, int64_t now_ms, struct arena *arena) {
    if (rules->tie == TIE_MEMBER)
        return points_zero();
    return number_from_int(arena, rules->order == ORDER_HIGH ? -now_ms : now_ms);
}

static bool is_within_limits(const struct entry_write *write) {
    const struct board_rules *rules = &write->board->rules;
    return rules->plain || entry_score_fits(rules, write->after.score);
}

/* Fills in outcome, after and tie. Equal points keep their tie, so the earlier member stays first.
 */
static void finish_decision(struct entry_write *write, enum entry_outcome outcome,
                            struct arena *arena) {
    bool written = outcome == ENTRY_ADDED || outcome == ENTRY_CHANGED;
    write->outcome = outcome;
    if (!written && outcome != ENTRY_SAME)
        write->after = write->before;
    if (!written || (write->had_old && points_compare(&write->after, &write->before) == 0))
        write->tie = write->tie_before;
    else
        write->tie = entry_tie(&write->board->rules, write->now_ms, arena);
}

/* --- by flags --- */

/* How the new score compares with the one there: <0, 0 or >0. */
static int order_of_change(const struct entry_write *write) {
    if (write->flags & ENTRY_EXACT)
        return points_compare(&write->after, &write->before);
    return points_compare_doubles(&write->after, &write->before);
}

static enum entry_outcome outcome_by_flags(struct entry_write *write, struct arena *arena) {
    unsigned flags = write->flags;
    write->after = write->points;
    if (flags & (write->had_old ? ENTRY_NEW_ONLY : ENTRY_OLD_ONLY))
        return ENTRY_NOT_DONE;
    if (flags & ENTRY_ADD) {
        double sum = write->delta + (write->had_old ? points_to_double(&write->before) : 0);
        if (isnan(sum))
            return ENTRY_NAN;
        write->after = points_of_double(arena, sum);
    }
    if (!is_within_limits(write))
        return ENTRY_OUT_OF_RANGE;
    if (!write->had_old)
        return ENTRY_ADDED;
    int order = order_of_change(write);
    if (((flags & ENTRY_GREATER_ONLY) && order <= 0) || ((flags & ENTRY_LESS_ONLY) && order >= 0))
        return ENTRY_NOT_DONE;
    return order == 0 ? ENTRY_SAME : ENTRY_CHANGED;
}

void entry_decide_by_flags(struct entry_write *write, struct arena *arena) {
    enum entry_outcome outcome = outcome_by_flags(write, arena);
    if (outcome == ENTRY_SAME)
        write->after = write->before;
    finish_decision(write, outcome, arena);
}

/* --- as the board keeps scores --- */

/* Which of the old and the submitted points stay; *submitted becomes the sum where they add up. */
static enum entry_outcome merge_points(const struct board_rules *rules, const struct points *old,
                                       struct points *submitted, struct arena *arena) {
    struct points sum;
    switch (rules->keep) {
    case KEEP_BEST: /* both numbers of one play, never one of each */
        return entry_order(rules, submitted, old) < 0 ? ENTRY_CHANGED : ENTRY_NOT_DONE;
    case KEEP_LATEST:
        return points_compare(submitted, old) != 0 ? ENTRY_CHANGED : ENTRY_SAME;
    case KEEP_SUM:
        if (number_add(arena, old->score, submitted->score, &sum.score) != NUMBER_OK ||
            number_add(arena, old->subscore, submitted->subscore, &sum.subscore) != NUMBER_OK)
            return ENTRY_OUT_OF_RANGE;
        *submitted = sum;
        return points_compare(&sum, old) != 0 ? ENTRY_CHANGED : ENTRY_SAME;
    case KEEP_FIRST:
        break;
    }
    return ENTRY_NOT_DONE;
}

/* Merges the score into the part of each of its sources, by the board's `keep`. */
static enum entry_outcome merge_parts(struct entry_write *write, struct arena *arena) {
    const struct value *old = write->parts_before;
    struct item parts = {0};
    if (old != NULL && old->type == VALUE_M)
        parts = (struct item){old->pairs, old->count};
    enum entry_outcome outcome = ENTRY_NOT_DONE;
    for (size_t i = 0; i < write->source_count; i++) {
        struct points before = {item_number(&parts, write->sources[i]), points_zero()};
        struct points after = {write->points.score, points_zero()};
        enum entry_outcome one = ENTRY_CHANGED;
        if (before.score.size != 0)
            one = merge_points(&write->board->rules, &before, &after, arena);
        if (one == ENTRY_OUT_OF_RANGE)
            return one;
        if (one == ENTRY_NOT_DONE)
            continue;
        struct value score = value_number(after.score);
        parts = item_with(arena, &parts, write->sources[i], &score);
        if (outcome != ENTRY_CHANGED)
            outcome = one;
    }
    write->parts = (struct value){.type = VALUE_M, .count = parts.count, .pairs = parts.pairs};
    return outcome;
}

bool entry_combine_parts(const struct board_rules *rules, const struct value *parts,
                         struct arena *arena, struct points *out) {
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

static enum entry_outcome outcome_of_parts(struct entry_write *write, struct arena *arena) {
    enum entry_outcome outcome = merge_parts(write, arena);
    if (outcome != ENTRY_CHANGED && outcome != ENTRY_SAME)
        return outcome;
    if (!entry_combine_parts(&write->board->rules, &write->parts, arena, &write->after))
        return ENTRY_OUT_OF_RANGE;
    if (!write->had_old)
        return ENTRY_ADDED;
    return points_compare(&write->after, &write->before) != 0 ? ENTRY_CHANGED : outcome;
}

void entry_decide_by_rules(struct entry_write *write, struct arena *arena) {
    const struct board_rules *rules = &write->board->rules;
    enum entry_outcome outcome = ENTRY_ADDED;
    write->after = write->points;
    if (rules->source_count != 0)
        outcome = outcome_of_parts(write, arena);
    else if (write->had_old)
        outcome = merge_points(rules, &write->before, &write->after, arena);
    if ((outcome == ENTRY_ADDED || outcome == ENTRY_CHANGED) && !is_within_limits(write))
        outcome = ENTRY_OUT_OF_RANGE;
    finish_decision(write, outcome, arena);
}
