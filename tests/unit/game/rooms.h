/* What the tests of rooms and of the kinds of games share: a room that Ann has made, and what
 * people do in it, each loaded, done and saved as a server does. */
#ifndef GT_TEST_ROOMS_H
#define GT_TEST_ROOMS_H

#include "game/world.h"

#include "game/record.h"
#include "game/room/match.h"

static inline struct bytes made(struct world *world, const char *kind, unsigned capacity) {
    struct room *room = ARENA_NEW(&world->arena, struct room);
    struct room_settings settings = {.kind = bytes_str(kind),
                                     .capacity = capacity,
                                     .listed = true,
                                     .host = BYTES("ann"),
                                     .host_name = BYTES("Ann")};
    struct change change = {.arena = &world->arena};
    assert_ok(
        room_make(world->game, &settings, (struct scope){&world->arena, &world->failure}, room),
        world->failure);
    room_save_prepare(room, &change);
    assert_ok(game_wait(world->game, &change), change.failure);
    return room->code;
}

static inline struct room *loaded(struct world *world, struct bytes code) {
    struct room *room = ARENA_NEW(&world->arena, struct room);
    assert_ok(room_load(world->game, code, (struct scope){&world->arena, &world->failure}, room),
              world->failure);
    return room;
}

static inline enum status saved(struct world *world, struct room *room) {
    struct change change = {.arena = &world->arena};
    room_save_prepare(room, &change);
    game_wait(world->game, &change);
    enum status status = room_save_result(&change, &world->failure);
    room_release(room);
    return status;
}

static inline enum status join(struct world *world, struct bytes code, const char *player) {
    struct room *room = loaded(world, code);
    struct seat_request seat = {bytes_str(player), bytes_str(player), false};
    enum status status = room_join(room, &seat, &world->failure);
    return status == OK ? saved(world, room) : status;
}

static inline enum status ready(struct world *world, struct bytes code, const char *player) {
    struct room *room = loaded(world, code);
    enum status status = room_ready(room, bytes_str(player), true, &world->failure);
    return status == OK ? saved(world, room) : status;
}

static inline enum status start(struct world *world, struct bytes code) {
    struct room *room = loaded(world, code);
    enum status status = room_start(room, BYTES("ann"), &world->failure);
    return status == OK ? saved(world, room) : status;
}

static inline enum status step(struct world *world, struct bytes code, const char *owner) {
    struct room *room = loaded(world, code);
    enum status status = room_step(room, bytes_str(owner), &world->failure);
    return status == OK ? saved(world, room) : status;
}

#endif
