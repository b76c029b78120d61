#include "test.h"

#include "api/guest_rate.h"

static unsigned admitted(struct guest_rate *rate, struct bytes room, int64_t now_ms, int tries) {
    unsigned count = 0;
    for (int i = 0; i < tries; i++)
        count += guest_rate_admits(rate, room, now_ms);
    return count;
}

/* So many at once in a room, then one at a time; another room is not kept waiting. */
static void test_room(void **state) {
    struct guest_rate *rate = test_calloc(1, sizeof(*rate));
    (void)state;
    assert_int_equal(admitted(rate, BYTES("BCDFG"), 1000, 100), LIMIT_GUEST_ROOM_BURST);
    assert_int_equal(admitted(rate, BYTES("BCDFG"), 1000 + LIMIT_GUEST_ROOM_EACH_MS, 100), 1);
    assert_int_equal(admitted(rate, BYTES("HJKMN"), 1000 + LIMIT_GUEST_ROOM_EACH_MS, 1), 1);
    test_free(rate);
}

/* And so many in all rooms together. */
static void test_all(void **state) {
    struct guest_rate *rate = test_calloc(1, sizeof(*rate));
    unsigned count = 0;
    (void)state;
    for (uint32_t i = 0; i < 5000; i++)
        count += guest_rate_admits(rate, bytes_of(&i, sizeof(i)), 1000);
    assert_int_equal(count, LIMIT_GUEST_BURST);
    test_free(rate);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_room), cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
