/* What a submission is refused for: plays that are not fair, tokens that are too old, scores beyond
 * the limits. */
#include "base/clock.h"
#include "game/player/play_session.h"
#include "game/world.h"

static void define(struct world *world, struct board_rules rules) {
    rules.decimals = -1;
    world_define(world, &rules);
}

static struct bytes open_play(struct world *world, const char *player, const char *game) {
    struct change change = {.arena = &world->arena};
    struct play play = {.player = bytes_str(player), .game = bytes_str(game)};
    assert_ok(play_open_prepare(world->game, &play, &change, &world->failure), world->failure);
    assert_ok(game_wait(world->game, &change), change.failure);
    return play.token;
}

static void expect_denied(struct world *world, const struct submission *submission,
                          const char *words) {
    struct submit submit;
    assert_int_equal(world_submit(world, submission, &submit), DENIED);
    const char *text = arena_str(&world->arena, world->failure.text);
    if (strstr(text, words) == NULL)
        print_message("%s\n", text);
    assert_non_null(strstr(text, words));
}

static void play_is_fair(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("f"),
                                        .game = BYTES("g"),
                                        .needs_play = true,
                                        .play_min_ms = 60000,
                                        .play_score_max = number_in(&world.arena, "1000")});
    struct submission submission = {
        .board = BYTES("f"), .player = BYTES("ann"), .score = number_in(&world.arena, "500")};
    expect_denied(&world, &submission, "only with the token of a play session");
    submission.play = open_play(&world, "ann", "g");
    expect_denied(&world, &submission, "at least 60000 ms");
    clock_shift_ms(61000);
    submission.player = BYTES("bob");
    expect_denied(&world, &submission, "another player");
    submission.player = BYTES("ann");
    submission.score = number_in(&world.arena, "1000.5");
    expect_denied(&world, &submission, "at most 1000 on board f");
    submission.score = number_in(&world.arena, "500");
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_true(submit.results[0].accepted);
    submit_release(&submit);
    expect_denied(&world, &submission, "already used");
    submission.play = open_play(&world, "ann", "other");
    clock_shift_ms(61000);
    expect_denied(&world, &submission, "of game other");
    submission.play = BYTES("made up");
    assert_int_equal(world_submit(&world, &submission, &submit), DENIED);
    world_close(&world);
}

static void tokens_of_plays_age(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("day"), .game = BYTES("g")});
    define(&world,
           (struct board_rules){
               .id = BYTES("hour"), .game = BYTES("h"), .needs_play = true, .play_life_s = 3600});
    struct submission submission = {
        .board = BYTES("hour"), .player = BYTES("ann"), .score = number_in(&world.arena, "5")};
    submission.play = open_play(&world, "ann", "h");
    clock_shift_ms(3601 * 1000);
    expect_denied(&world, &submission, "takes the token of a play for 3600 seconds");
    submission.play = open_play(&world, "ann", "h");
    clock_shift_ms(3599 * 1000);
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    submit_release(&submit);
    /* A day where nothing is said, also if the board does not ask for a play. */
    submission.board = BYTES("day");
    submission.play = open_play(&world, "ann", "g");
    clock_shift_ms((24 * 3600 + 1) * 1000);
    expect_denied(&world, &submission, "for 86400 seconds");
    submission.play = open_play(&world, "ann", "g");
    clock_shift_ms((24 * 3600 - 1) * 1000);
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    submit_release(&submit);
    world_close(&world);
}

static void limits_are_told(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    world_open(&world);
    define(&world,
           (struct board_rules){.id = BYTES("l"),
                                .game = BYTES("g"),
                                .score_min = number_in(&world.arena, "0"),
                                .score_max = number_in(&world.arena, "9223372036854775807")});
    struct submission submission = {.board = BYTES("l"), .player = BYTES("ann")};
    static const char *const bad[][2] = {{"-1", "under 0"},
                                         {"9223372036854775808", "over 9223372036854775807"},
                                         {"1e60", "over 9223372036854775807"}};
    for (unsigned i = 0; i < 3; i++) {
        submission.score = number_in(&world.arena, bad[i][0]);
        assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
        assert_non_null(strstr(arena_str(&world.arena, world.failure.text), bad[i][1]));
    }
    submission.score = number_in(&world.arena, "9223372036854775807");
    submission.subscore = number_in(&world.arena, "1");
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    submission.subscore = (struct bytes){0};
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_bytes_equal(submit.results[0].after.score,
                       number_in(&world.arena, "9223372036854775807"));
    submit_release(&submit);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(play_is_fair),
        cmocka_unit_test(tokens_of_plays_age),
        cmocka_unit_test(limits_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
