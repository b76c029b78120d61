/* Names of keys: no two keys of any databases share a partition or a board, and boards tell their
 * key. */
#include "game/keyspace/key_name.h"
#include "test.h"

static struct arena arena;

static int setup(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    arena_release(&arena);
    return 0;
}

static const struct bytes names[] = {
    BYTES("a"),     BYTES("#1#a"), BYTES("#0#a"),    BYTES("#15#"), BYTES("#16#a"),
    BYTES("#01#a"), BYTES("#1"),   BYTES("#"),       BYTES("##"),   BYTES(""),
    BYTES("\0"),    BYTES("\xff"), BYTES("#1#\xff"), BYTES("1#a"),  BYTES("#0##1#a"),
    BYTES("KEY#a"), BYTES("#9#"),  BYTES("#10#a"),
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static void no_two_keys_share_a_place(void **state) {
    (void)state;
    struct bytes boards[KEY_DATABASES * NAMES], partitions[KEY_DATABASES * NAMES];
    size_t count = 0;
    for (unsigned db = 0; db < KEY_DATABASES; db++)
        for (size_t i = 0; i < NAMES; i++, count++) {
            boards[count] = key_board_name(db, names[i], &arena);
            partitions[count] = key_partition(db, names[i], &arena);
            for (size_t j = 0; j < count; j++) {
                assert_false(bytes_equal(boards[count], boards[j]));
                assert_false(bytes_equal(partitions[count], partitions[j]));
            }
        }
}

static void a_board_tells_its_key(void **state) {
    (void)state;
    for (unsigned db = 0; db < KEY_DATABASES; db++)
        for (size_t i = 0; i < NAMES; i++) {
            struct key_of_board key = key_of_board(key_board_name(db, names[i], &arena));
            assert_int_equal(key.db, db);
            assert_bytes_equal(key.name, names[i]);
        }
}

static void database_0_has_plain_names(void **state) {
    (void)state;
    struct failure failure = {0};
    struct key_address address;
    assert_bytes_equal(key_board_name(0, BYTES("tetris:daily"), &arena), BYTES("tetris:daily"));
    assert_bytes_equal(key_board_name(3, BYTES("a"), &arena), BYTES("#3#a"));
    assert_bytes_equal(key_partition(0, BYTES("a"), &arena), BYTES("KEY#a"));
    assert_int_equal(key_address_of(12, BYTES("a"), (struct scope){&arena, &failure}, &address),
                     OK);
    assert_bytes_equal(address.pk, BYTES("KEY12#a"));
    assert_bytes_equal(address.name, BYTES("a"));
}

static void long_names_are_refused(void **state) {
    (void)state;
    struct failure failure = {0};
    struct key_address address;
    uint8_t *name = arena_zalloc(&arena, KEY_NAME_MAX + 1);
    memset(name, 'x', KEY_NAME_MAX + 1);
    struct scope in = {&arena, &failure};
    assert_int_equal(key_address_of(0, bytes_of(name, KEY_NAME_MAX), in, &address), OK);
    assert_int_equal(key_address_of(0, bytes_of(name, KEY_NAME_MAX + 1), in, &address), INVALID);
    assert_true(failure.text.size != 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_two_keys_share_a_place, setup, teardown),
        cmocka_unit_test_setup_teardown(a_board_tells_its_key, setup, teardown),
        cmocka_unit_test_setup_teardown(database_0_has_plain_names, setup, teardown),
        cmocka_unit_test_setup_teardown(long_names_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
