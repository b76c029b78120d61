/* An instance's own item: made with the first entry, told when the instance ends. */
#include "base/clock.h"
#include "game/board_int.h"
#include "game/entry.h"
#include "game/record.h"

#include <inttypes.h>

bool board_is_gone(const struct board *board, int64_t now_ms) {
    return board->clearing || (board->expires_ms != 0 && board->expires_ms <= now_ms);
}

bool board_is_there(struct game *game, const struct board *board, struct arena *arena) {
    struct key_condition keys = {.count = 1};
    struct page_request request = {
        .table = game->table, .index = GAME_RANKS, .keys = &keys, .select = SELECT_COUNT};
    struct page_reply reply = {0};
    struct failure failure;
    if (board->exists || !board->rules.plain)
        return true;
    keys.tests[0] =
        (struct key_test){.name = GAME_PK, .op = KEY_EQ, .low = value_string(board->pk)};
    return engine_page(game->engine, &request, arena, &failure, &reply) == OK && reply.count != 0;
}

enum status board_check_open(const struct board *board, int64_t now_ms, struct arena *arena,
                             struct failure *failure) {
    if (board->sealed_ms != 0 || now_ms >= board->period.ends_ms)
        return failure_set(failure, arena, INVALID,
                           "Board %.*s has ended: it can be read, not written",
                           BYTES_ARG(board->instance));
    if (now_ms < board->period.starts_ms)
        return failure_set(failure, arena, INVALID, "Board %.*s has not begun yet",
                           BYTES_ARG(board->instance));
    if (board_is_gone(board, now_ms))
        return failure_set(failure, arena, BUSY,
                           "Board %.*s is being cleared: it can be written when that is done",
                           BYTES_ARG(board->instance));
    return OK;
}

/* --- the item --- */

static struct bytes key_in(const struct board *board) {
    return bytes_skip(board->pk, sizeof(BOARD) - 1);
}

static struct item state_key(const struct board *board, struct arena *arena) {
    return game_key(arena, record_join(arena, INSTANCE, key_in(board)), BYTES("STATE"));
}

void board_put_place(struct record *record, const struct board *board, int64_t expires_ms) {
    struct arena *arena = record->arena;
    if (!board->rules.plain) {
        record_string(record, BYTES("GSI2PK"), record_join(arena, BOARD, board->rules.id));
        record_string(record, BYTES("GSI2SK"),
                      arena_printf(arena, "%.*s@%.*s", BYTES_ARG(board->scope),
                                   BYTES_ARG(board->period.name)));
    } else if (expires_ms != 0) {
        record_string(record, BYTES("GSI2PK"), BYTES("EXPIRING"));
        struct bytes digits = arena_printf(arena, "%020" PRId64 "#", expires_ms);
        record_string(record, BYTES("GSI2SK"),
                      record_join(arena, arena_str(arena, digits), key_in(board)));
    }
}

static struct item make_state(const struct board *board, int64_t now_ms, struct arena *arena) {
    struct record record = record_of(arena);
    struct bytes key = key_in(board);
    record_string(&record, GAME_PK, record_join(arena, INSTANCE, key));
    record_string(&record, GAME_SK, BYTES("STATE"));
    record_string(&record, BYTES("GSI1PK"), BYTES("INSTANCES"));
    record_string(&record, BYTES("GSI1SK"), key);
    board_put_place(&record, board, 0);
    record_int(&record, BYTES("createdAt"), now_ms);
    if (!board->rules.plain) {
        record_string(&record, BYTES("board"), board->rules.id);
        record_string(&record, BYTES("scope"), board->scope);
        record_string(&record, BYTES("period"), board->period.name);
    }
    if (board->period.name.size != 0) {
        record_int(&record, BYTES("startsAt"), board->period.starts_ms);
        record_int(&record, BYTES("endsAt"), board->period.ends_ms);
    }
    return record_item(&record);
}

static enum status make(struct action *action, const struct item *old, struct arena *arena,
                        struct item *new) {
    const struct item *made = action->user;
    if (old->count == 0) {
        *new = *made;
        return OK;
    }
    if (item_get(old, BYTES("clearing")) != NULL)
        return failure_set(&action->failure, arena, BUSY,
                           "The board is being cleared: it can be written when that is done");
    if (item_get(old, BYTES("sealedAt")) != NULL)
        return failure_set(&action->failure, arena, INVALID,
                           "The board has ended: it can be read, not written");
    return OK;
}

void board_make_action(struct game *game, const struct board *board, struct arena *arena,
                       struct action *out) {
    struct item *made = ARENA_NEW(arena, struct item);
    *made = make_state(board, clock_now_ms(), arena);
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = state_key(board, arena),
                           .compute = make,
                           .user = made};
}

/* --- when it ends --- */

struct expiring {
    const struct board *board;
    struct item made;
    int64_t expires_ms;
};

static enum status expire(struct action *action, const struct item *old, struct arena *arena,
                          struct item *new) {
    const struct expiring *by = action->user;
    struct item state = old->count == 0 ? by->made : *old;
    struct record place = record_of(arena);
    if (item_get(old, BYTES("clearing")) != NULL)
        return OK;
    struct value when = value_int(arena, by->expires_ms);
    state = item_with(arena, &state, BYTES("expiresAt"), by->expires_ms == 0 ? NULL : &when);
    state = item_with(arena, &state, BYTES("GSI2PK"), NULL);
    state = item_with(arena, &state, BYTES("GSI2SK"), NULL);
    board_put_place(&place, by->board, by->expires_ms);
    for (uint32_t i = 0; i < place.count; i++)
        state = item_with(arena, &state, place.pairs[i].name, &place.pairs[i].value);
    *new = state;
    return OK;
}

void board_expire_action(struct game *game, const struct board *board, int64_t expires_ms,
                         struct arena *arena, struct action *out) {
    struct expiring *by = ARENA_NEW(arena, struct expiring);
    *by = (struct expiring){board, make_state(board, clock_now_ms(), arena), expires_ms};
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = state_key(board, arena),
                           .compute = expire,
                           .user = by};
}
