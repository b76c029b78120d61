/* Names of profiles on boards. */
#include "game/housekeeping_test.h"

#include "base/clock.h"
#include "game/player/player.h"
#include "table/inprocess.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };

static void put(struct world *world, const char *id, const char *name) {
    struct change change = {.arena = &world->arena};
    struct player player = {.id = bytes_str(id), .name = bytes_str(name)};
    assert_ok(player_put_prepare(world->game, &player, &change, &world->failure), world->failure);
    assert_ok(game_wait(world->game, &change), change.failure);
}

static void score(struct world *world, const char *board, const char *player, const char *name) {
    struct submission submission = {.board = bytes_str(board),
                                    .player = bytes_str(player),
                                    .name = bytes_str(name),
                                    .score = number_in(&world->arena, "5")};
    struct submit submit;
    assert_ok(world_submit(world, &submission, &submit), world->failure);
    submit_release(&submit);
}

static struct bytes shown(struct world *world, const char *name, const char *player) {
    const struct board *board = world_board(world, name);
    struct bytes member = bytes_str(player);
    struct standings found;
    struct standings_query query = {world->game, board, &world->arena, &world->failure};
    struct standings_lookup lookup = {&member, 1, DETAIL_FULL};
    assert_ok(standings_members(&query, &lookup, &found), world->failure);
    board_drop(board);
    assert_true(found.rows[0].found);
    return found.rows[0].entry.name;
}

static uint64_t version_of(struct world *world, const char *pk) {
    struct value partition = value_string(bytes_str(pk));
    return engine_partition_version(world->engine, BYTES("gametable"), &partition);
}

static void test_follows(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    world_define(&world, &(struct board_rules){
                             .id = BYTES("day"), .game = BYTES("g"), .timeframe = FRAME_DAILY});
    world_define(&world, &(struct board_rules){.id = BYTES("all"), .game = BYTES("g")});
    struct housekeeping *housekeeping = housekeeping_new(world.game);
    /* Without a profile it is what was told. */
    score(&world, "all", "ann", "Told");
    score(&world, "all", "bob", "Bob");
    score(&world, "day", "ann", "Told");
    housekeeping_run(housekeeping);
    assert_bytes_equal(shown(&world, "all", "ann"), BYTES("Told"));
    const struct board *board = world_board(&world, "day");
    const char *day = arena_str(&world.arena, board->instance);
    struct bytes state_pk = arena_printf(&world.arena, "INSTANCE#%s", day);
    board_drop(board);
    clock_shift_ms(DAY_MS);
    housekeeping_run(housekeeping);
    uint64_t before = version_of(&world, "BOARD#all");
    put(&world, "ann", "Ann");
    housekeeping_run(housekeeping);
    assert_bytes_equal(shown(&world, "all", "ann"), BYTES("Ann"));
    assert_bytes_equal(shown(&world, day, "ann"), BYTES("Ann"));
    assert_bytes_equal(shown(&world, "all", "bob"), BYTES("Bob"));
    assert_true(version_of(&world, "BOARD#all") > before); /* who watches is told */
    struct item sealed = get(&world, arena_str(&world.arena, state_pk), "STATE");
    const struct value *row = &item_get(&sealed, BYTES("final"))->elements[0];
    assert_bytes_equal(value_get(row, BYTES("name"))->bytes, BYTES("Ann"));
    /* A submission that tells none takes the profile's; one that tells one, that. */
    score(&world, "day", "ann", "");
    assert_bytes_equal(shown(&world, "day", "ann"), BYTES("Ann"));
    world_define(&world, &(struct board_rules){
                             .id = BYTES("last"), .game = BYTES("g"), .keep = KEEP_LATEST});
    score(&world, "last", "ann", "Nick");
    assert_bytes_equal(shown(&world, "last", "ann"), BYTES("Nick"));
    /* Nothing is written where nothing differs, nor when the profile changes otherwise. */
    before = version_of(&world, "BOARD#all");
    put(&world, "ann", "Ann");
    housekeeping_run(housekeeping);
    assert_int_equal(version_of(&world, "BOARD#all"), before);
    put(&world, "ann", "");
    housekeeping_run(housekeeping);
    assert_int_equal(shown(&world, "all", "ann").size, 0);
    housekeeping_free(housekeeping);
    world_close(&world);
}

/* What was changed while nobody kept house is done when somebody does; a hidden entry, too; and of
 * two changes the last one stays. */
static void test_follows_later(void **state) {
    enum { BOARDS = 450 };
    struct world world;
    (void)state;
    world_open(&world);
    for (int i = 0; i < BOARDS; i++) {
        char id[16];
        snprintf(id, sizeof(id), "b%03d", i);
        world_define(&world, &(struct board_rules){.id = bytes_str(id), .game = BYTES("g")});
        score(&world, id, "ann", "Old");
    }
    run_once(&world);
    assert_ok(
        player_hide(world.game, BYTES("ann"), true, (struct scope){&world.arena, &world.failure}),
        world.failure);
    put(&world, "ann", "New");
    put(&world, "ann", "Newer");
    run_once(&world);
    struct item entry = get(&world, "BOARD#b007", "ann");
    assert_bytes_equal(item_string(&entry, BYTES("name")), BYTES("Newer"));
    assert_non_null(item_get(&entry, BYTES("hidden")));
    assert_ok(
        player_hide(world.game, BYTES("ann"), false, (struct scope){&world.arena, &world.failure}),
        world.failure);
    assert_bytes_equal(shown(&world, "b000", "ann"), BYTES("Newer"));
    assert_bytes_equal(shown(&world, "b449", "ann"), BYTES("Newer"));
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follows),
        cmocka_unit_test(test_follows_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
