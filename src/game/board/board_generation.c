#include "game/board/board_generation.h"

#include "base/clock.h"
#include "game/board/board_int.h"
#include "game/keyspace/key_fields.h"
#include "game/keyspace/key_garbage.h"
#include "game/record.h"
#include "table/engine.h"

/* ---- partitions ---- */

static bool has_generation(struct bytes pk) {
    return pk.size >= BOARD_PARTITION_ROOM && bytes_starts(pk, BYTES(GENERATION)) &&
           pk.data[BOARD_PARTITION_ROOM - 1] == '#';
}

struct bytes board_partition_put(uint8_t *to, struct bytes key, struct bytes generation) {
    memcpy(to, GENERATION, sizeof(GENERATION) - 1);
    memcpy(to + sizeof(GENERATION) - 1, generation.data, BOARD_GENERATION_SIZE);
    to[BOARD_PARTITION_ROOM - 1] = '#';
    if (key.size != 0)
        memcpy(to + BOARD_PARTITION_ROOM, key.data, key.size);
    return bytes_of(to, BOARD_PARTITION_ROOM + key.size);
}

struct bytes board_partition(struct bytes key, struct bytes generation, struct arena *arena) {
    if (generation.size != BOARD_GENERATION_SIZE)
        return record_join(arena, BOARD, key);
    return board_partition_put(arena_alloc(arena, BOARD_PARTITION_ROOM + key.size), key,
                               generation);
}

struct bytes board_partition_of_state(const struct item *state, struct arena *arena) {
    return board_partition(item_string(state, BYTES("GSI1SK")),
                           item_string(state, BOARD_GENERATION), arena);
}

struct bytes board_partition_key(struct bytes pk) {
    if (has_generation(pk))
        return bytes_skip(pk, BOARD_PARTITION_ROOM);
    return bytes_starts(pk, BYTES(BOARD)) ? bytes_skip(pk, sizeof(BOARD) - 1) : (struct bytes){0};
}

struct bytes board_partition_generation(struct bytes pk) {
    return has_generation(pk) ? bytes_of(pk.data + sizeof(GENERATION) - 1, BOARD_GENERATION_SIZE)
                              : (struct bytes){0};
}

/* ---- switching ---- */

bool board_can_switch(const struct game *game, const struct board *board) {
    return board->rules.plain && !engine_may_block(game->engine);
}

/* Whether BOARD#<name> will have garbage. */
static bool will_be_littered(const struct board_switch *to_be) {
    return to_be->board->littered || (to_be->board->generation.size == 0 && to_be->had_entries);
}

/* Whether the item stays. */
static bool stays(const struct board_switch *to_be) {
    return to_be->has_entries || to_be->keep_item || will_be_littered(to_be);
}

static enum status switch_state(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct board_switch *to_be = action->user;
    struct value generation = value_string(to_be->generation), yes = value_bool(true);
    if (!stays(to_be)) {
        *new = (struct item){0};
        return OK;
    }
    struct item state = board_state_expiring(to_be->board, old, to_be->expires_ms, arena);
    state = item_with(arena, &state, BOARD_GENERATION, &generation);
    *new = item_with(arena, &state, BOARD_LITTERED, will_be_littered(to_be) ? &yes : NULL);
    return OK;
}

size_t board_switch_actions(const struct board_switch *to_be, struct arena *arena,
                            struct action *to) {
    const struct board *board = to_be->board;
    struct key_garbage garbage = {.id = key_generation_new(arena),
                                  .partition = board->pk,
                                  .entries = true,
                                  .after_ms = clock_now_ms() + LIMIT_GENERATION_KEPT_MS};
    struct board_switch *kept = ARENA_NEW(arena, struct board_switch);
    size_t count = 0;
    *kept = *to_be;
    to[count++] = game_compute_action(
        to_be->game, game_key(arena, board_state_partition(board, arena), BYTES("STATE")),
        switch_state, kept);
    /* A write that is under way may still reach a generation whose entries are all gone. */
    if (to_be->had_entries || board->generation.size != 0)
        to[count++] = key_garbage_note(to_be->game, &garbage, arena);
    return count;
}

/* ---- after BOARD#<name> is empty ---- */

/* The item stays even if the board has no entries: somebody may be about to write one. */
static enum status unlitter_state(struct action *action, const struct item *old,
                                  struct arena *arena, struct item *new) {
    (void)action;
    if (item_get(old, BOARD_LITTERED) != NULL)
        *new = item_with(arena, old, BOARD_LITTERED, NULL);
    return OK;
}

struct action board_unlitter_action(struct game *game, struct bytes key, struct arena *arena) {
    return game_compute_action(game,
                               game_key(arena, record_join(arena, INSTANCE, key), BYTES("STATE")),
                               unlitter_state, NULL);
}

/* ---- writes that have looked before ---- */

void board_switch_begin(struct game *game) {
    atomic_fetch_add(&game->switches_begun, 1);
}

void board_switch_end(struct game *game) {
    atomic_fetch_add(&game->switches_done, 1);
}

bool board_may_have_switched(struct game *game, const struct board *board, uint64_t seen,
                             struct scope in) {
    uint64_t done = atomic_load(&game->switches_done);
    uint64_t begun = atomic_load(&game->switches_begun);
    if (begun == seen)
        return false;
    return begun != done || !board_is_where_it_was(game, board, in);
}
