/* Definitions that change while there are entries, and definitions that cannot be read. */
#include "base/clock.h"
#include "game/board/board_int.h"
#include "game/record.h"
#include "game/world.h"

#define TEXT(literal) \
    { (const uint8_t *)(literal), sizeof(literal) - 1 }

static enum status redefine(struct world *world, const struct board_rules *rules) {
    struct change change = {.arena = &world->arena};
    enum status status = board_define_prepare(world->game, rules, false, &change);
    if (status == OK)
        status = game_wait(world->game, &change);
    world->failure = change.failure;
    return status;
}

static void submit_one(struct world *world, struct submission submission) {
    struct submit submit;
    submission.player = BYTES("ann");
    submission.score = number_in(&world->arena, "5");
    assert_ok(world_submit(world, &submission, &submit), world->failure);
    submit_release(&submit);
}

static bool says(const struct world *world, const char *word) {
    return bytes_find(world->failure.text, bytes_str(word)) != SIZE_MAX;
}

static void scopes_with_entries_stay(void **state) {
    (void)state;
    static const struct bytes room = TEXT("room:AB12"), club = TEXT("club");
    static const struct bytes any[] = {TEXT("*"), TEXT("global")};
    static const struct bytes all[] = {TEXT("global"), TEXT("room"), TEXT("club"), TEXT("room-x")};
    struct world world;
    world_open(&world);
    struct board_rules rules = {
        .id = BYTES("b"), .game = BYTES("g"), .decimals = -1, .scopes = any, .scope_count = 2};
    world_define(&world, &rules);
    submit_one(&world, (struct submission){.board = rules.id, .scopes = &room, .scope_count = 1});
    submit_one(&world, (struct submission){.board = rules.id, .scopes = &club, .scope_count = 1});
    rules.scope_count = 1; /* any, but not global */
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    assert_true(says(&world, "global"));
    rules.scopes = all, rules.scope_count = 2; /* without the club's */
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    assert_true(says(&world, "club"));
    rules.scopes = all + 1, rules.scope_count = 3;
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    rules.scope_count = 0; /* global alone */
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    rules.scopes = all, rules.scope_count = 4; /* all that there are, and one more */
    assert_ok(redefine(&world, &rules), world.failure);
    world_close(&world);
}

static void seasons_with_entries_stay(void **state) {
    (void)state;
    struct world world;
    int64_t hour = 3600 * 1000, now = clock_now_ms();
    struct season seasons[] = {{TEXT("spring"), now - hour, now + hour},
                               {TEXT("summer"), now + 2 * hour, now + 3 * hour}};
    struct season other[] = {{TEXT("fall"), now - hour, now + hour}};
    world_open(&world);
    struct board_rules rules = {.id = BYTES("b"),
                                .game = BYTES("g"),
                                .decimals = -1,
                                .timeframe = FRAME_SEASON,
                                .seasons = seasons,
                                .season_count = 2};
    world_define(&world, &rules);
    submit_one(&world, (struct submission){.board = rules.id});
    rules.seasons = other, rules.season_count = 1; /* taken away, or given another name */
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    assert_true(says(&world, "spring"));
    rules.seasons = seasons + 1;
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    seasons[0].starts_ms = now + hour / 2; /* or begun anew, to be taken away before that */
    rules.seasons = seasons, rules.season_count = 2;
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    seasons[0].starts_ms = now - hour;
    seasons[0].ends_ms = now + hour / 2; /* it may last longer or shorter while it goes on */
    assert_ok(redefine(&world, &rules), world.failure);
    rules.season_count = 1; /* one without entries may go, */
    assert_ok(redefine(&world, &rules), world.failure);
    clock_shift_ms(hour);
    seasons[0].ends_ms = now + 5 * hour; /* and what has ended does not go on */
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    assert_true(says(&world, "live again"));
    const struct board *board = world_board(&world, "b@spring");
    assert_int_equal(
        board_check_open(board, clock_now_ms(), (struct scope){&world.arena, &world.failure}),
        INVALID);
    board_drop(board);
    clock_shift_ms(-hour);
    world_close(&world);
}

static void subscores_stay_while_entries_have_one(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    struct board_rules rules = {
        .id = BYTES("b"), .game = BYTES("g"), .decimals = -1, .subscores = true};
    world_define(&world, &rules);
    submit_one(&world, (struct submission){.board = rules.id});
    rules.subscores = false;
    assert_ok(redefine(&world, &rules), world.failure); /* none has one */
    rules.subscores = true;
    assert_ok(redefine(&world, &rules), world.failure);
    submit_one(&world,
               (struct submission){.board = rules.id, .subscore = number_in(&world.arena, "6")});
    rules.subscores = false;
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    assert_true(says(&world, "subscores"));
    world_close(&world);
}

/* A plain board's entries are not put out of reach by a definition of its name. */
static void a_definition_takes_a_plain_board_over_or_is_refused(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    world_put(&world, "b", BYTES("ann"),
              (struct entry_write){.points = points_of_double(&world.arena, 1)});
    struct board_rules rules = {.id = BYTES("b"),
                                .game = BYTES("g"),
                                .decimals = -1,
                                .tie = TIE_MEMBER,
                                .timeframe = FRAME_DAILY};
    assert_int_equal(redefine(&world, &rules), CONFLICT);
    rules.timeframe = FRAME_ALL;
    assert_ok(redefine(&world, &rules), world.failure);
    world_close(&world);
}

/* --- what somebody put there by hand --- */

static unsigned reports;
static void count_report(const char *text) {
    assert_non_null(strstr(text, "bad"));
    reports++;
}

static void what_cannot_be_read_is_passed_over(void **state) {
    (void)state;
    struct world world;
    struct board_list list;
    struct submit submit;
    world_open(&world);
    world.game->settings.report = count_report;
    reports = 0;
    for (unsigned i = 0; i < 3; i++)
        world_define(&world, &(struct board_rules){.id = arena_printf(&world.arena, "g:%u", i),
                                                   .game = BYTES("g"),
                                                   .decimals = -1});
    put_item(world.engine, &world.arena, "gametable",
             item_of(&world.arena, "PK=S:BOARDDEF#bad:1", "SK=S:META", "GSI1PK=S:BOARDS",
                     "GSI1SK=S:bad:1", "GSI2PK=S:GAME#g", "GSI2SK=S:BOARD#bad:1", "id=S:bad:1",
                     "order=S:sideways", NULL));
    put_item(world.engine, &world.arena, "gametable",
             item_of(&world.arena, "PK=S:BOARDDEF#bad:2", "SK=S:META", "GSI1PK=S:BOARDS",
                     "GSI1SK=S:bad:2", "GSI2PK=S:GAME#g", "GSI2SK=S:BOARD#bad:2", "id=S:other",
                     NULL));
    put_item(world.engine, &world.arena, "gametable",
             item_of(&world.arena, "PK=S:BOARDDEF#bad:3", "SK=S:META", "GSI1PK=S:BOARDS",
                     "GSI1SK=S:bad:3", "id=S:bad:3", "zone=S:Mars/Olympus", NULL));
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(board_list(world.game, &(struct list_range){.limit = 3},
                             (struct scope){&world.arena, &world.failure}, &list),
                  world.failure);
        assert_int_equal(list.count, 3);
        assert_bytes_equal(list.boards[2].id, BYTES("g:2"));
        assert_int_equal(reports, 3); /* once each, however often it is met */
    }
    struct submission submission = {
        .game = BYTES("g"), .player = BYTES("ann"), .score = number_in(&world.arena, "1")};
    assert_ok(world_submit(&world, &submission, &submit), world.failure);
    assert_int_equal(submit.result_count, 3);
    submit_release(&submit);
    /* it can be replaced, and removed */
    struct board_rules rules = {.id = BYTES("bad:1"), .game = BYTES("h"), .decimals = -1};
    assert_ok(redefine(&world, &rules), world.failure);
    assert_ok(
        board_remove(world.game, BYTES("bad:2"), (struct scope){&world.arena, &world.failure}),
        world.failure);
    assert_ok(board_list(world.game, &(struct list_range){.limit = 9},
                         (struct scope){&world.arena, &world.failure}, &list),
              world.failure);
    assert_int_equal(list.count, 4);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_with_entries_stay),
        cmocka_unit_test(seasons_with_entries_stay),
        cmocka_unit_test(subscores_stay_while_entries_have_one),
        cmocka_unit_test(a_definition_takes_a_plain_board_over_or_is_refused),
        cmocka_unit_test(what_cannot_be_read_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
