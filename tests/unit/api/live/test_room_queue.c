/* Of each room one change at a time, of all only a few, in order, and none is left behind. */
#include "test.h"

#include "api/live/room_queue.h"
#include "game/room/room.h"

enum { ENTRIES = 2000 };

struct change_of_room {
    struct room_queue_entry entry; /* first */
    char code[ROOM_CODE_SIZE];
    bool begun, done, at_once;
};

static struct room_queue queue;
static struct change_of_room changes[ENTRIES];
static unsigned running, most;

static void finish(struct change_of_room *change) {
    assert_true(change->begun && !change->done);
    change->done = true;
    running--;
    room_queue_done(&queue, change->code);
}

static void begin_one(struct room_queue_entry *entry) {
    struct change_of_room *change = (struct change_of_room *)entry;
    assert_false(change->begun);
    for (size_t i = 0; i < ENTRIES; i++) {
        bool same = memcmp(changes[i].code, change->code, ROOM_CODE_SIZE) == 0;
        if (same && &changes[i] < change)
            assert_true(changes[i].begun); /* in the order in which they came */
        if (same && changes[i].begun)
            assert_true(changes[i].done);
    }
    change->begun = true;
    if (++running > most)
        most = running;
    if (change->at_once)
        finish(change);
}

static void add(unsigned i, unsigned room, bool at_once) {
    changes[i] = (struct change_of_room){.at_once = at_once};
    changes[i].entry.begin = begin_one;
    changes[i].entry.code = changes[i].code;
    memcpy(changes[i].code, "ROOM0", ROOM_CODE_SIZE);
    changes[i].code[3] = (char)('A' + room / 26);
    changes[i].code[4] = (char)('A' + room % 26);
}

static void reset(void) {
    queue = (struct room_queue){0};
    memset(changes, 0, sizeof(changes));
    running = most = 0;
}

/* Some end at once, some when others have come. */
static void test_order(void **state) {
    (void)state;
    reset();
    for (unsigned i = 0; i < ENTRIES; i++)
        add(i, i * 7 % 300 / 3, i % 5 == 0);
    for (unsigned i = 0; i < ENTRIES; i++) {
        room_queue_add(&queue, &changes[i].entry);
        if (i % 3 == 0 && changes[i / 2].begun && !changes[i / 2].done)
            finish(&changes[i / 2]);
    }
    assert_int_equal(most, ROOM_QUEUE_RUNNING_MAX);
    while (running != 0)
        for (unsigned i = 0; i < ENTRIES; i++)
            if (changes[i].begun && !changes[i].done)
                finish(&changes[i]);
    for (unsigned i = 0; i < ENTRIES; i++)
        assert_true(changes[i].done);
    assert_null(queue.first);
    assert_int_equal(queue.running, 0);
    assert_int_equal(most, ROOM_QUEUE_RUNNING_MAX);
}

/* One room does not keep others waiting, though many wait for it. Another one may share its place
 * by chance, so there are several. */
static void test_others(void **state) {
    bool others = false;
    (void)state;
    reset();
    for (unsigned i = 0; i < 110; i++)
        add(i, i < 100 ? 0 : i - 99, false);
    for (unsigned i = 0; i < 110; i++)
        room_queue_add(&queue, &changes[i].entry);
    assert_true(changes[0].begun);
    assert_false(changes[1].begun);
    for (unsigned i = 100; i < 110; i++)
        others |= changes[i].begun;
    assert_true(others);
    finish(&changes[0]);
    assert_true(changes[1].begun);
}

static void test_pause(void **state) {
    (void)state;
    reset();
    add(0, 0, true);
    add(1, 1, false);
    room_queue_pause(&queue);
    room_queue_add(&queue, &changes[0].entry);
    room_queue_add(&queue, &changes[1].entry);
    assert_false(changes[0].begun || changes[1].begun);
    room_queue_resume(&queue);
    assert_true(changes[0].done);
    assert_true(changes[1].begun);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
