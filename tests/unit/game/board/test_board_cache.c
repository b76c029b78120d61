/* Boards by name: plain ones, those of a definition, in their periods, as they change. */
#include "base/clock.h"
#include "game/board/board_int.h"
#include "game/world.h"

#include <pthread.h>
#include <sched.h>

static void a_plain_board_is_made_by_its_first_entry(void **state) {
    (void)state;
    struct world world;
    world_open(&world);
    const struct board *board = world_board(&world, "level:1");
    assert_false(board->exists);
    assert_true(board->rules.plain);
    assert_true(board_is_current(world.game, board));
    struct entry_write write = {.points = points_of_double(&world.arena, 12.5)};
    assert_int_equal(world_put(&world, "level:1", BYTES("ann"), write), ENTRY_ADDED);
    assert_false(board_is_current(world.game, board));
    board_drop(board);
    board = world_board(&world, "level:1");
    assert_true(board->exists);
    const struct board *again = world_board(&world, "level:1");
    assert_ptr_equal(board, again);
    board_drop(again);
    assert_int_equal(world_put(&world, "level:1", BYTES("ann"), write), ENTRY_SAME);
    assert_true(board_is_current(world.game, board));
    board_drop(board);
    world_close(&world);
}

/* Names of any bytes, and none. */
static void any_bytes_are_a_name(void **state) {
    (void)state;
    static const struct bytes names[] = {{(const uint8_t *)"", 0},
                                         {(const uint8_t *)"\0\0", 2},
                                         {(const uint8_t *)"\xff\xfe", 2},
                                         {(const uint8_t *)"a/b@c", 5},
                                         {(const uint8_t *)"@", 1}};
    struct world world;
    struct instance_list list;
    world_open(&world);
    for (unsigned i = 0; i < 5; i++) {
        const struct board *board;
        assert_ok(
            board_find(world.game, names[i], (struct scope){&world.arena, &world.failure}, &board),
            world.failure);
        assert_bytes_equal(board->instance, names[i]);
        struct action action;
        board_create_action(world.game, board, &world.arena, &action);
        struct change change = write_of(&world.arena, &action, 1);
        assert_ok(game_wait(world.game, &change), change.failure);
        board_drop(board);
    }
    assert_ok(board_instances(world.game, &(struct list_range){.limit = 10},
                              (struct scope){&world.arena, &world.failure}, &list),
              world.failure);
    assert_int_equal(list.count, 5);
    for (unsigned i = 0; i < 5; i++) {
        unsigned found = 0;
        for (unsigned j = 0; j < 5; j++)
            found += bytes_equal(list.names[j], names[i]);
        assert_int_equal(found, 1);
    }
    /* a page after another */
    struct instance_list rest;
    assert_ok(board_instances(world.game, &(struct list_range){.after = list.names[1], .limit = 2},
                              (struct scope){&world.arena, &world.failure}, &rest),
              world.failure);
    assert_int_equal(rest.count, 2);
    assert_true(rest.more);
    assert_bytes_equal(rest.names[0], list.names[2]);
    const struct board *board;
    uint8_t *long_name = arena_zalloc(&world.arena, 1001);
    assert_int_equal(board_find(world.game, bytes_of(long_name, 1001),
                                (struct scope){&world.arena, &world.failure}, &board),
                     INVALID);
    world_close(&world);
}

static void expect_invalid(struct world *world, const char *name) {
    const struct board *board;
    enum status status = board_find(world->game, bytes_str(name),
                                    (struct scope){&world->arena, &world->failure}, &board);
    assert_int_equal(status, INVALID);
    assert_true(world->failure.text.size > 10);
}

static void an_id_is_the_present_period(void **state) {
    (void)state;
    static const struct bytes kinds[] = {{(const uint8_t *)"global", 6},
                                         {(const uint8_t *)"room", 4}};
    struct world world;
    struct failure failure;
    world_open(&world);
    const struct board *plain = world_board(&world, "t:hour");
    assert_true(plain->rules.plain);
    struct board_rules rules = {.id = BYTES("t:hour"),
                                .game = BYTES("t"),
                                .timeframe = FRAME_HOURLY,
                                .scopes = kinds,
                                .scope_count = 2,
                                .decimals = -1};
    world_define(&world, &rules);
    assert_false(board_is_current(world.game, plain));
    board_drop(plain);
    const struct board *now = world_board(&world, "t:hour"), *again = world_board(&world, "t:hour");
    assert_false(now->rules.plain);
    assert_ptr_equal(now, again);
    assert_int_equal(now->instance.size, strlen("t:hour@2026-11-16T13"));
    const struct board *full;
    assert_ok(
        board_find(world.game, now->instance, (struct scope){&world.arena, &world.failure}, &full),
        world.failure);
    assert_bytes_equal(full->pk, now->pk);
    assert_int_equal(board_check_open(full, clock_now_ms(), (struct scope){&world.arena, &failure}),
                     OK);
    clock_shift_ms(3600 * 1000);
    const struct board *next = world_board(&world, "t:hour");
    assert_int_equal(next->period.starts_ms, now->period.ends_ms);
    assert_int_equal(board_check_open(full, clock_now_ms(), (struct scope){&world.arena, &failure}),
                     INVALID);
    const struct board *old;
    assert_ok(
        board_find(world.game, full->instance, (struct scope){&world.arena, &world.failure}, &old),
        world.failure);
    assert_ptr_equal(old, full);
    board_drop(old);
    const struct board *room = world_board(&world, "t:hour/room:AB@2031-01-01T00");
    assert_bytes_equal(room->scope, BYTES("room:AB"));
    assert_int_equal(board_check_open(room, clock_now_ms(), (struct scope){&world.arena, &failure}),
                     INVALID);
    board_drop(room);
    expect_invalid(&world, "t:hour@2026-11-16");
    expect_invalid(&world, "t:hour@");
    expect_invalid(&world, "t:hour/club:1");
    expect_invalid(&world, "t:hour/room:a b");
    board_drop(now);
    board_drop(again);
    board_drop(full);
    board_drop(next);
    world_close(&world);
}

/* More names than are kept: those found stay whole while they are held. */
static void what_is_held_outlives_the_cache(void **state) {
    (void)state;
    struct world world;
    struct arena arena;
    world_open(&world);
    arena_init(&arena);
    const struct board *held = world_board(&world, "held");
    for (unsigned i = 0; i < 10000; i++) {
        const struct board *board;
        assert_ok(board_find(world.game, arena_printf(&arena, "b%u", i),
                             (struct scope){&arena, &world.failure}, &board),
                  world.failure);
        board_drop(board);
        arena_reset(&arena);
    }
    assert_bytes_equal(held->instance, BYTES("held"));
    board_drop(held);
    arena_release(&arena);
    world_close(&world);
}

/* --- threads --- */

struct finder {
    struct game *game;
    atomic_bool *stop;
    _Atomic uint64_t found;
};

static void *find_again(void *argument) {
    struct finder *me = argument;
    struct arena arena;
    arena_init(&arena);
    for (uint64_t before = 0; !atomic_load(me->stop); me->found++) {
        const struct board *board;
        struct failure failure;
        assert_ok(board_find(me->game, BYTES("b"), (struct scope){&arena, &failure}, &board),
                  failure);
        /* The title counts up, and is never seen to go back. */
        uint64_t title = 0;
        for (size_t i = 0; i < board->rules.title.size; i++)
            title = title * 10 + (uint64_t)(board->rules.title.data[i] - '0');
        assert_true(title >= before);
        before = title;
        board_drop(board);
        arena_reset(&arena);
    }
    arena_release(&arena);
    return NULL;
}

static void changes_are_seen_by_all_threads(void **state) {
    (void)state;
    struct world world;
    atomic_bool stop = false;
    pthread_t threads[2];
    struct finder finders[2];
    world_open(&world);
    for (unsigned i = 0; i < 2; i++) {
        finders[i] = (struct finder){world.game, &stop, 0};
        pthread_create(&threads[i], NULL, find_again, &finders[i]);
        while (atomic_load(&finders[i].found) == 0)
            sched_yield();
    }
    for (unsigned i = 1; i <= 60; i++) {
        struct board_rules rules = {.id = BYTES("b"), .game = BYTES("g"), .decimals = -1};
        rules.title = arena_printf(&world.arena, "%u", i);
        struct change change = {.arena = &world.arena};
        assert_ok(board_define_prepare(world.game, &rules, false, &change), change.failure);
        assert_ok(game_wait(world.game, &change), change.failure);
        const struct board *board = world_board(&world, "b");
        assert_bytes_equal(board->rules.title, rules.title);
        board_drop(board);
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_board_is_made_by_its_first_entry),
        cmocka_unit_test(any_bytes_are_a_name),
        cmocka_unit_test(an_id_is_the_present_period),
        cmocka_unit_test(what_is_held_outlives_the_cache),
        cmocka_unit_test(changes_are_seen_by_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
