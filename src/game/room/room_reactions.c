/* Reactions of players to a round, and the tokens of seats. A reaction is one item, written without
 * loading the room: the commit that writes it checks the round and the seat. So reactions of many
 * players do not conflict with each other. */
#include "base/limits.h"
#include "game/room/room_int.h"
#include "game/sign.h"

/* What the functions of the change are given: the reaction, and its item as it will be written. */
struct react {
    int64_t at_ms;
    struct item item;
};

/* The round must be open, and the reaction's time within it. */
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

static struct item reaction_item(const struct reaction *reaction, struct arena *arena) {
    struct record record = record_of(arena);
    record_string(&record, GAME_PK, room_pk(arena, reaction->code));
    record_string(&record, GAME_SK, room_click_sk(arena, reaction->round, reaction->player));
    record_string(&record, SEAT_PLAYER, reaction->player);
    record_int(&record, BYTES("at"), reaction->at_ms);
    record_int(&record, ROOM_TTL, room_ttl_s(reaction->at_ms));
    return record_item(&record);
}

enum status room_react_prepare(struct game *game, const struct reaction *reaction,
                               struct change *change, struct failure *failure) {
    struct arena *arena = change->arena;
    if (!room_code_valid(reaction->code))
        return failure_set(failure, arena, NOT_FOUND, "There is no room %.*s",
                           BYTES_ARG(reaction->code));
    if (reaction->round == 0 || reaction->round > LIMIT_ROOM_ROUNDS)
        return failure_set(failure, arena, INVALID, "There is no such round");
    struct bytes pk = room_pk(arena, reaction->code);
    struct react *react = ARENA_NEW(arena, struct react);
    *react = (struct react){reaction->at_ms, reaction_item(reaction, arena)};
    change->kind = CHANGE_WRITE;
    change->all_or_nothing = true;
    change->action_count = 3;
    change->actions = ARENA_ARRAY(arena, struct action, 3);
    const struct bytes sks[] = {room_round_sk(arena, reaction->round),
                                room_seat_sk(arena, reaction->player),
                                item_string(&react->item, GAME_SK)};
    action_compute *const computes[] = {check_round, check_seat, put_once};
    for (int i = 0; i < 3; i++)
        change->actions[i] =
            (struct action){.kind = ACTION_COMPUTE,
                            .table = game->table,
                            .item = game_key(arena, pk, sks[i]),
                            .compute = computes[i],
                            .keeps_version = true, /* subscribers see nothing of it */
                            .user = react};
    return OK;
}

/* --- reading them, to judge a round --- */

/* There must still be no reaction. */
static enum status check_none(struct action *action, const struct item *old, struct arena *arena,
                              struct item *new) {
    (void)new;
    if (old->count == 0)
        return OK;
    return failure_set(&action->failure, arena, CONFLICT, "A reaction came: the round is not over");
}

static void expect_none(struct room *room, const struct item *key) {
    room_add_action(room,
                    &(struct action){.kind = ACTION_COMPUTE, .item = *key, .compute = check_none});
}

/* Reads them by their keys: they were just written, so they are in the engine's cache. */
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
    enum status status = engine_get_many(room->game->engine, requests, count,
                                         (struct scope){room->arena, failure}, replies);
    for (size_t i = 0; status == OK && i < count; i++) {
        if (replies[i].found)
            seats[i]->reacted_ms = item_int(&replies[i].item, BYTES("at"));
        else
            expect_none(room, &requests[i].key);
    }
    return status;
}

/* --- tokens: of a seat the room's code, when it was taken, then the player --- */

enum { TIME_SIZE = 13, NUMBER_SIZE = 6 };

/* The number that the digits are; false if they are none. */
static bool read_digits(struct bytes text, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *out = *out * 10 + (text.data[i] - '0');
    }
    return true;
}

void room_token(const struct game *game, const struct room_token *token, struct buf *to) {
    struct buf payload = {0};
    buf_put(&payload, token->code);
    buf_printf(&payload, "%013lld", (long long)token->joined_ms);
    buf_put(&payload, token->player);
    sign_put((struct sign_key){game->settings.secret, "seat"}, buf_bytes(&payload), to);
    buf_release(&payload);
}

enum status room_token_read(const struct game *game, struct bytes token, struct scope in,
                            struct room_token *out) {
    struct bytes payload;
    int64_t joined_ms;
    if (sign_read((struct sign_key){game->settings.secret, "seat"}, token, in.arena, &payload) !=
            OK ||
        payload.size <= ROOM_CODE_SIZE + TIME_SIZE ||
        !read_digits(bytes_of(payload.data + ROOM_CODE_SIZE, TIME_SIZE), &joined_ms))
        return failure_set(in.failure, in.arena, DENIED, "The token is not that of a seat here");
    *out = (struct room_token){bytes_of(payload.data, ROOM_CODE_SIZE),
                               bytes_skip(payload, ROOM_CODE_SIZE + TIME_SIZE), joined_ms};
    return OK;
}

enum status room_seat_joined(struct game *game, const struct room_token *token, struct scope in,
                             int64_t *joined_ms) {
    struct get_request request = {.table = game->table,
                                  .key = game_key(in.arena, room_pk(in.arena, token->code),
                                                  room_seat_sk(in.arena, token->player)),
                                  .consistent = true};
    struct get_reply reply = {0};
    enum status status = engine_get(game->engine, &request, in, &reply);
    *joined_ms = status == OK && reply.found ? item_int(&reply.item, SEAT_JOINED) : 0;
    return status;
}

void room_invitation(const struct room *room, struct buf *to) {
    struct buf payload = {0};
    buf_put(&payload, room->code);
    buf_printf(&payload, "%013lld%06u", (long long)room->created_ms, room->invitation);
    sign_put((struct sign_key){room->game->settings.secret, "invitation"}, buf_bytes(&payload), to);
    buf_release(&payload);
}

enum status room_invitation_read(const struct game *game, struct bytes token, struct scope in,
                                 struct room_invitation *out) {
    struct bytes payload;
    int64_t created_ms, number;
    if (sign_read((struct sign_key){game->settings.secret, "invitation"}, token, in.arena,
                  &payload) != OK ||
        payload.size != ROOM_CODE_SIZE + TIME_SIZE + NUMBER_SIZE ||
        !read_digits(bytes_of(payload.data + ROOM_CODE_SIZE, TIME_SIZE), &created_ms) ||
        !read_digits(bytes_skip(payload, ROOM_CODE_SIZE + TIME_SIZE), &number))
        return failure_set(in.failure, in.arena, DENIED, "This is no invitation of this server");
    *out = (struct room_invitation){bytes_of(payload.data, ROOM_CODE_SIZE), created_ms,
                                    (unsigned)number};
    return OK;
}

bool room_invitation_holds(const struct room *room, const struct room_invitation *invitation) {
    return bytes_equal(room->code, invitation->code) &&
           room->created_ms == invitation->created_ms && room->invitation == invitation->number;
}
