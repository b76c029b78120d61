/* Rooms: made, listed, looked at, joined, left, closed. What happens in them goes over live
 * subscriptions (api/live). */
#include "api/live/live_render.h"
#include "api/rest/rest_cursor.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "api/room_txn.h"
#include "base/clock.h"
#include "base/ulid.h"
#include "game/room/match.h"
#include "game/shown_text.h"

enum { LIST_LIMIT = 25 };

/* Something done to a room for a request. */
struct request {
    struct room_txn txn;
    struct rest_call *call;
    struct bytes player, name;
    enum status (*apply)(struct request *request, struct room *room, struct failure *failure);
};

/* ---- running a transaction on the room ---- */

static enum status apply_request(struct room_txn *txn) {
    struct request *request = txn->user;
    return request->apply(request, &txn->room, &txn->failure);
}

static void request_finished(struct room_txn *txn) {
    struct request *request = txn->user;
    rest_resume(request->call);
}

static void begin_request(struct rest_call *call) {
    struct request *request = call->state;
    room_txn_start(&request->txn);
}

static void release_request(struct rest_call *call) {
    struct request *request = call->state;
    room_txn_release(&request->txn);
}

static struct request *request_new(struct rest_call *call, struct bytes code,
                                   enum status (*what)(struct request *request, struct room *room,
                                                       struct failure *failure)) {
    struct request *request = ARENA_NEW(call->arena, struct request);
    request->call = call;
    request->apply = what;
    request->txn = (struct room_txn){.game = call->game,
                                     .pool = call->rest->settings.pool,
                                     .code = code,
                                     .apply = apply_request,
                                     .finished = request_finished,
                                     .user = request};
    call->state = request;
    return request;
}

static enum status run_request(struct rest_call *call,
                               enum status (*next)(struct rest_call *call)) {
    call->release = release_request;
    return rest_after(call, begin_request, next);
}

static enum status request_outcome(struct rest_call *call) {
    const struct request *request = call->state;
    const struct failure *failure = &request->txn.failure;
    if (failure->status != OK)
        failure_set(&call->failure, call->arena, failure->status, "%.*s", BYTES_ARG(failure->text));
    return failure->status;
}

/* ---- answers ---- */

static enum status answer_state(struct rest_call *call) {
    const struct request *request = call->state;
    enum status status = request_outcome(call);
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    rest_put_int(call->reply, "now", clock_now_ms());
    render_room(call->reply, &request->txn.room);
    buf_byte(call->reply, '}');
    return OK;
}

/* The state, with whose seat it is and the token that keeps it. */
static enum status answer_seat(struct rest_call *call) {
    struct request *request = call->state;
    struct buf token = {0};
    enum status status = answer_state(call);
    if (status != OK)
        return status;
    const struct seat *seat = room_seat(&request->txn.room, request->player);
    struct room_token says = {.code = request->txn.room.code,
                              .player = request->player,
                              .joined_ms = seat != NULL ? seat->joined_ms : 0};
    room_token(call->game, &says, &token);
    call->reply->size--; /* into the object */
    rest_put_text(call->reply, "player", request->player);
    rest_put_text(call->reply, "token", buf_bytes(&token));
    buf_byte(call->reply, '}');
    buf_release(&token);
    return OK;
}

static enum status answer_nothing(struct rest_call *call) {
    return request_outcome(call);
}

/* ---- making and joining ---- */

static bool is_guest(const struct rest_call *call) {
    return call->caller.invitation.code.size != 0;
}

/* Who asks: by its token, by the body, or (where nobody is asked who they are) somebody new. A
 * guest is always somebody new: an invitation says nothing about who holds it. */
static void take_player(struct rest_call *call, struct request *request) {
    request->name = form_text(&call->body, "name");
    if (!is_guest(call))
        request->player = form_text(&call->body, "player");
    if (request->player.size == 0)
        request->player = call->caller.player;
    if (request->player.size == 0) {
        char id[ULID_SIZE];
        ulid_make(clock_now_ms(), id);
        request->player =
            arena_printf(call->arena, "%s%.*s", is_guest(call) ? "guest-" : "", ULID_SIZE, id);
    }
}

static enum status make_room(struct request *request, struct room *room, struct failure *failure) {
    struct rest_call *call = request->call;
    const struct json *options = form_get(&call->body, "options");
    struct value map = {.type = VALUE_M};
    enum status status = OK;
    if (options != NULL)
        status = rest_value_read(options, (struct scope){&request->txn.arena, failure}, &map);
    struct room_settings settings = {.kind = form_text(&call->body, "kind"),
                                     .title = form_text(&call->body, "title"),
                                     .capacity = (unsigned)form_count(&call->body, "capacity", 0),
                                     .listed = form_flag(&call->body, "listed", true),
                                     .options = {map.pairs, map.count},
                                     .host = request->player,
                                     .host_name = request->name};
    return status == OK ? room_make(call->game, &settings,
                                    (struct scope){&request->txn.arena, failure}, room)
                        : status;
}

enum status rest_rooms_create(struct rest_call *call) {
    struct request *request = request_new(call, (struct bytes){0}, make_room);
    take_player(call, request);
    return run_request(call, answer_seat);
}

/* Whether the caller may come back to the seat: a game's server may for its players, a player by
 * its own token, and anybody by the seat's. Where nobody is asked who they are that one alone
 * proves it. */
static bool may_take_seat(const struct request *request, const struct room *room,
                          const struct seat *seat) {
    const struct rest_call *call = request->call;
    struct bytes token = form_text(&call->body, "token");
    struct failure ignored = {0};
    struct room_token says;
    if (bytes_equal(call->caller.player, seat->player) ||
        (call->caller.key != NULL && !call->caller.key->client))
        return true;
    return token.size != 0 &&
           room_token_read(call->game, token, (struct scope){room->arena, &ignored}, &says) == OK &&
           bytes_equal(says.code, room->code) && bytes_equal(says.player, seat->player) &&
           says.joined_ms == seat->joined_ms;
}

/* What is asked of guests besides: that the invitation still holds, and a name of their own. */
static enum status check_guest(const struct request *request, struct room *room,
                               struct failure *failure) {
    struct bytes name = shown_text(request->name, room->arena);
    if (!room_invitation_holds(room, &request->call->caller.invitation))
        return failure_set(failure, room->arena, DENIED,
                           "this invitation is not good any more: ask for another");
    for (size_t i = 0; i < room->seat_count; i++)
        if (shown_text_alike(room->seats[i].name, name))
            return failure_set(failure, room->arena, INVALID,
                               "Somebody in the room is called that already");
    return OK;
}

static enum status check_joining(struct request *request, struct room *room,
                                 struct failure *failure) {
    const struct seat *there = room_seat(room, request->player);
    if (there != NULL && !may_take_seat(request, room, there))
        return failure_set(failure, room->arena, DENIED,
                           "that player sits in the room already: the seat's token proves who");
    return is_guest(request->call) ? check_guest(request, room, failure) : OK;
}

static enum status join_room(struct request *request, struct room *room, struct failure *failure) {
    enum status status = check_joining(request, room, failure);
    if (status != OK)
        return status;
    struct seat_request seat = {.player = request->player,
                                .name = request->name,
                                .spectator = form_flag(&request->call->body, "spectator", false)};
    return room_join(room, &seat, failure);
}

enum status rest_rooms_join(struct rest_call *call) {
    struct request *request = request_new(call, call->path[0], join_room);
    if (is_guest(call) &&
        !guest_rate_admits(&call->rest->guests, call->path[0], clock_ticks_us() / 1000))
        return rest_fail(call, BUSY, "too many guests at once: try again in a moment");
    take_player(call, request);
    return run_request(call, answer_seat);
}

/* ---- leaving and closing ---- */

/* A player leaves; a server takes it out. */
static enum status leave_room(struct request *request, struct room *room, struct failure *failure) {
    return room_leave(room, request->player, failure);
}

enum status rest_rooms_leave(struct rest_call *call) {
    struct request *request = request_new(call, call->path[0], leave_room);
    request->player = call->path[1];
    return run_request(call, answer_nothing);
}

static enum status close_room(struct request *request, struct room *room, struct failure *failure) {
    (void)request;
    return room_close(room, room->host, failure);
}

enum status rest_rooms_close(struct rest_call *call) {
    request_new(call, call->path[0], close_room);
    return run_request(call, answer_nothing);
}

/* ---- looking ---- */

enum status rest_rooms_get(struct rest_call *call) {
    struct room *room = ARENA_NEW(call->arena, struct room);
    enum status status =
        room_load(call->game, call->path[0], (struct scope){call->arena, &call->failure}, room);
    if (status == OK && is_guest(call) && !room_invitation_holds(room, &call->caller.invitation))
        return rest_fail(call, DENIED, "this invitation is not good any more: ask for another");
    if (status != OK)
        return status;
    buf_byte(call->reply, '{');
    rest_put_int(call->reply, "now", clock_now_ms());
    render_room(call->reply, room);
    buf_byte(call->reply, '}');
    return OK;
}

static enum room_status status_of(struct bytes name) {
    for (enum room_status status = ROOM_LOBBY; status <= ROOM_OVER; status++)
        if (bytes_equal(name, bytes_str(room_status_name(status))))
            return status;
    return ROOM_LOBBY;
}

/* A cursor of rooms of all kinds: <kind>/<where in it>. */
static struct bytes cursor_of_kind(const struct match_kind *kind, struct bytes last,
                                   struct arena *arena) {
    return arena_printf(arena, "%s/%.*s", kind->name, BYTES_ARG(last));
}

/* Sets the kind to begin with, and the cursor to where in it. */
static const struct match_kind *first_kind(struct bytes *cursor, size_t *at) {
    const struct match_kind *kind = match_kind_next(at);
    size_t slash = bytes_find(*cursor, BYTES("/"));
    if (cursor->size == 0)
        return kind;
    struct bytes name = bytes_of(cursor->data, slash == SIZE_MAX ? 0 : slash);
    while (kind != NULL && !bytes_equal(name, bytes_str(kind->name)))
        kind = match_kind_next(at);
    if (kind != NULL)
        *cursor = bytes_skip(*cursor, slash + 1);
    return kind;
}

/* One kind after the other, in the order of /kinds. */
static enum status list_all_kinds(struct rest_call *call, struct room_list_request *request,
                                  struct room_list *out) {
    struct scope in = {call->arena, &call->failure};
    struct room_list some;
    size_t at = 0, limit = request->limit;
    const struct match_kind *kind = first_kind(&request->cursor, &at);
    *out = (struct room_list){.rooms = ARENA_ARRAY(call->arena, struct item, limit + 1)};
    if (kind == NULL)
        return rest_invalid(call, "cursor", "cursor is not one of this list");
    for (; kind != NULL && out->cursor.size == 0; kind = match_kind_next(&at)) {
        if (out->count == limit) {
            out->cursor = cursor_of_kind(kind, BYTES(""), call->arena);
            break;
        }
        request->kind = bytes_str(kind->name);
        request->limit = limit - out->count;
        enum status status = room_list(call->game, request, in, &some);
        if (status != OK)
            return status;
        for (size_t i = 0; i < some.count; i++)
            out->rooms[out->count++] = some.rooms[i];
        if (some.cursor.size != 0)
            out->cursor = cursor_of_kind(kind, some.cursor, call->arena);
        request->cursor = (struct bytes){0};
    }
    return OK;
}

enum status rest_rooms_list(struct rest_call *call) {
    struct room_list list;
    struct room_list_request request = {
        .kind = rest_query(call, "kind"),
        .status = status_of(rest_query(call, "status")),
        .open = bytes_equal(rest_query(call, "open"), BYTES("true")),
        .limit = (size_t)rest_query_count(call, "limit", LIST_LIMIT)};
    enum status status = cursor_name(call, &request.cursor);
    if (status == OK && request.kind.size == 0)
        status = list_all_kinds(call, &request, &list);
    else if (status == OK)
        status =
            room_list(call->game, &request, (struct scope){call->arena, &call->failure}, &list);
    if (status != OK)
        return status;
    buf_lit(call->reply, "{\"rooms\":[");
    for (size_t i = 0; i < list.count; i++) {
        rest_put_comma(call->reply);
        render_room_item(call->reply, &list.rooms[i], call->arena);
    }
    buf_byte(call->reply, ']');
    if (list.cursor.size != 0)
        cursor_next(call, list.cursor);
    buf_byte(call->reply, '}');
    return OK;
}
