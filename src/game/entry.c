/* Entries as items, and what a board says of scores. */
#include "game/entry.h"

#include "base/clock.h"
#include "game/entry_int.h"
#include "game/hidden.h"
#include "game/record.h"

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
    entry.tie = entry_tie_in(item);
    entry.at_ms = item_int(item, BYTES("at"));
    entry.name = item_string(item, BYTES("name"));
    entry.meta = item_map(item, BYTES("meta"));
    entry.plays = item_int(item, BYTES("plays"));
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

bool entry_is_late(const struct board *board) {
    return board->period.ends_ms != INT64_MAX && clock_now_ms() >= board->period.ends_ms;
}

enum status entry_refuse_late(struct action *action, const struct board *board,
                              struct arena *arena) {
    return failure_set(&action->failure, arena, INVALID,
                       "Board %.*s has ended: it can be read, not written",
                       BYTES_ARG(board->instance));
}

void entry_action(struct game *game, const struct board *board, struct bytes member_key,
                  action_compute *compute, struct entry_write *write, struct arena *arena,
                  struct action *out) {
    write->game = game;
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = game_key(arena, board->pk, member_key),
                           .compute = compute,
                           .user = write};
}

bool entry_hides(const struct entry_write *write, const struct item *key) {
    return (write->hide != NULL && *write->hide) ||
           hidden_has(write->game, item_string(key, GAME_SK));
}
