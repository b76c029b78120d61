/* Sealing a period: the one write that ends it.
 *
 * It is decided on the engine's thread: the total and the first are those of the moment of the
 * write, and whoever comes second finds it done. What the item gets:
 *
 *   sealedAt N, total N, final L of M {rank N, member S, score N, subscore N, name S}
 *
 * The member as it stands in the entry's key. */
#include "base/clock.h"
#include "game/keeper_int.h"
#include "game/record.h"
#include "game/standings.h"

#define STATE_SEALED BYTES("sealedAt")
#define STATE_TOTAL  BYTES("total")
#define STATE_FINAL  BYTES("final")
#define ROW_MEMBER   BYTES("member")
#define ROW_NAME     BYTES("name")

struct sealing {
    struct change change; /* first: the way back from it */
    struct game *game;
    const struct board *board;
    struct item key;
    bool sealed;
};

static struct value map_of(const struct item *item) {
    return (struct value){.type = VALUE_M, .count = item->count, .pairs = item->pairs};
}

static enum status make_row(const struct standing *row, struct arena *arena,
                            struct failure *failure, struct value *out) {
    struct record record = record_of(arena);
    struct bytes member;
    enum status status = entry_key_of(row->entry.member, arena, failure, &member);
    if (status != OK)
        return status;
    record_int(&record, BYTES("rank"), (int64_t)row->rank);
    record_string(&record, ROW_MEMBER, member);
    record_number(&record, GAME_SCORE, row->entry.points.score);
    record_number(&record, GAME_SUBSCORE, row->entry.points.subscore);
    record_string(&record, ROW_NAME, row->entry.name);
    struct item item = record_item(&record);
    *out = map_of(&item);
    return OK;
}

static enum status read_final(const struct sealing *sealing, struct arena *arena,
                              struct failure *failure, struct value *rows, uint64_t *total) {
    struct standings_request request = {
        .board = sealing->board, .from = 1, .limit = FINAL_ROWS, .detail = DETAIL_FULL};
    struct standings top;
    enum status status = standings_page(sealing->game, &request, arena, failure, &top);
    struct value *list = ARENA_ARRAY(arena, struct value, FINAL_ROWS);
    uint32_t count = 0;
    for (; status == OK && count < top.count && count < FINAL_ROWS; count++)
        status = make_row(&top.rows[count], arena, failure, &list[count]);
    *rows = (struct value){.type = VALUE_L, .count = count, .elements = list};
    if (status == OK)
        *total = top.total;
    return status;
}

static enum status decide_seal(struct change *change) {
    struct sealing *sealing = (struct sealing *)change;
    struct arena *arena = change->arena;
    struct get_reply state;
    struct value rows, total_value, at;
    uint64_t total;
    struct get_request request = {
        .table = sealing->game->table, .key = sealing->key, .consistent = true};
    sealing->sealed = false;
    change->action_count = 0;
    enum status status =
        engine_get(sealing->game->engine, &request, arena, &change->failure, &state);
    if (status != OK || !state.found || item_get(&state.item, STATE_SEALED) != NULL ||
        item_get(&state.item, BYTES("clearing")) != NULL)
        return status;
    status = read_final(sealing, arena, &change->failure, &rows, &total);
    if (status != OK)
        return status;
    at = value_int(arena, clock_now_ms());
    total_value = value_int(arena, (int64_t)total);
    struct item item = item_with(arena, &state.item, STATE_SEALED, &at);
    item = item_with(arena, &item, STATE_TOTAL, &total_value);
    item = item_with(arena, &item, STATE_FINAL, &rows);
    change->actions[0] =
        (struct action){.kind = ACTION_PUT, .table = sealing->game->table, .item = item};
    change->action_count = 1;
    sealing->sealed = true;
    return OK;
}

enum status keeper_seal(struct game *game, const struct board *board, struct arena *arena,
                        struct failure *failure, bool *sealed) {
    struct bytes key = bytes_skip(board->pk, BYTES("BOARD#").size);
    struct sealing sealing = {
        .game = game,
        .board = board,
        .key = game_key(arena, record_join(arena, "INSTANCE#", key), BYTES("STATE")),
        .change = {.kind = CHANGE_WRITE,
                   .arena = arena,
                   .actions = ARENA_NEW(arena, struct action),
                   .decide = decide_seal}};
    enum status status = game_wait(game, &sealing.change);
    *failure = sealing.change.failure;
    *sealed = status == OK && sealing.sealed;
    return status;
}

/* --- forgetting somebody --- */

static bool names(const struct value *row, struct bytes member) {
    const struct value *who = row->type == VALUE_M ? value_get(row, ROW_MEMBER) : NULL;
    return who != NULL && who->type == VALUE_S && bytes_equal(who->bytes, member);
}

static const struct value *final_of(const struct item *state) {
    const struct value *rows = item_get(state, STATE_FINAL);
    return rows != NULL && rows->type == VALUE_L ? rows : NULL;
}

bool keeper_final_has(const struct item *state, struct bytes member) {
    const struct value *rows = final_of(state);
    for (uint32_t i = 0; rows != NULL && i < rows->count; i++)
        if (names(&rows->elements[i], member))
            return true;
    return false;
}

static enum status forget(struct action *action, const struct item *old, struct arena *arena,
                          struct item *new) {
    const struct bytes *member = action->user;
    const struct value *rows = final_of(old);
    if (rows == NULL)
        return OK;
    struct value *left = ARENA_ARRAY(arena, struct value, rows->count + 1);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct item row = {rows->elements[i].pairs, rows->elements[i].count};
        left[i] = rows->elements[i];
        if (!names(&left[i], *member))
            continue;
        row = item_with(arena, &row, ROW_MEMBER, NULL);
        row = item_with(arena, &row, ROW_NAME, NULL);
        left[i] = map_of(&row);
    }
    struct value list = {.type = VALUE_L, .count = rows->count, .elements = left};
    *new = item_with(arena, old, STATE_FINAL, &list);
    return OK;
}

void keeper_final_forget(struct game *game, const struct item *state, struct bytes member,
                         struct arena *arena, struct action *out) {
    struct bytes *name = ARENA_NEW(arena, struct bytes);
    *name = member;
    *out = (struct action){
        .kind = ACTION_COMPUTE,
        .table = game->table,
        .item = game_key(arena, item_string(state, GAME_PK), item_string(state, GAME_SK)),
        .compute = forget,
        .user = name};
}
