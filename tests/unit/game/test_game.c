/* The game's table: made, found again, made fit, or refused. */
#include "game/world.h"

static enum status open_game(struct world *world) {
    struct game_settings settings = {.secret = BYTES("0123456789abcdef0123456789abcdef")};
    return game_open(world->engine, &settings, (struct scope){&world->arena, &world->failure},
                     &world->game);
}

static void describe(struct world *world, struct table_description *about) {
    assert_ok(engine_describe(world->engine, BYTES("gametable"),
                              (struct scope){&world->arena, &world->failure}, about),
              world->failure);
}

static void check_schema(struct world *world) {
    struct table_description about;
    describe(world, &about);
    assert_int_equal(about.schema.index_count, 3);
    assert_int_equal(about.schema.stream, STREAM_BOTH);
    assert_bytes_equal(about.schema.expiry, BYTES("ttl"));
    const struct index_schema *ranks = table_schema_index(&about.schema, GAME_RANKS);
    assert_int_equal(ranks->keys.sort_count, 3);
    assert_int_equal(ranks->projected, PROJECTED_KEYS);
}

static void a_table_that_is_there_is_made_fit(void **state) {
    (void)state;
    struct world world = {0};
    arena_init(&world.arena);
    world.engine = engine_open_memory();
    struct key_part parts[] = {{BYTES("PK"), VALUE_S}, {BYTES("SK"), VALUE_S}};
    struct table_schema schema = {
        .name = BYTES("gametable"),
        .attributes = parts,
        .attribute_count = 2,
        .keys = {.parts = {parts[0], parts[1]}, .partition_count = 1, .sort_count = 1},
        .billing = BILLING_ON_DEMAND};
    create_table(world.engine, &world.arena, &schema);
    for (unsigned i = 0; i < 50; i++)
        put_item(world.engine, &world.arena, "gametable",
                 item_of(&world.arena, "PK=S:BOARD#b",
                         arena_str(&world.arena, arena_printf(&world.arena, "SK=S:m%u", i)),
                         arena_str(&world.arena, arena_printf(&world.arena, "score=N:%u", i)),
                         "subscore=N:0", "tie=N:0", NULL));
    assert_ok(open_game(&world), world.failure);
    check_schema(&world);
    struct rank_request request = {.table = world.game->table, .index = GAME_RANKS, .count = 1};
    struct item key = game_key(&world.arena, BYTES("BOARD#b"), BYTES("m7"));
    struct rank_reply rank_reply;
    request.keys = &key;
    assert_ok(engine_rank_lookup(world.engine, &request,
                                 (struct scope){&world.arena, &world.failure}, &rank_reply),
              world.failure);
    assert_int_equal(rank_reply.before, 7);
    assert_int_equal(rank_reply.after, 42);
    world_close(&world);
}

static void a_table_with_other_keys_is_refused(void **state) {
    (void)state;
    struct world world = {0};
    arena_init(&world.arena);
    world.engine = engine_open_memory();
    struct key_part parts[] = {{BYTES("id"), VALUE_S}};
    struct table_schema schema = {.name = BYTES("gametable"),
                                  .attributes = parts,
                                  .attribute_count = 1,
                                  .keys = {.parts = {parts[0]}, .partition_count = 1},
                                  .billing = BILLING_ON_DEMAND};
    create_table(world.engine, &world.arena, &schema);
    assert_int_equal(open_game(&world), INVALID);
    assert_true(bytes_starts(world.failure.text, BYTES("Table gametable has other keys")));
    engine_close(world.engine);
    arena_release(&world.arena);
}

/* All of it is in the folder: boards, entries, ranks. */
static void a_restart_changes_nothing(void **state) {
    (void)state;
    struct world world = {0};
    struct submit submit;
    char *folder = folder_make();
    struct local_settings settings = {.store.path = folder, .threads = 1};
    arena_init(&world.arena);
    world.engine = engine_open(&settings);
    world_open_game(&world);
    check_schema(&world);
    struct board_rules rules = {
        .id = BYTES("b"), .game = BYTES("g"), .decimals = -1, .timeframe = FRAME_MONTHLY};
    world_define(&world, &rules);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 20; i++) {
            struct submission submission = {
                .game = BYTES("g"),
                .player = arena_printf(&world.arena, "p%u", i),
                .score = number_from_int(&world.arena, (int64_t)(i * 7 % 20 + round))};
            assert_ok(world_submit(&world, &submission, &submit), world.failure);
            assert_true(submit.results[0].accepted);
            submit_release(&submit);
        }
        game_close(world.game);
        engine_close(world.engine);
        world.engine = engine_open(&settings);
        world_open_game(&world);
        const struct board *board = world_board(&world, "b");
        struct standings_request request = {.board = board, .from = 1, .limit = 30};
        struct standings rows;
        assert_ok(standings_page(world.game, &request, (struct scope){&world.arena, &world.failure},
                                 &rows),
                  world.failure);
        assert_int_equal(rows.total, 20);
        for (size_t i = 0; i < 20; i++) {
            int64_t score;
            assert_true(number_to_int(rows.rows[i].entry.points.score, &score));
            assert_int_equal(score, 19 - i + round);
        }
        board_drop(board);
        arena_reset(&world.arena);
    }
    world_close(&world);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_that_is_there_is_made_fit),
        cmocka_unit_test(a_table_with_other_keys_is_refused),
        cmocka_unit_test(a_restart_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
