/* Four in a row: every line that wins, and what does not; turns, the clock, who leaves, bots. */
#include "game/rooms.h"

#include "base/clock.h"
#include "base/random.h"

enum { COLUMNS = 7, ROWS = 6, CELLS = COLUMNS * ROWS };

/* A room of Ann (piece 1, who begins) and Bob (piece 2) in a match. */
static struct bytes four(struct world *world) {
    world_open(world);
    assert_ok(match_kinds_prepare(world->game, (struct scope){&world->arena, &world->failure}),
              world->failure);
    struct bytes code = made(world, "four-in-a-row", 2);
    assert_int_equal(join(world, code, "bob"), OK);
    assert_int_equal(ready(world, code, "bob"), OK);
    assert_int_equal(start(world, code), OK);
    return code;
}

static struct item drop_message(struct world *world, int64_t column, int64_t turn) {
    struct record record = record_of(&world->arena);
    record_string(&record, BYTES("do"), BYTES("drop"));
    record_int(&record, BYTES("column"), column);
    if (turn != 0)
        record_int(&record, BYTES("turn"), turn);
    return record_item(&record);
}

static enum status drop(struct world *world, struct bytes code, const char *player,
                        int64_t column) {
    struct room *room = loaded(world, code);
    struct item input = drop_message(world, column, 0);
    enum status status = room_input(room, bytes_str(player), &input, &world->failure);
    return status == OK ? saved(world, room) : status;
}

/* Drops by turns, Ann first: a digit is a column. */
static void drop_all(struct world *world, struct bytes code, const char *columns) {
    for (size_t i = 0; columns[i] != '\0'; i++)
        assert_ok(drop(world, code, i % 2 == 0 ? "ann" : "bob", columns[i] - '0'), world->failure);
}

/* Puts the board there as if it had been played, with the turn Ann's. */
static void set_board(struct world *world, struct room *room, const char board[CELLS]) {
    struct value text = value_string(arena_copy(&world->arena, bytes_of(board, CELLS)));
    room->state = item_with(&world->arena, &room->state, BYTES("board"), &text);
}

static bool in_line(const struct room *room, unsigned cell) {
    const struct value *line = item_get(&room->state, BYTES("line"));
    for (uint32_t i = 0; line != NULL && i < line->count; i++) {
        struct pair pair = {BYTES("n"), line->elements[i]};
        if (item_int(&(struct item){&pair, 1}, BYTES("n")) == cell)
            return true;
    }
    return false;
}

/* --- lines --- */

/* Three of four cells are there, the fourth is dropped: the column is filled up to below it with
 * pieces that belong to nobody. */
static void assert_wins(struct world *world, struct bytes code, const unsigned line[4],
                        unsigned last) {
    struct room *room = loaded(world, code);
    char board[CELLS];
    memset(board, '.', CELLS);
    for (unsigned i = 0; i < 4; i++)
        board[line[i]] = '1';
    board[line[last]] = '.';
    for (unsigned below = line[last] % COLUMNS; below < line[last]; below += COLUMNS)
        if (board[below] == '.')
            board[below] = 'x';
    set_board(world, room, board);
    struct item input = drop_message(world, line[last] % COLUMNS + 1, 0);
    assert_ok(room_input(room, BYTES("ann"), &input, &world->failure), world->failure);
    assert_int_equal(room->status, ROOM_OVER);
    assert_bytes_equal(item_string(&room->state, BYTES("winner")), BYTES("ann"));
    for (unsigned i = 0; i < 4; i++)
        assert_true(in_line(room, line[i]));
    assert_int_equal(item_get(&room->state, BYTES("line"))->count, 4);
    room_release(room); /* nothing is saved: the room is as it was for the next line */
}

static void test_all_lines(void **state) {
    static const int directions[][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    struct world world;
    struct bytes code = four(&world);
    unsigned lines = 0;
    (void)state;
    for (int cell = 0; cell < CELLS; cell++)
        for (int d = 0; d < 4; d++) {
            int right = directions[d][0], up = directions[d][1];
            int column = cell % COLUMNS + 3 * right, row = cell / COLUMNS + 3 * up;
            unsigned line[4];
            if (column < 0 || column >= COLUMNS || row >= ROWS)
                continue;
            for (int i = 0; i < 4; i++)
                line[i] = (unsigned)(cell + i * (up * COLUMNS + right));
            for (unsigned last = up == 1 && right == 0 ? 3 : 0; last < 4; last++)
                assert_wins(&world, code, line, last);
            lines++;
        }
    assert_int_equal(lines, 69); /* as many as a board of seven by six has */
    world_close(&world);
}

/* The end of one row and the beginning of the next are not side by side. */
static void test_no_line_round_the_edge(void **state) {
    struct world world;
    struct bytes code = four(&world);
    struct room *room = loaded(&world, code);
    char board[CELLS];
    (void)state;
    memset(board, '.', CELLS);
    memcpy(board, "....111", 7);
    board[0] = 'x';
    set_board(&world, room, board);
    struct item input = drop_message(&world, 1, 0); /* onto the x: the cell after the row's end */
    assert_ok(room_input(room, BYTES("ann"), &input, &world.failure), world.failure);
    assert_int_equal(room->status, ROOM_PLAYING);
    room_release(room);
    world_close(&world);
}

/* Five at once, and two lines at once, are shown whole. */
static void test_long_line(void **state) {
    struct world world;
    struct bytes code = four(&world);
    struct room *room = loaded(&world, code);
    char board[CELLS];
    (void)state;
    memset(board, '.', CELLS);
    memcpy(board, "11.111x", 7);
    set_board(&world, room, board);
    struct item input = drop_message(&world, 3, 0);
    assert_ok(room_input(room, BYTES("ann"), &input, &world.failure), world.failure);
    assert_int_equal(item_get(&room->state, BYTES("line"))->count, 6);
    room_release(room);
    world_close(&world);
}

/* --- a match --- */

static int64_t points_of(struct world *world, const char *board, const char *player) {
    struct get_reply reply;
    struct get_request request = {
        .table = world->game->table,
        .key = game_key(&world->arena, record_join(&world->arena, "PLAYER#", bytes_str(player)),
                        bytes_str(board)),
        .consistent = true};
    assert_ok(engine_get(world->game->engine, &request,
                         (struct scope){&world->arena, &world->failure}, &reply),
              world->failure);
    return item_int(&reply.item, BYTES("points"));
}

static void test_match(void **state) {
    struct world world;
    struct bytes code = four(&world);
    (void)state;
    struct room *room = loaded(&world, code);
    assert_bytes_equal(item_string(&room->state, BYTES("turn")), BYTES("ann"));
    assert_in_range(room->due_ms - clock_now_ms(), 1, 20000);
    assert_int_equal(drop(&world, code, "bob", 1), INVALID); /* not his turn */
    assert_int_equal(drop(&world, code, "ann", 0), INVALID);
    assert_int_equal(drop(&world, code, "ann", 8), INVALID);
    assert_int_equal(drop(&world, code, "ann", -1), INVALID);
    assert_int_equal(drop(&world, code, "eve", 1), NOT_FOUND);
    assert_int_equal(join(&world, code, "eve"), OK); /* looks on */
    assert_int_equal(drop(&world, code, "eve", 1), DENIED);
    assert_int_equal(drop(&world, code, "ann", 4), OK);
    assert_int_equal(drop(&world, code, "ann", 4), INVALID); /* once */
    room = loaded(&world, code);
    struct item late = drop_message(&world, 1, 1);
    assert_int_equal(room_input(room, BYTES("bob"), &late, &world.failure), INVALID);
    assert_int_equal(item_int(&room->round_item, BYTES("cell")), 3);
    for (size_t i = 0; i < 3; i++) { /* bob builds on another column */
        assert_int_equal(drop(&world, code, "bob", 1), OK);
        assert_int_equal(drop(&world, code, "ann", 4), OK);
    }
    room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_OVER);
    assert_int_equal(room->due_ms, 0);
    assert_int_equal(room_seat(room, BYTES("ann"))->score, 3);
    assert_int_equal(room_seat(room, BYTES("bob"))->score, 0);
    assert_bytes_equal(item_string(&room->state, BYTES("winner")), BYTES("ann"));
    assert_int_equal(item_string(&room->state, BYTES("turn")).size, 0);
    assert_int_equal(points_of(&world, "RECORD#four-in-a-row", "ann"), 3);
    assert_int_equal(drop(&world, code, "bob", 1), INVALID); /* it is over */

    /* The rematch is the other one's to begin, and points add up. */
    assert_int_equal(room_rematch(room, BYTES("ann"), &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    assert_int_equal(ready(&world, code, "bob"), OK);
    assert_int_equal(start(&world, code), OK);
    room = loaded(&world, code);
    assert_bytes_equal(item_string(&room->state, BYTES("turn")), BYTES("bob"));
    assert_int_equal(room_seat(room, BYTES("ann"))->score, 0);
    world_close(&world);
}

static void test_full_column(void **state) {
    struct world world;
    struct bytes code = four(&world);
    (void)state;
    drop_all(&world, code, "111111");
    assert_int_equal(drop(&world, code, "ann", 1), INVALID);
    assert_bytes_equal(world.failure.text, BYTES("Column 1 is full"));
    assert_int_equal(drop(&world, code, "ann", 2), OK);
    world_close(&world);
}

/* Columns filled so that nobody ever has four. */
static void test_draw(void **state) {
    struct world world;
    struct bytes code = four(&world);
    (void)state;
    drop_all(&world, code, "111111222222333333");
    drop_all(&world, code, "5444444");
    for (size_t i = 0; "55555666666777777"[i] != '\0'; i++)
        assert_ok(drop(&world, code, i % 2 == 0 ? "bob" : "ann", "55555666666777777"[i] - '0'),
                  world.failure);
    struct room *room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_OVER);
    assert_null(item_get(&room->state, BYTES("winner")));
    assert_null(item_get(&room->state, BYTES("line")));
    assert_int_equal(room_seat(room, BYTES("ann"))->score, 1);
    assert_int_equal(room_seat(room, BYTES("bob"))->score, 1);
    world_close(&world);
}

/* Nobody moves: the clock does, until the match is over. */
static void test_time_out(void **state) {
    struct world world;
    struct bytes code = four(&world);
    struct room *room = loaded(&world, code);
    unsigned moves = 0;
    (void)state;
    assert_int_equal(step(&world, code, "server"), NOT_FOUND); /* not due */
    for (; room->status == ROOM_PLAYING; room = loaded(&world, code), moves++) {
        clock_shift_ms(room->due_ms - clock_now_ms());
        assert_int_equal(step(&world, code, "server"), OK);
        assert_true(item_bool(&loaded(&world, code)->round_item, BYTES("byClock")));
    }
    assert_in_range(moves, 7, CELLS);
    assert_int_equal(room->status, ROOM_OVER);
    world_close(&world);
}

static void test_leaving(void **state) {
    struct world world;
    struct bytes code = four(&world);
    (void)state;
    drop_all(&world, code, "12");
    struct room *room = loaded(&world, code);
    assert_int_equal(room_leave(room, BYTES("ann"), &world.failure), OK);
    assert_int_equal(saved(&world, room), OK);
    room = loaded(&world, code);
    assert_int_equal(room->status, ROOM_OVER);
    assert_bytes_equal(item_string(&room->state, BYTES("winner")), BYTES("bob"));
    assert_int_equal(room_seat(room, BYTES("bob"))->score, 3);
    assert_bytes_equal(room->host, BYTES("bob"));
    world_close(&world);
}

/* --- bots --- */

static int64_t bot_column(struct world *world, const char *board, const char *turn) {
    static struct random random;
    const struct match_kind *kind = match_kind_named(BYTES("four-in-a-row"));
    struct value sides[] = {value_string(BYTES("ann")), value_string(BYTES("bob"))};
    struct record record = record_of(&world->arena);
    char whole[CELLS];
    memset(whole, '.', CELLS);
    memcpy(whole, board, strlen(board));
    record_put(&record, BYTES("sides"), value_list(sides, 2));
    record_string(&record, BYTES("board"), bytes_of(whole, CELLS));
    record_string(&record, BYTES("turn"), bytes_str(turn));
    record_int(&record, BYTES("turnNumber"), 9);
    struct match_view view = {.player = BYTES("ann"),
                              .state = record_item(&record),
                              .random = &random,
                              .arena = &world->arena};
    struct match_reply reply = {0};
    random_seed(&random, test_seed());
    kind->bot(&view, &reply);
    assert_int_equal(reply.about, strcmp(turn, "ann") == 0 ? 9 : 0);
    return item_int(&reply.message, BYTES("column"));
}

static void test_bot(void **state) {
    struct world world;
    (void)state;
    world_open(&world);
    assert_int_equal(bot_column(&world, ".111222", "bob"), 0);               /* not its turn */
    assert_int_equal(bot_column(&world, "2221.11", "ann"), 5);               /* wins, */
    assert_int_equal(bot_column(&world, "222..11", "ann"), 4);               /* blocks a row, */
    assert_int_equal(bot_column(&world, "2......2......2......", "ann"), 1); /* a column, */
    assert_int_equal(bot_column(&world, "222.111", "ann"), 4);               /* both at once */
    int64_t open = bot_column(&world, "..22...", "ann"); /* and two whose ends are open */
    assert_true(open == 2 || open == 5);
    world_close(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_lines),   cmocka_unit_test(test_no_line_round_the_edge),
        cmocka_unit_test(test_long_line),   cmocka_unit_test(test_match),
        cmocka_unit_test(test_full_column), cmocka_unit_test(test_draw),
        cmocka_unit_test(test_time_out),    cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_bot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
