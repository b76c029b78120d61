/* What the tests of boards share: a game on an engine in memory, boards, writes. */
#ifndef GT_TEST_WORLD_H
#define GT_TEST_WORLD_H

#include "base/clock.h"
#include "game/board/submit.h"
#include "table/local/engine.h"

#define assert_ok(call, failure)                                                         \
    do {                                                                                 \
        enum status status_ = (call);                                                    \
        if (status_ != OK)                                                               \
            print_message("%s:%d: %s: %.*s\n", __FILE__, __LINE__, status_name(status_), \
                          BYTES_ARG((failure).text));                                    \
        assert_int_equal(status_, OK);                                                   \
    } while (0)

struct world {
    struct arena arena;
    struct failure failure;
    struct engine *engine;
    struct game *game;
};

/* The clock stands still at noon of some Wednesday, and tests move it: nothing falls due, and no
 * hour or day ends, because a machine is slow or because of when it runs a test. */
static inline void world_stop_clock(void) {
    static bool stopped;
    if (!stopped)
        clock_stop(INT64_C(1784117400000)); /* 2026-07-15T12:10:00Z */
    stopped = true;
}

static inline void world_open_game(struct world *world) {
    world_stop_clock();
    struct game_settings settings = {.secret = BYTES("0123456789abcdef0123456789abcdef")};
    assert_ok(game_open(world->engine, &settings, (struct scope){&world->arena, &world->failure},
                        &world->game),
              world->failure);
}

static inline void world_open(struct world *world) {
    *world = (struct world){0};
    arena_init(&world->arena);
    world->engine = engine_open_memory();
    world_open_game(world);
}

static inline void world_close(struct world *world) {
    game_close(world->game);
    engine_close(world->engine);
    arena_release(&world->arena);
}

static inline const struct board *world_board(struct world *world, const char *name) {
    const struct board *board = NULL;
    assert_ok(board_find(world->game, bytes_str(name),
                         (struct scope){&world->arena, &world->failure}, &board),
              world->failure);
    return board;
}

/* An entry by score alone, as a double, with the board's item if need be. */
static inline enum entry_outcome world_put(struct world *world, const char *name,
                                           struct bytes member, struct entry_write write) {
    const struct board *board = world_board(world, name);
    struct action actions[2];
    size_t count = 1;
    struct bytes key;
    assert_ok(entry_key_of(member, (struct scope){&world->arena, &world->failure}, &key),
              world->failure);
    write.game = world->game;
    write.board = board;
    entry_action(&write, game_key(&world->arena, board->pk, key), entry_write_by_flags,
                 &actions[0]);
    if (!board->exists)
        board_create_action(world->game, board, &world->arena, &actions[count++]);
    struct change change = write_of(&world->arena, actions, count);
    change.all_or_nothing = count > 1;
    assert_ok(game_wait(world->game, &change), change.failure);
    board_drop(board);
    return write.outcome;
}

/* Makes the definition. */
static inline void world_define(struct world *world, const struct board_rules *rules) {
    struct change change = {.arena = &world->arena};
    assert_ok(board_define_prepare(world->game, rules, true, &change), change.failure);
    assert_ok(game_wait(world->game, &change), change.failure);
}

/* Submits, waits and gives the results, which hold until world_submitted(). */
static inline enum status world_submit(struct world *world, const struct submission *submission,
                                       struct submit *submit) {
    enum status status = submit_prepare(world->game, submission,
                                        (struct scope){&world->arena, &world->failure}, submit);
    if (status != OK)
        return status;
    game_wait(world->game, &submit->change);
    status = submit_finish(submit, &world->failure);
    if (status != OK)
        submit_release(submit);
    return status;
}

static inline struct bytes number_in(struct arena *arena, const char *text) {
    struct bytes number;
    assert_int_equal(number_read(arena, bytes_str(text), &number), NUMBER_OK);
    return number;
}

#endif
