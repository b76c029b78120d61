/* Counting the sorted sets of a database, against a look at each board: over generations, garbage,
 * boards that expire or are being cleared, keys of the same names, items of instances that are
 * gone, and definitions. */
#include "base/random.h"
#include "game/board/board_count.h"
#include "game/board/board_generation.h"
#include "game/board/board_int.h"
#include "game/keyspace/key_fields.h"
#include "game/keyspace/key_garbage.h"
#include "game/keyspace/key_head.h"
#include "game/keyspace/key_sets.h"
#include "game/record.h"
#include "game/world.h"

static struct world world;
static struct random random_now;

static const struct bytes keys[] = {
    BYTES("a"),        BYTES("b"),      BYTES("#7"),    BYTES("#16#a"), BYTES("#3#a"),
    BYTES("#0#a"),     BYTES(""),       BYTES("\0"),    BYTES("\0a"),   BYTES("\xff"),
    BYTES("#3#\xff"),  BYTES("def"),    BYTES("def@x"), BYTES("def/s"), BYTES("defx"),
    BYTES("def@\xff"), BYTES("\xfe\0"),
};
static const unsigned databases[] = {0, 3, 12};
enum { KEYS = sizeof(keys) / sizeof(keys[0]), DATABASES = 3, MEMBERS = 3 };

static int open_world(void **state) {
    (void)state;
    world_open(&world);
    random_seed(&random_now, test_seed());
    return 0;
}

static int close_world(void **state) {
    (void)state;
    world_close(&world);
    return 0;
}

static struct scope in_world(void) {
    return (struct scope){&world.arena, &world.failure};
}

static unsigned below(unsigned bound) {
    return (unsigned)random_below(&random_now, bound);
}

/* ---- the dumbest correct thing ---- */

static bool has_head(struct key_of_board of) {
    struct key_address address;
    struct get_reply reply;
    struct key_head head = {0};
    assert_ok(key_address_of(of.db, of.name, in_world(), &address), world.failure);
    struct get_request request = {.table = world.game->table,
                                  .key = key_head_key(&address, &world.arena),
                                  .consistent = true};
    assert_ok(engine_get(world.engine, &request, in_world(), &reply), world.failure);
    if (reply.found)
        assert_ok(key_head_read(&reply.item, clock_now_ms(), in_world(), &head), world.failure);
    return reply.found && head.type != KEY_NONE;
}

static bool is_set(struct bytes name) {
    const struct board *board;
    uint64_t size = 0;
    if (board_find(world.game, name, in_world(), &board) != OK)
        return false;
    assert_ok(standings_total(world.game, board, in_world(), &size), world.failure);
    board_drop(board);
    return size != 0 && !has_head(key_of_board(name));
}

static uint64_t count_each(unsigned db) {
    struct instance_list list;
    struct list_range range = {.limit = 1000};
    uint64_t count = 0;
    assert_ok(board_instances(world.game, &range, in_world(), &list), world.failure);
    assert_false(list.more);
    for (size_t i = 0; i < list.count; i++)
        count += key_of_board(list.names[i]).db == db && is_set(list.names[i]);
    return count;
}

static uint64_t count_sets(unsigned db, size_t *odd) {
    struct key_sets_request request = {.db = db, .now_ms = clock_now_ms(), .nonblocking = true};
    struct key_sets sets;
    assert_ok(key_sets_count(world.game, &request, in_world(), &sets), world.failure);
    for (size_t i = 0; i < sets.odd_count; i++)
        sets.count += is_set(sets.odd[i]);
    *odd = sets.odd_count;
    return sets.count;
}

static size_t check(void) {
    size_t most = 0;
    for (unsigned i = 0; i < DATABASES; i++) {
        size_t odd;
        assert_int_equal(count_sets(databases[i], &odd), count_each(databases[i]));
        most = odd > most ? odd : most;
    }
    return most;
}

/* ---- what may happen to a board ---- */

static struct bytes some_board(void) {
    return key_board_name(databases[below(DATABASES)], keys[below(KEYS)], &world.arena);
}

static void write_one(struct action action) {
    struct change change = {
        .kind = CHANGE_WRITE, .arena = &world.arena, .actions = &action, .action_count = 1};
    assert_ok(game_wait(world.game, &change), change.failure);
}

static struct action delete_of(struct bytes pk, struct bytes sk) {
    return (struct action){.kind = ACTION_DELETE,
                           .by_owner = true,
                           .table = world.game->table,
                           .item = game_key(&world.arena, pk, sk)};
}

static struct bytes some_member(void) {
    return arena_printf(&world.arena, "m%u", below(MEMBERS));
}

static void add_entry(const struct board *board) {
    struct entry_write write = {
        .game = world.game, .board = board, .points = points_of_double(&world.arena, below(9))};
    struct action actions[2];
    size_t count = 1;
    entry_action(&write, game_key(&world.arena, board->pk, some_member()), entry_write_by_flags,
                 &actions[0]);
    if (!board->exists)
        board_create_action(world.game, board, &world.arena, &actions[count++]);
    struct change change = write_of(&world.arena, actions, count);
    assert_ok(game_wait(world.game, &change), change.failure);
}

static void replace_entries(const struct board *board) {
    struct board_switch to_be = {.game = world.game,
                                 .board = board,
                                 .generation = key_generation_new(&world.arena),
                                 .has_entries = below(2) == 0,
                                 .had_entries = true};
    struct action actions[BOARD_SWITCH_ACTIONS];
    size_t count = board_switch_actions(&to_be, &world.arena, actions);
    struct change change = write_of(&world.arena, actions, count);
    assert_ok(game_wait(world.game, &change), change.failure);
}

static void mark(const struct board *board) {
    struct action action;
    board_clear_action(world.game, board, &world.arena, &action);
    write_one(action);
}

static void put_head(struct bytes name, bool there) {
    struct key_of_board of = key_of_board(name);
    struct key_head head = {.type = KEY_STRING, .value = BYTES("v")};
    struct key_address address;
    assert_ok(key_address_of(of.db, of.name, in_world(), &address), world.failure);
    if (there)
        write_one((struct action){.kind = ACTION_PUT,
                                  .table = world.game->table,
                                  .item = key_head_item(&head, &address, &world.arena)});
    else
        write_one(delete_of(address.pk, BYTES("KEY")));
}

static void collect(void) {
    bool more = true;
    clock_shift_ms(LIMIT_GENERATION_KEPT_MS + 1);
    while (more)
        assert_ok(key_garbage_step(world.game, in_world(), &more), world.failure);
}

static void change_board(const struct board *board) {
    struct bytes state = board_state_partition(board, &world.arena);
    switch (below(16)) {
    default:
        add_entry(board);
        break;
    case 0:
    case 1:
    case 2:
    case 3:
        write_one(delete_of(board->pk, some_member()));
        break;
    case 4:
        write_one(delete_of(state, BYTES("STATE")));
        break;
    case 5:
        replace_entries(board);
        break;
    case 6:
        write_one(board_expire_action(world.game, board, clock_now_ms() + (int64_t)below(40) - 20,
                                      &world.arena));
        break;
    case 7:
        mark(board);
        break;
    case 8:
        put_head(board->instance, true);
        break;
    case 9:
        put_head(board->instance, false);
        break;
    }
}

static void change_one(void) {
    const struct board *board;
    if (below(12) == 0)
        clock_shift_ms(below(20));
    if (below(60) == 0)
        collect();
    struct bytes name = some_board();
    if (board_find(world.game, name, in_world(), &board) != OK)
        return;
    if (!board_is_gone(board, clock_now_ms()))
        change_board(board);
    else if (below(2) == 0)
        assert_ok(board_clear(world.game, board, false, in_world()), world.failure);
    board_drop(board);
}

/* ---- tests ---- */

static void counts_are_what_a_look_at_each_says(void **state) {
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        change_one();
        check();
        arena_reset(&world.arena);
    }
}

static void put_definition(const char *timeframe) {
    struct record record = record_of(&world.arena);
    record_string(&record, GAME_PK, BYTES("BOARDDEF#def"));
    record_string(&record, GAME_SK, BYTES("META"));
    record_string(&record, BYTES("GSI1PK"), BYTES("BOARDS"));
    record_string(&record, BYTES("GSI1SK"), BYTES("def"));
    record_string(&record, BYTES("id"), BYTES("def"));
    record_string(&record, BYTES("game"), BYTES("g"));
    record_string(&record, BYTES("timeframe"), bytes_str(timeframe));
    write_one((struct action){
        .kind = ACTION_PUT, .table = world.game->table, .item = record_item(&record)});
}

static void names_of_definitions_are_looked_at(void **state) {
    (void)state;
    static const char *const timeframes[] = {"all", "daily", "nonsense"};
    for (unsigned round = 0; round < 600; round++) {
        if (below(30) == 0)
            put_definition(timeframes[below(3)]);
        if (below(60) == 0)
            write_one(delete_of(BYTES("BOARDDEF#def"), BYTES("META")));
        change_one();
        check();
        arena_reset(&world.arena);
    }
}

/* Most boards are not looked at; if many have to be, who may not wait is told. */
static void few_are_looked_at(void **state) {
    (void)state;
    struct key_sets_request request = {.now_ms = clock_now_ms(), .nonblocking = true};
    struct key_sets sets;
    for (unsigned i = 0; i < 1500; i++) {
        struct bytes name = arena_printf(&world.arena, "many:%u", i);
        world_put(&world, arena_str(&world.arena, name), BYTES("m"),
                  (struct entry_write){.points = points_of_double(&world.arena, 1)});
    }
    assert_int_equal(key_sets_count(world.game, &request, in_world(), &sets), WOULD_BLOCK);
    request.nonblocking = false; /* the first count */
    assert_ok(key_sets_count(world.game, &request, in_world(), &sets), world.failure);
    assert_int_equal(sets.count, 1500);
    assert_int_equal(sets.odd_count, 0);
    put_head(BYTES("many:7"), true);
    assert_ok(key_sets_count(world.game, &request, in_world(), &sets), world.failure);
    request.nonblocking = true;
    assert_ok(key_sets_count(world.game, &request, in_world(), &sets), world.failure);
    assert_int_equal(sets.count, 1499);
    assert_int_equal(sets.odd_count, 1);
    assert_bytes_equal(sets.odd[0], BYTES("many:7"));
    for (unsigned i = 0; i < 1500; i++) {
        struct bytes name = arena_printf(&world.arena, "many:%u", i);
        const struct board *board = world_board(&world, arena_str(&world.arena, name));
        write_one(board_expire_action(world.game, board, clock_now_ms() - 1, &world.arena));
        board_drop(board);
    }
    assert_int_equal(key_sets_count(world.game, &request, in_world(), &sets), WOULD_BLOCK);
    request.nonblocking = false;
    assert_ok(key_sets_count(world.game, &request, in_world(), &sets), world.failure);
    assert_int_equal(sets.count, 0);
    assert_int_equal(sets.odd_count, 1500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_are_what_a_look_at_each_says, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(names_of_definitions_are_looked_at, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(few_are_looked_at, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
