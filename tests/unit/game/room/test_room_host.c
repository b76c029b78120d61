/* What a host may do, who is the host when it has gone, bots, and those who are away. */
#include "game/rooms.h"

#include "base/clock.h"
#include "game/kinds/kauwa_udd_objects.h"
#include "game/room/room_connection.h"
#include "game/room/room_int.h"

static void prepare(struct world *world) {
    world_open(world);
    struct scope in = {&world->arena, &world->failure};
    assert_ok(kauwa_objects_seed(world->game, in), world->failure);
    assert_ok(match_boards(world->game, in), world->failure);
}

static void connect(struct world *world, struct bytes code, const char *player, bool here) {
    struct room *room = loaded(world, code);
    struct room_connection line = {.id = bytes_str(player), .player = bytes_str(player)};
    enum status status = here ? room_connection_open(room, &line, &world->failure)
                              : room_connection_close(room, &line, &world->failure);
    assert_ok(status, world->failure);
    assert_int_equal(saved(world, room), OK);
}

/* A room of Kauwa Udd with ann and bob, both connected. */
static struct bytes with_two(struct world *world, const char *kind) {
    struct bytes code = made(world, kind, 0);
    assert_int_equal(join(world, code, "bob"), OK);
    connect(world, code, "ann", true);
    connect(world, code, "bob", true);
    return code;
}

static void let_it_come(struct world *world, struct bytes code) {
    clock_shift_ms(loaded(world, code)->due_ms - clock_now_ms());
    assert_int_equal(step(world, code, "server"), OK);
}

static void test_host_gone(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = with_two(&world, "kauwa-udd");
    connect(&world, code, "ann", false);
    struct room *room = loaded(&world, code);
    assert_bytes_equal(room->host, BYTES("ann"));
    assert_in_range(room->due_ms - room->now_ms, ROOM_HOST_GRACE_MS - 1000, ROOM_HOST_GRACE_MS);
    connect(&world, code, "ann", true); /* back in time */
    assert_int_equal(loaded(&world, code)->due_ms, 0);
    connect(&world, code, "ann", false);
    let_it_come(&world, code);
    room = loaded(&world, code);
    assert_bytes_equal(room->host, BYTES("bob"));
    assert_int_equal(room->due_ms, 0);
    /* with nobody else there it stays whose it is */
    connect(&world, code, "bob", false);
    assert_int_equal(loaded(&world, code)->due_ms, 0);
    world_close(&world);
}

static void test_host_gone_in_match(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = with_two(&world, "kauwa-udd");
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(start(&world, code), OK);
    connect(&world, code, "ann", false);
    for (int i = 0; i < 20 && bytes_equal(loaded(&world, code)->host, BYTES("ann")); i++)
        let_it_come(&world, code);
    assert_bytes_equal(loaded(&world, code)->host, BYTES("bob"));
    world_close(&world);
}

static void test_ban(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = with_two(&world, "kauwa-udd");
    struct room *room = loaded(&world, code);
    struct room_invitation before = {code, room->created_ms, room->invitation};
    assert_true(room_invitation_holds(room, &before));
    assert_int_equal(room_kick(room, BYTES("ann"), BYTES("bob"), &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    assert_int_equal(join(&world, code, "bob"), OK); /* taken out, not for good */
    room = loaded(&world, code);
    assert_int_equal(room_ban(room, BYTES("bob"), BYTES("ann"), &world.failure), DENIED);
    assert_int_equal(room_ban(room, BYTES("ann"), BYTES("ann"), &world.failure), INVALID);
    assert_int_equal(room_ban(room, BYTES("ann"), BYTES("bob"), &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    assert_int_equal(join(&world, code, "bob"), DENIED);
    assert_int_equal(join(&world, code, "cat"), OK);
    assert_false(room_invitation_holds(loaded(&world, code), &before));
    world_close(&world);
}

static enum status change(struct world *world, struct bytes code, const char *kind,
                          const struct item *options) {
    struct room *room = loaded(world, code);
    struct room_changes changes = {bytes_str(kind), options};
    enum status status = room_change(room, BYTES("ann"), &changes, &world->failure);
    return status == OK ? saved(world, room) : status;
}

static void test_change(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = with_two(&world, "kauwa-udd");
    struct record record = record_of(&world.arena);
    record_int(&record, BYTES("rounds"), 5);
    struct item options = record_item(&record);
    assert_int_equal(change(&world, code, "", &options), OK);
    assert_int_equal(match_option_number(loaded(&world, code), "rounds"), 5);
    assert_int_equal(change(&world, code, "four-in-a-row", &options), INVALID); /* has no rounds */
    assert_int_equal(change(&world, code, "four-in-a-row", NULL), OK);
    struct room *room = loaded(&world, code);
    assert_string_equal(room->kind->name, "four-in-a-row");
    assert_int_equal(room->capacity, 2);
    assert_int_equal(room->options.count, 0);
    assert_int_equal(change(&world, code, "kauwa-udd", NULL), OK);
    assert_int_equal(join(&world, code, "cat"), OK);
    assert_int_equal(change(&world, code, "four-in-a-row", NULL), INVALID); /* too many */
    assert_int_equal(change(&world, code, "chess", NULL), INVALID);
    room = loaded(&world, code);
    assert_int_equal(room_change(room, BYTES("bob"), &(struct room_changes){0}, &world.failure),
                     DENIED);
    world_close(&world);
}

static enum status play(struct world *world, struct bytes code, const char *player, bool plays) {
    struct room *room = loaded(world, code);
    enum status status = room_play(room, bytes_str(player), plays, &world->failure);
    return status == OK ? saved(world, room) : status;
}

static void test_watch_and_play(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = with_two(&world, "four-in-a-row");
    struct room *room = loaded(&world, code);
    struct seat_request eve = {BYTES("eve"), BYTES("Eve"), true};
    assert_int_equal(room_join(room, &eve, &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    assert_int_equal(play(&world, code, "eve", true), LIMIT_EXCEEDED);
    assert_int_equal(play(&world, code, "ann", false), OK); /* the host looks on: bob is it */
    assert_bytes_equal(loaded(&world, code)->host, BYTES("bob"));
    assert_int_equal(play(&world, code, "eve", true), OK);
    assert_int_equal(play(&world, code, "eve", true), OK);
    room = loaded(&world, code);
    assert_int_equal(room_players(room), 2);
    assert_true(room_seat(room, BYTES("ann"))->spectator);
    assert_false(room_seat(room, BYTES("eve"))->spectator);
    world_close(&world);
}

/* --- bots --- */

static enum status add_bot(struct world *world, struct bytes code) {
    struct room *room = loaded(world, code);
    enum status status = room_add_bot(room, BYTES("ann"), &world->failure);
    return status == OK ? saved(world, room) : status;
}

/* Each kind with bots is played to its end by the clock alone, and bots are on no board. */
static void play_with_bots(const char *kind, unsigned bots) {
    struct world world;
    unsigned steps = 0;
    prepare(&world);
    struct bytes code = made(&world, kind, 0);
    connect(&world, code, "ann", true);
    for (unsigned i = 0; i < bots; i++)
        assert_int_equal(add_bot(&world, code), OK);
    assert_int_equal(start(&world, code), OK);
    while (loaded(&world, code)->status == ROOM_PLAYING && steps++ < 2000)
        let_it_come(&world, code);
    struct room *room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_OVER);
    for (size_t i = 0; i < room->seat_count; i++) {
        struct get_reply reply;
        struct get_request request = {
            .table = world.game->table,
            .key =
                game_key(&world.arena, record_join(&world.arena, "PLAYER#", room->seats[i].player),
                         record_join(&world.arena, "RECORD#", bytes_str(kind))),
            .consistent = true};
        assert_ok(engine_get(world.game->engine, &request,
                             (struct scope){&world.arena, &world.failure}, &reply),
                  world.failure);
        assert_true(reply.found == !room->seats[i].bot);
    }
    world_close(&world);
}

static void test_bots(void **state) {
    (void)state;
    play_with_bots("kauwa-udd", 3);
    play_with_bots("snakes-and-ladders", 2);
    play_with_bots("four-in-a-row", 1);
}

static void test_bots_are_no_people(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = made(&world, "four-in-a-row", 0);
    assert_int_equal(add_bot(&world, code), OK);
    assert_int_equal(add_bot(&world, code), LIMIT_EXCEEDED);
    struct room *room = loaded(&world, code);
    assert_int_equal(room_leave(room, BYTES("ann"), &world.failure), OK);
    assert_int_equal(room->status, ROOM_CLOSED); /* a bot is no host */
    room_release(room);
    world_close(&world);
}

/* --- those who are away --- */

static int64_t score_of(struct world *world, struct bytes code, const char *player) {
    return room_seat(loaded(world, code), bytes_str(player))->score;
}

/* Opens rounds until one has something that flies in it: who does not tap loses. */
static void until_it_flies(struct world *world, struct bytes code) {
    for (;;) {
        struct room *room = loaded(world, code);
        assert_int_equal(room->status, ROOM_PLAYING);
        bool open = bytes_equal(item_string(&room->round_item, ROOM_STATUS), BYTES("open"));
        if (open && item_bool(&room->round_item, BYTES("flies")))
            return;
        let_it_come(world, code);
    }
}

static void test_away_costs_nothing(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = with_two(&world, "kauwa-udd");
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(start(&world, code), OK);
    until_it_flies(&world, code);
    connect(&world, code, "bob", false);
    int64_t ann = score_of(&world, code, "ann"), bob = score_of(&world, code, "bob");
    let_it_come(&world, code);
    assert_int_equal(score_of(&world, code, "ann"), ann - 50);
    assert_int_equal(score_of(&world, code, "bob"), bob);
    /* a server that was down costs nobody anything */
    connect(&world, code, "bob", true);
    until_it_flies(&world, code);
    ann = score_of(&world, code, "ann");
    clock_shift_ms(loaded(&world, code)->due_ms - clock_now_ms() + 8000);
    assert_int_equal(step(&world, code, "server"), OK);
    assert_int_equal(score_of(&world, code, "ann"), ann);
    struct room *room = loaded(&world, code);
    assert_true(item_bool(&room->round_item, BYTES("void")));
    world_close(&world);
}

/* A network that is gone is found out later: what was taken meanwhile is given back. */
static void test_lost_network(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = with_two(&world, "kauwa-udd");
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(start(&world, code), OK);
    until_it_flies(&world, code);
    int64_t heard_ms = clock_now_ms();
    int64_t bob = score_of(&world, code, "bob");
    let_it_come(&world, code);
    assert_int_equal(score_of(&world, code, "bob"), bob - 50);
    struct room *room = loaded(&world, code);
    struct room_connection line = {
        .id = BYTES("bob"), .player = BYTES("bob"), .heard_ms = heard_ms};
    assert_int_equal(room_connection_close(room, &line, &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    let_it_come(&world, code); /* the next round opens, */
    let_it_come(&world, code); /* and is judged */
    assert_int_equal(score_of(&world, code, "bob"), bob);
    world_close(&world);
}

static void test_turns_of_those_away(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = with_two(&world, "snakes-and-ladders");
    assert_int_equal(ready(&world, code, "bob"), OK);
    connect(&world, code, "ann", false);
    connect(&world, code, "bob", false);
    assert_int_equal(start(&world, code), OK);
    struct room *room = loaded(&world, code);
    assert_in_range(room->due_ms - room->now_ms, 2000, 3100); /* not fifteen seconds */
    /* after an outage the turn is given once more, in full for who is there */
    connect(&world, code, "ann", true);
    connect(&world, code, "bob", true);
    struct bytes turn = item_string(&room->state, BYTES("turn"));
    clock_shift_ms(20000);
    assert_int_equal(step(&world, code, "server"), OK);
    room = loaded(&world, code);
    assert_bytes_equal(item_string(&room->state, BYTES("turn")), turn);
    assert_int_equal(room->round, 0);
    assert_in_range(room->due_ms - room->now_ms, 14000, 15000);
    clock_shift_ms(40000);
    assert_int_equal(step(&world, code, "server"), OK);
    room = loaded(&world, code);
    assert_int_equal(room->round, 1); /* every match ends */
    /* the next clock waits until the move has been seen */
    assert_true(item_int(&room->state, BYTES("turnAt")) > room->now_ms);
    assert_int_equal(room->due_ms, item_int(&room->state, BYTES("turnAt")) + 15000);
    world_close(&world);
}

/* --- lists --- */

static size_t open_rooms(struct world *world) {
    struct room_list list;
    struct room_list_request request = {BYTES("four-in-a-row"), ROOM_LOBBY, {0}, 3, true};
    size_t seen = 0;
    do {
        assert_ok(
            room_list(world->game, &request, (struct scope){&world->arena, &world->failure}, &list),
            world->failure);
        seen += list.count;
        request.cursor = list.cursor;
    } while (list.cursor.size != 0);
    return seen;
}

static void test_open_rooms(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes full = with_two(&world, "four-in-a-row");
    for (int i = 0; i < 7; i++)
        made(&world, "four-in-a-row", 0);
    struct bytes here = made(&world, "four-in-a-row", 0);
    connect(&world, here, "ann", true);
    assert_int_equal(open_rooms(&world), 8); /* new ones wait for their host */
    clock_shift_ms(120000);
    assert_int_equal(open_rooms(&world), 1);
    connect(&world, here, "ann", false);
    assert_int_equal(open_rooms(&world), 0);
    assert_non_null(loaded(&world, full));
    world_close(&world);
}

/* Names as others see them, by whatever way they come in. */
static void test_names(void **state) {
    struct world world;
    (void)state;
    prepare(&world);
    struct bytes code = made(&world, "kauwa-udd", 0);
    struct room *room = loaded(&world, code);
    struct seat_request bob = {BYTES("bob"), BYTES(" B\xe2\x80\xaeob\xe2\x80\x8b "), false};
    struct seat_request none = {BYTES("eve"), BYTES("\xe2\x80\x8b\xe2\x80\x8d"), false};
    assert_int_equal(room_join(room, &none, &world.failure), INVALID);
    assert_int_equal(room_join(room, &bob, &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    assert_bytes_equal(room_seat(loaded(&world, code), BYTES("bob"))->name, BYTES("Bob"));
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_gone),
        cmocka_unit_test(test_host_gone_in_match),
        cmocka_unit_test(test_ban),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_watch_and_play),
        cmocka_unit_test(test_bots),
        cmocka_unit_test(test_bots_are_no_people),
        cmocka_unit_test(test_away_costs_nothing),
        cmocka_unit_test(test_lost_network),
        cmocka_unit_test(test_turns_of_those_away),
        cmocka_unit_test(test_open_rooms),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
