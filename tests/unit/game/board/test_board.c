/* Definitions: what can be, what can change, what is removed; lists; clearing, small and large. */
#include "base/clock.h"
#include "game/board/board_int.h"
#include "game/record.h"
#include "game/world.h"

static enum status define(struct world *world, const struct board_rules *rules, bool create) {
    struct change change = {.arena = &world->arena};
    enum status status = board_define_prepare(world->game, rules, create, &change);
    if (status == OK)
        status = game_wait(world->game, &change);
    if (status != OK)
        world->failure = change.failure;
    return status;
}

static struct board_rules some_rules(void) {
    return (struct board_rules){.id = BYTES("b"), .game = BYTES("g"), .decimals = -1};
}

static void rules_come_back(void **state) {
    (void)state;
    static const struct season seasons[] = {{{(const uint8_t *)"s1", 2}, 5, 10},
                                            {{(const uint8_t *)"s2", 2}, 10, 90}};
    static const struct bytes scopes[] = {{(const uint8_t *)"global", 6},
                                          {(const uint8_t *)"*", 1}};
    struct world world;
    struct board_rules out;
    world_open(&world);
    struct board_rules rules = {.id = BYTES("t:season_1.x-y"),
                                .title = BYTES("Saison"),
                                .game = BYTES("tetris"),
                                .timeframe = FRAME_SEASON,
                                .zone = BYTES("Europe/Berlin"),
                                .seasons = seasons,
                                .season_count = 2,
                                .scopes = scopes,
                                .scope_count = 2,
                                .order = ORDER_LOW,
                                .keep = KEEP_FIRST,
                                .tie = TIE_MEMBER,
                                .ranking = RANK_DENSE,
                                .score_min = number_in(&world.arena, "-1.5"),
                                .score_max = number_in(&world.arena, "9"),
                                .decimals = 2,
                                .subscores = true,
                                .entry_life_s = 60,
                                .period_life_s = 3600,
                                .needs_play = true,
                                .play_min_ms = 7,
                                .play_life_s = 77,
                                .play_score_max = number_in(&world.arena, "8")};
    assert_ok(define(&world, &rules, true), world.failure);
    assert_ok(
        board_rules_get(world.game, rules.id, (struct scope){&world.arena, &world.failure}, &out),
        world.failure);
    assert_true(out.created_ms > 0 && out.created_ms == out.changed_ms);
    rules.created_ms = out.created_ms;
    rules.changed_ms = out.changed_ms;
    struct item a = board_rules_item(&rules, &world.arena);
    struct item b = board_rules_item(&out, &world.arena);
    assert_true(item_equal(&a, &b));
    assert_int_equal(out.season_count, 2);
    assert_int_equal(out.seasons[1].ends_ms, 90);
    assert_int_equal(out.decimals, 2);
    assert_int_equal(out.play_life_s, 77);
    /* an item of the wrong shape is told by its member */
    struct value wrong = value_string(BYTES("sideways"));
    struct item bad = item_with(&world.arena, &a, BYTES("order"), &wrong);
    assert_int_equal(board_rules_read(&bad, (struct scope){&world.arena, &world.failure}, &out),
                     INVALID);
    assert_true(bytes_starts(world.failure.text, BYTES("order")));
    world_close(&world);
}

static void expect(struct world *world, const struct board_rules *rules, const char *word) {
    assert_int_equal(define(world, rules, true), INVALID);
    if (!bytes_starts(world->failure.text, bytes_str(word)))
        print_message("%s: %.*s\n", word, BYTES_ARG(world->failure.text));
    assert_true(bytes_starts(world->failure.text, bytes_str(word)));
}

static void rules_that_cannot_be_are_told(void **state) {
    (void)state;
    static const struct season two[] = {{{(const uint8_t *)"a", 1}, 5, 10},
                                        {{(const uint8_t *)"a", 1}, 10, 90}};
    static const struct season over[] = {{{(const uint8_t *)"a", 1}, 5, 10},
                                         {{(const uint8_t *)"b", 1}, 9, 90}};
    static const struct bytes self[] = {{(const uint8_t *)"b", 1}};
    static const struct bytes kind[] = {{(const uint8_t *)"a:b", 3}};
    struct world world;
    world_open(&world);
    struct board_rules rules = some_rules();
    rules.id = BYTES("a/b");
    expect(&world, &rules, "id");
    rules = some_rules(), rules.zone = BYTES("Mars/Olympus");
    expect(&world, &rules, "There is no time zone");
    rules = some_rules(), rules.timeframe = FRAME_SEASON;
    expect(&world, &rules, "seasons");
    rules.seasons = two, rules.season_count = 2;
    expect(&world, &rules, "seasons: there are two");
    rules.seasons = over;
    expect(&world, &rules, "seasons: b must start after a");
    rules = some_rules(), rules.scopes = kind, rules.scope_count = 1;
    expect(&world, &rules, "scopes");
    rules = some_rules(), rules.decimals = 40;
    expect(&world, &rules, "decimals");
    rules = some_rules(), rules.score_min = number_in(&world.arena, "2");
    rules.score_max = number_in(&world.arena, "1");
    expect(&world, &rules, "scoreMin");
    rules = some_rules(), rules.entry_life_s = -1;
    expect(&world, &rules, "entryLife");
    rules = some_rules(), rules.play_min_ms = 5;
    expect(&world, &rules, "playMinMs");
    rules = some_rules(), rules.play_life_s = -1;
    expect(&world, &rules, "playLifeSeconds");
    rules = some_rules(), rules.sources = self, rules.source_count = 1;
    expect(&world, &rules, "sources: each is the id of another");
    rules.id = BYTES("c");
    expect(&world, &rules, "sources: there is no board b");
    world_close(&world);
}

static void put_some(struct world *world, const char *name, unsigned count) {
    const struct board *board = world_board(world, name);
    struct action *actions = ARENA_ARRAY(&world->arena, struct action, count + 1);
    struct entry_write *writes = ARENA_ARRAY(&world->arena, struct entry_write, count);
    for (unsigned i = 0; i < count; i++) {
        struct bytes key = arena_printf(&world->arena, "m%u", i);
        writes[i] = (struct entry_write){
            .game = world->game, .board = board, .points = points_of_double(&world->arena, i)};
        entry_action(&writes[i], game_key(&world->arena, board->pk, key), entry_write_by_flags,
                     &actions[i]);
    }
    board_create_action(world->game, board, &world->arena, &actions[count]);
    struct change change = write_of(&world->arena, actions, count + 1);
    assert_ok(game_wait(world->game, &change), change.failure);
    board_drop(board);
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

static void what_order_hangs_on_stays(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    struct board_rules rules = some_rules();
    assert_ok(define(&world, &rules, true), world.failure);
    assert_int_equal(define(&world, &rules, true), DUPLICATE);
    rules.order = ORDER_LOW; /* there are no entries yet */
    assert_ok(define(&world, &rules, false), world.failure);
    put_some(&world, "b", 3);
    rules.title = BYTES("new");
    rules.ranking = RANK_DENSE;
    assert_ok(define(&world, &rules, false), world.failure);
    rules.order = ORDER_HIGH;
    assert_int_equal(define(&world, &rules, false), INVALID);
    assert_true(bytes_starts(world.failure.text, BYTES("order of board b")));
    rules.order = ORDER_LOW;
    rules.timeframe = FRAME_DAILY;
    assert_int_equal(define(&world, &rules, false), INVALID);
    /* entries that a plain board has stand by member */
    put_some(&world, "p", 3);
    rules = some_rules();
    rules.id = BYTES("p");
    assert_int_equal(define(&world, &rules, true), INVALID);
    rules.tie = TIE_MEMBER;
    assert_ok(define(&world, &rules, true), world.failure);
    assert_int_equal(total_of(&world, "p"), 3);
    world_close(&world);
}

static void boards_are_listed_and_removed(void **state) {
    (void)state;
    static const struct bytes rooms[] = {{(const uint8_t *)"global", 6},
                                         {(const uint8_t *)"room", 4}};
    struct world world;
    struct board_list list;
    struct instance_list instances;
    world_open(&world);
    for (unsigned i = 0; i < 5; i++) {
        struct board_rules rules = some_rules();
        rules.id = arena_printf(&world.arena, "b%u", i);
        rules.game = i < 3 ? BYTES("g") : BYTES("h");
        rules.scopes = rooms;
        rules.scope_count = 2;
        rules.timeframe = FRAME_DAILY;
        assert_ok(define(&world, &rules, true), world.failure);
    }
    assert_ok(board_list(world.game, &(struct list_range){.after = BYTES("b1"), .limit = 2},
                         (struct scope){&world.arena, &world.failure}, &list),
              world.failure);
    assert_int_equal(list.count, 2);
    assert_true(list.more);
    assert_bytes_equal(list.boards[0].id, BYTES("b2"));
    assert_ok(board_list(world.game, &(struct list_range){BYTES("g"), BYTES("b0"), 9},
                         (struct scope){&world.arena, &world.failure}, &list),
              world.failure);
    assert_int_equal(list.count, 2);
    assert_bytes_equal(list.boards[1].id, BYTES("b2"));
    put_some(&world, "b1@2126-11-16", 3);
    put_some(&world, "b1@2126-11-17", 3);
    put_some(&world, "b1/room:x@2126-11-16", 3);
    put_some(&world, "b2@2126-11-16", 3);
    assert_ok(board_instances(world.game, &(struct list_range){.of = BYTES("b1"), .limit = 2},
                              (struct scope){&world.arena, &world.failure}, &instances),
              world.failure);
    assert_int_equal(instances.count, 2);
    assert_bytes_equal(instances.names[1], BYTES("b1@2126-11-17"));
    assert_ok(board_instances(world.game, &(struct list_range){BYTES("b1"), instances.names[1], 2},
                              (struct scope){&world.arena, &world.failure}, &instances),
              world.failure);
    assert_int_equal(instances.count, 1);
    assert_bytes_equal(instances.names[0], BYTES("b1/room:x@2126-11-16"));
    assert_ok(board_remove(world.game, BYTES("b1"), (struct scope){&world.arena, &world.failure}),
              world.failure);
    assert_int_equal(
        board_remove(world.game, BYTES("b1"), (struct scope){&world.arena, &world.failure}),
        NOT_FOUND);
    assert_ok(board_instances(world.game, &(struct list_range){.limit = 9},
                              (struct scope){&world.arena, &world.failure}, &instances),
              world.failure);
    assert_int_equal(instances.count, 1);
    assert_int_equal(total_of(&world, "b1@2126-11-16"), 0);
    assert_int_equal(total_of(&world, "b2@2126-11-16"), 3);
    world_close(&world);
}

static void clear(struct world *world, const char *name, bool keep_item) {
    const struct board *board = world_board(world, name);
    assert_ok(
        board_clear(world->game, board, keep_item, (struct scope){&world->arena, &world->failure}),
        world->failure);
    board_drop(board);
}

static void boards_are_cleared_small_and_large(void **state) {
    (void)state;
    static const unsigned sizes[] = {0, 1, 10, 2000, 2001, 6500};
    struct world world;
    world_open(&world);
    for (unsigned i = 0; i < 12; i++) {
        unsigned size = sizes[i / 2];
        bool keep_item = i % 2;
        put_some(&world, "c", size);
        put_some(&world, "other", 1);
        assert_int_equal(total_of(&world, "c"), size);
        clear(&world, "c", keep_item);
        const struct board *board = world_board(&world, "c");
        assert_int_equal(board->exists, keep_item);
        assert_false(board->clearing);
        board_drop(board);
        assert_int_equal(total_of(&world, "c"), 0);
        assert_int_equal(total_of(&world, "other"), 1);
        arena_reset(&world.arena);
    }
    struct table_description about;
    clear(&world, "c", false);
    clear(&world, "other", false);
    assert_ok(engine_describe(world.engine, world.game->table,
                              (struct scope){&world.arena, &world.failure}, &about),
              world.failure);
    assert_int_equal(about.item_count, 0);
    world_close(&world);
}

/* A clearing that was cut off: empty for all, not to be written, and gone on with. */
static void a_clearing_goes_on(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    put_some(&world, "c", 5);
    struct get_request request = {.table = world.game->table,
                                  .key =
                                      game_key(&world.arena, BYTES("INSTANCE#c"), BYTES("STATE")),
                                  .consistent = true};
    struct get_reply reply;
    assert_ok(
        engine_get(world.engine, &request, (struct scope){&world.arena, &world.failure}, &reply),
        world.failure);
    struct value mark = value_string(BYTES("board"));
    put_item(world.engine, &world.arena, "gametable",
             item_with(&world.arena, &reply.item, BYTES("clearing"), &mark));
    const struct board *board = world_board(&world, "c");
    assert_true(board->clearing);
    assert_true(board_is_gone(board, clock_now_ms()));
    assert_int_equal(total_of(&world, "c"), 0);
    assert_int_equal(
        board_check_open(board, clock_now_ms(), (struct scope){&world.arena, &world.failure}),
        BUSY);
    struct action action;
    board_create_action(world.game, board, &world.arena, &action);
    struct change change = write_of(&world.arena, &action, 1);
    assert_int_equal(game_wait(world.game, &change), BUSY);
    assert_ok(board_clear(world.game, board, true, (struct scope){&world.arena, &world.failure}),
              world.failure);
    board_drop(board);
    board = world_board(&world, "c");
    assert_false(board->exists); /* the mark said all of it */
    board_drop(board);
    world_close(&world);
}

/* Entries that a table was loaded with are ranked, without an item that says so. */
static void entries_alone_are_a_board(void **state) {
    (void)state;
    struct board_name name = {.id = BYTES("x")};
    struct world world;
    const struct board *board;
    world_open(&world);
    assert_int_equal(
        board_find_parts(world.game, &name, (struct scope){&world.arena, &world.failure}, &board),
        NOT_FOUND);
    struct action action = {.kind = ACTION_PUT,
                            .by_owner = true,
                            .table = world.game->table,
                            .item = item_of(&world.arena, "PK=S:BOARD#x", "SK=S:ann", "score=N:5",
                                            "subscore=N:0", "tie=N:0", NULL)};
    struct change change = write_of(&world.arena, &action, 1);
    assert_ok(game_wait(world.game, &change), change.failure);
    assert_ok(
        board_find_parts(world.game, &name, (struct scope){&world.arena, &world.failure}, &board),
        world.failure);
    assert_false(board->exists);
    board_drop(board);
    assert_int_equal(total_of(&world, "x"), 1);
    world_close(&world);
}

static void a_board_ends_as_a_whole(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    put_some(&world, "e", 2);
    const struct board *board = world_board(&world, "e");
    int64_t ends = clock_now_ms() + 1000;
    struct action action = board_expire_action(world.game, board, ends, &world.arena);
    struct change change = write_of(&world.arena, &action, 1);
    assert_ok(game_wait(world.game, &change), change.failure);
    board_drop(board);
    board = world_board(&world, "e");
    assert_int_equal(board->expires_ms, ends);
    assert_false(board_is_gone(board, ends - 1));
    assert_true(board_is_gone(board, ends));
    action = board_expire_action(world.game, board, 0, &world.arena);
    change = write_of(&world.arena, &action, 1);
    assert_ok(game_wait(world.game, &change), change.failure);
    board_drop(board);
    board = world_board(&world, "e");
    assert_int_equal(board->expires_ms, 0);
    assert_null(item_get(&change.actions[0].new, BYTES("GSI2PK")));
    board_drop(board);
    world_close(&world);
}

/* The partition that access is decided by is the one that the entries are in, also for names that
 * are not text and stand escaped in keys. */
static void test_entries_partition(void **state) {
    struct world world;
    const struct bytes names[] = {BYTES("arcade"), BYTES("a\xff"), BYTES("\0x"), BYTES("")};
    (void)state;
    world_open(&world);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct board *board;
        assert_ok(
            board_find(world.game, names[i], (struct scope){&world.arena, &world.failure}, &board),
            world.failure);
        assert_bytes_equal(board_entries_partition(names[i], &world.arena), board->pk);
        board_drop(board);
    }
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_partition),
        cmocka_unit_test(rules_come_back),
        cmocka_unit_test(rules_that_cannot_be_are_told),
        cmocka_unit_test(what_order_hangs_on_stays),
        cmocka_unit_test(boards_are_listed_and_removed),
        cmocka_unit_test(boards_are_cleared_small_and_large),
        cmocka_unit_test(a_clearing_goes_on),
        cmocka_unit_test(entries_alone_are_a_board),
        cmocka_unit_test(a_board_ends_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
