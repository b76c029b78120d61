/* Snakes and ladders: two to six players, a die that the server rolls, a board of a hundred
 * squares, and who stands on the last one exactly has won.
 *
 *   state        turn (whose), turnNumber, turnAt (when its clock begins to run: after the move
 * before has been seen), again (it was given anew, after an outage) seat state   position round one
 * move: player, roll, from, to, landed (before a snake or ladder took it on)
 *
 * A move names the turn it is for, so that of two moves at once one is told that it came too late.
 * Whoever lets the turn clock run out is rolled for: every match ends.
 */
#include "base/random.h"
#include "game/room/room_int.h"

enum {
    SQUARES = 100,
    WINNER_POINTS = 100,
    BOT_LEAST_MS = 20,
    /* How long a move is to be seen, as web/src/play/snakes shows it: the die, the piece step by
     * step, a snake or ladder. */
    SHOW_DIE_MS = 850,
    SHOW_STEP_MS = 170,
    SHOW_JUMP_MS = 700,
};

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

/* The turn of a seat; the move before it is seen for so long. */
struct turn {
    const struct seat *seat;
    int64_t number, shown_ms;
    bool again;
};

static void set_turn(struct room *room, const struct turn *turn) {
    struct record record = record_of(room->arena);
    int64_t starts_ms = room->now_ms + turn->shown_ms;
    record_string(&record, BYTES("turn"), turn->seat->player);
    record_int(&record, BYTES("turnNumber"), turn->number);
    record_int(&record, BYTES("turnAt"), starts_ms);
    if (turn->again)
        record_put(&record, BYTES("again"), value_bool(true));
    record_int(&record, BYTES("squares"), SQUARES);
    record_put(&record, BYTES("board"), board_value(room->arena));
    room->state = record_item(&record);
    room->due_ms = starts_ms + match_turn_ms(room, turn->seat);
}

static void set_position(struct room *room, struct seat *seat, unsigned position) {
    struct record record = record_of(room->arena);
    record_int(&record, BYTES("position"), position);
    seat->state = record_item(&record);
    seat->score = position == SQUARES ? SQUARES + WINNER_POINTS : position;
    seat_mark_changed(seat);
}

static enum status start(struct room *room, struct failure *failure) {
    (void)failure;
    unsigned first = room_random(room->capacity); /* who begins is chance, too */
    for (size_t i = 0; i < room->seat_count; i++)
        if (match_plays(&room->seats[i]))
            set_position(room, &room->seats[i], 0);
    set_turn(room, &(struct turn){match_next_seat(room, first), 1, 0, false});
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

static int64_t shown_ms(const struct move *move) {
    return SHOW_DIE_MS + SHOW_STEP_MS * (int64_t)(move->landed - move->from) +
           (move->to != move->landed ? SHOW_JUMP_MS : 0);
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
    set_turn(room, &(struct turn){match_next_seat(room, seat->number), number + 1, shown_ms(&move),
                                  false});
    return OK;
}

static enum status roll(struct room *room, struct seat *seat, const struct item *given,
                        struct failure *failure) {
    int64_t number = item_int(&room->state, BYTES("turnNumber"));
    if (!bytes_equal(item_string(&room->state, BYTES("turn")), seat->player))
        return failure_set(failure, room->arena, INVALID, "It is not your turn");
    if (item_get(given, BYTES("turn")) != NULL && item_int(given, BYTES("turn")) != number)
        return failure_set(failure, room->arena, INVALID, "That turn has been played");
    return make_move(room, seat, false, failure);
}

static enum status step(struct room *room, struct failure *failure) {
    struct seat *seat = room_seat(room, item_string(&room->state, BYTES("turn")));
    if (seat == NULL) /* cannot be, but a room must not stand still for it */
        seat = match_next_seat(room, 0);
    if (seat == NULL) {
        room->due_ms = 0;
        return OK;
    }
    if (!seat->bot && match_was_down(room) && !item_bool(&room->state, BYTES("again"))) {
        set_turn(room, &(struct turn){seat, item_int(&room->state, BYTES("turnNumber")), 0, true});
        return OK;
    }
    return make_move(room, seat, !seat->bot, failure);
}

/* The last one who stays has won. */
static enum status left(struct room *room, struct seat *gone, struct failure *failure) {
    if (room_players(room) >= room->kind->players_min) {
        if (bytes_equal(item_string(&room->state, BYTES("turn")), gone->player))
            set_turn(room,
                     &(struct turn){match_next_seat(room, gone->number),
                                    item_int(&room->state, BYTES("turnNumber")) + 1, 0, false});
        return OK;
    }
    struct seat *last = match_next_seat(room, 0);
    if (last != NULL)
        last->score += WINNER_POINTS;
    return match_end(room, failure);
}

/* --- bots --- */

static void bot(const struct match_view *view, struct match_reply *out) {
    if (!bytes_equal(item_string(&view->state, BYTES("turn")), view->player))
        return;
    out->about = item_int(&view->state, BYTES("turnNumber"));
    out->repeats = true;
    out->after_ms = BOT_LEAST_MS + (unsigned)random_below(view->random, view->slow_ms + 1);
    struct record record = record_of(view->arena);
    record_string(&record, BYTES("do"), BYTES("roll"));
    record_int(&record, BYTES("turn"), out->about);
    out->message = record_item(&record);
}

/* --- what it is --- */

static const struct match_field roll_fields[] = {{"turn", 1, INT32_MAX, true}, {0}};
static const struct match_verb verbs[] = {
    {"roll", {"Roll the die", "पासा फेंकें"}, roll_fields, roll},
    {0},
};
static const struct match_option options[] = {
    {"turnSeconds", {"Seconds a turn", "हर बारी के सेकंड"}, 3, 60, 15, NULL},
    {0},
};

const struct match_kind snakes_kind = {
    .name = "snakes-and-ladders",
    .page = "snakes",
    .emoji = "🎲",
    .title = {"Snakes and ladders", "साँप-सीढ़ी"},
    .about = {"Roll the die in turn. Up the ladders, down the snakes. 100 exactly wins.",
              "बारी-बारी से पासा फेंकें। सीढ़ी से ऊपर, साँप से नीचे। ठीक 100 पर पहुँचने वाला जीतता है।"},
    .players_min = 2,
    .players_max = 6,
    .verbs = verbs,
    .options = options,
    .boards = match_boards_usual,
    .start = start,
    .step = step,
    .left = left,
    .bot = bot,
};
