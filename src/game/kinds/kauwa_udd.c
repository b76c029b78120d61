/* Kauwa Udd, "the crow flies": every three seconds the caller names a thing. Tap if it flies; do
 * not if it does not.
 *
 *   options      rounds, seconds of a round, language of the caller
 *   state        first (the number of the match's first round), rounds, deck (ids of things: a
 *                secret), last (how the round before went)
 *   seat state   missed [{at, points}]: what was lately taken for not tapping, given back if it
 * turns out that the player's network had gone round        status (open, done), object, emoji, en,
 * hi, flies (a secret while open), startsAt, endsAt, results {player: {points, right, afterMs,
 * away}}, void (an outage: no points)
 *
 * A round is judged GRACE_MS after its end, and when all that came by its end has been submitted
 * (counts_until), so that what was stamped in time is in the table, or before the judging in the
 * writer's queue.
 * Judging and closing it are one commit, on condition that no reaction came since they were read
 * (room_load_reactions); after it reactions are refused. So nothing that was accepted is missed,
 * and nothing is judged twice. Then there is a beat, in which everybody sees who was right, before
 * the next round.
 *
 * Who is away neither wins nor loses points, and if the server itself was away when a round should
 * have been judged nobody does.
 */
#include "base/limits.h"
#include "base/random.h"
#include "game/kinds/kauwa_udd_objects.h"
#include "game/room/room_int.h"

enum {
    COUNTDOWN_MS = 3000,
    GRACE_MS = 80,  /* for reactions that came in time to be written */
    BEAT_MS = 2400, /* between rounds, but no longer than a round */
    MISSED_KEPT_MS = 30 * 1000,
    RIGHT_TAP = 100,
    FAST_TAP = 100, /* at most, on top */
    RIGHT_REST = 50,
    WRONG_TAP = -75,
    MISSED = -50,
    STREAK = 10, /* on top for each right one before, */
    STREAK_MAX = 5,
    BOT_SPARE_MS = 200, /* before a round's end a bot does not tap any more */
};

#define ROUND_STATUS BYTES("status")
#define IS_OPEN      BYTES("open")
#define IS_DONE      BYTES("done")

/* --- the deck --- */

static void shuffle(struct kauwa_object *objects, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t j = room_random((uint32_t)i);
        struct kauwa_object swap = objects[i - 1];
        objects[i - 1] = objects[j];
        objects[j] = swap;
    }
}

/* Enough things for the match, none twice before all were named. */
static enum status make_deck(struct room *room, int64_t rounds, struct failure *failure,
                             struct value *out) {
    struct kauwa_object_list list;
    enum status status =
        kauwa_objects_load(room->game, (struct scope){room->arena, failure}, &list);
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
    struct value deck = {0};
    int64_t rounds = match_option_number(room, "rounds");
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
    struct kauwa_object object;
    struct bytes id = deck_at(room, rounds_done(room));
    enum status status =
        kauwa_object_get(room->game, id, (struct scope){room->arena, failure}, &object);
    if (status == NOT_FOUND) /* it was taken out of the table since: anything will do */
        object = (struct kauwa_object){id, BYTES("❓"), id, id, false};
    else if (status != OK)
        return status;
    int64_t ends_ms = room->now_ms + match_option_number(room, "seconds") * 1000;
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

/* Closes the round with its results. */
static void end_round(struct room *room, const struct value *results) {
    struct value text = value_string(IS_DONE);
    struct value truth = value_bool(true);
    struct item item = item_with(room->arena, &room->round_item, ROUND_STATUS, &text);
    room->round_item = item_with(room->arena, &item, BYTES("results"), results);
    if (match_was_down(room))
        room->round_item = item_with(room->arena, &room->round_item, BYTES("void"), &truth);
    room_add_action(room, &(struct action){.kind = ACTION_PUT, .item = room->round_item});
}

/* --- judging --- */

struct verdict {
    int64_t points, after_ms; /* after_ms -1: no tap */
    bool right, away;
};

/* Whether the player could not see all of the round. */
static bool was_away(const struct seat *seat, int64_t starts_ms) {
    return !seat->bot && seat->reacted_ms == 0 &&
           (seat_is_away(seat) || seat->since_ms > starts_ms);
}

static struct verdict judge(const struct room *room, const struct seat *seat) {
    bool tapped = seat->reacted_ms != 0;
    int64_t starts_ms = item_int(&room->round_item, BYTES("startsAt"));
    int64_t length_ms = item_int(&room->round_item, BYTES("endsAt")) - starts_ms;
    bool flies = item_bool(&room->round_item, BYTES("flies"));
    struct verdict verdict = {.after_ms = -1, .right = flies == tapped};
    if (was_away(seat, starts_ms) || match_was_down(room))
        return (struct verdict){.after_ms = -1, .away = true};
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
    if (verdict->away)
        record_put(&record, BYTES("away"), value_bool(true));
    struct item item = record_item(&record);
    return (struct value){.type = VALUE_M, .count = item.count, .pairs = item.pairs};
}

/* --- misses that turn out to be none --- */

/* What was lately taken for not tapping, of all players: the old list is read, a new one made. */
struct misses {
    struct value *list;
    uint32_t count;
};

/* Whether the player's network had gone by then, as one knows now. */
static bool had_gone(const struct seat *seat, int64_t at_ms) {
    return seat->heard_ms != 0 && at_ms > seat->heard_ms &&
           (!seat->connected || at_ms < seat->since_ms);
}

/* Gives back what was taken while a player's network had gone, which is found out only seconds
 * later; the rest of the last seconds goes on. */
static struct misses settle_misses(struct room *room) {
    const struct value *old = item_get(&room->state, BYTES("missed"));
    uint32_t count = old != NULL && old->type == VALUE_L ? old->count : 0;
    struct misses misses = {.list = ARENA_ARRAY(room->arena, struct value, count + ROOM_SEATS_MAX)};
    for (uint32_t i = 0; i < count; i++) {
        struct item miss = {old->elements[i].pairs, old->elements[i].count};
        struct seat *seat = room_seat(room, item_string(&miss, SEAT_PLAYER));
        int64_t at_ms = item_int(&miss, BYTES("at"));
        if (seat != NULL && had_gone(seat, at_ms))
            seat->score -= item_int(&miss, SEAT_SCORE);
        else if (seat != NULL && at_ms > room->now_ms - MISSED_KEPT_MS)
            misses.list[misses.count++] = old->elements[i];
    }
    return misses;
}

static void add_miss(struct room *room, const struct seat *seat, const struct verdict *verdict,
                     struct misses *misses) {
    if (verdict->points != MISSED || seat->bot)
        return;
    struct record record = record_of(room->arena);
    record_string(&record, SEAT_PLAYER, seat->player);
    record_int(&record, BYTES("at"), item_int(&room->round_item, BYTES("endsAt")));
    record_int(&record, SEAT_SCORE, verdict->points);
    struct item item = record_item(&record);
    misses->list[misses->count++] =
        (struct value){.type = VALUE_M, .count = item.count, .pairs = item.pairs};
}

static void keep_misses(struct room *room, const struct misses *misses) {
    struct value list = value_list(misses->list, misses->count);
    room->state =
        item_with(room->arena, &room->state, BYTES("missed"), misses->count != 0 ? &list : NULL);
}

/* A bot has tapped when it would have. */
static void react_for_bot(struct room *room, struct seat *seat) {
    struct match_reply reply;
    match_bot_reply(room, seat, &reply);
    if (reply.message.count != 0)
        seat->reacted_ms = item_int(&room->round_item, BYTES("startsAt")) + reply.after_ms;
}

static void judge_all(struct room *room) {
    struct pair *pairs = ARENA_ARRAY(room->arena, struct pair, room->seat_count + 1);
    struct misses misses = settle_misses(room);
    uint32_t count = 0;
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *seat = &room->seats[i];
        if (!match_plays(seat))
            continue;
        if (seat->bot)
            react_for_bot(room, seat);
        struct verdict verdict = judge(room, seat);
        add_miss(room, seat, &verdict, &misses);
        seat->score += verdict.points;
        if (!verdict.away)
            seat->streak = verdict.right ? seat->streak + 1 : 0;
        pairs[count++] = (struct pair){seat->player, verdict_value(room->arena, &verdict)};
    }
    keep_misses(room, &misses);
    count = value_sort_pairs(pairs, count);
    end_round(room, &(struct value){.type = VALUE_M, .count = count, .pairs = pairs});
}

/* Everybody sees how the round before went, in the beat and while the next one is under way. */
static void keep_last(struct room *room) {
    static const char *const names[] = {"n",  "object", "emoji",   "en",
                                        "hi", "flies",  "results", "void"};
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
    int64_t length_ms = 1000 * match_option_number(room, "seconds");
    room->due_ms = room->now_ms + (length_ms < BEAT_MS ? length_ms : BEAT_MS);
    return OK;
}

/* Whether the step that is due judges a round; else it opens one. */
static bool judges(const struct room *room) {
    return rounds_done(room) > 0 && room->round_item.count != 0 &&
           !bytes_equal(item_string(&room->round_item, ROUND_STATUS), IS_DONE);
}

static int64_t counts_until(const struct room *room) {
    return judges(room) ? item_int(&room->round_item, BYTES("endsAt")) : 0;
}

static enum status step(struct room *room, struct failure *failure) {
    return judges(room) ? judge_round(room, failure) : open_round(room, failure);
}

/* --- people --- */

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
    inner = item_with(arena, &inner, BYTES("missed"), NULL);
    struct value map = {.type = VALUE_M, .count = inner.count, .pairs = inner.pairs};
    return item_with(arena, item, ROOM_STATE, &map);
}

/* --- bots --- */

/* It knows the things that come with the program; others do not fly for it. */
static void bot(const struct match_view *view, struct match_reply *out) {
    int64_t length_ms =
        item_int(&view->round, BYTES("endsAt")) - item_int(&view->round, BYTES("startsAt"));
    int64_t slowest_ms = length_ms - BOT_SPARE_MS;
    bool flies = kauwa_object_flies(item_string(&view->round, BYTES("object"))) == 1;
    bool wrong = random_below(view->random, 100) < view->error_percent;
    if (!bytes_equal(item_string(&view->round, ROUND_STATUS), IS_OPEN))
        return;
    if (slowest_ms > view->slow_ms)
        slowest_ms = view->slow_ms;
    out->about = item_int(&view->round, BYTES("n"));
    if ((flies == wrong && !view->eager) || slowest_ms <= 0)
        return;
    struct record record = record_of(view->arena);
    record_string(&record, BYTES("do"), BYTES("react"));
    record_int(&record, BYTES("round"), out->about);
    out->message = record_item(&record);
    out->after_ms = (unsigned)random_below(view->random, (uint64_t)slowest_ms);
}

/* --- what it is --- */

static const struct match_field react_fields[] = {{"round", 1, LIMIT_ROOM_ROUNDS, false}, {0}};
static const struct match_verb verbs[] = {
    {"react", {"Tap: it flies", "टैप: यह उड़ता है"}, react_fields, NULL},
    {0},
};

static const struct match_choice languages[] = {
    {"en", {"English", "अंग्रेज़ी (English)"}},
    {"hi", {"हिन्दी (Hindi)", "हिन्दी"}},
    {0},
};
static const struct match_option options[] = {
    {"rounds", {"Rounds", "दौर"}, 3, 50, 20, NULL},
    {"seconds", {"Seconds a round", "हर दौर के सेकंड"}, 1, 10, 3, NULL},
    {"language", {"The caller speaks", "पुकारने की भाषा"}, .choices = languages},
    {0},
};

const struct match_kind kauwa_udd_kind = {
    .name = "kauwa-udd",
    .page = "kauwa",
    .emoji = "🐦‍⬛",
    .title = {"Kauwa Udd", "कौआ उड़"},
    .about = {"Somebody calls a thing. Tap if it flies. Keep still if it does not. The faster the "
              "better.",
              "कोई एक नाम पुकारता है। उड़ता हो तो टैप करें, नहीं तो रुके रहें। जितना तेज़, उतना अच्छा।"},
    .players_min = 1,
    .players_max = 16,
    .verbs = verbs,
    .options = options,
    .boards = match_boards_usual,
    .seed = kauwa_objects_seed,
    .start = start,
    .counts_until = counts_until,
    .step = step,
    .left = left,
    .show = show,
    .bot = bot,
};
