/* Live lines on two loops: what is shown to whom, what is said back, and the order of the end. */
#include "test.h"

#include "api/live/live_fixture.h"

#include "api/live/live_hub.h"
#include "api/live/live_int.h"
#include "base/clock.h"
#include "game/record.h"

#include <semaphore.h>

static struct live_fixture asking;

static int begin(void **state) {
    (void)state;
    live_fixture_open(&asking, 2);
    return 0;
}

static int end(void **state) {
    (void)state;
    live_fixture_close(&asking);
    return 0;
}

static void wait_for(int fd, struct buf *heard, const char *text) {
    if (!live_wait(fd, heard, bytes_str(text)))
        print_message("waited for %s in %.*s\n", text, (int)heard->size, (char *)heard->data);
    assert_true(bytes_find(buf_bytes(heard), bytes_str(text)) != SIZE_MAX);
}

/* Everybody who looks sees what one does, whichever loop they are on. */
static void test_all_see(void **state) {
    enum { LOOKERS = 12 };
    int fds[LOOKERS];
    struct buf heard[LOOKERS] = {0};
    (void)state;
    struct bytes code = live_room(&asking, "snakes-and-ladders");
    for (int i = 0; i < LOOKERS; i++) {
        fds[i] = live_open(&asking, code, i == 0 ? "ann" : i == 1 ? "bob" : "");
        wait_for(fds[i], &heard[i], "\"status\":\"lobby\"");
    }
    live_say(fds[1], BYTES("{\"do\":\"ready\",\"ready\":true,\"id\":1}"));
    wait_for(fds[1], &heard[1], "{\"type\":\"ok\",\"v\":1,\"id\":1}");
    live_say(fds[0], BYTES("{\"do\":\"start\",\"id\":\"s\"}"));
    wait_for(fds[0], &heard[0], "{\"type\":\"ok\",\"v\":1,\"id\":\"s\"}");
    for (int i = 0; i < LOOKERS; i++)
        wait_for(fds[i], &heard[i], "\"status\":\"playing\"");
    live_say(fds[2], BYTES("{\"do\":\"start\",\"id\":3}"));
    wait_for(fds[2], &heard[2], "who looks on without a seat's token cannot do that");
    live_say(fds[0], BYTES("{\"do\":\"close\"}"));
    for (int i = 0; i < LOOKERS; i++) {
        wait_for(fds[i], &heard[i], "\"status\":\"closed\"");
        wait_for(fds[i], &heard[i], "the room was closed");
        close(fds[i]);
        buf_release(&heard[i]);
    }
}

/* Many come and go at once; in the end the seats tell that nobody is there. */
static void test_comings(void **state) {
    enum { TIMES = 60 };
    int fds[TIMES];
    struct room *room = ARENA_NEW(&asking.arena, struct room);
    (void)state;
    struct bytes code = live_room(&asking, "kauwa-udd");
    for (int i = 0; i < TIMES; i++)
        fds[i] = live_open(&asking, code, i % 2 ? "ann" : "bob");
    struct buf heard = {0};
    wait_for(fds[TIMES - 1], &heard, "\"type\":\"state\"");
    for (int i = 0; i < TIMES; i++)
        close(fds[i]);
    buf_release(&heard);
    bool there = true;
    for (int i = 0; i < 6000 && there; i++) {
        usleep(10000);
        assert_int_equal(
            room_load(asking.game, code, (struct scope){&asking.arena, &asking.failure}, room), OK);
        there = room->seats[0].connected || room->seats[1].connected;
    }
    assert_false(there);
}

/* What is written to the table by others is shown as well. */
static void test_boards(void **state) {
    struct buf head = {0}, heard = {0};
    (void)state;
    int fd = live_dial(&asking);
    live_put_head(&head, BYTES("/v1/boards/kauwa-udd:all/live?limit=5"));
    live_put(fd, buf_bytes(&head));
    wait_for(fd, &heard, "\"total\":0");
    struct record record = record_of(&asking.arena);
    record_string(&record, BYTES("PK"), BYTES("BOARD#kauwa-udd:all"));
    record_string(&record, BYTES("SK"), BYTES("zoe"));
    record_int(&record, BYTES("score"), 7);
    record_int(&record, BYTES("subscore"), 0);
    record_int(&record, BYTES("tie"), 0);
    struct action action = {
        .kind = ACTION_PUT, .table = asking.game->table, .item = record_item(&record)};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = &asking.arena, .actions = &action, .action_count = 1};
    assert_int_equal(game_wait(asking.game, &change), OK);
    wait_for(fd, &heard, "\"total\":1");
    wait_for(fd, &heard, "\"zoe\"");
    close(fd);
    buf_release(&head);
    buf_release(&heard);
}

static void offer(struct bytes code, uint64_t version, const char *text) {
    struct topic_state *snapshot = topic_state_new(bytes_str(text), NULL, 0);
    snapshot->version = version;
    hub_publish(asking.live->hub, (struct topic_id){&topic_room, code}, snapshot);
}

/* Who offers a state may be late: what is shown never goes back. */
static void test_offers(void **state) {
    struct room *room = ARENA_NEW(&asking.arena, struct room);
    struct buf heard = {0};
    (void)state;
    struct bytes code = live_room(&asking, "snakes-and-ladders");
    offer(code, 1, "nobody looks");
    int fd = live_open(&asking, code, "");
    wait_for(fd, &heard, "\"type\":\"state\"");
    assert_int_equal(
        room_load(asking.game, code, (struct scope){&asking.arena, &asking.failure}, room), OK);
    offer(code, room->version + 20, "the newer one");
    wait_for(fd, &heard, "the newer one");
    offer(code, room->version + 10, "an older one");
    offer(code, room->version + 20, "the same one");
    offer(code, room->version + 30, "the newest one");
    wait_for(fd, &heard, "the newest one");
    assert_true(bytes_find(buf_bytes(&heard), BYTES("an older one")) == SIZE_MAX);
    assert_true(bytes_find(buf_bytes(&heard), BYTES("the same one")) == SIZE_MAX);
    close(fd);
    buf_release(&heard);
}

/* --- in time --- */

static sem_t held, let_go;

static void run_hold(struct task *task) {
    (void)task;
    sem_post(&held);
    sem_wait(&let_go);
}

/* Until the clock shows it: what is waited for is the time itself. */
static void await_time(int64_t until_ms) {
    while (clock_now_ms() < until_ms)
        usleep(1000);
}

/* The round that is open in the room, which is loaded into `room`. */
static int64_t open_round_end(struct bytes code, struct room *room) {
    for (int i = 0; i < 60000; i++) {
        assert_int_equal(
            room_load(asking.game, code, (struct scope){&asking.arena, &asking.failure}, room), OK);
        if (room->round != 0 &&
            bytes_equal(item_string(&room->round_item, BYTES("status")), BYTES("open")))
            return item_int(&room->round_item, BYTES("endsAt"));
        usleep(1000);
    }
    fail();
    return 0;
}

static void say_tap(int fd, unsigned round, unsigned id) {
    struct buf text = {0};
    buf_printf(&text, "{\"do\":\"react\",\"round\":%u,\"id\":%u}", round, id);
    live_say(fd, buf_bytes(&text));
    buf_release(&text);
}

/* A loop is busy while a round ends. Who tapped before the end, which the loop did not read yet, is
 * counted as of then; who tapped after it is late, though the round was not judged yet. */
static void test_in_time(void **state) {
    struct task hold[2] = {{.run = run_hold}, {.run = run_hold}};
    struct room *room = ARENA_NEW(&asking.arena, struct room);
    struct buf anns = {0}, bobs = {0};
    (void)state;
    sem_init(&held, 0, 0);
    sem_init(&let_go, 0, 0);
    struct bytes code = live_room(&asking, "kauwa-udd");
    int ann = live_open(&asking, code, "ann"), bob = live_open(&asking, code, "bob");
    wait_for(ann, &anns, "\"type\":\"state\"");
    wait_for(bob, &bobs, "\"type\":\"state\"");
    live_say(ann, BYTES("{\"do\":\"start\",\"id\":1}"));
    wait_for(ann, &anns, "{\"type\":\"ok\",\"v\":1,\"id\":1}");
    clock_shift_ms(3000); /* the countdown */
    int64_t ends_ms = open_round_end(code, room);
    for (unsigned i = 0; i < 2; i++)
        loop_post(loops_get(asking.loops, i), &hold[i]);
    sem_wait(&held);
    sem_wait(&held);
    say_tap(ann, room->round, 2);
    int64_t said_ms = clock_now_ms();
    assert_true(said_ms < ends_ms);
    await_time(ends_ms + 5);
    say_tap(bob, room->round, 3);
    await_time(ends_ms + 300); /* it would have been judged */
    sem_post(&let_go);
    sem_post(&let_go);
    wait_for(ann, &anns, "{\"type\":\"ok\",\"v\":1,\"id\":2}");
    wait_for(bob, &bobs, "{\"type\":\"refused\",\"v\":1,\"id\":3,\"reason\":\"Too late");
    wait_for(ann, &anns, "\"status\":\"done\"");
    wait_for(ann, &anns, "\"ann\":{\"afterMs\":");
    assert_true(bytes_find(buf_bytes(&anns), BYTES("\"bob\":{\"afterMs\":")) == SIZE_MAX);
    close(ann);
    close(bob);
    buf_release(&anns);
    buf_release(&bobs);
    sem_destroy(&held);
    sem_destroy(&let_go);
}

/* The end comes while lines are open, and matches run: each line is told. */
static void test_end(void **state) {
    enum { LINES = 20 };
    int fds[LINES];
    struct buf heard[LINES] = {0};
    (void)state;
    struct bytes code = live_room(&asking, "kauwa-udd");
    for (int i = 0; i < LINES; i++) {
        fds[i] = live_open(&asking, code, i == 0 ? "ann" : i == 1 ? "bob" : "");
        wait_for(fds[i], &heard[i], "\"type\":\"state\"");
    }
    live_say(fds[1], BYTES("{\"do\":\"ready\",\"id\":1}"));
    wait_for(fds[1], &heard[1], "\"id\":1}");
    live_say(fds[0], BYTES("{\"do\":\"start\"}"));
    wait_for(fds[5], &heard[5], "\"status\":\"playing\"");
    struct live_figures figures;
    live_figures(asking.live, &figures);
    assert_int_equal(figures.subscriptions, LINES);
    live_fixture_close(&asking);
    for (int i = 0; i < LINES; i++) {
        wait_for(fds[i], &heard[i], "the server stops");
        close(fds[i]);
        buf_release(&heard[i]);
    }
    live_fixture_open(&asking, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_see, begin, end),
        cmocka_unit_test_setup_teardown(test_comings, begin, end),
        cmocka_unit_test_setup_teardown(test_boards, begin, end),
        cmocka_unit_test_setup_teardown(test_offers, begin, end),
        cmocka_unit_test_setup_teardown(test_in_time, begin, end),
        cmocka_unit_test_setup_teardown(test_end, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
