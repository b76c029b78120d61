/* Hiding players: their entries are on no board, those written before and those written after. */
#include "game/player/player_test.h"

static void test_hides(void **state) {
    struct world world;
    struct player player;
    (void)state;
    world_open(&world);
    put_player(&world, "ann", "Ann", "a@b.c", true);
    for (int i = 0; i < 450; i++) {
        char board[16];
        snprintf(board, sizeof(board), "b%d", i);
        zadd(&world, board, "ann", i);
        zadd(&world, board, "bob", 100);
        if (i % 2 == 0)
            mark_entry(&world, board, "ann");
    }
    struct item before = get_record(&world, "BOARD#b7", "ann");
    hide_player(&world, "ann", true);
    hide_player(&world, "ann", true);
    for (int i = 0; i < 450; i++) {
        char board[16];
        snprintf(board, sizeof(board), "b%d", i);
        assert_int_equal(total_on(&world, board), 1);
    }
    assert_ok(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_true(player.hidden);
    /* What is written meanwhile stays hidden, and a profile that is replaced does. */
    put_player(&world, "ann", "Anna", "a@b.c", false);
    zadd(&world, "b8", "ann", 777);
    assert_int_equal(total_on(&world, "b8"), 1);
    hide_player(&world, "ann", false);
    for (int i = 0; i < 450; i += 10) {
        char board[16];
        snprintf(board, sizeof(board), "b%d", i);
        assert_int_equal(total_on(&world, board), 2);
    }
    struct item after = get_record(&world, "BOARD#b7", "ann"),
                changed = get_record(&world, "BOARD#b8", "ann");
    assert_true(item_equal(&before, &after));
    assert_bytes_equal(item_number(&changed, GAME_SCORE), number_in(&world.arena, "777"));
    assert_ok(
        player_get(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_false(player.hidden);
    assert_bytes_equal(player.name, BYTES("Anna"));
    world_close(&world);
}

/* What is written by score alone is hidden from the start, on a board that the player was not on;
 * and after a restart. */
static void test_hides_new(void **state) {
    struct world world;
    uint64_t count;
    (void)state;
    world_open(&world);
    put_player(&world, "ann", "Ann", "a@b.c", true);
    zadd(&world, "one", "bob", 1);
    hide_player(&world, "ann", true);
    hide_player(&world, "eve", true);
    zadd(&world, "one", "ann", 5);
    zadd(&world, "two", "ann", 6);
    zadd(&world, "two", "eve", 7);
    zadd(&world, "two", "bob", 8);
    assert_int_equal(total_on(&world, "one"), 1);
    assert_int_equal(total_on(&world, "two"), 1);
    game_close(world.game);
    world_open_game(&world);
    zadd(&world, "three", "ann", 9);
    zadd(&world, "three", "bob", 9);
    assert_int_equal(total_on(&world, "three"), 1);
    hide_player(&world, "ann", false);
    assert_int_equal(total_on(&world, "one"), 2);
    assert_int_equal(total_on(&world, "two"), 2);
    assert_int_equal(total_on(&world, "three"), 2);
    zadd(&world, "four", "ann", 1);
    zadd(&world, "four", "eve", 1);
    assert_int_equal(total_on(&world, "four"), 1);
    /* Who is erased is forgotten. */
    hide_player(&world, "ann", true);
    assert_ok(player_erase(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure},
                           &count),
              world.failure);
    assert_int_equal(get_record(&world, "HIDDEN", "ann").count, 0);
    zadd(&world, "five", "ann", 1);
    assert_int_equal(total_on(&world, "five"), 1);
    world_close(&world);
}

/* One without a profile can be hidden; made later, it is still hidden. */
static void test_hides_nobody(void **state) {
    struct world world;
    struct player player;
    (void)state;
    world_open(&world);
    zadd(&world, "b", "eve", 5);
    hide_player(&world, "eve", true);
    assert_int_equal(total_on(&world, "b"), 0);
    assert_int_equal(put_player(&world, "eve", "Eve", "", true), OK);
    assert_ok(
        player_get(world.game, BYTES("eve"), (struct scope){&world.arena, &world.failure}, &player),
        world.failure);
    assert_true(player.hidden);
    hide_player(&world, "eve", false);
    assert_int_equal(total_on(&world, "b"), 1);
    hide_player(&world, "dan", true);
    hide_player(&world, "dan", false);
    assert_int_equal(get_record(&world, "PLAYER#dan", "PROFILE").count, 0);
    world_close(&world);
}

/* The flag as a change sees it, before and after. */
static void test_hidden_action(void **state) {
    struct world world;
    struct action action;
    (void)state;
    world_open(&world);
    for (int round = 0; round < 2; round++) {
        bool hidden = round == 0;
        action = player_hidden_action(world.game, BYTES("ann"), &hidden, &world.arena);
        struct change change = write_of(&world.arena, &action, 1);
        assert_int_equal(game_wait(world.game, &change), OK);
        assert_int_equal(hidden, round == 1);
        hide_player(&world, "ann", true);
    }
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hides),
        cmocka_unit_test(test_hides_new),
        cmocka_unit_test(test_hides_nobody),
        cmocka_unit_test(test_hidden_action),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
