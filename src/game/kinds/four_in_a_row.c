/* Four in a row: two players drop pieces by turns into seven columns of six. Who has four side by
 * side, upright or slanting has won; a full board without that is a draw.
 *
 *   options      turnSeconds, language of the page
 *   state        turn (whose; none when it is over), turnNumber, again (given anew, after an
 * outage), columns, rows, sides (who has the pieces 1 and 2), board, winner and line (the cells
 * that won) at the end round        one move: player, column, row, cell, byClock, at
 *
 * A board is a text of a character a cell: '.', '1' or '2', from the bottom row up, each from left
 * to right; columns and rows count from 1, cells from 0. A move names the turn it is for, so that
 * of two moves at once one is told that it came too late. For whoever lets the turn clock run out a
 * piece is dropped by chance: every match ends.
 */
#include "base/random.h"
#include "game/room/room_int.h"

#include <stdlib.h>

enum {
    COLUMNS = 7,
    ROWS = 6,
    CELLS = COLUMNS * ROWS,
    IN_A_ROW = 4,
    LINE_MAX = 4 * COLUMNS, /* cells of all lines through one cell, at most */
    WIN_POINTS = 3,
    DRAW_POINTS = 1,
    BOT_LEAST_MS = 300, /* as people would like to see where it went */
    BOT_DEPTH = 4,      /* moves that a bot looks ahead */
    BOT_WIN = 100,
};

#define EMPTY '.'

/* --- the board --- */

struct grid {
    char cells[CELLS];
};

static struct grid empty_grid(void) {
    struct grid grid;
    memset(grid.cells, EMPTY, CELLS);
    return grid;
}

static struct grid grid_of(const struct item *state) {
    struct bytes text = item_string(state, BYTES("board"));
    struct grid grid = empty_grid();
    if (text.size == CELLS) /* else somebody else has written it */
        memcpy(grid.cells, text.data, CELLS);
    return grid;
}

/* Where a piece that is dropped into the column (from 0) comes to lie; CELLS: the column is full.
 */
static unsigned landing(const struct grid *grid, unsigned column) {
    for (unsigned cell = column; cell < CELLS; cell += COLUMNS)
        if (grid->cells[cell] == EMPTY)
            return cell;
    return CELLS;
}

static bool is_full(const struct grid *grid) {
    return memchr(grid->cells, EMPTY, CELLS) == NULL;
}

/* The cell so many steps from there, or CELLS if that is outside. */
static unsigned cell_at(unsigned cell, int right, int up, int steps) {
    int column = (int)(cell % COLUMNS) + right * steps, row = (int)(cell / COLUMNS) + up * steps;
    if (column < 0 || column >= COLUMNS || row < 0 || row >= ROWS)
        return CELLS;
    return (unsigned)(row * COLUMNS + column);
}

/* Adds the line of equal pieces through the cell in one direction, if it is long enough. */
static unsigned add_line(const struct grid *grid, unsigned cell, const int direction[2],
                         unsigned *line) {
    int first = 0, last = 0;
    unsigned other, count = 0;
    while ((other = cell_at(cell, direction[0], direction[1], first - 1)) != CELLS &&
           grid->cells[other] == grid->cells[cell])
        first--;
    while ((other = cell_at(cell, direction[0], direction[1], last + 1)) != CELLS &&
           grid->cells[other] == grid->cells[cell])
        last++;
    for (int i = first; last - first + 1 >= IN_A_ROW && i <= last; i++)
        line[count++] = cell_at(cell, direction[0], direction[1], i);
    return count;
}

/* The cells of all lines of four or more through the piece in the cell; 0: it has not won. */
static unsigned winning_line(const struct grid *grid, unsigned cell, unsigned line[LINE_MAX]) {
    static const int directions[][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    unsigned count = 0;
    for (size_t i = 0; i < sizeof(directions) / sizeof(*directions); i++)
        count += add_line(grid, cell, directions[i], line + count);
    return count;
}

/* --- turns --- */

static struct value sides_value(struct room *room, const struct seat *first,
                                const struct seat *second) {
    struct value *sides = ARENA_ARRAY(room->arena, struct value, 2);
    sides[0] = value_string(first->player);
    sides[1] = value_string(second->player);
    return value_list(sides, 2);
}

/* The state with this board; the turn is nobody's yet. */
static struct record state_with(struct room *room, const struct grid *grid,
                                const struct value *sides) {
    struct record record = record_of(room->arena);
    record_int(&record, BYTES("columns"), COLUMNS);
    record_int(&record, BYTES("rows"), ROWS);
    record_value(&record, BYTES("sides"), sides);
    record_string(&record, BYTES("board"), arena_copy(room->arena, bytes_of(grid->cells, CELLS)));
    return record;
}

static void set_turn(struct room *room, struct record *record, const struct seat *seat,
                     int64_t number) {
    record_string(record, BYTES("turn"), seat->player);
    record_int(record, BYTES("turnNumber"), number);
    room->state = record_item(record);
    room->due_ms = room->now_ms + match_turn_ms(room, seat);
}

/* Who has the lower seat begins the first match, the other one the next, and so on. */
static enum status start(struct room *room, struct failure *failure) {
    struct seat *first = match_next_seat(room, 0), *second = match_next_seat(room, first->number);
    struct grid grid = empty_grid();
    (void)failure;
    if (room->match % 2 == 0) {
        struct seat *swap = first;
        first = second;
        second = swap;
    }
    struct value sides = sides_value(room, first, second);
    struct record record = state_with(room, &grid, &sides);
    set_turn(room, &record, first, 1);
    return OK;
}

/* Which piece is the player's. */
static char piece_of(const struct item *state, struct bytes player) {
    const struct value *sides = item_get(state, BYTES("sides"));
    bool first = sides != NULL && sides->type == VALUE_L && sides->count != 0 &&
                 sides->elements[0].type == VALUE_S &&
                 bytes_equal(sides->elements[0].bytes, player);
    return first ? '1' : '2';
}

/* --- a move --- */

struct move {
    struct seat *seat;
    unsigned cell;
    bool by_clock;
};

static void put_move(struct room *room, const struct move *move) {
    room->round++;
    struct record record = room_round_record(room);
    record_string(&record, SEAT_PLAYER, move->seat->player);
    record_int(&record, BYTES("column"), move->cell % COLUMNS + 1);
    record_int(&record, BYTES("row"), move->cell / COLUMNS + 1);
    record_int(&record, BYTES("cell"), move->cell);
    record_put(&record, BYTES("byClock"), value_bool(move->by_clock));
    record_int(&record, BYTES("at"), room->now_ms);
    record_string(&record, ROOM_STATUS, BYTES("done"));
    room_put_round(room, &record);
}

/* The match is over. A NULL winner: it is a draw. */
static enum status end(struct room *room, struct record *record, struct seat *winner,
                       struct failure *failure) {
    if (winner != NULL) {
        winner->score = WIN_POINTS;
        record_string(record, BYTES("winner"), winner->player);
    }
    for (size_t i = 0; winner == NULL && i < room->seat_count; i++)
        if (match_plays(&room->seats[i]))
            room->seats[i].score = DRAW_POINTS;
    room->state = record_item(record);
    return match_end(room, failure);
}

static void put_line(struct room *room, struct record *record, const unsigned *line,
                     unsigned count) {
    struct value *cells = ARENA_ARRAY(room->arena, struct value, LINE_MAX);
    for (unsigned i = 0; i < count; i++)
        cells[i] = value_int(room->arena, line[i]);
    record_put(record, BYTES("line"), value_list(cells, count));
}

static enum status make_move(struct room *room, const struct move *move, struct failure *failure) {
    int64_t number = item_int(&room->state, BYTES("turnNumber"));
    unsigned line[LINE_MAX];
    struct grid grid = grid_of(&room->state);
    grid.cells[move->cell] = piece_of(&room->state, move->seat->player);
    unsigned count = winning_line(&grid, move->cell, line);
    struct record record = state_with(room, &grid, item_get(&room->state, BYTES("sides")));
    put_move(room, move);
    if (count != 0) {
        put_line(room, &record, line, count);
        return end(room, &record, move->seat, failure);
    }
    if (is_full(&grid))
        return end(room, &record, NULL, failure);
    set_turn(room, &record, match_next_seat(room, move->seat->number), number + 1);
    return OK;
}

static enum status drop(struct room *room, struct seat *seat, const struct item *given,
                        struct failure *failure) {
    int64_t column = item_int(given, BYTES("column"));
    struct grid grid = grid_of(&room->state);
    if (!bytes_equal(item_string(&room->state, BYTES("turn")), seat->player))
        return failure_set(failure, room->arena, INVALID, "It is not your turn");
    if (item_get(given, BYTES("turn")) != NULL &&
        item_int(given, BYTES("turn")) != item_int(&room->state, BYTES("turnNumber")))
        return failure_set(failure, room->arena, INVALID, "That turn has been played");
    unsigned cell = landing(&grid, (unsigned)column - 1);
    if (cell == CELLS)
        return failure_set(failure, room->arena, INVALID, "Column %lld is full", (long long)column);
    return make_move(room, &(struct move){seat, cell, false}, failure);
}

/* Where a piece can be dropped, a cell for each column that is not full. Returns how many. */
static unsigned landings(const struct grid *grid, unsigned cells[COLUMNS]) {
    unsigned count = 0;
    for (unsigned column = 0; column < COLUMNS; column++) {
        unsigned cell = landing(grid, column);
        if (cell != CELLS)
            cells[count++] = cell;
    }
    return count;
}

/* The bot's own choice, or any of them. */
static unsigned cell_of_bot(struct room *room, const struct seat *seat, const unsigned *cells,
                            unsigned count) {
    struct grid grid = grid_of(&room->state);
    struct match_reply reply;
    match_bot_reply(room, seat, &reply);
    int64_t column = item_int(&reply.message, BYTES("column"));
    unsigned cell = column >= 1 && column <= COLUMNS ? landing(&grid, (unsigned)column - 1) : CELLS;
    return cell != CELLS ? cell : cells[room_random(count)];
}

/* The turn once more, in full: nobody could play it, as no server was there. */
static enum status give_again(struct room *room, const struct seat *seat) {
    struct value truth = value_bool(true);
    room->state = item_with(room->arena, &room->state, BYTES("again"), &truth);
    room->due_ms = room->now_ms + match_turn_ms(room, seat);
    return OK;
}

static enum status step(struct room *room, struct failure *failure) {
    struct seat *seat = room_seat(room, item_string(&room->state, BYTES("turn")));
    struct grid grid = grid_of(&room->state);
    unsigned cells[COLUMNS], count = landings(&grid, cells);
    if (seat == NULL) /* cannot be, but a room must not stand still for it */
        seat = match_next_seat(room, 0);
    if (seat == NULL || count == 0) {
        room->due_ms = 0;
        return OK;
    }
    if (!seat->bot && match_was_down(room) && !item_bool(&room->state, BYTES("again")))
        return give_again(room, seat);
    unsigned cell = seat->bot ? cell_of_bot(room, seat, cells, count) : cells[room_random(count)];
    return make_move(room, &(struct move){seat, cell, !seat->bot}, failure);
}

/* Who stays has won. */
static enum status left(struct room *room, struct seat *gone, struct failure *failure) {
    struct grid grid = grid_of(&room->state);
    struct record record = state_with(room, &grid, item_get(&room->state, BYTES("sides")));
    (void)gone;
    return end(room, &record, match_next_seat(room, 0), failure);
}

/* --- bots --- */

/* What it is worth to who has just put a piece into the cell: more than 0 if it can win, less if
 * the other one can, as far as `depth` moves ahead. The sooner the more. */
static int worth(struct grid *grid, unsigned cell, int depth) {
    unsigned line[LINE_MAX], cells[COLUMNS], count = landings(grid, cells);
    int best = -2 * BOT_WIN;
    if (winning_line(grid, cell, line) != 0)
        return BOT_WIN + depth;
    if (depth == 0 || count == 0)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        grid->cells[cells[i]] = grid->cells[cell] == '1' ? '2' : '1';
        int other = worth(grid, cells[i], depth - 1);
        grid->cells[cells[i]] = EMPTY;
        if (other > best)
            best = other;
    }
    return -best;
}

/* The best of them; of equals one near the middle, by chance. */
static unsigned choose_cell(struct grid *grid, char piece, struct random *random) {
    unsigned cells[COLUMNS], count = landings(grid, cells), chosen = cells[0];
    int best = INT32_MIN;
    for (unsigned i = 0; i < count; i++) {
        int from_middle = abs((int)(cells[i] % COLUMNS) - COLUMNS / 2);
        grid->cells[cells[i]] = piece;
        int value = worth(grid, cells[i], BOT_DEPTH) * CELLS - 2 * from_middle +
                    (int)random_below(random, IN_A_ROW);
        grid->cells[cells[i]] = EMPTY;
        if (value > best) {
            best = value;
            chosen = cells[i];
        }
    }
    return chosen;
}

static void bot(const struct match_view *view, struct match_reply *out) {
    struct grid grid = grid_of(&view->state);
    unsigned cells[COLUMNS], count = landings(&grid, cells);
    if (count == 0 || !bytes_equal(item_string(&view->state, BYTES("turn")), view->player))
        return;
    bool wrong = random_below(view->random, 100) < view->error_percent;
    unsigned cell = wrong ? cells[random_below(view->random, count)]
                          : choose_cell(&grid, piece_of(&view->state, view->player), view->random);
    struct record record = record_of(view->arena);
    out->about = item_int(&view->state, BYTES("turnNumber"));
    out->repeats = true;
    out->after_ms = (unsigned)random_below(view->random, view->slow_ms + 1);
    if (out->after_ms < BOT_LEAST_MS && view->slow_ms > BOT_LEAST_MS)
        out->after_ms = BOT_LEAST_MS;
    record_string(&record, BYTES("do"), BYTES("drop"));
    record_int(&record, BYTES("column"), cell % COLUMNS + 1);
    record_int(&record, BYTES("turn"), out->about);
    out->message = record_item(&record);
}

/* --- what it is --- */

static const struct match_field drop_fields[] = {
    {"column", 1, COLUMNS, false},
    {"turn", 1, INT32_MAX, true},
    {0},
};
static const struct match_verb verbs[] = {
    {"drop", {"Drop a piece into a column", "किसी खाने में गोटी डालें"}, drop_fields, drop},
    {0},
};

static const struct match_choice languages[] = {
    {"en", {"English", "अंग्रेज़ी (English)"}},
    {"hi", {"हिन्दी (Hindi)", "हिन्दी"}},
    {0},
};
static const struct match_option options[] = {
    {"turnSeconds", {"Seconds a turn", "हर बारी के सेकंड"}, 5, 120, 20, NULL},
    {"language", {"The board speaks", "बोर्ड की भाषा"}, .choices = languages},
    {0},
};

/* Of a game with three results the best one says nothing: points add up. */
static const struct match_board boards[] = {
    {"daily", "today", FRAME_DAILY, KEEP_SUM, "global"},
    {"weekly", "this week", FRAME_WEEKLY, KEEP_SUM, "global"},
    {"all", "of all time", FRAME_ALL, KEEP_SUM, "global"},
    {"room", "in this room", FRAME_ALL, KEEP_SUM, "room"},
    {0},
};

const struct match_kind four_kind = {
    .name = "four-in-a-row",
    .page = "four",
    .emoji = "🔴",
    .title = {"Four in a row", "चार एक कतार में"},
    .about = {"Drop your pieces in turn. Four side by side, upright or slanting win.",
              "बारी-बारी से गोटी डालें। चार एक कतार में: आड़ी, खड़ी या तिरछी, तो जीत।"},
    .players_min = 2,
    .players_max = 2,
    .verbs = verbs,
    .options = options,
    .boards = boards,
    .start = start,
    .step = step,
    .left = left,
    .bot = bot,
};
