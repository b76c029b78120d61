/* Entries that are taken away, and the parts of cross-game boards that go with them. */
#include "game/world.h"

#include "base/clock.h"
#include "game/board/entry_removals.h"
#include "game/record.h"

static const struct bytes sources[] = {{(const uint8_t *)"one", 3}, {(const uint8_t *)"two", 3}};

static void define_all(struct world *world, enum combine combine) {
    static const struct bytes scopes[] = {{(const uint8_t *)"global", 6},
                                          {(const uint8_t *)"room", 4}};
    for (size_t i = 0; i < 2; i++)
        world_define(world, &(struct board_rules){.id = sources[i],
                                                  .game = BYTES("g"),
                                                  .timeframe = i == 0 ? FRAME_DAILY : FRAME_ALL,
                                                  .scopes = scopes,
                                                  .scope_count = 2,
                                                  .decimals = -1});
    world_define(world, &(struct board_rules){.id = BYTES("all"),
                                              .game = BYTES("all"),
                                              .sources = sources,
                                              .source_count = 2,
                                              .scopes = scopes,
                                              .scope_count = 2,
                                              .combine = combine,
                                              .decimals = -1});
}

static void score(struct world *world, struct bytes board, const char *player, const char *points) {
    static const struct bytes scope = {(const uint8_t *)"room:A", 6};
    struct submission submission = {.board = board,
                                    .player = bytes_str(player),
                                    .scopes = &scope,
                                    .scope_count = 1,
                                    .score = number_in(&world->arena, points)};
    struct submit submit;
    assert_ok(world_submit(world, &submission, &submit), world->failure);
    submit_release(&submit);
}

/* What the player has on the board; "" if it is not there. */
static const char *has(struct world *world, const char *name, const char *player) {
    const struct board *board = world_board(world, name);
    struct bytes member = bytes_str(player);
    struct standings found;
    char *text = arena_alloc(&world->arena, NUMBER_MAX_TEXT + 1);
    struct standings_query query = {world->game, board, &world->arena, &world->failure};
    struct standings_lookup lookup = {&member, 1, DETAIL_FULL};
    assert_ok(standings_members(&query, &lookup, &found), world->failure);
    board_drop(board);
    text[found.rows[0].found ? number_text(found.rows[0].entry.points.score, text) : 0] = 0;
    return text;
}

static void remove_entry(struct world *world, const char *name, const char *player) {
    const struct board *board = world_board(world, name);
    struct entry_removals removals = {
        .game = world->game, .arena = &world->arena, .failure = &world->failure};
    struct action actions[4];
    assert_ok(entry_removals_add(&removals, board, bytes_str(player), &actions[0]), world->failure);
    size_t count = entry_removals_count(&removals);
    assert_true(count < 4);
    entry_removals_finish(&removals, &actions[1]);
    struct change change = write_of(&world->arena, actions, count + 1);
    change.all_or_nothing = true;
    assert_ok(game_wait(world->game, &change), change.failure);
    board_drop(board);
}

static void test_parts_go(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    define_all(&world, COMBINE_SUM);
    score(&world, sources[0], "ann", "3");
    score(&world, sources[1], "ann", "4");
    score(&world, sources[1], "bob", "9");
    assert_string_equal(has(&world, "all", "ann"), "7");
    remove_entry(&world, "one", "ann");
    assert_string_equal(has(&world, "one", "ann"), "");
    assert_string_equal(has(&world, "all", "ann"), "4");
    assert_string_equal(has(&world, "all/room:A", "ann"), "7"); /* another list */
    remove_entry(&world, "one", "ann"); /* it is not there: nothing follows */
    remove_entry(&world, "one", "bob");
    assert_string_equal(has(&world, "all", "ann"), "4");
    assert_string_equal(has(&world, "all", "bob"), "9");
    remove_entry(&world, "two", "ann"); /* the last part */
    assert_string_equal(has(&world, "all", "ann"), "");
    remove_entry(&world, "two/room:A", "ann");
    assert_string_equal(has(&world, "all/room:A", "ann"), "3");
    score(&world, sources[0], "ann", "2");
    assert_string_equal(has(&world, "all", "ann"), "2");
    world_close(&world);
}

/* What a past period brought stays; two sources of one entry go in one change. */
static void test_periods_and_both(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    define_all(&world, COMBINE_BEST);
    score(&world, sources[0], "ann", "30");
    score(&world, sources[1], "ann", "4");
    const struct board *past = world_board(&world, "one");
    clock_shift_ms(24 * 3600 * 1000);
    assert_ok(board_clear(world.game, past, false, (struct scope){&world.arena, &world.failure}),
              world.failure);
    board_drop(past);
    assert_string_equal(has(&world, "all", "ann"), "30");
    score(&world, sources[0], "ann", "5");
    const struct board *one = world_board(&world, "one"), *two = world_board(&world, "two");
    struct entry_removals removals = {
        .game = world.game, .arena = &world.arena, .failure = &world.failure};
    struct action actions[3];
    assert_ok(entry_removals_add(&removals, one, BYTES("ann"), &actions[0]), world.failure);
    assert_ok(entry_removals_add(&removals, two, BYTES("ann"), &actions[1]), world.failure);
    assert_int_equal(entry_removals_count(&removals), 1);
    entry_removals_finish(&removals, &actions[2]);
    struct change change = write_of(&world.arena, actions, 3);
    change.all_or_nothing = true;
    assert_ok(game_wait(world.game, &change), change.failure);
    assert_string_equal(has(&world, "all", "ann"), "");
    board_drop(one);
    board_drop(two);
    world_close(&world);
}

/* Clearing a source, small or large, or removing its definition. */
static void test_clearing(void **state) {
    enum { MANY = 2100 };
    struct world world;
    (void)state;
    world_open(&world);
    define_all(&world, COMBINE_SUM);
    score(&world, sources[1], "ann", "4");
    for (int round = 0; round < 2; round++) {
        int count = round == 0 ? 3 : MANY;
        for (int i = 0; i < count; i++) {
            char player[16];
            snprintf(player, sizeof(player), "p%04d", i);
            score(&world, sources[0], player, "1");
        }
        score(&world, sources[0], "ann", "1");
        assert_string_equal(has(&world, "all", "ann"), "5");
        const struct board *one = world_board(&world, "one");
        assert_ok(board_clear(world.game, one, true, (struct scope){&world.arena, &world.failure}),
                  world.failure);
        board_drop(one);
        assert_string_equal(has(&world, "all", "ann"), "4");
        assert_string_equal(has(&world, "all", "p0001"), "");
        assert_string_equal(has(&world, "all", "p2099"), "");
        assert_string_equal(has(&world, "all/room:A", "ann"), "5");
    }
    assert_ok(board_remove(world.game, sources[1], (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_string_equal(has(&world, "all", "ann"), "");
    assert_string_equal(has(&world, "all/room:A", "ann"), "1");
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_go),
        cmocka_unit_test(test_periods_and_both),
        cmocka_unit_test(test_clearing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
