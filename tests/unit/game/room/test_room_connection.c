/* Connections of players, and of servers that go without a word. */
#include "game/world.h"

#include "base/clock.h"
#include "game/room/room_int.h"
#include "game/room/room_scheduler.h"

#include <time.h>

static struct bytes made(struct world *world) {
    struct room *room = ARENA_NEW(&world->arena, struct room);
    struct room_settings settings = {
        .kind = BYTES("kauwa-udd"), .host = BYTES("ann"), .host_name = BYTES("Ann")};
    struct change change = {.arena = &world->arena};
    assert_ok(
        room_make(world->game, &settings, (struct scope){&world->arena, &world->failure}, room),
        world->failure);
    assert_ok(
        room_join(room, &(struct seat_request){BYTES("bob"), BYTES("Bob"), false}, &world->failure),
        world->failure);
    room_save_prepare(room, &change);
    assert_ok(game_wait(world->game, &change), change.failure);
    return room->code;
}

static struct room *loaded(struct world *world, struct bytes code) {
    struct room *room = ARENA_NEW(&world->arena, struct room);
    assert_ok(room_load(world->game, code, (struct scope){&world->arena, &world->failure}, room),
              world->failure);
    return room;
}

static bool connected(struct world *world, struct bytes code, const char *player) {
    return room_seat(loaded(world, code), bytes_str(player))->connected;
}

static void turn(struct world *world, struct bytes code, bool open, const char *server,
                 const char *id, const char *player) {
    struct room *room = loaded(world, code);
    struct room_connection room_connection = {bytes_str(server), bytes_str(id), bytes_str(player)};
    struct change change = {.arena = &world->arena};
    enum status status = open ? room_connection_open(room, &room_connection, &world->failure)
                              : room_connection_close(room, &room_connection, &world->failure);
    assert_ok(status, world->failure);
    room_save_prepare(room, &change);
    assert_ok(game_wait(world->game, &change), change.failure);
}

static uint64_t held(struct world *world, const char *server) {
    struct page_reply page;
    assert_ok(room_connections_of_server(world->game, (struct held_request){bytes_str(server), 0},
                                         (struct scope){&world->arena, &world->failure}, &page),
              world->failure);
    return page.count;
}

static size_t lapsed(struct world *world, const char *own, struct lapsed_lease_list *list) {
    *list = (struct lapsed_lease_list){.own = bytes_str(own), .limit = 8};
    assert_ok(lapsed_lease_find(world->game, (struct scope){&world->arena, &world->failure}, list),
              world->failure);
    return list->count;
}

static enum status clear(struct world *world, const struct lapsed_lease *lapsed) {
    struct room *room = ARENA_NEW(&world->arena, struct room);
    struct change change = {.arena = &world->arena};
    struct lapsed_lease_clearing clearing = {world->game, lapsed, room, &change};
    enum status status =
        lapsed_lease_clear_prepare(&clearing, (struct scope){&world->arena, &world->failure});
    if (status != OK)
        return status;
    game_wait(world->game, &change);
    return room_save_result(&change, &world->failure);
}

static bool renewed(struct world *world, const char *server) {
    bool cleared;
    assert_ok(server_lease_renew(world->game, bytes_str(server),
                                 (struct scope){&world->arena, &world->failure}, &cleared),
              world->failure);
    return cleared;
}

static bool has_lease(struct world *world, const char *server) {
    struct get_request request = {
        .table = world->game->table,
        .key = game_key(&world->arena, server_pk(&world->arena, bytes_str(server)), ROOM_META),
        .consistent = true};
    struct get_reply reply;
    assert_ok(
        engine_get(world->engine, &request, (struct scope){&world->arena, &world->failure}, &reply),
        world->failure);
    return reply.found;
}

static void test_come_and_go(void **state) {
    struct world world;
    struct lapsed_lease_list list;
    (void)state;
    world_open(&world);
    struct bytes code = made(&world);
    turn(&world, code, true, "here", "1", "ann");
    turn(&world, code, true, "here", "2", "ann");
    assert_true(connected(&world, code, "ann"));
    turn(&world, code, false, "here", "1", "ann");
    assert_true(connected(&world, code, "ann")); /* by the other one */
    turn(&world, code, false, "here", "2", "ann");
    assert_false(connected(&world, code, "ann"));
    turn(&world, code, true, "here", "3", "cat"); /* who has no seat */
    assert_ok(server_lease_release(world.game, BYTES("here"),
                                   (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_true(has_lease(&world, "here")); /* one is left */
    turn(&world, code, false, "here", "3", "cat");
    assert_ok(server_lease_release(world.game, BYTES("here"),
                                   (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_false(has_lease(&world, "here"));
    clock_shift_ms(SERVER_LEASE_MS + 1);
    assert_int_equal(lapsed(&world, "there", &list), 0);
    world_close(&world);
}

/* Two servers; one goes without a word. */
static void test_gone(void **state) {
    struct world world;
    struct lapsed_lease_list list;
    (void)state;
    world_open(&world);
    struct bytes code = made(&world), other = made(&world);
    turn(&world, code, true, "here", "1", "ann");
    turn(&world, code, true, "there", "2", "ann");
    turn(&world, code, true, "here", "3", "bob");
    turn(&world, code, true, "here", "4", "bob");
    turn(&world, other, true, "here", "5", "ann");
    turn(&world, other, true, "there", "6", "bob");
    clock_shift_ms(SERVER_LEASE_MS - 100);
    assert_false(renewed(&world, "there"));
    assert_int_equal(lapsed(&world, "there", &list), 0); /* not yet */
    clock_shift_ms(101);
    assert_int_equal(lapsed(&world, "here", &list), 0); /* its own are its own affair */
    assert_int_equal(lapsed(&world, "there", &list), 2);
    assert_int_equal(clear(&world, &list.entries[0]), OK);
    assert_int_equal(clear(&world, &list.entries[1]), OK);
    assert_int_equal(clear(&world, &list.entries[1]), NOT_FOUND); /* another was faster */
    assert_true(connected(&world, code, "ann"));
    assert_false(connected(&world, code, "bob"));
    assert_false(connected(&world, other, "ann"));
    assert_true(connected(&world, other, "bob"));
    assert_int_equal(held(&world, "here"), 0);
    assert_int_equal(held(&world, "there"), 2);
    assert_int_equal(lapsed(&world, "there", &list), 1); /* the lease itself is left */
    assert_int_equal(list.entries[0].code.size, 0);
    assert_int_equal(clear(&world, &list.entries[0]), OK);
    assert_int_equal(lapsed(&world, "there", &list), 0);
    world_close(&world);
}

/* It was only slow: what it has renewed is not cleared, and what was cleared it hears of. */
static void test_slow(void **state) {
    struct world world;
    struct lapsed_lease_list list;
    (void)state;
    world_open(&world);
    struct bytes code = made(&world);
    turn(&world, code, true, "here", "1", "ann");
    clock_shift_ms(SERVER_LEASE_MS + 1);
    assert_int_equal(lapsed(&world, "there", &list), 1);
    assert_false(renewed(&world, "here"));
    assert_int_equal(clear(&world, &list.entries[0]), CONFLICT);
    assert_true(connected(&world, code, "ann"));
    clock_shift_ms(SERVER_LEASE_MS + 1);
    assert_int_equal(clear(&world, &list.entries[0]), OK);
    assert_false(connected(&world, code, "ann"));
    turn(&world, code, true, "here", "2", "bob"); /* does not hide that it was cleared */
    assert_true(renewed(&world, "here"));
    assert_false(renewed(&world, "here"));
    turn(&world, code, true, "here", "1", "ann");
    assert_int_equal(lapsed(&world, "there", &list), 0);
    assert_true(connected(&world, code, "ann"));
    world_close(&world);
}

/* Connections to a room that is no more. */
static void test_no_room(void **state) {
    struct world world;
    struct lapsed_lease_list list;
    (void)state;
    world_open(&world);
    struct bytes code = made(&world);
    turn(&world, code, true, "here", "1", "ann");
    struct action action = {.kind = ACTION_DELETE,
                            .table = world.game->table,
                            .item = game_key(&world.arena, room_pk(&world.arena, code), ROOM_META)};
    struct change change = write_of(&world.arena, &action, 1);
    assert_ok(game_wait(world.game, &change), change.failure);
    clock_shift_ms(SERVER_LEASE_MS + 1);
    assert_int_equal(lapsed(&world, "there", &list), 1);
    assert_int_equal(clear(&world, &list.entries[0]), OK);
    assert_int_equal(held(&world, "here"), 0);
    world_close(&world);
}

struct told {
    _Atomic int rooms, cleared;
};

static void told_room(void *user, struct bytes code, const struct room *room) {
    (void)code, (void)room;
    ((struct told *)user)->rooms++;
}

static void told_cleared(void *user) {
    ((struct told *)user)->cleared++;
}

/* The thread does all of it, of many rooms, and tells; and keeps its own lease. */
static void test_thread(void **state) {
    enum { ROOMS = 70 };
    struct world world;
    struct told told = {0};
    struct bytes codes[ROOMS];
    char id[16];
    (void)state;
    world_open(&world);
    for (int i = 0; i < ROOMS; i++) {
        codes[i] = made(&world);
        snprintf(id, sizeof(id), "%d", i);
        turn(&world, codes[i], true, "gone", id, "bob");
    }
    struct room_scheduler *scheduler = room_scheduler_start(world.game);
    room_scheduler_set_listener(scheduler,
                                &(struct room_scheduler_listener){
                                    .stepped = told_room, .cleared = told_cleared, .user = &told});
    const char *own = arena_str(&world.arena, room_scheduler_server_id(scheduler));
    room_scheduler_count_connections(scheduler, 1);
    turn(&world, codes[0], true, own, "own", "ann");
    clock_shift_ms(SERVER_LEASE_MS + 1);
    for (int i = 0; i < 30000 && told.rooms < ROOMS; i++)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    assert_int_equal(told.rooms, ROOMS);
    assert_int_equal(held(&world, "gone"), 0);
    for (int i = 0; i < ROOMS; i++)
        assert_false(connected(&world, codes[i], "bob"));
    assert_true(connected(&world, codes[0], "ann"));
    turn(&world, codes[0], false, own, "own", "ann");
    room_scheduler_count_connections(scheduler, -1);
    room_scheduler_stop(scheduler);
    assert_int_equal(told.cleared, 0);
    assert_false(has_lease(&world, own));
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_come_and_go), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_slow),        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
