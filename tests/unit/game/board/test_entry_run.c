/* Several writes to one entry in one commit: each sees the one before, and memory stays small. */
#include "base/clock.h"
#include "game/board/entry_run.h"
#include "game/world.h"

enum { WRITES = 5000 };

/* Writes the scores, in order, to ann's entry on the board, in one commit. */
static void write_run(struct world *world, const char *name, struct entry_run *runs, size_t count) {
    const struct board *board = world_board(world, name);
    struct bytes key;
    assert_ok(entry_key_of(BYTES("ann"), (struct scope){&world->arena, &world->failure}, &key),
              world->failure);
    for (size_t i = 0; i < count; i++) {
        runs[i].write.board = board;
        runs[i].write.now_ms = clock_now_ms();
        runs[i].next = i + 1 < count ? &runs[i + 1] : NULL;
    }
    struct action action = entry_run_action(world->game, key, &runs[0], &world->arena);
    struct change change = write_of(&world->arena, &action, 1);
    assert_ok(game_wait(world->game, &change), change.failure);
    board_drop(board);
}

static struct entry entry_of(struct world *world, const char *pk) {
    struct get_request request = {.table = world->game->table,
                                  .key = game_key(&world->arena, bytes_str(pk), BYTES("ann")),
                                  .consistent = true};
    struct get_reply reply;
    struct entry entry;
    assert_ok(
        engine_get(world->engine, &request, (struct scope){&world->arena, &world->failure}, &reply),
        world->failure);
    assert_int_equal(entry_read(&reply.item, &world->arena, &entry), OK);
    return entry;
}

static void each_follows_on_the_one_before(void **state) {
    (void)state;
    static const char *const scores[] = {"5", "900", "-3", "96", "1"};
    static const enum entry_outcome outcomes[] = {ENTRY_ADDED, ENTRY_CHANGED, ENTRY_CHANGED,
                                                  ENTRY_OUT_OF_RANGE, ENTRY_CHANGED};
    static const char *const names[] = {"Ann", "", "Anna", "Anne", ""};
    struct world world;
    struct entry_run runs[5] = {0};
    world_open(&world);
    world_define(&world, &(struct board_rules){.id = BYTES("b"),
                                               .game = BYTES("g"),
                                               .keep = KEEP_SUM,
                                               .score_max = number_in(&world.arena, "905"),
                                               .decimals = -1});
    for (unsigned i = 0; i < 5; i++)
        runs[i] = (struct entry_run){
            .compute = entry_write_by_rules,
            .write = {.points = {number_in(&world.arena, scores[i]), points_zero()},
                      .name = bytes_str(names[i])}};
    write_run(&world, "b", runs, 5);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(runs[i].write.outcome, outcomes[i]);
    struct entry entry = entry_of(&world, "BOARD#b");
    assert_bytes_equal(entry.points.score, number_in(&world.arena, "903"));
    assert_bytes_equal(entry.name, BYTES("Anna"));
    assert_int_equal(entry.plays, 4);
    world_close(&world);
}

static void many_take_no_more_memory_than_few(void **state) {
    (void)state;
    struct world world;
    static struct entry_run runs[WRITES];
    world_open(&world);
    world_define(&world,
                 &(struct board_rules){
                     .id = BYTES("b"), .game = BYTES("g"), .keep = KEEP_SUM, .decimals = -1});
    for (unsigned i = 0; i < WRITES; i++)
        runs[i] = (struct entry_run){.compute = entry_write_by_rules,
                                     .write = {.points = points_of_double(&world.arena, 2)}};
    size_t before = world.arena.used;
    write_run(&world, "b", runs, WRITES);
    assert_true(world.arena.used - before < 64 * 1024);
    assert_bytes_equal(entry_of(&world, "BOARD#b").points.score, number_in(&world.arena, "10000"));
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_follows_on_the_one_before),
        cmocka_unit_test(many_take_no_more_memory_than_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
