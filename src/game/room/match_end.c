/* The end of a match: its record, scores on boards, and the players' records by kind of game. All
 * of it is written in one commit with the room. */
#include "base/mem.h"
#include "base/ulid.h"
#include "game/board/submit.h"
#include "game/room/room_int.h"

#include <assert.h>

/* --- the match's record, which has no ttl --- */

static struct value result_of(const struct room *room, const struct seat *seat, unsigned place) {
    struct record record = record_of(room->arena);
    record_string(&record, SEAT_PLAYER, seat->player);
    record_string(&record, SEAT_NAME, seat->name);
    record_int(&record, SEAT_SCORE, seat->score);
    record_int(&record, BYTES("place"), place);
    struct item item = record_item(&record);
    return (struct value){.type = VALUE_M, .count = item.count, .pairs = item.pairs};
}

/* The players, the best first; equals share a place. Returns how many. */
static unsigned rank_seats(struct room *room, struct seat **order, unsigned *places) {
    unsigned count = 0;
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *seat = &room->seats[i];
        if (seat->spectator || seat->mark == MARK_REMOVED)
            continue;
        unsigned at = count++;
        for (; at > 0 && order[at - 1]->score < seat->score; at--)
            order[at] = order[at - 1];
        order[at] = seat;
    }
    for (unsigned i = 0; i < count; i++)
        places[i] = i > 0 && order[i]->score == order[i - 1]->score ? places[i - 1] : i + 1;
    return count;
}

static void put_match(struct room *room, struct seat **order, const unsigned *places,
                      unsigned count) {
    struct arena *arena = room->arena;
    char *id = arena_alloc(arena, ULID_SIZE);
    ulid_make(room->now_ms, id);
    struct bytes ulid = bytes_of(id, ULID_SIZE);
    struct value *results = ARENA_ARRAY(arena, struct value, count + 1);
    for (unsigned i = 0; i < count; i++)
        results[i] = result_of(room, order[i], places[i]);
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, record_join(arena, "MATCH#", ulid));
    record_string(&record, GAME_SK, ROOM_META);
    record_string(&record, BYTES("GSI1PK"), record_join(arena, "MATCHES#", room->code));
    record_string(&record, BYTES("GSI1SK"), ulid);
    record_string(&record, BYTES("id"), ulid);
    record_string(&record, ROOM_CODE, room->code);
    record_string(&record, ROOM_KIND, bytes_str(room->kind->name));
    record_int(&record, ROOM_MATCH, room->match);
    record_int(&record, BYTES("endedAt"), room->now_ms);
    record_put(&record, BYTES("results"),
               (struct value){.type = VALUE_L, .count = count, .elements = results});
    room_add_action(room, &(struct action){.kind = ACTION_PUT, .item = record_item(&record)});
}

/* --- the players' own records: matches, wins and points by kind --- */

struct tally {
    int64_t points;
    bool won;
    struct bytes kind;
};

static enum status add_tally(struct action *action, const struct item *old, struct arena *arena,
                             struct item *new) {
    const struct tally *tally = action->user;
    int64_t best = item_int(old, BYTES("best")), matches = item_int(old, BYTES("matches"));
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, item_string(&action->item, GAME_PK));
    record_string(&record, GAME_SK, item_string(&action->item, GAME_SK));
    record_string(&record, ROOM_KIND, tally->kind);
    record_int(&record, BYTES("matches"), matches + 1);
    record_int(&record, BYTES("wins"), item_int(old, BYTES("wins")) + tally->won);
    record_int(&record, BYTES("points"), item_int(old, BYTES("points")) + tally->points);
    record_int(&record, BYTES("best"), matches == 0 || tally->points > best ? tally->points : best);
    *new = record_item(&record);
    return OK;
}

static void put_tally(struct room *room, const struct seat *seat, bool won) {
    struct tally *tally = ARENA_NEW(room->arena, struct tally);
    struct bytes kind = bytes_str(room->kind->name);
    *tally = (struct tally){seat->score, won, kind};
    room_add_action(
        room, &(struct action){.kind = ACTION_COMPUTE,
                               .item = game_key(room->arena,
                                                record_join(room->arena, "PLAYER#", seat->player),
                                                record_join(room->arena, "RECORD#", kind)),
                               .compute = add_tally,
                               .user = tally});
}

/* --- the boards --- */

static bool same_key(const struct item *a, const struct item *b) {
    return bytes_equal(item_string(a, GAME_PK), item_string(b, GAME_PK)) &&
           bytes_equal(item_string(a, GAME_SK), item_string(b, GAME_SK));
}

/* A board that this match makes is made by the submission of each player: one action is enough, and
 * a change may name an item once. */
static bool has_action(const struct room *room, const struct action *action) {
    for (size_t i = 0; i < room->extra_action_count; i++)
        if (same_key(&room->extra_actions[i].item, &action->item))
            return true;
    return false;
}

static enum status put_scores(struct room *room, const struct seat *seat, struct failure *failure) {
    struct bytes scope = record_join(room->arena, "room:", room->code);
    struct submission submission = {.game = bytes_str(room->kind->name),
                                    .scopes = &scope,
                                    .scope_count = 1,
                                    .player = seat->player,
                                    .score = number_from_int(room->arena, seat->score),
                                    .name = seat->name,
                                    .part = true};
    assert(room->submit_count < ROOM_SEATS_MAX);
    struct submit *submit = ARENA_NEW(room->arena, struct submit);
    enum status status =
        submit_prepare(room->game, &submission, (struct scope){room->arena, failure}, submit);
    room->submits[room->submit_count++] = submit;
    for (size_t i = 0; status == OK && i < submit->change.action_count; i++)
        if (!has_action(room, &submit->change.actions[i]))
            room_add_action(room, &submit->change.actions[i]);
    return status;
}

enum status match_end(struct room *room, struct failure *failure) {
    struct seat *order[ROOM_SEATS_MAX];
    unsigned places[ROOM_SEATS_MAX];
    unsigned count = rank_seats(room, order, places);
    enum status status = OK;
    room->status = ROOM_OVER;
    room->due_ms = 0;
    room_watch_host(room);
    put_match(room, order, places, count);
    for (unsigned i = 0; i < count && status == OK; i++) {
        if (order[i]->bot) /* boards and records are people's */
            continue;
        put_tally(room, order[i], places[i] == 1);
        if (!room->unscored)
            status = put_scores(room, order[i], failure);
    }
    return status;
}

void room_release(struct room *room) {
    for (size_t i = 0; i < room->submit_count; i++)
        submit_release(room->submits[i]);
    room->submit_count = 0;
}
