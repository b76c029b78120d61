/* Live lines on two loops: what is shown to whom, what is said back, and the order of the end. */
#include "test.h"

#include "api/live/live_fixture.h"

#include "api/live/live_hub.h"
#include "api/live/live_int.h"
#include "game/record.h"

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
        cmocka_unit_test_setup_teardown(test_end, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
