/* Submissions: all boards of a game at once, scopes, boards made of others, keys that make a repeat
 * harmless, and threads. Fair play, and what a refusal says, are in test_submit_check.c. */
#include "game/player/player.h"
#include "game/world.h"

#include <pthread.h>

static void define(struct world *world, struct board_rules rules) {
    if (rules.decimals == 0)
        rules.decimals = -1;
    world_define(world, &rules);
}

static const struct submit_result *result_for(const struct submit *submit, const char *instance) {
    for (size_t i = 0; i < submit->result_count; i++)
        if (bytes_equal(submit->results[i].board->instance, bytes_str(instance)))
            return &submit->results[i];
    print_message("no result for %s\n", instance);
    fail();
    return NULL;
}

static void check_score(const struct points *points, struct world *world, const char *score) {
    assert_bytes_equal(points->score, number_in(&world->arena, score));
}

static const char *name_now(struct world *world, const char *id) {
    const struct board *board = world_board(world, id);
    const char *name = arena_str(&world->arena, board->instance);
    board_drop(board);
    return name;
}

static void one_score_feeds_all_boards_of_a_game(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    static const struct bytes kinds[] = {{(const uint8_t *)"global", 6},
                                         {(const uint8_t *)"room", 4}};
    static const struct bytes any[] = {{(const uint8_t *)"*", 1}};
    static const struct season past[] = {{{(const uint8_t *)"old", 3}, 1, 2}};
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("t:all"), .game = BYTES("t")});
    define(&world, (struct board_rules){.id = BYTES("t:day"),
                                        .game = BYTES("t"),
                                        .timeframe = FRAME_DAILY,
                                        .zone = BYTES("Asia/Kolkata"),
                                        .scopes = kinds,
                                        .scope_count = 2});
    define(&world, (struct board_rules){
                       .id = BYTES("t:any"), .game = BYTES("t"), .scopes = any, .scope_count = 1});
    define(&world, (struct board_rules){.id = BYTES("t:old"),
                                        .game = BYTES("t"),
                                        .timeframe = FRAME_SEASON,
                                        .seasons = past,
                                        .season_count = 1});
    define(&world, (struct board_rules){.id = BYTES("u:all"), .game = BYTES("u")});
    struct bytes room = BYTES("room:AB12");
    struct submission submission = {.game = BYTES("t"),
                                    .scopes = &room,
                                    .scope_count = 1,
                                    .player = BYTES("ann"),
                                    .name = BYTES("Ann"),
                                    .score = number_in(&world.arena, "120")};
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_int_equal(submit.result_count, 4);
    const struct submit_result *result = result_for(&submit, "t:all");
    assert_true(result->accepted);
    assert_int_equal(result->rank_before, 0);
    assert_int_equal(result->rank_after, 1);
    assert_int_equal(result->total, 1);
    result_for(&submit, name_now(&world, "t:day"));
    result_for(&submit, name_now(&world, "t:day/room:AB12"));
    result_for(&submit, "t:any/room:AB12");
    submit_release(&submit);
    /* a scope that no board has */
    room = BYTES("club:7");
    submission.board = BYTES("t:day");
    submission.game = (struct bytes){0};
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    submission.scope_count = 0;
    submission.board = BYTES("nothing");
    submission.existing_only = true;
    assert_int_equal(world_submit(&world, &submission, &submit), NOT_FOUND);
    submission.existing_only = false; /* the first score makes a plain board */
    assert_int_equal(world_submit(&world, &submission, &submit), OK);
    assert_true(result_for(&submit, "nothing")->accepted);
    submit_release(&submit);
    submission.existing_only = true;
    assert_int_equal(world_submit(&world, &submission, &submit), OK);
    submit_release(&submit);
    submission.board = BYTES("t:old");
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    submission.period = BYTES("old");
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    world_close(&world);
}

/* The better of two plays stays whole: never the score of one with the subscore of another. */
static void the_best_is_of_one_play(void **state) {
    (void)state;
    static const char *const plays[][3] = {{"100", "5", "100"}, {"100", "3", "100"},
                                           {"90", "9", "100"},  {"100", "6", "100"},
                                           {"101", "1", "101"}, {"100", "99", "101"}};
    static const char *const best[] = {"5", "5", "5", "6", "1", "1"};
    struct world world;
    struct submit submit;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("b"), .game = BYTES("g"), .subscores = true});
    for (unsigned i = 0; i < 6; i++) {
        struct submission submission = {.board = BYTES("b"),
                                        .player = BYTES("ann"),
                                        .score = number_in(&world.arena, plays[i][0]),
                                        .subscore = number_in(&world.arena, plays[i][1])};
        assert_ok(world_submit(&world, &submission, &submit), world.failure);
        check_score(&submit.results[0].after, &world, plays[i][2]);
        assert_bytes_equal(submit.results[0].after.subscore, number_in(&world.arena, best[i]));
        submit_release(&submit);
    }
    world_close(&world);
}

static void sums_are_exact_and_limited(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("s"),
                                        .game = BYTES("g"),
                                        .keep = KEEP_SUM,
                                        .score_max = number_in(&world.arena, "1"),
                                        .decimals = 1});
    struct submission submission = {
        .board = BYTES("s"), .player = BYTES("ann"), .score = number_in(&world.arena, "0.1")};
    for (unsigned i = 0; i < 10; i++) {
        assert_ok(world_submit(&world, &submission, &submit), world.failure);
        assert_true(submit.results[0].accepted);
        submit_release(&submit);
    }
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    assert_non_null(strstr(arena_str(&world.arena, world.failure.text), "past the board's limits"));
    /* what is part of something larger goes on without the board */
    submission.part = true;
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_false(submit.results[0].accepted);
    assert_string_equal(submit.results[0].reason, "past the board's limits");
    check_score(&submit.results[0].after, &world, "1");
    submit_release(&submit);
    submission.part = false;
    submission.score = number_in(&world.arena, "0.01");
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    assert_non_null(strstr(arena_str(&world.arena, world.failure.text), "1 decimals"));
    world_close(&world);
}

static uint64_t total_of(struct world *world, const char *name) {
    const struct board *board = world_board(world, name);
    uint64_t total;
    assert_ok(
        standings_total(world->game, board, (struct scope){&world->arena, &world->failure}, &total),
        world->failure);
    board_drop(board);
    return total;
}

/* One board's limit refuses all of it, whether it is the score's or the sum's, or that of a board
 * made of others. */
static void a_limit_refuses_everywhere(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    static const struct bytes sources[] = {{(const uint8_t *)"h:a", 3}};
    world_open(&world);
    struct bytes ten = number_in(&world.arena, "10");
    define(&world, (struct board_rules){.id = BYTES("g:a"), .game = BYTES("g")});
    define(&world, (struct board_rules){
                       .id = BYTES("g:z"), .game = BYTES("g"), .keep = KEEP_SUM, .score_max = ten});
    define(&world, (struct board_rules){.id = BYTES("h:a"), .game = BYTES("h")});
    define(&world,
           (struct board_rules){
               .id = BYTES("over"), .sources = sources, .source_count = 1, .score_max = ten});
    struct submission submission = {
        .game = BYTES("g"), .player = BYTES("ann"), .score = number_in(&world.arena, "11")};
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    assert_int_equal(total_of(&world, "g:a"), 0);
    submission.game = BYTES("h");
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    assert_int_equal(total_of(&world, "h:a"), 0);
    submission.score = number_in(&world.arena, "6");
    submission.game = BYTES("g");
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    submit_release(&submit);
    submission.score = number_in(&world.arena, "7"); /* better on the one, too much for the other */
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    submission.score = number_in(&world.arena, "1");
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    check_score(&result_for(&submit, "g:a")->after, &world, "6");
    check_score(&result_for(&submit, "g:z")->after, &world, "7");
    submit_release(&submit);
    world_close(&world);
}

static void a_subscore_reaches_the_boards_that_keep_one(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("g:a"), .game = BYTES("g")});
    define(&world, (struct board_rules){.id = BYTES("g:b"), .game = BYTES("g"), .subscores = true});
    struct submission submission = {.game = BYTES("g"),
                                    .player = BYTES("ann"),
                                    .score = number_in(&world.arena, "1"),
                                    .subscore = number_in(&world.arena, "6")};
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_bytes_equal(result_for(&submit, "g:a")->after.subscore, points_zero());
    assert_bytes_equal(result_for(&submit, "g:b")->after.subscore, submission.subscore);
    submit_release(&submit);
    submission.game = (struct bytes){0};
    submission.board = BYTES("g:a");
    assert_int_equal(world_submit(&world, &submission, &submit), INVALID);
    world_close(&world);
}

static void a_game_may_have_many_boards(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    struct bytes twice[] = {BYTES("room:A"), BYTES("room:A")};
    static const struct bytes any[] = {{(const uint8_t *)"*", 1}, {(const uint8_t *)"global", 6}};
    world_open(&world);
    for (unsigned i = 0; i < 501; i++)
        define(&world, (struct board_rules){.id = arena_printf(&world.arena, "g:%03u", i),
                                            .game = BYTES("g"),
                                            .scopes = any,
                                            .scope_count = 2});
    struct submission submission = {
        .game = BYTES("g"), .player = BYTES("ann"), .score = number_in(&world.arena, "1")};
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_int_equal(submit.result_count, 501);
    assert_int_equal(submit.results[500].rank_after, 1);
    submit_release(&submit);
    submission.scopes = twice; /* with a scope it counts for twice as many */
    submission.scope_count = 2;
    assert_int_equal(world_submit(&world, &submission, &submit), LIMIT_EXCEEDED);
    assert_non_null(strstr(arena_str(&world.arena, world.failure.text), "1000 boards"));
    world_close(&world);
}

/* A scope that is named twice is one, for boards made of others too. */
static void a_scope_counts_once(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    static const struct bytes sources[] = {{(const uint8_t *)"a", 1}};
    static const struct bytes rooms[] = {{(const uint8_t *)"room", 4}};
    struct bytes twice[] = {BYTES("room:A"), BYTES("room:A")};
    world_open(&world);
    define(&world, (struct board_rules){
                       .id = BYTES("a"), .game = BYTES("g"), .scopes = rooms, .scope_count = 1});
    define(&world, (struct board_rules){.id = BYTES("sum"),
                                        .keep = KEEP_SUM,
                                        .scopes = rooms,
                                        .scope_count = 1,
                                        .sources = sources,
                                        .source_count = 1});
    struct submission submission = {.board = BYTES("a"),
                                    .scope = BYTES("room:A"),
                                    .scopes = twice,
                                    .scope_count = 2,
                                    .player = BYTES("ann"),
                                    .score = number_in(&world.arena, "5")};
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_int_equal(submit.result_count, 2);
    check_score(&result_for(&submit, "sum/room:A")->after, &world, "5");
    submit_release(&submit);
    world_close(&world);
}

static void count_down(struct change *change) {
    sem_post(change->user);
}

/* Submissions that come together in one commit are told ranks as if they had come one by one: the
 * second of a player has a rank before, and a rank is nobody else's. */
static void ranks_belong_to_the_commit(void **state) {
    (void)state;
    enum { ALL = 40 };
    static const enum ranking rankings[] = {RANK_ORDINAL, RANK_COMPETITION, RANK_DENSE};
    for (unsigned kind = 0; kind < 3; kind++) {
        struct world world;
        struct submit submits[ALL];
        struct arena arenas[ALL];
        struct stall stall;
        sem_t done;
        world_open(&world);
        define(&world, (struct board_rules){
                           .id = BYTES("b"), .game = BYTES("g"), .ranking = rankings[kind]});
        sem_init(&done, 0, 0);
        stall_start(&stall, world.engine);
        for (unsigned i = 0; i < ALL; i++) {
            arena_init(&arenas[i]);
            struct submission submission = {.board = BYTES("b"),
                                            .player = arena_printf(&arenas[i], "p%u", i / 2),
                                            .score = number_from_int(&arenas[i], i)};
            assert_ok(submit_prepare(world.game, &submission,
                                     (struct scope){&arenas[i], &world.failure}, &submits[i]),
                      world.failure);
            submits[i].change.done = count_down;
            submits[i].change.user = &done;
            engine_submit(world.engine, &submits[i].change);
        }
        stall_end(&stall);
        for (unsigned i = 0; i < ALL; i++)
            sem_wait(&done);
        for (unsigned i = 0; i < ALL; i++) {
            assert_ok(submit_finish(&submits[i], &world.failure), world.failure);
            const struct submit_result *result = &submits[i].results[0];
            assert_int_equal(result->rank_before, i % 2); /* the best so far, or none */
            assert_int_equal(result->rank_after, 1);
            assert_int_equal(result->total, i / 2 + 1);
            submit_release(&submits[i]);
            arena_release(&arenas[i]);
        }
        sem_destroy(&done);
        world_close(&world);
    }
}

static void boards_are_made_of_boards(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    static const struct bytes sources[] = {{(const uint8_t *)"a", 1}, {(const uint8_t *)"b", 1}};
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("a"), .game = BYTES("ga")});
    define(&world, (struct board_rules){.id = BYTES("b"), .game = BYTES("gb")});
    define(&world,
           (struct board_rules){
               .id = BYTES("sum"), .sources = sources, .source_count = 2, .combine = COMBINE_SUM});
    define(&world, (struct board_rules){.id = BYTES("most"),
                                        .sources = sources,
                                        .source_count = 2,
                                        .combine = COMBINE_BEST});
    static const struct {
        const char *board, *score, *sum, *most;
    } plays[] = {{"a", "10", "10", "10"}, {"b", "7", "17", "10"},   {"a", "4", "17", "10"},
                 {"b", "30", "40", "30"}, {"a", "-50", "40", "30"}, {"a", "11", "41", "30"}};
    for (unsigned i = 0; i < 6; i++) {
        struct submission submission = {.board = bytes_str(plays[i].board),
                                        .player = BYTES("ann"),
                                        .score = number_in(&world.arena, plays[i].score)};
        assert_ok(world_submit(&world, &submission, &submit), world.failure);
        assert_int_equal(submit.result_count, 3);
        check_score(&result_for(&submit, "sum")->after, &world, plays[i].sum);
        check_score(&result_for(&submit, "most")->after, &world, plays[i].most);
        submit_release(&submit);
    }
    struct submission direct = {
        .board = BYTES("sum"), .player = BYTES("ann"), .score = number_in(&world.arena, "1")};
    assert_int_equal(world_submit(&world, &direct, &submit), INVALID);
    /* what is removed is fed no more */
    assert_ok(board_remove(world.game, BYTES("sum"), (struct scope){&world.arena, &world.failure}),
              world.failure);
    direct.board = BYTES("a");
    assert_ok(world_submit(&world, &direct, &submit), world.failure);
    assert_int_equal(submit.result_count, 2);
    submit_release(&submit);
    world_close(&world);
}

static void a_repeat_with_the_same_key_does_nothing(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("s"), .game = BYTES("g"), .keep = KEEP_SUM});
    struct submission submission = {.board = BYTES("s"),
                                    .player = BYTES("ann"),
                                    .score = number_in(&world.arena, "5"),
                                    .token = BYTES("once")};
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(world_submit(&world, &submission, &submit), world.failure);
        assert_int_equal(submit.repeated, i > 0);
        assert_true(submit.results[0].accepted);
        check_score(&submit.results[0].after, &world, "5");
        assert_int_equal(submit.results[0].rank_after, 1);
        submit_release(&submit);
    }
    submission.score = number_in(&world.arena, "6");
    assert_int_equal(world_submit(&world, &submission, &submit), REPEAT_MISMATCH);
    submission.player = BYTES("bob"); /* whose key it is is another's */
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_false(submit.repeated);
    submit_release(&submit);
    world_close(&world);
}

static void a_hidden_player_stays_hidden(void **state) {
    (void)state;
    struct world world;
    struct submit submit;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("h"), .game = BYTES("g")});
    assert_ok(
        player_hide(world.game, BYTES("ann"), true, (struct scope){&world.arena, &world.failure}),
        world.failure);
    struct submission submission = {
        .board = BYTES("h"), .player = BYTES("ann"), .score = number_in(&world.arena, "5")};
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_true(submit.results[0].accepted);
    assert_int_equal(submit.results[0].rank_after, 0);
    assert_int_equal(submit.results[0].total, 0);
    submit_release(&submit);
    world_close(&world);
}

/* --- threads --- */

enum { THREADS = 2, EACH = 150, PLAYERS = 5 };

struct submitter {
    struct game *game;
    unsigned seed;
};

static void *submit_many(void *argument) {
    struct submitter *me = argument;
    struct arena arena;
    arena_init(&arena);
    for (unsigned i = 0; i < EACH; i++) {
        struct failure failure;
        struct submit submit;
        struct submission submission = {
            .game = BYTES("g"),
            .player = arena_printf(&arena, "p%u", (i * 7 + me->seed) % PLAYERS),
            .score = number_from_int(&arena, 1)};
        assert_ok(submit_prepare(me->game, &submission, (struct scope){&arena, &failure}, &submit),
                  failure);
        game_wait(me->game, &submit.change);
        assert_ok(submit_finish(&submit, &failure), failure);
        submit_release(&submit);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

static void two_threads_lose_nothing(void **state) {
    (void)state;
    struct world world;
    pthread_t threads[THREADS];
    struct submitter submitters[THREADS];
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("sum"), .game = BYTES("g"), .keep = KEEP_SUM});
    define(&world, (struct board_rules){.id = BYTES("best"), .game = BYTES("g")});
    for (unsigned i = 0; i < THREADS; i++) {
        submitters[i] = (struct submitter){world.game, i * 3};
        pthread_create(&threads[i], NULL, submit_many, &submitters[i]);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const struct board *board = world_board(&world, "sum");
    struct standings_request request = {.board = board, .from = 1, .limit = PLAYERS + 1};
    struct standings rows;
    assert_ok(
        standings_page(world.game, &request, (struct scope){&world.arena, &world.failure}, &rows),
        world.failure);
    int64_t sum = 0, one;
    for (size_t i = 0; i < rows.count; i++) {
        assert_true(number_to_int(rows.rows[i].entry.points.score, &one));
        sum += one;
    }
    assert_int_equal(sum, THREADS * EACH);
    board_drop(board);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_score_feeds_all_boards_of_a_game),
        cmocka_unit_test(the_best_is_of_one_play),
        cmocka_unit_test(sums_are_exact_and_limited),
        cmocka_unit_test(a_limit_refuses_everywhere),
        cmocka_unit_test(a_subscore_reaches_the_boards_that_keep_one),
        cmocka_unit_test(a_game_may_have_many_boards),
        cmocka_unit_test(a_scope_counts_once),
        cmocka_unit_test(ranks_belong_to_the_commit),
        cmocka_unit_test(boards_are_made_of_boards),
        cmocka_unit_test(a_repeat_with_the_same_key_does_nothing),
        cmocka_unit_test(a_hidden_player_stays_hidden),
        cmocka_unit_test(two_threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
