/* Kauwa Udd, "the crow flies": every three seconds the caller names a thing. Tap if it flies; do
 * not if it does not.
 *
 *   options      rounds (20), seconds of a round (3), language (en or hi)
 *   state        first (the number of the match's first round), rounds, deck (ids of things,
 * secret) round        status (open, done), object, emoji, en, hi, flies (secret while open),
 * startsAt, endsAt, results {player: {points, right, afterMs}}
 *
 * A round is judged a moment after its boundary, so that what was stamped in time is in the table.
 * Judging it, closing it and opening the next are one commit, on condition that no reaction came
 * since they were read (room_load_reactions); after it reactions are refused. So nothing that was
 * accepted is missed, and nothing is judged twice.
 */
#include "game/content.h"
#include "game/room_int.h"

enum {
    ROUNDS = 20,
    ROUNDS_MIN = 3,
    ROUNDS_MAX = 50,
    ROUND_S = 3,
    ROUND_S_MIN = 1,
    ROUND_S_MAX = 10,
    COUNTDOWN_MS = 3000,
    GRACE_MS = 80, /* for what was stamped in time to be written */
    RIGHT_TAP = 100,
    FAST_TAP = 100, /* at most, on top */
    RIGHT_REST = 50,
    WRONG_TAP = -75,
    MISSED = -50,
    STREAK = 10, /* on top for each right one before, */
    STREAK_MAX = 5,
};

#define ROUND_STATUS BYTES("status")
#define IS_OPEN      BYTES("open")
#define IS_DONE      BYTES("done")

static enum status check_number(const struct item *options, const char *name, int64_t least,
                                int64_t most, struct arena *arena, struct failure *failure) {
    int64_t number = item_int(options, bytes_str(name));
    if (item_get(options, bytes_str(name)) == NULL || (number >= least && number <= most))
        return OK;
    return failure_set(failure, arena, INVALID, "%s is %lld to %lld", name, (long long)least,
                       (long long)most);
}

static enum status check(const struct item *options, struct arena *arena, struct failure *failure) {
    struct bytes language = item_string(options, BYTES("language"));
    static const char *const names[] = {"rounds", "seconds", "language", NULL};
    enum status status = match_check_names(options, names, arena, failure);
    if (status == OK)
        status = check_number(options, "rounds", ROUNDS_MIN, ROUNDS_MAX, arena, failure);
    if (status == OK)
        status = check_number(options, "seconds", ROUND_S_MIN, ROUND_S_MAX, arena, failure);
    if (status != OK)
        return status;
    if (item_get(options, BYTES("language")) != NULL && !bytes_equal(language, BYTES("en")) &&
        !bytes_equal(language, BYTES("hi")))
        return failure_set(failure, arena, INVALID, "language is en or hi");
    return OK;
}

static int64_t option(const struct room *room, struct bytes name, int64_t otherwise) {
    int64_t number = item_int(&room->options, name);
    return number != 0 ? number : otherwise;
}

/* --- the deck --- */

static void shuffle(struct content *objects, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t j = room_random((uint32_t)i);
        struct content swap = objects[i - 1];
        objects[i - 1] = objects[j];
        objects[j] = swap;
    }
}

/* Enough things for the match, none twice before all were named. */
static enum status make_deck(struct room *room, int64_t rounds, struct failure *failure,
                             struct value *out) {
    struct content_list list;
    enum status status = content_load(room->game, room->arena, failure, &list);
    if (status != OK)
        return status;
    if (list.count == 0)
        return failure_set(failure, room->arena, INVALID, "There is nothing to call out");
    struct value *deck = ARENA_ARRAY(room->arena, struct value, (size_t)rounds);
    for (size_t i = 0; i < (size_t)rounds; i++) {
        if (i % list.count == 0)
            shuffle(list.objects, list.count);
        deck[i] = value_string(list.objects[i % list.count].id);
    }
    *out = value_list(deck, (uint32_t)rounds);
    return OK;
}

static enum status start(struct room *room, struct failure *failure) {
    struct record record = record_of(room->arena);
    struct value deck;
    int64_t rounds = option(room, BYTES("rounds"), ROUNDS);
    enum status status = make_deck(room, rounds, failure, &deck);
    if (status != OK)
        return status;
    record_int(&record, BYTES("first"), room->round + 1);
    record_int(&record, BYTES("rounds"), rounds);
    record_int(&record, BYTES("startsAt"), room->now_ms + COUNTDOWN_MS);
    record_put(&record, BYTES("deck"), deck);
    room->state = record_item(&record);
    room->due_ms = room->now_ms + COUNTDOWN_MS;
    return OK;
}

/* --- rounds --- */

static int64_t rounds_done(const struct room *room) {
    return (int64_t)room->round - item_int(&room->state, BYTES("first")) + 1;
}

static struct bytes deck_at(const struct room *room, int64_t index) {
    const struct value *deck = item_get(&room->state, BYTES("deck"));
    if (deck == NULL || deck->type != VALUE_L || index < 0 || index >= deck->count)
        return (struct bytes){0};
    return deck->elements[index].bytes;
}

static enum status open_round(struct room *room, struct failure *failure) {
    struct content object;
    struct bytes id = deck_at(room, rounds_done(room));
    enum status status = content_get(room->game, id, room->arena, failure, &object);
    if (status == NOT_FOUND) /* it was taken out of the table since: anything will do */
        object = (struct content){id, BYTES("❓"), id, id, false};
    else if (status != OK)
        return status;
    int64_t ends_ms = room->now_ms + option(room, BYTES("seconds"), ROUND_S) * 1000;
    room->round++;
    struct record record = room_round_record(room);
    record_string(&record, ROUND_STATUS, IS_OPEN);
    record_string(&record, BYTES("object"), object.id);
    record_string(&record, BYTES("emoji"), object.emoji);
    record_string(&record, BYTES("en"), object.en);
    record_string(&record, BYTES("hi"), object.hi);
    record_put(&record, BYTES("flies"), value_bool(object.flies));
    record_int(&record, BYTES("startsAt"), room->now_ms);
    record_int(&record, BYTES("endsAt"), ends_ms);
    room_put_round(room, &record);
    room->due_ms = ends_ms + GRACE_MS;
    return OK;
}

/* The round is over, and this came of it. */
static void end_round(struct room *room, const struct value *results) {
    struct value text = value_string(IS_DONE);
    struct item item = item_with(room->arena, &room->round_item, ROUND_STATUS, &text);
    room->round_item = item_with(room->arena, &item, BYTES("results"), results);
    room_also(room, &(struct action){.kind = ACTION_PUT, .item = room->round_item});
}

/* --- judging --- */

struct verdict {
    int64_t points, after_ms; /* after_ms -1: no tap */
    bool right;
};

static struct verdict judge(const struct room *room, const struct seat *seat) {
    bool tapped = seat->reacted_ms != 0;
    int64_t starts_ms = item_int(&room->round_item, BYTES("startsAt"));
    int64_t length_ms = item_int(&room->round_item, BYTES("endsAt")) - starts_ms;
    bool flies = item_bool(&room->round_item, BYTES("flies"));
    struct verdict verdict = {.after_ms = -1, .right = flies == tapped};
    if (tapped)
        verdict.after_ms = seat->reacted_ms - starts_ms;
    if (!verdict.right)
        verdict.points = flies ? MISSED : WRONG_TAP;
    else if (flies && length_ms > 0)
        verdict.points = RIGHT_TAP + FAST_TAP * (length_ms - verdict.after_ms) / length_ms;
    else
        verdict.points = RIGHT_REST;
    if (verdict.right)
        verdict.points += STREAK * (seat->streak < STREAK_MAX ? seat->streak : STREAK_MAX);
    return verdict;
}

static struct value verdict_value(struct arena *arena, const struct verdict *verdict) {
    struct record record = record_of(arena);
    record_int(&record, SEAT_SCORE, verdict->points);
    record_put(&record, BYTES("right"), value_bool(verdict->right));
    if (verdict->after_ms >= 0)
        record_int(&record, BYTES("afterMs"), verdict->after_ms);
    struct item item = record_item(&record);
    return (struct value){.type = VALUE_M, .count = item.count, .pairs = item.pairs};
}

static void judge_all(struct room *room) {
    struct pair *pairs = ARENA_ARRAY(room->arena, struct pair, room->seat_count + 1);
    uint32_t count = 0;
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *seat = &room->seats[i];
        if (seat->spectator || seat->mark == MARK_REMOVED)
            continue;
        struct verdict verdict = judge(room, seat);
        seat->score += verdict.points;
        seat->streak = verdict.right ? seat->streak + 1 : 0;
        pairs[count++] = (struct pair){seat->player, verdict_value(room->arena, &verdict)};
    }
    count = value_sort_pairs(pairs, count);
    end_round(room, &(struct value){.type = VALUE_M, .count = count, .pairs = pairs});
}

/* Everybody sees how the round before went while the next one is under way. */
static void keep_last(struct room *room) {
    static const char *const names[] = {"n", "object", "emoji", "en", "hi", "flies", "results"};
    struct record record = record_of(room->arena);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        record_value(&record, bytes_str(names[i]),
                     item_get(&room->round_item, bytes_str(names[i])));
    struct item last = record_item(&record);
    struct value map = {.type = VALUE_M, .count = last.count, .pairs = last.pairs};
    room->state = item_with(room->arena, &room->state, BYTES("last"), &map);
}

static enum status judge_round(struct room *room, struct failure *failure) {
    enum status status = room_load_reactions(room, failure);
    if (status != OK)
        return status;
    judge_all(room);
    keep_last(room);
    if (rounds_done(room) >= item_int(&room->state, BYTES("rounds")))
        return match_end(room, failure);
    return open_round(room, failure);
}

static enum status step(struct room *room, struct failure *failure) {
    bool over = bytes_equal(item_string(&room->round_item, ROUND_STATUS), IS_DONE);
    if (rounds_done(room) <= 0 || room->round_item.count == 0 || over)
        return open_round(room, failure);
    return judge_round(room, failure);
}

/* --- people --- */

static enum status input(struct room *room, struct seat *seat, const struct item *given,
                         struct failure *failure) {
    (void)seat, (void)given;
    return failure_set(failure, room->arena, INVALID, "The one thing to do here is to tap");
}

/* The caller goes on for whoever stays; a match without anybody closes with its room. */
static enum status left(struct room *room, struct seat *gone, struct failure *failure) {
    (void)room, (void)gone, (void)failure;
    return OK;
}

/* --- what may be seen --- */

static bool is_round(const struct item *item) {
    struct bytes sk = item_string(item, GAME_SK);
    return sk.size > 6 && memcmp(sk.data, "ROUND#", 6) == 0;
}

static struct item show(const struct item *item, struct arena *arena) {
    const struct value *state = item_map(item, ROOM_STATE);
    if (is_round(item) && !bytes_equal(item_string(item, ROUND_STATUS), IS_DONE))
        return item_with(arena, item, BYTES("flies"), NULL);
    if (state == NULL || value_get(state, BYTES("deck")) == NULL)
        return *item;
    struct item inner = {state->pairs, state->count};
    inner = item_with(arena, &inner, BYTES("deck"), NULL);
    struct value map = {.type = VALUE_M, .count = inner.count, .pairs = inner.pairs};
    return item_with(arena, item, ROOM_STATE, &map);
}

const struct match_kind kauwa_udd_kind = {
    .name = "kauwa-udd",
    .title = "Kauwa Udd",
    .players_min = 1,
    .players_max = 16,
    .check = check,
    .start = start,
    .input = input,
    .step = step,
    .left = left,
    .show = show,
};
