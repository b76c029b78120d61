/* Rooms: who may come and go, whose turn it is, what counts; and both games to their ends. */
#include "game/rooms.h"

#include "base/clock.h"
#include "game/kinds/kauwa_udd_objects.h"
#include "game/record.h"
#include "game/room/room_int.h"
#include "game/room/room_scheduler.h"
#include "table/inprocess.h"

#include <stdatomic.h>
#include <time.h>

static struct item item_at(struct world *world, const struct item *key) {
    struct get_reply reply;
    struct get_request request = {.table = world->game->table, .key = *key, .consistent = true};
    assert_ok(engine_get(world->game->engine, &request,
                         (struct scope){&world->arena, &world->failure}, &reply),
              world->failure);
    assert_true(reply.found);
    return reply.item;
}

static void write_item(struct world *world, const struct item *item) {
    struct action action = {.kind = ACTION_PUT, .table = world->game->table, .item = *item};
    struct change change = {
        .arena = &world->arena, .kind = CHANGE_WRITE, .actions = &action, .action_count = 1};
    assert_int_equal(game_wait(world->game, &change), OK);
}

/* --- people --- */

static void test_people(void **state) {
    struct world world;
    struct room *room;
    (void)state;
    world_open(&world);
    struct bytes code = made(&world, "snakes-and-ladders", 2);
    assert_int_equal(code.size, ROOM_CODE_SIZE);
    assert_int_equal(join(&world, code, "bob"), OK);
    assert_int_equal(join(&world, code, "bob"), OK); /* again: the same seat */
    assert_int_equal(join(&world, code, "cat"), LIMIT_EXCEEDED);
    room = loaded(&world, code);
    assert_int_equal(room->seat_count, 2);
    assert_int_equal(room_players(room), 2);
    struct seat_request cat = {BYTES("cat"), BYTES("Cat"), true};
    assert_int_equal(room_join(room, &cat, &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);

    assert_int_equal(start(&world, code), INVALID); /* bob is not ready */
    assert_int_equal(ready(&world, code, "bob"), OK);
    room = loaded(&world, code);
    assert_int_equal(room_start(room, BYTES("bob"), &world.failure), DENIED);
    assert_int_equal(room_kick(room, BYTES("bob"), BYTES("cat"), &world.failure), DENIED);
    assert_int_equal(room_kick(room, BYTES("ann"), BYTES("cat"), &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    room = loaded(&world, code);
    assert_null(room_seat(room, BYTES("cat")));

    assert_int_equal(room_leave(room, BYTES("ann"), &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    room = loaded(&world, code);
    assert_bytes_equal(room->host, BYTES("bob"));
    assert_int_equal(room_leave(room, BYTES("bob"), &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_CLOSED);
    assert_int_equal(join(&world, code, "dan"), INVALID);
    assert_int_equal(
        room_load(world.game, BYTES("BCDFG"), (struct scope){&world.arena, &world.failure}, room),
        NOT_FOUND);
    assert_int_equal(
        room_load(world.game, BYTES("../x"), (struct scope){&world.arena, &world.failure}, room),
        NOT_FOUND);
    world_close(&world);
}

/* Two who take the last seat at once: one has it, the other hears that it was slower. */
static void test_last_seat(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct bytes code = made(&world, "snakes-and-ladders", 2);
    struct room *one = loaded(&world, code), *two = loaded(&world, code);
    struct seat_request bob = {BYTES("bob"), BYTES("Bob"), false};
    struct seat_request cat = {BYTES("cat"), BYTES("Cat"), false};
    assert_int_equal(room_join(one, &bob, &world.failure), OK);
    assert_int_equal(room_join(two, &cat, &world.failure), OK);
    assert_int_equal(saved(&world, one), OK);
    assert_int_equal(saved(&world, two), CONFLICT);
    assert_int_equal(join(&world, code, "cat"), LIMIT_EXCEEDED);
    assert_int_equal(loaded(&world, code)->seat_count, 2);
    world_close(&world);
}

static void test_lists(void **state) {
    struct world world;
    struct room_list list;
    struct bytes first = {0}, bytes;
    (void)state;
    world_open(&world);
    for (int i = 0; i < 5; i++) {
        bytes = made(&world, "kauwa-udd", 4);
        if (i == 0)
            first = bytes;
        clock_shift_ms(2); /* not in the same millisecond */
    }
    made(&world, "snakes-and-ladders", 4);
    size_t seen = 0;
    struct bytes cursor = {0}, last = {0};
    do {
        struct room_list_request request = {BYTES("kauwa-udd"), ROOM_LOBBY, cursor, 2};
        assert_ok(
            room_list(world.game, &request, (struct scope){&world.arena, &world.failure}, &list),
            world.failure);
        assert_true(list.count <= 2);
        for (size_t i = 0; i < list.count; i++, seen++)
            last = item_string(&list.rooms[i], BYTES("code"));
        cursor = list.cursor;
    } while (cursor.size != 0);
    assert_int_equal(seen, 5);
    assert_bytes_equal(last, first); /* the newest come first */
    struct room_list_request playing = {BYTES("kauwa-udd"), ROOM_PLAYING, cursor, 2};
    assert_ok(room_list(world.game, &playing, (struct scope){&world.arena, &world.failure}, &list),
              world.failure);
    assert_int_equal(list.count, 0);
    world_close(&world);
}

static void test_tokens(void **state) {
    struct world world;
    struct buf token = {0};
    struct room_token told;
    (void)state;
    world_open(&world);
    struct room_token says = {BYTES("BCDFG"), BYTES("ann"), 1794792902619};
    room_token(world.game, &says, &token);
    assert_ok(room_token_read(world.game, buf_bytes(&token),
                              (struct scope){&world.arena, &world.failure}, &told),
              world.failure);
    assert_bytes_equal(told.code, BYTES("BCDFG"));
    assert_bytes_equal(told.player, BYTES("ann"));
    assert_int_equal(told.joined_ms, 1794792902619);
    token.data[3] ^= 1;
    assert_int_equal(room_token_read(world.game, buf_bytes(&token),
                                     (struct scope){&world.arena, &world.failure}, &told),
                     DENIED);
    buf_release(&token);
    world_close(&world);
}

/* --- snakes and ladders --- */

static enum status roll(struct world *world, struct bytes code, const char *player, int64_t turn) {
    struct room *room = loaded(world, code);
    struct record record = record_of(&world->arena);
    record_string(&record, BYTES("do"), BYTES("roll"));
    if (turn != 0)
        record_int(&record, BYTES("turn"), turn);
    struct item input = record_item(&record);
    enum status status = room_input(room, bytes_str(player), &input, &world->failure);
    return status == OK ? saved(world, room) : status;
}

static void test_snakes(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    assert_ok(match_boards(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    struct bytes code = made(&world, "snakes-and-ladders", 3);
    assert_int_equal(join(&world, code, "bob"), OK);
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(roll(&world, code, "ann", 0), INVALID); /* no match yet */
    assert_int_equal(start(&world, code), OK);
    assert_int_equal(join(&world, code, "eve"), OK); /* looks on */
    assert_int_equal(roll(&world, code, "eve", 0), DENIED);
    unsigned moves = 0;
    for (struct room *room = loaded(&world, code); room->status == ROOM_PLAYING;
         room = loaded(&world, code), moves++) {
        bool anns = bytes_equal(item_string(&room->state, BYTES("turn")), BYTES("ann"));
        int64_t turn = item_int(&room->state, BYTES("turnNumber"));
        int64_t before = item_int(&room_seat(room, BYTES("ann"))->state, BYTES("position"));
        assert_int_equal(turn, moves + 1);
        assert_int_equal(roll(&world, code, anns ? "bob" : "ann", 0), INVALID); /* not its turn */
        if (moves % 7 == 0) { /* too slow: the clock rolls */
            clock_shift_ms(room->due_ms - clock_now_ms());
            assert_int_equal(step(&world, code, "server"), OK);
        } else
            assert_int_equal(roll(&world, code, anns ? "ann" : "bob", turn), OK);
        assert_int_equal(roll(&world, code, anns ? "ann" : "bob", turn), INVALID); /* once */
        struct room *after = loaded(&world, code);
        int64_t position = item_int(&room_seat(after, BYTES("ann"))->state, BYTES("position"));
        assert_true(anns || position == before);
        assert_in_range(position, 0, 100);
    }
    struct room *room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_OVER);
    int64_t best = room_seat(room, BYTES("ann"))->score > room_seat(room, BYTES("bob"))->score
                       ? room_seat(room, BYTES("ann"))->score
                       : room_seat(room, BYTES("bob"))->score;
    assert_int_equal(best, 200); /* who stands on the last square */
    assert_int_equal(room_rematch(room, BYTES("bob"), &world.failure), OK); /* would like to */
    assert_int_equal(saved(&world, room), OK);
    room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_OVER);
    assert_int_equal(room_rematch(room, BYTES("ann"), &world.failure), OK); /* the host */
    assert_int_equal(saved(&world, room), OK);
    room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_LOBBY);
    assert_true(room_seat(room, BYTES("bob"))->ready);
    assert_false(room_seat(room, BYTES("eve"))->ready);
    assert_int_equal(room_players(room), 3); /* eve may play now */
    world_close(&world);
}

/* --- kauwa udd --- */

static enum status react(struct world *world, struct bytes code, const char *player, unsigned round,
                         int64_t at_ms) {
    struct change change = {.arena = &world->arena};
    struct reaction reaction = {code, bytes_str(player), round, at_ms};
    enum status status = room_react_prepare(world->game, &reaction, &change, &world->failure);
    if (status != OK)
        return status;
    game_wait(world->game, &change);
    return room_save_result(&change, &world->failure);
}

/* Ann taps whatever it is, Bob only what flies: he cheats by looking into the table. */
static void play_round(struct world *world, struct bytes code, int64_t *ann, int64_t *bob) {
    struct room *room = loaded(world, code);
    unsigned round = room->round;
    int64_t starts = item_int(&room->round_item, BYTES("startsAt"));
    int64_t ends = item_int(&room->round_item, BYTES("endsAt"));
    bool flies = item_bool(&room->round_item, BYTES("flies"));
    struct item shown = room->kind->show(&room->round_item, &world->arena);
    assert_null(item_get(&shown, BYTES("flies"))); /* nobody else can */
    assert_int_equal(react(world, code, "ann", round, starts + 1500), OK);
    assert_int_equal(react(world, code, "ann", round, starts + 1600), INVALID); /* twice */
    if (flies)
        assert_int_equal(react(world, code, "bob", round, starts + 300), OK);
    assert_int_equal(react(world, code, "bob", round, ends), INVALID);       /* late */
    assert_int_equal(react(world, code, "bob", round, starts - 1), INVALID); /* early */
    assert_int_equal(react(world, code, "eve", round, starts + 1), DENIED);
    assert_int_equal(react(world, code, "bob", round + 1, starts + 1), INVALID);
    assert_int_equal(step(world, code, "server"), NOT_FOUND); /* not due */
    int64_t ann_streak = room_seat(room, BYTES("ann"))->streak;
    int64_t bob_streak = room_seat(room, BYTES("bob"))->streak;
    clock_shift_ms(room->due_ms - clock_now_ms());
    assert_int_equal(step(world, code, "server"), OK);
    assert_int_equal(react(world, code, "bob", round, starts + 1), INVALID); /* it is judged */
    assert_int_equal(step(world, code, "server"), NOT_FOUND); /* and there is a beat */
    *ann += flies ? 150 + 10 * (ann_streak < 5 ? ann_streak : 5) : -75;
    *bob += (flies ? 190 : 50) + 10 * (bob_streak < 5 ? bob_streak : 5);
    room = loaded(world, code);
    assert_int_equal(room_seat(room, BYTES("ann"))->score, *ann);
    assert_int_equal(room_seat(room, BYTES("bob"))->score, *bob);
    assert_string_equal(arena_str(&world->arena, item_string(&room->round_item, ROOM_STATUS)),
                        "done");
    if (room->status != ROOM_PLAYING)
        return;
    assert_in_range(room->due_ms - room->now_ms, 1000, 3000);
    clock_shift_ms(room->due_ms - clock_now_ms());
    assert_int_equal(step(world, code, "server"), OK);
    assert_int_equal(loaded(world, code)->round, round + 1);
}

static void test_kauwa_udd(void **state) {
    struct world world;
    int64_t ann = 0, bob = 0;
    (void)state;
    world_open(&world);
    assert_ok(kauwa_objects_seed(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_ok(match_boards(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    struct bytes code = made(&world, "kauwa-udd", 4);
    assert_int_equal(join(&world, code, "bob"), OK);
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(start(&world, code), OK);
    struct room *room = loaded(&world, code);
    assert_int_equal(step(&world, code, "server"), NOT_FOUND);
    clock_shift_ms(room->due_ms - clock_now_ms());
    assert_int_equal(step(&world, code, "server"), OK);
    unsigned rounds = 0;
    for (room = loaded(&world, code); room->status == ROOM_PLAYING; room = loaded(&world, code)) {
        play_round(&world, code, &ann, &bob);
        rounds++;
    }
    assert_int_equal(rounds, 20);
    assert_int_equal(room->due_ms, 0);
    struct get_reply reply;
    struct get_request request = {
        .table = world.game->table,
        .key = game_key(&world.arena, BYTES("PLAYER#bob"), BYTES("RECORD#kauwa-udd"))};
    assert_ok(engine_get(world.game->engine, &request, (struct scope){&world.arena, &world.failure},
                         &reply),
              world.failure);
    assert_int_equal(item_int(&reply.item, BYTES("matches")), 1);
    assert_int_equal(item_int(&reply.item, BYTES("wins")), 1);
    assert_int_equal(item_int(&reply.item, BYTES("points")), bob);
    world_close(&world);
}

/* A reaction that is stamped in time and written while the round is being judged: the judging is
 * done again, and has it. */
static void test_late_reaction(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    assert_ok(kauwa_objects_seed(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_ok(match_boards(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    struct bytes code = made(&world, "kauwa-udd", 4);
    assert_int_equal(join(&world, code, "bob"), OK);
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(start(&world, code), OK);
    clock_shift_ms(3000);
    assert_int_equal(step(&world, code, "server"), OK);
    int64_t starts = item_int(&loaded(&world, code)->round_item, BYTES("startsAt"));
    assert_int_equal(react(&world, code, "ann", 1, starts + 10), OK);
    clock_shift_ms(3100);
    struct room *judged = loaded(&world, code);
    assert_int_equal(room_step(judged, BYTES("server"), &world.failure), OK);
    assert_bytes_equal(item_string(&judged->round_item, ROOM_STATUS), BYTES("done"));
    assert_int_equal(react(&world, code, "bob", 1, starts + 20), OK);
    assert_int_equal(saved(&world, judged), CONFLICT);
    assert_bytes_equal(item_string(&loaded(&world, code)->round_item, ROOM_STATUS), BYTES("open"));
    assert_int_equal(step(&world, code, "server"), OK);
    struct room *room = loaded(&world, code);
    assert_bytes_equal(item_string(&room->round_item, ROOM_STATUS), BYTES("done"));
    const struct value *last = item_map(&room->state, BYTES("last"));
    const struct value *results = value_get(last, BYTES("results"));
    const struct value *bob = value_get(results, BYTES("bob"));
    struct item verdict = {bob->pairs, bob->count};
    assert_int_equal(item_int(&verdict, BYTES("afterMs")), 20);
    assert_int_equal(react(&world, code, "bob", 1, starts + 30), INVALID);
    world_close(&world);
}

/* What players have is in the room's item, and a round that is judged does not write their seats.
 * Rooms made before that had it in the seats. */
static void test_scores(void **state) {
    struct world world;
    int64_t ann = 0, bob = 0;
    (void)state;
    world_open(&world);
    assert_ok(kauwa_objects_seed(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_ok(match_boards(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    struct bytes code = made(&world, "kauwa-udd", 4);
    assert_int_equal(join(&world, code, "bob"), OK);
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(start(&world, code), OK);
    clock_shift_ms(3000);
    assert_int_equal(step(&world, code, "server"), OK);
    play_round(&world, code, &ann, &bob);
    struct room *room = loaded(&world, code);
    clock_shift_ms(room->due_ms - clock_now_ms());
    room = loaded(&world, code);
    assert_int_equal(room_step(room, BYTES("server"), &world.failure), OK);
    assert_bytes_equal(item_string(&room->round_item, ROOM_STATUS), BYTES("done"));
    for (size_t i = 0; i < room->seat_count; i++)
        assert_int_equal(room->seats[i].mark, MARK_SAME);
    room_release(room);

    /* as it was before */
    struct item key = game_key(&world.arena, room_pk(&world.arena, code), ROOM_META);
    struct item meta = item_at(&world, &key), seat;
    meta = item_with(&world.arena, &meta, ROOM_POINTS, NULL);
    meta = item_with(&world.arena, &meta, ROOM_STREAKS, NULL);
    key = game_key(&world.arena, room_pk(&world.arena, code),
                   room_seat_sk(&world.arena, BYTES("bob")));
    seat = item_at(&world, &key);
    assert_null(item_get(&seat, SEAT_SCORE));
    struct value points = value_int(&world.arena, 77), streak = value_int(&world.arena, 3);
    seat = item_with(&world.arena, &seat, SEAT_SCORE, &points);
    seat = item_with(&world.arena, &seat, SEAT_STREAK, &streak);
    write_item(&world, &meta);
    write_item(&world, &seat);
    room = loaded(&world, code);
    assert_int_equal(room_seat(room, BYTES("bob"))->score, 77);
    assert_int_equal(room_seat(room, BYTES("bob"))->streak, 3);
    world_close(&world);
}

static void assert_same_item(struct item one, struct item two) {
    assert_true(
        value_equal(&(struct value){.type = VALUE_M, .count = one.count, .pairs = one.pairs},
                    &(struct value){.type = VALUE_M, .count = two.count, .pairs = two.pairs}));
}

/* Saves it; then it is what a load gives. */
static void assert_as_loaded(struct world *world, struct room *room) {
    assert_int_equal(saved(world, room), OK);
    room_after_save(room);
    struct room *other = loaded(world, room->code);
    assert_int_equal(room->version, other->version);
    assert_int_equal(room->status, other->status);
    assert_int_equal(room->round, other->round);
    assert_int_equal(room->due_ms, other->due_ms);
    assert_true(bytes_equal(room->host, other->host));
    assert_same_item(room->state, other->state);
    assert_same_item(room->round_item, other->round_item);
    assert_int_equal(room->seat_count, other->seat_count);
    for (size_t i = 0; i < room->seat_count; i++) {
        const struct seat *one = &room->seats[i], *two = &other->seats[i];
        assert_true(bytes_equal(one->player, two->player));
        assert_int_equal(one->number, two->number);
        assert_int_equal(one->score, two->score);
        assert_int_equal(one->streak, two->streak);
        assert_int_equal(one->reacted_ms, two->reacted_ms);
        assert_int_equal(one->mark, two->mark);
        assert_same_item(one->state, two->state);
    }
}

/* What was written is shown without being loaded again. */
static void test_written(void **state) {
    struct world world;
    struct room *room;
    (void)state;
    world_open(&world);
    assert_ok(kauwa_objects_seed(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_ok(match_boards(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    struct bytes code = made(&world, "kauwa-udd", 4);
    assert_int_equal(join(&world, code, "bob"), OK);
    assert_int_equal(join(&world, code, "cat"), OK);
    room = loaded(&world, code);
    assert_int_equal(room_leave(room, BYTES("ann"), &world.failure), OK);
    assert_as_loaded(&world, room);
    assert_int_equal(room->seat_count, 2);
    assert_int_equal(ready(&world, code, "cat"), OK);
    room = loaded(&world, code);
    assert_int_equal(room_start(room, BYTES("bob"), &world.failure), OK);
    assert_as_loaded(&world, room);
    while (room->status == ROOM_PLAYING) {
        clock_shift_ms(room->due_ms - clock_now_ms());
        room = loaded(&world, code);
        assert_int_equal(room_step(room, BYTES("server"), &world.failure), OK);
        assert_as_loaded(&world, room);
        bool open = bytes_equal(item_string(&room->round_item, ROOM_STATUS), BYTES("open"));
        if (room->status == ROOM_PLAYING && open && room->round % 2 == 0)
            assert_int_equal(react(&world, code, "bob", room->round, clock_now_ms()), OK);
    }
    assert_int_equal(room->round, 20);
    world_close(&world);
}

/* --- clocks --- */

/* A room whose server has gone is taken over when its lease has ended, not before. */
static void test_lease(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    assert_ok(kauwa_objects_seed(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_ok(match_boards(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    struct bytes code = made(&world, "kauwa-udd", 4);
    assert_int_equal(start(&world, code), OK);
    clock_shift_ms(3000);
    struct room *one = loaded(&world, code), *two = loaded(&world, code);
    assert_int_equal(room_step(one, BYTES("here"), &world.failure), OK);
    assert_int_equal(room_step(two, BYTES("there"), &world.failure), OK);
    assert_int_equal(saved(&world, one), OK);
    assert_int_equal(saved(&world, two), CONFLICT);
    assert_int_equal(loaded(&world, code)->round, 1);
    clock_shift_ms(3100);
    assert_int_equal(step(&world, code, "there"), CONFLICT);
    assert_int_equal(step(&world, code, "here"), OK);
    clock_shift_ms(5001);
    assert_int_equal(step(&world, code, "there"), OK);
    assert_int_equal(step(&world, code, "here"), NOT_FOUND);
    world_close(&world);
}

/* Two threads that run the clocks of one table: each round is run once. */
static void test_clocks(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    assert_ok(kauwa_objects_seed(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_ok(match_boards(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    struct bytes code = made(&world, "kauwa-udd", 4);
    assert_int_equal(start(&world, code), OK);
    struct room_scheduler *one = room_scheduler_start(world.game),
                          *two = room_scheduler_start(world.game);
    for (int i = 0; i < 30000 && loaded(&world, code)->status == ROOM_PLAYING; i++) {
        clock_shift_ms(100);
        room_scheduler_wake(one);
        room_scheduler_wake(two);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    room_scheduler_stop(one);
    room_scheduler_stop(two);
    struct room *room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_OVER);
    assert_int_equal(room->round, 20);
    world_close(&world);
}

/* --- waiting for players --- */

/* What the scheduler asked for, and a reaction that comes meanwhile. */
struct awaited {
    struct world *world;
    struct bytes code;
    atomic_uint calls;
    atomic_llong by_ms;
};

static void await_bob(void *user, int64_t by_ms) {
    struct awaited *awaited = user;
    struct change change = {0};
    struct failure failure = {0};
    struct arena arena;
    arena_init(&arena);
    change.arena = &arena;
    atomic_store(&awaited->by_ms, by_ms);
    struct reaction reaction = {awaited->code, BYTES("bob"), 1, by_ms - 1};
    if (atomic_fetch_add(&awaited->calls, 1) == 0 &&
        room_react_prepare(awaited->world->game, &reaction, &change, &failure) == OK)
        engine_submit_wait(awaited->world->game->engine, &change);
    arena_release(&arena);
}

static void await_status(struct world *world, struct bytes code, struct bytes status) {
    for (int i = 0; i < 60000; i++) {
        if (bytes_equal(item_string(&loaded(world, code)->round_item, ROOM_STATUS), status))
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    fail_msg("the round is not %.*s", BYTES_ARG(status));
}

/* A round is judged when what came in time has been submitted, however late that is; who opens one
 * waits for nobody. */
static void test_awaited(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    assert_ok(kauwa_objects_seed(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_ok(match_boards(world.game, (struct scope){&world.arena, &world.failure}),
              world.failure);
    struct bytes code = made(&world, "kauwa-udd", 4);
    assert_int_equal(join(&world, code, "bob"), OK);
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(start(&world, code), OK);
    struct awaited awaited = {.world = &world, .code = code};
    struct room_scheduler *scheduler = room_scheduler_start(world.game);
    room_scheduler_set_listener(
        scheduler, &(struct room_scheduler_listener){.await_players = await_bob, .user = &awaited});
    clock_shift_ms(3000);
    await_status(&world, code, BYTES("open"));
    assert_int_equal(atomic_load(&awaited.calls), 0);
    int64_t ends_ms = item_int(&loaded(&world, code)->round_item, BYTES("endsAt"));
    clock_shift_ms(3100);
    await_status(&world, code, BYTES("done"));
    room_scheduler_set_listener(scheduler, NULL);
    assert_int_equal(atomic_load(&awaited.by_ms), ends_ms);
    struct room *room = loaded(&world, code);
    const struct value *results =
        value_get(item_map(&room->state, BYTES("last")), BYTES("results"));
    const struct value *bob = value_get(results, BYTES("bob"));
    struct item verdict = {bob->pairs, bob->count};
    assert_int_equal(item_int(&verdict, BYTES("afterMs")), 2999);
    room_scheduler_stop(scheduler);
    world_close(&world);
}

/* A turn by turn: what was said before the turn's time is over comes first. */
static void test_counts_until(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct bytes code = made(&world, "snakes-and-ladders", 2);
    assert_int_equal(join(&world, code, "bob"), OK);
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(room_counts_until(loaded(&world, code), INT64_MAX), 0); /* nobody plays */
    assert_int_equal(start(&world, code), OK);
    struct room *room = loaded(&world, code);
    assert_int_equal(room_counts_until(room, room->due_ms - 1), 0);
    assert_int_equal(room_counts_until(room, room->due_ms), room->due_ms);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_people),        cmocka_unit_test(test_last_seat),
        cmocka_unit_test(test_lists),         cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_snakes),        cmocka_unit_test(test_kauwa_udd),
        cmocka_unit_test(test_late_reaction), cmocka_unit_test(test_scores),
        cmocka_unit_test(test_written),       cmocka_unit_test(test_lease),
        cmocka_unit_test(test_clocks),        cmocka_unit_test(test_awaited),
        cmocka_unit_test(test_counts_until),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
