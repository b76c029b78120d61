/* Housekeeping, step by step: without its thread, and with a clock that is moved. */
#include "game/housekeeping_test.h"

#include "base/clock.h"
#include "base/random.h"
#include "game/player/player.h"
#include "table/ranking.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };

/* --- periods --- */

static void define(struct world *world, struct board_rules rules, bool create) {
    struct change change = {.arena = &world->arena};
    rules.decimals = -1;
    assert_ok(board_define_prepare(world->game, &rules, create, &change), change.failure);
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
    for (unsigned shard = 0; shard < STREAM_SHARDS_MAX; shard++) {
        struct stream_read_request read = {.table = BYTES("gametable"),
                                           .label_ms = list.streams[0].label_ms,
                                           .shard = shard,
                                           .from = list.streams[0].kept[shard],
                                           .limit = 1000};
        struct stream_read_reply page;
        assert_ok(engine_stream_read(world->engine, &read,
                                     (struct scope){&world->arena, &world->failure}, &page),
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
    struct housekeeping *housekeeping = housekeeping_new(world.game),
                        *other = housekeeping_new(world.game);
    for (int i = 0; i < 15; i++) {
        char member[16];
        snprintf(member, sizeof(member), "m%02d", i);
        score(&world, "daily", member, i);
        score(&world, "ever", member, i);
    }
    housekeeping_run(housekeeping);
    char *pk = state_pk(&world, "daily"), *ever = state_pk(&world, "ever");
    struct item open = get(&world, pk, "STATE");
    assert_null(item_get(&open, BYTES("sealedAt")));
    clock_shift_ms(DAY_MS);
    housekeeping_run(housekeeping);
    housekeeping_run(other);
    housekeeping_run(housekeeping);
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
    assert_int_equal(housekeeping->counters.sealed + other->counters.sealed, 1);
    assert_int_equal(count_seals(&world, pk), 1);
    struct item all = get(&world, ever, "STATE");
    assert_null(item_get(&all, BYTES("sealedAt")));

    housekeeping_free(housekeeping);
    housekeeping_free(other);
    world_close(&world);
}

/* The stored final standings are the first of the ranking, and the total is its. */
static void check_final(struct world *world, const char *pk, uint64_t total) {
    struct item state = get(world, pk, "STATE");
    const struct value *final = item_get(&state, BYTES("final"));
    struct bytes instance = bytes_skip(item_string(&state, GAME_PK), BYTES("INSTANCE#").size);
    const struct board *board = world_board(world, arena_str(&world->arena, instance));
    struct standings_request request = {
        .board = board, .from = 1, .limit = FINAL_ROWS, .detail = DETAIL_FULL};
    struct standings top;
    assert_ok(
        standings_page(world->game, &request, (struct scope){&world->arena, &world->failure}, &top),
        world->failure);
    assert_int_equal(top.total, total);
    assert_int_equal(item_int(&state, BYTES("total")), total);
    assert_int_equal(final->count, top.count);
    for (uint32_t i = 0; i < final->count; i++) {
        struct item row = {final->elements[i].pairs, final->elements[i].count};
        assert_int_equal(item_int(&row, BYTES("rank")), top.rows[i].rank);
        assert_bytes_equal(item_string(&row, BYTES("member")), top.rows[i].entry.member);
        assert_bytes_equal(item_number(&row, GAME_SCORE), top.rows[i].entry.points.score);
    }
    board_drop(board);
}

static void erase(struct world *world, const char *player, uint64_t items) {
    uint64_t gone;
    assert_ok(player_erase(world->game, bytes_str(player),
                           (struct scope){&world->arena, &world->failure}, &gone),
              world->failure);
    assert_int_equal(gone, items);
}

/* Whoever is erased or hidden after a period has ended stands neither in its ranking nor in its
 * final standings, and the others move up in both. */
static void test_final_follows(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    define(&world,
           (struct board_rules){.id = BYTES("daily"), .game = BYTES("g"), .timeframe = FRAME_DAILY},
           true);
    define(&world,
           (struct board_rules){.id = BYTES("dense"),
                                .game = BYTES("g"),
                                .timeframe = FRAME_DAILY,
                                .ranking = RANK_DENSE},
           true);
    for (int i = 0; i < 15; i++) {
        char member[16];
        snprintf(member, sizeof(member), "m%02d", i);
        score(&world, "daily", member, i);
        score(&world, "dense", member, i / 2);
    }
    char *pks[] = {state_pk(&world, "daily"), state_pk(&world, "dense")};
    clock_shift_ms(DAY_MS);
    run_once(&world);
    const struct {
        const char *who;
        bool erased;
    } steps[] = {{"m14", true}, {"m09", true}, {"m01", true}, {"m13", false}, {"m00", false}};
    uint64_t total = 15;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct bytes who = bytes_str(steps[i].who);
        if (!steps[i].erased)
            assert_ok(
                player_hide(world.game, who, true, (struct scope){&world.arena, &world.failure}),
                world.failure);
        else
            erase(&world, steps[i].who, 2);
        total--;
        check_final(&world, pks[0], total);
        check_final(&world, pks[1], total);
    }
    assert_ok(
        player_hide(world.game, BYTES("m13"), false, (struct scope){&world.arena, &world.failure}),
        world.failure);
    check_final(&world, pks[0], total + 1);
    erase(&world, "m00", 4); /* with the profile that says it is hidden, and the list's item */
    check_final(&world, pks[0], total + 1);
    world_close(&world);
}

static const struct ranking_ops *inner;
static pthread_t asker;
static atomic_uint asked, asked_first_here;

static enum status noting_rank_lookup(struct engine *engine, const struct rank_request *request,
                                      struct scope in, struct rank_reply *replies) {
    if (request->groups && atomic_fetch_add(&asked, 1) == 0)
        atomic_store(&asked_first_here, pthread_equal(pthread_self(), asker) != 0);
    return inner->rank_lookup(engine, request, in, replies);
}

/* Dense ranks are first asked for by who seals, not by the writer, which would have to build what
 * it takes while everybody waits. */
static void test_seals_dense(void **state) {
    struct ranking_ops noting;
    struct world world;
    (void)state;
    world_open(&world);
    define(&world,
           (struct board_rules){.id = BYTES("dense"),
                                .game = BYTES("g"),
                                .timeframe = FRAME_DAILY,
                                .ranking = RANK_DENSE},
           true);
    score(&world, "dense", "ann", 2);
    score(&world, "dense", "bob", 1);
    char *pk = state_pk(&world, "dense");
    clock_shift_ms(DAY_MS);
    inner = world.engine->ranking;
    noting = *inner;
    noting.rank_lookup = noting_rank_lookup;
    world.engine->ranking = &noting;
    asker = pthread_self();
    run_once(&world);
    assert_true(atomic_load(&asked) > 1);
    assert_true(atomic_load(&asked_first_here));
    check_final(&world, pk, 2);
    atomic_store(&asked, 0);
    atomic_store(&asked_first_here, 0);
    erase(&world, "ann", 1);
    assert_true(atomic_load(&asked_first_here));
    check_final(&world, pk, 1);
    world.engine->ranking = inner;
    world_close(&world);
}

/* Broken off after the final standings were written anew, or before, it ends the same. */
static void test_final_follows_after_failure(void **state) {
    (void)state;
    for (int n = 1; n <= 4; n++) {
        struct world world = {0};
        struct store_faults faults = {0};
        char *path = folder_make();
        uint64_t gone;
        arena_init(&world.arena);
        world.engine = engine_open(
            &(struct local_settings){.store = {.path = path, .faults = &faults}, .threads = 1});
        world_open_game(&world);
        define(&world,
               (struct board_rules){
                   .id = BYTES("daily"), .game = BYTES("g"), .timeframe = FRAME_DAILY},
               true);
        score(&world, "daily", "ann", 2);
        score(&world, "daily", "bob", 1);
        char *pk = state_pk(&world, "daily");
        clock_shift_ms(DAY_MS);
        run_once(&world);
        __atomic_store_n(&faults.write_in, n, __ATOMIC_SEQ_CST);
        enum status status = IO_FAILED;
        for (int i = 0; i < 3000 && status != OK; i++) {
            status = player_erase(world.game, BYTES("ann"),
                                  (struct scope){&world.arena, &world.failure}, &gone);
            if (status != OK)
                usleep(20 * 1000); /* the engine tries to recover now and then */
        }
        assert_int_equal(status, OK);
        check_final(&world, pk, 1);
        world_close(&world);
        folder_remove(path);
    }
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
    struct entry_write write = {.game = world.game,
                                .board = board,
                                .points = points_of_double(&world.arena, 9),
                                .now_ms = clock_now_ms()};
    assert_ok(entry_key_of(BYTES("bob"), (struct scope){&world.arena, &world.failure}, &key),
              world.failure);
    for (int kept = 0; kept < 2; kept++) {
        entry_action(&write, game_key(&world.arena, board->pk, key),
                     kept ? entry_write_by_rules : entry_write_by_flags, &action);
        clock_shift_ms(60 * 60 * 1000);
        run_once(&world);
        struct change change = write_of(&world.arena, &action, 1);
        assert_int_equal(game_wait(world.game, &change), INVALID);
        assert_true(bytes_find(change.failure.text, BYTES("has ended")) != SIZE_MAX);
    }
    uint64_t total;
    assert_ok(
        standings_total(world.game, board, (struct scope){&world.arena, &world.failure}, &total),
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
    struct housekeeping *housekeeping = housekeeping_new(world.game);
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
    housekeeping_run(housekeeping);
    clock_shift_ms(ends_ms - clock_now_ms());
    housekeeping_run(housekeeping);
    assert_int_equal(housekeeping->counters.sealed, 2);
    assert_true(there(&world, pk, "STATE") && there(&world, entries, "ann"));
    clock_shift_ms(ends_ms + 3600 * 1000 - clock_now_ms());
    housekeeping_run(housekeeping);
    assert_false(there(&world, pk, "STATE") || there(&world, entries, "ann"));
    assert_true(there(&world, kept, "STATE"));
    rules.period_life_s = 60;
    define(&world, rules, false);
    housekeeping_run(housekeeping);
    assert_false(there(&world, kept, "STATE"));
    assert_int_equal(housekeeping->counters.removed, 2);
    assert_int_equal(housekeeping->counters.failures, 0);
    housekeeping_free(housekeeping);
    world_close(&world);
}

/* Sealed after a restart, by housekeeping that did not see it begin. */
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
    struct action action = board_expire_action(world->game, board, at_ms, &world->arena);
    struct change change = write_of(&world->arena, &action, 1);
    assert_ok(game_wait(world->game, &change), change.failure);
    board_drop(board);
}

static void test_ends(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    define(&world, (struct board_rules){.id = BYTES("ever"), .game = BYTES("g")}, true);
    struct housekeeping *housekeeping = housekeeping_new(world.game);
    housekeeping_run(housekeeping);
    for (int i = 0; i < 250; i++) {
        char name[24];
        snprintf(name, sizeof(name), "plain%d", i);
        score(&world, name, "ann", 1);
        if (i % 5 != 0)
            set_expiry(&world, name, clock_now_ms() + 5000);
    }
    score(&world, "ever", "ann", 1);
    set_expiry(&world, "ever", clock_now_ms() + 5000);
    housekeeping_run(housekeeping);
    assert_int_equal(housekeeping->counters.removed, 0);
    set_expiry(&world, "plain1", 0);
    clock_shift_ms(6000);
    housekeeping_run(housekeeping);
    assert_int_equal(housekeeping->counters.removed, 200);
    assert_int_equal(housekeeping->counters.failures, 0);
    assert_true(there(&world, "BOARD#plain0", "ann") && there(&world, "BOARD#plain1", "ann"));
    assert_false(there(&world, "BOARD#plain2", "ann") || there(&world, "BOARD#ever", "ann"));
    assert_false(there(&world, "INSTANCE#plain2", "STATE"));
    housekeeping_free(housekeeping);
    world_close(&world);
}

/* Found ended, and written anew before it could be taken away: it stays. */
static void test_written_anew(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct housekeeping *housekeeping = housekeeping_new(world.game);
    for (int again = 0; again < 2; again++) {
        score(&world, "plain", "ann", 1);
        set_expiry(&world, "plain", clock_now_ms() + 1000);
        clock_shift_ms(2000);
        const struct board *board = world_board(&world, "plain");
        if (again)
            set_expiry(&world, "plain", 0);
        assert_ok(housekeeping_remove_board(housekeeping, board, &world.failure), world.failure);
        board_drop(board);
        assert_int_equal(there(&world, "BOARD#plain", "ann"), again);
        assert_int_equal(there(&world, "INSTANCE#plain", "STATE"), again);
    }
    assert_int_equal(housekeeping->counters.removed, 1);
    housekeeping_free(housekeeping);
    world_close(&world);
}

/* What was marked when housekeeping started is finished at once, what is marked later by whoever
 * did.
 */
static void test_clearing(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    struct housekeeping *early = housekeeping_new(world.game);
    housekeeping_run(early);
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
    housekeeping_run(early);
    housekeeping_run(early);
    assert_true(there(&world, "BOARD#board", "m0"));
    run_once(&world);
    assert_false(there(&world, "BOARD#board", "m0") || there(&world, "BOARD#board", "m49"));
    assert_false(there(&world, "INSTANCE#board", "STATE"));
    housekeeping_run(early);
    assert_int_equal(early->counters.removed, 0);
    housekeeping_free(early);
    world_close(&world);
}

/* --- the heap --- */

static void test_dues(void **state) {
    struct due_heap dues = {0};
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
        due_heap_push(&dues, at, bytes_str(name));
    }
    for (; now <= 1000; now += 50) {
        struct bytes name;
        while (due_heap_pop(&dues, now, &arena, &name)) {
            int64_t at = atoll(arena_str(&arena, name));
            assert_true(at >= last && at <= now);
            last = at;
            count++;
        }
        assert_true(due_heap_next_ms(&dues) > now);
    }
    assert_int_equal(count, 2000);
    assert_true(due_heap_next_ms(&dues) == INT64_MAX);
    due_heap_push(&dues, 5, BYTES("left"));
    due_heap_release(&dues);
    arena_release(&arena);
}

/* In a load of any speed the position is stored seldom; but before much would be read again. */
static void test_position_is_late(void **state) {
    (void)state;
    const uint64_t many = HOUSEKEEPING_STORE_RECORDS + 1;
    assert_false(housekeeping_position_is_late(many, 0));
    assert_false(housekeeping_position_is_late(20 * many, HOUSEKEEPING_STORE_APART_US));
    assert_true(housekeeping_position_is_late(many, HOUSEKEEPING_STORE_APART_US + 1));
    assert_false(housekeeping_position_is_late(many - 1, HOUSEKEEPING_STORE_AFTER_US));
    assert_true(housekeeping_position_is_late(1, HOUSEKEEPING_STORE_AFTER_US + 1));
    assert_false(housekeeping_position_is_late(0, HOUSEKEEPING_STORE_AFTER_US + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seals_dense),
        cmocka_unit_test(test_final_follows),
        cmocka_unit_test(test_final_follows_after_failure),
        cmocka_unit_test(test_seals),
        cmocka_unit_test(test_late_entry),
        cmocka_unit_test(test_period_life),
        cmocka_unit_test(test_seals_later),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_written_anew),
        cmocka_unit_test(test_clearing),
        cmocka_unit_test(test_dues),
        cmocka_unit_test(test_position_is_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
