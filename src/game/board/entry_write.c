/* Writing entries: the functions of ACTION_COMPUTE, which run on the engine's thread. They read the
 * item there is, let entry_rules.c decide, and make the new item. */
#include "game/board/entry_int.h"
#include "game/board/entry_rules.h"
#include "game/record.h"

/* Fills in what the entry is before the write. INVALID if the period has ended. */
static enum status read_before(struct action *action, const struct item *old, struct arena *arena) {
    struct entry_write *write = action->user;
    if (entry_period_ended(write->board))
        return entry_refuse_ended(action, write->board, arena);
    write->before = (struct points){0};
    write->hidden = false;
    write->had_old = old->count != 0 && entry_points(old, &write->before, &write->hidden);
    if (!write->had_old)
        write->hidden = entry_starts_hidden(write, &action->item);
    return OK;
}

static struct item item_after(const struct action *action, const struct item *old,
                              struct arena *arena) {
    const struct entry_write *write = action->user;
    struct entry_ranking ranking = {write->after, write->tie, write->hidden};
    return old->count == 0 ? entry_new(&action->item, &ranking, arena)
                           : entry_with_points(old, &ranking, arena);
}

enum status entry_write_by_flags(struct action *action, const struct item *old, struct arena *arena,
                                 struct item *new) {
    struct entry_write *write = action->user;
    enum status status = read_before(action, old, arena);
    if (status != OK)
        return status;
    entry_decide_by_flags(write, arena);
    if (write->outcome == ENTRY_ADDED || write->outcome == ENTRY_CHANGED) {
        *new = item_after(action, old, arena);
        *new = entry_with_ttl(new, &write->board->rules, write->now_ms, arena);
    }
    if (write->sets_end && new->count != 0)
        *new = entry_with_end(new, write->end_s, arena);
    return OK;
}

/* Sets the attributes besides the points. */
static struct item set_attributes(const struct entry_write *write, struct item item,
                                  struct arena *arena) {
    const struct board *board = write->board;
    struct value name = value_string(write->name);
    struct value at = value_int(arena, write->now_ms);
    struct value plays = value_int(arena, item_int(&item, BYTES("plays")) + 1);
    item = entry_with_player(&item, board, arena);
    item = item_with(arena, &item, BYTES("at"), &at);
    item = item_with(arena, &item, BYTES("plays"), &plays);
    if (write->name.size != 0)
        item = item_with(arena, &item, BYTES("name"), &name);
    if (write->meta != NULL)
        item = item_with(arena, &item, BYTES("meta"), write->meta);
    if (board->rules.source_count != 0)
        item = item_with(arena, &item, ENTRY_PARTS, &write->parts);
    return entry_with_ttl(&item, &board->rules, write->now_ms, arena);
}

enum status entry_write_by_rules(struct action *action, const struct item *old, struct arena *arena,
                                 struct item *new) {
    struct entry_write *write = action->user;
    enum status status = read_before(action, old, arena);
    if (status != OK)
        return status;
    write->tie_before = write->had_old ? entry_tie_of(old) : (struct bytes){0};
    write->parts_before = item_get(old, ENTRY_PARTS);
    entry_decide_by_rules(write, arena);
    if (write->outcome == ENTRY_ADDED || write->outcome == ENTRY_CHANGED ||
        write->outcome == ENTRY_SAME)
        *new = set_attributes(write, item_after(action, old, arena), arena);
    return OK;
}
