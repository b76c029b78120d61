/* What time does to boards: periods end and are sealed, sealed ones end their life, boards with an
 * end of their own go, and clearing that was broken off goes on.
 *
 * When a period is next due is kept in memory, from one walk over all instances at the start and
 * from the stream after that; plain boards that end, and clearing, are found by the table's index.
 * What is due is looked up again when its time comes: the note says when to look, not what to do.
 */
#include "base/clock.h"
#include "game/entry.h"
#include "game/keeper_int.h"
#include "game/record.h"
#include "game/turns.h"

#include <inttypes.h>

enum {
    WALK_PAGE = 500,
    ENDING_PAGE = 100,
    AGAIN_MS = 1000, /* after a failure */
};

/* --- noting --- */

void keeper_watch(struct keeper *keeper, const struct item *state) {
    struct arena *arena = &keeper->arena;
    int64_t ends_ms = item_int(state, BYTES("endsAt")),
            sealed_ms = item_int(state, BYTES("sealedAt"));
    int64_t expires_ms = item_int(state, BYTES("expiresAt")), at_ms = INT64_MAX;
    if (ends_ms != 0)
        at_ms = sealed_ms != 0 ? sealed_ms : ends_ms;
    if (expires_ms != 0 && expires_ms < at_ms)
        at_ms = expires_ms;
    /* A plain board's end is found by the index. */
    if (at_ms == INT64_MAX || item_get(state, BYTES("board")) == NULL ||
        item_get(state, BYTES("clearing")) != NULL)
        return;
    struct bytes key = item_string(state, BYTES("GSI1SK"));
    if (key.size != 0)
        dues_add(&keeper->dues, at_ms, entry_member_of(key, arena));
}

enum status keeper_walk(struct keeper *keeper, struct bytes board) {
    struct turns turns;
    struct bytes after = {0};
    enum status status = OK;
    bool more = true;
    turns_init(&turns);
    while (status == OK && more && !keeper_stopping(keeper)) {
        struct arena *arena = turns_next(&turns);
        struct failure failure;
        struct instance_list list;
        status = board_instances(keeper->game, board, after, WALK_PAGE, arena, &failure, &list);
        for (size_t i = 0; status == OK && i < list.count; i++)
            keeper_watch(keeper, &list.states[i]);
        more = status == OK && list.more && list.count != 0;
        if (more)
            after = list.names[list.count - 1];
    }
    turns_release(&turns);
    return status;
}

/* --- doing --- */

enum status keeper_clear(struct keeper *keeper, const struct board *board,
                         struct failure *failure) {
    enum status status = board_clear(keeper->game, board, false, &keeper->arena, failure);
    if (status == OK)
        keeper->figures.removed++;
    return status;
}

/* Marks an instance whose time is up, if it still is at the moment of the commit: a board that has
 * ended may be written anew, and is another one then. */
struct ending {
    struct action mark; /* as whoever clears does it */
    int64_t expires_ms, sealed_ms;
    bool marked; /* by us */
};

static enum status end_instance(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    struct ending *ending = action->user;
    ending->marked = old->count != 0 && item_get(old, BYTES("clearing")) == NULL &&
                     item_int(old, BYTES("expiresAt")) == ending->expires_ms &&
                     item_int(old, BYTES("sealedAt")) == ending->sealed_ms;
    return ending->marked ? ending->mark.compute(&ending->mark, old, arena, new) : OK;
}

enum status keeper_end(struct keeper *keeper, const struct board *board, struct failure *failure) {
    struct ending ending = {.expires_ms = board->expires_ms, .sealed_ms = board->sealed_ms};
    const struct board *marked;
    board_clear_action(keeper->game, board, &keeper->arena, &ending.mark);
    struct action action = ending.mark;
    action.compute = end_instance;
    action.user = &ending;
    struct change change = {
        .kind = CHANGE_WRITE, .arena = &keeper->arena, .actions = &action, .action_count = 1};
    enum status status = game_wait(keeper->game, &change);
    *failure = change.failure;
    if (status != OK || !ending.marked)
        return status;
    status = board_find(keeper->game, board->instance, &keeper->arena, failure, &marked);
    if (status != OK)
        return status;
    status = marked->clearing ? keeper_clear(keeper, marked, failure) : OK;
    board_drop(marked);
    return status;
}

static enum status seal(struct keeper *keeper, const struct board *board, struct failure *failure) {
    bool sealed = false;
    enum status status = keeper_seal(keeper->game, board, &keeper->arena, failure, &sealed);
    keeper->figures.sealed += sealed;
    return status;
}

/* When a sealed period's life ends; INT64_MAX: never. */
static int64_t life_ends(const struct board *board) {
    int64_t life_s = board->rules.period_life_s, ends_ms = board->period.ends_ms;
    if (life_s <= 0 || life_s > (INT64_MAX - ends_ms) / 1000)
        return INT64_MAX;
    return ends_ms + life_s * 1000;
}

/* Does what the instance needs now, and notes when it needs something again. */
static enum status tend(struct keeper *keeper, const struct board *board, int64_t now_ms,
                        struct failure *failure) {
    enum status status = OK;
    int64_t ends_ms = board->period.ends_ms, next_ms = ends_ms;
    if (!board->exists || board->clearing)
        return OK;
    if (board->expires_ms != 0 && board->expires_ms <= now_ms)
        return keeper_end(keeper, board, failure);
    if (ends_ms <= now_ms) {
        next_ms = life_ends(board);
        if (board->sealed_ms == 0)
            status = seal(keeper, board, failure);
        else if (next_ms <= now_ms)
            return keeper_end(keeper, board, failure);
    }
    if (board->expires_ms != 0 && board->expires_ms < next_ms)
        next_ms = board->expires_ms;
    if (status == OK && next_ms != INT64_MAX && !board->rules.plain)
        dues_add(&keeper->dues, next_ms, board->instance);
    return status;
}

/* An instance that cannot be found any more, its board gone or changed, needs nothing. */
static enum status tend_named(struct keeper *keeper, struct bytes name, int64_t now_ms) {
    struct failure failure = {0};
    const struct board *board;
    enum status status = board_find(keeper->game, name, &keeper->arena, &failure, &board);
    if (status != OK)
        return status == INVALID || status == NOT_FOUND ? OK : status;
    status = bytes_equal(board->instance, name) ? tend(keeper, board, now_ms, &failure) : OK;
    board_drop(board);
    return status;
}

static void tend_due(struct keeper *keeper, int64_t now_ms) {
    struct bytes name;
    while (!keeper_stopping(keeper) && dues_take(&keeper->dues, now_ms, &keeper->arena, &name)) {
        if (tend_named(keeper, name, now_ms) != OK) {
            keeper->figures.failures++;
            dues_add(&keeper->dues, now_ms + AGAIN_MS, name);
        }
        arena_reset(&keeper->arena);
    }
}

/* --- by the index --- */

enum status keeper_by_index(struct keeper *keeper, struct bytes partition, struct bytes before,
                            uint32_t limit, struct page_reply *out) {
    struct failure failure;
    struct key_condition keys = {.count = before.size != 0 ? 2 : 1};
    keys.tests[0] =
        (struct key_test){.name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(partition)};
    keys.tests[1] =
        (struct key_test){.name = BYTES("GSI2SK"), .op = KEY_LT, .low = value_string(before)};
    struct page_request request = {
        .table = keeper->game->table, .index = GAME_GSI2, .keys = &keys, .limit = limit};
    return engine_page(keeper->game->engine, &request, &keeper->arena, &failure, out);
}

static struct bytes name_of(struct keeper *keeper, const struct item *state) {
    return entry_member_of(item_string(state, BYTES("GSI1SK")), &keeper->arena);
}

/* Plain boards whose end has come. */
static enum status end_plain(struct keeper *keeper, int64_t now_ms) {
    struct page_reply page;
    bool more = true;
    enum status status = OK;
    while (more && status == OK && !keeper_stopping(keeper)) {
        struct bytes before = arena_printf(&keeper->arena, "%020" PRId64, now_ms + 1);
        uint64_t removed = keeper->figures.removed;
        status = keeper_by_index(keeper, BYTES("EXPIRING"), before, ENDING_PAGE, &page);
        for (uint64_t i = 0; status == OK && i < page.count; i++)
            status = tend_named(keeper, name_of(keeper, &page.items[i]), now_ms);
        more = status == OK && page.more && keeper->figures.removed > removed;
        arena_reset(&keeper->arena);
    }
    return status;
}

void keeper_boards(struct keeper *keeper) {
    int64_t now_ms = clock_now_ms();
    if (keeper->walk && keeper_walk(keeper, (struct bytes){0}) == OK)
        keeper->walk = false;
    arena_reset(&keeper->arena);
    tend_due(keeper, now_ms);
    if (end_plain(keeper, now_ms) != OK || keeper_clearing(keeper) != OK)
        keeper->figures.failures++;
}
