/* Cursors of scans: what they remember, and for how long. */
#include "test.h"

#include "api/redis/scan_cursors.h"

static struct bytes place_of(struct scan_cursors *cursors, uint64_t number, struct bytes owner) {
    static struct arena arena;
    arena_init(&arena);
    struct bytes place = scan_cursors_find(cursors, number, owner, &arena);
    static uint8_t copy[64];
    assert_true(place.size <= sizeof(copy));
    if (place.size != 0)
        memcpy(copy, place.data, place.size);
    arena_release(&arena);
    return bytes_of(copy, place.size);
}

static void test_place(void **state) {
    struct scan_cursors cursors;
    (void)state;
    scan_cursors_init(&cursors);
    assert_int_equal(place_of(&cursors, 1, BYTES("a")).size, 0);
    uint64_t one = scan_cursors_keep(&cursors, BYTES("a"), BYTES("first"));
    uint64_t two = scan_cursors_keep(&cursors, BYTES("b"), BYTES("second"));
    assert_true(one != 0 && two != 0 && one != two);
    assert_true(bytes_equal(place_of(&cursors, one, BYTES("a")), BYTES("first")));
    assert_true(bytes_equal(place_of(&cursors, one, BYTES("a")), BYTES("first")));
    assert_true(bytes_equal(place_of(&cursors, two, BYTES("b")), BYTES("second")));
    /* another set's cursor is no cursor */
    assert_int_equal(place_of(&cursors, two, BYTES("a")).size, 0);
    assert_int_equal(place_of(&cursors, 0, BYTES("a")).size, 0);
    scan_cursors_release(&cursors);
}

static void test_oldest_go(void **state) {
    struct scan_cursors cursors;
    (void)state;
    scan_cursors_init(&cursors);
    uint64_t first = scan_cursors_keep(&cursors, BYTES("a"), BYTES("first"));
    for (int i = 1; i < SCAN_CURSORS_KEPT; i++)
        scan_cursors_keep(&cursors, BYTES("a"), BYTES("x"));
    assert_true(bytes_equal(place_of(&cursors, first, BYTES("a")), BYTES("first")));
    scan_cursors_keep(&cursors, BYTES("a"), BYTES("x"));
    assert_int_equal(place_of(&cursors, first, BYTES("a")).size, 0);
    scan_cursors_release(&cursors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_oldest_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
