/* The boards that a player is on, page by page. */
#include "game/player/player_test.h"

static void test_boards(void **state) {
    struct world world;
    struct player_boards boards;
    struct bytes after = {0};
    int at = 0;
    (void)state;
    world_open(&world);
    for (int i = 0; i < 25; i++) {
        char board[16];
        snprintf(board, sizeof(board), "b%02d", i);
        zadd(&world, board, "ann", i);
        zadd(&world, board, "bob", 10.5);
        mark_entry(&world, board, "ann");
    }
    do {
        struct player_boards_request request = {BYTES("ann"), after, 7};
        assert_ok(player_boards(world.game, &request, (struct scope){&world.arena, &world.failure},
                                &boards),
                  world.failure);
        for (size_t i = 0; i < boards.count; i++, at++) {
            char name[16];
            snprintf(name, sizeof(name), "b%02d", at);
            assert_bytes_equal(boards.boards[i]->instance, bytes_str(name));
            assert_int_equal(boards.standings[i].rank, at > 10 ? 1 : 2);
            assert_int_equal(boards.totals[i], 2);
        }
        bool more = boards.more;
        assert_true(!more || boards.count == 7);
        after = boards.next;
        player_boards_release(&boards);
        if (!more)
            break;
    } while (true);
    assert_int_equal(at, 25);
    hide_player(&world, "ann", true);
    struct player_boards_request all = {.id = BYTES("ann"), .limit = 100};
    assert_ok(
        player_boards(world.game, &all, (struct scope){&world.arena, &world.failure}, &boards),
        world.failure);
    assert_int_equal(boards.count, 25);
    assert_false(boards.standings[3].found);
    assert_bytes_equal(boards.standings[3].entry.points.score, number_in(&world.arena, "3"));
    assert_int_equal(boards.totals[3], 1);
    player_boards_release(&boards);
    world_close(&world);
}

/* Entries by score alone do not say whose they are. */
static void test_boards_by_score(void **state) {
    struct world world;
    struct player_boards boards;
    struct bytes after = {0};
    unsigned found = 0, pages = 0;
    (void)state;
    world_open(&world);
    for (int i = 0; i < 1250; i++) {
        char board[16];
        snprintf(board, sizeof(board), "b%04d", i);
        zadd(&world, board, i % 50 == 0 ? "ann" : "bob", i);
        if (i % 100 == 0)
            mark_entry(&world, board, "ann");
    }
    do {
        struct player_boards_request request = {BYTES("ann"), after, 3};
        assert_ok(player_boards(world.game, &request, (struct scope){&world.arena, &world.failure},
                                &boards),
                  world.failure);
        for (size_t i = 0; i < boards.count; i++, found++) {
            char name[16]; /* first those that are marked */
            snprintf(name, sizeof(name), "b%04u", found < 13 ? found * 100 : found * 100 - 1250);
            assert_bytes_equal(boards.boards[i]->instance, bytes_str(name));
            assert_int_equal(boards.standings[i].rank, 1);
        }
        after = boards.next;
        assert_int_equal(boards.more, after.size != 0);
        player_boards_release(&boards);
    } while (after.size != 0 && pages++ < 100);
    assert_int_equal(found, 25);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boards),
        cmocka_unit_test(test_boards_by_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
