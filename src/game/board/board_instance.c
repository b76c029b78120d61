/* Instances: their names, ID[/SCOPE][@PERIOD]; whether they can be read and written; and their own
 * item (INSTANCE#), which is made in the commit of the first entry and says when the instance
 * expires, if it does. */
#include "base/clock.h"
#include "game/board/board_generation.h"
#include "game/board/board_int.h"
#include "game/board/entry.h"
#include "game/board/standings_index.h"
#include "game/record.h"
#include "table/inprocess.h"

#include <inttypes.h>

/* --- names --- */

bool board_is_id(struct bytes text) {
    if (text.size == 0 || text.size > BOARD_ID_MAX)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '.' && c != ':' && c != '-')
            return false;
    }
    return true;
}

/* Cuts off what stands after the first `at`, if there is one. */
static bool split_at(struct bytes *text, char at, struct bytes *rest) {
    const uint8_t *found = text->size == 0 ? NULL : memchr(text->data, at, text->size);
    if (found == NULL)
        return false;
    size_t before = (size_t)(found - text->data);
    *rest = bytes_skip(*text, before + 1);
    text->size = before;
    return true;
}

struct board_name board_name_of(struct bytes name) {
    struct board_name parts = {.id = name};
    parts.has_period = split_at(&parts.id, '@', &parts.period);
    parts.has_scope = split_at(&parts.id, '/', &parts.scope);
    return parts;
}

struct bytes board_name_join(const struct board_name *name, struct arena *arena) {
    size_t size = name->id.size + name->scope.size + name->period.size + 2;
    uint8_t *joined = arena_alloc(arena, size), *to = joined;
    const struct bytes *parts[] = {&name->id, &name->scope, &name->period};
    const bool has[] = {true, name->scope.size != 0, name->period.size != 0};
    for (unsigned i = 0; i < 3; i++) {
        if (!has[i])
            continue;
        if (i > 0)
            *to++ = i == 1 ? '/' : '@';
        if (parts[i]->size != 0)
            memcpy(to, parts[i]->data, parts[i]->size);
        to += parts[i]->size;
    }
    return bytes_of(joined, (size_t)(to - joined));
}

struct bytes board_entries_partition(struct bytes name, struct arena *arena) {
    struct bytes key = name;
    struct failure too_long; /* then there is no such board, and the name will do */
    entry_key_of(name, (struct scope){arena, &too_long}, &key);
    return record_join(arena, BOARD, key);
}

struct bytes board_scope_kind(struct bytes scope) {
    struct bytes rest;
    if (scope.size == 0)
        return BYTES("global");
    split_at(&scope, ':', &rest);
    return scope;
}

bool board_has_scope(const struct board_rules *rules, struct bytes scope) {
    struct bytes kind = board_scope_kind(scope);
    if (rules->plain || rules->scope_count == 0)
        return scope.size == 0;
    for (uint32_t i = 0; i < rules->scope_count; i++)
        if (bytes_equal(rules->scopes[i], kind) ||
            (scope.size != 0 && bytes_equal(rules->scopes[i], BYTES("*"))))
            return true;
    return false;
}

/* --- whether it can be read and written --- */

bool board_is_gone(const struct board *board, int64_t now_ms) {
    return board->clearing || (board->expires_ms != 0 && board->expires_ms <= now_ms);
}

bool board_is_sealed(const struct board *board, int64_t now_ms) {
    return board->sealed_ms != 0 || now_ms >= board->period.ends_ms;
}

bool board_exists(struct game *game, const struct board *board, struct arena *arena) {
    struct failure failure;
    struct standings_query query = {game, board, arena, &failure};
    uint64_t count = 0;
    if (board->exists || !board->rules.plain)
        return true;
    return standings_index_count(&query, &(struct rank_window){0}, &count) == OK && count != 0;
}

enum status board_check_open(const struct board *board, int64_t now_ms, struct scope in) {
    if (board_is_sealed(board, now_ms))
        return failure_set(in.failure, in.arena, INVALID,
                           "Board %.*s has ended: it can be read, not written",
                           BYTES_ARG(board->instance));
    if (now_ms < board->period.starts_ms)
        return failure_set(in.failure, in.arena, INVALID, "Board %.*s has not begun yet",
                           BYTES_ARG(board->instance));
    if (board_is_gone(board, now_ms))
        return failure_set(in.failure, in.arena, BUSY,
                           "Board %.*s is being cleared: it can be written when that is done",
                           BYTES_ARG(board->instance));
    return OK;
}

/* --- the item --- */

struct bytes board_state_partition(const struct board *board, struct arena *arena) {
    return record_join(arena, INSTANCE, board->key);
}

static struct item state_key(const struct board *board, struct arena *arena) {
    return game_key(arena, board_state_partition(board, arena), BYTES("STATE"));
}

void board_put_index_keys(struct record *record, const struct board *board, int64_t expires_ms) {
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
                      record_join(arena, arena_str(arena, digits), board->key));
    }
}

static struct item make_state(const struct board *board, int64_t now_ms, struct arena *arena) {
    struct record record = record_of(arena);
    struct bytes key = board->key;
    record_string(&record, GAME_PK, record_join(arena, INSTANCE, key));
    record_string(&record, GAME_SK, BYTES("STATE"));
    record_string(&record, BYTES("GSI1PK"), BYTES("INSTANCES"));
    record_string(&record, BYTES("GSI1SK"), key);
    board_put_index_keys(&record, board, 0);
    record_int(&record, BYTES("createdAt"), now_ms);
    record_string(&record, BOARD_GENERATION, board->generation);
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

static enum status create_state(struct action *action, const struct item *old, struct arena *arena,
                                struct item *new) {
    const struct item *made = action->user;
    if (old->count == 0) {
        *new = *made;
        return OK;
    }
    if (item_get(old, BYTES("clearing")) != NULL)
        return failure_set(&action->failure, arena, BUSY,
                           "The board is being cleared: it can be written when that is done");
    if (!bytes_equal(item_string(old, BOARD_GENERATION), item_string(made, BOARD_GENERATION)))
        return failure_set(&action->failure, arena, BUSY,
                           "The board was replaced just now: try again");
    if (item_get(old, BYTES("sealedAt")) != NULL)
        return failure_set(&action->failure, arena, INVALID,
                           "The board has ended: it can be read, not written");
    return OK;
}

/* Near its end a board may be sealed while an entry is on its way, and clocks differ: then the
 * entry's commit has to see that it was not. */
static bool ends_soon(const struct board *board) {
    return board->period.ends_ms != INT64_MAX &&
           clock_now_ms() > board->period.ends_ms - LIMIT_SEAL_CHECKED_MS;
}

void board_create_action(struct game *game, const struct board *board, struct arena *arena,
                         struct action *out) {
    struct item *made = ARENA_NEW(arena, struct item);
    *made = make_state(board, clock_now_ms(), arena);
    *out = (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = state_key(board, arena),
                           .compute = create_state,
                           .user = made,
                           .unchecked = !ends_soon(board)};
}

enum status board_state_key(struct bytes name, struct scope in, struct item *out) {
    struct bytes key;
    enum status status = entry_key_of(name, in, &key);
    if (status == OK)
        *out = game_key(in.arena, record_join(in.arena, INSTANCE, key), BYTES("STATE"));
    return status;
}

static enum status has_entries(struct game *game, struct bytes name, struct scope in, bool *out) {
    struct key_condition keys = {.count = 1};
    keys.tests[0] = (struct key_test){.name = GAME_PK,
                                      .op = KEY_EQ,
                                      .low = value_string(board_entries_partition(name, in.arena))};
    struct page_request request = {
        .table = game->table, .index = GAME_RANKS, .keys = &keys, .select = SELECT_COUNT};
    struct page_reply reply = {0};
    enum status status = engine_page(game->engine, &request, in, &reply);
    *out = reply.count != 0;
    return status;
}

enum status board_name_is_free(struct game *game, struct bytes name, struct scope in, bool *out) {
    struct board_name parts = board_name_of(name);
    struct get_request requests[2] = {{.table = game->table, .consistent = true},
                                      {.table = game->table, .consistent = true}};
    struct get_reply replies[2] = {0};
    size_t count = 1;
    bool entries = false;
    enum status status = board_state_key(name, in, &requests[0].key);
    if (board_is_id(parts.id))
        requests[count++].key =
            game_key(in.arena, record_join(in.arena, BOARDDEF, parts.id), BYTES("META"));
    if (status == OK)
        status = engine_get_many(game->engine, requests, count, in, replies);
    *out = !replies[0].found && !replies[1].found;
    if (status == OK && *out)
        status = has_entries(game, name, in, &entries);
    *out = *out && !entries;
    return status;
}

/* Whether it is known that there is neither an entry nor a definition of the name, nor, if `state`,
 * the item of an instance. */
static bool is_surely_absent(struct game *game, struct bytes name, bool state,
                             struct arena *arena) {
    struct bytes id = board_name_of(name).id, key;
    struct value partitions[3];
    size_t count = 0;
    struct failure too_long;
    if (entry_key_of(name, (struct scope){arena, &too_long}, &key) != OK)
        return false;
    if (state)
        partitions[count++] = value_string(record_join(arena, INSTANCE, key));
    partitions[count++] = value_string(record_join(arena, BOARD, key));
    if (board_is_id(id))
        partitions[count++] = value_string(record_join(arena, BOARDDEF, id));
    return engine_partitions_absent(game->engine, game->table, partitions, count);
}

bool board_name_is_surely_free(struct game *game, struct bytes name, struct arena *arena) {
    return is_surely_absent(game, name, true, arena);
}

bool board_is_surely_empty(struct game *game, struct bytes name, struct arena *arena) {
    return is_surely_absent(game, name, false, arena);
}

/* --- expiry --- */

struct item board_state_expiring(const struct board *board, const struct item *old,
                                 int64_t expires_ms, struct arena *arena) {
    struct item state = old->count == 0 ? make_state(board, clock_now_ms(), arena) : *old;
    struct record index_keys = record_of(arena);
    struct value when = value_int(arena, expires_ms);
    state = item_with(arena, &state, BYTES("expiresAt"), expires_ms == 0 ? NULL : &when);
    state = item_with(arena, &state, BYTES("GSI2PK"), NULL);
    state = item_with(arena, &state, BYTES("GSI2SK"), NULL);
    board_put_index_keys(&index_keys, board, expires_ms);
    for (uint32_t i = 0; i < index_keys.count; i++)
        state = item_with(arena, &state, index_keys.pairs[i].name, &index_keys.pairs[i].value);
    return state;
}

struct expiring {
    const struct board *board;
    int64_t expires_ms;
};

static enum status set_expiry(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const struct expiring *by = action->user;
    if (item_get(old, BYTES("clearing")) == NULL)
        *new = board_state_expiring(by->board, old, by->expires_ms, arena);
    return OK;
}

struct action board_expire_action(struct game *game, const struct board *board, int64_t expires_ms,
                                  struct arena *arena) {
    struct expiring *by = ARENA_NEW(arena, struct expiring);
    *by = (struct expiring){board, expires_ms};
    return (struct action){.kind = ACTION_COMPUTE,
                           .table = game->table,
                           .item = state_key(board, arena),
                           .compute = set_expiry,
                           .user = by};
}
