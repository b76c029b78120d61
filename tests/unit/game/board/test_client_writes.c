/* Items that clients put into the partitions of boards meet the boards' rules. */
#include "base/clock.h"
#include "game/board/entry_int.h"
#include "game/player/player.h"
#include "game/record.h"
#include "game/world.h"

static struct item entry_item(struct world *world, const char *pk, const char *member,
                              int64_t score) {
    struct item key = game_key(&world->arena, bytes_str(pk), bytes_str(member));
    struct value points = value_int(&world->arena, score);
    return item_with(&world->arena, &key, GAME_SCORE, &points);
}

/* As PutItem or DeleteItem does. */
static enum status client_write(struct world *world, enum action_kind kind, struct item item) {
    struct action action = {.kind = kind, .table = world->game->table, .item = item};
    struct change change = write_of(&world->arena, &action, 1);
    enum status status = game_wait(world->game, &change);
    world->failure = change.failure;
    return status;
}

static enum status client_put(struct world *world, const char *pk, const char *member,
                              int64_t score) {
    return client_write(world, ACTION_PUT, entry_item(world, pk, member, score));
}

static struct item stored(struct world *world, const char *pk, const char *sk) {
    struct get_request request = {.table = world->game->table,
                                  .key = game_key(&world->arena, bytes_str(pk), bytes_str(sk)),
                                  .consistent = true};
    struct get_reply reply = {0};
    assert_ok(
        engine_get(world->engine, &request, (struct scope){&world->arena, &world->failure}, &reply),
        world->failure);
    return reply.item;
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

static void a_put_item_is_an_entry(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    assert_ok(client_put(&world, "BOARD#p", "ann", 5), world.failure);
    assert_int_equal(total_of(&world, "p"), 1);
    assert_true(stored(&world, "INSTANCE#p", "STATE").count != 0);
    const struct board *board = world_board(&world, "p");
    assert_true(board->exists);
    board_drop(board);
    /* Without a score it is none. */
    struct item other = game_key(&world.arena, BYTES("BOARD#q"), BYTES("note"));
    assert_ok(client_write(&world, ACTION_PUT, other), world.failure);
    assert_int_equal(stored(&world, "BOARD#q", "note").count, 2);
    assert_int_equal(stored(&world, "INSTANCE#q", "STATE").count, 0);
    assert_int_equal(total_of(&world, "q"), 0);
    world_close(&world);
}

static void rules_of_defined_boards_hold(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    world_define(&world, &(struct board_rules){.id = BYTES("d"),
                                               .game = BYTES("g"),
                                               .timeframe = FRAME_DAILY,
                                               .decimals = -1,
                                               .score_max = number_from_int(&world.arena, 100)});
    const struct board *board = world_board(&world, "d");
    const char *pk = arena_str(&world.arena, board->pk);
    assert_int_equal(client_put(&world, pk, "ann", 101), INVALID);
    assert_int_equal(client_put(&world, "BOARD#d", "ann", 1), INVALID);
    assert_int_equal(client_put(&world, "BOARD#d@2001-01-01", "ann", 1), INVALID);
    assert_int_equal(client_put(&world, pk, "\x01", 1), OK);
    assert_int_equal(client_put(&world, pk, "\xf4\x8f\xbf\xbf", 1), INVALID); /* nobody's key */
    assert_ok(client_put(&world, pk, "ann", 100), world.failure);
    struct item item = stored(&world, pk, "ann");
    assert_bytes_equal(item_string(&item, BYTES("GSI1PK")), BYTES("PLAYER#ann"));
    assert_bytes_equal(item_string(&item, BYTES("GSI1SK")), board->pk);
    assert_true(item_int(&item, GAME_TIE) < 0);
    board_drop(board);
    world_close(&world);
}

static void a_sealed_period_stays(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    world_define(&world, &(struct board_rules){.id = BYTES("d"),
                                               .game = BYTES("g"),
                                               .timeframe = FRAME_DAILY,
                                               .decimals = -1});
    const struct board *board = world_board(&world, "d");
    const char *pk = arena_str(&world.arena, board->pk);
    struct bytes state_pk = record_join(&world.arena, "INSTANCE#", board->instance);
    assert_ok(client_put(&world, pk, "ann", 5), world.failure);
    clock_shift_ms(INT64_C(48) * 3600 * 1000);
    assert_int_equal(client_put(&world, pk, "ann", 6), INVALID);
    assert_int_equal(client_put(&world, pk, "bob", 6), INVALID);
    assert_int_equal(
        client_write(&world, ACTION_DELETE, game_key(&world.arena, board->pk, BYTES("ann"))),
        INVALID);
    assert_int_equal(
        client_write(&world, ACTION_DELETE, game_key(&world.arena, state_pk, BYTES("STATE"))),
        INVALID);
    struct item item = stored(&world, pk, "ann");
    assert_int_equal(item_int(&item, GAME_SCORE), 5);
    /* The player's own right goes before that. */
    uint64_t count;
    assert_ok(player_erase(world.game, BYTES("ann"), (struct scope){&world.arena, &world.failure},
                           &count),
              world.failure);
    assert_int_equal(count, 1);
    clock_shift_ms(-INT64_C(48) * 3600 * 1000);
    board_drop(board);
    world_close(&world);
}

static void a_hidden_member_stays_hidden(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    assert_ok(
        player_hide(world.game, BYTES("eve"), true, (struct scope){&world.arena, &world.failure}),
        world.failure);
    assert_ok(client_put(&world, "BOARD#p", "eve", 5), world.failure);
    struct item item = stored(&world, "BOARD#p", "eve");
    struct points points;
    bool hidden;
    assert_true(entry_points(&item, &points, &hidden) && hidden);
    assert_null(item_get(&item, GAME_SCORE));
    assert_int_equal(total_of(&world, "p"), 0);
    assert_ok(client_put(&world, "BOARD#p", "eve", 7), world.failure);
    assert_int_equal(total_of(&world, "p"), 0);
    assert_ok(
        player_hide(world.game, BYTES("eve"), false, (struct scope){&world.arena, &world.failure}),
        world.failure);
    item = stored(&world, "BOARD#p", "eve");
    assert_int_equal(item_int(&item, GAME_SCORE), 7);
    assert_int_equal(total_of(&world, "p"), 1);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_put_item_is_an_entry),
        cmocka_unit_test(rules_of_defined_boards_hold),
        cmocka_unit_test(a_sealed_period_stays),
        cmocka_unit_test(a_hidden_member_stays_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
