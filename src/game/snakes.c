/* Snakes and ladders: two to six players, a die that the server rolls, a board of a hundred
 * squares, and who stands on the last one exactly has won.
 *
 *   state        turn (whose), turnNumber, last move
 *   seat state   position
 *   round        one move: player, roll, from, to, landed (before a snake or ladder took it on)
 *
 * A move names the turn it is for, so that of two moves at once one is told that it came too late.
 * Whoever lets the turn clock run out is rolled for: every match ends.
 */
#include "game/room_int.h"

enum { SQUARES = 100, TURN_MS = 15000, TURN_S_MIN = 3, TURN_S_MAX = 60, WINNER_POINTS = 100 };

static const struct {
    uint8_t from, to;
} jumps[] = {
    {4, 14}, {9, 31},  {20, 38}, {28, 84}, {40, 59}, {51, 67}, {63, 81}, {71, 91},
    {17, 7}, {54, 34}, {62, 19}, {64, 60}, {87, 24}, {93, 73}, {95, 75}, {99, 78},
};
enum { JUMPS = sizeof(jumps) / sizeof(*jumps) };

static unsigned jump_from(unsigned square) {
    for (unsigned i = 0; i < JUMPS; i++)
        if (jumps[i].from == square)
            return jumps[i].to;
    return square;
}

static enum status check(const struct item *options, struct arena *arena, struct failure *failure) {
    int64_t seconds = item_int(options, BYTES("turnSeconds"));
    bool given = item_get(options, BYTES("turnSeconds")) != NULL;
    static const char *const names[] = {"turnSeconds", NULL};
    enum status status = match_check_names(options, names, arena, failure);
    if (status != OK)
        return status;
    if (given && (seconds < TURN_S_MIN || seconds > TURN_S_MAX))
        return failure_set(failure, arena, INVALID, "turnSeconds is %d to %d", TURN_S_MIN,
                           TURN_S_MAX);
    return status;
}

static int64_t turn_ms(const struct room *room) {
    int64_t seconds = item_int(&room->options, BYTES("turnSeconds"));
    return seconds != 0 ? seconds * 1000 : TURN_MS;
}

/* --- the board, for those who draw it --- */

static struct value board_value(struct arena *arena) {
    struct value *list = ARENA_ARRAY(arena, struct value, JUMPS);
    for (unsigned i = 0; i < JUMPS; i++) {
        struct record record = record_of(arena);
        record_int(&record, BYTES("from"), jumps[i].from);
        record_int(&record, BYTES("to"), jumps[i].to);
        struct item item = record_item(&record);
        list[i] = (struct value){.type = VALUE_M, .count = item.count, .pairs = item.pairs};
    }
    return (struct value){.type = VALUE_L, .count = JUMPS, .elements = list};
}

/* --- turns --- */

static bool plays(const struct seat *seat) {
    return !seat->spectator && seat->mark != MARK_REMOVED;
}

/* The player after seat number `number`, round the table. NULL: nobody is left. */
static struct seat *next_seat(struct room *room, unsigned number) {
    struct seat *next = NULL, *first = NULL;
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *seat = &room->seats[i];
        if (!plays(seat))
            continue;
        if (first == NULL || seat->number < first->number)
            first = seat;
        if (seat->number > number && (next == NULL || seat->number < next->number))
            next = seat;
    }
    return next != NULL ? next : first;
}

static void set_turn(struct room *room, const struct seat *seat, int64_t number) {
    struct record record = record_of(room->arena);
    record_string(&record, BYTES("turn"), seat->player);
    record_int(&record, BYTES("turnNumber"), number);
    record_int(&record, BYTES("squares"), SQUARES);
    record_put(&record, BYTES("board"), board_value(room->arena));
    room->state = record_item(&record);
    room->due_ms = room->now_ms + turn_ms(room);
}

static void set_position(struct room *room, struct seat *seat, unsigned position) {
    struct record record = record_of(room->arena);
    record_int(&record, BYTES("position"), position);
    seat->state = record_item(&record);
    seat->score = position == SQUARES ? SQUARES + WINNER_POINTS : position;
    seat_touch(seat);
}

static enum status start(struct room *room, struct failure *failure) {
    (void)failure;
    unsigned first = room_random(room->capacity); /* who begins is chance, too */
    for (size_t i = 0; i < room->seat_count; i++)
        if (plays(&room->seats[i]))
            set_position(room, &room->seats[i], 0);
    set_turn(room, next_seat(room, first), 1);
    return OK;
}

/* --- a move --- */

struct move {
    unsigned roll, from, landed, to;
    bool by_clock;
};

static struct move roll_for(const struct seat *seat, bool by_clock) {
    struct move move = {.roll = 1 + room_random(6),
                        .from = (unsigned)item_int(&seat->state, BYTES("position")),
                        .by_clock = by_clock};
    move.landed = move.from + move.roll <= SQUARES ? move.from + move.roll : move.from;
    move.to = jump_from(move.landed);
    return move;
}

static void put_move(struct room *room, const struct seat *seat, const struct move *move) {
    room->round++;
    struct record record = room_round_record(room);
    record_string(&record, SEAT_PLAYER, seat->player);
    record_int(&record, BYTES("roll"), move->roll);
    record_int(&record, BYTES("from"), move->from);
    record_int(&record, BYTES("landed"), move->landed);
    record_int(&record, BYTES("to"), move->to);
    record_put(&record, BYTES("byClock"), value_bool(move->by_clock));
    record_int(&record, BYTES("at"), room->now_ms);
    record_string(&record, ROOM_STATUS, BYTES("done"));
    room_put_round(room, &record);
}

static enum status make_move(struct room *room, struct seat *seat, bool by_clock,
                             struct failure *failure) {
    int64_t number = item_int(&room->state, BYTES("turnNumber"));
    struct move move = roll_for(seat, by_clock);
    put_move(room, seat, &move);
    set_position(room, seat, move.to);
    if (move.to == SQUARES)
        return match_end(room, failure);
    set_turn(room, next_seat(room, seat->number), number + 1);
    return OK;
}

static enum status input(struct room *room, struct seat *seat, const struct item *given,
                         struct failure *failure) {
    int64_t number = item_int(&room->state, BYTES("turnNumber"));
    if (!bytes_equal(item_string(given, BYTES("do")), BYTES("roll")))
        return failure_set(failure, room->arena, INVALID, "The one move there is is \"roll\"");
    if (!bytes_equal(item_string(&room->state, BYTES("turn")), seat->player))
        return failure_set(failure, room->arena, INVALID, "It is not your turn");
    if (item_get(given, BYTES("turn")) != NULL && item_int(given, BYTES("turn")) != number)
        return failure_set(failure, room->arena, INVALID, "That turn has been played");
    return make_move(room, seat, false, failure);
}

static enum status step(struct room *room, struct failure *failure) {
    struct seat *seat = room_seat(room, item_string(&room->state, BYTES("turn")));
    if (seat == NULL) /* cannot be, but a room must not stand still for it */
        seat = next_seat(room, 0);
    if (seat == NULL) {
        room->due_ms = 0;
        return OK;
    }
    return make_move(room, seat, true, failure);
}

/* The last one who stays has won. */
static enum status left(struct room *room, struct seat *gone, struct failure *failure) {
    if (room_players(room) >= room->kind->players_min) {
        if (bytes_equal(item_string(&room->state, BYTES("turn")), gone->player))
            set_turn(room, next_seat(room, gone->number),
                     item_int(&room->state, BYTES("turnNumber")) + 1);
        return OK;
    }
    struct seat *last = next_seat(room, 0);
    if (last != NULL)
        last->score += WINNER_POINTS;
    return match_end(room, failure);
}

static struct item show(const struct item *item, struct arena *arena) {
    (void)arena;
    return *item; /* nothing is hidden */
}

const struct match_kind snakes_kind = {
    .name = "snakes-and-ladders",
    .title = "Snakes and ladders",
    .players_min = 2,
    .players_max = 6,
    .check = check,
    .start = start,
    .input = input,
    .step = step,
    .left = left,
    .show = show,
};
