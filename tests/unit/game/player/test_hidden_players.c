/* Who is hidden: memory says what is on disk, whoever wrote it and whatever failed. */
#include "game/world.h"

#include "game/player/hidden_players.h"
#include "game/player/player.h"

#include <pthread.h>

static bool table_has(struct world *world, const char *id) {
    struct item item;
    return get_item(world->engine, &world->arena, "gametable",
                    game_key(&world->arena, BYTES("HIDDEN"), bytes_str(id)), &item);
}

static bool has(struct world *world, const char *id) {
    return hidden_players_has(world->game, bytes_str(id));
}

static void hide(struct world *world, const char *id, bool hidden) {
    assert_ok(player_hide(world->game, bytes_str(id), hidden,
                          (struct scope){&world->arena, &world->failure}),
              world->failure);
}

/* A change that is undone as a whole hides nobody. */
static void test_cancelled(void **state) {
    struct world world;
    struct action actions[2];
    (void)state;
    world_open(&world);
    actions[0] = hidden_players_action(world.game, BYTES("ann"), true, &world.arena);
    actions[1] = (struct action){
        .kind = ACTION_CHECK,
        .table = world.game->table,
        .item = game_key(&world.arena, BYTES("NO"), BYTES("NO")),
        .condition = condition_of(&world.arena, "attribute_exists(PK)", NULL),
    };
    struct change change = write_of(&world.arena, actions, 2);
    change.all_or_nothing = true;
    assert_int_equal(game_wait(world.game, &change), CANCELLED);
    assert_false(has(&world, "ann"));
    change = write_of(&world.arena, actions, 1);
    assert_int_equal(game_wait(world.game, &change), OK);
    assert_true(has(&world, "ann"));
    hidden_players_refresh(world.game);
    assert_true(has(&world, "ann"));
    assert_false(has(&world, "bob"));
    world_close(&world);
}

/* What one game on the engine writes, or a client without any, the other one knows. */
static void test_two_games(void **state) {
    struct world world, other;
    (void)state;
    world_open(&world);
    other = world;
    arena_init(&other.arena);
    world_open_game(&other);
    hide(&world, "ann", true);
    assert_true(has(&world, "ann"));
    assert_true(has(&other, "ann"));
    hidden_players_refresh(other.game);
    assert_true(has(&other, "ann"));
    hide(&other, "ann", false);
    assert_false(has(&world, "ann"));
    put_item(world.engine, &world.arena, "gametable",
             game_key(&world.arena, BYTES("HIDDEN"), BYTES("eve")));
    assert_true(has(&world, "eve"));
    assert_true(has(&other, "eve"));
    game_close(other.game);
    arena_release(&other.arena);
    world_close(&world);
}

/* Hides while the Nth write, or its sync, fails; then memory agrees with the table. */
static void fail_at(int write_in, int sync_in) {
    struct world world = {0};
    struct store_faults faults = {0};
    char *path = folder_make();
    arena_init(&world.arena);
    world.engine = engine_open(
        &(struct local_settings){.store = {.path = path, .faults = &faults}, .threads = 1});
    world_open_game(&world);
    hide(&world, "bob", true);
    __atomic_store_n(&faults.write_in, write_in, __ATOMIC_SEQ_CST);
    __atomic_store_n(&faults.sync_in, sync_in, __ATOMIC_SEQ_CST);
    enum status status =
        player_hide(world.game, BYTES("ann"), true, (struct scope){&world.arena, &world.failure});
    assert_true(status == OK || status == IO_FAILED);
    assert_int_equal(has(&world, "ann"), table_has(&world, "ann"));
    status = IO_FAILED;
    for (int i = 0; i < 3000 && status != OK; i++) {
        status = player_hide(world.game, BYTES("eve"), true,
                             (struct scope){&world.arena, &world.failure});
        if (status != OK)
            usleep(20 * 1000); /* the engine tries to recover now and then */
    }
    assert_int_equal(status, OK);
    assert_int_equal(has(&world, "ann"), table_has(&world, "ann"));
    assert_true(has(&world, "bob") && has(&world, "eve"));
    world_close(&world);
    folder_remove(path);
}

static void test_failing_disk(void **state) {
    (void)state;
    for (int n = 1; n <= 3; n++) {
        fail_at(n, 0);
        fail_at(0, n);
    }
}

/* --- hiding while somebody writes --- */

enum { BOARDS = 300 };

struct race {
    struct world *world;
    atomic_int written;
};

/* New entries of the player, each on a board of its own, for as long as it takes. */
static void *write_entries(void *context) {
    struct race *race = context;
    struct world world = *race->world;
    arena_init(&world.arena);
    for (int i = 0; i < BOARDS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "b%03d", i);
        world_put(&world, name, BYTES("ann"),
                  (struct entry_write){.points = points_of_double(&world.arena, i)});
        atomic_store(&race->written, i + 1);
        arena_reset(&world.arena);
    }
    arena_release(&world.arena);
    return NULL;
}

static uint64_t shown_entries(struct world *world) {
    uint64_t sum = 0;
    for (int i = 0; i < BOARDS; i++) {
        char name[16];
        uint64_t count;
        snprintf(name, sizeof(name), "b%03d", i);
        const struct board *board = world_board(world, name);
        assert_ok(standings_total(world->game, board,
                                  (struct scope){&world->arena, &world->failure}, &count),
                  world->failure);
        board_drop(board);
        sum += count;
    }
    return sum;
}

/* When it is done, no entry is left that does not say what the flag says. */
static void test_hides_while_written(void **state) {
    struct world world;
    struct race race = {.world = &world};
    pthread_t thread;
    (void)state;
    world_open(&world);
    assert_int_equal(pthread_create(&thread, NULL, write_entries, &race), 0);
    for (int at = BOARDS / 10; at < BOARDS; at += BOARDS / 10) {
        while (atomic_load(&race.written) < at)
            sched_yield();
        hide(&world, "ann", at / (BOARDS / 10) % 2 == 1); /* the last one hides */
    }
    pthread_join(thread, NULL);
    assert_int_equal(shown_entries(&world), 0);
    hide(&world, "ann", false);
    assert_int_equal(shown_entries(&world), BOARDS);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_two_games),
        cmocka_unit_test(test_failing_disk),
        cmocka_unit_test(test_hides_while_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
