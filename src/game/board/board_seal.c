/* Sealing a period: the one commit that ends it, with its final standings.
 *
 * They are read on the engine's thread in that commit, so that no score comes between, and sealing
 * twice does nothing. The instance's item gets
 *
 *   sealedAt N, total N, final L of M {rank N, member S, score N, subscore N, name S}
 *
 * with the member as in the entry's key. A sealed board takes no scores, but players are still
 * hidden, shown and erased: then total and final are written again from the ranking, so that the
 * board and its final standings agree. */
#include "base/clock.h"
#include "game/board/board_generation.h"
#include "game/board/standings.h"
#include "game/housekeeping_int.h"
#include "game/record.h"
#include "table/engine.h"

#define STATE_SEALED BYTES("sealedAt")
#define STATE_TOTAL  BYTES("total")
#define STATE_FINAL  BYTES("final")
#define ROW_MEMBER   BYTES("member")
#define ROW_NAME     BYTES("name")

struct sealing {
    struct change change; /* first: prepare_seal() casts it back */
    struct game *game;
    const struct board *board;
    struct item key;
    bool sealed;
};

static struct value value_of_map(const struct item *item) {
    return (struct value){.type = VALUE_M, .count = item->count, .pairs = item->pairs};
}

static enum status make_row(const struct standing *row, struct scope in, struct value *out) {
    struct record record = record_of(in.arena);
    struct bytes member;
    enum status status = entry_key_of(row->entry.member, in, &member);
    if (status != OK)
        return status;
    record_int(&record, BYTES("rank"), (int64_t)row->rank);
    record_string(&record, ROW_MEMBER, member);
    record_number(&record, GAME_SCORE, row->entry.points.score);
    record_number(&record, GAME_SUBSCORE, row->entry.points.subscore);
    record_string(&record, ROW_NAME, row->entry.name);
    struct item item = record_item(&record);
    *out = value_of_map(&item);
    return OK;
}

static enum status read_final(const struct sealing *sealing, struct scope in, struct value *rows,
                              uint64_t *total) {
    struct standings_request request = {
        .board = sealing->board, .from = 1, .limit = FINAL_ROWS, .detail = DETAIL_FULL};
    struct standings top;
    enum status status = standings_page(sealing->game, &request, in, &top);
    struct value *list = ARENA_ARRAY(in.arena, struct value, FINAL_ROWS);
    uint32_t count = 0;
    for (; status == OK && count < top.count && count < FINAL_ROWS; count++)
        status = make_row(&top.rows[count], in, &list[count]);
    *rows = (struct value){.type = VALUE_L, .count = count, .elements = list};
    if (status == OK)
        *total = top.total;
    return status;
}

/* Dense ranks need the count index of the board's groups, which the first reader builds. This read
 * builds it on the caller's thread, which may wait, since all writes of the server would wait for
 * it in `prepare`. What it reads is thrown away. */
static enum status read_ahead(const struct sealing *sealing, struct failure *failure) {
    struct value rows;
    uint64_t total;
    struct arena arena;
    struct failure fault = {0};
    if (sealing->board->rules.ranking != RANK_DENSE)
        return OK;
    arena_init(&arena);
    enum status status = read_final(sealing, (struct scope){&arena, &fault}, &rows, &total);
    arena_release(&arena);
    *failure = (struct failure){.status = status, .text = BYTES("The board cannot be read")};
    return status;
}

static enum status read_state(const struct sealing *sealing, struct scope in,
                              struct get_reply *out) {
    struct get_request request = {
        .table = sealing->game->table, .key = sealing->key, .consistent = true};
    return engine_get(sealing->game->engine, &request, in, out);
}

/* The item with the total and the first rows as they are now. */
static enum status with_final(const struct sealing *sealing, struct scope in, struct item *state) {
    struct value rows, total_value;
    uint64_t total;
    enum status status = read_final(sealing, in, &rows, &total);
    if (status != OK)
        return status;
    total_value = value_int(in.arena, (int64_t)total);
    *state = item_with(in.arena, state, STATE_TOTAL, &total_value);
    *state = item_with(in.arena, state, STATE_FINAL, &rows);
    return OK;
}

static bool is_cleared(const struct item *state) {
    return item_get(state, BYTES("clearing")) != NULL;
}

static enum status prepare_seal(struct change *change) {
    struct sealing *sealing = (struct sealing *)change;
    struct arena *arena = change->arena;
    struct get_reply state;
    sealing->sealed = false;
    change->action_count = 0;
    enum status status = read_state(sealing, (struct scope){arena, &change->failure}, &state);
    if (status != OK || !state.found || item_get(&state.item, STATE_SEALED) != NULL ||
        is_cleared(&state.item))
        return status;
    struct value at = value_int(arena, clock_now_ms());
    struct item item = item_with(arena, &state.item, STATE_SEALED, &at);
    status = with_final(sealing, (struct scope){arena, &change->failure}, &item);
    if (status != OK)
        return status;
    change->actions[0] = (struct action){
        .kind = ACTION_PUT, .by_owner = true, .table = sealing->game->table, .item = item};
    change->action_count = 1;
    sealing->sealed = true;
    return OK;
}

static struct item state_key(struct bytes partition, struct arena *arena) {
    struct bytes key = board_partition_key(partition);
    return game_key(arena, record_join(arena, "INSTANCE#", key), BYTES("STATE"));
}

enum status board_seal(struct game *game, const struct board *board, struct scope in,
                       bool *sealed) {
    struct sealing sealing = {.game = game,
                              .board = board,
                              .key = state_key(board->pk, in.arena),
                              .change = {.kind = CHANGE_WRITE,
                                         .arena = in.arena,
                                         .actions = ARENA_NEW(in.arena, struct action),
                                         .prepare = prepare_seal,
                                         .ranks_settled = true}};
    *sealed = false;
    enum status status = read_ahead(&sealing, in.failure);
    if (status != OK)
        return status;
    status = game_wait(game, &sealing.change);
    *in.failure = sealing.change.failure;
    *sealed = status == OK && sealing.sealed;
    return status;
}

/* --- forgetting a member --- */

static bool row_names(const struct value *row, struct bytes member) {
    const struct value *who = row->type == VALUE_M ? value_get(row, ROW_MEMBER) : NULL;
    return who != NULL && who->type == VALUE_S && bytes_equal(who->bytes, member);
}

static const struct value *final_of(const struct item *state) {
    const struct value *rows = item_get(state, STATE_FINAL);
    return rows != NULL && rows->type == VALUE_L ? rows : NULL;
}

bool board_final_has(const struct item *state, struct bytes member) {
    const struct value *rows = final_of(state);
    for (uint32_t i = 0; rows != NULL && i < rows->count; i++)
        if (row_names(&rows->elements[i], member))
            return true;
    return false;
}

static enum status forget_member(struct action *action, const struct item *old, struct arena *arena,
                                 struct item *new) {
    const struct bytes *member = action->user;
    const struct value *rows = final_of(old);
    if (rows == NULL)
        return OK;
    struct value *left = ARENA_ARRAY(arena, struct value, rows->count + 1);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct item row = {rows->elements[i].pairs, rows->elements[i].count};
        left[i] = rows->elements[i];
        if (!row_names(&left[i], *member))
            continue;
        row = item_with(arena, &row, ROW_MEMBER, NULL);
        row = item_with(arena, &row, ROW_NAME, NULL);
        left[i] = value_of_map(&row);
    }
    struct value list = {.type = VALUE_L, .count = rows->count, .elements = left};
    *new = item_with(arena, old, STATE_FINAL, &list);
    return OK;
}

struct action board_final_forget_action(struct game *game, const struct item *state,
                                        struct bytes member, struct arena *arena) {
    struct bytes *name = ARENA_NEW(arena, struct bytes);
    *name = member;
    return (struct action){
        .kind = ACTION_COMPUTE,
        .table = game->table,
        .item = game_key(arena, item_string(state, GAME_PK), item_string(state, GAME_SK)),
        .compute = forget_member,
        .user = name};
}

/* --- after the ranking of sealed boards has changed --- */

/* Final standings of an instance that its definition no longer has are left as they are. */
static enum status add_sealed(struct board_finals *finals, struct bytes partition) {
    struct failure failure = {0};
    struct bytes key = board_partition_key(partition);
    enum status status =
        board_find(finals->game, entry_member_of(key, finals->arena),
                   (struct scope){finals->arena, &failure}, &finals->boards[finals->count]);
    if (status == OK)
        finals->count++;
    else if (status != INVALID && status != NOT_FOUND)
        *finals->failure = failure;
    return status == INVALID || status == NOT_FOUND ? OK : status;
}

enum status board_finals_open(struct board_finals *finals, const struct bytes *partitions,
                              size_t count) {
    struct arena *arena = finals->arena;
    struct get_request *requests = ARENA_ARRAY(arena, struct get_request, count + 1);
    struct get_reply *replies = ARENA_ARRAY(arena, struct get_reply, count + 1);
    enum status status = OK;
    finals->boards = ARENA_ARRAY(arena, const struct board *, count + 1);
    finals->count = 0;
    for (size_t i = 0; i < count; i++)
        requests[i] = (struct get_request){.table = finals->game->table,
                                           .key = state_key(partitions[i], arena),
                                           .consistent = true};
    if (count != 0)
        status = engine_get_many(finals->game->engine, requests, count,
                                 (struct scope){arena, finals->failure}, replies);
    for (size_t i = 0; status == OK && i < count; i++)
        if (item_get(&replies[i].item, STATE_SEALED) != NULL)
            status = add_sealed(finals, partitions[i]);
    return status;
}

bool board_finals_has(const struct board_finals *finals, struct bytes partition) {
    for (size_t i = 0; i < finals->count; i++)
        if (bytes_equal(finals->boards[i]->pk, partition))
            return true;
    return false;
}

void board_finals_close(struct board_finals *finals) {
    for (size_t i = 0; i < finals->count; i++)
        board_drop(finals->boards[i]);
    finals->count = 0;
}

/* Adds the action that writes the final standings of one board again, if they differ. */
static enum status prepare_board(const struct sealing *sealing, struct change *change) {
    struct get_reply state;
    enum status status =
        read_state(sealing, (struct scope){change->arena, &change->failure}, &state);
    if (status != OK || item_get(&state.item, STATE_SEALED) == NULL || is_cleared(&state.item))
        return status;
    struct item item = state.item;
    status = with_final(sealing, (struct scope){change->arena, &change->failure}, &item);
    if (status == OK && !item_equal(&item, &state.item))
        change->actions[change->action_count++] = (struct action){
            .kind = ACTION_PUT, .by_owner = true, .table = sealing->game->table, .item = item};
    return status;
}

struct refreshing {
    struct change change; /* first: prepare_refresh() casts it back */
    const struct board_finals *finals;
};

static enum status prepare_refresh(struct change *change) {
    const struct board_finals *finals = ((struct refreshing *)change)->finals;
    enum status status = OK;
    change->actions = ARENA_ARRAY(change->arena, struct action, finals->count + 1);
    change->action_count = 0;
    for (size_t i = 0; status == OK && i < finals->count; i++) {
        struct sealing sealing = {.game = finals->game,
                                  .board = finals->boards[i],
                                  .key = state_key(finals->boards[i]->pk, change->arena)};
        status = prepare_board(&sealing, change);
    }
    return status;
}

static enum status refresh_some(struct board_finals *finals) {
    struct refreshing refreshing = {.change = {.kind = CHANGE_WRITE,
                                               .arena = finals->arena,
                                               .prepare = prepare_refresh,
                                               .ranks_settled = true},
                                    .finals = finals};
    enum status status = OK;
    for (size_t i = 0; status == OK && i < finals->count; i++)
        status = read_ahead(&(struct sealing){.game = finals->game, .board = finals->boards[i]},
                            finals->failure);
    if (status != OK || finals->count == 0)
        return status;
    status = game_wait(finals->game, &refreshing.change);
    *finals->failure = refreshing.change.failure;
    return status;
}

/* As many at a time as one commit may write. */
enum status board_finals_refresh(struct board_finals *finals) {
    size_t most = engine_actions_max(finals->game->engine) / 2;
    enum status status = OK;
    for (size_t at = 0; status == OK && at < finals->count; at += most) {
        struct board_finals some = *finals;
        some.boards += at;
        some.count = finals->count - at < most ? finals->count - at : most;
        status = refresh_some(&some);
    }
    return status;
}
