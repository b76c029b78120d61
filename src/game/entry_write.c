/* Entries written by score alone: what sorted sets do. On the engine's thread. */
#include "game/entry_int.h"

#include <math.h>

/* The points to write, out of the flags; anything but ADDED: they are not to be. */
static enum entry_outcome decide(struct entry_write *write, struct arena *arena,
                                 struct points *out) {
    unsigned flags = write->flags;
    *out = write->points;
    if ((write->had_old && (flags & ENTRY_NEW_ONLY)) ||
        (!write->had_old && (flags & ENTRY_OLD_ONLY)))
        return ENTRY_NOT_DONE;
    if (flags & ENTRY_ADD) {
        double sum = write->delta + (write->had_old ? points_to_double(&write->before) : 0);
        if (isnan(sum))
            return ENTRY_NAN;
        *out = points_of_double(arena, sum);
    }
    if (!write->board->rules.plain && !entry_score_fits(&write->board->rules, out->score))
        return ENTRY_OUT_OF_RANGE;
    if (!write->had_old)
        return ENTRY_ADDED;
    int order = points_compare(out, &write->before);
    if (order == 0 && !(flags & (ENTRY_GREATER_ONLY | ENTRY_LESS_ONLY)))
        return ENTRY_SAME;
    if (((flags & ENTRY_GREATER_ONLY) && order <= 0) || ((flags & ENTRY_LESS_ONLY) && order >= 0))
        return ENTRY_NOT_DONE;
    return ENTRY_CHANGED;
}

enum status entry_write_plain(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    struct entry_write *write = action->user;
    const struct board_rules *rules = &write->board->rules;
    struct points points;
    if (entry_is_late(write->board))
        return entry_refuse_late(action, write->board, arena);
    write->before = (struct points){0};
    write->hidden = false;
    write->had_old = old->count != 0 && entry_points(old, &write->before, &write->hidden);
    if (old->count == 0)
        write->hidden = entry_hides(write, &action->item);
    write->outcome = decide(write, arena, &points);
    write->after = write->before;
    if (write->outcome != ENTRY_ADDED && write->outcome != ENTRY_CHANGED)
        return OK;
    struct bytes tie = entry_tie(rules, write->now_ms, arena);
    *new = old->count == 0 ? entry_new(&action->item, &points, tie, write->hidden, arena)
                           : entry_with_points(old, &points, tie, write->hidden, arena);
    *new = entry_with_life(new, rules, write->now_ms, arena);
    write->after = points;
    return OK;
}
