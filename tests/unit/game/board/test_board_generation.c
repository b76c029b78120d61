/* Generations of entries: partitions, what a switch does to a board and its item, what is deleted
 * after it, and what writes that have looked before it are told. */
#include "base/clock.h"
#include "game/board/board_generation.h"
#include "game/board/board_int.h"
#include "game/keyspace/key_garbage.h"
#include "game/record.h"
#include "game/world.h"

#include <stdio.h>

#define FIRST  BYTES("0123456789abcdef")
#define SECOND BYTES("fedcba9876543210")

static struct world world;

static int open_world(void **state) {
    (void)state;
    world_open(&world);
    return 0;
}

static int close_world(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

static struct scope in_world(void) {
    return (struct scope){&world.arena, &world.failure};
}

static uint64_t items_of(struct bytes pk) {
    struct listing listing = {.partition_name = GAME_PK, .partition = pk};
    struct page_reply page;
    assert_ok(board_page(world.game, &listing, in_world(), &page), world.failure);
    return page.count;
}

static void put_score(const char *board, const char *member) {
    world_put(&world, board, bytes_str(member),
              (struct entry_write){.points = points_of_double(&world.arena, 1)});
}

static void switch_board(const char *name, struct bytes generation, bool has_entries) {
    const struct board *board = world_board(&world, name);
    struct board_switch to_be = {.game = world.game,
                                 .board = board,
                                 .generation = generation,
                                 .has_entries = has_entries,
                                 .had_entries = true};
    struct action actions[BOARD_SWITCH_ACTIONS];
    size_t count = board_switch_actions(&to_be, &world.arena, actions);
    struct change change = {.kind = CHANGE_WRITE,
                            .arena = &world.arena,
                            .actions = actions,
                            .action_count = count,
                            .all_or_nothing = true};
    assert_ok(game_wait(world.game, &change), change.failure);
    board_drop(board);
}

/* Deletes all that may be deleted `ms` from now. */
static void collect_after(int64_t ms) {
    bool more = true;
    clock_shift_ms(ms);
    while (more)
        assert_ok(key_garbage_step(world.game, in_world(), &more), world.failure);
}

static void partitions_are_told_apart(void **state) {
    (void)state;
    struct bytes pk = board_partition(BYTES("a#b"), FIRST, &world.arena);
    assert_true(bytes_equal(pk, BYTES("BOARD~0123456789abcdef#a#b")));
    assert_true(bytes_equal(board_partition_key(pk), BYTES("a#b")));
    assert_true(bytes_equal(board_partition_generation(pk), FIRST));
    pk = board_partition(BYTES("a"), (struct bytes){0}, &world.arena);
    assert_true(bytes_equal(pk, BYTES("BOARD#a")));
    assert_true(bytes_equal(board_partition_key(pk), BYTES("a")));
    assert_int_equal(board_partition_generation(pk).size, 0);
    assert_int_equal(board_partition_key(BYTES("BOARD~short#a")).size, 0);
    assert_int_equal(board_partition_key(BYTES("BOARDDEF#a")).size, 0);
    assert_int_equal(board_partition_key(BYTES("KEY#a")).size, 0);
}

static void a_board_without_entries_keeps_its_item_while_there_is_litter(void **state) {
    (void)state;
    put_score("a", "ann");
    put_score("a", "bob");
    switch_board("a", FIRST, false);
    const struct board *board = world_board(&world, "a");
    assert_true(board->exists && board->littered);
    assert_true(bytes_equal(board->pk, BYTES("BOARD~0123456789abcdef#a")));
    board_drop(board);
    put_score("a", "cy");
    assert_int_equal(items_of(BYTES("BOARD~0123456789abcdef#a")), 1);
    assert_int_equal(items_of(BYTES("BOARD#a")), 2);
    collect_after(0); /* who reads it still may go on */
    assert_int_equal(items_of(BYTES("BOARD#a")), 2);
    collect_after(LIMIT_GENERATION_KEPT_MS + 1);
    assert_int_equal(items_of(BYTES("BOARD#a")), 0);
    assert_int_equal(items_of(BYTES("BOARD~0123456789abcdef#a")), 1);
    assert_int_equal(items_of(BYTES("KEYGARBAGE")), 0);
    board = world_board(&world, "a");
    assert_true(board->exists && !board->littered);
    board_drop(board);
    switch_board("a", SECOND, false); /* now nothing leads to the name's own partition */
    board = world_board(&world, "a");
    assert_false(board->exists);
    assert_true(bytes_equal(board->pk, BYTES("BOARD#a")));
    board_drop(board);
    collect_after(LIMIT_GENERATION_KEPT_MS + 1);
    assert_int_equal(items_of(BYTES("BOARD~0123456789abcdef#a")), 0);
}

static void many_items_are_deleted_in_several_commits(void **state) {
    (void)state;
    enum { ENTRIES = 1300 };
    for (unsigned i = 0; i < ENTRIES; i++) {
        char member[16];
        snprintf(member, sizeof(member), "m%u", i);
        put_score("many", member);
    }
    switch_board("many", FIRST, false);
    clock_shift_ms(LIMIT_GENERATION_KEPT_MS + 1);
    bool more;
    assert_ok(key_garbage_step(world.game, in_world(), &more), world.failure);
    assert_true(more);
    uint64_t left = items_of(BYTES("BOARD#many"));
    assert_true(left > 0 && left < ENTRIES);
    collect_after(0);
    assert_int_equal(items_of(BYTES("BOARD#many")), 0);
}

static void a_lease_of_this_process_holds_and_one_of_another_does_not(void **state) {
    (void)state;
    struct key_garbage staged = {.id = FIRST,
                                 .partition = BYTES("BOARD~0123456789abcdef#b"),
                                 .entries = true,
                                 .staged = true,
                                 .after_ms = clock_now_ms() + LIMIT_GENERATION_LEASE_MS};
    struct action note = key_garbage_note(world.game, &staged, &world.arena);
    struct change change = write_of(&world.arena, &note, 1);
    assert_ok(game_wait(world.game, &change), change.failure);
    collect_after(0);
    assert_int_equal(items_of(BYTES("KEYGARBAGE")), 1);
    world.game->opened_ms = clock_now_ms() + 1; /* as if it had been started again */
    collect_after(0);
    assert_int_equal(items_of(BYTES("KEYGARBAGE")), 0);
    /* Whoever comes with the commit after that is refused. */
    struct action unnote = key_garbage_unnote(world.game, FIRST, &world.arena);
    change = write_of(&world.arena, &unnote, 1);
    change.all_or_nothing = true;
    assert_int_not_equal(game_wait(world.game, &change), OK);
}

static void writes_that_looked_before_a_switch_see_it(void **state) {
    (void)state;
    put_score("c", "ann");
    const struct board *board = world_board(&world, "c");
    uint64_t seen = board_switches_seen(world.game);
    assert_false(board_may_have_switched(world.game, board, seen, in_world()));
    board_switch_begin(world.game);
    assert_true(board_may_have_switched(world.game, board, seen, in_world()));
    switch_board("c", FIRST, true);
    board_switch_end(world.game);
    assert_true(board_may_have_switched(world.game, board, seen, in_world()));
    board_drop(board);
    /* Another board is where it was. */
    put_score("d", "ann");
    board = world_board(&world, "d");
    assert_false(board_may_have_switched(world.game, board, seen, in_world()));
    board_drop(board);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(partitions_are_told_apart, open_world, close_world),
        cmocka_unit_test_setup_teardown(
            a_board_without_entries_keeps_its_item_while_there_is_litter, open_world, close_world),
        cmocka_unit_test_setup_teardown(many_items_are_deleted_in_several_commits, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(a_lease_of_this_process_holds_and_one_of_another_does_not,
                                        open_world, close_world),
        cmocka_unit_test_setup_teardown(writes_that_looked_before_a_switch_see_it, open_world,
                                        close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
