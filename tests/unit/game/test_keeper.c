/* The keeper, step by step: a keeper without its thread, a clock that is moved. */
#include "game/keeper_test.h"

#include "base/clock.h"
#include "base/random.h"
#include "game/player.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };

/* --- periods --- */

static void define(struct world *world, struct board_rules rules, bool create) {
    struct change change = {.arena = &world->arena};
    rules.decimals = -1;
    assert_ok(board_define_prepare(world->game, &rules, create, &change, &world->failure),
              world->failure);
    assert_ok(game_wait(world->game, &change), change.failure);
}

static void score(struct world *world, const char *board, const char *member, double points) {
    world_put(world, board, bytes_str(member),
              (struct entry_write){.points = points_of_double(&world->arena, points),
                                   .now_ms = clock_now_ms()});
}

static char *state_pk(struct world *world, const char *board) {
    const struct board *found = world_board(world, board);
    char *pk =
        (char *)arena_printf(&world->arena, "INSTANCE#%.*s%c", BYTES_ARG(found->instance), 0).data;
    board_drop(found);
    return pk;
}

/* How many records of the stream tell that the instance was sealed. */
static int count_seals(struct world *world, const char *pk) {
    struct stream_list_request request = {.table = BYTES("gametable"), .limit = 1};
    struct stream_list list;
    int seals = 0;
    engine_streams(world->engine, &request, &world->arena, &list);
    for (unsigned shard = 0; shard < STREAM_SHARDS; shard++) {
        struct stream_read_request read = {.table = BYTES("gametable"),
                                           .label_ms = list.streams[0].label_ms,
                                           .shard = shard,
                                           .from = list.streams[0].kept[shard],
                                           .limit = 1000};
        struct stream_read_reply page;
        assert_ok(engine_stream_read(world->engine, &read, &world->arena, &world->failure, &page),
                  world->failure);
        for (size_t i = 0; i < page.count; i++) {
            const struct stream_record *record = &page.records[i];
            if (bytes_equal(item_string(&record->keys, GAME_PK), bytes_str(pk)))
                seals += item_get(&record->new, BYTES("sealedAt")) != NULL &&
                         item_get(&record->old, BYTES("sealedAt")) == NULL;
        }
    }
    return seals;
}

static void test_seals(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    define(&world,
           (struct board_rules){.id = BYTES("daily"), .game = BYTES("g"), .timeframe = FRAME_DAILY},
           true);
    define(&world, (struct board_rules){.id = BYTES("ever"), .game = BYTES("g")}, true);
    struct keeper *keeper = keeper_new(world.game), *other = keeper_new(world.game);
    for (int i = 0; i < 15; i++) {
        char member[16];
        snprintf(member, sizeof(member), "m%02d", i);
        score(&world, "daily", member, i);
        score(&world, "ever", member, i);
    }
    keeper_run(keeper);
    char *pk = state_pk(&world, "daily"), *ever = state_pk(&world, "ever");
    struct item open = get(&world, pk, "STATE");
    assert_null(item_get(&open, BYTES("sealedAt")));
    clock_shift_ms(DAY_MS);
    keeper_run(keeper);
    keeper_run(other);
    keeper_run(keeper);
    struct item sealed = get(&world, pk, "STATE");
    assert_number(&sealed, "total", "15");
    assert_true(item_int(&sealed, BYTES("sealedAt")) >= item_int(&open, BYTES("endsAt")));
    const struct value *final = item_get(&sealed, BYTES("final"));
    assert_true(final != NULL && final->type == VALUE_L && final->count == FINAL_ROWS);
    for (uint32_t i = 0; i < final->count; i++) {
        struct item row = {final->elements[i].pairs, final->elements[i].count};
        char member[16];
        snprintf(member, sizeof(member), "m%02d", 14 - (int)i);
        assert_int_equal(item_int(&row, BYTES("rank")), i + 1);
        assert_bytes_equal(item_string(&row, BYTES("member")), bytes_str(member));
        assert_int_equal(item_int(&row, GAME_SCORE), 14 - (int)i);
    }
    assert_int_equal(keeper->figures.sealed + other->figures.sealed, 1);
    assert_int_equal(count_seals(&world, pk), 1);
    struct item all = get(&world, ever, "STATE");
    assert_null(item_get(&all, BYTES("sealedAt")));

    /* Erasing takes the name out, and leaves the rank. */
    uint64_t gone;
    assert_ok(player_erase(world.game, BYTES("m14"), &world.arena, &world.failure, &gone),
              world.failure);
    assert_int_equal(gone, 2);
    sealed = get(&world, pk, "STATE");
    final = item_get(&sealed, BYTES("final"));
    assert_int_equal(final->count, FINAL_ROWS);
    assert_null(value_get(&final->elements[0], BYTES("member")));
    assert_non_null(value_get(&final->elements[0], BYTES("score")));
    assert_non_null(value_get(&final->elements[1], BYTES("member")));
    keeper_free(keeper);
    keeper_free(other);
    world_close(&world);
}

/* Sealed is sealed: what was on its way when the period ended comes too late. */
static void test_late_entry(void **state) {
    struct world world;
    struct action action;
    struct bytes key;
    (void)state;
    world_open(&world);
    define(
        &world,
        (struct board_rules){.id = BYTES("hourly"), .game = BYTES("g"), .timeframe = FRAME_HOURLY},
        true);
    score(&world, "hourly", "ann", 1);
    const struct board *board = world_board(&world, "hourly");
    struct entry_write write = {
        .board = board, .points = points_of_double(&world.arena, 9), .now_ms = clock_now_ms()};
    assert_ok(entry_key_of(BYTES("bob"), &world.arena, &world.failure, &key), world.failure);
    for (int kept = 0; kept < 2; kept++) {
        entry_action(world.game, board, key, kept ? entry_write_kept : entry_write_plain, &write,
                     &world.arena, &action);
        clock_shift_ms(60 * 60 * 1000);
        run_once(&world);
        struct change change = write_of(&world.arena, &action, 1);
        assert_int_equal(game_wait(world.game, &change), INVALID);
        assert_true(bytes_find(change.failure.text, BYTES("has ended")) != SIZE_MAX);
    }
    uint64_t total;
    assert_ok(standings_total(world.game, board, &world.arena, &world.failure, &total),
              world.failure);
    assert_int_equal(total, 1);
    board_drop(board);
    world_close(&world);
}

static bool there(struct world *world, const char *pk, const char *sk) {
    return get(world, pk, sk).count != 0;
}

/* A sealed period stays as long as its board says; said later, it holds for those before, too. */
static void test_period_life(void **state) {
    struct world world;
    struct board_rules rules = {
        .id = BYTES("daily"), .game = BYTES("g"), .timeframe = FRAME_DAILY, .period_life_s = 3600};
    (void)state;
    world_open(&world);
    struct keeper *keeper = keeper_new(world.game);
    define(&world, rules, true);
    rules.id = BYTES("kept");
    rules.period_life_s = 0;
    define(&world, rules, true);
    score(&world, "daily", "ann", 1);
    score(&world, "kept", "ann", 1);
    char *pk = state_pk(&world, "daily"), *kept = state_pk(&world, "kept");
    char *entries = (char *)arena_printf(&world.arena, "BOARD#%s%c", pk + 9, 0).data;
    int64_t ends_ms;
    struct item open = get(&world, pk, "STATE");
    ends_ms = item_int(&open, BYTES("endsAt"));
    keeper_run(keeper);
    clock_shift_ms(ends_ms - clock_now_ms());
    keeper_run(keeper);
    assert_int_equal(keeper->figures.sealed, 2);
    assert_true(there(&world, pk, "STATE") && there(&world, entries, "ann"));
    clock_shift_ms(ends_ms + 3600 * 1000 - clock_now_ms());
    keeper_run(keeper);
    assert_false(there(&world, pk, "STATE") || there(&world, entries, "ann"));
    assert_true(there(&world, kept, "STATE"));
    rules.period_life_s = 60;
    define(&world, rules, false);
    keeper_run(keeper);
    assert_false(there(&world, kept, "STATE"));
    assert_int_equal(keeper->figures.removed, 2);
    assert_int_equal(keeper->figures.failures, 0);
    keeper_free(keeper);
    world_close(&world);
}

/* Sealed after a restart, by a keeper that did not see it begin. */
static void test_seals_later(void **state) {
    struct world world = {0};
    char *folder = folder_make();
    struct local_settings settings = {.store.path = folder, .threads = 1};
    (void)state;
    arena_init(&world.arena);
    world.engine = engine_open(&settings);
    world_open_game(&world);
    define(
        &world,
        (struct board_rules){.id = BYTES("hourly"), .game = BYTES("g"), .timeframe = FRAME_HOURLY},
        true);
    score(&world, "hourly", "ann", 3);
    char *pk = state_pk(&world, "hourly");
    run_once(&world);
    game_close(world.game);
    engine_close(world.engine);
    clock_shift_ms(2 * 60 * 60 * 1000);
    world.engine = engine_open(&settings);
    world_open_game(&world);
    run_once(&world);
    run_once(&world);
    struct item sealed = get(&world, pk, "STATE");
    assert_number(&sealed, "total", "1");
    assert_int_equal(count_seals(&world, pk), 1);
    world_close(&world);
    folder_remove(folder);
}

/* --- boards that end --- */

static void set_expiry(struct world *world, const char *name, int64_t at_ms) {
    const struct board *board = world_board(world, name);
    struct action action;
    board_expire_action(world->game, board, at_ms, &world->arena, &action);
    struct change change = write_of(&world->arena, &action, 1);
    assert_ok(game_wait(world->game, &change), change.failure);
    board_drop(board);
}

static void test_ends(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("ever"), .game = BYTES("g")}, true);
    struct keeper *keeper = keeper_new(world.game);
    keeper_run(keeper);
    for (int i = 0; i < 250; i++) {
        char name[24];
        snprintf(name, sizeof(name), "plain%d", i);
        score(&world, name, "ann", 1);
        if (i % 5 != 0)
            set_expiry(&world, name, clock_now_ms() + 5000);
    }
    score(&world, "ever", "ann", 1);
    set_expiry(&world, "ever", clock_now_ms() + 5000);
    keeper_run(keeper);
    assert_int_equal(keeper->figures.removed, 0);
    set_expiry(&world, "plain1", 0);
    clock_shift_ms(6000);
    keeper_run(keeper);
    assert_int_equal(keeper->figures.removed, 200);
    assert_int_equal(keeper->figures.failures, 0);
    assert_true(there(&world, "BOARD#plain0", "ann") && there(&world, "BOARD#plain1", "ann"));
    assert_false(there(&world, "BOARD#plain2", "ann") || there(&world, "BOARD#ever", "ann"));
    assert_false(there(&world, "INSTANCE#plain2", "STATE"));
    keeper_free(keeper);
    world_close(&world);
}

/* Found ended, and written anew before it could be taken away: it stays. */
static void test_written_anew(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct keeper *keeper = keeper_new(world.game);
    for (int again = 0; again < 2; again++) {
        score(&world, "plain", "ann", 1);
        set_expiry(&world, "plain", clock_now_ms() + 1000);
        clock_shift_ms(2000);
        const struct board *board = world_board(&world, "plain");
        if (again)
            set_expiry(&world, "plain", 0);
        assert_ok(keeper_end(keeper, board, &world.failure), world.failure);
        board_drop(board);
        assert_int_equal(there(&world, "BOARD#plain", "ann"), again);
        assert_int_equal(there(&world, "INSTANCE#plain", "STATE"), again);
    }
    assert_int_equal(keeper->figures.removed, 1);
    keeper_free(keeper);
    world_close(&world);
}

/* What was marked when the keeper started is finished at once, what is marked later by whoever did.
 */
static void test_clearing(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct keeper *early = keeper_new(world.game);
    keeper_run(early);
    for (int i = 0; i < 50; i++) {
        char member[16];
        snprintf(member, sizeof(member), "m%d", i);
        score(&world, "board", member, i);
    }
    struct item marked = get(&world, "INSTANCE#board", "STATE");
    struct value what = value_string(BYTES("board")), list = value_string(BYTES("CLEARING"));
    struct value key = value_string(BYTES("board"));
    marked = item_with(&world.arena, &marked, BYTES("clearing"), &what);
    marked = item_with(&world.arena, &marked, BYTES("GSI2PK"), &list);
    marked = item_with(&world.arena, &marked, BYTES("GSI2SK"), &key);
    put_item(world.engine, &world.arena, "gametable", marked);
    keeper_run(early);
    keeper_run(early);
    assert_true(there(&world, "BOARD#board", "m0"));
    run_once(&world);
    assert_false(there(&world, "BOARD#board", "m0") || there(&world, "BOARD#board", "m49"));
    assert_false(there(&world, "INSTANCE#board", "STATE"));
    keeper_run(early);
    assert_int_equal(early->figures.removed, 0);
    keeper_free(early);
    world_close(&world);
}

/* --- the heap --- */

static void test_dues(void **state) {
    struct dues dues = {0};
    struct random random;
    struct arena arena;
    int64_t last = INT64_MIN, now = 0;
    int count = 0;
    (void)state;
    random_seed(&random, test_seed());
    arena_init(&arena);
    for (int i = 0; i < 2000; i++) {
        char name[32];
        int64_t at = (int64_t)random_below(&random, 1000);
        snprintf(name, sizeof(name), "%lld", (long long)at);
        dues_add(&dues, at, bytes_str(name));
    }
    for (; now <= 1000; now += 50) {
        struct bytes name;
        while (dues_take(&dues, now, &arena, &name)) {
            int64_t at = atoll(arena_str(&arena, name));
            assert_true(at >= last && at <= now);
            last = at;
            count++;
        }
        assert_true(dues_next(&dues) > now);
    }
    assert_int_equal(count, 2000);
    assert_true(dues_next(&dues) == INT64_MAX);
    dues_add(&dues, 5, BYTES("left"));
    dues_release(&dues);
    arena_release(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seals),       cmocka_unit_test(test_late_entry),
        cmocka_unit_test(test_period_life), cmocka_unit_test(test_seals_later),
        cmocka_unit_test(test_ends),        cmocka_unit_test(test_written_anew),
        cmocka_unit_test(test_clearing),    cmocka_unit_test(test_dues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
