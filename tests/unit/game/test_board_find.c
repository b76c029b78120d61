/* Boards by name. */
#include "base/clock.h"
#include "game/world.h"

static void a_plain_board_is_made_by_its_first_entry(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    const struct board *board = world_board(&world, "level:1");
    assert_false(board->exists);
    assert_true(board->rules.plain);
    assert_true(board_is_current(world.game, board));
    struct entry_write write = {.points = points_of_double(&world.arena, 12.5)};
    assert_int_equal(world_put(&world, "level:1", BYTES("ann"), write), ENTRY_ADDED);
    assert_false(board_is_current(world.game, board));
    board_drop(board);
    board = world_board(&world, "level:1");
    assert_true(board->exists);
    const struct board *again = world_board(&world, "level:1");
    assert_ptr_equal(board, again);
    board_drop(again);
    assert_int_equal(world_put(&world, "level:1", BYTES("ann"), write), ENTRY_SAME);
    assert_true(board_is_current(world.game, board));
    board_drop(board);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_board_is_made_by_its_first_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
