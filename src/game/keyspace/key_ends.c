#include "game/keyspace/key_ends.h"

#include "game/keyspace/key_sweep.h"
#include "game/record.h"

#include <inttypes.h>

enum { PAGE = 50 };

/* The head of a key that was due when it was listed. */
struct due_key {
    int64_t now_ms;
    struct bytes generation;
};

/* Removes the head unless it has changed: then it may not be due any more. */
static enum status remove_due(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    const struct due_key *due = action->user;
    int64_t expires_ms = item_int(old, BYTES("expiresAt"));
    if (expires_ms == 0 || expires_ms > due->now_ms ||
        !bytes_equal(item_string(old, BYTES("generation")), due->generation))
        return failure_set(&action->failure, arena, CONDITION_FAILED, "The key has changed");
    *new = (struct item){0};
    return OK;
}

static enum status remove_key(struct game *game, const struct item *head, int64_t now_ms,
                              struct scope in) {
    struct key_address address = {.pk = item_string(head, GAME_PK)};
    struct due_key due = {now_ms, item_string(head, BYTES("generation"))};
    struct key_generation of = {game, &address, due.generation};
    if (address.pk.size == 0 || due.generation.size != KEY_GENERATION_SIZE)
        return NOT_FOUND; /* no head of ours: a client of another protocol has written it */
    struct action actions[2] = {
        game_compute_action(game, key_head_key(&address, in.arena), remove_due, &due),
        key_garbage_action(&of, in.arena)};
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = in.arena,
                            .actions = actions,
                            .action_count = 2,
                            .all_or_nothing = true};
    return game_wait(game, &change);
}

/* A key that is due has expired, or one of its fields has. */
static enum status end_key(struct game *game, const struct item *head, int64_t now_ms,
                           struct scope in) {
    int64_t expires_ms = item_int(head, BYTES("expiresAt"));
    bool large = item_string(head, BYTES("generation")).size != 0;
    return large && expires_ms != 0 && expires_ms <= now_ms
               ? remove_key(game, head, now_ms, in)
               : key_sweep_fields(game, head, now_ms, in);
}

enum status key_ends_step(struct game *game, int64_t now_ms, struct scope in, bool *more) {
    struct key_condition keys = {.count = 2};
    struct page_reply page = {0};
    bool removed = false;
    keys.tests[0] = (struct key_test){
        .name = BYTES("GSI2PK"), .op = KEY_EQ, .low = value_string(BYTES("KEYENDS"))};
    keys.tests[1] =
        (struct key_test){.name = BYTES("GSI2SK"),
                          .op = KEY_LT,
                          .low = value_string(arena_printf(in.arena, "%020" PRId64, now_ms + 1))};
    struct page_request request = {
        .table = game->table, .index = GAME_GSI2, .keys = &keys, .limit = PAGE};
    *more = false;
    enum status status = engine_page(game->engine, &request, in, &page);
    for (uint64_t i = 0; i < page.count && status == OK; i++) {
        enum status done = end_key(game, &page.items[i], now_ms, in);
        removed = removed || done == OK;
        status = done == IO_FAILED ? done : OK;
    }
    *more = status == OK && page.more && removed;
    return status;
}
