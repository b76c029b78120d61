/* Seats found by who sits in them. */
#include "game/world.h"

#include "base/clock.h"
#include "game/player/player.h"
#include "game/record.h"
#include "game/room/room_int.h"
#include "game/room/room_seats.h"

static struct bytes made(struct world *world, const char *host) {
    struct room *room = ARENA_NEW(&world->arena, struct room);
    struct room_settings settings = {
        .kind = BYTES("snakes-and-ladders"), .host = bytes_str(host), .host_name = BYTES("Host")};
    enum status status;
    do { /* a code may be taken: then another one is drawn, as the front ends do */
        struct change change = {.arena = &world->arena};
        assert_ok(
            room_make(world->game, &settings, (struct scope){&world->arena, &world->failure}, room),
            world->failure);
        room_save_prepare(room, &change);
        game_wait(world->game, &change);
        status = room_save_result(&change, &world->failure);
    } while (status == CONFLICT);
    assert_ok(status, world->failure);
    clock_shift_ms(1000);
    return room->code;
}

static struct room *loaded(struct world *world, struct bytes code) {
    struct room *room = ARENA_NEW(&world->arena, struct room);
    assert_ok(room_load(world->game, code, (struct scope){&world->arena, &world->failure}, room),
              world->failure);
    return room;
}

static void saved(struct world *world, struct room *room) {
    struct change change = {.arena = &world->arena};
    room_save_prepare(room, &change);
    game_wait(world->game, &change);
    assert_ok(room_save_result(&change, &world->failure), world->failure);
    room_release(room);
}

static void join(struct world *world, struct bytes code, const char *player) {
    struct room *room = loaded(world, code);
    struct seat_request seat = {bytes_str(player), bytes_str(player), false};
    assert_ok(room_join(room, &seat, &world->failure), world->failure);
    saved(world, room);
}

static struct room_seats list(struct world *world, const char *player, size_t limit,
                              const struct item *after) {
    struct room_seats_query query = {
        .game = world->game, .player = bytes_str(player), .limit = limit, .after = after};
    struct room_seats out;
    assert_ok(room_seats_list(&query, (struct scope){&world->arena, &world->failure}, &out),
              world->failure);
    return out;
}

static void test_found_by_player(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct bytes one = made(&world, "ann"), two = made(&world, "bob"), three = made(&world, "ann");
    join(&world, two, "ann");
    struct room_seats seats = list(&world, "ann", 2, NULL);
    /* The last one joined first. */
    assert_int_equal(seats.seats.count, 2);
    assert_true(seats.seats.more);
    assert_bytes_equal(item_string(&seats.rooms[0], ROOM_CODE), two);
    assert_bytes_equal(item_string(&seats.rooms[1], ROOM_CODE), three);
    assert_bytes_equal(item_string(&seats.seats.items[0], SEAT_PLAYER), BYTES("ann"));
    struct item after = seats.seats.last_key;
    seats = list(&world, "ann", 2, &after);
    assert_int_equal(seats.seats.count, 1);
    assert_bytes_equal(item_string(&seats.rooms[0], ROOM_CODE), one);
    assert_int_equal(list(&world, "bob", 9, NULL).seats.count, 1);
    assert_int_equal(list(&world, "an", 9, NULL).seats.count, 0);
    /* Who leaves is not there any more. */
    struct room *room = loaded(&world, two);
    assert_ok(room_leave(room, BYTES("ann"), &world.failure), world.failure);
    saved(&world, room);
    assert_int_equal(list(&world, "ann", 9, NULL).seats.count, 2);
    world_close(&world);
}

static uint64_t exported_seats(struct world *world, const char *id) {
    struct page_reply page = {0};
    struct item after = {0};
    uint64_t count = 0;
    do {
        struct player_export_request request = {bytes_str(id), after.count != 0 ? &after : NULL};
        assert_ok(player_export(world->game, &request,
                                (struct scope){&world->arena, &world->failure}, &page),
                  world->failure);
        for (uint64_t i = 0; i < page.count; i++)
            count += bytes_starts(item_string(&page.items[i], GAME_PK), BYTES("ROOM#"));
        after = page.last_key;
    } while (page.more);
    return count;
}

/* Erased, a player has left all rooms, as if it had gone by itself. */
static void test_exported_and_erased(void **state) {
    enum { ROOMS = 210 };
    struct world world;
    uint64_t count;
    (void)state;
    world_open(&world);
    struct bytes with_bob = made(&world, "ann"), alone = made(&world, "ann");
    join(&world, with_bob, "bob");
    for (int i = 2; i < ROOMS; i++)
        made(&world, "ann");
    /* A seat whose room is gone, and an item of somebody's own in the same place of the index. */
    put_item(world.engine, &world.arena, "gametable",
             item_of(&world.arena, "PK=S:ROOM#BBBBB", "SK=S:PLAYER#ann", "GSI1PK=S:PLAYER#ann",
                     "GSI1SK=S:ROOM#0#BBBBB", NULL));
    put_item(world.engine, &world.arena, "gametable",
             item_of(&world.arena, "PK=S:MINE", "SK=S:1", "GSI1PK=S:PLAYER#ann", "GSI1SK=S:ROOM#9",
                     NULL));
    assert_int_equal(exported_seats(&world, "ann"), ROOMS + 1);
    assert_ok(player_erase(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure},
                           &count),
              world.failure);
    assert_int_equal(count, ROOMS + 1);
    assert_int_equal(exported_seats(&world, "ann"), 0);
    struct room *room = loaded(&world, with_bob);
    assert_bytes_equal(room->host, BYTES("bob"));
    assert_int_equal(room->seat_count, 1);
    room_release(room);
    room = loaded(&world, alone);
    assert_int_equal(room->status, ROOM_CLOSED);
    assert_int_equal(room->seat_count, 0);
    room_release(room);
    assert_int_equal(list(&world, "bob", 9, NULL).seats.count, 1);
    struct item mine;
    assert_true(get_item(world.engine, &world.arena, "gametable",
                         game_key(&world.arena, BYTES("MINE"), BYTES("1")), &mine));
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_by_player),
        cmocka_unit_test(test_exported_and_erased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
