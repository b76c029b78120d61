/* What the tests of players share: profiles, and entries on boards that are a player's. */
#ifndef GT_TEST_PLAYER_TEST_H
#define GT_TEST_PLAYER_TEST_H

#include "game/player/player.h"
#include "game/record.h"
#include "game/world.h"

/* Makes or replaces a profile. */
static inline enum status put_player(struct world *world, const char *id, const char *name,
                                     const char *email, bool create) {
    struct change change = {.arena = &world->arena};
    struct player player = {
        .id = bytes_str(id), .name = bytes_str(name), .email = bytes_str(email)};
    enum status status = create
                             ? player_create_prepare(world->game, &player, &change, &world->failure)
                             : player_put_prepare(world->game, &player, &change, &world->failure);
    return status == OK ? game_wait(world->game, &change) : status;
}

/* Whose address it is; empty: nobody's. */
static inline struct bytes owner_of(struct world *world, const char *email) {
    struct player player;
    enum status status = player_by_email(world->game, bytes_str(email),
                                         (struct scope){&world->arena, &world->failure}, &player);
    assert_true(status == OK || status == NOT_FOUND);
    return status == OK ? player.id : (struct bytes){0};
}

/* An item of the table; empty if it is not there. */
static inline struct item get_record(struct world *world, const char *pk, const char *sk) {
    struct item item = {0};
    get_item(world->engine, &world->arena, "gametable",
             game_key(&world->arena, bytes_str(pk), bytes_str(sk)), &item);
    return item;
}

/* An entry by score alone, as ZADD writes it. */
static inline void zadd(struct world *world, const char *board, const char *member, double score) {
    world_put(world, board, bytes_str(member),
              (struct entry_write){.points = points_of_double(&world->arena, score)});
}

/* Says whose it is, as a submission does. */
static inline void mark_entry(struct world *world, const char *board, const char *member) {
    struct item item =
        get_record(world, (char *)arena_printf(&world->arena, "BOARD#%s%c", board, 0).data, member);
    struct value player = value_string(arena_printf(&world->arena, "PLAYER#%s", member));
    struct value place = *item_get(&item, GAME_PK);
    item = item_with(&world->arena, &item, BYTES("GSI1PK"), &player);
    item = item_with(&world->arena, &item, BYTES("GSI1SK"), &place);
    put_item(world->engine, &world->arena, "gametable", item);
}

/* How many entries the board shows. */
static inline uint64_t total_on(struct world *world, const char *name) {
    const struct board *board = world_board(world, name);
    uint64_t count;
    assert_ok(
        standings_total(world->game, board, (struct scope){&world->arena, &world->failure}, &count),
        world->failure);
    board_drop(board);
    return count;
}

static inline void hide_player(struct world *world, const char *id, bool hidden) {
    assert_ok(player_hide(world->game, bytes_str(id), hidden,
                          (struct scope){&world->arena, &world->failure}),
              world->failure);
}

#endif
