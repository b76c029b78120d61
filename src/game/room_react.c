/* Reactions: many at once, each by itself. A reaction is one item; whether it counts is settled by
 * what the round and the seat say in the same commit. */
#include "game/room_int.h"
#include "game/sign.h"

struct react {
    int64_t at_ms;
    struct item item;
};

/* The round must be open, and the stamp within it. */
static enum status check_round(struct action *action, const struct item *old, struct arena *arena,
                               struct item *new) {
    const struct react *react = action->user;
    (void)new;
    if (old->count == 0)
        return failure_set(&action->failure, arena, INVALID, "There is no such round");
    if (!bytes_equal(item_string(old, ROOM_STATUS), BYTES("open")) ||
        react->at_ms >= item_int(old, BYTES("endsAt")))
        return failure_set(&action->failure, arena, INVALID, "Too late: the round is over");
    if (react->at_ms < item_int(old, BYTES("startsAt")))
        return failure_set(&action->failure, arena, INVALID, "Too early: the round has not begun");
    return OK;
}

static enum status check_seat(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    (void)new;
    if (old->count == 0)
        return failure_set(&action->failure, arena, DENIED, "You are not in this room");
    if (item_bool(old, SEAT_SPECTATOR))
        return failure_set(&action->failure, arena, DENIED, "Spectators only look on");
    return OK;
}

static enum status put_once(struct action *action, const struct item *old, struct arena *arena,
                            struct item *new) {
    const struct react *react = action->user;
    if (old->count != 0)
        return failure_set(&action->failure, arena, INVALID,
                           "You have reacted to this round already");
    *new = react->item;
    return OK;
}

enum status room_react_prepare(struct game *game, struct bytes code, struct bytes player,
                               unsigned round, int64_t at_ms, struct change *change,
                               struct failure *failure) {
    struct arena *arena = change->arena;
    if (!room_code_valid(code))
        return failure_set(failure, arena, NOT_FOUND, "There is no room %.*s", BYTES_ARG(code));
    if (round == 0 || round > 9999)
        return failure_set(failure, arena, INVALID, "There is no such round");
    struct bytes pk = room_pk(arena, code), sk = room_click_sk(arena, round, player);
    struct react *react = ARENA_NEW(arena, struct react);
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, pk);
    record_string(&record, GAME_SK, sk);
    record_string(&record, SEAT_PLAYER, player);
    record_int(&record, BYTES("at"), at_ms);
    record_int(&record, ROOM_TTL, room_ttl_s(at_ms));
    *react = (struct react){at_ms, record_item(&record)};
    change->kind = CHANGE_WRITE;
    change->all_or_nothing = true;
    change->action_count = 3;
    change->actions = ARENA_ARRAY(arena, struct action, 3);
    const struct bytes sks[] = {room_round_sk(arena, round), room_seat_sk(arena, player), sk};
    action_compute *const computes[] = {check_round, check_seat, put_once};
    for (int i = 0; i < 3; i++)
        change->actions[i] = (struct action){.kind = ACTION_COMPUTE,
                                             .table = game->table,
                                             .item = game_key(arena, pk, sks[i]),
                                             .compute = computes[i],
                                             .quiet = true, /* it changes nothing that is shown */
                                             .user = react};
    return OK;
}

/* --- judging --- */

/* Who had not reacted still has not. */
static enum status check_none(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    (void)new;
    if (old->count == 0)
        return OK;
    return failure_set(&action->failure, arena, CONFLICT, "A reaction came: the round is not over");
}

static void expect_none(struct room *room, const struct item *key) {
    room_also(room, &(struct action){.kind = ACTION_COMPUTE, .item = *key, .compute = check_none});
}

/* By their keys: those who reacted just did, so they are in the engine's memory. */
enum status room_load_reactions(struct room *room, struct failure *failure) {
    struct get_request requests[ROOM_SEATS_MAX];
    struct get_reply replies[ROOM_SEATS_MAX];
    struct seat *seats[ROOM_SEATS_MAX];
    struct bytes pk = room_pk(room->arena, room->code);
    size_t count = 0;
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *seat = &room->seats[i];
        if (seat->spectator || seat->mark == MARK_REMOVED)
            continue;
        struct bytes sk = room_click_sk(room->arena, room->round, seat->player);
        requests[count] = (struct get_request){
            .table = room->game->table, .key = game_key(room->arena, pk, sk), .consistent = true};
        seats[count++] = seat;
    }
    enum status status =
        engine_get_many(room->game->engine, requests, count, room->arena, failure, replies);
    for (size_t i = 0; status == OK && i < count; i++) {
        if (replies[i].found)
            seats[i]->reacted_ms = item_int(&replies[i].item, BYTES("at"));
        else
            expect_none(room, &requests[i].key);
    }
    return status;
}

/* --- the token of a seat: the room's code, then the player --- */

void room_token(const struct game *game, struct bytes code, struct bytes player, struct buf *to) {
    struct buf payload = {0};
    buf_put(&payload, code);
    buf_put(&payload, player);
    sign_put(game->settings.secret, "seat", buf_bytes(&payload), to);
    buf_release(&payload);
}

enum status room_token_read(const struct game *game, struct bytes token, struct arena *arena,
                            struct failure *failure, struct bytes *code, struct bytes *player) {
    struct bytes payload;
    if (sign_read(game->settings.secret, "seat", token, arena, &payload) != OK ||
        payload.size <= ROOM_CODE_SIZE)
        return failure_set(failure, arena, DENIED, "The token is not that of a seat here");
    *code = bytes_of(payload.data, ROOM_CODE_SIZE);
    *player = bytes_skip(payload, ROOM_CODE_SIZE);
    return OK;
}
